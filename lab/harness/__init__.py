"""What the trials of lab.faults stand on.

- product.py    a real installation (web, worker, database, broker) to be killed part by part
- inside.py     a helper in the product's own environment: makes studies, fits from scratch
- clients.py    annotators over HTTP, behaving as the page does, with a journal of what they sent and what was confirmed
- tables.py     the rows as the database has them, read without the product
- fitter.py     the model once more, in a few lines that share nothing with the product's
- seen.py       what a trial left: rows, journal, and what was done on purpose
- checker.py    the invariants I1-I13 over rows and journal, each in words
- trials.py     the registry of faults, and one trial from a new study to a verdict
"""
