"""Practice, checks and limits as people meet them on the pages and programs in the API; and that nobody can tell."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from annotate import crowd, invitations
from annotate.models import (
    Annotator,
    Assignment,
    Consent,
    GoldPair,
    Item,
    ItemSet,
    Judgment,
    Participation,
    Study,
    Suggestion,
    Topic,
)
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import assert_books_balance, prepare_pairs, ready_study
from tests.annotate.making import Role
from tests.annotate.test_crowd import P1, crowd_study

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}


def invitation(study: Study) -> str:
    return invitations.invitation_path(invitations.invite(study, making.owner(study)))


def begin(client: Client, link: str) -> Assignment:
    response = client.post(link)
    assert response.status_code == 302, response.content
    return held()


def held() -> Assignment:
    return Assignment.objects.filter(state="open").earliest("pk")


def page_of(assignment: Assignment) -> str:
    return f"/judge/{assignment.key}/"


def answer(client: Client, assignment: Assignment, side: str, **more):
    return client.post(page_of(assignment), {"answer": side, "revision": 1, "seconds": 9}, **more)


def wrong(assignment: Assignment) -> str:
    return {"left": "right", "right": "left"}[assignment.expected]


def platform_study(**fields) -> Study:
    return crowd_study(**{"sentences": 12, "pairs_per_annotator": 4} | fields)


def arrival(study: Study, person: str = P1) -> str:
    return f"{invitations.crowd_path(study.recruitment)}?PROLIFIC_PID={person}"


# Practice


def test_practice_says_what_is_right_and_why_and_leads_on(client):
    study = ready_study(training=True, training_threshold=0.5)
    prepare_pairs(study, "training", 2)
    link = invitation(study)
    assert "You start with 2 practice pairs" in client.get(link).content.decode()
    first = begin(client, link)
    html = client.get(page_of(first)).content.decode()
    assert "Practice pair 1 of 2" in html
    assert "Why can’t you judge this pair?" not in html
    assert client.post(f"{page_of(first)}ahead/", headers=HTMX).status_code == 204
    response = answer(client, first, wrong(first))
    assert response.url == page_of(first)
    html = client.get(page_of(first)).content.decode()
    assert "The other one is more important" in html
    assert "Because of" in html
    client.post(f"{page_of(first)}undo/")
    client.post(f"{page_of(first)}skip/", {"reason": "unclear"})
    assert Judgment.objects.count() == 1
    client.post(f"/progress/{first.annotator.key}/draw/")
    second = held()
    got = answer(client, second, second.expected, headers=HTMX | {"Judge-Showing": ""}).json()
    assert "Correct" in got["part"]
    assert (got["here"], got["ahead"]) == (page_of(second), None)
    client.post(f"/progress/{first.annotator.key}/draw/")
    # of 28 pairs of 8 sentences, two were practice
    assert "Pair 1 of 26" in client.get(page_of(held())).content.decode()
    assert_books_balance(study)


def test_whoever_fails_practice_leaves_with_the_code_for_it_and_stays_out(client):
    study = platform_study(training=True, training_threshold=1.0)
    prepare_pairs(study, "training", 1)
    client.post(arrival(study), {"consent": "1"})
    first = held()
    answer(client, first, wrong(first))
    response = client.post(f"/progress/{first.annotator.key}/draw/", follow=True)
    html = response.content.decode()
    assert "Too few of your practice answers" in html
    assert "OUT1" in html
    assert Participation.objects.get().outcome == "screened_out"
    other = Client()
    html = other.post(arrival(study), {"consent": "1"}, follow=True).content.decode()
    assert "OUT1" in html
    assert Annotator.objects.count() == 1


# Nobody can tell


def blind_study(**fields) -> Study:
    """All texts are equal, and every kind of pair is there."""
    study = ready_study(
        sentences=30,
        **{
            "pairs_per_annotator": 60,
            "gold_share": 0.2,
            "repeat_share": 0.2,
            "random_share": 0.5,
            "show_progress": False,
            "reading_speed": 0,
        }
        | fields,
    )
    prepare_pairs(study, "gold", 12)
    sentences = list(Item.objects.order_by("pk"))
    for rank in range(29):
        Suggestion.objects.create(
            item_set=ItemSet.objects.get(),
            first=sentences[rank],
            second=sentences[rank + 1],
            rank=rank,
            is_random=rank % 2 == 0,
        )
    for sentence in sentences:  # no two alike, or they would not be compared; `bare` makes them alike
        Item.objects.filter(pk=sentence.pk).update(text=f"The same words {sentence.index:02}.")
    return study


def bare(text: str) -> str:
    """Without what is random: keys, signed tickets, tokens against forgery."""
    text = re.sub(r"The same words \d\d\.", "The same words.", text)
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "KEY", text)
    text = re.sub(r'(name=\\?"(?:ticket|csrfmiddlewaretoken)\\?" value=\\?")[^"\\]+', r"\1HIDDEN", text)
    text = re.sub(r"(X-CSRFToken\W+)[A-Za-z0-9]{64}", r"\1HIDDEN", text)
    # Whether the act before was an answer or a skip, which whoever did it knows.
    return re.sub(r'(<form class=\\?"undo.*?name=\\?"revision\\?" value=\\?")\d', r"\1N", text, flags=re.DOTALL)


def payload(response) -> tuple[str, ...]:
    headers = sorted(f"{name}: {bare(value)}" for name, value in response.items() if name != "X-Request-ID")
    return (str(response.status_code), bare(response.content.decode()), *headers)


def test_what_reaches_a_browser_is_the_same_for_every_kind_of_pair(client):
    study = blind_study()
    assignment = begin(client, invitation(study))
    pages, parts, aheads, scripts, skips, reasons = set(), set(), set(), set(), set(), set()
    answer(client, assignment, "left", headers=HTMX)
    for turn in range(45):
        assignment = held()
        reasons.add(assignment.reason)
        pages.add(payload(client.get(page_of(assignment))))
        parts.add(payload(client.get(page_of(assignment), headers=HTMX)))
        aheads.add(payload(client.post(f"{page_of(assignment)}ahead/", headers=HTMX)))
        if turn % 5 == 4:
            skips.add(payload(client.post(f"{page_of(assignment)}skip/", {"reason": "other"}, headers=HTMX)))
        else:
            scripts.add(payload(answer(client, assignment, "left", headers=HTMX | {"Judge-Showing": ""})))
    assert reasons == {"random", "suggested", "gold", "repeat"}
    assert [len(found) for found in (pages, parts, aheads, scripts, skips)] == [1] * 5
    (page,) = pages
    assert "The same words." in page[1]
    for word in ("gold", "repeat", "suggested", "random", "expected"):
        assert word not in page[1].lower()


def test_what_reaches_a_program_is_the_same_for_every_kind_of_pair():
    study = blind_study()
    user = making.member(study, Role.ANNOTATOR)
    caller = program(user)
    key = caller.post(f"/api/v1/studies/{study.pk}/annotators/", {"pseudonym": "m"}, format="json").json()["key"]
    Annotator.objects.update(judged=100, quota=200)  # as many digits before and after
    draws, answers, reasons = set(), set(), set()
    for _ in range(45):
        drawn = caller.post(f"/api/v1/studies/{study.pk}/annotators/{key}/draw/")
        draws.add(re.sub(r'"judged":\d+', '"judged":N', "".join(payload(drawn))))
        told = {
            "key",
            "of",
            "question",
            "prompt",
            "left_turns",
            "right_turns",
            "left",
            "right",
            "answers",
            "reason_words",
            "reason_note",
            "revision",
            "progress",
        }
        assert set(drawn.json()) == told
        reasons.add(Assignment.objects.get(key=drawn.json()["key"]).reason)
        said = {"revision": 1, "answer": "left", "seconds": 5}
        answers.add(payload(caller.post(f"/api/v1/assignments/{drawn.json()['key']}/judgment/", said, format="json")))
    assert reasons == {"random", "suggested", "gold", "repeat"}
    assert (len(draws), len(answers)) == (1, 1)


# Limits on the pages


def test_an_answer_a_moment_after_the_last_is_asked_for_again_and_not_lost(client, settings):
    settings.PACE_SECONDS = 60.0  # a second, long enough for every machine
    study = ready_study()
    first = begin(client, invitation(study))
    answer(client, first, "left")
    second = held()
    response = answer(client, second, "right")
    assert (response.status_code, response["Retry-After"]) == (429, "1")
    assert "read both" in response.content.decode()
    assert Judgment.objects.count() == 1
    Annotator.objects.update(judged_at=timezone.now() - timezone.timedelta(seconds=61))
    assert answer(client, second, "right").status_code == 302
    assert_books_balance(study)


def test_a_hundred_answers_at_once_are_stored_one_a_second(client, settings):
    settings.PACE_SECONDS = 60.0  # a second, long enough for every machine
    study = ready_study(sentences=30)
    assignment = begin(client, invitation(study))
    statuses = [answer(client, held(), "left").status_code for _ in range(20)]
    assert statuses.count(429) == 19
    assert Judgment.objects.count() == statuses.count(302) == 1
    assert assignment.annotator == Annotator.objects.get()
    assert_books_balance(study)


def test_somebody_who_answers_faster_than_people_read_is_asked_kindly_and_kept(client):
    study = ready_study(reading_speed=10)  # 34 characters: 3.4 seconds
    first = begin(client, invitation(study))
    client.post(page_of(first), {"answer": "left", "revision": 1, "seconds": 1})
    assert "faster than people can read" in client.get(page_of(held())).content.decode()
    for seconds in (4, 1):  # one who read, and one who did not and was told so a moment ago
        client.post(page_of(held()), {"answer": "left", "revision": 1, "seconds": seconds})
        assert "faster than people can read" not in client.get(page_of(held())).content.decode()
    assert Judgment.objects.counted().filter(item_set=first.item_set).count() == 3


def test_a_run_of_skips_asks_kindly_and_too_many_end_it_with_the_code(client):
    study = platform_study(sentences=20, skips_in_a_row=4, pairs_per_annotator=15)
    assert "If you skip 4 pairs in a row" in client.get(arrival(study)).content.decode()
    client.post(arrival(study), {"consent": "1"})
    said = []
    for _ in range(4):
        response = client.post(f"{page_of(held())}skip/", {"reason": "language"}, follow=True)
        said.append(response.content.decode())
    assert ["in a row. Is something wrong" in html for html in said[:3]] == [False, True, True]
    assert "Your part ends here" in said[3]
    assert "OUT1" in said[3]
    assert Participation.objects.get().outcome == "screened_out"


def test_whoever_sees_the_results_does_not_make_them(client):
    study = platform_study()
    owner = making.owner(study)
    for user in (owner, making.member(study, Role.RESEARCHER), making.member(study, Role.ADMIN)):
        client.force_login(user)
        for link in (invitation(study), arrival(study)):
            for response in (client.get(link), client.post(link, {"consent": "1"})):
                assert response.status_code == 403
                assert "This is your own study" in response.content.decode()
    assert not Annotator.objects.exists()
    Study.objects.update(pilot=True)
    assert client.post(invitation(study), {"consent": "1"}).status_code == 302


def test_whoever_brought_texts_or_became_a_member_judges_no_more(client):
    study = ready_study()
    user = making.member(study, Role.ANNOTATOR)
    client.force_login(user)
    first = begin(client, invitation(study))
    study.memberships.filter(user=user).update(role=Role.RESEARCHER)
    response = answer(client, first, "left")  # what they had on their screen is taken
    assert response.url.endswith("?nothing=own")
    assert "This is your own study" in client.get(response.url).content.decode()
    caller = program(user)
    response = caller.post(f"/api/v1/studies/{study.pk}/annotators/{first.annotator.key}/draw/")
    assert response.status_code == 403
    study.memberships.filter(user=user).delete()
    making.receive(study, b"x", user=user)
    assert client.get(invitation(study)).status_code == 403


# Consent of programs


def test_a_program_joins_a_study_that_asks_for_consent_once_whoever_runs_it_agrees():
    study = ready_study()
    crowd.recruit(study, making.owner(study), consent="You may stop at any time.")
    caller = program(making.member(study, Role.ANNOTATOR))
    path = f"/api/v1/studies/{study.pk}/annotators/"
    for sent in ({}, {"consent": 7}):
        refused = caller.post(path, {"pseudonym": "m"} | sent, format="json")
        assert refused.status_code == 409
        error = refused.json()["error"]
        assert (error["code"], error["fields"]) == ("consent", {"consent": ["You may stop at any time."]})
        assert "1" in error["message"]
    assert not Annotator.objects.exists()
    assert caller.post(path, {"pseudonym": "m", "consent": 1}, format="json").status_code == 201
    assert caller.post(path, {"pseudonym": "m"}, format="json").status_code == 201  # they have agreed
    assert (Consent.objects.get().text, Annotator.objects.count()) == ("You may stop at any time.", 1)
    crowd.recruit(study, making.owner(study), consent="Another text.")
    assert caller.post(path, {"pseudonym": "m"}, format="json").status_code == 409


# Preparing


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        (0.6, "At least 2 of the 2 practice answers must match yours, so one miss ends"),
        (0.5, "At least 1 of the 2 practice answers must match yours, so 1 miss is forgiven"),
        (0.0, "Whatever annotators answer in practice, they go on."),
    ],
)
def test_what_the_share_of_practice_answers_means_is_said_in_pairs(client, threshold, words):
    study = ready_study(sentences=8, training=True, training_threshold=threshold)
    prepare_pairs(study, "training", 2)
    client.force_login(making.owner(study))
    page = client.get(f"/studies/{study.pk}/gold-pairs/").content.decode()
    assert words in " ".join(page.split())


def test_a_researcher_prepares_a_pair_and_takes_it_back(client):
    study = ready_study(topics=2)
    client.force_login(making.owner(study))
    page = f"/studies/{study.pk}/gold-pairs/"
    topic = Topic.objects.get(name="T1")
    assert "Sentence 3 of T1." in client.get(f"{page}?topic={topic.pk}").content.decode()
    better, worse = topic.sentence_set.items.all()[:2]
    sent = {
        "topic": topic.pk,
        "better": better.name,
        "worse": worse.name,
        "use": "training",
        "explanation": "It tells more.",
    }
    assert client.post(page, sent | {"worse": better.name}).status_code == 200
    assert "There is no such sentence" in client.post(page, sent | {"worse": "it rained"}).content.decode()
    offered = f"{worse.name} {worse.text}"
    assert f'<option value="{offered}">' in client.get(f"{page}?topic={topic.pk}").content.decode()
    sent["worse"] = offered
    assert client.post(page, sent).url == f"{page}?topic={topic.pk}"
    known = GoldPair.objects.get()
    assert (known.better, known.worse, known.use, known.explanation) == (better, worse, "training", "It tells more.")
    html = client.get(page).content.decode()
    assert "It tells more." in html
    assert "Practice is off" in html
    assert client.post(page, sent).status_code == 200
    client.post(f"{page}{known.pk}/delete/")
    assert not GoldPair.objects.exists()


def test_a_table_of_pairs_is_taken_whole_or_not_at_all(client):
    study = ready_study()
    client.force_login(making.owner(study))
    page = f"/studies/{study.pk}/gold-pairs/"

    def send(*rows: str):
        table = "\n".join(["topic,better,worse,use,explanation", *rows]).encode()
        return client.post(page, {"file": SimpleUploadedFile("pairs.csv", table)})

    refused = send("T0,d1:0,d1:1,gold,", "T0,d1:0,d1:99,gold,", "T9,d1:0,d1:1,gold,", "T0,d1:2,d1:3,maybe,")
    html = refused.content.decode()
    assert refused.status_code == 400
    assert not GoldPair.objects.exists()
    rows = [[strip_tags(cell).strip() for cell in row.split("</td>")[:3]] for row in html.split("<tr>")[2:]]
    assert sorted(rows) == [["pairs.csv", "3", "worse"], ["pairs.csv", "4", "topic"], ["pairs.csv", "5", "use"]]
    assert send("T0,d1:0,d1:1,gold,", 'T0,d1:2,d1:3,training,"Two, and why."').status_code == 302
    assert set(GoldPair.objects.values_list("use", "explanation")) == {("gold", ""), ("training", "Two, and why.")}


def test_what_is_wrong_with_a_table_of_pairs_is_said_in_the_readers_language(client, monkeypatch):
    study = ready_study()
    client.force_login(making.owner(study))
    table = SimpleUploadedFile("pairs.csv", b"topic,better,worse,use\nT9,d1:0,d1:1,gold\nT0,d1:0,d1:0,gold\n")
    monkeypatch.setattr("annotate.views.research.complaints._", lambda text: f"<{text}>")
    html = unescape(client.post(f"/studies/{study.pk}/gold-pairs/", {"file": table}).content.decode())
    assert '<"T9", which is unknown (most similar: "T0")>' in html
    assert "<a topic of the study>" in html
    assert "<Choose two different ones.>" in html
    assert "<a pair that can be prepared>" in html


def test_an_archive_takes_prepared_pairs_and_checks_along(tmp_path):
    from annotate import exports
    from annotate.database.snapshot import snapshot
    from annotate.imports.restore import restore
    from preferendum.formats.archive import study as study_archive
    from tests.annotate.judging_study import joined, judged

    study = ready_study(gold_share=0.3, repeat_share=0.3, sentences=12, skips_in_a_row=7)
    prepare_pairs(study, "gold", 5)
    annotator = joined(study)
    for _ in range(25):
        judged(annotator)
    path = tmp_path / "study.zip"
    with snapshot(), path.open("wb") as file:
        study_archive.write(exports.make_archive(study), file)
    again = restore(study_archive.read(path), making.owner(study), title="Again")
    assert (again.gold_share, again.repeat_share, again.skips_in_a_row) == (0.3, 0.3, 7)
    columns = ("reason", "expected", "swapped", "holds_place", "occasion")
    shown = [list(one.assignments.order_by("pk").values_list(*columns)) for one in (annotator, again.annotators.get())]
    assert shown[0] == shown[1]
    assert {reason for reason, *_ in shown[0]} == {"random", "gold", "repeat"}
    assert GoldPair.objects.filter(item_set__study=again).count() == 5
    before, after = (Judgment.objects.counted().filter(item_set__study=one).count() for one in (study, again))
    assert before == after == sum(place for *_, place, _occasion in shown[0])
    assert_books_balance(again)
