"""No sentence says more than the data show: with coins, with two judgments, with half of the topics."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

import pytest

from annotate import imports
from annotate.access import abilities
from annotate.models import Study
from annotate.reports import analyses, leaderboard, methods_section, study_facts
from annotate.reports.analyses import Opened
from preferendum import formats
from preferendum.metrics.names import PREFERENCES
from preferendum.results import AgreementReport, Curves, DocumentSetsReport
from tests.annotate import making, scored

pytestmark = pytest.mark.django_db

TOPICS, SENTENCES, SYSTEMS = 8, 8, 6
#: What is said only where a test has shown it.
ASSERTED = re.compile(
    r"agrees (better|less well)|\b[1-9]\d* of \d+ other metrics? differ|significant at|\bleads\b|are equal"
)

Judged = tuple[str, str, str, str]


def pairs() -> Iterator[tuple[int, int]]:
    return ((a, b) for a in range(SENTENCES) for b in range(a))


def coins(rng: random.Random) -> list[Judged]:
    return [(f"T{k}", f"d:{a}", f"d:{b}", rng.choice("ab")) for k in range(TOPICS) for a, b in pairs()]


def two(_rng: random.Random) -> list[Judged]:
    return [("T0", "d:0", "d:1", "a"), ("T1", "d:0", "d:1", "a")]


def half(_rng: random.Random) -> list[Judged]:
    """Everybody prefers the later sentence, and people's scores follow that."""
    return [(f"T{k}", f"d:{a}", f"d:{b}", "a") for k in range(TOPICS // 2) for a, b in pairs()]


def graded_by(judged: Callable[[random.Random], list[Judged]]) -> Study:
    """Systems that each take a sentence, scored at random or, where annotators are not coins, for its place."""
    rng = random.Random(7)
    study = making.study(title="Noise", metric_names="rouge-1, rouge-2, js")
    topics = []
    for k in range(TOPICS):
        sentences = tuple(
            " ".join(f"w{rng.randrange(40)}" for _word in range(6)) + f" own{k}x{s}" for s in range(SENTENCES)
        )
        human = [rng.gauss(0, 1) if judged is coins else float(system) for system in range(SYSTEMS)]
        summaries = (
            formats.Summary(f"S{system}", sentences[system + 1], human={"overall": human[system]})
            for system in range(SYSTEMS)
        )
        reference = formats.Text("A", rng.choice(sentences))
        topics.append(
            formats.Topic(
                f"T{k}",
                documents=(formats.Text("d", sentences=sentences),),
                references=(reference,),
                summaries=tuple(summaries),
            )
        )
    imports.store(study, formats.Bundle(topics=tuple(topics)))
    scored.judge(study, *judged(rng))
    assert scored.tasks.catch_up(study.pk) == {}
    scored.score_with_metrics(study)
    scored.tasks.report_annotators(study.pk)
    for topic in study.topics.all():
        scored.tasks.examine_topic(topic.pk)
    scored.tasks.examine_study(study.pk)
    return study


def said(opened: Opened) -> str:
    """All that an analysis says in words: verdict, notes, and cells of its tables."""
    shown = opened.shown
    assert shown is not None
    cells = [cell for table in shown.tables for row in table.texts() for cell in row]
    return "\n".join([shown.verdict, *shown.notes, *opened.stored.notes, *cells])


@pytest.mark.parametrize("judged", [coins, two, half])
def test_nothing_says_more_than_the_data_show(judged: Callable[[random.Random], list[Judged]]) -> None:
    study = graded_by(judged)
    shown = [one for one in analyses.all_opened(study, abilities(making.owner(study), study)) if one.shown]
    assert {"metric-agreement", "convergence"} <= {one.analysis.name for one in shown}
    board = leaderboard.of_study(study)
    tested = board.answer if judged is half else ""
    for opened in shown:
        assert not ASSERTED.search(said(opened).replace(tested, "")), (opened.analysis.name, said(opened))
        if isinstance(opened.record, AgreementReport):
            (dimension,) = opened.record.dimensions
            assert all(own.agreement.holm is None or own.agreement.holm > 0.05 for own in dimension.differences)
            assert (dimension.basis.is_early, "Too early" in said(opened)) == (judged is not coins,) * 2
            correlated = next(own for own in opened.shown.tables if own.name == "correlation-summary").json()["rows"]
            shares = {row["metric"]: row["pearson_share"] for row in correlated}
            assert (shares[f"{PREFERENCES}importance"] is None) == (judged is not coins)
            assert shares["js"] is not None
        if isinstance(opened.record, DocumentSetsReport):
            of_preferences = [own for own in opened.record.scorers if own.by.startswith(PREFERENCES)]
            assert [own.kruskal is None for own in of_preferences] == [judged is not coins] * len(of_preferences)
        if isinstance(opened.record, Curves):
            assert all(own.judgments is None for own in opened.record.kept.curves.passings)
    text = methods_section.plain(study_facts.of_study(study))
    assert ("compared with the scores" in text) == (judged is coins)
    assert board.ground.words in text
    assert "hold for them alone" in board.ground.words
    if judged is not half:
        assert not any(difference.significant for difference in board.differences)
        assert {(row.rank_low, row.rank_high) for row in board.rows} == {(1, SYSTEMS)}
    assert board.ground.is_early == (judged is two)
