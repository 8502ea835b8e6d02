"""Metrics, one file a family; `registry` says what a metric is and finds it by name."""
