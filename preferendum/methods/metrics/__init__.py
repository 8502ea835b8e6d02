"""Metrics, each a file or a folder here that registers its names, options and needs without loading numpy.

The mathematics of a folder is in its `scores`, which `later` imports on first use.
"""
