"""The website: it writes down what people say and shows what the worker made of it."""
