"""How fast are the pages of a study of the size of TAC?

    python -m benchmarks.archive.study_pages [--topics 44] [--systems 55] [--judgments 20000] [--rounds 3]
        [--with-metrics]

Topics as `benchmarks.worlds` makes them up, in an SQLite database of its own, with judgments simulated from the
references, fitted and ranked by the worker's own tasks; `--with-metrics` has them score and compare everything that is
under *Metrics* as well. Every page of the study that can be opened is asked for as a browser would, files and forms
among them. Medians of the rounds, in seconds of the processor, and how many queries each asks. What is wanted: at most
20 queries and half a second each.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.archive.annotator_pages import ask, make_tables
from benchmarks.worlds import made_up

if TYPE_CHECKING:
    from annotate.models import Study

#: What the addresses of a study's pages have in them, besides the study.
KEYS = {"topic_id", "document_id", "sentence_id", "summary_id", "system_id", "annotator_id"}


def main() -> None:
    """Fill, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--topics", type=int, default=44)
    parser.add_argument("--systems", type=int, default=55)
    parser.add_argument("--judgments", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--with-metrics", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PREFERENDUM_DATA"] = folder
        os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder) / 'study.sqlite3'}"
        os.environ["DJANGO_SETTINGS_MODULE"] = "annotate.settings"
        import django

        django.setup()
        make_tables()
        study = tac_sized(options)
        print(f"{options.topics} topics, {options.systems} systems, {options.judgments} judgments\n")
        ask(study, addresses(study), options.rounds)


def tac_sized(options: argparse.Namespace) -> Study:
    """A study as the worker leaves it."""
    from django.core.management import call_command

    from annotate import imports
    from evaluation import tasks
    from preferendum import formats
    from tests.annotate import making, scored

    study = making.study(counted_kinds="people-and-simulated")
    imports.store(study, formats.Bundle(tuple(map(topic, made_up(options.topics, options.systems, references=4)))))
    call_command("simulate_judgments", study.pk, per_topic=options.judgments // options.topics)
    assert tasks.catch_up(study.pk) == {}
    if options.with_metrics:
        scored.score_with_metrics(study)
    return study


def topic(made: Any) -> Any:
    """A made-up topic as a file would bring it: ten documents of twenty sentences."""
    from preferendum import formats

    texts = [made.sentences[k : k + 20] for k in range(0, len(made.sentences), 20)]
    return formats.Topic(
        made.topic_id,
        tuple(formats.Text(f"d{k}", sentences=sentences) for k, sentences in enumerate(texts)),
        references=tuple(formats.Text(f"r{k}", sentences=own) for k, own in enumerate(made.references)),
        summaries=tuple(
            formats.Summary(own.system, sentences=own.sentences, human=dict(own.human)) for own in made.summaries
        ),
    )


def addresses(study: Study) -> Iterator[tuple[str, str]]:
    """Every page of the study that can be opened, by name: those that say what to open by nothing but keys."""
    from django.urls import reverse

    from annotate.models import Annotator, Item, Summary, System
    from tests.annotate.visitors import pages

    of_topic = study.topics.first()
    assert of_topic is not None
    rows = {
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
        if "study_id" not in holes or not holes <= KEYS | {"study_id"} or not opens(name):
            continue
        query = pair if name.startswith("compare_") else ""
        yield name, reverse(name, kwargs={hole: rows[hole].pk for hole in holes}) + query


def opens(name: str) -> bool:
    """Whether somebody can open it, and it is not one of those that only take something."""
    from tests.annotate.test_page_access import CELLS

    return CELLS.get(("GET", name, "owner")) == "200" and not re.match(r"export_file|kind_", name)


if __name__ == "__main__":
    main()
