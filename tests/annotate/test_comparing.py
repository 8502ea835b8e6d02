"""A topic's board tests differences as the study's does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from annotate import imports
from annotate.models import Fit, Score, Study, Summary
from annotate.reports import leaderboard
from evaluation import tasks
from evaluation.records.statement import state
from preferendum import formats
from preferendum.results import CurvePoint, Difference, Ground, LeaderboardRow, Standing, to_json
from preferendum.results.outlook import Outlook, needed
from preferendum.results.statistics import z_of
from preferendum.scoring import ranking
from preferendum.show import standing
from tests.annotate import making, scored


def study_of_one_topic(systems: int) -> Study:
    study = making.study()
    sentences = tuple(f"Sentence {i} says something of its own, {'very ' * i}much." for i in range(6))
    summaries = tuple(formats.Summary(f"s{k:03}", sentences=(sentences[k % 6],)) for k in range(systems))
    topic = formats.Topic("T", (formats.Text("d1", sentences=sentences),), summaries=summaries)
    preferences = tuple(formats.Preference("T", f"d1:{a}", f"d1:{b}", "a") for a in range(6) for b in range(a + 1, 6))
    imports.store(study, formats.Bundle((topic,), preferences=preferences * 20))
    assert tasks.catch_up(study.pk) == {}
    return study


@pytest.mark.django_db
@pytest.mark.parametrize("scored_by", ["recommended", "published"])
def test_a_study_of_one_topic_compares_its_systems_as_the_topic_does(scored_by: str) -> None:
    study = study_of_one_topic(6)
    boards = leaderboard.of_study(study, scored_by), leaderboard.of_topic(study.topics.get(), scored_by)
    assert len(boards[0].differences) == 15
    assert boards[0].differences == boards[1].differences
    ranks = [[(row.system, row.rank_low, row.rank_high, row.better_than) for row in board.rows] for board in boards]
    assert ranks[0] == ranks[1]


@pytest.mark.django_db
def test_intervals_that_overlap_do_not_hide_a_difference_that_is_sure() -> None:
    topic = scored.topic(scored.scored_study(**scored.AS_PUBLISHED))
    fit = leaderboard.newest_fit(topic.sentence_set, "published")
    names = fit.covariance["systems"]
    n = len(names)
    tied = tuple(tuple(0.01 if i == j else 0.00999 for j in range(n)) for i in range(n))
    compared = ranking.Comparison([Standing(tuple(names), tuple(0.1 * k for k in range(n)), tied, 100)]).columns()
    tested = fit.settings | {"score": "importance"}
    Fit.objects.filter(pk=fit.pk).update(differences=to_json(compared), settings=tested)
    for k, name in enumerate(names):
        Score.objects.filter(fit=fit, summary__system__name=name).update(score=0.1 * k, low=0.0, high=1.0)
    board = leaderboard.of_topic(topic)
    assert [row.rank for row in board.rows] == [row.rank_low for row in board.rows] == [1, 2, 3]
    assert [len(row.better_than) for row in board.rows] == [2, 1, 0]
    assert all(one.significant for one in board.differences)
    Fit.objects.filter(pk=fit.pk).update(differences={})
    board = leaderboard.of_topic(topic)
    assert [(row.rank_low, row.rank_high) for row in board.rows] == [(1, 3)] * 3


@pytest.mark.django_db
def test_a_board_of_more_than_two_hundred_systems_comes_in_pages_with_their_ranks(client: Client) -> None:
    study = study_of_one_topic(201)
    boards = leaderboard.of_study(study), leaderboard.of_topic(study.topics.get())
    for board in boards:
        assert len(board.rows) == 201
        assert board.differences == ()
        assert board.rows[0].rank_high < 201
    assert [(row.rank_low, row.rank_high) for row in boards[0].rows] == [
        (row.rank_low, row.rank_high) for row in boards[1].rows
    ]
    client.force_login(making.owner(study))
    for path in (
        reverse("leaderboard", args=[study.pk]),
        reverse("topic_leaderboard", args=[study.pk, study.topics.get().pk]),
    ):
        pages = [client.get(path, {"page": number}) for number in (1, 2)]
        assert [len(page.context["lines"]) for page in pages] == [200, 1]
        assert "&amp;page=2&amp;seen=" in pages[1].content.decode()


def test_places_won_and_lost_since_the_point_before_the_last_are_told_where_the_old_ones_are_impossible(
    db: None,
) -> None:
    before, now = CurvePoint(90, {"a": 0.3, "b": 0.2, "c": 0.1}), CurvePoint(100, {"a": 0.3, "b": 0.1, "c": 0.2})
    told = {"a": (1, 1), "c": (2, 2), "b": (3, 3)}
    curve = CurvePoint(10, {"a": 0.0, "b": 0.1, "c": 0.2}), before, now
    board = replace(board_of(), curve=curve, rows=rows_with(told))
    assert (board.moves, board.moved_since) == ({"b": -1, "c": 1}, 90)
    assert replace(board, curve=(now,)).moves == {}
    assert replace(board, rows=rows_with(told | {"c": (2, 3), "b": (2, 3)})).moves == {}
    assert replace(board, rows=rows_with(dict.fromkeys(told, (None, None)))).moves == {}


def rows_with(ranks: Mapping[str, tuple[int | None, int | None]]) -> tuple[LeaderboardRow, ...]:
    """Rows with these possible ranks, best first."""
    return tuple(
        LeaderboardRow(system, -float(place), None, None, None, place, *possible, 1)
        for place, (system, possible) in enumerate(ranks.items(), 1)
    )


@pytest.mark.django_db
def test_a_long_board_is_searched_by_name_and_keeps_its_ranks(client: Client) -> None:
    study = study_of_one_topic(21)
    client.force_login(making.owner(study))
    address = reverse("leaderboard", args=[study.pk])
    rows = client.get(address).context["board"].rows
    wanted = rows[7]

    page = client.get(address, {"name": wanted.system.upper()})

    assert [line["row"].rank for line in page.context["lines"]] == [wanted.rank]
    assert f"&amp;name={wanted.system.upper()}&amp;page=1" in page.content.decode().replace("%20", " ")
    assert "No system has this in its name." in client.get(address, {"name": "nobody"}).content.decode()


def outlook() -> Outlook:
    """That of 100 answers by ten annotators."""
    return Outlook("sentences", 100, 10, 0, None, 3, 2, Ground(10, 10.0, 0.0, "kind"), half=1.96)


def board_of(*intervals: tuple[float, float, float], judgments: int = 100) -> leaderboard.Board:
    """A board whose systems differ by (difference, low, high)."""
    pairs = (("a", "b", *interval, 0.09, False) for interval in intervals)
    nothing = leaderboard.of_study(making.study())
    rows = rows_with(dict.fromkeys("ab", (1, 2)))
    return replace(nothing, rows=rows, judgments=judgments, differences=tuple(Difference(*pair) for pair in pairs))


@pytest.mark.django_db
def test_an_undecided_board_says_how_many_judgments_its_clearest_difference_might_take() -> None:
    board = replace(board_of((1.1, -0.86, 3.06), (2.0, 0.04, 3.96)), outlook=outlook)
    assert board.answer.startswith("So far the answers do not tell these systems apart.")
    assert board.needed == needed(outlook(), 2.0, 2)
    assert board.needed is not None
    assert replace(board, outlook=lambda: replace(outlook(), now=19)).needed is None
    assert replace(board, outlook=lambda: None).needed is None
    doubtful = replace(board, differences=(Difference("a", "b", 9.0, 7.0, 11.0, 0.09, False),) * 2)
    assert doubtful.needed == needed(outlook(), z_of(0.09, 2, None), 2)  # few annotators: narrow, unsure
    decided = replace(board, differences=(Difference("a", "b", 1.0, 0.5, 1.5, 0.01, True),))
    assert ("do not tell" in decided.answer, decided.needed) == (False, None)
    assert board_of().needed is None


@pytest.mark.django_db
def test_a_board_says_who_leads_and_brackets_those_that_are_not_told_apart() -> None:
    names = "abcdef"
    apart = {"ac", "ad", "ae", "af", "be", "bf", "cf"}
    pairs = [Difference(a, b, 1.0, 0.1, 1.9, 0.04, a + b in apart) for a in names for b in names if a < b]
    better = {name: tuple(pair[1] for pair in sorted(apart) if pair[0] == name) for name in names}
    rows = tuple(replace(row, better_than=better[row.system]) for row in rows_with(dict.fromkeys(names, (1, 6))))
    board = replace(board_of(), rows=rows, differences=tuple(pairs), outlook=outlook)

    assert board.answer.startswith("a leads; b cannot be told from it. If the clearest difference")
    assert standing.brackets(rows, board.tests) == [
        ["begins", "", ""],
        ["ends", "begins", ""],
        ["begins", "continues", ""],
        ["continues", "ends", "begins"],
        ["ends", "", "continues"],
        ["", "", "ends"],
    ]
    alone = tuple(replace(own, significant=own.better == "a") for own in pairs)
    leader = (replace(rows[0], better_than=tuple("bcdef")), *(replace(row, better_than=()) for row in rows[1:]))
    assert replace(board, rows=leader, differences=alone).answer == "a leads all other systems."
    assert standing.verdict(leader[:2], alone, board.ground) == "a leads b."
    level = tuple(replace(own, significant=own.better == "b") for own in pairs)
    behind = (replace(rows[0], better_than=()), replace(rows[1], better_than=tuple("cdef")), *rows[2:])
    middle = replace(board, rows=behind, differences=level).answer
    assert middle.startswith(
        "b is better than c; of 15 pairs of systems 4 are told apart. a scores highest, but cannot"
    )
    assert replace(board, judgments=0).answer == ""


@pytest.mark.django_db
def test_people_stand_above_the_systems_and_are_not_ranked_with_them(client: Client) -> None:
    study = study_of_one_topic(4)
    first, *others = [row.system for row in leaderboard.of_study(study).rows]
    Summary.objects.filter(system__name=first).update(person=True)
    state(study)
    for board in leaderboard.of_study(study), leaderboard.of_topic(study.topics.get()):
        assert [row.system for row in board.human_written] == [first]
        assert [(row.rank, row.system) for row in board.rows] == list(enumerate(others, 1))
        assert board.rows[-1].rank_high == 3
        assert first not in board.answer
    client.force_login(making.owner(study))
    files = [client.get(reverse(f"leaderboard_{form}", args=[study.pk])).content.decode() for form in ("csv", "tex")]
    assert files[0].splitlines()[1].startswith(f",{first},")
    assert f"-- & {first} & " in files[1]
    Summary.objects.update(person=True)
    assert [row.system for row in leaderboard.of_study(study).rows] == [first, *others]


def test_brackets_join_every_two_that_are_not_told_apart_neighbours_or_not() -> None:
    names = "abc"
    pairs = [Difference(a, b, 1.0, 0.1, 1.9, 0.04, a + b == "ab") for a in names for b in names if a < b]
    rows = tuple(rows_with(dict.fromkeys(names, (1, 3))))
    assert standing.brackets(rows, pairs) == [["begins", ""], ["passes", "begins"], ["ends", "ends"]]
    assert standing.alike(rows, pairs) == {"a": ("c",), "b": ("c",), "c": ("a", "b")}
    apart = [replace(own, significant=True) for own in pairs]
    assert standing.brackets(rows, apart) == [[], [], []]


@pytest.mark.django_db
def test_the_table_shows_the_differences_to_a_system_that_one_chooses(client: Client) -> None:
    study = study_of_one_topic(4)
    client.force_login(making.owner(study))
    board = leaderboard.of_study(study)
    last = board.rows[-1].system
    page = client.get(reverse("leaderboard", args=[study.pk]), {"against": last})
    lines = {line["row"].system: line["own"] for line in page.context["lines"]}
    assert lines.pop(last) is None
    for own in board.differences:
        if own.worse == last:
            assert (lines[own.better].score, lines[own.better].low) == (own.difference, own.low)
    assert f"Difference to {last} (points)" in page.content.decode()
    assert client.get(reverse("leaderboard", args=[study.pk]), {"against": "nobody"}).status_code == 200
