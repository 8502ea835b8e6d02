"""What answers say of two systems directly comes before what follows from others; few answers claim nothing."""

from __future__ import annotations

import pytest

from preferendum.metrics.names import WIN_RATE
from preferendum.results import Ground
from preferendum.results.scores import LeaderboardRow
from preferendum.show.analyses import score_map, two_systems
from preferendum.show.analyses.score_map import ScoredSummary, ScoreMap, SystemLine
from preferendum.show.analyses.two_systems import Direct, Lead, Systems, TopicLine, TwoSystems
from preferendum.show.shown import Figure

NOTHING = Direct()


def shown_of(*lines: TopicLine, score: str = WIN_RATE) -> two_systems.Shown:
    keyed = (1, "a"), (2, "b")
    lead = Lead(0.07, -0.05, 0.19, 0.3, False)
    two = TwoSystems(*keyed, score, lead, None, Ground(), None, None, False, False, lines)
    return two_systems.show(Systems(keyed, lambda _first, _second: two), {})


def line(name: str, difference: float, judgments: int = 9, direct: Direct = NOTHING) -> TopicLine:
    return TopicLine(
        (1, name), name, difference, 0.0, Lead(difference, difference - 0.1, difference + 0.1), judgments, direct
    )


def test_answers_about_the_two_come_first() -> None:
    verdict = shown_of(line("T", 0.1, direct=Direct(3, 1, 2)), line("U", 0.1, direct=Direct(1))).verdict
    assert verdict.startswith("7 answers compare them directly: 4 for a, 1 for b, 2 for neither. By all answers, ")


def test_a_difference_of_two_that_nobody_compared_is_said_to_be_through_others() -> None:
    verdict = shown_of(line("T", 0.1, judgments=0)).verdict
    assert verdict.startswith(
        "No answer compares these two directly. Through others: the win rates of a and b differ by"
    )


def test_shrunken_win_rates_of_topics_are_no_results_of_topics() -> None:
    shown = shown_of(line("T", 0.1, direct=Direct(4, 1)))
    assert not [part for part in shown.parts if isinstance(part, Figure)]
    (table,) = shown.tables
    assert [column.label for column in table.read] == ["Topic", "a", "b", "no preference"]
    assert table.texts() == [["T", "4", "1", "0"]]


def test_a_difference_of_nothing_is_a_tie_and_few_judgments_claim_nothing() -> None:
    lines = line("T", 0.2), line("U", -0.2), line("V", 0.0001), line("W", 0.3, judgments=4)
    shown = shown_of(*lines, score="importance")
    assert "of 3 topics with five judgments or more, the first scores higher in 1, the second in 1, neither in 1" in (
        shown.verdict
    )
    (table,) = shown.tables
    assert [table.rows[k][0] for k in table.thin] == ["W"]


@pytest.mark.parametrize(("other", "leads"), [(0.3, 1), (0.5, 0), (0.5001, 0)])
def test_a_tie_is_no_lead_by_topic(other: float, leads: int) -> None:
    rows = [LeaderboardRow(name, 0.1, None, 0.0, 0.2, 1, 1, 2, 1) for name in "ab"]
    cells = ScoredSummary(1, 9, 0.5, 0.4, 0.6), ScoredSummary(2, 9, other, 0.4, 0.6)
    lines = tuple(SystemLine(1, row, (cell,)) for row, cell in zip(rows, cells, strict=True))
    verdict = score_map.show(ScoreMap("recommended", "importance", "", ((1, "T", "T"),), lines), {}).verdict
    assert f"in {leads} of 1 topic with" in verdict


def test_a_page_has_so_many_topics_and_the_files_all() -> None:
    topics = tuple((k, f"T{k}", f"T{k}") for k in range(45))
    row = LeaderboardRow("a", 0.1, None, 0.0, 0.2, 1, 1, 1, 45)
    cells = tuple(ScoredSummary(k, 3, 0.1) for k in range(45))
    scores = ScoreMap("recommended", "importance", "", topics, (SystemLine(1, row, cells),))
    shown = score_map.show(scores, {"topics": "40"})
    assert [label for _value, label in shown.choices[0].options] == ["1–20", "21–40", "41–45"]
    assert [name for _key, name, _title in shown.detail.topics] == ["T40", "T41", "T42", "T43", "T44"]
    assert len(shown.detail.lines[0].summaries) == 5
    assert len(shown.tables[0].columns) == 47
    assert shown.verdict == "a has the highest mean score, 10 points [0, 20].", "three answers claim nothing of a topic"
