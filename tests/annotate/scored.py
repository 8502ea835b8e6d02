"""A small study on which everything has happened: uploaded, cut, judged, fitted, ranked by the real mathematics."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from annotate import imports, judging
from annotate.models import AnsweredQuestionnaire, Study, Topic
from evaluation import agenda, tasks
from evaluation.records.derived import QUIET
from preferendum import formats
from preferendum.show.analyses import of_study
from tests import kept
from tests.annotate import making

RAIN = formats.Topic(
    topic_id="rain",
    title="Rain in Ohio",
    documents=(
        formats.Text(
            "d1",
            sentences=(
                "Heavy rain flooded three towns in Ohio.",
                "It rained in Ohio.",
                "Schools in the towns were closed.",
            ),
        ),
        formats.Text("d2", "Nobody was hurt by the rain. The governor visited the towns. He wore a hat."),
    ),
    references=(formats.Text("A", "Rain flooded towns in Ohio and nobody was hurt."),),
    summaries=(
        formats.Summary(
            "lead & co_", "Heavy rain flooded three towns in Ohio. It rained in Ohio.", human={"pyramid": 4}
        ),
        formats.Summary("=hat", "He wore a hat. He wore a hat."),
        formats.Summary("off", "Xylophones."),
    ),
)
SNOW = formats.Topic(
    topic_id="snow",
    documents=(formats.Text("s1", sentences=("Snow fell in Maine.", "Trains stood still.", "A dog was happy.")),),
    summaries=(formats.Summary("lead & co_", "Snow fell in Maine."), formats.Summary("=hat", "A dog was happy.")),
)
JUDGED = (
    ("rain", "d1:0", "d1:1", "a"),
    ("rain", "d2:2", "d1:0", "b"),
    ("rain", "d1:2", "d2:0", "tie"),
    ("rain", "d2:0", "d2:2", "a"),
    ("snow", "s1:0", "s1:2", "a"),
    ("snow", "s1:1", "s1:0", "b"),
)

AS_PUBLISHED = {"score": "published"}


def scored_study(**fields: Any) -> Study:
    """Two topics, three systems, four judgments of a person and two simulated ones (those of `snow`), all counted."""
    study = making.study(**{"title": "Weather", "counted_kinds": "people-and-simulated"} | fields)
    imports.store(study, formats.Bundle(topics=(RAIN, SNOW)))
    judge(study, *(one for one in JUDGED if one[0] == "rain"))
    judge(study, *(one for one in JUDGED if one[0] == "snow"), kind="simulated", pseudonym="a simulation")
    assert tasks.catch_up(study.pk) == {}
    return study


def score_with_metrics(study: Study) -> None:
    """All about metrics and human scores, by the real worker: agreement with intervals, pairs of systems, topics,
    assessors, sentences, curves."""
    for key in Topic.objects.unscored().filter(study=study).values_list("pk", flat=True):
        tasks.score_with_metrics(key)
    tasks.TASKS["compare_metrics"](study.pk)
    in_turns("bound_metrics", study)
    in_turns("count_pairs", study)
    for analysis in [own for own in of_study() if own.record]:
        tasks.TASKS[analysis.name](study.pk)
    for key in Topic.objects.filter(study=study).values_list("pk", flat=True):
        tasks.TASKS["rank_sentences"](key)
    converge(study)


def in_turns(task: str, study: Study) -> None:
    """As many turns as it takes: a busy machine does little in one."""
    while agenda.find(task, study.pk):
        tasks.TASKS[task](study.pk)


def mix(study: Study) -> None:
    """Scores from judgments and simulated ones together, likewise, and what follows from them."""
    kept.heads("metrics", study=study).update(computed_at=timezone.now() - 2 * QUIET)
    in_turns("mix_judgments", study)
    tasks.TASKS["compare_metrics"](study.pk)
    in_turns("bound_metrics", study)


def converge(study: Study) -> None:
    """Curves, as if nobody had judged for a while."""
    kept.heads("metrics", study=study).update(computed_at=timezone.now() - 2 * QUIET)
    in_turns("converge", study)


def judge(study: Study, *judged: tuple[str, str, str, str], kind: str = "human", pseudonym: str = "judge-1") -> None:
    """Bring judgments in, as (topic, left, right, winner)."""
    preferences = [formats.Preference(topic, a, b, winner) for topic, a, b, winner in judged]  # type: ignore[arg-type]
    judging.import_judgments(study, preferences, kind, pseudonym)


def said(study: Study, pseudonym: str, answers: dict[str, Any]) -> None:
    """What an annotator, who may be imported, answered to the newest questionnaire."""
    AnsweredQuestionnaire.objects.create(
        annotator=study.annotators.get(pseudonym=pseudonym),
        questionnaire=study.questionnaires.latest("version"),
        answers=answers,
        at=timezone.now(),
    )


def topic(study: Study, name: str = "rain") -> Topic:
    return Topic.objects.get(study=study, name=name)
