"""Durability, append-only tables, snapshots and plain SQL on SQLite and PostgreSQL."""
