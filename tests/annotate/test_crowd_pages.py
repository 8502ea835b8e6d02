"""The pages of people whom a platform sends: in by a link, out with a code; what they may ask about themselves."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotate import crowd, invitations, studies
from annotate.models import Annotator, Assignment, AuditEntry, Consent, Judgment, Participation, Recruitment, Study
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study
from tests.annotate.test_crowd import CONSENT, P1, P2, P3, crowd_study, recruit
from tests.annotate.test_judge_pages import HTMX, answer, page_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return crowd_study()


def entry(study: Study, person: str = P1, session: str = "s1") -> str:
    return f"{invitations.crowd_path(study.recruitment)}?PROLIFIC_PID={person}&STUDY_ID=x&SESSION_ID={session}"


def begin(client: Client, study: Study, person: str = P1) -> Assignment:
    response = client.post(entry(study, person), {"consent": "1"})
    assert response.status_code == 302, response.content.decode()
    return Assignment.objects.get(key=response.url.split("/")[2])


def finish(client: Client, study: Study, person: str = P1, **extra) -> str:
    """Judge all that is asked for; the last page."""
    response = client.post(entry(study, person), {"consent": "1"})
    while "/judge/" in response.url:
        response = answer(client, Assignment.objects.get(key=response.url.split("/")[2]))
    return client.get(response.url).content.decode()


def test_beginning_shows_the_consent_and_writes_nothing(client, study):
    assert "Begin" in client.get(entry(study)).content.decode()
    html = client.post(entry(study)).content.decode()
    assert CONSENT in html
    assert "I agree, begin" in html
    assert "has just changed" not in html
    assert not Annotator.objects.exists()
    assert not Participation.objects.exists()


def test_agreeing_joins_and_leads_to_a_pair(client, study):
    assignment = begin(client, study)
    assert client.get(page_of(assignment)).status_code == 200
    participation = Participation.objects.get()
    assert (participation.person, participation.session) == (P1, "s1")
    assert Consent.objects.get().text == CONSENT


def test_nobody_agrees_to_a_text_that_they_have_not_seen(client, study):
    recruit(study, consent="Another text.")
    response = client.post(entry(study), {"consent": "1"})
    assert "Another text." in response.content.decode()
    assert "has just changed" in response.content.decode()
    assert not Annotator.objects.exists()
    assert client.post(entry(study), {"consent": "2"}).status_code == 302


def test_another_browser_goes_on_where_the_first_one_stopped(client, study):
    first = begin(client, study)
    answer(client, first)
    other = Client()
    assert begin(other, study).annotator == first.annotator
    assert Participation.objects.count() == 1
    assert "Pair 2 of 3" in other.get(page_of(Assignment.objects.get(state="open"))).content.decode()


def test_a_link_with_somebody_elses_name_says_nothing_of_them_before_the_form_is_sent(client, study):
    unknown = client.get(entry(study, making.prolific(9))).content.decode()
    annotator = begin(client, study).annotator
    known = Client().get(entry(study)).content.decode()
    assert str(annotator.key) not in known
    assert annotator.pseudonym not in known
    assert len(known) == len(unknown)


def test_a_link_without_a_name_or_with_a_forged_token_lets_nobody_in(client, study):
    path = invitations.crowd_path(study.recruitment)
    assert client.get(path).status_code == 400
    assert client.post(path + "?PROLIFIC_PID={{%25PROLIFIC_PID%25}}").status_code == 400
    assert client.get(path[:-3] + "xx/?PROLIFIC_PID=x").status_code == 404
    recruit(study, platform="none")
    assert client.get(entry(study)).status_code == 404
    assert not Annotator.objects.exists()


def test_a_study_that_is_not_open_says_so_to_newcomers(client, study):
    studies.set_state(study, making.owner(study), "closed")
    for response in (client.get(entry(study)), client.post(entry(study), {"consent": "1"})):
        assert response.status_code == 403
        assert "does not accept new annotators" in response.content.decode()


def test_whoever_is_done_gets_the_code_and_the_way_back(client, study):
    html = finish(client, study)
    assert 'value="DONE1"' in html
    assert "https://app.prolific.com/submissions/complete?cc=DONE1" in html
    assert "Undo the last answer" not in html
    assert 'value="DONE1"' in finish(Client(), study)  # the same link shows it again, in any browser


def test_the_code_comes_with_the_part_that_htmx_asks_for(client, study):
    assignment = begin(client, study)
    for _ in range(2):
        assignment = Assignment.objects.get(key=answer(client, assignment).url.split("/")[2])
    part = answer(client, assignment, headers=HTMX).content.decode()
    assert 'value="DONE1"' in part
    assert "<html" not in part


def test_nobody_sees_a_code_before_they_are_done(client, study):
    assignment = begin(client, study)
    progress = reverse("progress", args=[assignment.annotator.key])
    for page in (
        page_of(assignment),
        progress,
        progress + "?nothing=done",
        reverse("my_data", args=[assignment.annotator.key]),
    ):
        assert "DONE1" not in client.get(page).content.decode()
    response = client.post(reverse("leave", args=[assignment.annotator.key]))
    assert response.url == page_of(assignment)
    assert Participation.objects.get().code == ""


def test_no_work_left_has_a_text_and_a_code_of_its_own(client, study):
    assignment = begin(client, study)
    studies.change_settings(study, making.owner(study), judgments_per_topic=1)
    answer(client, assignment)
    key = assignment.annotator.key
    assert "Finish" in client.get(reverse("progress", args=[key]) + "?nothing=no_work").content.decode()
    html = client.post(reverse("leave", args=[key]), follow=True).content.decode()
    assert "No pairs are left" in html
    assert "You judged 1 pair, and it is saved." in html
    assert 'value="NOWORK1"' in html


def test_who_comes_too_late_reads_nothing_of_answers(client, study):
    answer(client, begin(client, study))
    studies.change_settings(study, making.owner(study), judgments_per_topic=1)
    key = crowd.enter(study, P2, "s2").key
    late = Client()
    late.post(entry(study, P2, "s2"), {"consent": "1"})
    html = late.post(reverse("leave", args=[key]), follow=True).content.decode()
    assert "No pairs are left" in html
    assert "You judged" not in html


def test_whose_part_was_ended_leaves_as_screened_out(client, study):
    annotator = begin(client, study).annotator
    Annotator.objects.update(excluded_at=annotator.joined_at)
    html = client.post(reverse("leave", args=[annotator.key]), follow=True).content.decode()
    assert "Your part in this study has ended" in html
    assert 'value="OUT1"' in html


def test_an_answer_is_not_taken_back_after_the_code_was_given(client, study):
    finish(client, study)
    last = Annotator.objects.get().previous
    assert client.post(reverse("undo", args=[last])).url.startswith("/progress/")
    assert Annotator.objects.get().judged == 3
    assert not Judgment.objects.filter(answer="undone").exists()


def test_an_invitation_asks_for_the_same_consent(client, study):
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    assert CONSENT in client.post(link).content.decode()
    client.post(link)
    assert not Annotator.objects.exists()
    assert client.post(link, {"consent": "1"}).status_code == 302
    assert Consent.objects.get().version == 1
    assert not Participation.objects.exists()


def test_the_data_can_be_read_and_taken_along(client, study):
    annotator = answer(client, begin(client, study)) and Annotator.objects.get()
    assert annotator.pseudonym in client.get(reverse("my_data", args=[annotator.key])).content.decode()
    response = client.get(reverse("my_data_file", args=[annotator.key]))
    assert "attachment" in response["Content-Disposition"]
    assert json.loads(response.content) == crowd.personal_data(annotator)


def test_withdrawing_keeps_the_answers_and_lets_nobody_back_in(client, study):
    answer(client, begin(client, study))
    annotator = Annotator.objects.get()
    html = client.post(reverse("withdraw", args=[annotator.key]), {"answers": "keep"}, follow=True).content.decode()
    assert "You have withdrawn" in html
    assert Judgment.objects.count() == 1
    assert client.get(entry(study)).status_code == 403
    client.post(reverse("draw", args=[annotator.key]))
    assert not Assignment.objects.filter(state="open").exists()


def test_erasing_leaves_a_last_page_and_no_way_back(client, study):
    answer(client, begin(client, study))
    key = Annotator.objects.get().key
    html = client.post(reverse("withdraw", args=[key]), {"answers": "erase"}, follow=True).content.decode()
    assert "You have withdrawn" in html
    assert not Annotator.objects.exists()
    assert not Judgment.objects.exists()
    for page in ("progress", "my_data", "my_data_file"):
        assert client.get(reverse(page, args=[key])).status_code == 404
    assert client.post(entry(study), {"consent": "1"}).status_code == 403


def test_withdrawing_without_a_choice_changes_nothing(client, study):
    annotator = begin(client, study).annotator
    assert client.post(reverse("withdraw", args=[annotator.key])).url == reverse("my_data", args=[annotator.key])
    assert Participation.objects.get().outcome == "working"


def test_whoever_came_by_an_invitation_has_no_code_to_ask_for(client):
    study = ready_study()
    user = making.person()
    annotator = joined(study)
    Annotator.objects.filter(pk=annotator.pk).update(user=user)
    judged(annotator)
    client.force_login(user)
    assert client.post(reverse("leave", args=[annotator.key])).status_code == 404
    assert "Your code" not in client.get(reverse("progress", args=[annotator.key])).content.decode()


def said(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_whoever_is_not_expected_reads_that_the_link_does_not_know_them(client, study):
    recruit(study, expected_ids=P1)
    for method in (client.get, client.post):
        response = method(entry(study, P2), {"consent": "1"} if method == client.post else None)
        assert response.status_code == 403
        assert "This link does not know your platform ID." in said(response.content.decode())
    assert begin(client, study, P1)
    assert not Participation.objects.filter(person=P2).exists()


def test_an_id_that_is_none_of_prolifics_is_refused_in_words(client, study):
    response = client.get(entry(study, "w1"))
    assert response.status_code == 400
    assert "24 characters" in said(response.content.decode())


def test_ids_that_are_not_expected_cannot_be_tried_for_ever(client, study):
    recruit(study, expected_ids=P1)
    answers = {client.get(entry(study, making.prolific(number))).status_code for number in range(2, 14)}
    assert answers == {403, 429}
    assert client.get(entry(study, P1)).status_code == 200


def test_two_devices_with_one_session_go_on_and_another_session_is_refused_in_words(client, study):
    recruit(study, check_session=True)
    assert "wherever you open the study from the platform again" in said(client.get(entry(study)).content.decode())
    first, second, third = begin(client, study), Client(), Client()
    assert begin(second, study).annotator == first.annotator
    response = third.post(entry(study, session="s2"), {"consent": "1"})
    assert response.status_code == 403
    assert "Continue in the browser in which you began" in said(response.content.decode())
    assert client.post(entry(study, session="s2"), {"consent": "1"}).status_code == 302
    assert Participation.objects.get().session == "s2"


# The researcher's page


def settings(**changes: str) -> dict[str, str]:
    return {
        "consent": "I agree.",
        "platform": "prolific",
        "person_parameter": "PROLIFIC_PID",
        "session_parameter": "SESSION_ID",
        "expected_ids": "",
        "return_url": "",
        "code_done": "C1",
        "code_no_work": "C2",
        "code_screened_out": "C3",
    } | changes


@pytest.fixture
def owned(client) -> Study:
    """A study whose owner is signed in."""
    study = ready_study(pairs_per_annotator=1)
    client.force_login(making.owner(study))
    return study


def test_looking_at_recruitment_writes_nothing(client, owned):
    html = client.get(reverse("study_recruitment", args=[owned.pk])).content.decode()
    assert "/crowd/" not in html
    assert not Recruitment.objects.exists()


def test_the_link_that_a_researcher_copies_lets_people_in(client, owned):
    page = reverse("study_recruitment", args=[owned.pk])
    assert client.post(page, settings()).url == page
    html = unescape(client.get(page).content.decode())
    (link,) = re.findall(r'value="(https?://[^"]*/crowd/[^"]*)"', html)
    assert link.endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}")
    link = link.replace("{{%PROLIFIC_PID%}}", P1).replace("{{%SESSION_ID%}}", "s1")
    visitor = Client()
    first = visitor.post(link, {"consent": "1"})
    assignment = Assignment.objects.get(key=first.url.split("/")[2])
    assert 'value="C1"' in visitor.get(answer(visitor, assignment).url).content.decode()
    assert Participation.objects.get().person == P1
    after = " ".join(re.sub(r"<[^>]*>", " ", client.get(page).content.decode()).split())
    assert "done 1" in after


def test_a_researcher_lists_who_is_expected_and_reads_what_the_link_lets_in(client, owned):
    page = reverse("study_recruitment", args=[owned.pk])
    client.post(page, settings())
    assert "An invented ID enters as a new participant" in said(client.get(page).content.decode())
    client.post(page, settings(expected_ids=f"{P1}\n{P2}", check_session="on"))
    html = said(client.get(page).content.decode())
    assert "Only the 2 IDs that you expect take part." in html
    assert "An ID comes back only with its first session" in html
    assert "An invented ID" not in html
    wrong = said(client.post(page, settings(expected_ids="P 1")).content.decode())
    assert '"P 1" is not a Prolific ID' in wrong


def test_what_is_saved_names_a_new_text_only_where_there_is_one(client, owned):
    page, new_text = reverse("study_recruitment", args=[owned.pk]), "agrees to the new text first"
    shown = [
        said(client.post(page, settings(**fields), follow=True).content.decode())
        for fields in ({}, {"code_no_work": "C4"}, {"consent": "I agree, too."}, {"consent": ""})
    ]
    assert [new_text in html for html in shown] == [True, False, True, False]
    assert all("Saved." in html for html in shown)


def test_a_value_that_will_not_do_is_shown_at_its_field_and_nothing_is_stored(client, owned):
    html = client.post(reverse("study_recruitment", args=[owned.pk]), settings(code_done="")).content.decode()
    assert "Enter the completion code of the study on Prolific" in html
    assert "I agree." in html
    assert not Recruitment.objects.exists()


def test_whoever_pays_reads_who_left_with_which_code_and_no_pseudonym(client, owned):
    recruit(owned, platform="generic")
    finish(Client(), owned, P1)
    finish(Client(), owned, "=2*2")
    crowd.withdraw(crowd.enter(owned, P3), erase=True)
    table = client.get(reverse("participants_csv", args=[owned.pk])).content.decode("utf-8-sig")
    head, *rows = csv.reader(io.StringIO(table))
    codes = Participation.objects.filter(outcome="done").order_by("pk").values_list("code", flat=True)
    assert head[:4] == ["person", "session", "outcome", "code"]
    assert [row[:4] for row in rows] == [[P1, "s1", "done", codes[0]], ["'=2*2", "s1", "done", codes[1]]]
    assert not any(name in table for name in Annotator.objects.values_list("pseudonym", flat=True))
    noted = AuditEntry.objects.get(action="download participants")
    assert (noted.study, noted.actor, noted.detail) == (owned, making.owner(owned), {"people": 2})
