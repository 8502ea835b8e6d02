"""The registry of metrics, and what they are called; the metrics themselves are in `preferendum.methods.metrics`.

Nothing here needs numpy: the website knows metrics by their names, options and needs alone.
"""
