"""The website: it stores what people say and shows what the worker computes from it."""
