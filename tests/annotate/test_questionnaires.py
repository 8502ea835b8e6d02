"""A study asks its annotators about themselves: once, in versions, for those alone who may see annotators' data."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from annotate import crowd, exports, invitations, judging, studies
from annotate.imports.restore import restore
from annotate.models import Annotator, AnsweredQuestionnaire, AuditEntry, Export, Questionnaire, Study
from annotate.refusal import Refusal
from preferendum.formats.questionnaire import Question
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import joined, ready_study
from tests.annotate.test_crowd import P1, P2, crowd_study
from tests.annotate.test_crowd_pages import entry, finish
from tests.annotate.visitors import QUESTIONS, signed_in

pytestmark = pytest.mark.django_db

SENT = {"q0": "Anna", "q1": "7.5", "q2": "German", "q3": ["news", "law"], "q4": "2"}
ANSWERS = {
    "Nickname?": "Anna",
    "Hours a day?": 7.5,
    "Native language?": "German",
    "You read:": ["news", "law"],
    "Skill?": 2,
}


def ask(study: Study, place: str = "before", questions: tuple[Question, ...] = QUESTIONS) -> Questionnaire:
    return crowd.set_questionnaire(study, making.owner(study), questions, place)


def page_of(annotator: Annotator) -> str:
    return reverse("questionnaire", args=[annotator.key])


@pytest.fixture
def study() -> Study:
    return ready_study(sentences=12, pairs_per_annotator=2)


def begin(client: Client, study: Study) -> str:
    """Join by an invitation; where that leads to."""
    return client.post(invitations.invitation_path(invitations.invite(study, making.owner(study)))).url


# Asking


def test_every_change_is_a_version_of_its_own_and_the_log_says_what_is_asked(study):
    assert [ask(study).version, ask(study).version, ask(study, "after").version] == [1, 1, 2]
    assert ask(study, questions=()).version == 3
    entry = AuditEntry.objects.filter(study=study, action="change questionnaire").order_by("number")[0]
    assert entry.detail == {"version": 1, "place": "before", "questions": [question.text for question in QUESTIONS]}
    assert crowd.due(joined(study)) is None


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ((Question("A?", "one", ("yes",)),), "needs 2 to 100 options"),
        ((Question("\u200b", "text"),), "needs"),
        ((Question("A?", "text"), Question(" A?", "number")), "asked twice"),
        (tuple(Question(f"{number}?", "text") for number in range(31)), "at most 30"),
        ((Question("A?", "one", ("x" * 101, "y")),), "at most 100 characters"),
        ((Question("A\ud800?", "text"),), "cannot be stored"),
    ],
)
def test_what_no_page_could_ask_is_refused(study, questions, message):
    with pytest.raises(Refusal) as refused:
        ask(study, questions=questions)
    assert message in str(refused.value.fields)
    assert not Questionnaire.objects.exists()


def test_a_question_that_is_ready_is_one_click_away_and_saved_with_the_form(study):
    client, page = signed_in(making.owner(study)), reverse("study_questionnaire", args=[study.pk])
    empty = {"form-TOTAL_FORMS": "0", "form-INITIAL_FORMS": "0", "place": "after"}
    added = client.post(page, empty | {"add": "language"})
    (first, *rest) = added.context["forms"].forms
    assert first.initial["text"] == "What is your native language?"
    assert {form.initial["text"] for form in rest if form.initial} == set()
    assert not Questionnaire.objects.exists()
    sent = {f"form-0-{name}": value for name, value in first.initial.items()}
    assert client.post(page, empty | sent | {"form-TOTAL_FORMS": "1"}).status_code == 302
    newest = crowd.questionnaire_of(study)
    assert (newest.version, newest.place, newest.asked[0].options[0]) == (1, "after", "English")
    wrong = client.post(page, empty | sent | {"form-TOTAL_FORMS": "1", "form-0-options": "one"}).content.decode()
    assert "Nothing was saved." in wrong
    assert re.search('href="#id_form-0-options">[^<]*</a>: [^<]* needs 2 to', wrong)
    assert re.search("<textarea[^>]* autofocus", wrong)


def test_a_copy_of_a_study_asks_the_same(study):
    ask(study, "after")
    copy = studies.copy_study(study, making.owner(study), title="Again")
    assert (crowd.questionnaire_of(copy).asked, crowd.questionnaire_of(copy).place) == (QUESTIONS, "after")


# Answering


def test_questions_before_the_first_pair_stand_in_its_way(client, study):
    ask(study)
    assert (
        "5 questions about yourself"
        in client.get(invitations.invitation_path(invitations.invite(study, making.owner(study)))).content.decode()
    )
    here = begin(client, study)
    annotator = Annotator.objects.get()
    assert here == page_of(annotator)
    assert client.post(reverse("draw", args=[annotator.key])).url == here
    html = client.get(here).content.decode()
    assert all(question.text in html for question in QUESTIONS)
    after = client.post(here, SENT | {"version": "1"}).url
    assert after.startswith("/judge/")
    given = AnsweredQuestionnaire.objects.get()
    assert (given.answers, given.questionnaire.version) == (ANSWERS, 1)
    assert client.get(here).url == reverse("progress", args=[annotator.key])
    assert client.post(here, SENT | {"q0": "Berta", "version": "1"}).status_code == 302
    assert AnsweredQuestionnaire.objects.get().answers == ANSWERS


def test_the_api_does_not_lead_past_the_questions(study):
    ask(study)
    user = making.person()
    annotator = judging.join(study, user=user)
    drawn = program(user).post(reverse("api_draw", args=[study.pk, annotator.key]))
    assert (drawn.status_code, drawn.json()["error"]["code"]) == (409, "questionnaire")
    crowd.answer_questionnaire(annotator, "1", ANSWERS)
    assert program(user).post(reverse("api_draw", args=[study.pk, annotator.key])).status_code == 200


def test_what_is_missing_or_does_not_fit_is_said_at_its_field(client, study):
    ask(study)
    here = begin(client, study)
    sent = {"version": "1", "q1": "1e400", "q2": "Klingon", "q3": ["news", "x"], "q4": "9"}
    response = client.post(here, sent)
    assert set(response.context["form"].errors) == {"q1", "q2", "q3", "q4"}
    assert "Some answers are missing" in response.content.decode()
    assert set(client.post(here, {"version": "1"}).context["form"].errors) == {"q2"}
    assert client.post(here, {"version": "1", "q2": "German"}).status_code == 302
    assert AnsweredQuestionnaire.objects.get().answers == {"Native language?": "German"}


def test_nobody_answers_questions_that_they_have_not_seen(client, study):
    ask(study)
    here = begin(client, study)
    ask(study, questions=QUESTIONS[:2])
    assert "have just changed" in client.post(here, SENT | {"version": "1"}).content.decode()
    assert not AnsweredQuestionnaire.objects.exists()
    client.post(here, SENT | {"version": "2"})
    ask(study)
    assert AnsweredQuestionnaire.objects.get().questionnaire.version == 2
    assert crowd.due(Annotator.objects.get()) is None


def test_after_the_last_pair_the_code_is_given_for_the_questions_too(client):
    study = crowd_study()
    ask(study, "after")
    html = finish(client, study)
    annotator = Annotator.objects.get()
    assert page_of(annotator) in html
    assert "DONE1" not in html
    assert "DONE1" not in client.get(entry(study)).content.decode()
    done = client.post(page_of(annotator), SENT | {"version": "1"})
    assert "DONE1" in client.get(done.url).content.decode()


def test_trials_machines_and_simulated_annotators_are_not_asked(study):
    ask(study)
    owner = making.owner(study)
    trial = signed_in(owner).post(reverse("try", args=[study.pk])).url
    assert trial.startswith("/judge/")
    for kind in ("machine", "simulated", Annotator.TRIAL):
        assert crowd.due(judging.join(study, user=making.person(), kind=kind, pseudonym=kind)) is None


# Reading, erasing, exporting


def answered(study: Study, person: str = P1) -> Annotator:
    annotator = crowd.enter(study, person)
    crowd.answer_questionnaire(annotator, str(crowd.questionnaire_of(study).version), ANSWERS)
    return annotator


def test_answers_are_counted_and_listed_for_those_alone_who_manage_annotators():
    study = crowd_study()
    ask(study)
    answered(study)
    ask(study, questions=(*QUESTIONS[1:], Question("=New?", "text")))
    crowd.answer_questionnaire(crowd.enter(study, P2), "2", {"Hours a day?": 2, "Native language?": "English"})
    page = reverse("analysis", args=[study.pk, "about-annotators"])
    html = signed_in(making.member(study, "admin")).get(page).content.decode()
    assert "2 annotators have answered the questionnaire." in html
    assert "mean 4.75, from 2 to 7.5" in html
    assert "2 of 3" in html, "a step of a scale"
    assert signed_in(making.member(study, "researcher")).get(page).status_code == 403
    owner = signed_in(making.owner(study))
    file = owner.get(reverse("analysis_csv", args=[study.pk, "about-annotators", "answers"]))
    table = file.content.decode("utf-8-sig")
    (head, first, second) = csv.reader(io.StringIO(table))
    assert head[2:] == ["Hours a day?", "Native language?", "You read:", "Skill?", "'=New?", "Nickname?"]
    assert first[1:] == ["1", "7.5", "German", "news; law", "2", "", "Anna"]
    assert second[1:] == ["2", "2", "English", "", "", "", ""]


@pytest.mark.parametrize("erase", [False, True])
def test_what_annotators_said_about_themselves_goes_when_they_withdraw(erase):
    study = crowd_study()
    ask(study)
    annotator, other = answered(study), answered(study, P2)
    export = exports.request_export(study, making.owner(study))
    exports.write_export(export)
    assert crowd.personal_data(annotator)["questionnaires"][0]["answers"] == ANSWERS
    crowd.withdraw(annotator, erase=erase)
    assert AnsweredQuestionnaire.objects.get().annotator == other
    assert Export.objects.get().state == "waiting"
    assert "Anna" not in json.dumps(list(AuditEntry.objects.values_list("detail", flat=True)))
    if not erase:
        assert crowd.due(annotator) is None
        crowd.answer_questionnaire(annotator, "1", ANSWERS)
        assert AnsweredQuestionnaire.objects.count() == 1


def test_an_archive_brings_back_questions_and_answers():
    study = crowd_study()
    ask(study)
    answered(study)
    ask(study, "after")
    answered(study, P2)
    again = restore(exports.make_archive(study), making.person())
    assert exports.make_archive(again).questionnaires == exports.make_archive(study).questionnaires
    assert exports.make_archive(again).questionnaire_answers == exports.make_archive(study).questionnaire_answers
