"""What is worked out of win rates, by the real worker: metrics, influence, the smallest set, what-if, forecast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from annotate import judging
from annotate.models import Assignment, Study
from annotate.reports import analyses
from evaluation.scoring.win_rate import win_rates
from evaluation.worker import records, tasks
from evaluation.worker.agenda import find_work
from formats.results.scores import WIN_RATE
from tests.annotate.judging_study import joined
from tests.annotate.scored import score_with_metrics
from tests.annotate.test_comparing_summaries import SYSTEMS, record, study_of
from tests.evaluation.test_win_rates_kept import answer, board

pytestmark = pytest.mark.django_db


def compared(topics: int = 4, annotators: int = 3, **settings: Any) -> Study:
    """Annotators who prefer ann to bob to lead to long, always."""
    study = study_of(*map(graded, range(topics)), pairs_per_annotator=50, judgments_per_pair=2, **settings)
    for _annotator in range(annotators):
        answer(joined(study), 10)
    tasks.catch_up(study.pk)
    return study


def graded(number: int) -> dict[str, Any]:
    """A topic whose summaries people graded as annotators will compare them."""
    topic = record(f"M{number}")
    for place, summary in enumerate(topic["summaries"]):
        summary["human"] = {"overall": len(SYSTEMS) - place}
    return topic


def shown(study: Study, name: str) -> Any:
    analysis = analyses.analyses_of(study)[name]
    return analyses.opened(study, analysis, {}, frozenset({"see", "annotators"}))


def test_metrics_agreement_counts_the_win_rate_among_the_studys_scores() -> None:
    study = compared()
    score_with_metrics(study)
    agreement = shown(study, "metric-agreement").record.dimensions[0]
    of_win_rate = next(own for own in agreement.metrics if own.metric == WIN_RATE)
    assert of_win_rate.agreement.value == 1.0
    assert all(own.agreement.p is None for own in agreement.differences if WIN_RATE in (own.first, own.second))
    scores = shown(study, "scores-of-summaries").record
    assert all(0 < own.metrics[WIN_RATE] < 1 for own in scores.summaries)


def test_pairs_of_systems_leave_the_win_rate_to_the_leaderboard() -> None:
    study = compared()
    score_with_metrics(study)
    pairs = shown(study, "pairs-of-systems")
    assert WIN_RATE not in {counts.by for counts in pairs.record.metrics}
    assert any("win rate" in note for note in pairs.shown.notes)


def test_influence_is_what_the_board_would_be_without_each_annotator() -> None:
    study = compared(annotators=2)
    contrary = joined(study)
    for _pair in range(10):
        pair = judging.draw(contrary)
        assert isinstance(pair, Assignment)
        judging.record_judgment(pair, 1, "left" if pair.right.document.name == "ann" else "right", 5.0)
    tasks.rank_by_summaries(study.pk)
    assert ("examine_win_rates", study.pk) in {(work.task, work.key) for work in find_work()}
    tasks.examine_win_rates(study.pk)
    assert "examine_win_rates" not in {work.task for work in find_work()}
    influence = shown(study, "influence").record
    assert influence.annotators == 3
    assert influence.score == WIN_RATE
    whole, rest = records.load_compared(study.pk), records.load_compared(study.pk, but=[contrary.pk])
    assert whole is not None
    assert rest is not None
    without = win_rates(rest.answers, None, win_rates(whole.answers).effects.variances).standing
    now = {own.system: own for own in influence.systems}
    ann = next(own for own in influence.systems if own.annotator == contrary.pseudonym)
    before = board(study)[ann.system].score
    assert before + ann.change == pytest.approx(
        dict(zip(without.systems, without.scores, strict=True))[ann.system], abs=1e-6
    )
    assert now["ann"].rank_low == 1


def test_the_smallest_set_of_answers_about_summaries_changes_the_first_place() -> None:
    study = compared()
    tasks.examine_win_rates(study.pk)
    found = shown(study, "smallest-set").record
    assert (found.smallest.first, found.smallest.among) == ("ann", 30)
    out = set(found.smallest.judgments)
    loaded = records.load_compared(study.pk)
    assert loaded is not None
    kept = np.array([key not in out for key in loaded.judgments])
    standing = win_rates(loaded.answers.some(kept)).standing
    assert max(zip(standing.scores, standing.systems, strict=True))[1] == found.smallest.instead != "ann"
    assert {own.sentence for own in found.answers} <= set(SYSTEMS)
    assert len(found.answers) == len(out)
