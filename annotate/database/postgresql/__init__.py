"""Django's backend for PostgreSQL, which checks kept connections without a query."""
