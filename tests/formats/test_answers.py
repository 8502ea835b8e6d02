"""The table of answers: what a row must be, and that nobody else spells one."""

from __future__ import annotations

import ast

import pytest

from annotate.models import Judgment
from preferendum.formats.answers import ANSWERS, LETTERS, PREFERENCES, SHARES, SIDES, UNDONE, other_side, share_of_first
from tests.test_house import modules, tree


def test_no_two_answers_share_a_key_a_letter_or_a_key_of_the_keyboard() -> None:
    pressed = [cap for answer in ANSWERS.values() for cap in answer.keyboard]
    assert len(set(pressed)) == len(pressed)
    assert len(LETTERS) == len(ANSWERS)
    assert UNDONE not in ANSWERS


def test_an_answer_prefers_one_side_whole_or_none() -> None:
    assert [SHARES[side] for side in SIDES] == [1.0, 0.0]
    assert {answer.share for answer in ANSWERS.values() if answer.key not in PREFERENCES} == {0.5}
    assert [other_side(side) for side in SIDES] == list(reversed(SIDES))


@pytest.mark.parametrize("swapped", [False, True])
def test_the_first_sentence_of_a_pair_wins_where_it_was_shown(swapped: bool) -> None:
    first, second = reversed(SIDES) if swapped else SIDES
    assert (share_of_first(first, swapped), share_of_first(second, swapped)) == (1.0, 0.0)
    assert {share_of_first(answer, swapped) for answer in set(ANSWERS) - set(SIDES)} == {0.5}


def test_the_column_has_room_for_every_answer() -> None:
    longest = Judgment._meta.get_field("answer").max_length or 0
    assert max(map(len, (*ANSWERS, UNDONE))) <= longest


def test_an_answer_is_spelled_in_its_table_alone() -> None:
    spelled = {
        name
        for name, path in modules()
        if name.startswith(("annotate", "evaluation", "preferendum"))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and node.value in set(ANSWERS) - set(SIDES)
    }
    assert spelled == {"preferendum.formats.answers"}
