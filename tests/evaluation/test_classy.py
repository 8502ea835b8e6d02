"""CLASSY's features: three sentences by hand, and what must not change them."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from preferendum.evidence import Evidence, Judgments, SummaryText, with_bases
from preferendum.methods.metrics.rouge.scores import scores
from preferendum.methods.metrics.trained.classy import Classy, content, linguistic
from preferendum.methods.metrics.trained.files import CONTENT, LINGUISTIC
from preferendum.metrics.registry import MissingEvidence, Need, check

NONE = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
REFERENCES = (("Quakes hit Chile.", "Aid came."), ("Chile quakes hit.",))
# quake 2, hit 2, chile 3, aid 1, came 1; X = [[3, 3, 0], [3, 3, 0], [0, 0, 2]] with singular values 6, 2, 0.
SUMMARY = ("Quakes hit Chile.", "Chile quakes hit Chile.", "Aid came.")


def topic(*summaries: SummaryText | Sequence[str], references: tuple[tuple[str, ...], ...] = REFERENCES) -> Evidence:
    texts = tuple(
        summary if isinstance(summary, SummaryText) else SummaryText(str(k), tuple(summary))
        for k, summary in enumerate(summaries)
    )
    names = tuple("ABCD"[: len(references)])
    return Evidence("t", ("d:0",), ("Quakes.",), NONE, texts, references, reference_names=names)


def entropy(*counts: int) -> float:
    return -sum(count / sum(counts) * math.log2(count / sum(counts)) for count in counts)


def test_three_sentences_by_hand() -> None:
    (values,) = linguistic(topic(SUMMARY))

    expected = [-math.log2(3), 2**2, 0, entropy(2, 2, 3, 1, 1), -entropy(3, 4, 2), math.log2(1 + 3), 1]
    assert dict(zip(LINGUISTIC, values, strict=True)) == pytest.approx(dict(zip(LINGUISTIC, expected, strict=True)))


def test_bigrams_by_hand() -> None:
    """qh 2, hc 2, cc, cq, ca, am, against {qh, hc, ca, am} and {cq, qh}."""
    (values,) = content(topic(SUMMARY))

    coverage = 1 + 0.5 + 0 + 0.5 + 0.5 + 0.5
    assert values[2:].tolist() == [coverage, 2 + 1 + 0 + 1 + 1 + 1, 4, 4]


def test_rouge_of_a_machine_is_the_mean_over_sets_that_lack_one_reference() -> None:
    (values,) = content(topic(SUMMARY))

    for name, value in zip(CONTENT[:2], values, strict=False):
        each = [scores([SUMMARY], [text], [name])[name][0].recall for text in REFERENCES]
        assert value == pytest.approx(sum(each) / 2, abs=1e-5)


def test_a_persons_summary_is_never_held_against_itself() -> None:
    person = SummaryText("A", REFERENCES[0], person=True, reference="A")

    (values,) = content(topic(person))

    assert values.tolist() == content(topic(REFERENCES[0], references=REFERENCES[1:]))[0].tolist()
    assert np.isnan(content(topic(person, references=REFERENCES[:1]))).all()


def test_identical_sentences_are_redundant_in_one_direction_alone() -> None:
    """X is then of rank 1: all but its first singular value are 0, and each pair of neighbours overlaps wholly."""
    (values,) = linguistic(topic(("Aid came.",) * 4))

    assert values == pytest.approx([-2, 0, 0, 1, -2, math.log2(1 + 3 * 2), 3], abs=1e-9)


def test_an_empty_summary_counts_as_an_empty_sentence_and_sentences_without_words_do_not_count() -> None:
    empty, dots, plain = linguistic(topic((), ("Aid came.", "..."), ("Aid came.",)))

    assert not empty.any()
    assert dots.tolist() == plain.tolist()
    assert content(topic(()))[0].tolist() == [0, 0, 0, 0, 0, 0]


def test_the_order_of_summaries_and_references_changes_nothing() -> None:
    texts = SUMMARY, ("Aid came.",), ("Rain fell in Ohio.", "Aid came.")
    forth = topic(*texts)
    back = replace(topic(*reversed(texts)), references=REFERENCES[::-1])

    assert content(forth)[::-1].tolist() == content(back).tolist()
    assert linguistic(forth)[::-1].tolist() == linguistic(back).tolist()


def test_update_summaries_are_held_against_the_earlier_references_too() -> None:
    earlier = replace(topic(references=(("Rain fell.",), ("Aid came.",))), topic_id="first")
    update = replace(topic(SUMMARY), base="first")
    features = Classy(("base-coverage", "rouge-2", "sentences"))

    _earlier, ready = with_bases([earlier, update])

    against_earlier = content(replace(ready, references=earlier.references, reference_names=()))
    (values,) = features.values(ready)
    assert values.tolist() == [against_earlier[0, 2], content(update)[0, 0], -math.log2(3)]
    assert features.needs == {Need.BASES, Need.REFERENCES, Need.LATIN}
    assert Classy(("sentences",)).needs == set()
    with pytest.raises(MissingEvidence, match="needs references of an earlier set"):
        check([_Needing(features.needs)], [update])


class _Needing:
    name, signature = "asked", ""

    def __init__(self, needs: frozenset[Need]) -> None:
        self.needs = needs

    def score(self, topic: Evidence) -> np.ndarray:
        raise NotImplementedError
