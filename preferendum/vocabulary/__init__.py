"""Which words texts have, how often they occur elsewhere, and which are a topic's own."""
