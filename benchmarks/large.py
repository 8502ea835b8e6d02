"""Is a study of the size of a shared task as fast as the demo?

    python -m benchmarks.large [--topics 31 125 500] [--systems 60] [--answers 400] [--rounds 3] [--on sqlite services]

Makes studies of so many topics, each with a document, summaries of so many systems and so many answers, half of them
about sentences and half about summaries, stored in bulk and fitted and ranked by the worker's own tasks; beside them
the demo's first study. Every page and file of each that can be opened by nothing but keys is asked for as a browser
would, as each role that may open it. Seconds of the processor, medians of the rounds, of the role that waits longest,
beside the demo's same page; queries; and how they grow. What is wanted: at most three times the demo's (pages of a few
milliseconds are left out), at most 40 queries.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.services import running

if TYPE_CHECKING:
    from django.test import Client

    from annotate.models import Annotator, Assignment, ItemSet, Study
    from preferendum import formats

ROOT = Path(__file__).resolve().parent.parent
#: What the addresses of a study's pages have in them, besides the study.
KEYS = {"topic_id", "document_id", "sentence_id", "summary_id", "system_id", "annotator_id"}
ANNOTATORS, BATCH, SENTENCES = 200, 2_000, 10
#: Seconds below which a ratio says nothing.
LEAST = 0.03


def main() -> None:
    """Make, ask, print: every size in a process and a database of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--topics", type=int, nargs="+", default=[31, 125, 500])
    parser.add_argument("--systems", type=int, default=60)
    parser.add_argument("--answers", type=int, default=400, help="of each topic")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--on", choices=("sqlite", "services"), default="sqlite")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        measure(options)
        return
    _tell({topics: _measured(topics, options) for topics in (0, *options.topics)})


def _measured(topics: int, options: argparse.Namespace) -> dict[str, tuple[float, int]]:
    """Seconds and queries of each page of the study of this size; of the demo, without topics."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = f"sqlite:///{folder}/study.sqlite3"
        if options.on == "services":
            server, _redis = stack.enter_context(running())
            url = server.url
        command = [sys.executable, "-m", "benchmarks.large", "--inside", "--topics", str(topics)]
        for name in ("systems", "answers", "rounds"):
            command += [f"--{name}", str(getattr(options, name))]
        environment = {"PREFERENDUM_DATA": folder, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "annotate.settings"}
        out = subprocess.run(
            command, cwd=ROOT, env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    measured = {}
    for line in out.splitlines():
        name, seconds, queries = line.split()
        measured[name] = float(seconds), int(queries)
    return measured


def _tell(measured: dict[int, dict[str, tuple[float, int]]]) -> None:
    sizes = list(measured)
    print("| page | " + " | ".join(f"{size} topics" if size else "demo" for size in sizes) + " | to demo | queries |")
    print("|---|" + "---|" * (len(sizes) + 2))
    for name, (seconds, queries) in measured[sizes[-1]].items():
        cells = [f"{measured[size][name][0]:.3f}" if name in measured[size] else "" for size in sizes]
        demo = measured[0].get(name)
        to_demo = f"{seconds / demo[0]:.1f}" if demo and seconds > LEAST else ""
        print(f"| {name} | " + " | ".join(cells) + f" | {to_demo} | {queries} |")


def measure(options: argparse.Namespace) -> None:
    """Make the study and print, page by page, its name, seconds and queries."""
    import django

    django.setup()
    from benchmarks.archive.annotator_pages import make_tables

    make_tables()
    began = time.monotonic()
    study = large(options.topics[0], options.systems, options.answers) if options.topics[0] else _demo()
    print(f"made in {time.monotonic() - began:.0f} s", file=sys.stderr)
    began = time.monotonic()
    _fit(study)
    print(f"fitted in {time.monotonic() - began:.0f} s", file=sys.stderr)
    _ask(study, options.rounds)


def _demo() -> Study:
    from annotate.management.commands import demo
    from annotate.models import Study

    demo.make_demo_study(lambda line: print(line, file=sys.stderr))
    return Study.objects.get(title=demo.TITLE)


def _fit(study: Study) -> None:
    from evaluation import tasks

    assert tasks.catch_up(study.pk) == {}
    for task in (tasks.report_annotators, tasks.examine_study, tasks.examine_win_rates, tasks.predict_later_systems):
        task(study.pk)


def large(topics: int, systems: int, answers: int) -> Study:
    """A study with texts made up and answers by lot, better systems more often preferred."""
    from annotate import imports
    from annotate.models import Annotator, ItemSet
    from preferendum import formats
    from tests.annotate import making

    chance = random.Random(0)
    study = making.study(compares="both", judgments_per_pair=100)
    bundle = formats.Bundle(tuple(_topic(f"T{k}", systems, chance) for k in range(topics)))
    imports.store(study, bundle)
    people = Annotator.objects.bulk_create([Annotator(study=study, pseudonym=f"a{k}") for k in range(ANNOTATORS)])
    for item_set in ItemSet.objects.filter(study=study).order_by("pk"):
        answer(item_set, people, answers // 2, chance)
    for person in people:
        Annotator.objects.filter(pk=person.pk).update(judged=person.assignments.count())
    return study


def _topic(name: str, systems: int, chance: random.Random) -> formats.Topic:
    from preferendum import formats

    words = [f"{a}{b}{c}" for a in ("ba", "de", "ki", "lo") for b in ("ra", "ne", "mi", "tu") for c in ("s", "n", "l")]

    def text(sentences: int) -> tuple[str, ...]:
        return tuple(" ".join(chance.choices(words, k=10)).capitalize() + "." for _ in range(sentences))

    return formats.Topic(
        name,
        (formats.Text("d", sentences=text(SENTENCES)),),
        summaries=tuple(formats.Summary(f"s{k}", sentences=text(2)) for k in range(systems)),
    )


def answer(item_set: ItemSet, people: Sequence[Annotator], number: int, chance: random.Random) -> None:
    """Have these people answer about so many pairs of the set, of each pair at most once."""
    from django.utils import timezone

    from annotate.models import Assignment, Judgment, Pair, Tally

    now, items = timezone.now(), list(item_set.items.values_list("pk", flat=True).order_by("pk"))
    rank, every = {key: k for k, key in enumerate(items)}, list(combinations(items, 2))
    drawn = chance.choices(every, k=number)
    pairs = [Pair(item_set=item_set, first_id=a, second_id=b, need=100) for a, b in sorted(set(drawn))]
    by_key = {(pair.first_id, pair.second_id): pair for pair in Pair.objects.bulk_create(pairs, BATCH)}
    asked, seen = [], set[tuple[int, tuple[int, int]]]()
    for two in drawn:
        who = next(annotator for annotator in chance.choices(people, k=50) if (annotator.pk, two) not in seen)
        seen.add((who.pk, two))
        asked.append(
            Assignment(
                item_set=item_set,
                annotator=who,
                pair=by_key[two],
                swapped=chance.random() < 0.5,
                state=Assignment.State.JUDGED,
                revision=1,
                created_at=now,
                closed_at=now,
            )
        )
    Judgment.objects.bulk_create(
        (
            Judgment(
                assignment=shown,
                item_set=item_set,
                answer="left" if (chance.random() < _preferred(shown, rank)) != shown.swapped else "right",
                seconds=2 + 10 * chance.random(),
                at=now,
            )
            for shown in Assignment.objects.bulk_create(asked, BATCH)
        ),
        BATCH,
    )
    Tally.objects.filter(item_set=item_set).update(data_version=number)


def _preferred(shown: Assignment, rank: dict[int, int]) -> float:
    """How likely the pair's first text is preferred: the earlier, the better."""
    return 0.5 + 0.4 * (rank[shown.pair.second_id] - rank[shown.pair.first_id]) / len(rank)


def addresses(study: Study) -> Iterator[tuple[str, str]]:
    """Every page of the study that can be opened, by name: those that say what to open by nothing but keys."""
    from django.urls import reverse

    from annotate.models import Annotator, Item, Summary, System
    from tests.annotate.visitors import pages

    of_topic = study.topics.first()
    assert of_topic is not None
    rows: dict[str, Any] = {
        "study_id": study,
        "topic_id": of_topic,
        "document_id": of_topic.documents.first(),
        "sentence_id": Item.objects.filter(item_set=of_topic.pk).first(),
        "summary_id": Summary.objects.filter(topic=of_topic).first(),
        "system_id": System.objects.filter(study=study).first(),
        "annotator_id": Annotator.objects.filter(study=study).first(),
    }
    pair = "?first={}&second={}".format(*System.objects.filter(study=study).values_list("pk", flat=True)[:2])
    for name, _address, holes in pages():
        if "study_id" not in holes or not holes <= KEYS | {"study_id"} or not opens(name, "owner"):
            continue
        query = pair if name.startswith("compare_") else ""
        yield name, reverse(name, kwargs={hole: rows[hole].pk for hole in holes}) + query
    yield "studies", reverse("studies")


def opens(name: str, role: str) -> bool:
    """Whether who has this role can open it, and it is not one of those that only take something."""
    from tests.annotate.test_page_access import CELLS

    return CELLS.get(("GET", name, role)) == "200" and not re.match(r"export_file|kind_", name)


def _ask(study: Study, rounds: int) -> None:
    """Print of each address what it takes for the role that waits longest, and the most queries of any."""
    from django.test import Client

    from annotate.models import Membership
    from tests.annotate import making

    clients = {role: Client() for role in Membership.Role.values}
    for role, client in clients.items():
        client.force_login(making.owner(study) if role == "owner" else making.member(study, role))
    for name, address in addresses(study):
        measured = [_asked(client, address, rounds) for role, client in clients.items() if opens(name, role)]
        if all(measured):  # but a file of what was not worked out
            seconds, queries = map(max, zip(*filter(None, measured), strict=True))
            print(name, f"{seconds:.4f}", queries, flush=True)


def _asked(client: Client, address: str, rounds: int) -> tuple[float, int] | None:
    """Seconds and queries of a page, or of a file with all its bytes; None where there is none. The first round warms
    up, but what takes a second is asked for once."""
    from django.db import connection, reset_queries
    from django.test.utils import CaptureQueriesContext

    seconds: list[float] = []
    while len(seconds) <= rounds and not (seconds and seconds[0] > 1):
        reset_queries()  # its log holds 9,000
        with CaptureQueriesContext(connection) as asked:
            began = time.process_time()
            response = client.get(address)
            sum(map(len, response))
            seconds.append(time.process_time() - began)
        if response.status_code == 404:
            return None
        assert response.status_code == 200, (address, response.status_code)
    return statistics.median(seconds[1:] or seconds), len(asked)


if __name__ == "__main__":
    main()
