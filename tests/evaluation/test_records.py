"""What is behind is read off the tables; what is published is guarded by versions; claims only save work."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from annotate import imports, judging
from annotate import studies as verbs
from annotate.models import (
    Claim,
    Fit,
    Item,
    ItemSetProgress,
    Judgment,
    Pair,
    Ranking,
    Score,
    ScoredBy,
    SourceDocument,
    SystemScore,
    Topic,
    Utility,
    WorkerPulse,
)
from annotate.reports import leaderboard
from evaluation import agenda, claims, records, tasks
from evaluation.records.results import BY_SENTENCES
from preferendum import formats
from preferendum.evidence import AS_PUBLISHED
from preferendum.formats.records import LateSummary
from preferendum.results import Ground
from preferendum.scoring.evaluate import evaluate
from tests import studies

pytestmark = pytest.mark.django_db


def of_topic(topic):
    return [work.task for work in agenda.look().waiting if work.claim == f"topic:{topic.pk}"]


def fitted(topic):
    snapshot = records.load_evidence(topic.pk, tasks.split)
    results = {
        ScoredBy.RECOMMENDED: evaluate(snapshot.evidence, snapshot.settings),
        ScoredBy.PUBLISHED: evaluate(snapshot.evidence, AS_PUBLISHED),
    }
    return snapshot, results


def fits_of(topic, scored_by="recommended"):
    return Fit.objects.filter(item_set=topic.pk, scored_by=scored_by).order_by("data_version")


def test_a_topic_is_cut_and_then_fitted_and_then_rests() -> None:
    _, topic = studies.example_study()
    Topic.objects.filter(pk=topic.pk).update(cut_version=0)
    assert of_topic(topic) == ["cut_topic"]
    tasks.cut_topic(topic.pk)
    assert of_topic(topic) == ["refit_topic"]
    tasks.refit_topic(topic.pk)
    assert studies.to_do() == []


def test_a_late_result_never_replaces_a_newer_one() -> None:
    _, topic = studies.example_study()
    late = fitted(topic)
    judging.raise_version([topic.pk])
    newer = fitted(topic)
    assert records.save_results([records.Fitted(*newer)])
    kept = list(Utility.objects.order_by("pk").values_list("pk", "fit__data_version"))
    assert not records.save_results([records.Fitted(*late)])
    assert not records.save_results([records.Fitted(late[0], {})])
    assert list(Utility.objects.order_by("pk").values_list("pk", "fit__data_version")) == kept
    assert fits_of(topic).count() == fits_of(topic, "published").count() == 1


def test_the_same_result_is_published_once() -> None:
    _, topic = studies.example_study()
    result = fitted(topic)
    assert records.save_results([records.Fitted(*result)])
    assert not records.save_results([records.Fitted(*result)])


def test_a_result_about_sentences_that_were_cut_anew_is_thrown_away() -> None:
    _, topic = studies.example_study()
    result = fitted(topic)
    Topic.objects.filter(pk=topic.pk).update(cut_version=2)
    assert not records.save_results([records.Fitted(*result)])
    assert not Utility.objects.exists()


def test_a_fit_says_what_it_rests_on() -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    for scored_by in BY_SENTENCES:
        fit = fits_of(topic, scored_by).get()
        assert (fit.judgments, fit.sentences) == (3, 4)
        assert fit.last_judgment_id == Judgment.objects.latest("pk").pk
        assert fit.residual < 1e-8
        assert fit.program_version
        assert fit.curve[-1]["judgments"] == 3
        assert {row.judgments for row in fit.utilities.all()} == {1, 2}


def test_a_topic_is_scored_as_recommended_and_as_published_at_every_refit() -> None:
    _, topic = studies.example_study(score="importance")
    tasks.refit_topic(topic.pk)
    recommended, published = fits_of(topic).get(), fits_of(topic, "published").get()
    assert recommended.settings["score"] == "importance"
    assert published.settings["prior"] == 0.1  # the example has no finite maximum without one
    for system, score in studies.EXAMPLE["scores"].items():
        assert published.scores.get(summary__system__name=system).score == pytest.approx(score, abs=1e-9)
    for score in recommended.scores.select_related("summary__system"):
        terms = recommended.source_words.terms(score.summary.system.name, "importance")
        assert sum(term.contribution for term in terms) == pytest.approx(score.score or 0.0, abs=1e-12)


def test_older_fits_stay_as_a_log_of_what_they_rested_on() -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    for scored_by in BY_SENTENCES:
        first, second = fits_of(topic, scored_by)
        assert (first.curve, first.covariance, first.words) == ([], {}, {})
        assert second.curve
        assert (first.utilities.count(), second.utilities.count()) == (0, 4)
        assert (first.scores.count(), second.scores.count()) == (0, 4)


def test_a_curve_waits_until_nobody_waits_for_scores() -> None:
    made, first = studies.example_study()
    (second,) = imports.store(made, studies.example_bundle("second"))
    tasks.refit_topic(first.pk)
    coarse = fits_of(first).get()
    assert coarse.curve_owed
    assert [point["judgments"] for point in coarse.curve] == [3]
    assert ("draw_curve", first.pk) not in studies.to_do()
    tasks.refit_topic(second.pk)
    assert [point["judgments"] for point in fits_of(second).get().curve] == [1, 2, 3]
    assert studies.to_do() == [("draw_curve", first.pk)]
    tasks.draw_curve(first.pk)
    drawn = fits_of(first).get()
    assert [point["judgments"] for point in drawn.curve] == [1, 2, 3]
    assert drawn.curve[-1] == coarse.curve[-1]
    assert studies.to_do() == []


def test_a_curve_goes_on_where_it_was_while_judgments_arrive() -> None:
    made, topic = studies.example_study()
    (other,) = imports.store(made, studies.example_bundle("other"))
    tasks.catch_up(made.pk)
    judging.raise_version([other.pk])  # waits, so that the gaps stay
    more = (formats.Preference("ohio", "d1:1", "d1:2", "b"), formats.Preference("ohio", "d1:1", "d1:0", "b"))
    imports.store(made, formats.Bundle(preferences=more))
    tasks.refit_topic(topic.pk)
    assert [point["judgments"] for point in fits_of(topic).last().curve] == [1, 2, 3, 5]
    verbs.change_settings(made, made.created_by, prior=0.2)
    tasks.refit_topic(topic.pk)
    assert [point["judgments"] for point in fits_of(topic).last().curve] == [5]


def test_a_late_curve_is_thrown_away() -> None:
    _, topic = studies.example_study()
    snapshot, results = fitted(topic)
    records.save_results([records.Fitted(snapshot, results)])
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert not records.save_curve(snapshot, ScoredBy.RECOMMENDED, ())
    assert fits_of(topic).last().curve


def test_the_parts_of_a_score_add_up_to_it() -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    for score in Score.objects.filter(summary__topic=topic, scored_by="published"):
        total = sum(part["value"] * part["weight"] * part["factor"] for part in score.parts)
        assert total == pytest.approx(score.score, abs=1e-12)
        assert all(Item.objects.filter(pk=p["nearest"]).exists() for p in score.parts if p["nearest"] is not None)


def test_without_judgments_there_are_no_scores() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert not Score.objects.exists()
    assert {fit.judgments for fit in Fit.objects.filter(item_set=topic.pk)} == {0}
    assert studies.to_do() == []


def test_what_was_taken_back_takes_its_scores_along() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    assignment = studies.judge(judging.join(made))
    tasks.refit_topic(topic.pk)
    assert Score.objects.filter(summary__topic=topic).exists()
    judging.undo(assignment)
    tasks.refit_topic(topic.pk)
    assert not Score.objects.exists()
    assert not SystemScore.objects.exists()


@pytest.mark.parametrize("chosen", [studies.PAPER, {}], ids=["as in the paper", "by default"])
def test_judgments_in_any_order_of_arrival_give_the_same_bits(chosen: dict[str, Any]) -> None:
    bundle = studies.example_bundle()
    strengths = []
    for preferences in (bundle.preferences, tuple(reversed(bundle.preferences))):
        made = studies.study(**chosen)
        (topic,) = imports.store(made, formats.Bundle(topics=bundle.topics, preferences=preferences))
        tasks.refit_topic(topic.pk)
        rows = Utility.objects.filter(sentence__item_set=topic.pk).order_by("scored_by", "sentence__position")
        strengths.append(list(rows.values_list("strength", "utility", "wins")))
    assert strengths[0] == strengths[1]


def test_a_later_summary_is_scored_from_the_judgments_already_there() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    Claim.objects.update(seconds=0.0)  # quick work, however busy the machine is
    late = LateSummary("ohio", formats.Summary("late", sentences=("It rained in Ohio.",)))
    imports.store(made, formats.Bundle(summaries=(late,)))
    assert of_topic(topic) == ["refit_topic"]
    tasks.refit_topic(topic.pk)
    assert Score.objects.get(summary__system__name="late", scored_by="published").score == pytest.approx(
        studies.EXAMPLE["strengths_prior_0_1"][1], abs=1e-9
    )
    assert SystemScore.objects.filter(system__name="late").exists()


def test_other_settings_give_other_scores() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    verbs.change_settings(made, made.created_by, score="coverage")
    tasks.refit_topic(topic.pk)
    for score in Score.objects.filter(scored_by="recommended"):
        assert (score.score, score.se) == (score.coverage, None)
    verbs.change_settings(made, made.created_by, score="combined")
    tasks.refit_topic(topic.pk)
    assert all(score.score != score.coverage for score in Score.objects.filter(scored_by="recommended", coverage__gt=0))


def test_what_rests_on_texts_alone_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    monkeypatch.setattr(tasks, "prepare", lambda *_: 1 / 0)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert not ItemSetProgress.objects.get(item_set=topic.pk).problem
    for summary in topic.summaries.all():
        summary.sentences = [*summary.sentences, "It rained."]
        summary.save()
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert "ZeroDivisionError" in ItemSetProgress.objects.get(item_set=topic.pk).problem


def test_a_ranking_follows_its_topics_and_never_goes_back() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    ranking = Ranking.objects.get(study=made, scored_by="published")
    assert ranking.version == ItemSetProgress.objects.aggregate(v=Sum("fitted_version"))["v"]
    assert (ranking.topics, ranking.judgments) == (1, 3)
    best = SystemScore.objects.get(ranking=ranking, rank=1)
    assert best.system.name == "one"
    assert len(ranking.system_differences) == 6
    Ranking.objects.update(version=0)
    stale = records.load_standings(made.pk)
    assert [standings.scored_by for standings in stale] == ["recommended", "published"]
    Ranking.objects.update(version=10**6)
    assert not any(records.save_ranking(standings, (), (), Ground()) for standings in stale)
    assert SystemScore.objects.filter(ranking=ranking).count() == 4


@pytest.mark.django_db(transaction=True)
def test_a_fit_published_while_scores_are_read_belongs_to_the_next_reading() -> None:
    made, _first = studies.example_study()
    tasks.catch_up(made.pk)
    (second,) = imports.store(made, studies.example_bundle("second"))
    tasks.cut_topic(second.pk)

    def refit() -> None:
        try:
            assert records.save_results([records.Fitted(*fitted(second))])
        finally:
            connection.close()

    Ranking.objects.update(version=0)
    with after_reading('"annotate_score"."score"', refit):
        standings = records.load_standings(made.pk)
    assert [len(of_way.topics) for of_way in standings] == [1, 1]
    with transaction.atomic():
        judging.raise_version([second.pk])
    with after_reading('"annotate_fit"."id"', refit):
        assert len(leaderboard.of_topic(second).rows) == 4


@contextmanager
def after_reading(column: str, happens: Callable[[], object]) -> Iterator[None]:
    """Lets something happen elsewhere after the first query that asks for a column."""
    left = [happens]

    def run(execute: Any, sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if left and column in sql:
            with ThreadPoolExecutor() as pool:
                pool.submit(left.pop()).result(60)
        return result

    with connection.execute_wrapper(run):
        yield
    assert not left


def test_topics_under_different_settings_are_never_averaged() -> None:
    made, first = studies.example_study(score="importance")
    imports.store(made, studies.example_bundle("second"))
    tasks.catch_up(made.pk)
    before = list(SystemScore.objects.order_by("pk").values_list("pk", "score"))
    verbs.change_settings(made, made.created_by, smooth="none")
    tasks.refit_topic(first.pk)
    tasks.rank_study(made.pk)
    recommended = Ranking.objects.get(study=made, scored_by="recommended")
    assert recommended.settings["smooth"] == "kernel"
    assert set(before) >= set(recommended.systems.values_list("pk", "score"))
    tasks.catch_up(made.pk)
    recommended.refresh_from_db()
    assert (recommended.settings["smooth"], recommended.topics) == ("none", 2)
    assert studies.to_do() == []


def test_only_one_at_a_time_may_claim_a_thing() -> None:
    with claims.attempt("topic:1") as first:
        assert first
        with claims.attempt("topic:1") as second:
            assert not second
        with claims.attempt("topic:2") as other:
            assert other
        first.succeed()
    with claims.attempt("topic:1") as again:
        assert again


def test_what_a_dead_worker_claimed_is_free_again_soon() -> None:
    with claims.attempt("topic:1"):
        Claim.objects.update(until=timezone.now() - timedelta(seconds=1))
        with claims.attempt("topic:1") as taken:
            assert taken
    assert not Claim.objects.filter(until__gt=timezone.now()).exists()


def test_what_nobody_claims_any_more_is_forgotten() -> None:
    with claims.attempt("upload:1"), claims.attempt("upload:2"):
        pass
    Claim.objects.filter(name="upload:1").update(until=timezone.now() - timedelta(hours=2))
    claims.give_sign_of_life("here")
    assert [claim.name for claim in Claim.objects.all()] == ["upload:2"]


def test_a_task_that_is_given_out_again_takes_up_what_it_left() -> None:
    token = uuid.uuid4()
    with claims.attempt("topic:1", token=token):  # and its process dies
        with claims.attempt("topic:1", token=token) as again:
            assert again
            with claims.attempt("topic:1") as other:
                assert not other
            again.succeed()
        with claims.attempt("topic:1") as other:
            assert other


def test_a_clock_that_was_set_back_locks_nobody_out() -> None:
    with claims.attempt("topic:1"):
        Claim.objects.update(until=timezone.now() + timedelta(days=1))
        with claims.attempt("topic:1") as taken:
            assert taken


def test_what_was_given_back_before_the_clock_was_set_back_is_queued() -> None:
    _, topic = studies.example_study()
    with time_machine.travel(timezone.now() + timedelta(hours=1)), claims.attempt(f"topic:{topic.pk}"):
        pass
    assert len(of_topic(topic)) == 1


def test_a_claim_lasts_as_long_as_it_is_renewed() -> None:
    with claims.attempt("topic:1"):
        Claim.objects.update(until=timezone.now() + timedelta(seconds=1))
        claims.renew_claims(["topic:1"])
        assert Claim.objects.get().until > timezone.now() + timedelta(seconds=5)


def test_what_is_claimed_is_not_queued() -> None:
    _, topic = studies.example_study()
    with claims.attempt(f"topic:{topic.pk}"):
        assert of_topic(topic) == []


def test_a_worker_is_remembered_while_it_lives() -> None:
    WorkerPulse.objects.create(name="gone", at=timezone.now() - timedelta(days=1), program_version="0")
    claims.give_sign_of_life("here")
    claims.give_sign_of_life("here")
    assert [pulse.name for pulse in WorkerPulse.objects.all()] == ["here"]


def test_texts_are_cut_anew_when_somebody_mends_them() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    document = SourceDocument.objects.get(topic=topic)
    judging.draw(judging.join(made))
    joined = [" ".join(document.sentences[:2]), *document.sentences[2:]]
    imports.mend(document, joined, made.created_by)
    tasks.cut_topic(topic.pk)
    assert list(Item.objects.filter(item_set=topic.pk).values_list("text", flat=True)) == joined
    assert not Pair.objects.filter(item_set=topic.pk).exists()


def test_sentences_that_somebody_judged_are_never_touched() -> None:
    _, topic = studies.example_study()
    before = list(Item.objects.filter(item_set=topic.pk).values_list("pk", "text"))
    SourceDocument.objects.filter(topic=topic).update(mended=["Something else."])
    Topic.objects.filter(pk=topic.pk).update(text_version=2)
    imports.cut_topic(topic.pk)
    assert Topic.objects.get(pk=topic.pk).is_cut
    assert list(Item.objects.filter(item_set=topic.pk).values_list("pk", "text")) == before


def test_a_cutting_that_comes_late_changes_nothing() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    SourceDocument.objects.filter(topic=topic).update(mended=["Late."])
    imports.cut_topic(topic.pk)
    assert Item.objects.filter(item_set=topic.pk).count() == 12


def test_cutting_again_what_did_not_change_keeps_its_rows() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    rows = list(Item.objects.filter(item_set=topic.pk).values_list("pk", flat=True))
    topic.text_version += 1
    topic.save()
    tasks.cut_topic(topic.pk)
    assert list(Item.objects.filter(item_set=topic.pk).values_list("pk", flat=True)) == rows
