"""Reasons for answers: offered where a study wants them, stored with the answer, erased with the annotator."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.test import Client
from django.urls import reverse

from annotate import crowd, exports, invitations, judging, studies
from annotate.imports.restore import restore
from annotate.models import Annotator, Assignment, Judgment, Membership, Study
from annotate.refusal import Refusal
from evaluation import tasks
from preferendum.formats.readers.preferences import REASONS
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import drawn, joined, ready_study
from tests.annotate.reading import rows_of, text_of
from tests.annotate.test_comparing_summaries import record, study_of

pytestmark = pytest.mark.django_db

OFFERED = {"reason_words": "clearer, more complete,wrong facts", "reason_note": True}
OWN = "I am <b>Jane</b>."


@pytest.fixture
def study() -> Study:
    return ready_study(sentences=12, judgments_per_pair=2, **OFFERED)


def given(annotator: Annotator, answer: str = "left", why: str = "clearer", note: str = "") -> Assignment:
    assignment = drawn(annotator)
    judging.record_judgment(assignment, 1, answer, 5.0, why=why, note=note)
    return assignment


def reasons() -> list[tuple[str, str]]:
    return list(Judgment.objects.order_by("pk").values_list("why", "note"))


def begin(study: Study) -> tuple[Client, str]:
    client = Client()
    return client, client.post(invitations.invitation_path(invitations.invite(study, making.owner(study)))).url


def test_a_reason_is_stored_with_its_answer_and_the_first_stands(study: Study) -> None:
    assignment = given(joined(study), why="wrong facts,clearer, clearer", note="  It says who. ")
    judging.record_judgment(assignment, 1, "left", why="more complete")
    judging.undo(assignment)
    judging.record_judgment(assignment, 3, "right")
    assert reasons() == [("wrong facts,clearer", "It says who."), ("", ""), ("", "")]


@pytest.mark.parametrize(
    ("offered", "reason", "said"),
    [
        (OFFERED, {"why": "clearer,shorter"}, 'found "shorter"; expected clearer, more complete, wrong facts'),
        ({}, {"why": "clearer"}, 'found "clearer"; expected none'),
        (OFFERED, {"why": "x" * 9_000}, "expected clearer, more complete, wrong facts"),
        (OFFERED, {"note": "x" * 301}, "found 301 characters; expected at most 300"),
        ({"reason_words": "clearer"}, {"note": "No."}, "found 3 characters; expected at most 0"),
        (OFFERED, {"note": "\x07"}, "cannot be stored"),
    ],
)
def test_what_a_study_does_not_offer_is_refused_on_page_and_api(offered, reason, said) -> None:
    study = ready_study(sentences=12, **offered)
    with pytest.raises(Refusal):
        given(joined(study), **({"why": ""} | reason))
    client, here = begin(study)
    refused = client.post(here, {"answer": "left", "revision": 1, **reason})
    assert refused.status_code == 400
    assert said in refused.content.decode().replace("&quot;", '"')
    assert "x" * 300 not in refused.content.decode()
    member = making.member(study, Membership.Role.ANNOTATOR)
    machine, caller = judging.join(study, user=member, kind="machine"), program(member)
    address = reverse("api_judgment", args=[drawn(machine).key])
    refused = caller.post(address, {"answer": "left", "revision": 1, **reason}, format="json")
    assert refused.status_code == 400
    assert not Judgment.objects.exists()


def test_the_page_offers_reasons_where_the_study_has_some_and_takes_several(study: Study) -> None:
    client, here = begin(study)
    page = text_of(client, here)
    assert page.count('name="why"') == 3
    assert 'name="note"' in page
    client.post(here, {"answer": "left", "revision": 1, "why": ["clearer", "wrong facts"], "note": "It says who."})
    assert reasons() == [("clearer,wrong facts", "It says who.")]
    Study.objects.update(reason_words="", reason_note=False)
    plain = text_of(client, here)
    assert "Why?" not in plain
    assert "It says who." not in plain


def test_programs_are_told_the_reasons_and_give_some(study: Study) -> None:
    member = making.member(study, Membership.Role.ANNOTATOR)
    machine, caller = judging.join(study, user=member, kind="machine"), program(member)
    pair = caller.post(reverse("api_draw", args=[study.pk, machine.key])).json()
    assert (pair["reason_words"], pair["reason_note"]) == (study.reason_words, True)
    sent = {"answer": "left", "revision": 1, "why": "clearer", "note": "It says who."}
    assert caller.post(reverse("api_judgment", args=[pair["key"]]), sent, format="json").status_code == 201
    listed = program(making.owner(study)).get(reverse("api_judgments", args=[study.pk])).json()["results"]
    assert [(one["why"], one["note"]) for one in listed] == [("clearer", "It says who.")]


def test_whoever_withdraws_takes_their_own_words_along_and_erasing_leaves_nothing(study: Study) -> None:
    annotator = joined(study)
    given(annotator, note=OWN)
    data = crowd.personal_data(annotator)
    assert json.loads(json.dumps(data)) == data
    assert [(one["why"], one["note"]) for one in data["pairs"][0]["answers"]] == [("clearer", OWN)]
    crowd.withdraw(annotator, erase=False)
    assert reasons() == [("clearer", "")]
    crowd.withdraw(annotator, erase=True)
    assert not Judgment.objects.exists()


def test_no_other_annotator_sees_a_reason_and_admins_do(study: Study) -> None:
    annotator = joined(study)
    shown = given(annotator, note=OWN)
    client, here = begin(study)
    for address in (here, reverse("my_judging"), reverse("guidelines", args=[Annotator.objects.latest("pk").key])):
        assert "Jane" not in text_of(client, address)
    assert client.get(reverse("pair", args=[shown.key])).status_code == 404
    client.force_login(making.owner(study))
    page = text_of(client, reverse("study_annotator", args=[study.pk, annotator.pk]))
    assert "<bdi>clearer</bdi>" in page
    assert "I am &lt;b&gt;Jane&lt;/b&gt;." in page
    (row,) = rows_of(client, reverse("study_annotator_csv", args=[study.pk, annotator.pk]))
    assert (row["why"], row["note"]) == ("clearer", OWN)


def test_reasons_go_into_every_file_and_come_back(study: Study) -> None:
    client = Client()
    client.force_login(making.owner(study))
    given(joined(study), note=OWN)
    given(joined(study), why="")
    export = reverse("study_export", args=[study.pk])
    for part in ("judgments.csv", "judgments-with-texts.csv"):
        file = b"".join(client.get(export + part).streaming_content).decode()
        assert [(row["why"], row["note"]) for row in csv.DictReader(io.StringIO(file))] == [("clearer", OWN), ("", "")]
    judging.import_judgments(study, list(exports.preferences(study)))
    assert reasons() == [("clearer", OWN), ("", "")] * 2
    assert not set(Judgment.objects.latest("-pk").extra or {}) & REASONS.keys()
    archive = exports.make_archive(study)
    studies.delete_study(study, study.created_by)
    assert exports.make_archive(restore(archive, making.person())).judgments == archive.judgments


def test_reasons_stand_where_two_systems_are_compared() -> None:
    study = study_of(record(), compares="summaries", judgments_per_pair=2, neither_allowed=True, **OFFERED)
    annotator = joined(study)
    shown = given(annotator, why="clearer,wrong facts", note=OWN)
    given(joined(study), "right")
    tasks.rank_by_summaries(study.pk)
    systems = {one.system: study.systems.get(name=one.system).pk for one in (shown.left, shown.right)}
    client = Client()
    client.force_login(making.owner(study))
    asked = f"?first={systems[shown.left.system]}&second={systems[shown.right.system]}"
    page = text_of(client, reverse("analysis", args=[study.pk, "two-systems"]) + asked)
    assert "wrong facts" in page
    assert "I am &lt;b&gt;Jane&lt;/b&gt;." in page
