"""Simulated judgments beside people's: kept apart, drawn independently, weighed among their own kind."""

import numpy as np

from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit.similarity import similarity
from preferendum.formats.pyramid import Annotation, Contributor, Part, Pyramid, Scu
from preferendum.methods.metrics.preferences.scores import Preferences, mixed
from preferendum.scoring.simulations import Simulation, sentence_values, with_simulated

SENTENCES = ("Quakes hit Chile.", "It rained in Ohio.", "Ten people died in Chile.", "Aid came late.")
TEXT = "Ten people died in Chile."
PYRAMID = Annotation(Pyramid(TEXT, (Scu("1", "", (Contributor((Part(TEXT, (0, len(TEXT))),), 0),)),), ("A",)))
TOPIC = Evidence(
    "t",
    tuple(f"d:{k}" for k in range(4)),
    SENTENCES,
    Judgments(np.array([0, 0]), np.array([1, 2]), np.ones(2), np.ones(2), np.array([0, 1])),
    references=(("Quakes hit Chile.", "Aid came."),),
    pyramid=PYRAMID,
)
BOTH = (Simulation("references", 50, 0), Simulation("pyramid", 60, 0))


def test_each_source_is_an_annotator_after_peoples_and_of_another_kind() -> None:
    joined = with_simulated(TOPIC, BOTH, similarity(SENTENCES, "tfidf-jaccard"))

    assert np.bincount(joined.judgments.annotator).tolist() == [1, 1, 50, 60]
    assert joined.kinds == ("human", "human", "simulated", "simulated")
    assert joined.judgments.a[:2].tolist() == [0, 0]
    for source, number in (("references", 2), ("pyramid", 3)):
        values = sentence_values(TOPIC, similarity(SENTENCES, "tfidf-jaccard"), source)
        own = joined.judgments.some(joined.judgments.annotator == number)
        assert np.array_equal(values[own.a] > values[own.b], own.outcome == 1)


def test_sources_draw_pairs_of_their_own() -> None:
    joined = with_simulated(
        TOPIC, (Simulation("references", 40, 0), Simulation("pyramid", 40, 0)), similarity(SENTENCES, "tfidf-jaccard")
    )

    first, second = (joined.judgments.some(joined.judgments.annotator == number) for number in (2, 3))

    assert first.a.tolist() != second.a.tolist()


def test_every_mixture_is_a_metric_with_the_papers_name() -> None:
    mixtures = mixed(Preferences("preferences", Settings()), BOTH)

    assert [metric.name.removeprefix("preferences ") for metric in mixtures] == [
        "man",
        "man+ref",
        "man+py",
        "man+ref+py",
    ]
    assert sorted(mixtures[3].needs) == ["documents", "judgments", "pyramids", "references"]
