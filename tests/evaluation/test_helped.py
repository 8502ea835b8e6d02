"""Win rates of people's answers with a machine judge's help: nothing without a judge, more with a good one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import preferendum as pf
from preferendum.fit import effects
from preferendum.fit.effects import Borrowed
from preferendum.scoring.helped import Alone, Helped, judge_fit
from preferendum.scoring.win_rate import Answers, items_of

SYSTEMS, TOPICS = 8, 30


def rows(alpha: np.ndarray, number: int, seed: int, **more: Any) -> list[dict[str, Any]]:
    """Answers drawn by the model, as a file has them."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        a, b = rng.choice(len(alpha), 2, replace=False)
        winner = "a" if rng.random() < expit(alpha[a] - alpha[b]) else "b"
        made.append({"topic": f"t{rng.integers(TOPICS)}", "a": f"s{a}", "b": f"s{b}", "winner": winner} | more)
    return made


def people(alpha: np.ndarray, number: int, seed: int) -> list[dict[str, Any]]:
    return [own for k in range(5) for own in rows(alpha, number // 5, seed + 100 * k, annotator=f"A{k}")]


ALPHA = np.linspace(-1.2, 1.2, SYSTEMS)
JUDGE = {"annotator": "gpt", "kind": "machine"}


def test_answers_of_a_machine_change_no_digit_of_people_alone():
    human = people(ALPHA, 200, 0)
    board = pf.rank(human + rows(ALPHA[::-1], 900, 1, **JUDGE))
    assert board.to_dicts() == pf.rank(human).to_dicts()


def test_people_alone_stand_under_the_helped_board_to_the_last_digit():
    human = people(ALPHA, 200, 0)
    board = pf.rank(human + rows(ALPHA, 900, 1, **JUDGE), helped_by="gpt")
    plain = pf.rank(human).tables[0]
    assert board.tables[1].rows == plain.rows
    assert {row["answers"] for row in board.to_dicts()} == {row["answers"] for row in pf.rank(human).to_dicts()}


def test_a_judge_that_orders_as_people_do_brings_win_rates_nearer_to_the_truth():
    truth = (expit(ALPHA[:, None] - ALPHA).sum(axis=1) - 0.5) / (SYSTEMS - 1)
    off = {"alone": 0.0, "helped": 0.0}
    for seed in range(6):
        board = pf.rank(people(ALPHA, 60, seed) + rows(1.5 * ALPHA, 2000, 50 + seed, **JUDGE), helped_by="gpt")
        for name, table in zip(("helped", "alone"), board.tables, strict=True):
            found = {row["system"]: row["win_rate"] for row in table.json()["rows"]}
            off[name] += sum((found[f"s{k}"] - truth[k]) ** 2 for k in range(SYSTEMS))
    assert off["helped"] < off["alone"] / 2


def test_a_judge_that_is_turned_round_helps_as_well_since_people_decide_its_sign():
    human = people(ALPHA, 400, 3)
    board = pf.rank(human + rows(-ALPHA, 2000, 4, **JUDGE), helped_by="gpt")
    assert board.to_dicts()[0]["system"] == "s7"
    assert board.to_dicts()[-1]["system"] == "s0"


def test_a_system_that_the_judge_favours_is_named_first():
    human = people(ALPHA, 1500, 5)
    board = pf.rank(human + rows(ALPHA + 3 * (np.arange(SYSTEMS) == 0), 4000, 6, **JUDGE), helped_by="gpt")
    assert "beyond the others: s0" in board.tables[0].note


def test_always_the_first_shown_says_nothing_and_people_stand_alone():
    human = people(ALPHA, 200, 7)
    lazy = [own | {"winner": "a"} for own in rows(ALPHA, 300, 8, **JUDGE)]
    both = lazy + [own | {"a": own["b"], "b": own["a"]} for own in lazy]
    board = pf.rank(human + both, helped_by="gpt")
    assert "for the machine all systems are equal" in board.tables[0].note
    assert board.to_dicts() == pf.rank(human).to_dicts()


@pytest.mark.parametrize(("alpha", "number", "why"), [(ALPHA, 5, "10 answers by people"), (ALPHA[:2], 50, "3 systems")])
def test_too_few_answers_or_systems_leave_people_alone_and_the_board_says_so(alpha, number, why):
    human = people(alpha, number, 9)
    board = pf.rank(human + rows(alpha, 300, 10, **JUDGE), helped_by="gpt")
    assert f"nothing is borrowed from gpt, that takes {why}" in board.tables[0].note
    assert board.to_dicts() == pf.rank(human).to_dicts()


def test_the_same_pair_in_the_same_order_is_one_answer_of_a_judge():
    human, own = people(ALPHA, 100, 11), rows(ALPHA, 300, 12, **JUDGE)
    again = [row | {"at": f"2026-01-01T00:00:{k % 60:02}Z"} for k, row in enumerate(own)]
    once, twice = (pf.rank(human + more, helped_by="gpt") for more in (own, own + again))
    assert once.to_dicts() == twice.to_dicts()


def test_two_judges_help_together_and_topics_without_names_do_too():
    human, first, second = people(ALPHA, 100, 13), rows(ALPHA, 900, 14, **JUDGE), rows(ALPHA, 900, 15, **JUDGE)
    second = [own | {"annotator": "llama"} for own in second]
    assert len(pf.rank(human + first + second, helped_by=["gpt", "llama"]).tables) == 2
    nameless = [{key: own[key] for key in own if key != "topic"} for own in human + first]
    assert len(pf.rank(nameless, helped_by="gpt").tables) == 2


def test_a_judge_that_is_not_there_is_refused_with_the_names_of_those_that_are():
    source = people(ALPHA, 20, 16) + rows(ALPHA, 20, 17, **JUDGE)
    with pytest.raises(pf.Refused, match="no judgment by the machine gtp; expected one of gpt"):
        pf.rank(source, helped_by="gtp")
    with pytest.raises(pf.Refused, match="A0"):
        pf.rank(source, helped_by="A0")
    with pytest.raises(ValueError, match="people's answers alone count"):
        pf.rank(source, helped_by="gpt", counted_kinds="all")
    with pytest.raises(ValueError, match="no judgment is about s99"):
        pf.rank(source, helped_by="gpt", by_maker=["s99"])


def drawn(seed: int) -> tuple[Answers, Answers]:
    rng = np.random.default_rng(seed)
    made = []
    for number in (200, 900):
        topic, first = rng.integers(TOPICS, size=number), rng.integers(SYSTEMS, size=number)
        second = (first + rng.integers(1, SYSTEMS, size=number)) % SYSTEMS
        won = (rng.random(number) < expit(ALPHA[first] - ALPHA[second])).astype(float)
        names = tuple(f"s{k}" for k in range(SYSTEMS)), tuple(f"t{k}" for k in range(TOPICS))
        made.append(Answers(*names, topic, first, second, won, np.ones(number), rng.integers(5, size=number)))
    return made[0], made[1]


@pytest.mark.parametrize("many", [effects.MANY, 2])
def test_the_fit_with_columns_is_that_of_brute_force(monkeypatch, many):
    monkeypatch.setattr(effects, "MANY", many)
    answers, machine = drawn(0)
    helped = Alone.of(answers).helped([judge_fit(machine)])
    assert isinstance(helped, Helped)
    items, variances = items_of(answers, np.arange(SYSTEMS))
    borrowed = helped.rates.effects.borrowed
    assert borrowed is not None
    tau = 0.3
    own = Borrowed(np.full(SYSTEMS, tau**2), borrowed.of_systems, borrowed.of_summaries, borrowed.between)
    fitted = effects.fit(items, variances, borrowed=own)
    m, z = borrowed.of_systems[:, 0] / 2, borrowed.of_summaries[items.topic, items.system, 0]
    # alpha, h and theta, as the formulas have them: Sherman and Morrison's inverse of tau^2 I + 4 m m'
    of_alpha = (np.identity(SYSTEMS) - np.outer(m, m) / (m @ m + tau**2 / 4)) / tau**2
    n = len(items)
    X = np.hstack([np.eye(SYSTEMS)[items.system], z[:, None], np.eye(n)])
    prior = np.zeros((SYSTEMS + 1 + n,) * 2)
    prior[:SYSTEMS, :SYSTEMS] = of_alpha
    prior[SYSTEMS, SYSTEMS] = 1.0
    prior[SYSTEMS + 1 :, SYSTEMS + 1 :] = np.eye(n) / variances.item
    score, curvature = items.pairs.scores(fitted.theta)
    mode = np.concatenate([fitted.alpha, fitted.coefficients[1:], fitted.deviations])
    assert np.abs(prior @ mode - X.T @ score).max() < 1e-6
    precision = prior + X.T @ items.pairs.laplacian(curvature).toarray() @ X
    assert fitted.covariance == pytest.approx(np.linalg.inv(precision)[:SYSTEMS, :SYSTEMS], abs=1e-9)
    log_det = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(prior)[1]
    evidence = items.pairs.log_likelihood(fitted.theta) - (mode @ prior @ mode + log_det) / 2
    assert fitted.log_evidence == pytest.approx(evidence, abs=1e-6)


def test_topics_add_up_and_every_bias_has_an_interval():
    answers, machine = drawn(1)
    helped = Alone.of(answers).helped([judge_fit(machine)])
    assert isinstance(helped, Helped)
    for _topic, scores in helped.rates.by_topic():
        assert np.nanmean(scores.score) == pytest.approx(0.5) or len(scores.score) < 2
        assert scores.errors.min(initial=1.0) > 0
    for own in helped.biases:
        assert own.low < own.value < own.high
        assert own.p > 0.01


def test_systems_and_topics_that_a_judge_alone_has_are_not_on_the_board():
    human = people(ALPHA, 100, 18)
    more = [own | {"topic": f"other{k % 9}"} for k, own in enumerate(rows(np.append(ALPHA, 0.3), 900, 19, **JUDGE))]
    board = pf.rank(human + more, helped_by="gpt")
    assert {own["system"] for own in board.to_dicts()} == {own["system"] for own in pf.rank(human).to_dicts()}
    assert board.tables[1].rows == pf.rank(human).tables[0].rows
