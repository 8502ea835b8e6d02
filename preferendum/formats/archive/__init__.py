"""A whole study as one ZIP file."""
