"""How soon after an upload does the Metrics page say how metrics agree with people, and do annotators notice?

    python -m benchmarks.archive.metrics_page [--on sqlite services] [--corpus TOPICS.jsonl] [--topics 44]
        [--systems 55]

Starts the product as `benchmarks.load` does. Annotators judge one study as the page's own script does, first alone;
then a file with topics, summaries and human scores (a corpus, or one of TAC's size that is made up) is uploaded to
another study, read, confirmed and stored, scored with all metrics and compared by the worker, while they go on.

Printed: seconds from the upload until the texts are stored, figures without intervals are there, and all intervals and
differences are; what the worker used of the processor; queries and seconds of the study's pages about metrics; how long
answers took alone and meanwhile.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.importing import judging, report_times, store_upload
from benchmarks.load import Case, installation
from benchmarks.serving import ROOT
from benchmarks.worlds import made_up
from preferendum.evidence import SummaryText

LONGEST = 900.0
PER_DOCUMENT = 20
DIMENSIONS = ("responsiveness", "readability", "content")
NAME = "metric-agreement"
PAGES = (("analysis", NAME), ("results",), ("analysis_csv", NAME, "agreement"))


@dataclass(frozen=True)
class Trial:
    on: str
    corpus: str
    topics: int
    systems: int
    annotators: int
    pace: float


def content(trial: Trial) -> bytes:
    """Topics with texts and human scores, one line each."""
    return Path(trial.corpus).read_bytes() if trial.corpus else "\n".join(records(trial)).encode()


def records(trial: Trial) -> Iterator[str]:
    for topic in made_up(trial.topics, trial.systems, references=4):
        documents = [
            {"id": f"d{k // PER_DOCUMENT}", "sentences": topic.sentences[k : k + PER_DOCUMENT]}
            for k in range(0, len(topic.sentences), PER_DOCUMENT)
        ]
        summaries = [
            {"system": summary.system, "text": " ".join(summary.sentences), "human": human_scores(summary)}
            for summary in topic.summaries
        ]
        references = [{"id": f"r{k}", "text": " ".join(reference)} for k, reference in enumerate(topic.references)]
        yield json.dumps(
            {"topic_id": topic.topic_id, "documents": documents, "references": references, "summaries": summaries}
        )


def human_scores(summary: SummaryText) -> dict[str, float]:
    """In several dimensions, which go together but are not the same."""
    length = len(summary.sentences[0])
    return {name: summary.human["overall"] + k * (length % 3) for k, name in enumerate(DIMENSIONS)}


def wait_for_metrics(study: int) -> tuple[float, float]:
    """Seconds until every summary is scored and the figures are there, and until intervals are, too."""
    from annotate.models import Result, Topic

    began, figures = time.monotonic(), 0.0
    while time.monotonic() < began + LONGEST:
        row, intervals = (Result.objects.head(study, name) for name in ("metrics", "intervals"))
        is_compared = not Topic.objects.filter(study=study).unscored().exists() and row.version
        if is_compared and not figures:
            figures = time.monotonic() - began
        if is_compared and intervals.version == row.version:
            return figures, time.monotonic() - began
        time.sleep(0.2)
    raise RuntimeError("no intervals came")


def look_at_pages(study: int) -> None:
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.get())
    for name, *rest in PAGES:
        address = reverse(name, args=[study, *rest])
        client.get(address)  # templates are compiled once
        with CaptureQueriesContext(
            connection,
        ) as queries:
            began = time.perf_counter()
            answer = client.get(address)
            took = time.perf_counter() - began
        print(f"  {name:20} {answer.status_code}, {len(queries)} queries, {took:.2f} s")


def measure(trial: Trial) -> None:
    case = Case(trial.on, 2, trial.annotators, trial.pace, 25.0, 3)
    with tempfile.TemporaryDirectory() as folder, installation(case, Path(folder)) as (port, link, machine):
        from django.contrib.auth.models import User

        from annotate import studies

        study = studies.create_study(User.objects.get(), title="Metrics", question="Which?").pk
        file = content(trial)
        with judging(case, port, link) as times:
            cpu, began = machine.cpu()["worker"], time.monotonic()
            store_upload(study, file, "topics.jsonl")
            stored = time.monotonic() - began
            figures, intervals = (stored + seconds for seconds in wait_for_metrics(study))
            cpu = machine.cpu()["worker"] - cpu
            meanwhile = times.since()
        print(f"\n{trial.on}, {Path(trial.corpus).parent.name or f'{trial.systems} systems x {trial.topics} topics'}:")
        print(f"  stored after {stored:.0f} s, figures after {figures:.0f} s, with intervals after {intervals:.0f} s")
        print(f"  the worker used {cpu:.0f} s of the processor, judgments' fits among it")
        look_at_pages(study)
        report_times(times.alone, meanwhile)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", nargs="+", choices=["sqlite", "services"], default=["sqlite", "services"])
    parser.add_argument("--corpus", default="")
    parser.add_argument("--topics", type=int, default=44)
    parser.add_argument("--systems", type=int, default=55)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--pace", type=float, default=4.0, help="mean seconds of thought between two answers, twice")
    parser.add_argument("--trial", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trial:
        measure(Trial(**json.loads(options.trial)))
        return
    for on in options.on:
        trial = Trial(on, options.corpus, options.topics, options.systems, options.annotators, options.pace)
        command = [sys.executable, "-m", "benchmarks.archive.metrics_page", "--trial", json.dumps(asdict(trial))]
        subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
