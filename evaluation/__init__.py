"""The worker's side: what people's preferences mean. Arrays in, results out; usable without the website."""

__version__ = "1.0.0"
