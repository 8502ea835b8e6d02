"""How gunicorn serves the website (`gunicorn -c python:annotate.gunicorn annotate.wsgi`)."""

import os

from annotate import logs

bind = os.environ.get("PREFERENDUM_BIND", "127.0.0.1:8000")
worker_class = "gthread"
# With SQLite more threads only lengthen the queue before the one writer: p95 66 ms with 2 x 2, 374 ms with 2 x 4.
workers = int(os.environ.get("PREFERENDUM_WEB_PROCESSES", "2"))
threads = int(os.environ.get("PREFERENDUM_WEB_THREADS", "2"))
preload_app = False
timeout = 60
graceful_timeout = 20
keepalive = 5
max_requests = 20_000
max_requests_jitter = 2_000
control_socket_disable = True
loglevel = os.environ.get("PREFERENDUM_LOG_LEVEL", "warning").lower()
logconfig_dict = logs.configuration()
