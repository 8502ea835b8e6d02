"""A walk through the website, the worker and a command in a process without the plug-in; test_plugin.py runs it."""

# ruff: noqa: E402 - the plug-in is hidden before anything is imported

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.modules["preferendum.methods"] = None  # type: ignore[assignment]  # as if it were not installed
assert pytest  # with it, the settings are those of tests
FOLDER = Path(sys.argv[1])
os.environ |= {"DJANGO_SETTINGS_MODULE": "annotate.settings", "DATABASE_URL": f"sqlite:///{FOLDER / 'walk.sqlite3'}"}

import django
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from django.urls import reverse

django.setup()
setup_test_environment()

from annotate import invitations, studies
from annotate.models import Judgment, Study
from evaluation import agenda, tasks
from preferendum import evaluate, formats
from preferendum.metrics.names import metrics
from preferendum.show.analyses import of_study, of_topic
from preferendum.work import works
from tests.annotate import making, scored
from tests.annotate.reading import signed_in


def judge(study: Study) -> None:
    """Follow an invitation, see a pair, answer."""
    client = Client()
    here = client.post(invitations.invitation_path(invitations.invite(study, making.owner(study)))).url
    assert "Which" in client.get(here).content.decode()
    before = Judgment.objects.count()
    assert client.post(here, {"answer": "left", "revision": 1, "seconds": 5.0}).status_code == 302
    assert Judgment.objects.count() == before + 1


def work_off() -> set[str]:
    """Do all that the worker finds to do, each once; the names of its tasks."""
    waiting = agenda.look().waiting
    for work in waiting:
        tasks.TASKS[work.task](work.key)
    return {work.task for work in waiting}


def walk() -> None:
    assert (metrics(), works()) == ((), ())
    study = scored.scored_study()
    assert study.metric_names
    studies.change_settings(study, making.owner(study), title="Rain", metric_names=study.metric_names)
    judge(study)
    done = work_off() | work_off()
    assert {"score_with_metrics", "refit_topic", "rank_study", "report_annotators", "examine_topic"} <= done, done
    topic = scored.topic(study)
    names = ("study", "leaderboard", "study_annotators", "study_settings", "study_methods", "study_data")
    pages = [reverse(name, args=[study.pk]) for name in names]
    pages += [reverse("analysis", args=[study.pk, own.name]) for own in of_study() if own.page]
    pages += [reverse("topic_analysis", args=[study.pk, topic.pk, own.name]) for own in of_topic() if own.page]
    client = signed_in(study)
    for page in pages:
        assert client.get(page).status_code == 200, page
    assert "lead &amp; co_" in client.get(pages[1]).content.decode()
    with (FOLDER / "topics.jsonl").open("wb") as file:
        formats.write_topics([scored.RAIN], file)
    said = evaluate("score", FOLDER / "topics.jsonl", "--simulate", "references", "--format", "json")
    assert len(json.dumps(said)) > 100
    print("walked")


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    walk()
