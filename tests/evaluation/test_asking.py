"""Which pairs tell systems apart, and that answers about them count as they should."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from preferendum.evidence import Judgments
from preferendum.fit import kernel, preference_matrix
from preferendum.fit.chances import Chances, chances, directions, fitted_chances
from preferendum.scoring import asking

UTILITIES = np.array([1.5, 0.5, -0.3, -1.7, 0.9, 0.1])
#: Two systems, which differ in the first two sentences most.
WEIGHTS = np.array([[1.0, -0.9, 0, 0, -0.2, 0.1], [-0.5, 0.5, 0.1, 0, 0, -0.1]])
TELLING = asking.Telling(WEIGHTS, ("A", "B"))
EVEN = asking.Telling(np.zeros((2, 6)), ("A", "B"))


def telling_of(weights: np.ndarray) -> asking.Telling:
    centred = weights - weights.mean(axis=1, keepdims=True)
    return asking.Telling(centred, tuple(f"S{row:02}" for row in range(len(weights))))


def judged(queue: asking.Queue, rng: np.random.Generator, utilities: np.ndarray = UTILITIES) -> Judgments:
    first, second = queue.pairs.T
    won = (rng.random(len(first)) < expit(utilities[first] - utilities[second])).astype(float)
    nobody, drawn_for = np.zeros(len(first), dtype=np.int64), np.fromiter([queue.drawn_for] * len(first), np.object_)
    return Judgments(first, second, won, np.ones(len(first)), nobody, queue.design, drawn_for=drawn_for)


def estimated(judgments: Judgments, believed: np.ndarray, telling: asking.Telling = EVEN) -> Chances:
    pairs = kernel.Pairs.of(preference_matrix.wins(judgments, len(believed)))
    return chances(believed, pairs, np.zeros(len(pairs)), judgments, telling.likelihood_for)


def differences(telling: asking.Telling, count: int, random_share: float, utilities: np.ndarray) -> np.ndarray:
    """(300, 2): of two systems by a fit that knows nothing, and how far off they say that they are."""
    rng, (first, second) = np.random.default_rng(5), telling.importance
    found = []
    for seed in range(300):
        queue = asking.telling_pairs(telling, count, random_share, seed)
        one = estimated(judged(queue, rng, utilities), np.zeros(len(utilities)), telling)
        apart = first - second
        found.append((apart @ one.values, np.sqrt(one.covariance(apart[None])[0, 0])))
    return np.array(found)


def test_the_pair_in_which_systems_differ_most_is_the_likeliest() -> None:
    likelihood = TELLING.likelihood

    assert likelihood is not None
    assert likelihood == pytest.approx(likelihood.T)
    assert likelihood.sum() == pytest.approx(30, rel=1e-6)
    assert divmod(int(likelihood.argmax()), 6) == (0, 1)
    assert likelihood[2, 3] < likelihood[0, 3] < likelihood[0, 1]


def test_where_systems_do_not_differ_all_pairs_are_equally_likely() -> None:
    queue = asking.telling_pairs(asking.Telling(np.tile(WEIGHTS[:1], (3, 1)), ("A", "B", "C")), 10, 0.2, 3)

    assert queue.is_random.all()
    assert queue.design.tolist() == [1.0] * 10


def test_pairs_are_as_likely_as_their_weights_say() -> None:
    rng, count = np.random.default_rng(1), 4000
    candidates, lengths = np.array([[0, 1], [0, 2], [1, 2], [2, 3]]), np.array([6.0, 3.0, 1.0, 0.0])

    queues = [asking.draw(candidates, lengths, 1, 0.2, rng) for _ in range(count)]

    drawn = Counter(tuple(queue.pairs[0].tolist()) for queue in queues)
    likely = 0.05 + 0.08 * lengths
    assert [drawn[0, 1], drawn[0, 2], drawn[1, 2], drawn[2, 3]] == pytest.approx(count * likely, rel=0.15)
    for queue in queues:
        place = candidates.tolist().index(queue.pairs[0].tolist())
        assert queue.design[0] == pytest.approx(1 / (4 * likely[place]))
    assert np.mean([queue.is_random[0] for queue in queues]) == pytest.approx(0.2, abs=0.03)


def test_a_topic_is_told_once_what_is_left_tells_next_to_nothing_of_systems() -> None:
    apart = WEIGHTS[0] - WEIGHTS[1]
    order = sorted(((i, j) for j in range(6) for i in range(j)), key=lambda pair: -abs(apart[pair[0]] - apart[pair[1]]))
    is_told = [asking.telling_pairs(TELLING, 3, 0.2, 7, order[:taken]).is_told for taken in range(16)]
    assert is_told == [False] * 9 + [True] * 7
    assert asking.telling_pairs(EVEN, 3, 0.2, 7).is_told


def test_a_queue_repeats_no_pair_and_ends_where_none_is_left() -> None:
    queue = asking.telling_pairs(TELLING, 64, 0.2, 7, {(0, 1), (2, 3)})

    pairs = set(map(tuple, queue.pairs.tolist()))
    assert len(pairs) == len(queue.pairs) == 13
    assert not pairs & {(0, 1), (2, 3)}
    assert len(asking.telling_pairs(TELLING, 64, 0.2, 7, {(i, j) for j in range(6) for i in range(j)}).pairs) == 0


@pytest.mark.parametrize("believed", [np.zeros(6), UTILITIES, -UTILITIES])
def test_values_are_right_on_average_however_wrong_the_fit_where_nothing_else_is_believed(believed: np.ndarray) -> None:
    rng, studies = np.random.default_rng(2), 600
    queues = [asking.telling_pairs(TELLING, 5, 0.2, seed) for seed in range(studies)]
    found = [estimated(judged(queue, rng), believed) for queue in queues]

    scores = np.array([WEIGHTS[0] @ one.values for one in found])
    off = np.sqrt(np.mean([one.covariance(WEIGHTS)[0, 0] for one in found]))
    assert scores.mean() == pytest.approx(WEIGHTS[0] @ fitted_chances(UTILITIES), abs=4 * off / np.sqrt(studies))
    assert 0.6 * off < scores.std() < off


def test_a_coin_is_found_out_by_a_fit_that_believes_otherwise() -> None:
    """The fit errs about sentences, as one does that a few answers led astray, and not about pairs."""
    rng, studies = np.random.default_rng(6), 600
    queues = [asking.telling_pairs(TELLING, 5, 0.2, seed) for seed in range(studies)]
    found = [estimated(judged(queue, rng, np.zeros(6)), UTILITIES / 5, TELLING) for queue in queues]

    scores = np.array([WEIGHTS[0] @ one.values for one in found])
    off = np.sqrt(np.mean([one.covariance(WEIGHTS)[0, 0] for one in found]))
    assert scores.mean() == pytest.approx(0.0, abs=4 * off / np.sqrt(studies))
    assert 0.6 * off < scores.std() < 1.1 * off


def test_once_every_pair_is_judged_it_does_not_matter_how_likely_it_was() -> None:
    every = judged(asking.telling_pairs(TELLING, 15, 0.2, 3), np.random.default_rng(3))
    even = Judgments(every.a, every.b, every.outcome, every.weight, every.annotator)

    for telling in (EVEN, TELLING):
        assert estimated(every, UTILITIES, telling).values == pytest.approx(estimated(even, UTILITIES).values)


def test_where_many_pairs_are_judged_the_likeliest_count_for_no_more_than_they_are() -> None:
    """Of a few sentences nearly all pairs are judged in the end, and telling ones cannot be judged more often."""
    telling = telling_of(np.random.default_rng(4).standard_t(3, size=(2, 12)))
    most, all_random = (differences(telling, 50, share, np.zeros(12)) for share in (0.2, 1.0))

    assert np.mean(most[:, 1] ** 2) < 1.15 * np.mean(all_random[:, 1] ** 2)


def test_random_pairs_among_telling_ones_count_as_if_all_were_random_where_nearly_all_are() -> None:
    nearly = judged(asking.telling_pairs(TELLING, 12, 1.0, 3), np.random.default_rng(3))
    nearly.design[0] = 1 + 1e-9
    even = Judgments(nearly.a, nearly.b, nearly.outcome, nearly.weight, nearly.annotator)

    assert estimated(nearly, UTILITIES).values == pytest.approx(estimated(even, UTILITIES).values, abs=1e-6)
    assert estimated(nearly, UTILITIES, TELLING).values == pytest.approx(estimated(even, UTILITIES).values, abs=0.2)


def test_telling_pairs_need_half_the_judgments_that_random_ones_need_to_tell_two_systems_apart() -> None:
    telling = telling_of(np.random.default_rng(4).standard_t(3, size=(2, 30)))
    half, all_random = (differences(telling, *way, np.zeros(30)) for way in ((60, 0.2), (120, 1.0)))

    assert half[:, 0].std() < all_random[:, 0].std()
    for found in (half, all_random):
        assert found[:, 0].std() == pytest.approx(np.sqrt(np.mean(found[:, 1] ** 2)), rel=0.15)


def test_systems_that_come_later_are_known_nearly_as_well_as_by_random_pairs() -> None:
    """If answers count by the systems that their pairs were drawn for, and not by those that are there now."""
    every = telling_of(np.random.default_rng(8).standard_t(3, size=(12, 30)))
    before = asking.Telling(every.importance[::2], every.systems[::2])
    later = every.importance[1::2]
    contrasts = later[:-1] - later[1:]

    def variance(queue: asking.Queue) -> float:
        one = estimated(judged(queue, np.random.default_rng(9), np.zeros(30)), np.zeros(30), every)
        return float(np.trace(one.covariance(contrasts)))

    queues = [asking.telling_pairs(before, 60, 0.2, seed) for seed in range(40)]
    known = np.mean([variance(queue) for queue in queues])
    mistaken = np.mean([variance(replace(queue, drawn_for=None)) for queue in queues])
    random = np.mean([variance(asking.telling_pairs(before, 60, 1.0, seed)) for seed in range(40)])

    assert known < 1.4 * random
    assert mistaken > 3 * random


def test_it_is_known_how_far_each_answer_moves_a_sum() -> None:
    judgments = judged(asking.telling_pairs(TELLING, 7, 0.2, 3), np.random.default_rng(3))
    pairs = kernel.Pairs.of(preference_matrix.wins(judgments, 6))
    far = directions(judgments, pairs, WEIGHTS, TELLING.likelihood_for)
    before = WEIGHTS @ estimated(judgments, UTILITIES, TELLING).values
    for number in range(7):
        outcome = judgments.outcome.copy()
        outcome[number] = 1 - outcome[number]
        after = WEIGHTS @ estimated(replace(judgments, outcome=outcome), UTILITIES, TELLING).values
        said = (outcome - judgments.outcome)[number]
        assert after - before == pytest.approx(6 / (2 * 7) * said * far[number])
