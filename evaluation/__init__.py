"""The worker: the only room that knows Django, Celery and the mathematics. It loads from the tables, calls the library,
and saves."""
