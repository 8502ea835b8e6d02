"""Research on metrics: what scores summaries without people, and how far it agrees with them."""
