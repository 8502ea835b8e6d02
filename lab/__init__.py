"""The fault laboratory: a real installation is broken on purpose, and what is left of it is checked."""
