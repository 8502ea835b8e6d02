"""Django's backend for PostgreSQL, which looks at a kept connection where Django's own would ask the server."""
