"""Django's backend for SQLite, which takes the write lock soon after it is free, however long it waited."""
