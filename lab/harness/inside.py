# ruff: noqa: E402 - the product can be imported only after Django's setup
"""A helper that lives in the product's environment: makes studies, fits from scratch, runs a few lines for a trial.

One JSON object a line comes in on the standard input, {"do": name, "with": {...}}; one goes out, {"gave": ...} or
{"failed": traceback}. It starts once for many trials, since loading the product takes longer than most of them.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")

import django

django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections

from annotate import imports, invitations, studies
from annotate.models import Allowance, ItemSet, Study
from evaluation import tasks
from evaluation.records import load_compared, load_evidence
from preferendum import formats
from preferendum.evidence import AS_PUBLISHED
from preferendum.scoring.evaluate import evaluate
from preferendum.scoring.win_rate import win_rates

#: Settings under which a few lines of arithmetic can say what must come out.
PLAIN: dict[str, Any] = {
    "smooth": "none",
    "prior": 0.5,
    "score": "importance",
    "shared_share": 0.0,
    "repeat_share": 0.0,
}
CANARY = "canary-system"  # in the name of every system: no annotator may ever be told one


def migrate() -> None:
    """Bring the database and the static files up to date, as `serve` does."""
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def make_study(topics: int, sentences: int, systems: int = 3, **settings: Any) -> dict[str, Any]:
    """A study of small topics with made-up sentences, and the link that lets annotators in."""
    Allowance.objects.all().delete()  # the visitors of a hundred trials all come from one address
    owner, _ = User.objects.get_or_create(username="owner")
    study = studies.make_study(owner, **{"title": "A trial", "question": "Which matters more?"} | PLAIN | settings)
    bundle = formats.Bundle(topics=tuple(_topic(study.pk, number, sentences, systems) for number in range(topics)))
    made = imports.store(study, bundle)
    invitation = invitations.invite(study, owner, role="annotator")
    return {
        "study": study.pk,
        "topics": [topic.pk for topic in made],
        "link": invitations.invitation_path(invitation),
    }


def _topic(study: int, number: int, sentences: int, systems: int) -> formats.Topic:
    # Every sentence has words of its own, so that each summary's sentence is nearest to itself; lengths differ.
    texts = [
        f"Sentence {i} of {number}: " + " ".join(f"w{study}x{number}x{i}x{k}" for k in range(2 + i % 4)) + "."
        for i in range(sentences)
    ]
    summaries = tuple(
        formats.Summary(f"{CANARY}-{k}", sentences=tuple(texts[k::systems])) for k in range(min(systems, sentences))
    )
    return formats.Topic(f"T{number}", documents=(formats.Text("d1", sentences=tuple(texts)),), summaries=summaries)


def from_scratch(topic: int) -> dict[str, Any]:
    """What the product makes of a topic's judgments here and now, as recommended and as published: utilities by
    sentence, scores by summary. Of a topic's summaries: their win rates."""
    own = ItemSet.objects.filter(pk=topic, of="summaries").first()
    if own is not None:
        return {"win-rate": {"utilities": {}, "scores": _win_rates(own)}}
    snapshot = load_evidence(topic, tasks.split)
    assert snapshot is not None, f"topic {topic} is not there"
    if not len(snapshot.evidence.judgments):
        return {}
    again = {}
    for scored_by, settings in (("recommended", snapshot.settings), ("published", AS_PUBLISHED)):
        result = evaluate(snapshot.evidence, settings)
        again[scored_by] = {
            "utilities": dict(zip(map(str, snapshot.sentence_keys), result.utilities.tolist(), strict=True)),
            "scores": {
                str(key): summary.score for key, summary in zip(snapshot.summary_keys, result.summaries, strict=True)
            },
        }
    return again


def _win_rates(item_set: ItemSet) -> dict[str, float]:
    compared = load_compared(item_set.study_id)
    assert compared is not None, f"nobody compares summaries of {item_set}"
    of_topics = win_rates(compared.answers, compared.has).by_topic()
    ((keys, scores),) = (
        (own.summaries, scores)
        for own, (_name, scores) in zip(compared.topics, of_topics, strict=True)
        if own.key == item_set.pk
    )
    return {str(keys[system]): score for system, score in zip(scores.systems, scores.score.tolist(), strict=True)}


def run(code: str, **names: Any) -> Any:
    """Run a few lines that leave what they found in `result`."""
    room: dict[str, Any] = {"Study": Study, "User": User, "studies": studies, "result": None, **names}
    exec(code, room)
    return room["result"]


DEEDS: dict[str, Callable[..., Any]] = {
    "migrate": migrate,
    "make_study": make_study,
    "from_scratch": from_scratch,
    "run": run,
}


def answer(line: str) -> dict[str, Any]:
    try:
        request = json.loads(line)
        return {"gave": DEEDS[request["do"]](**request["with"])}
    except Exception:
        return {"failed": traceback.format_exc()}
    finally:
        connections.close_all()


if __name__ == "__main__":
    # Whatever the product prints must not stand between two answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(line), default=str), file=answers, flush=True)
