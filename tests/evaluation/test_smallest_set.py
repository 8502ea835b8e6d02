"""The smallest set of judgments that the first place hangs on, beside all sets there are."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.archive.smallest_set import firsts, study
from preferendum.evidence import Settings
from preferendum.scoring.smallest_set import JudgedTopic, smallest_set

JUDGMENTS = 9


def made(seed: int, settings: Settings | None = None) -> list[JudgedTopic]:
    """Two topics of seven sentences and three summaries, whose judgments go by 0, 1, 2 ..."""
    return study(2, 7, JUDGMENTS, 3, seed, settings)


@pytest.mark.parametrize("seed", range(2))
def test_without_the_set_another_system_is_first_and_no_smaller_set_does_it(seed: int) -> None:
    topics = made(seed)
    first = firsts(topics)  # which system whole fits put first without some judgments
    smallest = smallest_set(topics)
    assert smallest is not None
    assert (smallest.first, smallest.among) == (first(()), 2 * JUDGMENTS)
    assert first(smallest.judgments) == smallest.instead != smallest.first
    size = min(len(smallest.judgments) - 1, 2)
    assert all(first(some) == smallest.first for some in combinations(range(2 * JUDGMENTS), size))


def test_topics_are_left_as_they_were() -> None:
    topics = made(0)
    before = [topic.scores for topic in topics]
    smallest_set(topics)
    for topic, scores in zip(topics, before, strict=True):
        assert topic.kept.all()
        np.testing.assert_array_equal(topic.scores, scores)


def test_a_topic_without_summaries_is_passed_over() -> None:
    topics = made(0)
    none = replace(topics[0].evidence, summaries=())
    smallest = smallest_set([*topics, JudgedTopic(none, topics[0].settings, topics[0].similarity, range(JUDGMENTS))])
    assert smallest is not None
    assert smallest.first == firsts(topics)(())


@pytest.mark.parametrize(("topics", "judgments", "seed"), [(1, 4, 8), (2, 6, 5)])
def test_the_search_ends_in_a_study_of_few_judgments(topics: int, judgments: int, seed: int) -> None:
    few = study(topics, 7, judgments, 3, seed)
    assert smallest_set(few) is None
    first = firsts(few)
    assert all(first((key,)) == first(()) for key in range(topics * judgments))


def test_people_have_no_first_place_to_lose() -> None:
    topics = made(0)
    smallest = smallest_set(topics)
    assert smallest is not None
    others = smallest_set(topics, {smallest.first})
    assert others is not None
    assert smallest.first not in (others.first, others.instead)


def test_a_score_that_judgments_cannot_change_hangs_on_none_of_them() -> None:
    assert smallest_set(made(0, Settings(score="coverage"))) is None


def test_where_two_systems_share_the_first_place_none_can_take_it() -> None:
    topic = made(0)[0]
    summary = topic.evidence.summaries[2]
    alike = replace(topic.evidence, summaries=(summary, replace(summary, system="its copy")))
    assert smallest_set([JudgedTopic(alike, topic.settings, topic.similarity, topic.keys)]) is None
