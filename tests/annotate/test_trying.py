"""Trials: the annotator's pages, with practice, context, skip and undo; and no row of them anywhere."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from annotate import studies
from annotate.judging import demo
from annotate.judging.trying import StudyPairs, Trial, find_trial
from annotate.models import Annotator, GoldPair, Sentence, Study
from tests.annotate import making
from tests.annotate.judging_study import prepare_pairs, ready_study

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


def judged(client: Client, here: str, answer: str = "left") -> str:
    return client.post(here, {"answer": answer, "revision": 1}).url


@pytest.mark.parametrize("state", ["open", "paused", "closed"])
def test_a_member_sees_all_that_an_annotator_sees_and_nothing_is_stored(study, owner, state) -> None:
    studies.set_state(study, making.owner(study), state)
    before = rows()
    welcome = owner.get(reverse("try", args=[study.pk])).content.decode()
    pages = [welcome]
    assert "Judge <strong>what</strong> it tells." in welcome
    assert "There are 3 pairs to judge." in welcome
    here = begun(owner, study)
    for number in (1, 2, 3):
        pages.append(owner.get(here).content.decode())
        assert f"Pair {number} of 3" in pages[-1]
        pages += [owner.get(f"{here}{more}").content.decode() for more in ("context/left/", "guidelines/")]
        assert "<mark" in pages[-2]
        here = judged(owner, here, ["left", "tie", "right"][number - 1])
    pages.append(owner.get(here).content.decode())
    assert "The trial is over" in pages[-1]
    assert all("This is a trial" in page and "Nothing you do here is stored" in page for page in pages)
    assert rows() == before


def test_a_pair_that_is_undone_or_opened_again_is_the_same_pair(study, owner) -> None:
    def sentences(address: str) -> list[str]:
        return re.findall(r'class="sentence given"[^>]*>([^<]+)', owner.get(address).content.decode())

    first = begun(owner, study)
    second = judged(owner, first)
    assert sentences(second) != sentences(first) == sentences(first)
    assert owner.post(f"{second}undo/").url == first
    assert owner.post(f"{first}undo/").url == first
    skipped = owner.post(f"{first}skip/", {"reason": "unclear"}).url
    assert "Pair 1 of 3" in owner.get(skipped).content.decode(), "a skipped pair is not judged"


def test_practice_comes_first_and_is_explained(study, owner) -> None:
    prepare_pairs(study, "training", 2)
    studies.change_settings(study, making.owner(study), training=True)
    here = begun(owner, study)
    for number in (1, 2):
        html = owner.get(here).content.decode()
        assert f"Practice pair {number} of 2" in html
        assert "/skip/" not in html
        better = GoldPair.objects.order_by("pk")[number - 1].better.text
        here = judged(owner, here, "left" if html.index(better) < html.index('value="right"') else "right")
        explained = owner.get(here).content.decode()
        assert ">Right</h1>" in explained
        assert "Because of" in explained
        here = owner.post(f"{here}draw/").url
    html = owner.get(here).content.decode()
    assert "Pair 1 of 3" in html
    assert "/undo/" not in html, "practice is never taken back"


def test_the_pages_script_is_answered_as_for_annotators(study, owner) -> None:
    here = begun(owner, study)
    assert owner.post(f"{here}ahead/").status_code == 204
    result = owner.post(here, {"answer": "left", "revision": 1}, headers={"Judge-Showing": ""}).json()
    assert result["here"] == f"{here[:-1]}l/"
    assert 'id="task"' in result["part"]
    assert "Pair 2 of 3" in result["part"]
    part = owner.post(f"{result['here']}undo/", headers={"HX-Request": "true"})
    assert part["HX-Push-Url"] == here
    assert "<html" not in part.content.decode()


def test_what_nobody_is_asked_about_is_not_shown(study) -> None:
    kept = set(Sentence.objects.order_by("pk").values_list("text", flat=True)[:2])
    Sentence.objects.exclude(text__in=kept).update(not_judged="heading")
    pairs = [StudyPairs(study).draw(seed, 0) for seed in range(5)]
    assert all(pair is not None and {pair.first.text, pair.second.text} == kept for pair in pairs)


def test_a_study_without_sentences_says_what_it_lacks() -> None:
    study = making.study()
    client = Client()
    client.force_login(making.owner(study))
    assert "There is no pair to show yet" in client.get(begun(client, study)).content.decode()


@pytest.mark.parametrize("progress", ["", "l", "x", "7x", "7L", "7llll", "7lL", "1234567890", "٣", "-1", "7l\n"])
def test_an_address_that_no_trial_came_to_is_none(study, progress) -> None:
    assert find_trial(StudyPairs(study), progress) is None


# The demo's pairs, for anybody


def test_anybody_judges_five_pairs_and_reads_what_they_say_and_nothing_is_stored(client) -> None:
    before = rows()
    html = client.get("/").content.decode()
    here = next(address for address in FORM.findall(html) if address.startswith("/try/"))
    for _number in range(5):
        assert client.get(f"{here}context/right/").status_code == 200
        here = judged(client, here)
    result = client.get(here).content.decode()
    assert "5 answers put the sentences in this order" in result
    assert "far too few to rank anything" in result
    assert rows() == before
    assert not Annotator.objects.exists()


def test_what_is_preferred_comes_first_whichever_side_it_stands_on() -> None:
    source = demo.DemoPairs()
    for seed in range(8):
        trial = Trial(source, seed)
        for first, second in demo.PAIRS:  # whoever prefers the one that comes first in the list
            is_first_left = trial.is_swapped(trial.number) is False
            trial = trial.after("left" if (first < second) == is_first_left else "right")
        result = demo.result_of(trial)
        order = [demo.load().asked[place].text for place in range(5)]
        assert result.sentences[0].text == order[0]
        assert result.sentences[-1].text == order[4]
        assert sum(points for _name, points in result.systems) == sum(
            (2 * row.preferred - row.asked) * len(row.systems) for row in result.sentences
        )


def test_answers_that_go_round_in_a_circle_are_said_to() -> None:
    trial = Trial(demo.DemoPairs(), 3)
    circle = {(0, 1): 0, (1, 2): 1, (2, 3): 2, (3, 4): 3, (4, 0): 4}
    for first, second in demo.PAIRS:
        preferred = circle[first, second]
        trial = trial.after("left" if (preferred == first) != trial.is_swapped(trial.number) else "right")
    assert demo.result_of(trial).is_circle
    skipped = Trial(demo.DemoPairs(), 3, "sssss")
    assert demo.result_of(skipped).answered == 0


def test_the_demos_sentences_are_those_that_systems_say_and_its_board_is_of_these_systems() -> None:
    loaded = demo.load()
    assert all(demo.systems_that_say(sentence.text) for sentence in loaded.asked)
    assert {system for system, *_numbers in demo.leaderboard()} == set(loaded.summaries)
    assert all(low <= score <= high for _system, score, low, high in demo.leaderboard())


def test_whoever_answers_without_end_is_asked_to_wait(client, monkeypatch) -> None:
    from annotate.server import limits

    monkeypatch.setattr(limits, "TRIALS", limits.Limit("try", 3, 3600))
    answers = [client.post("/try/7/", {"answer": "left", "revision": 1}).status_code for _time in range(4)]
    assert answers == [302, 302, 302, 429]
    assert client.get("/try/7/").status_code == 200
