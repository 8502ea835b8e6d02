"""The worker says what would change, and then it comes to that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotate import judging
from annotate.judging import what_if
from annotate.models import Study, SystemScore, WhatIfQuestion
from evaluation import tasks
from evaluation.agenda import look
from tests import kept
from tests.annotate import making, scored
from tests.annotate.everything import study_once

pytestmark = pytest.mark.django_db


def judged_by_three() -> Study:
    """Three people on one topic, one of them on the other as well."""
    made = scored.scored_study(judgments_per_pair=3, smooth="none")
    for name, answers in (("ann", "aab"), ("bob", "bba")):
        for number, winner in enumerate(answers):
            _topic, left, right, _winner = scored.JUDGED[number]
            scored.judge(made, ("rain", left, right, winner), pseudonym=name)
    scored.judge(made, ("snow", "s1:0", "s1:1", "b"), pseudonym="bob")
    settle(made)
    return made


made_study, study = study_once(judged_by_three)


def settle(study: Study) -> None:
    assert tasks.catch_up(study.pk) == {}
    kept.heads("annotators", study=study).update(computed_at=timezone.now() - timedelta(minutes=1))
    tasks.report_annotators(study.pk)


def asked(study: Study, *names: str, leave_out: bool = True) -> WhatIfQuestion:
    people = study.annotators.filter(pseudonym__in=names)
    preview = what_if.ask(study, making.owner(study), people, leave_out=leave_out)
    tasks.answer_what_if(preview.pk)
    preview.refresh_from_db()
    assert preview.state == WhatIfQuestion.State.READY, preview.problem
    return preview


def standings(study: Study) -> list[dict[str, Any]]:
    """The leaderboard that is there, as a preview says it."""
    columns = ("score", "low", "high", "rank", "rank_low", "rank_high", "topics", "lacking")
    recommended = SystemScore.objects.filter(ranking__study=study, ranking__scored_by="recommended")
    rows = recommended.select_related("system", "ranking").order_by("rank", "system__name")
    return [{"system": row.system.name, **{name: getattr(row, name) for name in columns}} for row in rows]


def shown(preview: WhatIfQuestion, when: str) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in one.items() if name not in ("se", "coverage")}
        for one in preview.figures[when]["systems"]
    ]


def agreement(study: Study) -> dict[str, Any]:
    return kept.heads("annotators", study=study).get().record["study"]


def test_what_a_preview_says_is_what_is_there_once_somebody_is_excluded_to_the_last_bit(study) -> None:
    bob = study.annotators.get(pseudonym="bob")
    preview = asked(study, "bob")
    assert shown(preview, "before") == standings(study)
    assert preview.figures["before"]["agreement"] == agreement(study)
    judging.exclude(bob, making.owner(study), "A trial.")
    settle(study)
    study = Study.objects.get(pk=study.pk)
    assert shown(preview, "after") == standings(study) != shown(preview, "before")
    assert preview.figures["after"]["ground"] == study.rankings.get(scored_by="recommended").ground
    assert preview.figures["after"]["ground"] != preview.figures["before"]["ground"]
    assert preview.figures["after"]["agreement"] == agreement(study) != preview.figures["before"]["agreement"]


def test_a_preview_of_taking_somebody_back_says_what_was_before(study) -> None:
    before, alpha = standings(study), agreement(study)
    bob = study.annotators.get(pseudonym="bob")
    judging.exclude(bob, making.owner(study), "A trial.")
    settle(study)
    preview = asked(study, "bob", leave_out=False)
    assert shown(preview, "after") == before
    assert preview.figures["after"]["agreement"] == alpha


def test_several_may_be_left_out_at_once_and_all_of_them(study) -> None:
    preview = asked(study, "ann", "bob")
    assert preview.figures["after"]["judgments"] == preview.figures["before"]["judgments"] - 7
    assert -1 <= preview.figures["kendall"] <= 1
    everybody = asked(study, *study.annotators.values_list("pseudonym", flat=True))
    assert everybody.figures["after"]["judgments"] == 0
    assert everybody.figures["after"]["agreement"]["why"] == "nobody_twice"


def test_a_long_preview_comes_in_turns_and_says_how_far_it_is(study, monkeypatch) -> None:
    monkeypatch.setattr(tasks, "TURN", 0.0)
    bob = study.annotators.get(pseudonym="bob")
    preview = what_if.ask(study, making.owner(study), [bob])
    (work,) = [work for work in look().waiting if work.task == "answer_what_if"]
    assert work.key == preview.pk
    seen = []
    for _turn in range(4):
        tasks.answer_what_if(preview.pk)
        preview.refresh_from_db()
        seen.append((preview.state, preview.done, preview.topics))
    assert seen[:3] == [("waiting", 1, 2), ("waiting", 2, 2), ("ready", 2, 2)]
    assert preview.parts == {}


def test_a_question_that_is_up_to_date_is_not_asked_twice_and_one_that_is_not_is(study) -> None:
    bob = study.annotators.get(pseudonym="bob")
    first = asked(study, "bob")
    assert what_if.ask(study, making.owner(study), [bob]) == first
    judging.raise_version([study.topics.get(name="rain").pk])
    assert what_if.ask(study, making.owner(study), [bob]) != first


MACHINES = [("rain", left, right, "a") for _topic, left, right, _winner in scored.JUDGED[:4]]


@pytest.mark.parametrize("score", ["importance", "combined", "coverage", "published"])
def test_the_board_of_a_kind_is_that_of_a_study_that_counts_it_alone_to_the_last_digit(score) -> None:
    study = scored.scored_study(counted_kinds="people", score=score)
    scored.judge(study, *MACHINES, ("snow", "s1:0", "s1:1", "b"), kind="machine", pseudonym="model")
    scored.judge(study, *MACHINES[:3], kind="machine", pseudonym="another model")
    settle(study)
    own = standings(study)
    question = what_if.ask_kind(study, making.owner(study), "machine")
    tasks.answer_what_if(question.pk)
    question.refresh_from_db()
    assert shown(question, "before") == own
    assert (question.figures["after"]["judgments"], question.figures["after"]["topics"]) == (8, 2)
    Study.objects.filter(pk=study.pk).update(counted_kinds="machines")
    judging.raise_version(study.topics.values_list("pk", flat=True))
    settle(study)
    assert shown(question, "after") == standings(study)
    study = Study.objects.get(pk=study.pk)
    assert question.figures["after"]["agreement"] == agreement(study) != question.figures["before"]["agreement"]


def test_topics_that_a_kind_has_not_judged_are_not_on_its_board(study) -> None:
    scored.judge(study, *MACHINES, kind="machine", pseudonym="model")
    question = what_if.ask_kind(study, making.owner(study), "machine")
    tasks.answer_what_if(question.pk)
    question.refresh_from_db()
    assert [question.figures[when]["topics"] for when in ("before", "after")] == [2, 1]
    assert question.figures["after"]["judgments"] == 4


def test_the_board_of_a_kind_is_not_asked_for_twice_while_nothing_changes(study) -> None:
    scored.judge(study, *MACHINES, kind="machine", pseudonym="model")
    first = what_if.ask_kind(study, making.owner(study), "machine")
    assert what_if.ask_kind(study, making.member(study, "researcher"), "machine") == first
    assert what_if.ask_kind(study, making.owner(study), "simulated") != first
    tasks.answer_what_if(first.pk)
    assert what_if.ask_kind(study, making.owner(study), "machine") == first
    scored.judge(study, ("snow", "s1:0", "s1:1", "b"), kind="machine", pseudonym="model")
    assert what_if.ask_kind(study, making.owner(study), "machine") != first


def test_a_preview_that_cannot_be_told_says_why(study) -> None:
    Study.objects.filter(pk=study.pk).update(prior=0.0)
    preview = what_if.ask(study, making.owner(study), study.annotators.filter(pseudonym="bob"))
    tasks.answer_what_if(preview.pk)
    preview.refresh_from_db()
    assert preview.state == WhatIfQuestion.State.FAILED
    assert "do not determine" in preview.problem


def examinations() -> list[str]:
    """What is to be looked at closely."""
    return [work.task for work in look().waiting if work.task.startswith("examine_")]


def test_topics_and_then_the_study_are_examined_once_nothing_else_waits(study) -> None:
    assert examinations() == ["examine_topic", "examine_topic"]
    judging.raise_version([study.topics.get(name="rain").pk])
    assert examinations() == []
    settle(study)
    for work in look().waiting:
        tasks.TASKS[work.task](work.key)
    assert examinations() == ["examine_study"]
    tasks.examine_study(study.pk)
    assert examinations() == []
    rain = kept.heads("diagnostics", topic__name="rain").get()
    assert rain.record["coverage"]["sentences"] == 6
    assert len(rain.record["without"]) == len(rain.record["people"]) == 3
    found = kept.heads("influence", study=study).get().record
    assert found["people"] == 3  # who simulated is nobody to be left out
    assert {one["system"] for one in found["systems"]} == {"lead & co_", "=hat"}  # "off" has no importance


def test_a_topic_that_cannot_be_examined_waits(study, monkeypatch) -> None:
    monkeypatch.setattr("preferendum.annotators.diagnostics.examine", lambda *_: 1 / 0)
    topic = study.topics.get(name="rain")
    tasks.examine_topic(topic.pk)
    assert not kept.heads("diagnostics", topic=topic).exists()
    assert topic.pk not in [work.key for work in look().waiting if work.task == "examine_topic"]
