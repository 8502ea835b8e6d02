"""What we ask of SQLite and PostgreSQL: that they keep what they confirm, add only, and show one moment."""
