"""The worker turns what was said of whole summaries into a ranking, and asks for what it does not know yet."""

from __future__ import annotations

from collections import Counter

import pytest

from annotate import imports, judging
from annotate.models import Annotator, Fit, Ranking, Score, Suggestion, SystemScore
from evaluation import tasks
from evaluation.agenda import look
from tests.annotate import making
from tests.annotate.judging_study import joined, judged
from tests.annotate.test_comparing_summaries import SYSTEMS, record, study_of, systems

pytestmark = pytest.mark.django_db

ORDER = {system: place for place, system in enumerate(SYSTEMS)}


def answer(annotator: Annotator, number: int) -> None:
    """By the order of the systems: ann is the best."""
    for _pair in range(number):
        pair = judging.draw(annotator)
        if isinstance(pair, judging.NoPair):
            return
        left, right = pair.left.system, pair.right.system
        judging.record_judgment(pair, 1, "left" if ORDER.get(left, 9) < ORDER.get(right, 9) else "right", 5.0)


def board(study) -> dict[str, SystemScore]:
    rows = SystemScore.objects.filter(ranking__study=study, ranking__scored_by="win-rate").select_related("system")
    return {row.system.name: row for row in rows}


def test_systems_are_ranked_by_what_was_said_of_their_summaries() -> None:
    study = study_of(*(record(f"M{n}") for n in range(4)), pairs_per_annotator=50, judgments_per_pair=2)
    for _annotator in range(4):
        answer(joined(study), 10)
    tasks.rank_by_summaries(study.pk)
    rows = board(study)
    assert sorted(rows, key=lambda system: rows[system].rank) == list(SYSTEMS)
    assert sum(row.score for row in rows.values()) == pytest.approx(len(SYSTEMS) / 2)
    assert all(0 <= row.low < row.score < row.high <= 1 for row in rows.values())
    ranking = Ranking.objects.get(study=study, scored_by="win-rate")
    assert (ranking.judgments, ranking.topics, {row.topics for row in rows.values()}) == (40, 4, {4})
    assert ranking.own_ground.annotators == 4
    scores = Score.objects.filter(scored_by="win-rate")
    assert scores.count() == 16
    assert scores.get(summary__system__name="ann", summary__topic__name="M1").score > 0.6


def test_the_worker_finds_new_answers_and_has_nothing_to_do_afterwards() -> None:
    study = study_of(record(), pairs_per_annotator=50)
    tasks.rank_by_summaries(study.pk)
    judged(joined(study))
    assert ("rank_by_summaries", study.pk) in {(work.task, work.key) for work in look().waiting}
    tasks.rank_by_summaries(study.pk)
    assert "rank_by_summaries" not in {work.task for work in look().waiting}
    assert Fit.objects.filter(scored_by="win-rate", judgments=1).count() == 1


def test_before_anybody_answered_every_system_is_asked_about_equally_often() -> None:
    study = study_of(*(record(f"M{n}") for n in range(6)))
    tasks.rank_by_summaries(study.pk)
    first = Suggestion.objects.filter(rank=0)
    assert first.count() == 6
    times = Counter(name for row in first for name in (row.first.system, row.second.system))
    assert set(times.values()) == {3}
    assert not board(study)


def test_all_planned_pairs_are_drawn_before_the_first_answer_and_no_answer_changes_them() -> None:
    study = study_of(*(record(f"M{n}") for n in range(3)), pairs_per_annotator=50, summary_judgments_per_topic=12)
    tasks.rank_by_summaries(study.pk)
    drawn = [*Suggestion.objects.order_by("item_set", "rank").values_list("item_set", "first", "second")]
    assert len(drawn) == len(set(drawn)) == 3 * 6  # every two of four systems
    answer(joined(study), 5)
    tasks.rank_by_summaries(study.pk)
    assert [*Suggestion.objects.order_by("item_set", "rank").values_list("item_set", "first", "second")] == drawn
    assert board(study)


def test_a_system_that_comes_later_is_asked_about_too() -> None:
    study = study_of(record(), pairs_per_annotator=50)
    tasks.rank_by_summaries(study.pk)
    late = record() | {"summaries": [{"system": "late", "text": "What late says of M1."}]}
    making.store(study, making.lines(late), "later.jsonl")
    answer(joined(study), 1)
    tasks.rank_by_summaries(study.pk)
    names = {name for row in Suggestion.objects.all() for name in (row.first.system, row.second.system)}
    assert "late" in names


def test_what_the_worker_asks_for_is_asked_next() -> None:
    study = study_of(record())
    tasks.rank_by_summaries(study.pk)
    wished = Suggestion.objects.get(rank=0)
    pair = judged(joined(study))
    assert systems(pair) == {wished.first.system, wished.second.system}
    assert pair.reason == "suggested"


def test_a_removed_system_leaves_the_ranking() -> None:
    study = study_of(*(record(f"M{n}") for n in range(3)), pairs_per_annotator=50)
    for _annotator in range(3):
        answer(joined(study), 10)
    tasks.rank_by_summaries(study.pk)
    key = str(SystemScore.objects.get(system__name="ann", ranking__scored_by="win-rate").system_id)
    imports.remove(study, making.owner(study), "system", key)
    tasks.rank_by_summaries(study.pk)
    assert sorted(board(study)) == ["bob", "lead", "long"]


def test_a_topic_that_comes_back_has_its_win_rates_again() -> None:
    study = study_of(*(record(f"M{n}") for n in range(2)), pairs_per_annotator=50)
    for _annotator in range(3):
        answer(joined(study), 10)
    tasks.rank_by_summaries(study.pk)
    before = dict(Score.objects.filter(scored_by="win-rate").values_list("summary__system__name", "score"))
    removal = imports.remove(study, making.owner(study), "topic", str(study.topics.first().pk))
    tasks.rank_by_summaries(study.pk)
    assert Score.objects.filter(scored_by="win-rate").count() == 4
    imports.restore_removed(removal, making.owner(study))
    tasks.rank_by_summaries(study.pk)
    for topic in study.topics.all():
        tasks.refit_topic(topic.pk)  # of whose sentences nobody said anything
    assert dict(Score.objects.filter(scored_by="win-rate").values_list("summary__system__name", "score")) == before
    assert Score.objects.filter(scored_by="win-rate").count() == 8
