"""Does the cost of a judgment grow with what is stored?

    python -m benchmarks.archive.growth [--stored 1000 1000000] [--rounds 5] [--on sqlite services]

One judgment is what a request does for it: find the pair that is answered and the one that is shown meanwhile, store
the answer, draw the pair after next with all that its page shows. For each number of stored judgments a database of
its own is filled (topics of 300 sentences, up to 10,000 judgments a topic and 1,000 by one annotator) and then
measured in turn with the others, round after round; figures are medians of the rounds. Waiting for the disk at every
commit is left out (`synchronous=OFF`, `synchronous_commit=off`), since it does not depend on what is stored. What
remains is the time of the processors: this process's with SQLite; with PostgreSQL, which works in processes of its
own, the time on the clock.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from lab.services import running

if TYPE_CHECKING:
    from annotate.imports.recutting import add_topics
    from annotate.judging import NoPair
from annotate.models import Annotator, Assignment, Topic

ROOT = Path(__file__).resolve().parent.parent
SENTENCES, PER_TOPIC, PER_PERSON, TIMED = 300, 10_000, 1_000, 400
BATCH = 1000


def fill(stored: int) -> None:
    """A study with so many judgments, written as rows at once."""
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection, transaction

    from annotate import judging, studies
    from annotate.models import Annotator, Item, SourceDocument, Tally, Topic

    call_command("migrate", verbosity=0)
    owner = User.objects.create(username="owner", is_superuser=True)
    study = studies.create_study(
        owner, title="Growth", question="Which?", judgments_per_topic=1_000_000, pairs_per_annotator=100_000
    )
    people = [judging.join(study) for _ in range(max(10, stored // PER_PERSON))]
    chance = random.Random(0)
    for number in range(max(1, stored // PER_TOPIC)):
        with transaction.atomic():
            topic = add_topics([Topic(study=study, name=f"T{number}", position=number)])[0]
            document = SourceDocument.objects.create(topic=topic, name="d", position=0, text="made up")
            Item.objects.bulk_create(
                Item(
                    item_set_id=topic.pk, document=document, index=i, position=i, text="Some words of a sentence. " * 4
                )
                for i in range(SENTENCES)
            )
            judging.open_tallies([topic.sentence_set])
            several = min(stored, PER_TOPIC)
            _judge(topic, people, several, chance)
            Tally.objects.filter(item_set=topic.pk).update(taken=several, data_version=several)
    Annotator.objects.update(judged=stored // len(people))
    with connection.cursor() as cursor:  # what a database that has run for a while has done by itself
        cursor.execute("ANALYZE")


def _judge(topic: Topic, people: list[Annotator], several: int, chance: random.Random) -> None:
    from django.utils import timezone

    from annotate.models import Assignment, Item, Judgment, Pair

    now = timezone.now()
    ids = sorted(Item.objects.filter(item_set=topic.pk).values_list("pk", flat=True))
    drawn = chance.sample([(a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]], several)
    pairs = Pair.objects.bulk_create(
        (Pair(item_set_id=topic.pk, first_id=first, second_id=second, need=1, taken=1) for first, second in drawn),
        BATCH,
    )
    columns = {"topic": topic, "swapped": False, "state": "judged", "revision": 1, "created_at": now, "closed_at": now}
    assignments = Assignment.objects.bulk_create(
        (Assignment(pair=pair, annotator=chance.choice(people), **columns) for pair in pairs), BATCH
    )
    Judgment.objects.bulk_create(
        (
            Judgment(assignment=assignment, item_set_id=topic.pk, revision=1, answer="left", at=now)
            for assignment in assignments
        ),
        BATCH,
    )


def measure() -> None:
    """Milliseconds of processor time of one judgment, the median of many."""
    from django.db import connection

    from annotate import judging
    from annotate.models import Annotator, Assignment

    lite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=OFF" if lite else "SET synchronous_commit = off")
    clock = time.process_time if lite else time.perf_counter
    drawn = [_begin(annotator) for annotator in Annotator.objects.select_related("study").order_by("pk")[:50]]
    took = []
    for number in range(TIMED + 50):
        now, ahead = drawn[number % len(drawn)]
        started = clock()
        rows = {row.key: row for row in Assignment.objects.to_show().filter(key__in=[now, ahead])}
        showing = rows[ahead]
        recorded = judging.record_judgment(rows[now], 1, "left", 2.0, showing=showing)
        following = _drawn(recorded.following or judging.draw(showing.annotator, besides=showing))
        took.append(clock() - started)
        drawn[number % len(drawn)] = ahead, following.key
    print(statistics.median(took[50:]) * 1000)


def _begin(annotator: Annotator) -> tuple[UUID, UUID]:
    """What somebody judges, and the pair after it."""
    from annotate import judging

    now = _drawn(judging.draw(annotator))
    return now.key, _drawn(judging.draw(annotator, besides=now)).key


def _drawn(drawn: Assignment | NoPair) -> Assignment:
    from annotate.models import Assignment

    if not isinstance(drawn, Assignment):
        raise RuntimeError(f"no pair is left to judge: {drawn}")
    return drawn


def in_process(job: str, stored: int, folder: Path, database: str) -> str:
    """Each database has a process of its own each time, so that none profits from another's caches."""
    environment = os.environ | {
        "PREFERENDUM_DATA": str(folder / str(stored)),
        "DJANGO_SETTINGS_MODULE": "annotate.settings",
        "OPENBLAS_NUM_THREADS": "1",
        "PREFERENDUM_PACE_SECONDS": "0",  # 50 people judge 450 pairs in a moment
    }
    if database:
        environment["DATABASE_URL"] = f"{database}/stored_{stored}"
    command = [sys.executable, "-m", "benchmarks.archive.growth", "--job", job, "--stored", str(stored)]
    return subprocess.run(command, env=environment, cwd=ROOT, check=True, text=True, capture_output=True).stdout


def compare(on: str, options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        folder, database = Path(stack.enter_context(tempfile.TemporaryDirectory())), ""
        if on == "services":
            server, _redis = stack.enter_context(running())
            database = server.url.rpartition("/")[0]
            for stored in options.stored:
                make_database(server.url, f"stored_{stored}")
        for stored in options.stored:
            in_process("fill", stored, folder, database)
        rounds = [
            [float(in_process("measure", stored, folder, database)) for stored in options.stored]
            for _ in range(options.rounds)
        ]
    print(f"One judgment (find, store, draw) on {on}; medians of {options.rounds} rounds")
    print(f"{'stored':>12}{'ms':>8}{'to the first':>14}")
    for column, stored in enumerate(options.stored):
        ratio = statistics.median(times[column] / times[0] for times in rounds)
        print(f"{stored:>12,}{statistics.median(times[column] for times in rounds):>8.2f}{ratio:>14.2f}", flush=True)


def make_database(server: str, name: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stored", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--on", nargs="+", choices=["sqlite", "services"], default=["sqlite", "services"])
    parser.add_argument("--job", choices=["fill", "measure"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        import django

        django.setup()
        fill(options.stored[0]) if options.job == "fill" else measure()
        return
    for on in options.on:
        compare(on, options)


if __name__ == "__main__":
    main()
