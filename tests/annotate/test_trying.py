"""Trials: annotators' own pages, with practice, context, skip and undo; they count nowhere and are gone after a day."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotate import exports, five_pairs, imports, judging, studies
from annotate.judging import trying
from annotate.models import (
    Annotator,
    Assignment,
    GoldPair,
    Item,
    Judgment,
    Membership,
    Pair,
    ReportedPair,
    Study,
    Tally,
    Topic,
)
from annotate.reports import annotators, reported_pairs, rests_on
from annotate.reports import study as overviews
from annotate.server import limits, prometheus
from evaluation import agenda, records
from preferendum.formats.archive.study_records import StudyArchive
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import drawn, joined, judged, prepare_pairs, ready_study

pytestmark = pytest.mark.django_db
FORM = re.compile(r'action="([^"]+)"')


def rows() -> dict[str, int]:
    """How many rows every table has; sessions and limits are kept apart."""
    kept_apart = {"session", "allowance"}
    return {
        model.__name__: model._default_manager.count()
        for model in apps.get_models()
        if model._meta.model_name not in kept_apart
    }


def a_day_passes() -> None:
    for one in Annotator.objects.all():
        Annotator.objects.filter(pk=one.pk).update(joined_at=one.joined_at - trying.KEPT)
    judging.forget_trials()


@pytest.fixture
def study() -> Study:
    return ready_study(sentences=12, pairs_per_annotator=3, ties_allowed=True, guidelines="Judge **what** it tells.")


@pytest.fixture
def owner(study: Study) -> Client:
    client = Client()
    client.force_login(making.owner(study))
    return client


def begun(client: Client, study: Study) -> str:
    return client.post(reverse("try", args=[study.pk])).url


def answered(client: Client, here: str, answer: str = "left", revision: int = 1) -> str:
    return client.post(here, {"answer": answer, "revision": revision}).url


@pytest.mark.parametrize("state", ["open", "paused", "closed"])
def test_a_member_sees_all_that_an_annotator_sees(study, owner, state) -> None:
    studies.set_state(study, making.owner(study), state)
    before = rows()
    welcome = owner.get(reverse("try", args=[study.pk])).content.decode()
    assert rows() == before
    pages = [welcome]
    assert "Judge <strong>what</strong> it tells." in welcome
    assert "There are 3 pairs to judge." in welcome
    here = begun(owner, study)
    trial = Annotator.objects.get(kind="trial")
    for number in (1, 2, 3):
        pages.append(owner.get(here).content.decode())
        assert f"Pair {number} of 3" in pages[-1]
        pages.append(owner.get(f"{here}context/left/").content.decode())
        assert "<mark" in pages[-1]
        pages.append(owner.get(reverse("guidelines", args=[trial.key])).content.decode())
        here = answered(owner, here, ["left", "tie", "right"][number - 1])
    pages.append(owner.get(here).content.decode())
    assert "The trial is over" in pages[-1]
    assert all("This is a trial" in page and "erased after a day" in page for page in pages)
    assert not any("My data" in page or "My studies" in page for page in pages)
    assert owner.post(reverse("pause", args=[trial.key])).url == reverse("study", args=[study.pk])


def known(study: Study, owner: Client, api: Client) -> dict[str, object]:
    """All that is told of a study's judging, or follows from it."""
    figures = prometheus.figures()
    return {
        "archive": archived(study),
        "preferences": list(exports.preferences(study)),
        "tallies": list(Tally.objects.values_list("item_set", "data_version", "taken")),
        "places": sorted(Pair.objects.filter(need__gt=0).values_list("first", "second", "need", "taken")),
        "annotators": [(row.annotator.pseudonym, row.judged) for row in annotators.rows_of(study)],
        "figures": {name: figures[name][1] for name in ("judgments", "leases_open", "topics_behind")},
        "rests on": rests_on.of_study(study),
        "overview": overviews.look_at(study).annotators,
        "reported": list(reported_pairs.of(study)),
        "evidence": [
            len(records.load_evidence(topic.pk, str.splitlines).evidence.judgments) for topic in topics(study)
        ],
        "crowds": [crowd.annotators for crowd in records.load_answers(study.pk, ()).crowds],
        "work": agenda.look().waiting,
        "api": [
            api.get(reverse(name, args=[study.pk])).json()
            for name in ("api_annotators", "api_judgments", "api_annotator_figures")
        ],
        "pages": [
            b"".join(owner.get(reverse(name, args=[study.pk])))
            for name in ("study_annotators_csv", "judgments_csv", "judgments_jsonl")
        ],
    }


def split(text: str, _language: str) -> list[str]:
    return [text]


def topics(study: Study) -> list[Topic]:
    return list(Topic.objects.filter(study=study))


def archived(study: Study) -> StudyArchive:
    return exports.make_archive(study)


def test_a_trial_is_in_no_count_tally_file_or_fit_and_leaves_nothing(study, owner) -> None:
    prepare_pairs(study, "training", 2)
    studies.change_settings(
        study,
        making.owner(study),
        training=True,
        training_threshold=0.0,
        gold_share=0.3,
        repeat_share=0.1,
        pairs_per_annotator=20,
    )
    prepare_pairs(study, "gold", 3)
    person = joined(study, trained_at="2026-01-01T00:00Z")
    for _number in range(3):
        judged(person)
    clients = owner, program(making.owner(study))
    before, everything = known(study, *clients), rows()
    here = begun(owner, study)
    for _number in range(2):
        answered(owner, here)
        here = owner.post(reverse("draw", args=[Annotator.objects.get(kind="trial").key])).url
    here = owner.post(f"{here}skip/", {"reason": "other", "report": "fragment", "note": "A byline."}).url
    for _number in range(12):
        here = answered(owner, here)
    trial = Annotator.objects.get(kind="trial")
    owner.post(reverse("undo", args=[trial.previous]))
    reasons = set(trial.assignments.values_list("reason", flat=True))
    assert reasons >= {"training", "gold", "random"}
    assert Judgment.objects.filter(assignment__annotator=trial, answer="undone").exists()
    assert ReportedPair.objects.count() == 1
    assert not trial.assignments.filter(holds_place=True).exists()
    assert known(study, *clients) == before
    judging.forget_trials()
    assert Annotator.objects.filter(kind="trial").exists(), "a day has not passed"
    a_day_passes()
    assert rows() == everything


def test_a_trial_keeps_no_pair_and_no_room_from_anybody() -> None:
    study = ready_study(sentences=2, judgments_per_topic=1)
    trial = judging.start_trial(study, making.owner(study))
    held = drawn(trial)
    person = joined(study)
    assert drawn(person).pair == held.pair
    judging.record_judgment(held, 1, "left")
    judged(person)
    again = judging.start_trial(study, making.owner(study))
    assert drawn(again).pair == held.pair, "full for people, and for no trial"
    assert Pair.objects.get().taken == Tally.objects.get().taken == 1


def test_what_only_a_trial_has_judged_may_be_cut_again(study, owner) -> None:
    here = begun(owner, study)
    answered(owner, here)
    (topic,) = topics(study)
    document = topic.documents.get()
    imports.mend(document, [" ".join(document.sentences)], making.owner(study))
    assert Item.objects.filter(item_set=topic.pk).count() == 1
    assert not Judgment.objects.exists()
    assert owner.get(here).status_code == 404
    a_day_passes()
    assert not Annotator.objects.exists()


def test_a_trial_is_its_members_alone_as_long_as_they_are_one(study, owner) -> None:
    here = begun(owner, study)
    trial = Annotator.objects.get()
    stranger, other = Client(), Client()
    other.force_login(making.member(study, making.Role.RESEARCHER))
    pages = [
        here,
        f"{here}context/left/",
        reverse("progress", args=[trial.key]),
        reverse("guidelines", args=[trial.key]),
    ]
    for page in pages:
        assert [client.get(page).status_code for client in (owner, other, stranger)] == [200, 404, 404]
    assert stranger.post(here, {"answer": "left", "revision": 1}).status_code == 404
    for name in ("my_data", "my_data_file"):
        assert owner.get(reverse(name, args=[trial.key])).status_code == 404
    assert owner.post(reverse("withdraw", args=[trial.key]), {"answers": "keep"}).status_code == 404
    assert owner.get(reverse("study_annotator", args=[study.pk, trial.pk])).status_code == 404
    assert program(making.owner(study)).post(reverse("api_draw", args=[study.pk, trial.key])).status_code == 404
    assert study.title not in owner.get(reverse("my_judging")).content.decode().split("<main")[1]
    Membership.objects.filter(user=making.owner(study)).update(role=making.Role.ANNOTATOR)
    assert owner.get(here).status_code == 404


def test_a_pair_that_is_undone_or_opened_again_is_the_same_pair(study, owner) -> None:
    first = begun(owner, study)
    second = answered(owner, first)
    assert owner.post(f"{first}undo/").url == first
    assert owner.get(first).status_code == 200
    answered(owner, first, revision=3)
    skipped = owner.post(f"{second}skip/", {"reason": "unclear"}).url
    assert "Pair 2 of 3" in owner.get(skipped).content.decode(), "a skipped pair is not judged"


def test_practice_comes_first_and_is_explained(study, owner) -> None:
    prepare_pairs(study, "training", 2)
    studies.change_settings(study, making.owner(study), training=True)
    here = begun(owner, study)
    draw = reverse("draw", args=[Annotator.objects.get().key])
    for number in (1, 2):
        html = owner.get(here).content.decode()
        assert f"Practice pair {number} of 2" in html
        assert "/skip/" not in html
        better = GoldPair.objects.order_by("pk")[number - 1].better.text
        answered(owner, here, "left" if html.index(better) < html.index('value="right"') else "right")
        explained = owner.get(here).content.decode()
        assert ">Correct</h1>" in explained
        assert "Because of" in explained
        here = owner.post(draw).url
    html = owner.get(here).content.decode()
    assert "Pair 1 of 3" in html
    assert "/undo/" not in html, "practice is never taken back"


def test_a_trial_is_promised_its_own_pairs_and_time(study, owner) -> None:
    studies.change_settings(study, making.owner(study), judgments_per_topic=1, pairs_per_annotator=20)
    study.refresh_from_db()
    judged(joined(study))
    assert judging.newcomer(study).progress.wanted == 0
    welcome = owner.get(reverse("try", args=[study.pk])).content.decode()
    begun(owner, study)
    promised = Annotator.objects.get(kind="trial").progress
    assert f"There {'is 1 pair' if promised.wanted == 1 else f'are {promised.wanted} pairs'} to judge." in welcome
    assert f"It takes about {promised.minutes_left} minute" in welcome
    studies.change_settings(study, making.owner(study), judgments_per_topic=500, pairs_per_annotator=500)
    assert "There are 60 pairs to judge." in owner.get(reverse("try", args=[study.pk])).content.decode()


def test_a_study_without_sentences_says_what_it_lacks_before_a_trial_begins() -> None:
    study = making.study()
    client = Client()
    client.force_login(making.owner(study))
    welcome = client.get(reverse("try", args=[study.pk])).content.decode()
    assert "There is no pair to show yet" in welcome
    assert "Begin the trial" not in welcome
    assert "There is no pair to show yet" in client.get(begun(client, study)).content.decode()


# The demo's pairs, for anybody


def test_anybody_judges_five_pairs_and_reads_what_they_say(client) -> None:
    html = client.get("/").content.decode()
    assert not Study.objects.exists()
    assert "/try/" in FORM.findall(html)
    first = five_pairs.first_pair()
    here = client.post("/try/", {"answer": "right"}).url
    trial = Annotator.objects.get()
    given = Judgment.objects.get()
    assert [sentence.text for sentence in given.in_order] == [first.right.text, first.left.text], "as it was shown"
    for _number in range(4):
        assert client.get(f"{here}context/right/").status_code == 200
        here = answered(client, here)
    result = client.get(here).content.decode()
    assert "5 answers put the sentences in this order" in result
    assert "far too few to rank anything" in result
    asked = list(trial.assignments.order_by("pk").values_list("pair__first__text", "pair__second__text"))
    texts = five_pairs.sentences()
    assert [set(pair) for pair in asked] == [{texts[one], texts[other]} for one, other in five_pairs.PAIRS]
    assert not Judgment.objects.lasting().exists()
    assert agenda.look().waiting == ()
    assert client.get("/try/").url == "/"


def test_the_five_pairs_are_stored_once_and_stay(client) -> None:
    client.post("/try/")
    before = rows()
    client.post("/try/")
    a_day_passes()
    assert rows() == before | {"Annotator": 0, "Assignment": 0, "Pair": 0}
    study = Study.objects.get()
    assert Item.objects.filter(item_set__study=study, text__in=five_pairs.sentences()).count() == 5
    assert not User.objects.get().is_active


def test_what_is_preferred_comes_first_whichever_side_it_stands_on() -> None:
    texts = five_pairs.sentences()
    for _time in range(2):
        trial = five_pairs.start()
        for _number in five_pairs.PAIRS:  # whoever prefers the one that comes first in the list
            pair = drawn(trial)
            is_left = texts.index(pair.left.text) < texts.index(pair.right.text)
            judging.record_judgment(pair, 1, "left" if is_left else "right")
        result = five_pairs.result_of(trial)
        assert result.sentences[0].text == texts[0]
        assert result.sentences[-1].text == texts[4]
        assert sum(points for _name, points in result.systems) == sum(
            (2 * row.preferred - row.asked) * len(row.systems) for row in result.sentences
        )


def test_a_pair_in_place_of_one_that_was_skipped_is_no_part_of_the_result() -> None:
    trial = five_pairs.start()
    judging.skip(drawn(trial), "unclear")
    for _number in five_pairs.PAIRS:
        judging.record_judgment(drawn(trial), 1, "tie")
    assert judging.draw(trial) == judging.NoPair.DONE
    assert five_pairs.result_of(trial).answered in (4, 5)


def test_answers_that_go_round_in_a_circle_are_said_to() -> None:
    trial = five_pairs.start()
    assert five_pairs.result_of(trial).answered == 0
    texts = five_pairs.sentences()
    circle = {(0, 1): 0, (1, 2): 1, (2, 3): 2, (3, 4): 3, (4, 0): 4}
    for one, other in five_pairs.PAIRS:
        pair = drawn(trial)
        judging.record_judgment(pair, 1, "left" if pair.left.text == texts[circle[one, other]] else "right")
    assert five_pairs.result_of(trial).is_circle


def test_the_demos_sentences_are_those_that_systems_say_and_its_board_is_of_these_systems() -> None:
    assert all(five_pairs.systems_that_say(sentence) for sentence in five_pairs.sentences())
    systems = {summary["system"] for summary in five_pairs.topic()["summaries"]}
    assert {system for system, *_numbers in five_pairs.leaderboard()} == systems
    assert all(low <= score <= high for _system, score, low, high in five_pairs.leaderboard())


def test_whoever_begins_or_undoes_without_end_is_asked_to_wait(client, monkeypatch) -> None:
    monkeypatch.setattr(limits, "TRIALS", limits.Limit("try", 3, 3600))
    assert [client.post("/try/").status_code for _time in range(2)] == [302, 302]
    here = reverse("pair", args=[Assignment.objects.latest("pk").key])
    assert [client.post(f"{here}undo/").status_code for _time in range(2)] == [302, 429]
    assert client.post("/try/").status_code == 429
    assert client.get(here).status_code == 200
