import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate import invitations, judging
from annotate.judging import drawing
from annotate.judging.drawing import LEASE
from annotate.models import Annotator, Assignment, Invitation, Item, Judgment, Membership, Study
from tests.annotate import making
from tests.annotate.judging_study import (
    assert_books_balance,
    drawn,
    joined,
    judged,
    let_lapse,
    prepare_pairs,
    ready_study,
)

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def study() -> Study:
    return ready_study(sentences=12, guidelines="Judge what it tells.")


@pytest.fixture
def link(study: Study) -> str:
    return invitations.invitation_path(invitations.invite(study, making.owner(study)))


def begin(client: Client, link: str) -> Assignment:
    """Follow an invitation and begin; the pair that is shown."""
    answer = client.post(link)
    assert answer.status_code == 302
    return Assignment.objects.get(key=answer.url.split("/")[2])


def page_of(assignment: Assignment) -> str:
    return reverse("pair", args=[assignment.key])


def fields_of(html: str) -> dict[str, str]:
    """The hidden fields of the answer form."""
    form = html[html.index('id="answer"') : html.index("</form>", html.index('id="answer"'))]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))


def answer(client: Client, assignment: Assignment, side: str = "left", revision: int = 1, **extra):
    return client.post(page_of(assignment), {"answer": side, "revision": revision}, **extra)


def test_an_invitation_says_what_it_is_about_and_stores_nothing(client, link, study):
    html = client.get(link).content.decode()
    for word in (study.title, study.question, study.guidelines, "30 pairs", "Begin"):
        assert word in html
    assert not Annotator.objects.exists()
    assert Invitation.objects.get().uses == 0


def test_beginning_leads_to_a_pair(client, link):
    assignment = begin(client, link)
    html = client.get(page_of(assignment)).content.decode()
    assert assignment.left.text in html
    assert assignment.right.text in html
    assert html.index(assignment.left.text) < html.index(assignment.right.text)


def test_joining_again_in_the_same_browser_goes_on_as_the_same_annotator(client, link):
    first = begin(client, link)
    assert begin(client, link) == first
    assert Annotator.objects.count() == 1
    assert Invitation.objects.get().uses == 1
    assert "Continue" in client.get(link).content.decode()


def test_an_invitation_welcomes_back_whoever_has_judged_and_says_what_is_left(client, link):
    answer(client, begin(client, link))
    html = client.get(link).content.decode()
    assert "Welcome back. You have judged 1 of 30 pairs" in html
    assert "The rest takes about" in html
    for known in ("There are 30 pairs to judge", "You are invited"):
        assert known not in html


def test_a_closed_study_invites_nobody(client, link):
    Study.objects.update(state="closed")
    html = client.get(link).content.decode()
    assert "No more answers are needed" in html
    for untrue in ("You are invited", "Before you begin"):
        assert untrue not in html


def test_guidelines_that_must_be_read_first_come_once_between_the_invitation_and_the_first_pair(client, link, study):
    Study.objects.update(guidelines_first=True)
    page = client.post(link)
    assert page.status_code == 200
    assert "Please read this first" in page.content.decode()
    assert not Annotator.objects.exists()
    assert client.post(link, {"read": "on"}).status_code == 302
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', client.get(link).content.decode())
    assert client.post(link, dict(fields)).status_code == 302


def test_an_invitation_leads_whoever_is_done_to_the_thanks(client, link):
    Study.objects.update(pairs_per_annotator=1)
    first = begin(client, link)
    answer(client, first)
    thanks = client.get(link, follow=True)
    assert thanks.redirect_chain[-1][0] == reverse("progress", args=[first.annotator.key])
    assert "You have judged everything we asked you for" in thanks.content.decode()


@pytest.mark.parametrize(("state", "word"), [("paused", "The study is paused"), ("closed", "The study is closed")])
def test_an_invitation_to_a_study_that_is_not_open_says_so_before_anybody_begins(client, link, state, word):
    Study.objects.update(state=state)
    html = client.get(link).content.decode()
    assert word in html
    assert ">Begin</button>" not in html


def test_an_invitation_to_a_study_that_has_all_it_wants_says_so(client):
    study = ready_study(sentences=2, judgments_per_topic=1)
    judged(joined(study))
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    assert "No pairs for you right now" in client.get(link).content.decode()


def test_somebody_signed_in_is_the_same_annotator_in_every_browser(link):
    user = making.person()
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(user)
    first, second = (begin(browser, link) for browser in browsers)
    assert first == second
    assert Annotator.objects.get().user == user


@pytest.mark.parametrize(
    "change", [{"max_uses": 0}, {"revoked_at": "2026-01-01T00:00Z"}, {"expires_at": "2026-01-01T00:00Z"}]
)
def test_an_invitation_that_is_over_lets_nobody_in(client, link, change):
    Invitation.objects.update(**change)
    for attempt in (client.get(link), client.post(link)):
        assert attempt.status_code == 404
        assert "Ask the person who sent it" in attempt.content.decode()
    assert not Annotator.objects.exists()


def test_whoever_is_in_stays_in_when_the_invitation_is_over(client, link):
    first = begin(client, link)
    Invitation.objects.update(revoked_at=first.created_at)
    assert begin(client, link) == first


def test_a_forged_link_leads_nowhere(client, link):
    assert client.get(link[:-3] + "xx/").status_code == 404


def test_an_invitation_to_research_is_not_one_to_judge(client, study):
    path = invitations.invitation_path(invitations.invite(study, making.owner(study), role=Membership.Role.RESEARCHER))
    assert client.get(path).status_code == 200
    client.post(path)
    assert not Annotator.objects.exists()


def test_an_answer_leads_to_the_next_pair(client, link, study):
    first = begin(client, link)
    redirect = answer(client, first, "right")
    assert redirect.status_code == 302
    html = client.get(redirect.url).content.decode()
    assert "Pair 2 of 30" in html
    assert "Saved: the second sentence." in html
    assert Judgment.objects.get().answer == "right"
    assert_books_balance(study)


def test_showing_a_page_writes_nothing(client, link):
    first = begin(client, link)
    answer(client, first)
    paths = [page_of(one) for one in Assignment.objects.all()]
    paths += [reverse("context", args=[first.key, side]) for side in ("left", "right")]
    annotator = Annotator.objects.get()
    paths += [reverse(name, args=[annotator.key]) for name in ("progress", "guidelines")]
    before = [list(table.objects.order_by("pk").values()) for table in (Annotator, Assignment, Judgment)]
    for path in [*paths, link]:
        assert client.get(path).status_code == 200, path
        assert client.get(path, headers=HTMX).status_code == 200, path
    assert [list(table.objects.order_by("pk").values()) for table in (Annotator, Assignment, Judgment)] == before


def test_the_pair_page_asks_the_database_twice(client, link, django_assert_max_num_queries):
    first = begin(client, link)
    with django_assert_max_num_queries(2):  # the session; the pair with everything that is shown
        client.get(page_of(first))


def test_a_judgment_asks_the_database_a_fixed_number_of_times(client, link, django_assert_max_num_queries):
    first = begin(client, link)
    with django_assert_max_num_queries(29):
        answer(client, first, headers=HTMX)


def test_htmx_gets_the_next_pair_at_once_with_its_address(client, link):
    first = begin(client, link)
    response = answer(client, first, headers=HTMX)
    following = Assignment.objects.latest("pk")
    html = response.content.decode()
    assert response.status_code == 200
    assert response["HX-Push-Url"] == page_of(following)
    assert "<html" not in html
    assert following.left.text in html
    assert 'hx-swap-oob="innerHTML:#said"' in html


def test_going_back_with_htmx_gets_a_whole_page(client, link):
    first = begin(client, link)
    assert "<html" in client.get(page_of(first), headers=HTMX | {"HX-History-Restore-Request": "true"}).content.decode()


def test_a_second_click_goes_on_to_the_same_next_pair(client, link, study):
    first = begin(client, link)
    one, two = answer(client, first), answer(client, first)
    assert one.url == two.url
    assert Judgment.objects.count() == 1
    assert_books_balance(study)


def test_another_answer_from_a_second_tab_is_told_that_the_first_stands(client, link):
    first = begin(client, link)
    answer(client, first, "left")
    html = client.get(answer(client, first, "right").url).content.decode()
    assert "(the first sentence). That answer stands" in html
    assert Judgment.objects.get().answer == "left"


def test_going_back_shows_what_was_answered_and_a_way_on(client, link):
    first = begin(client, link)
    following = answer(client, first).url
    html = client.get(page_of(first)).content.decode()
    assert "You have judged this pair" in html
    assert 'id="answer"' not in html
    assert client.post(reverse("draw", args=[Annotator.objects.get().key])).url == following


def test_undoing_shows_the_pair_again_under_the_next_revision(client, link, study):
    first = begin(client, link)
    following = client.get(answer(client, first).url).content.decode()
    assert reverse("undo", args=[first.key]) in following
    back = client.post(reverse("undo", args=[first.key]))
    assert back.url == page_of(first)
    fields = fields_of(client.get(back.url).content.decode())
    assert fields["revision"] == "3"
    answer(client, first, "right", 3)
    assert list(Judgment.objects.order_by("revision").values_list("answer", flat=True)) == ["left", "undone", "right"]
    assert_books_balance(study)


def test_undo_after_a_skip_shows_the_skipped_pair_again(client, link):
    answer(client, begin(client, link))
    skipped = Assignment.objects.get(state="open")
    client.post(reverse("skip", args=[skipped.key]), {"reason": "unclear"})
    shown = client.get(page_of(Assignment.objects.get(state="open"))).content.decode()
    assert reverse("undo", args=[skipped.key]) in shown
    again = client.post(reverse("undo", args=[skipped.key]), {"revision": 1}, follow=True)
    assert again.request["PATH_INFO"] == page_of(skipped)
    assert "You skipped this pair. Here it is again." in again.content.decode()
    assert Judgment.objects.count() == 1


def test_a_second_click_on_undo_undoes_no_more(client, link):
    first = begin(client, link)
    answer(client, first)
    for _ in range(2):
        assert client.post(reverse("undo", args=[first.key]), {"revision": 2}).url == page_of(first)
    assert Judgment.objects.count() == 2


@pytest.mark.parametrize("where", ["pair", "part", "ahead", "progress"])
def test_an_undo_that_arrives_once_more_takes_back_no_later_answer(client, link, where):
    """The network may repeat a request half a minute later, when its pair has been judged again."""
    first = begin(client, link)
    if where == "ahead":
        page = client.post(reverse("ahead", args=[first.key])).content.decode()
    following = answer(client, first).url
    if where == "progress":
        Study.objects.update(pairs_per_annotator=1)
        page = client.get(client.post(reverse("draw", args=[Annotator.objects.get().key])).url).content.decode()
    elif where != "ahead":
        page = client.get(following, headers=HTMX if where == "part" else {}).content.decode()
    form = page[page.index(reverse("undo", args=[first.key])) :]
    sent = {"revision": re.search(r'name="revision" value="(\d+)"', form)[1]}
    client.post(reverse("undo", args=[first.key]), sent)
    answer(client, first, "right", 3)
    client.post(reverse("undo", args=[first.key]), sent)
    assert list(Judgment.objects.order_by("revision").values_list("answer", flat=True)) == ["left", "undone", "right"]


def test_an_old_form_after_an_undo_is_told_so(client, link):
    first = begin(client, link)
    answer(client, first)
    client.post(reverse("undo", args=[first.key]))
    assert client.get(answer(client, first, "right").url).status_code == 200
    assert Judgment.objects.count() == 2


def test_a_revision_out_of_turn_shows_the_pair_as_it_is(client, link):
    first = begin(client, link)
    assert answer(client, first, revision=7).url == page_of(first)
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"answer": "left"},
        {"answer": "undone", "revision": 1},
        {"answer": "left", "revision": "x"},
        {"answer": "left", "revision": 0},
        {"answer": "left", "revision": 1, "seconds": "nan"},
        {"answer": "left", "revision": 1, "seconds": -1},
        {"answer": "\x00", "revision": 1},
    ],
)
def test_what_no_page_of_ours_sends_is_refused_on_the_same_page(client, link, sent):
    first = begin(client, link)
    response = client.post(page_of(first), sent)
    assert response.status_code == 400
    assert first.left.text in response.content.decode()
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    ("given", "words", "setting"),
    [("tie", "Equally important", "ties_allowed"), ("neither", "Neither is important", "neither_allowed")],
)
def test_to_prefer_neither_is_an_answer_where_the_study_allows_it(client, link, given, words, setting):
    first = begin(client, link)
    assert words not in client.get(page_of(first)).content.decode()
    assert answer(client, first, given).status_code == 400
    Study.objects.update(**{setting: True})
    assert words in client.get(page_of(first)).content.decode()
    answer(client, first, given)
    assert Judgment.objects.get().answer == given


def test_skipping_asks_for_a_reason_and_goes_on(client, link, study):
    first = begin(client, link)
    skip = reverse("skip", args=[first.key])
    assert client.post(skip, {"reason": "boring"}).url == page_of(first)
    assert Assignment.objects.get().state == "open"
    assert client.post(skip, {"reason": "broken"}).url != page_of(first)
    assert Assignment.objects.get(pk=first.pk).skip_reason == "broken"
    assert "You skipped this pair" in client.get(page_of(first)).content.decode()
    assert_books_balance(study)


def test_a_context_shows_the_sentence_marked_in_its_document(client, link):
    first = begin(client, link)
    for side, sentence in (("left", first.left), ("right", first.right)):
        html = client.get(reverse("context", args=[first.key, side])).content.decode()
        assert f'<mark id="sentence">{sentence.text}</mark>' in html
        assert all(one.text in html for one in Item.objects.filter(document=sentence.document))
    assert client.get(reverse("context", args=[first.key, "above"])).status_code == 404


def test_a_context_keeps_the_white_space_of_the_document(client):
    text = "  The river rose.\n\n    It  fell. It rose.\n* * *\n\t- It fell. So it did."
    study = making.study()
    making.take_in(study, {"topic_id": "M7", "documents": [{"id": "d1", "text": text}]})
    pair = begin(client, invitations.invitation_path(invitations.invite(study, making.owner(study))))
    html = client.get(reverse("context", args=[pair.key, "left"])).content.decode()
    shown = html.partition('<div class="document given"')[2].partition(">")[2].partition("</div>")[0]
    assert shown.replace('<mark id="sentence">', "").replace("</mark>", "") == text


def test_pausing_gives_the_pair_back_and_says_so(client, link, study):
    first = begin(client, link)
    client.post(reverse("pair", args=[first.key]), {"answer": "left", "revision": 1}, follow=True)
    progress = client.post(reverse("pause", args=[first.annotator.key])).url
    html = client.get(progress).content.decode()
    assert ("You have paused" in html, "Welcome back" in html) == (True, False)
    html = client.get(reverse("progress", args=[first.annotator.key])).content.decode()
    assert ("You have paused" in html, "Welcome back" in html) == (False, True)
    assert list(Assignment.objects.order_by("pk").values_list("state", flat=True)) == ["judged", "expired"]
    assert_books_balance(study)


def test_the_last_answer_leads_to_thanks(client, link):
    Study.objects.update(pairs_per_annotator=2)
    first = begin(client, link)
    answer(client, first)
    last = Assignment.objects.latest("pk")
    html = client.get(answer(client, last).url).content.decode()
    assert "Thank you" in html
    assert "You judged 2 pairs" in html
    part = answer(client, last, headers=HTMX)
    assert "Thank you" in part.content.decode()
    assert part["HX-Push-Url"].startswith("/progress/")


def test_taking_the_last_answer_back_after_the_thanks(client, link):
    Study.objects.update(pairs_per_annotator=1)
    first = begin(client, link)
    progress = answer(client, first).url
    assert reverse("undo", args=[first.key]) in client.get(progress).content.decode()
    assert client.post(reverse("undo", args=[first.key])).url == page_of(first)
    assert Annotator.objects.get().finished_at is None
    assert client.get(answer(client, first, "right", 3).url).status_code == 200
    assert Annotator.objects.get().finished_at is not None


@pytest.mark.parametrize(("state", "word"), [("paused", "The study is paused"), ("closed", "The study is closed")])
def test_a_study_that_is_not_open_takes_the_answer_and_says_so(client, link, state, word):
    first = begin(client, link)
    Study.objects.update(state=state)
    assert word in client.get(answer(client, first).url).content.decode()
    assert Judgment.objects.count() == 1


def test_no_work_left_is_not_called_done(client):
    study = ready_study(sentences=2)
    judged(joined(study))
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    html = client.get(client.post(link).url).content.decode()
    assert "No pairs for you right now" in html
    assert "Check again" in html


def test_progress_can_be_hidden(client, link):
    Study.objects.update(show_progress=False)
    first = begin(client, link)
    html = client.get(page_of(first)).content.decode()
    assert "Pair 1 of" not in html
    assert "minutes left" not in html
    assert "30 pairs" not in client.get(link).content.decode()


def test_shortcuts_can_be_switched_off_and_on(client, link):
    first = begin(client, link)
    switch = reverse("shortcuts", args=[first.annotator.key])
    for value in ("off", "on"):
        page = client.post(switch, {"shortcuts": value}).url
        assert page == page_of(first)
        assert f'data-shortcuts="{value}"' in client.get(page).content.decode()


def test_an_answer_is_taken_when_the_cookie_was_lost_meanwhile(client, link):
    first = begin(client, link)
    fields = fields_of(client.get(page_of(first)).content.decode())
    stranger = Client()
    following = stranger.post(page_of(first), fields | {"answer": "left"})
    assert Judgment.objects.count() == 1
    assert stranger.get(following.url).status_code == 200
    tampered = fields | {"answer": "left", "ticket": fields["ticket"][:-2] + "xx"}
    assert Client().post(page_of(first), tampered).status_code == 404


def test_a_ticket_opens_nothing_but_its_own_pair(client, link, study):
    first = begin(client, link)
    fields = fields_of(client.get(page_of(first)).content.decode())
    other = drawn(joined(study))
    assert Client().post(page_of(other), fields | {"answer": "left"}).status_code == 404


def test_judging_needs_the_token_against_forged_requests(link):
    browser = Client(enforce_csrf_checks=True)
    page = browser.get(link).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
    following = browser.post(link, {"csrfmiddlewaretoken": token}).url
    assert browser.post(following, {"answer": "left", "revision": 1}).status_code == 403
    assert not Judgment.objects.exists()


def test_an_answer_after_the_lease_is_taken(client, link, study):
    Study.objects.update(judgments_per_pair=2)
    first = begin(client, link)
    let_lapse(first)
    judged(joined(study))
    assert Assignment.objects.get(pk=first.pk).state == "expired"
    assert first.left.text in client.get(page_of(first)).content.decode()
    answer(client, first)
    assert Judgment.objects.counted().filter(assignment=first).exists()


def test_the_pair_ahead_has_a_lease_of_its_own_and_comes_next(client, link):
    first = begin(client, link)
    part = client.post(reverse("ahead", args=[first.key]), headers=HTMX)
    ahead = Assignment.objects.latest("pk")
    assert ahead.left.text in part.content.decode()
    assert client.post(reverse("ahead", args=[first.key]), headers=HTMX).status_code == 200
    assert Assignment.objects.count() == 2
    assert answer(client, first).url == page_of(ahead)


def script_answer(client: Client, assignment: Assignment, showing: str = "", side: str = "left") -> dict:
    headers = HTMX | {"Judge-Showing": showing}
    return answer(client, assignment, side, headers=headers).json()


def test_the_script_hears_what_became_of_an_answer_and_gets_the_next_two_pairs(client, link):
    first = begin(client, link)
    Study.objects.update(reading_speed=0)
    got = script_answer(client, first)
    second, third = Assignment.objects.exclude(pk=first.pk).order_by("pk")
    assert (got["said"], got["here"]) == ("Saved: the first sentence.", page_of(second))
    assert second.left.text in got["part"]
    assert "Pair 2 of 30" in got["part"]
    assert third.left.text in got["ahead"]
    assert "Pair 3 of 30" in got["ahead"]
    assert reverse("undo", args=[second.key]) in got["ahead"]


def test_the_script_is_not_sent_what_it_shows_already(client, link):
    first = begin(client, link)
    client.post(reverse("ahead", args=[first.key]), headers=HTMX)
    second = Assignment.objects.latest("pk")
    got = script_answer(client, first, page_of(second))
    assert got["part"] == ""
    assert got["here"] == page_of(second)


def test_a_script_that_shows_what_it_answers_gets_the_next_two_pairs(client, link, study, monkeypatch):
    first = begin(client, link)
    prepare_pairs(study, "gold", 3)
    Study.objects.update(gold_share=0.1)
    monkeypatch.setattr(drawing, "due", lambda _annotator, turn: "gold" if turn == 1 else None)
    got = script_answer(client, first, page_of(first))
    second, third = Assignment.objects.exclude(pk=first.pk).order_by("pk")
    assert second.reason == "gold"
    assert (got["here"], third.left.text in got["ahead"]) == (page_of(second), True)


def test_only_one_pair_is_drawn_for_a_script_that_shows_theirs(client, link):
    first = begin(client, link)
    client.post(reverse("ahead", args=[first.key]), headers=HTMX)
    second = Assignment.objects.latest("pk")
    with CaptureQueriesContext(connection) as asked:
        got = script_answer(client, first, page_of(second))
    assert got["here"] == page_of(second)
    # The answer locks the topic once, and both its version and the place of the next pair are counted at once.
    assert sum("FROM annotate_tally" in query["sql"] for query in asked) == 1
    assert sum("UPDATE annotate_tally" in query["sql"] for query in asked) == 1


def test_a_lease_that_the_script_shows_begins_anew_when_half_of_it_is_over(client, link):
    first = begin(client, link)
    client.post(reverse("ahead", args=[first.key]), headers=HTMX)
    second = Assignment.objects.latest("pk")
    Assignment.objects.filter(pk=second.pk).update(expires_at=timezone.now() + LEASE / 3)
    script_answer(client, first, page_of(second))
    second.refresh_from_db()
    assert second.expires_at > timezone.now() + LEASE / 2


@pytest.mark.parametrize("showing", ["/", "nowhere", "/judge/00000000-0000-0000-0000-000000000000/"])
def test_a_script_that_shows_no_pair_at_all_is_led_to_theirs(client, link, showing):
    got = script_answer(client, begin(client, link), showing)
    assert Assignment.objects.order_by("pk")[1].left.text in got["part"]


def test_a_script_that_shows_somebody_elses_pair_is_led_to_their_own(client, link):
    theirs = begin(Client(), link)
    got = script_answer(client, begin(client, link), page_of(theirs))
    assert got["here"] != page_of(theirs)
    assert got["part"]


def test_the_script_is_led_on_when_it_shows_what_is_not_to_be_judged(client, link):
    first = begin(client, link)
    script_answer(client, first)
    second = Assignment.objects.order_by("pk")[1]
    script_answer(client, second)
    got = script_answer(client, first, page_of(second), side="right")
    assert "(the first sentence). That answer stands" in got["said"]
    assert Assignment.objects.order_by("pk")[2].left.text in got["part"]


def test_the_script_is_told_when_everything_is_judged(client, link):
    Study.objects.update(pairs_per_annotator=1)
    got = script_answer(client, begin(client, link))
    assert "Thank you" in got["part"]
    assert got["ahead"] is None
    assert got["here"].startswith("/progress/")


def test_before_the_last_pair_nothing_is_drawn_ahead(client, link):
    Study.objects.update(pairs_per_annotator=1)
    first = begin(client, link)
    assert client.post(reverse("ahead", args=[first.key])).status_code == 204


def test_a_reason_that_is_none_is_read_as_none(client, link):
    annotator = begin(client, link).annotator
    progress = reverse("progress", args=[annotator.key])
    html, usual = (client.get(path).content.decode() for path in (f"{progress}?nothing=x", progress))
    token = re.compile(r'(csrfmiddlewaretoken" value=|X-CSRFToken": )"\w+"')
    assert token.sub("", html) == token.sub("", usual)
    assert reverse("draw", args=[annotator.key]) in html


def test_a_pair_whose_text_was_cut_anew_leads_back_to_their_progress(client, link, caplog):
    first = begin(client, link)
    judging.forget_pairs([first.item_set_id])
    for gone in (client.get(page_of(first)), answer(client, first)):
        assert gone.url == reverse("progress", args=[first.annotator.key])
    assert "no longer exists" in client.get(gone.url).content.decode()
    assert caplog.messages == [f"What was sent to pair {first.key} is not stored: it is not there, or not theirs"]
    assert Client().get(page_of(first)).status_code == 404
    for name in ("skip", "undo", "ahead"):
        assert client.post(reverse(name, args=[first.key]), {"reason": "other"}).url == gone.url


def test_an_answer_that_is_not_stored_leaves_a_line_that_says_where_it_went(client, link, settings, caplog):
    settings.PACE_SECONDS = 60.0
    first = begin(client, link)

    def said(status: int, *sent: str | int) -> str:
        caplog.clear()
        assert answer(client, first, *sent).status_code == status
        lines = [
            line.getMessage() for line in caplog.records if line.name.startswith(("annotate.judging", "annotate.views"))
        ]
        assert all(str(first.key) in line for line in lines)
        return "; ".join(lines)

    assert said(400, "up").endswith("is not stored: answer")
    assert said(302, "left", 7).endswith("(revision 7) is not stored: revision 0 is the last one")
    assert said(302) == "", "it is stored"
    assert said(302) == "", "it was stored before"
    assert said(302, "right").endswith("is not stored: 'left' was there first")
    judging.undo(Assignment.objects.get(pk=first.pk))
    assert said(429, "right", 3).endswith("is not stored: a moment after their last one")


def test_every_page_of_an_annotator_leads_back_to_their_studies(client, link):
    first = begin(client, link)
    mine = reverse("my_judging")
    paths = [page_of(first), reverse("context", args=[first.key, "left"]), "/"]
    paths += [reverse(name, args=[first.annotator.key]) for name in ("progress", "guidelines", "my_data")]
    assert all(f'href="{mine}"' in client.get(path).content.decode() for path in paths)
    assert reverse("progress", args=[first.annotator.key]) in client.get(mine).content.decode()
    assert "You have not been invited" in Client().get(mine).content.decode()


def test_given_texts_are_shown_as_text(client):
    study = ready_study(
        sentences=2, title="<script>1</script>", question="<b>Which?</b>", guidelines="<img src=x> ![x](https://x)"
    )
    for row in Item.objects.all():  # no two alike: such are never compared
        Item.objects.filter(pk=row.pk).update(text=f"<script>alert({row.pk})</script> & “quoted”")
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    first = begin(client, link)
    for path in (link, page_of(first), reverse("context", args=[first.key, "left"])):
        html = client.get(path).content.decode()
        assert "<script>alert" not in html
        assert "<script>1" not in html
        assert "<b>Which" not in html
        assert "<img" not in html


RANDOM = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=csrfmiddlewaretoken\" value=\")\w+"
    r"|(?<=ticket\" value=\")[\w-]+|(?<=X-CSRFToken\": \")\w+"
)


def test_with_equal_texts_pages_are_equal_but_for_random_ids():
    """What reaches the browser holds two texts and random ids: nothing tells which sentences or what for."""
    study = ready_study(sentences=20, judgments_per_pair=3)
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    seen, texts = set(), list(Item.objects.all())
    for number in range(6):
        browser = Client()
        Item.objects.bulk_update(texts, ["text"])  # no two alike: such are never drawn
        first = begin(browser, link)
        Item.objects.update(text="x")
        Assignment.objects.filter(pk=first.pk).update(reason=["random", "suggested"][number % 2])
        html = browser.get(page_of(first)).content.decode()
        part = browser.get(page_of(first), headers=HTMX).content.decode()
        seen.add((RANDOM.sub("*", html), RANDOM.sub("*", part)))
    assert Assignment.objects.values("pair").distinct().count() > 1
    assert len(seen) == 1
