"""From the rows of a study to the figures about its people: a replay of a real crowd, and what comes of weighing it.

The crowd: UKPConvArg1 (Habernal & Gurevych 2016), workers who compared pairs of arguments.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest
from django.utils import timezone

import formats
from annotate import judging
from annotate.models import AgreementReport, Annotator, AnnotatorReport, Judgment, Study, Utility
from evaluation import intake, records, tasks
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study
from tests.annotate.scored import scored_study

pytestmark = pytest.mark.django_db
CROWD = Path(__file__).resolve().parents[2] / "../shared/data/ukpconvarg1"


def let_time_pass(study: Study) -> None:
    """As if the last report were a minute old."""
    AgreementReport.objects.filter(study=study).update(computed_at=timezone.now() - timedelta(minutes=1))


def report(study: Study) -> AgreementReport:
    let_time_pass(study)
    tasks.report_people(study.pk)
    return AgreementReport.objects.get(study=study)


def behind(study: Study) -> bool:
    return any(work.task == "report_people" and work.key == study.pk for work in records.find_work())


@pytest.mark.skipif(not CROWD.is_dir(), reason="needs the data sets that are not shipped")
def test_a_real_crowd_replayed_as_a_study_gives_the_figures_of_an_independent_calculation() -> None:
    rows = [json.loads(line) for line in (CROWD / "preferences.jsonl").read_text(encoding="utf-8").splitlines()]
    name = rows[0]["topic"]
    rows = [row for row in rows if row["topic"] == name][:1200]
    items = sorted({row[side] for row in rows for side in ("item_a_id", "item_b_id")})
    number = {item: index for index, item in enumerate(items)}
    study = making.study(judgments_per_pair=100, judgments_per_topic=100_000)
    texts = tuple(f"Argument {index}." for index in range(len(items)))
    intake.take_in(
        study, formats.Bundle(topics=(formats.Topic(name, documents=(formats.Text("d", sentences=texts),)),))
    )
    preferences = [
        formats.Preference(
            name,
            f"d:{number[row['item_a_id']]}",
            f"d:{number[row['item_b_id']]}",
            row["winner"],
            row["annotator"],
            extra={},
        )
        for row in rows
    ]
    judging.bring_preferences(study, preferences)
    stored = report(study)

    said: dict[frozenset[str], dict[str, str]] = defaultdict(dict)
    for row in rows:
        preferred = {"a": row["item_a_id"], "b": row["item_b_id"], "tie": "tie"}[row["winner"]]
        said[frozenset((row["item_a_id"], row["item_b_id"]))].setdefault(row["annotator"], preferred)
    alike = of = 0
    observed = 0.0
    totals: Counter[str] = Counter()
    for two, answers in said.items():
        values = ["tie" if one == "tie" else "first" if one == min(two) else "second" for one in answers.values()]
        if len(values) < 2:
            continue
        same = sum(x == y for x, y in combinations(values, 2))
        alike, of = alike + same, of + len(values) * (len(values) - 1) // 2
        observed += 2 * (len(values) * (len(values) - 1) / 2 - same) / (len(values) - 1)
        totals.update(values)
    n = totals.total()
    expected = (n**2 - sum(count**2 for count in totals.values())) / (n - 1)
    figures = stored.figures["study"]
    assert figures["comparisons"] == of
    assert figures["percent"]["value"] == pytest.approx(alike / of)
    assert figures["alpha"]["value"] == pytest.approx(1 - observed / expected)
    assert figures["alpha"]["low"] < figures["alpha"]["value"] < figures["alpha"]["high"]
    counted = Counter(row["annotator"] for row in rows)
    reports = AnnotatorReport.objects.filter(annotator__study=study).select_related("annotator")
    assert {one.annotator.pseudonym: one.figures["answers"]["n"] for one in reports} == counted
    left = {w: sum(row["winner"] == "a" for row in rows if row["annotator"] == w) for w in counted}
    told = {w: sum(row["winner"] != "tie" for row in rows if row["annotator"] == w) for w in counted}
    for one in reports:
        who = one.annotator.pseudonym
        if told[who]:
            assert one.figures["left"]["value"] == pytest.approx(left[who] / told[who])


def test_figures_are_worked_out_once_for_each_version_and_not_more_often_than_every_ten_seconds() -> None:
    study = ready_study(judgments_per_pair=3)
    assert not behind(study)  # nobody has judged
    judged(joined(study))
    assert behind(study)
    tasks.report_people(study.pk)
    assert not behind(study)
    judged(joined(study))
    assert not behind(study)  # it is too early
    let_time_pass(study)
    assert behind(study)
    tasks.report_people(study.pk)
    assert AnnotatorReport.objects.filter(annotator__study=study).count() == 2


def test_figures_that_come_late_never_replace_newer_ones() -> None:
    study = ready_study(judgments_per_pair=3)
    judged(joined(study))
    late = records.load_people(study.pk)
    judged(joined(study))
    newer = report(study).version
    assert late is not None
    assert late.version < newer
    tasks._report(late)
    assert AgreementReport.objects.get(study=study).version == newer
    assert AnnotatorReport.objects.filter(annotator__study=study).count() == 2


def test_what_cannot_be_told_is_stored_as_such_with_the_reason() -> None:
    study = ready_study(judgments_per_pair=1)
    judged(joined(study))
    figures = report(study).figures["study"]
    assert figures["why"] == "nobody_twice"
    assert figures["alpha"] == {"value": None, "low": None, "high": None}


def test_excluding_somebody_and_restoring_them_leaves_every_figure_as_it_was() -> None:
    study = scored_study()
    before = report(study)
    people = {one.annotator_id: one.figures for one in AnnotatorReport.objects.filter(annotator__study=study)}
    topics = list(study.topics.values_list("pk", flat=True))
    somebody = Annotator.objects.filter(study=study, kind="human")
    for excluded_at in (timezone.now(), None):
        somebody.update(excluded_at=excluded_at)
        judging.raise_version(topics)
        after = report(study)
        assert (after.figures == before.figures) == (excluded_at is None)
    assert after.version > before.version
    assert people == {one.annotator_id: one.figures for one in AnnotatorReport.objects.filter(annotator__study=study)}


def test_people_weigh_the_same_unless_the_study_says_otherwise() -> None:
    study = scored_study()
    plain = list(Utility.objects.filter(sentence__topic__study=study).order_by("pk").values_list("wins", flat=True))
    assert all(float(2 * wins).is_integer() for wins in plain)
    Study.objects.filter(pk=study.pk).update(weigh_annotators=True)
    judging.raise_version(study.topics.values_list("pk", flat=True))
    assert tasks.catch_up(study.pk) == {}
    weighed = list(Utility.objects.filter(sentence__topic__study=study).order_by("pk").values_list("wins", flat=True))
    assert not all(float(2 * wins).is_integer() for wins in weighed)
    report(study)
    assert all(one.weight is not None for one in AnnotatorReport.objects.filter(annotator__study=study))
    assert Judgment.objects.filter(topic__study=study).exists()
