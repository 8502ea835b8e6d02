"""How fast are the pages about people, however many there are?

    python -m benchmarks.annotator_pages [--annotators 1000] [--judgments 100000] [--rounds 5]

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
from pathlib import Path

PAGES = (
    ("study_annotators", ""),
    ("study_annotators", "?sort=-fit&page=7"),
    ("study_annotators", "?sort=-seen"),
    ("agreement", ""),
    ("disputed", ""),
    ("misfits", ""),
    ("coverage", ""),
    ("consistency", ""),
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
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext, setup_test_environment
    from django.urls import reverse

    from tests.annotate import making
    from tests.annotate.big_study import big_study

    setup_test_environment()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    study = big_study(annotators, judgments)
    client = Client()
    client.force_login(making.owner(study))
    print(f"{annotators} annotators, {judgments} judgments, medians of {rounds}\n")
    print("| page | seconds | queries | kB |")
    print("|---|---|---|---|")
    for name, query in PAGES:
        address = reverse(name, args=[study.pk]) + query
        seconds = []
        for _round in range(rounds):
            began = time.process_time()
            response = client.get(address)
            seconds.append(time.process_time() - began)
            assert response.status_code == 200, (address, response.status_code)
        with CaptureQueriesContext(connection) as asked:
            client.get(address)
        size = len(response.content) / 1000
        print(f"| {name} {query} | {statistics.median(seconds):.3f} | {len(asked)} | {size:.0f} |", flush=True)


if __name__ == "__main__":
    main()
