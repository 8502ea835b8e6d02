"""Scores whose differences words make, or whose errors are not calibrated: nothing calls systems different by them."""

from __future__ import annotations

import csv
import random
import re

import pytest
from django.test import Client
from django.urls import reverse

from annotate import imports
from annotate.models import Study
from annotate.reports import leaderboard
from evaluation import records
from preferendum import formats
from preferendum.scoring.ranking import Comparison
from preferendum.show.points import why_untested
from tests.annotate import making, scored

pytestmark = pytest.mark.django_db

TOPICS, SENTENCES, SYSTEMS = 4, 8, 4

#: What only a test can show, or promise.
VERDICTS = re.compile(r"Not told apart|ignificant|[>&] ?Ranks\b|remain possible|every look|might show|tell these")


def judged_by_a_coin(score: str, seed: int) -> Study:
    """Systems that take one sentence, two, three and so on."""
    rng = random.Random(seed)
    study = making.study(title="Coin", score=score, stop_rule=True)
    topics, judged = [], []
    for k in range(TOPICS):
        sentences = [" ".join(f"w{rng.randrange(60)}" for _word in range(8)) for _sentence in range(SENTENCES)]
        own = tuple(formats.Summary(f"S{n}", " ".join(sentences[: n + 1])) for n in range(SYSTEMS))
        topics.append(formats.Topic(f"T{k}", documents=(formats.Text("d", sentences=tuple(sentences)),), summaries=own))
        judged += [(f"T{k}", f"d:{a}", f"d:{b}", rng.choice("ab")) for a in range(SENTENCES) for b in range(a)]
    imports.store(study, formats.Bundle(topics=tuple(topics)))
    scored.judge(study, *judged)
    assert scored.tasks.catch_up(study.pk) == {}
    return study


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("score", "scored_by"), [("combined", "recommended"), ("coverage", "recommended"), ("importance", "published")]
)
def test_a_coin_tells_no_systems_apart_by_combined_or_as_published(
    client: Client, score: str, scored_by: str, seed: int
) -> None:
    study = judged_by_a_coin(score, seed)
    client.force_login(making.owner(study))
    if score == "combined":  # with tests, a coin would tell systems apart
        tested = Comparison(list(records.standings_by_topic(study.pk).values())).differences()
        assert any(difference.significant for difference in tested)
    asked = {"scored_by": scored_by}
    boards = leaderboard.of_study(study, scored_by), leaderboard.of_topic(scored.topic(study, "T0"), scored_by)
    for board in boards:
        assert len(board.rows) == SYSTEMS
        assert all(row.rank_low is row.rank_high is None and not row.better_than for row in board.rows)
        assert board.differences
        assert all(own.p is own.significant is own.planned_share is None for own in board.differences)
        assert not board.answer
    why = why_untested("published" if scored_by == "published" else score)
    for name in ("leaderboard", "leaderboard_tex"):
        text = client.get(reverse(name, args=[study.pk]), asked).content.decode()
        assert why in text
        assert not VERDICTS.search(text), VERDICTS.search(text)
    by_api = client.get(f"/api/v1/studies/{study.pk}/leaderboard/", asked).json()["systems"]
    assert all(row["rank_low"] is row["rank_high"] is None for row in by_api)
    in_file = client.get(reverse("leaderboard_csv", args=[study.pk]), asked).content.decode("utf-8-sig")
    assert {(row["rank_low"], row["rank_high"]) for row in csv.DictReader(in_file.splitlines())} == {("", "")}
    two = client.get(reverse("analysis", args=[study.pk, "two-systems"]), asked).content.decode()
    assert why in two
    assert not VERDICTS.search(two), VERDICTS.search(two)
    study.refresh_from_db()
    assert study.state == Study.State.OPEN


@pytest.mark.parametrize("scored_by", ["recommended", "published"])
def test_only_scores_with_calibrated_errors_have_intervals(client: Client, scored_by: str) -> None:
    study = judged_by_a_coin("combined", 0)
    client.force_login(making.owner(study))
    has_intervals = scored_by == "recommended"
    board = leaderboard.of_study(study, scored_by)
    assert {own.low is not None for own in (*board.rows, *board.differences)} == {has_intervals}
    system = study.systems.get(name="S1")
    addresses = [
        *(reverse(name, args=[study.pk]) for name in ("leaderboard", "leaderboard_tex", "leaderboard_svg")),
        reverse("system", args=[study.pk, system.pk]),
        reverse("analysis", args=[study.pk, "two-systems"]),
    ]
    for address in addresses:
        text = client.get(address, {"scored_by": scored_by}).content.decode()
        assert ("95% interval" in text.replace("\\%", "%")) == has_intervals, address
    best = client.get(reverse("analysis", args=[study.pk, "scores-by-topic"]), {"scored_by": scored_by})
    assert ("–, and in" in best.content.decode()) is False
    assert ("], and in" in best.content.decode()) == has_intervals


def test_importance_is_tested(client: Client) -> None:
    study = judged_by_a_coin("importance", 0)
    client.force_login(making.owner(study))
    assert all(own.p is not None for own in leaderboard.of_study(study).differences)
    assert "Not told apart" in client.get(reverse("leaderboard", args=[study.pk])).content.decode()
