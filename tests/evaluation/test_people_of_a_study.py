"""From the rows of a study to the figures about its people: a replay of a real crowd, and what comes of weighing it.

The crowd: UKPConvArg1 (Habernal & Gurevych 2016), workers who compared pairs of arguments.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from statistics import median

import pytest
from django.utils import timezone

from annotate import imports, judging, studies
from annotate.models import (
    Annotator,
    AnnotatorReport,
    Assignment,
    Claim,
    Item,
    Judgment,
    Result,
    Study,
    Utility,
)
from benchmarks import replay
from evaluation import agenda, records, tasks
from preferendum import formats
from tests import kept
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study
from tests.annotate.scored import scored_study

pytestmark = pytest.mark.django_db


def let_time_pass(study: Study) -> None:
    """As if the last report were a minute old."""
    minute_ago = timezone.now() - timedelta(minutes=1)
    Claim.objects.filter(name=f"annotators:{study.pk}").update(since=minute_ago, until=minute_ago)


def report(study: Study) -> Result:
    let_time_pass(study)
    tasks.report_annotators(study.pk)
    return kept.heads("annotators", study=study).get()


def behind(study: Study) -> bool:
    return any(work.task == "report_annotators" and work.key == study.pk for work in agenda.look().waiting)


@pytest.fixture
def crowd(tmp_path: Path) -> tuple[Study, tuple[formats.Preference, ...]]:
    """Two topics of a real crowd, as anybody would import them; and what was in the file."""
    if not replay.DATA.is_dir():
        pytest.skip("needs the data sets that are not shipped")
    bundle = replay.read(topics=2, judgments=450)
    replay.write(bundle, tmp_path / "crowd.zip")
    study = making.study()
    imports.store(study, formats.read(tmp_path / "crowd.zip", existing=formats.Existing({})))
    tasks.report_annotators(study.pk)
    return study, bundle.preferences


def test_agreement_in_a_real_crowd_is_that_of_an_independent_calculation(
    crowd: tuple[Study, tuple[formats.Preference, ...]],
) -> None:
    study, rows = crowd
    stored = kept.heads("annotators", study=study).get().record
    names = {topic.pk: topic.name for topic in study.topics.all()}
    assert len(stored["topics"]) == 2
    for figures, mine in [
        (stored["study"], rows),
        *((one, [row for row in rows if row.topic == names[one["topic"]]]) for one in stored["topics"]),
    ]:
        said: dict[tuple[str, frozenset[str]], list[str]] = defaultdict(list)
        for row in mine:
            said[row.topic, frozenset((row.a, row.b))].append({"a": row.a, "b": row.b, "tie": "tie"}[row.winner])
        alike = of = 0
        observed = 0.0
        totals: Counter[bool] = Counter()
        for answers in said.values():
            m = len(answers)
            if m > 1:
                same = sum(x == y for x, y in combinations(answers, 2))
                alike, of = alike + same, of + m * (m - 1) // 2
                observed += (m * (m - 1) - 2 * same) / (m - 1)
                totals.update(one == "tie" for one in answers)
        n = totals.total()
        # A preference is for either sentence with the same chance, whichever of them was stored first.
        by_chance = (totals[True] / n) ** 2 + 2 * (totals[False] / 2 / n) ** 2
        assert (figures["judgments"], figures["comparisons"]) == (len(mine), of)
        assert figures["percent"]["value"] == pytest.approx(alike / of)
        assert figures["alpha"]["value"] == pytest.approx(1 - (n - 1) * observed / (n * n * (1 - by_chance)))
        assert figures["kappa"]["value"] == pytest.approx((alike / of - by_chance) / (1 - by_chance))
        for name in ("percent", "alpha", "kappa"):
            assert figures[name]["low"] < figures[name]["value"] < figures[name]["high"]
    assert stored["time"][-1] == {"judgments": len(rows), "alpha": stored["study"]["alpha"]["value"]}


def test_the_figures_of_real_annotators_are_those_of_an_independent_calculation(
    crowd: tuple[Study, tuple[formats.Preference, ...]],
) -> None:
    study, rows = crowd
    of: dict[str, list[formats.Preference]] = defaultdict(list)
    for row in rows:
        of[row.annotator].append(row)
    reports = AnnotatorReport.objects.filter(annotator__study=study).select_related("annotator")
    figures = {one.annotator.pseudonym: one.figures for one in reports}
    assert figures.keys() == of.keys()
    logs = {who: median(math.log(row.seconds or 0.0) for row in mine) for who, mine in of.items()}
    middle = median(logs.values())
    spread = 1.4826 * median(abs(log - middle) for log in logs.values())
    length = {
        f"{sentence.document.name}:{sentence.index}": len(sentence.text)
        for sentence in Item.objects.filter(item_set__study=study).select_related("document")
    }
    for who, mine in of.items():
        found = figures[who]
        told = [row.winner for row in mine if row.winner != "tie"]
        hasty = [row.seconds is not None and row.seconds * 100 < length[row.a] + length[row.b] for row in mine]
        assert found["answers"]["n"] == len(mine)
        assert found["seconds"]["value"] == pytest.approx(median(row.seconds or 0.0 for row in mine))
        assert found["speed"]["value"] == pytest.approx((logs[who] - middle) / spread)
        _holds_share(found["ties"], len(mine) - len(told), len(mine))
        assert (found["left"]["n"], found["alternation"]["n"]) == (0, 0), "a file does not say which side was left"
        _holds_share(found["hasty"], sum(hasty), len(mine))
        ahead = [(row.winner == "a", length[row.a] - length[row.b]) for row in mine if row.winner != "tie"]
        longer = [is_first == (more > 0) for is_first, more in ahead if more]
        _holds_share(found["longer"], sum(longer), len(longer))
        _holds_share(found["circles"], *_circles(mine))
        assert found["gold"]["n"] == found["repeats"]["n"] == 0
    assert sum(one["circles"]["n"] > 0 for one in figures.values()) > 0
    assert max(one["answers"]["n"] for one in figures.values()) > 20


def _holds_share(figure: dict[str, float | None], k: int, n: int) -> None:
    """A share with Wilson's interval, by his formula."""
    assert figure["n"] == n
    if not n:
        assert figure["value"] is figure["low"] is figure["high"] is None
        return
    z, p = 1.959963984540054, k / n
    centre, margin = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert figure["value"] == pytest.approx(p)
    assert figure["low"] == pytest.approx((centre - margin) / (1 + z * z / n), abs=1e-9)
    assert figure["high"] == pytest.approx((centre + margin) / (1 + z * z / n), abs=1e-9)


def _circles(rows: list[formats.Preference]) -> tuple[int, int]:
    """Circular triads and fully decided triples, by looking at all of them."""
    net: Counter[tuple[str, str]] = Counter()
    for row in rows:
        better = {"a": 1, "b": -1, "tie": 0}[row.winner]
        net[row.a, row.b] += better
        net[row.b, row.a] -= better
    names = sorted({name for two in net for name in two})
    triples = [three for three in combinations(names, 3) if all(net[two] for two in combinations(three, 2))]
    circular = sum((net[a, b] > 0) == (net[b, c] > 0) == (net[c, a] > 0) for a, b, c in triples)
    return circular, len(triples)


def test_figures_are_worked_out_once_for_each_version_and_not_more_often_than_every_ten_seconds() -> None:
    study = ready_study(judgments_per_pair=3)
    assert not behind(study)  # nobody has judged
    judged(joined(study))
    assert behind(study)
    tasks.report_annotators(study.pk)
    assert not behind(study)
    judged(joined(study))
    assert not behind(study)  # it is too early
    let_time_pass(study)
    assert behind(study)
    tasks.report_annotators(study.pk)
    assert AnnotatorReport.objects.filter(annotator__study=study).count() == 2


def test_figures_that_come_late_never_replace_newer_ones() -> None:
    study = ready_study(judgments_per_pair=3)
    judged(joined(study))
    late = records.load_answers(study.pk)
    judged(joined(study))
    newer = report(study).version
    assert late is not None
    assert late.version < newer
    tasks._describe(late)
    assert kept.heads("annotators", study=study).get().version == newer
    assert AnnotatorReport.objects.filter(annotator__study=study).count() == 2


def test_what_cannot_be_told_is_stored_as_such_with_the_reason() -> None:
    study = ready_study(judgments_per_pair=1)
    judged(joined(study))
    figures = report(study).record["study"]
    assert figures["why"] == "nobody_twice"
    assert figures["alpha"] == {"value": None, "low": None, "high": None}


def test_neither_agrees_with_a_tie_since_both_see_no_order() -> None:
    study = ready_study(sentences=2, judgments_per_pair=2)
    for answer in ("tie", "neither"):
        judged(joined(study), answer)
    figures = report(study).record["study"]
    assert (figures["percent"]["value"], figures["why"]) == (1.0, "all_equal")


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
        assert (after.record == before.record) == (excluded_at is None)
    assert after.version > before.version
    assert people == {one.annotator_id: one.figures for one in AnnotatorReport.objects.filter(annotator__study=study)}


def test_people_weigh_the_same_unless_the_study_says_otherwise() -> None:
    study = scored_study()
    plain = list(Utility.objects.filter(sentence__item_set__study=study).order_by("pk").values_list("wins", flat=True))
    assert all(float(2 * wins).is_integer() for wins in plain)
    studies.change_settings(study, study.created_by, weigh_annotators=True)
    assert tasks.catch_up(study.pk) == {}
    weighed = list(
        Utility.objects.filter(sentence__item_set__study=study).order_by("pk").values_list("wins", flat=True)
    )
    assert not all(float(2 * wins).is_integer() for wins in weighed)
    report(study)
    assert all(one.weight is not None for one in AnnotatorReport.objects.filter(annotator__study=study))
    assert Judgment.objects.filter(item_set__study=study).exists()


def test_hidden_pairs_are_held_to_their_known_side_and_practice_is_left_out() -> None:
    study = ready_study(judgments_per_pair=1)
    somebody = joined(study)
    _, hidden, practice = (judged(somebody, "left") for _ in range(3))
    Assignment.objects.filter(pk=hidden.pk).update(reason="gold", expected="right", holds_place=False)
    Assignment.objects.filter(pk=practice.pk).update(reason="training", expected="left", holds_place=False)
    assert report(study).record["study"]["judgments"] == 1
    figures = AnnotatorReport.objects.get(annotator=somebody).figures
    assert (figures["gold"]["value"], figures["gold"]["n"]) == (0.0, 1)
    assert figures["answers"]["n"] == 2
    assert figures["reliability"]["n"] == 1


def test_the_longer_a_report_takes_the_less_often_it_is_made() -> None:
    study = ready_study()
    judged(joined(study))
    report(study)
    judged(joined(study))
    assert not behind(study)  # seconds ago is not long enough for anybody
    let_time_pass(study)
    assert behind(study)
    Claim.objects.update(seconds=4.0)
    assert not behind(study)
    Claim.objects.update(since=timezone.now() + timedelta(minutes=5))
    assert behind(study)  # the clock was set back
