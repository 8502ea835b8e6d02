"""A scorer that is a fine-tuned language model (PrefScore), worked out offline; its scores are imported as `given:`.

`scorer` needs torch and transformers (requirements/learned.txt), which nothing else imports: not the website, not the
worker, not a metric.
"""
