"""Figures about annotators: agreement, consistency, detectors, reliability, and what would change without some."""
