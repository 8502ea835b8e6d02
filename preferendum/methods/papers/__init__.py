"""Systems of the papers that are kept for comparison, one file each; the registry of metrics finds them by name."""
