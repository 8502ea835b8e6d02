"""Does the cost of a judgment grow with what is stored?

    python -m benchmarks.growth [--stored 1000 1000000] [--rounds 5]

One judgment is what a request does for it: draw a pair, read what its page shows, record the answer. For each number
of stored judgments a database of its own is filled (topics of 300 sentences, up to 10,000 judgments a topic and 1,000
by one annotator) and then measured in turn with the others, round after round; figures are medians of the rounds. The
time of the processor is what counts; waiting for the disk is left out (`synchronous=OFF`), since it does not depend on
what is stored.
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
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SENTENCES, PER_TOPIC, PER_PERSON, TIMED = 300, 10_000, 1_000, 400


def fill(stored: int) -> None:
    """A study with so many judgments, written as rows at once."""
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection, transaction
    from django.utils import timezone

    from annotate import judging, studies
    from annotate.models import Annotator, Sentence, SourceDocument, Tally, Topic

    call_command("migrate", verbosity=0)
    owner = User.objects.create(username="owner", is_superuser=True)
    study = studies.create_study(
        owner, title="Growth", question="Which?", judgments_per_topic=1_000_000, pairs_per_annotator=100_000
    )
    people = [judging.join(study) for _ in range(max(10, stored // PER_PERSON))]
    now, chance, done = timezone.now().replace(tzinfo=None).isoformat(" "), random.Random(0), 0
    with transaction.atomic(), connection.cursor() as cursor:
        for number in range(max(1, stored // PER_TOPIC)):
            topic = Topic.objects.create(study=study, name=f"T{number}", position=number)
            document = SourceDocument.objects.create(topic=topic, name="d", position=0, text="made up")
            Sentence.objects.bulk_create(
                Sentence(topic=topic, document=document, index=i, position=i, text="Some words of a sentence. " * 4)
                for i in range(SENTENCES)
            )
            judging.open_tallies([topic])
            ids = sorted(Sentence.objects.filter(topic=topic).values_list("pk", flat=True))
            several = min(stored, PER_TOPIC)
            pairs = chance.sample([(a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]], several)
            keys = range(done + 1, done + several + 1)
            cursor.executemany(
                "INSERT INTO annotate_pair (id, topic_id, first_id, second_id, need, taken) "
                "VALUES (%s, %s, %s, %s, 1, 1)",
                [(key, topic.pk, *pair) for key, pair in zip(keys, pairs, strict=True)],
            )
            cursor.executemany(
                "INSERT INTO annotate_assignment (id, key, topic_id, annotator_id, pair_id, swapped, occasion, reason, "
                "state, skip_reason, holds_place, revision, created_at, expires_at, closed_at) "
                "VALUES (%s, %s, %s, %s, %s, 0, 0, 'random', 'judged', '', 1, 1, %s, %s, %s)",
                [(k, uuid.uuid4().hex, topic.pk, people[k % len(people)].pk, k, now, now, now) for k in keys],
            )
            cursor.executemany(
                "INSERT INTO annotate_judgment (assignment_id, topic_id, revision, answer, at) "
                "VALUES (%s, %s, 1, 'left', %s)",
                [(key, topic.pk, now) for key in keys],
            )
            Tally.objects.filter(topic=topic).update(taken=several, data_version=several)
            done += several
        Annotator.objects.update(judged=stored // len(people))


def measure() -> None:
    """Milliseconds of processor time of one judgment, the median of many."""
    from django.db import connection

    from annotate import judging
    from annotate.models import Annotator

    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=OFF")
    people = list(Annotator.objects.order_by("pk").values_list("pk", flat=True)[:50])
    took = []
    for number in range(TIMED + 50):
        started = time.process_time()
        annotator = Annotator.objects.select_related("study").get(pk=people[number % len(people)])
        drawn = judging.draw(annotator)
        shown = judging.find_shown(drawn.key)
        judging.record_judgment(shown, 1, "left", 2.0)
        took.append(time.process_time() - started)
    print(statistics.median(took[50:]) * 1000)


def in_process(job: str, stored: int, folder: str) -> str:
    """Each database has a process of its own each time, so that none profits from another's caches."""
    environment = os.environ | {
        "PREFERENDUM_DATA": f"{folder}/{stored}",
        "DJANGO_SETTINGS_MODULE": "annotate.settings",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "benchmarks.growth", "--job", job, "--stored", str(stored)]
    return subprocess.run(command, env=environment, cwd=ROOT, check=True, text=True, capture_output=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stored", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--job", choices=["fill", "measure"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        import django

        django.setup()
        fill(options.stored[0]) if options.job == "fill" else measure()
        return
    with tempfile.TemporaryDirectory() as folder:
        for stored in options.stored:
            in_process("fill", stored, folder)
        rounds = [[float(in_process("measure", one, folder)) for one in options.stored] for _ in range(options.rounds)]
    print(f"Processor time of one judgment (draw, read, record) on SQLite; medians of {options.rounds} rounds")
    print(f"{'stored':>12}{'ms':>8}{'to the first':>14}")
    for column, stored in enumerate(options.stored):
        ratio = statistics.median(one[column] / one[0] for one in rounds)
        print(f"{stored:>12,}{statistics.median(one[column] for one in rounds):>8.2f}{ratio:>14.2f}")


if __name__ == "__main__":
    main()
