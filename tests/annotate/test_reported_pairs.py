"""Pairs that annotators report to the researchers: skipped, stored, shown, taken back and erased."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotate import crowd, exports, imports, judging
from annotate.imports.restore import restore
from annotate.models import Annotator, Assignment, ReportedPair, Study
from annotate.refusal import Refusal
from annotate.reports import reported_pairs
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import assert_books_balance, drawn, joined, ready_study
from tests.annotate.making import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return ready_study(sentences=12)


def report(annotator: Annotator, reason: str = "fragment", note: str = "") -> Assignment:
    assignment = drawn(annotator)
    assert judging.skip(assignment, "other", reason, note)
    return assignment


def test_a_pair_is_reported_on_its_page_and_passed_over(client: Client, study: Study):
    client.force_login(making.member(study, Role.ANNOTATOR))
    key = judging.join(study, user=study.memberships.get(role=Role.ANNOTATOR).user).key
    client.post(reverse("draw", args=[key]))
    first = Assignment.objects.get()
    sent = {"reason": "other", "report": "fragment", "note": "Only a <b>byline</b>."}
    answer = client.post(reverse("skip", args=[first.key]), sent)
    assert answer.url != reverse("pair", args=[first.key])
    first.refresh_from_db()
    assert (first.state, first.holds_place) == ("skipped", False)
    assert_books_balance(study)
    stored = ReportedPair.objects.get()
    assert (stored.assignment, stored.reason, stored.note) == (first, "fragment", "Only a <b>byline</b>.")

    client.force_login(making.member(study, Role.RESEARCHER))
    shown = client.get(reverse("reported_pairs", args=[study.pk])).content.decode()
    for text in ("not a sentence", "Only a &lt;b&gt;byline&lt;/b&gt;.", first.left.text, first.right.text):
        assert text in shown
    document = first.left.document_id
    assert f"{reverse('workbench', args=[study.pk, first.item_set_id, document])}?page=1#s-{first.left.index}" in shown
    assert "1 pair that annotators reported" in client.get(reverse("study", args=[study.pk])).content.decode()


@pytest.mark.parametrize("sent", [{"report": "boring"}, {"note": "x" * 501}])
def test_a_report_that_cannot_be_stored_skips_nothing(client: Client, study: Study, sent: dict[str, str]):
    client.force_login(making.member(study, Role.ANNOTATOR))
    key = judging.join(study, user=study.memberships.get(role=Role.ANNOTATOR).user).key
    client.post(reverse("draw", args=[key]))
    assignment = Assignment.objects.get()
    answer = client.post(reverse("skip", args=[assignment.key]), {"reason": "other"} | sent)
    assert answer.url == reverse("pair", args=[assignment.key])
    assert Assignment.objects.get().state == "open"
    with pytest.raises(Refusal):
        judging.skip(assignment, "other", "other", "a\x00b")
    assert not ReportedPair.objects.exists()


def test_a_report_is_settled_once_one_of_its_sentences_is_left_out(study: Study):
    assignment = report(joined(study))
    assert reported_pairs.unsettled(study).count() == 1
    imports.set_judged(assignment.left, False, making.owner(study))
    assert reported_pairs.unsettled(study).count() == 0
    assert reported_pairs.of(study).count() == 1


def test_undoing_the_skip_takes_the_report_back_for_good(study: Study):
    annotator = joined(study)
    assignment = report(annotator)
    assert judging.undo(assignment)
    assert not reported_pairs.of(study)
    assert judging.skip(assignment, "unclear")
    assert not reported_pairs.of(study)
    assert ReportedPair.objects.count() == 1


def test_a_note_without_a_reason_is_a_report_of_something_else(study: Study):
    assert judging.skip(drawn(joined(study)), "unclear", note="Both are from 1987.")
    assert reported_pairs.of(study).get().reason == "other"


def test_whoever_withdraws_takes_their_own_words_along_and_erasing_leaves_nothing(study: Study):
    annotator = joined(study)
    report(annotator, note="I am Jane Doe.")
    report(annotator, "same")
    data = crowd.personal_data(annotator)
    assert json.loads(json.dumps(data)) == data
    assert [one["reported"][0]["note"] for one in data["pairs"]] == ["I am Jane Doe.", ""]
    crowd.withdraw(annotator, erase=False)
    assert list(ReportedPair.objects.values_list("reason", "note")) == [("same", "")]
    crowd.withdraw(annotator, erase=True)
    assert not ReportedPair.objects.exists()


def test_programs_report_and_read_reports_by_the_api(study: Study):
    machine = making.member(study, Role.ANNOTATOR)
    annotator = judging.join(study, user=machine, kind=Annotator.Kind.MACHINE, pseudonym="reader")
    assignment = drawn(annotator)
    body = {"reason": "other", "report": "same", "note": "Word for word."}
    assert program(machine).post(reverse("api_skip", args=[assignment.key]), body, format="json").status_code == 204
    listed = program(making.owner(study)).get(reverse("api_reported_pairs", args=[study.pk])).json()
    (line,) = listed["results"]
    assert (line["left"], line["right"], line["topic"]) == (
        assignment.left.pk,
        assignment.right.pk,
        assignment.item_set_id,
    )
    assert (line["reason"], line["note"], line["annotator"]) == ("same", "Word for word.", "reader")


def test_an_archive_takes_reports_along_that_stand(study: Study):
    annotator = joined(study)
    report(annotator, note="Cut off.")
    judging.undo(report(annotator, "same"), 1)
    again = restore(exports.make_archive(study), making.person())
    (taken,) = reported_pairs.of(again)
    assert (taken.reason, taken.note, taken.assignment.annotator.pseudonym) == (
        *("fragment", "Cut off."),
        annotator.pseudonym,
    )
    assert exports.make_archive(again).reported_pairs[0].note == "Cut off."
