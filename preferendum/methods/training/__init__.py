"""Metrics that learn from human scores or from preferences, and the commands that train and apply them."""
