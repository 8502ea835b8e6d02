"""What is worked out of win rates, by the real worker: metrics, influence, the smallest set, what-if, forecast."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.models import Study
from annotate.reports import analyses
from evaluation.worker import tasks
from formats.results.scores import WIN_RATE
from tests.annotate.judging_study import joined
from tests.annotate.scored import score_with_metrics
from tests.annotate.test_comparing_summaries import SYSTEMS, record, study_of
from tests.evaluation.test_win_rates_kept import answer

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
