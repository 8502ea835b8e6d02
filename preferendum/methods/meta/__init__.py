"""Do metrics order summaries as people do? Correlation, agreement, resampling."""
