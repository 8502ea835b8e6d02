"""Analyses of metrics and of those who score summaries, a folder each: what it says, computes and shows."""
