"""From judgments to utilities: preference matrix, similarity, Zermelo fit, uncertainty, and which pairs to show."""
