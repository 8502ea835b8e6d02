"""What is behind is read off the tables; what is published is guarded by versions; claims only save work."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db.models import Sum
from django.utils import timezone

import formats
from annotate import imports, judging
from annotate import studies as verbs
from annotate.models import (
    Claim,
    Fit,
    Judgment,
    Pair,
    Ranking,
    Score,
    Sentence,
    SourceDocument,
    SystemScore,
    TopicProgress,
    Utility,
    WorkerPulse,
)
from evaluation import intake, records, tasks
from evaluation.evaluate import evaluate
from formats.records import LateSummary
from tests import studies

pytestmark = pytest.mark.django_db


def of_topic(topic):
    return [work.task for work in records.find_work() if work.claim == f"topic:{topic.pk}"]


def fitted(topic):
    snapshot = records.load_evidence(topic.pk, tasks.split)
    return snapshot, evaluate(snapshot.evidence, snapshot.settings)


def test_a_topic_is_cut_and_then_fitted_and_then_rests() -> None:
    _, topic = studies.example_study()
    TopicProgress.objects.filter(topic=topic).update(prepared_version=0)
    assert of_topic(topic) == ["prepare_topic"]
    tasks.prepare_topic(topic.pk)
    assert of_topic(topic) == ["refit_topic"]
    tasks.refit_topic(topic.pk)
    assert studies.to_do() == []


def test_a_late_result_never_replaces_a_newer_one() -> None:
    _, topic = studies.example_study()
    late = fitted(topic)
    judging.raise_version([topic.pk])
    newer = fitted(topic)
    assert records.save_result(*newer, 0.1)
    kept = list(Utility.objects.order_by("pk").values_list("pk", "fit__data_version"))
    assert not records.save_result(*late, 0.1)
    assert not records.save_nothing(late[0])
    assert list(Utility.objects.order_by("pk").values_list("pk", "fit__data_version")) == kept
    assert Fit.objects.filter(topic=topic).count() == 1


def test_the_same_result_is_published_once() -> None:
    _, topic = studies.example_study()
    result = fitted(topic)
    assert records.save_result(*result, 0.1)
    assert not records.save_result(*result, 0.1)


def test_a_result_about_sentences_that_were_cut_anew_is_thrown_away() -> None:
    _, topic = studies.example_study()
    result = fitted(topic)
    TopicProgress.objects.filter(topic=topic).update(prepared_version=2)
    assert not records.save_result(*result, 0.1)
    assert not Utility.objects.exists()


def test_a_fit_says_what_it_rests_on() -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    fit = Fit.objects.get(topic=topic)
    assert (fit.judgments, fit.sentences) == (3, 4)
    assert fit.last_judgment_id == Judgment.objects.latest("pk").pk
    assert fit.settings["prior"] == 0.1
    assert fit.residual < 1e-9
    assert fit.program_version
    assert fit.curve[-1]["judgments"] == 3
    assert {row.judgments for row in Utility.objects.all()} == {1, 2}


def test_older_fits_stay_as_a_log_of_what_they_rested_on() -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    first, second = Fit.objects.filter(topic=topic).order_by("data_version")
    assert (first.curve, first.covariance) == ([], {})
    assert second.curve
    assert {row.fit_id for row in Utility.objects.all()} == {second.pk}
    assert Utility.objects.count() == 4
    assert Score.objects.count() == 4


def test_a_curve_waits_until_nobody_waits_for_scores() -> None:
    made, first = studies.example_study()
    (second,) = intake.take_in(made, studies.example_bundle("second"))
    tasks.refit_topic(first.pk)
    coarse = Fit.objects.get(topic=first)
    assert coarse.curve_owed
    assert [point["judgments"] for point in coarse.curve] == [3]
    assert ("draw_curve", first.pk) not in studies.to_do()
    tasks.refit_topic(second.pk)
    assert [point["judgments"] for point in Fit.objects.get(topic=second).curve] == [1, 2, 3]
    assert studies.to_do() == [("draw_curve", first.pk)]
    tasks.draw_curve(first.pk)
    drawn = Fit.objects.get(topic=first)
    assert [point["judgments"] for point in drawn.curve] == [1, 2, 3]
    assert drawn.curve[-1] == coarse.curve[-1]
    assert studies.to_do() == []


def test_a_curve_goes_on_where_it_was_while_judgments_arrive() -> None:
    made, topic = studies.example_study()
    (other,) = intake.take_in(made, studies.example_bundle("other"))
    tasks.catch_up(made.pk)
    judging.raise_version([other.pk])  # waits, so that the gaps stay
    more = (formats.Preference("ohio", "d1:1", "d1:2", "b"), formats.Preference("ohio", "d1:1", "d1:0", "b"))
    intake.take_in(made, formats.Bundle(preferences=more))
    tasks.refit_topic(topic.pk)
    assert [point["judgments"] for point in Fit.objects.latest("pk").curve] == [1, 2, 3, 5]
    verbs.change_settings(made, made.created_by, prior=0.2)
    tasks.refit_topic(topic.pk)
    assert [point["judgments"] for point in Fit.objects.latest("pk").curve] == [5]


def test_a_late_curve_is_thrown_away() -> None:
    _, topic = studies.example_study()
    snapshot, result = fitted(topic)
    records.save_result(snapshot, result, 0.1)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert not records.save_curve(snapshot, ())
    assert Fit.objects.latest("pk").curve


def test_the_parts_of_a_score_add_up_to_it() -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    for score in Score.objects.filter(summary__topic=topic):
        total = sum(
            part["value"] * part["weight"] * part["factor"] * part["closeness"]
            for part in score.parts
            if part["nearest"] is not None
        )
        assert total == pytest.approx(score.score, abs=1e-12)
        assert all(Sentence.objects.filter(pk=p["nearest"]).exists() for p in score.parts if p["nearest"] is not None)


def test_without_judgments_there_are_no_scores() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert not Score.objects.exists()
    assert Fit.objects.get(topic=topic).judgments == 0
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
        (topic,) = intake.take_in(made, formats.Bundle(topics=bundle.topics, preferences=preferences))
        tasks.refit_topic(topic.pk)
        rows = Utility.objects.filter(sentence__topic=topic).order_by("sentence__position")
        strengths.append(list(rows.values_list("strength", "utility", "wins")))
    assert strengths[0] == strengths[1]


def test_a_later_summary_is_scored_from_the_judgments_already_there() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    late = LateSummary("ohio", formats.Summary("late", sentences=("It rained in Ohio.",)))
    intake.take_in(made, formats.Bundle(summaries=(late,)))
    assert of_topic(topic) == ["refit_topic"]
    tasks.refit_topic(topic.pk)
    assert Score.objects.get(summary__system__name="late").score == pytest.approx(
        studies.EXAMPLE["strengths_prior_0_1"][1], abs=1e-9
    )
    assert SystemScore.objects.filter(system__name="late").exists()


def test_other_settings_give_other_scores() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    verbs.change_settings(made, made.created_by, redundancy=False)
    tasks.refit_topic(topic.pk)
    for system, score in studies.EXAMPLE["scores_without_redundancy"].items():
        assert Score.objects.get(summary__system__name=system).score == pytest.approx(score, abs=1e-9)


def test_what_rests_on_texts_alone_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    monkeypatch.setattr(tasks, "match", lambda *_: 1 / 0)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert not TopicProgress.objects.get(topic=topic).problem
    for summary in topic.summaries.all():
        summary.sentences = [*summary.sentences, "It rained."]
        summary.save()
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert "ZeroDivisionError" in TopicProgress.objects.get(topic=topic).problem


def test_a_ranking_follows_its_topics_and_never_goes_back() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    ranking = Ranking.objects.get(study=made)
    assert ranking.version == TopicProgress.objects.aggregate(v=Sum("fitted_version"))["v"]
    assert (ranking.topics, ranking.judgments) == (1, 3)
    best = SystemScore.objects.get(ranking=ranking, rank=1)
    assert best.system.name == "one"
    assert len(ranking.differences) == 6
    Ranking.objects.update(version=0)
    stale = records.load_standings(made.pk)
    Ranking.objects.update(version=10**6)
    assert not records.save_ranking(stale, (), ())
    assert SystemScore.objects.filter(ranking=ranking).count() == 4


def test_only_one_at_a_time_may_claim_a_thing() -> None:
    with records.claimed("topic:1") as first:
        assert first
        with records.claimed("topic:1") as second:
            assert not second
        with records.claimed("topic:2") as other:
            assert other
    with records.claimed("topic:1") as again:
        assert again


def test_what_a_dead_worker_claimed_is_free_again_soon() -> None:
    with records.claimed("topic:1"):
        Claim.objects.update(until=timezone.now() - timedelta(seconds=1))
        with records.claimed("topic:1") as taken:
            assert taken
    assert not Claim.objects.filter(until__gt=timezone.now()).exists()


def test_what_nobody_claims_any_more_is_forgotten() -> None:
    with records.claimed("upload:1"), records.claimed("upload:2"):
        pass
    Claim.objects.filter(name="upload:1").update(until=timezone.now() - timedelta(hours=2))
    records.give_sign_of_life("here")
    assert [claim.name for claim in Claim.objects.all()] == ["upload:2"]


def test_a_task_that_is_given_out_again_takes_up_what_it_left() -> None:
    token = uuid.uuid4()
    with records.claimed("topic:1", token):  # and its process dies
        with records.claimed("topic:1", token) as again:
            assert again
            with records.claimed("topic:1") as other:
                assert not other
        with records.claimed("topic:1") as other:
            assert other


def test_a_clock_that_was_set_back_locks_nobody_out() -> None:
    with records.claimed("topic:1"):
        Claim.objects.update(until=timezone.now() + timedelta(days=1))
        with records.claimed("topic:1") as taken:
            assert taken


def test_what_was_given_back_before_the_clock_was_set_back_is_queued() -> None:
    _, topic = studies.example_study()
    with time_machine.travel(timezone.now() + timedelta(hours=1)), records.claimed(f"topic:{topic.pk}"):
        pass
    assert len(of_topic(topic)) == 1


def test_a_claim_lasts_as_long_as_it_is_renewed() -> None:
    with records.claimed("topic:1"):
        Claim.objects.update(until=timezone.now() + timedelta(seconds=1))
        records.renew_claims(["topic:1"])
        assert Claim.objects.get().until > timezone.now() + timedelta(seconds=5)


def test_what_is_claimed_is_not_queued() -> None:
    _, topic = studies.example_study()
    with records.claimed(f"topic:{topic.pk}"):
        assert of_topic(topic) == []


def test_a_worker_is_remembered_while_it_lives() -> None:
    WorkerPulse.objects.create(name="gone", at=timezone.now() - timedelta(days=1), program_version="0")
    records.give_sign_of_life("here")
    records.give_sign_of_life("here")
    assert [pulse.name for pulse in WorkerPulse.objects.all()] == ["here"]


def test_texts_are_cut_anew_when_somebody_mends_them() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    document = SourceDocument.objects.get(topic=topic)
    judging.draw(judging.join(made))
    joined = [" ".join(document.sentences[:2]), *document.sentences[2:]]
    imports.mend(document, joined, made.created_by)
    tasks.prepare_topic(topic.pk)
    assert list(Sentence.objects.filter(topic=topic).values_list("text", flat=True)) == joined
    assert not Pair.objects.filter(topic=topic).exists()


def test_sentences_that_somebody_judged_are_never_touched() -> None:
    _, topic = studies.example_study()
    document = SourceDocument.objects.get(topic=topic)
    before = list(Sentence.objects.filter(topic=topic).values_list("pk", "text"))
    cut = {document.pk: [records.Cut("Something else.", 0)]}
    assert records.save_preparation(topic.pk, topic.text_version + 1, cut)
    assert list(Sentence.objects.filter(topic=topic).values_list("pk", "text")) == before


def test_a_cutting_that_comes_late_changes_nothing() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    document = SourceDocument.objects.get(topic=topic)
    assert not records.save_preparation(topic.pk, topic.text_version, {document.pk: [records.Cut("Late.", 0)]})
    assert Sentence.objects.filter(topic=topic).count() == 12


def test_cutting_again_what_did_not_change_keeps_its_rows() -> None:
    made = studies.study()
    topic = studies.wide_topic(made, 12)
    rows = list(Sentence.objects.filter(topic=topic).values_list("pk", flat=True))
    topic.text_version += 1
    topic.save()
    tasks.prepare_topic(topic.pk)
    assert list(Sentence.objects.filter(topic=topic).values_list("pk", flat=True)) == rows
