"""Running the website: processes, requests, logs, limits, keys, health figures, backups."""
