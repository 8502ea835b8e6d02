"""The worker's side: what people's preferences mean. Arrays in, results out; usable without the website."""
