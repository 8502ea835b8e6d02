"""What the full PrefScore learns from and how its input is cut; none of it needs torch."""

from dataclasses import replace

import numpy as np
import pytest

from preferendum.evidence import Evidence, Judgments
from preferendum.methods.learned import command as prefscore
from preferendum.methods.learned.presets import PAPER, RELEASED, cut_by_turns, documents, preferred
from tests.evaluation.conftest import Run

TOPIC = Evidence(
    "t",
    ("d1:0", "d1:1", "d2:0"),
    ("Quakes hit\nChile.", "Aid came.", "It rained."),
    Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64))),
    references=(
        ("One quake.", "Two quakes.", "Three quakes.", "Four.", "Five."),
        ("Aid came late.", "", "It rained a lot."),
    ),
)


def test_as_in_the_paper_all_pairs_of_a_chain_are_learnt_from_beside_each_document() -> None:
    pairs = preferred([TOPIC], PAPER, 0)

    own = [pair for pair in pairs if pair.better == "One quake. Two quakes. Three quakes. Four. Five."]
    assert len(own) == 5 * 2
    assert {pair.document for pair in own} == {"Quakes hit Chile. Aid came.", "It rained."}
    assert len(pairs) == (15 + 3) * 2  # of the second reference, two sentences can be mutated
    assert all(pair.better != pair.worse for pair in pairs)
    assert any(pair.better not in {own[0].better, "Aid came late. It rained a lot."} for pair in pairs)


def test_as_released_each_reference_is_learnt_from_beside_three_versions_of_itself() -> None:
    pairs = preferred([TOPIC], RELEASED, 0)

    better = {"One quake. Two quakes. Three quakes. Four. Five.", "Aid came late. It rained a lot."}
    assert {pair.better for pair in pairs} == better
    assert len(pairs) <= 3 * 2 * 2
    assert pairs == preferred([TOPIC], RELEASED, 0)
    assert pairs != preferred([TOPIC], RELEASED, 1)


def test_topics_without_documents_or_references_teach_nothing() -> None:
    assert preferred([replace(TOPIC, references=()), replace(TOPIC, sentences=(), sentence_ids=())], PAPER, 0) == []
    assert documents(TOPIC) == ["Quakes hit Chile. Aid came.", "It rained."]


@pytest.mark.parametrize(
    ("document", "summary", "kept"), [(9, 9, (5, 4)), (9, 2, (7, 2)), (2, 9, (2, 7)), (4, 5, (4, 5)), (0, 12, (0, 9))]
)
def test_document_and_summary_give_their_tokens_in_turn(document: int, summary: int, kept: tuple[int, int]) -> None:
    of_document, of_summary = cut_by_turns(range(document), range(summary), 9)

    assert (len(of_document), len(of_summary)) == kept
    assert list(of_document) == list(range(kept[0]))


def test_where_torch_is_not_there_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr(prefscore, "find_spec", lambda name: None)

    assert "error: torch is not installed. In an environment of its own: pip install" in run.refused(
        "prefscore", "topics.jsonl", "--model", "somewhere"
    )
