"""An admin excludes somebody, takes them back in, lets them rest."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.forms.models import model_to_dict
from django.utils import timezone

from annotate import judging
from annotate.models import (
    AnnotatorReport,
    AuditEntry,
    Fit,
    Judgment,
    Score,
    Study,
    SystemScore,
    Utility,
)
from annotate.refusal import Refusal
from evaluation import tasks
from tests import kept
from tests.annotate import making, scored
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, ready_study

pytestmark = pytest.mark.django_db


def computed(study: Study) -> dict[str, Any]:
    """Every value that the worker stored about a study, to the last bit; not when, and as which version."""
    tasks.catch_up(study.pk)
    # No study's people are looked at twice within ten seconds.
    kept.heads("annotators", study=study).update(computed_at=timezone.now() - timedelta(minutes=1))
    tasks.report_annotators(study.pk)
    apart = {
        "id",
        "fit",
        "ranking",
        "data_version",
        "version",
        "turns",
        "last_judgment_id",
        "seconds",
        "computed_at",
        "created_at",
    }

    def rows(found: Any, *own: str) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in model_to_dict(row).items() if name not in apart | set(own)} for row in found
        ]

    return {
        "fits": rows(
            Fit.objects.filter(item_set__study=study, curve_owed=False)
            .exclude(covariance={})
            .order_by("item_set", "scored_by")
        ),
        "utilities": rows(Utility.objects.filter(sentence__item_set__study=study).order_by("sentence", "scored_by")),
        "scores": rows(Score.objects.filter(summary__topic__study=study).order_by("summary", "scored_by")),
        "systems": rows(SystemScore.objects.filter(system__study=study).order_by("system", "ranking__scored_by")),
        "people": rows(AnnotatorReport.objects.filter(annotator__study=study).order_by("annotator")),
        "agreement": rows(kept.heads("annotators", study=study)),
        "books": rows(row for own in study.item_sets.order_by("pk") for row in own.pairs.order_by("pk")),
        "taken": list(study.item_sets.order_by("pk").values_list("tally__taken", flat=True)),
    }


def judged_by_three() -> tuple[Study, Any]:
    study = scored.scored_study(judgments_per_pair=3, smooth="none")
    for name, answers in (("ann", "aab"), ("bob", "abb")):
        for number, winner in enumerate(answers):
            _topic, left, right, _winner = scored.JUDGED[number]
            scored.judge(study, ("rain", left, right, winner), pseudonym=name)
    return study, study.annotators.get(pseudonym="bob")


def test_excluding_and_taking_back_leaves_every_stored_value_as_it_was() -> None:
    study, bob = judged_by_three()
    judgments = list(Judgment.objects.filter(item_set__study=study).order_by("pk").values())
    before = computed(study)
    assert judging.exclude(bob, making.owner(study), "Answers like a coin.")
    without = computed(study)
    assert without["scores"] != before["scores"]
    assert without["agreement"] != before["agreement"]
    assert judging.readmit(bob, making.owner(study), "It was somebody else.")
    assert computed(study) == before
    assert list(Judgment.objects.filter(item_set__study=study).order_by("pk").values()) == judgments
    assert_books_balance(study)


def test_scores_without_somebody_are_those_that_would_be_there_had_they_never_judged() -> None:
    study, bob = judged_by_three()
    judging.exclude(bob, making.owner(study), "A trial.")
    never = scored.scored_study(judgments_per_pair=3, smooth="none")
    for number, winner in enumerate("aab"):
        _topic, left, right, _winner = scored.JUDGED[number]
        scored.judge(never, ("rain", left, right, winner), pseudonym="ann")
    assert [row["score"] for row in computed(study)["scores"]] == [row["score"] for row in computed(never)["scores"]]


def test_the_places_of_somebody_excluded_are_free_for_others_and_theirs_again_when_they_come_back() -> None:
    study = ready_study(sentences=2, judgments_per_topic=5)
    first, second = joined(study), joined(study)
    judged(first)
    assert judging.draw(second) == judging.NoPair.NO_WORK
    judging.exclude(first, making.owner(study), "Too fast.")
    assert_books_balance(study)
    judged(second)
    assert judging.readmit(first, making.owner(study), "They are fast.")
    assert_books_balance(study)
    assert Judgment.objects.counted().count() == 2
    judging.exclude(first, making.owner(study), "After all.")
    assert_books_balance(study)
    assert Judgment.objects.counted().count() == 1


def test_somebody_excluded_gets_no_pairs_gives_theirs_back_and_an_answer_on_its_way_is_kept_uncounted() -> None:
    study = ready_study()
    person = joined(study)
    held = drawn(person)
    judging.exclude(person, making.owner(study), "Too fast.")
    assert judging.draw(person) == judging.NoPair.EXCLUDED
    recorded = judging.record_judgment(held, 1, "left", 3.0)
    assert (recorded.outcome, recorded.counted) == (judging.Outcome.STORED, False)
    assert not judging.undo(held)
    assert_books_balance(study)
    judging.readmit(person, making.owner(study), "Sorry.")
    assert_books_balance(study)


def test_an_exclusion_needs_a_reason_and_is_done_once_and_leaves_a_line() -> None:
    study = ready_study()
    person = joined(study)
    judged(person)
    with pytest.raises(Refusal):
        judging.exclude(person, making.owner(study), "  ")
    with pytest.raises(Refusal):
        judging.exclude(person, making.owner(study), "x" * 201)
    with pytest.raises(Refusal):
        judging.exclude(person, making.owner(study), "Too\x00fast.")
    assert judging.exclude(person, making.owner(study), " Too fast. ")
    assert not judging.exclude(person, making.owner(study), "Again.")
    assert not judging.exclude(study.annotators.get(), making.owner(study), "Again.")
    (entry,) = AuditEntry.objects.filter(study=study, action="exclude annotator")
    assert (entry.detail["annotator"], entry.detail["reason"], entry.detail["judgments"]) == (
        person.pseudonym,
        "Too fast.",
        1,
    )
    with pytest.raises(Refusal):
        judging.readmit(person, making.owner(study), "")
    assert judging.readmit(person, making.owner(study), "Mistaken.")
    assert not judging.readmit(person, making.owner(study), "Mistaken.")
    assert AuditEntry.objects.filter(study=study, action="take annotator back in").count() == 1


def test_somebody_may_be_given_a_rest_in_which_all_that_they_judged_counts() -> None:
    study = ready_study()
    person = joined(study)
    judged(person)
    drawn(person)
    assert judging.rest(person, making.owner(study), True)
    assert not judging.rest(person, making.owner(study), True)
    assert judging.draw(person) == judging.NoPair.RESTING
    assert Judgment.objects.counted().count() == 1
    assert_books_balance(study)
    assert judging.rest(person, making.owner(study), False)
    drawn(person)
    assert [
        entry.action for entry in AuditEntry.objects.filter(study=study, action__contains="pause").order_by("pk")
    ] == [
        "pause annotator",
        "end pause of annotator",
    ]


def test_somebody_excluded_who_has_their_data_erased_gives_no_place_back_twice() -> None:
    study = ready_study()
    person = joined(study)
    judged(person)
    judging.exclude(person, making.owner(study), "Too fast.")
    judging.erase(person)
    assert_books_balance(study)
