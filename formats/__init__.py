"""What goes in and out: the public formats as plain records, read and written.

This room knows neither the website nor the mathematics, so that the browser, the API, `manage.py` and the offline
command line all read the same files with the same checks.
"""
