"""What is worked out of win rates, by the real worker: metrics, influence, the smallest set, what-if, forecast."""

from __future__ import annotations

import random
import re
from statistics import median
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotate import imports, judging, studies
from annotate.judging import what_if as questions
from annotate.models import Assignment, Ranking, Study
from annotate.reports import analyses
from annotate.reports import forecast as reports
from annotate.reports import leaderboard as boards
from evaluation import records, tasks
from evaluation.agenda import look
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Difference, Outcome
from preferendum.results.planning import Pace, seconds_of
from preferendum.scoring.win_rate import win_rates
from tests.annotate import making
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
        judging.record_judgment(pair, 1, "left" if pair.right.system == "ann" else "right", 5.0)
    tasks.rank_by_summaries(study.pk)
    assert ("examine_win_rates", study.pk) in {(work.task, work.key) for work in look().waiting}
    tasks.examine_win_rates(study.pk)
    assert "examine_win_rates" not in {work.task for work in look().waiting}
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


def test_the_smallest_set_of_answers_about_summaries_changes_the_first_place(client: Client) -> None:
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
    client.force_login(making.owner(study))
    first_place = f"{len(out)} of 30 answers"
    page = client.get(reverse("leaderboard", args=[study.pk])).content.decode()
    assert first_place in page
    assert "The ranking over time" not in page, "win rates have none"
    of_topic = client.get(reverse("topic_leaderboard", args=[study.pk, study.topics.all()[0].pk])).content.decode()
    assert ('id="ground"' in page, 'id="ground"' in of_topic) == (True, False), "verdicts are on all topics together"
    other = client.get(reverse("leaderboard", args=[study.pk]), {"scored_by": "recommended"})
    assert first_place not in other.content.decode()


def rows(study: Study) -> list[tuple[str, int, float, float | None, float | None, int]]:
    ranked = sorted(board(study).values(), key=lambda row: (row.rank, row.system.name))
    return [(row.system.name, row.rank, row.score, row.low, row.high, row.topics) for row in ranked]


def rows_of(outcome: Outcome) -> list[tuple[str, int, float, float | None, float | None, int]]:
    return [(row.system, row.rank, row.score, row.low, row.high, row.topics) for row in outcome.systems]


def test_a_what_if_says_what_the_board_of_win_rates_will_be_once_somebody_is_excluded(client: Client) -> None:
    study = compared()
    owner, one = making.owner(study), study.annotators.order_by("pk").first()
    question = questions.ask(study, owner, [one])
    tasks.answer_what_if(question.pk)
    question.refresh_from_db()
    answered = question.record
    assert not questions.is_old(question)
    assert rows_of(answered.before) == rows(study)
    assert (answered.before.judgments, answered.before.topics) == (30, 4)
    client.force_login(owner)
    page = client.get(reverse("what_if", args=[study.pk, question.key])).content.decode()
    assert "Win rate" in page
    assert "Score as published" not in page
    judging.exclude(one, owner, "careless")
    tasks.rank_by_summaries(study.pk)
    assert rows_of(answered.after) == rows(study)
    again = questions.ask(study, owner, [one], leave_out=False)
    tasks.answer_what_if(again.pk)
    again.refresh_from_db()
    assert rows_of(again.record.after) == rows_of(answered.before)


def test_the_board_of_a_kind_alone_is_of_win_rates_where_these_are_the_headline() -> None:
    study = compared(compares="both", summary_share=1.0)
    question = questions.ask_kind(study, making.owner(study), "machine")
    tasks.answer_what_if(question.pk)
    question.refresh_from_db()
    assert question.record.before.judgments == 30
    assert question.record.after.systems == ()


def test_a_system_that_nobody_judged_is_predicted_below_the_board_until_somebody_judges_it(client: Client) -> None:
    study = compared(summary_judgments_per_topic=40)
    later = [graded(n) for n in range(4)]
    for topic in later:
        topic["summaries"] = [{"system": "late", "text": f"What ann says of {topic['topic_id']}.\n\nAll of it, too."}]
    making.store(study, making.lines(*later), "later.jsonl")
    tasks.catch_up(study.pk)
    assert ("predict_later_systems", study.pk) in {(work.task, work.key) for work in look().waiting}
    tasks.predict_later_systems(study.pk)
    assert "predict_later_systems" not in {work.task for work in look().waiting}
    shown_board = boards.of_study(study)
    assert [row.system for row in shown_board.rows] == list(SYSTEMS)
    (late,) = shown_board.predicted
    assert late.system == "late"
    assert 0 <= late.low < late.score < late.high <= 1
    assert late.answers >= 1
    client.force_login(making.owner(study))
    page = client.get(reverse("leaderboard", args=[study.pk])).content.decode()
    assert page.index("long</bdi>") < page.index("late</bdi>") < page.index("predicted, nobody judged it")
    rows = client.get(f"/studies/{study.pk}/leaderboard.predicted.csv").content.decode().splitlines()
    assert rows[1].startswith(f"late,{late.score}")
    assert "late" not in client.get(f"/studies/{study.pk}/leaderboard.csv").content.decode()
    sent = client.get(f"/api/v1/studies/{study.pk}/leaderboard/").json()
    assert [own["system"] for own in sent["predicted"]] == ["late"]
    assert "late" not in {own["system"] for own in sent["systems"]}
    for _annotator in range(2):
        answer(joined(study), 20)
    tasks.rank_by_summaries(study.pk)
    assert boards.of_study(study).predicted == ()
    assert "late" in board(study)


def test_the_forecast_says_in_reading_time_what_answers_about_summaries_bring_before_and_after_the_first(
    client: Client,
) -> None:
    study = study_of(*map(graded, range(4)), summary_judgments_per_topic=8, judgments_per_pair=2)
    tasks.rank_by_summaries(study.pk)
    (before,) = shown(study, "forecast").record
    assert before.outlook.expected.learnt_from == 0
    assert (before.outlook.planned, before.outlook.now, before.outlook.is_anchored) == (32, 0, False)
    words = len(["What", "ann", "says", "of", "M1.", "All", "of", "it."])
    assert before.outlook.expected.words == pytest.approx(2 * words, abs=0.5)
    assert before.pace.basis == "read"
    assert before.pace.seconds == pytest.approx(seconds_of(2 * words), rel=0.3)
    client.force_login(making.owner(study))
    page = client.get(reverse("analysis", args=[study.pk, "forecast"]), {"difference": "20", "pay": "12"})
    text = page.content.decode()
    assert "No answer counts yet. In typical studies, 32 answers (about" in text
    assert "will hardly show a difference of 20 percentage points" in text
    assert "Simulate the study" not in text
    for _annotator in range(4):
        answer(joined(study), 8)
    tasks.rank_by_summaries(study.pk)
    (after,) = shown(study, "forecast").record
    ranking = Ranking.objects.get(study=study, scored_by=WIN_RATE)
    done = ranking.judgments
    assert after.outlook.expected.learnt_from == after.outlook.now == done > 24
    assert after.pace == Pace(5.0, "taken")
    assert after.outlook.expected.system_variance != before.outlook.expected.system_variance
    assert after.outlook.annotators == 4
    halves = [(own.high - own.low) / 2 for own in ranking.system_differences]
    assert after.outlook.after(done) == pytest.approx(median(halves))
    assert reports.course(study).done == done
    assert reports.course(study).wanted == 32
    assert reports.course(study).seconds == 5.0


def test_every_analysis_of_a_study_that_compares_summaries_opens() -> None:
    study = compared(compares="both", summary_share=1.0)
    score_with_metrics(study)
    tasks.examine_win_rates(study.pk)
    opened = {own.analysis.name: own for own in analyses.all_opened(study, frozenset({"see", "annotators"}))}
    assert {"two-systems", "scores-by-topic", "forecast", "influence", "smallest-set"} <= {
        name for name, own in opened.items() if own.shown
    }
    assert opened["two-systems"].asked["scored_by"] == WIN_RATE
    assert re.search(r"has the highest win rate, [\d.]+% \[", opened["scores-by-topic"].shown.verdict)
    assert boards.of_study(study, WIN_RATE).rests_on.counted.words in opened["two-systems"].rests_on


def stopping(**settings: Any) -> Study:
    rules = {"stop_rule": True, "closes_when_decided": True, "equal_within": 0.01}
    topics = map(graded, range(8))
    return study_of(
        *topics, summary_judgments_per_topic=12, judgments_per_pair=2, pairs_per_annotator=90, **rules | settings
    )


def test_a_study_closes_once_answers_about_summaries_have_decided_every_two_systems() -> None:
    study = stopping()
    looks = []
    for _annotator in range(6):
        answer(joined(study), 24)
        tasks.rank_by_summaries(study.pk)
        study.refresh_from_db()
        looks.append(study.state)
        if study.state == "closed":
            break
    ranking = Ranking.objects.get(study=study, scored_by=WIN_RATE)
    verdicts = [difference.verdict(0.01) for difference in ranking.system_differences]
    assert looks[0] == "open"
    assert looks[-1] == "closed"
    assert set(verdicts) == {"apart"}
    assert 0 < ranking.system_differences[0].planned_share <= 1


def test_answers_by_a_coin_close_no_study() -> None:
    study = stopping()
    coin = random.Random(7)
    for _annotator in range(4):
        annotator = joined(study)
        for _pair in range(24):
            pair = judging.draw(annotator)
            if isinstance(pair, Assignment):
                judging.record_judgment(pair, 1, coin.choice(["left", "right"]), 5.0)
        tasks.rank_by_summaries(study.pk)
        study.refresh_from_db()
        assert study.state == "open"


def test_where_summaries_are_asked_about_their_answers_alone_close_the_study() -> None:
    study = stopping(compares="sentences")
    differences = [Difference("ann", "bob", 0.2, 0.1, 0.3, 0.0, significant=True, planned_share=1.0)]
    studies.conclude_verdicts(study.pk, differences, by_summaries=True)
    study.refresh_from_db()
    assert study.state == "open"
    studies.conclude_verdicts(study.pk, differences)
    study.refresh_from_db()
    assert study.state == "closed"


def test_with_the_last_topic_goes_all_that_was_worked_out_of_its_answers_and_comes_back_with_it() -> None:
    study = compared(topics=1)
    tasks.examine_win_rates(study.pk)
    before = shown(study, "influence").record
    topic = study.topics.get()
    removal = imports.remove(study, making.owner(study), "topic", str(topic.pk))
    assert shown(study, "influence").record is None
    assert not shown(study, "forecast").record
    imports.restore_removed(removal, making.owner(study))
    tasks.catch_up(study.pk)
    tasks.examine_win_rates(study.pk)
    assert shown(study, "influence").record == before
    assert "10 answers by 2 annotators: too early to go by" in shown(study, "forecast").shown.verdict
