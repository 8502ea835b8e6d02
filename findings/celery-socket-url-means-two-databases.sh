#!/bin/sh
# celery 5.7.0, kombu 5.7.0, redis (the client) 8.1.0, seen 2026-11-28
#
# One would guess: redis+socket:///path?db=3 is database 3 of the Redis behind that socket, as unix:///path?db=3 is for
#   redis-py; and one URL, given as broker and as result backend, is one database.
# What happens: the result backend takes db=3, the broker takes no notice and uses database 0, without a word. Only
#   virtual_host=3 works for both; redis-py in turn knows only db. With both in one URL, each follows its own.
# What it means: two installations that share one Redis and are kept apart by db=… share one queue: each runs the
#   other's tasks. Write ?virtual_host=3, and look at the broker's keys with redis-cli -n 0.
# No server is needed: we look at the database that each side asks for when it opens its socket.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
"$room/venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile \
    celery==5.7.0 "kombu[redis]==5.7.0" redis==8.1.0 || exit 2
"$room/venv/bin/python" - <<'PYTHON'
import contextlib
import sys

import redis
from celery import Celery

asked = []


def note(connection, *_, **__):
    """Note the database that is asked for, instead of opening the socket."""
    asked.append(connection.db)
    raise redis.ConnectionError("nothing listens here")


redis.UnixDomainSocketConnection.connect = redis.UnixDomainSocketConnection.connect_check_health = note


def database(open_it):
    """Return the database that is asked for, or None."""
    asked.clear()
    with contextlib.suppress(Exception):
        open_it()
    return asked[-1] if asked else None


seen = {}
for query in ("db=3", "virtual_host=3", "db=3&virtual_host=4"):
    url = f"redis+socket:///nowhere/redis.sock?{query}"
    app = Celery(broker=url, backend=url)
    broker = database(lambda app=app: app.connection().default_channel)
    results = database(lambda app=app: app.backend.client.ping())
    client = database(lambda query=query: redis.from_url(f"unix:///nowhere/redis.sock?{query}").ping())
    seen[query] = broker, results, client
    print(f"?{query:20} broker {broker}, results {results}, redis-py {client or 'refuses'}")
if seen["db=3"] != (0, 3, 3) or seen["virtual_host=3"][:2] != (3, 3) or seen["db=3&virtual_host=4"][:2] != (4, 3):
    sys.exit("Changed: a Celery broker at redis+socket:// no longer ignores db=… in its URL.")
PYTHON
