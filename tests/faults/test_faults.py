"""A few trials of the fast faults on every run, and that the checker sees; `manage.py faults` tries all, and often."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tests.faults.command import table
from tests.faults.harness import checker
from tests.faults.harness.product import Product
from tests.faults.harness.trials import BOTH, Outcome, Trial, attempt, load_registry

REGISTRY = load_registry()
FAST = ("F01", "F06")


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    """An installation of its own, on what the tests run on."""
    on = "services" if os.environ.get("DATABASE_URL", "").startswith("postgres") else "sqlite"
    with Product(on=on) as made:
        yield made


@pytest.fixture(scope="module")
def judged(product: Product) -> Iterator[Trial]:
    """A trial in which nothing went wrong."""
    trial = Trial(product, random.Random(7), "judged")
    with trial.load():
        pass
    assert trial.verdict() == []
    yield trial
    trial.journal.close()


@pytest.mark.parametrize("name", FAST)
def test_no_invariant_breaks(name: str, product: Product) -> None:
    outcome = attempt(REGISTRY[name], product, 1, seed=20180601)
    assert outcome.broken == []
    assert outcome.seen["confirmed"] >= 24


IN_STUDY = "WHERE topic_id IN (SELECT id FROM annotate_topic WHERE study_id = ?)"
OF_FITS = f"WHERE fit_id IN (SELECT id FROM annotate_fit {IN_STUDY})"
OF_RANKING = "WHERE ranking_id IN (SELECT id FROM annotate_ranking WHERE study_id = ?)"


@pytest.mark.parametrize(
    ("invariant", "table", "column", "where", "by"),
    [
        ("I4", "tally", "taken", IN_STUDY, -1),
        ("I4", "pair", "taken", IN_STUDY, -1),
        ("I6", "tally", "data_version", IN_STUDY, 1),
        ("I6", "utility", "utility", OF_FITS, 0.001),
        ("I6", "score", "score", OF_FITS, 0.001),
        ("I6", "systemscore", "rank", OF_RANKING, 1),
        ("I8", "annotator", "judged", "WHERE study_id = ?", 1),
    ],
)
def test_the_checker_sees_rows_that_are_wrong(
    invariant: str, table: str, column: str, where: str, by: float, judged: Trial
) -> None:
    def shift(step: float) -> None:
        said = f"UPDATE annotate_{table} SET {column} = {column} + ({step}) {where}"
        judged.product.tables.write(said, judged.given["study"])

    shift(by)
    try:
        found = checker.broken(judged.facts())
    finally:
        shift(-by)
    assert invariant in {complaint.partition(":")[0] for complaint in found}


def test_the_checker_sees_what_is_lost_doubled_and_made_up(judged: Trial) -> None:
    facts = judged.facts()
    mine = next(entry for entry in judged.journal.of("acked") if entry["said"])
    first = facts.by_key[mine["key"], mine["revision"]][0]
    facts.by_key[mine["key"], mine["revision"]] = []
    assert any("is stored 0 times" in one for one in checker.acknowledged(facts))
    facts.by_key[mine["key"], mine["revision"]] = [first, first]
    assert any("is stored 2 times" in one for one in checker.one_current(facts))
    facts.by_key[mine["key"], mine["revision"]] = [first | {"answer": "tie"}]
    assert any("and is stored as tie" in one for one in checker.acknowledged(facts))
    assert any("was never sent so" in one for one in checker.sent(facts))


def test_the_checker_sees_versions_that_go_back_errors_and_leaks(judged: Trial) -> None:
    facts = judged.facts()
    facts.observed = [(1, 5, 4), (1, 5, 3)]
    assert list(checker.never_back(facts))
    facts.log = 'Traceback (most recent call last):\n  File "x"\nValueError: no\n'
    assert list(checker.no_trouble(facts)) == ["a traceback in the logs: ValueError: no"]
    facts.log = "canary-system-1"
    assert list(checker.secrets(facts))


def test_every_fault_says_where_it_is_tried_and_how_often() -> None:
    for one in REGISTRY.values():
        assert set(one.on) <= set(BOTH)
        assert one.release > 0
        assert one.title


def test_a_report_becomes_a_table() -> None:
    told = table(
        [
            Outcome("F01", "kill", "sqlite", 1, 1, 2.0, {"confirmed": 24, "ms until quiet": 900}, [], 4),
            Outcome("F01", "kill", "services", 1, 1, 2.0, {"confirmed": 25, "ms until quiet": 1500}, ["I4: x"], 4),
        ]
    )
    assert "| F01 kill | 8 (4 + 4) | 2 | confirmed 49; until quiet 1.5 s (longest 1.5 s) | I4 in 1 |" in told
