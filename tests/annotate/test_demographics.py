"""What Prolific knows of participants becomes answers of the questionnaire, and goes when it must."""

from __future__ import annotations

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotate import crowd, exports
from annotate.imports.restore import restore
from annotate.models import Annotator, AnsweredQuestionnaire, AuditEntry, Export, Questionnaire, Study
from annotate.models.crowd import version_of_groups
from annotate.reports import about_annotators
from preferendum import formats
from preferendum.formats.questionnaire import Question
from tests.annotate import making
from tests.annotate.test_crowd import P1, P2, crowd_study
from tests.annotate.test_questionnaires import ANSWERS, ask
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db

P3, STRANGER = making.prolific(3), making.prolific(99)
HEAD = (
    "Submission id,Participant id,Status,Custom study tncs accepted at,Started at,Completed at,Reviewed at,Archived at,"
    "Time taken,Completion code,Total approvals,Age,Sex,Country of birth"
)


def row(person: str, *answers: str, status: str = "APPROVED") -> str:
    times = "2026-11-01T10:00:00.000000Z," * 5
    return f"s-{person},{person},{status},{times}600,DONE1,12,{','.join(answers)}"


def table(*rows: str) -> bytes:
    return "\n".join((HEAD, *rows)).encode() + b"\n"


FIRST = table(
    row(P1, "034", "Female", "Togo"),
    row(P2, "DATA_EXPIRED", "Male", "DATA_EXPIRED"),
    row(P3, "51", "Male", "Palau"),
    row(STRANGER, "20", "Male", "Nauru"),
)


def put(study: Study, content: bytes = FIRST) -> dict[str, int]:
    return crowd.put_demographics(study, making.owner(study), io.BytesIO(content), "demographics.csv")


def known(study: Study) -> dict[str, dict[str, object]]:
    return {own.pseudonym: dict(own.answers) for own in about_annotators.of_study(study).answered}


def version(study: Study) -> int:
    return int(Study.objects.annotate(wanted=version_of_groups()).values_list("wanted", flat=True).get(pk=study.pk))


@pytest.fixture
def study() -> Study:
    return crowd_study()


@pytest.fixture
def people(study: Study) -> list[Annotator]:
    return [crowd.enter(study, person) for person in (P1, P2, P3)]


def test_rows_become_answers_of_the_participants_and_sent_twice_change_nothing(
    study: Study, people: list[Annotator]
) -> None:
    one, two, three = (own.pseudonym for own in people)
    assert put(study) == {"stored": 3, "revoked": 0, "expired": 0, "unknown": 1}
    expected = {
        one: {"Prolific: Age": 34, "Prolific: Sex": "Female", "Prolific: Country of birth": "Togo"},
        two: {"Prolific: Sex": "Male"},
        three: {"Prolific: Age": 51, "Prolific: Sex": "Male", "Prolific: Country of birth": "Palau"},
    }
    assert known(study) == expected
    assert about_annotators.of_study(study).questions == (
        Question("Prolific: Age", "number"),
        Question("Prolific: Country of birth", "one", ("Palau", "Togo")),
        Question("Prolific: Sex", "one", ("Female", "Male")),
    )
    before = version(study)
    assert put(study)["stored"] == 3
    assert (version(study), known(study)) == (before, expected)
    (entry,) = AuditEntry.objects.filter(action="put demographics")
    assert entry.detail == {"stored": 3, "revoked": 0, "expired": 0, "unknown": 1}
    put(study, table(row(P1, "35", "DATA_EXPIRED", "Togo")))
    assert known(study) == expected | {one: {"Prolific: Age": 35, "Prolific: Country of birth": "Togo"}}
    assert version(study) > before
    put(study, table(row(P3, "over 50", "Male", "Palau")))
    assert known(study)[one]["Prolific: Age"] == "35"


def test_nothing_is_left_of_participants_who_revoked_their_consent(study: Study, people: list[Annotator]) -> None:
    put(study)
    exports.write_export(exports.request_export(study, making.owner(study)))
    before = version(study)
    revoked = table(
        row(P1, "34", "Female", "CONSENT_REVOKED"), row(P3, "CONSENT_REVOKED", "", "Palau"), row(P1, "", "", "")
    )
    assert put(study, revoked) == {"stored": 0, "revoked": 2, "expired": 0, "unknown": 0}
    assert known(study) == {people[1].pseudonym: {"Prolific: Sex": "Male"}}
    assert not {"Togo", "Palau"} & set(
        json.dumps(list(Questionnaire.objects.values_list("questions", flat=True))).split('"')
    )
    assert version(study) > before
    assert Export.objects.get().state == "waiting"
    assert put(study, table(row(P2, "DATA_EXPIRED", " data_expired", "")))["expired"] == 1
    assert not AnsweredQuestionnaire.objects.exists()


@pytest.mark.parametrize("erase", [False, True])
def test_what_a_platform_said_goes_with_whoever_withdraws(study: Study, people: list[Annotator], erase: bool) -> None:
    put(study)
    before = version(study)
    pseudonym = people[0].pseudonym
    assert crowd.personal_data(people[0])["questionnaires"][0]["answers"]["Prolific: Age"] == 34
    crowd.withdraw(people[0], erase=erase)
    assert pseudonym not in known(study)
    assert "Togo" not in json.dumps(list(Questionnaire.objects.values_list("questions", flat=True)))
    assert version(study) > before
    assert put(study)["unknown"] == 2
    assert pseudonym not in known(study)


def test_nobody_is_asked_what_a_platform_knows_nor_spared_what_it_does_not(
    study: Study, people: list[Annotator]
) -> None:
    ask(study)
    put(study)
    assert [question.text for question in (crowd.due(people[0]) or Questionnaire()).asked] == list(ANSWERS)
    crowd.answer_questionnaire(people[0], "1", ANSWERS)
    assert known(study)[people[0].pseudonym] == ANSWERS | {
        "Prolific: Age": 34,
        "Prolific: Sex": "Female",
        "Prolific: Country of birth": "Togo",
    }
    assert crowd.due(people[0]) is None
    assert ask(study, "after").version == 3
    html = signed_in(making.owner(study)).get(reverse("analysis", args=[study.pk, "about-annotators"])).content.decode()
    assert "1 annotator has answered the questionnaire. 2 annotators have answers of their platform alone." in html


def test_an_archive_brings_back_what_a_platform_said(study: Study, people: list[Annotator]) -> None:
    ask(study)
    crowd.answer_questionnaire(people[0], "1", ANSWERS)
    put(study)
    archive = exports.make_archive(study)
    again = restore(archive, making.person())
    assert exports.make_archive(again).questionnaires == archive.questionnaires
    assert exports.make_archive(again).questionnaire_answers == archive.questionnaire_answers
    assert known(again) == known(study)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Participant id,Age\n,40\n", "Participant id: found nothing"),
        (b"Participant,Age\nx,40\n", "no column Participant id"),
        (b"", "an empty file"),
        (b"Participant id,Age\n", "a header without rows"),
        (f"Participant id,A\n{P1},{'x' * 501}\n".encode(), "A: found 501 characters"),
        (f"Participant id,{','.join(map(str, range(31)))}\n{P1}{',x' * 31}\n".encode(), "31 columns of answers"),
        (f"Participant id,{'x' * 300}\n{P1},x\n".encode(), "a shorter name"),
        (f"Participant id,Age\n{P1},\ud800\n".encode("utf-8", "surrogatepass"), "demographics.csv"),
        (f"Participant id,Age\n{P1},\x00\n".encode(), "demographics.csv"),
        (b"\x89PNG\r\n", "demographics.csv"),
    ],
)
def test_a_table_with_a_fault_is_refused_as_a_whole(
    study: Study, people: list[Annotator], content: bytes, message: str
) -> None:
    with pytest.raises(formats.Refused) as refused:
        put(study, content)
    assert message in str(refused.value)
    client, page = signed_in(making.member(study, "admin")), reverse("study_demographics", args=[study.pk])
    html = client.post(page, {"file": SimpleUploadedFile("demographics.csv", content)}).content.decode()
    assert "Nothing was saved" in html
    assert not AnsweredQuestionnaire.objects.exists()


def test_the_page_says_what_is_left_out(study: Study, people: list[Annotator]) -> None:
    client, page = signed_in(making.member(study, "admin")), reverse("study_demographics", args=[study.pk])
    done = client.post(page, {"file": SimpleUploadedFile("demographics.csv", FIRST)}, follow=True).content.decode()
    assert "Participants with answers: 3." in done
    assert "not in this study: 1." in done
    members = client.get(reverse("study_members", args=[study.pk])).content.decode()
    assert f'<a href="{page}">send what it knows of them</a>' in members
