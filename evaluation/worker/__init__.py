"""The worker: the only room that knows Django and Celery. It loads from the tables, computes, and saves."""
