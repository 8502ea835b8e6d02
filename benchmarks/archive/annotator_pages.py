"""How fast are the pages about people, however many there are?

    python -m benchmarks.archive.annotator_pages [--annotators 1000] [--judgments 100000] [--rounds 5]

A made-up study as the worker would leave it, in an SQLite database of its own; every page is asked for as a browser
would, template and middleware included, by somebody signed in. Medians of the rounds, in seconds of the
processor (SQLite works in this process), and how many queries each asks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotate.models import Study

PAGES = (
    ("study_annotators", ""),
    ("study_annotators", "?sort=-fit&page=7"),
    ("study_annotators", "?sort=-seen"),
    ("disputed", ""),
    ("log", ""),
    ("study_members", ""),
    ("leaderboard", ""),
    ("study", ""),
)


def main() -> None:
    """Fill, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--annotators", type=int, default=1000)
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PREFERENDUM_DATA"] = folder
        os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder) / 'study.sqlite3'}"
        os.environ["DJANGO_SETTINGS_MODULE"] = "annotate.settings"
        import django

        django.setup()
        measure(options.annotators, options.judgments, options.rounds)


def measure(annotators: int, judgments: int, rounds: int) -> None:
    """Print a table of seconds and queries."""
    from django.urls import reverse

    from tests.annotate.big_study import big_study

    make_tables()
    study = big_study(annotators, judgments)
    print(f"{annotators} annotators, {judgments} judgments, medians of {rounds}\n")
    ask(study, [(f"{name} {query}", reverse(name, args=[study.pk]) + query) for name, query in PAGES], rounds)


def make_tables() -> None:
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def ask(study: Study, addresses: Iterable[tuple[str, str]], rounds: int) -> None:
    """Print how long each page, by name and address, takes, what it asks the database, and how large it is."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from tests.annotate import making

    client = Client()
    client.force_login(making.owner(study))
    print("| page | seconds | queries | kB |")
    print("|---|---|---|---|")
    for name, address in addresses:
        seconds: list[float] = []
        if client.get(address).status_code == 404:  # a file of what was not worked out
            continue
        for _round in range(rounds):
            began = time.process_time()
            response = client.get(address)
            seconds.append(time.process_time() - began)
            assert response.status_code == 200, (address, response.status_code)
        with CaptureQueriesContext(connection) as asked:
            client.get(address)
        size = sum(map(len, response)) / 1000  # of a file, too
        print(f"| {name} | {statistics.median(seconds):.3f} | {len(asked)} | {size:.0f} |", flush=True)


if __name__ == "__main__":
    main()
