"""Summaries made worse on purpose: what becomes of which sentence, and when it ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.methods.metrics.trained.mutations import Text, chain, worse_versions

SUMMARIES = [("One two three.", "Four five.", "Six."), ("Seven eight nine.",), ("Ten.", "Eleven twelve.")]
words = st.lists(st.sampled_from("abcde"), min_size=1, max_size=6).map(" ".join)
texts = st.lists(words, min_size=1, max_size=5).map(tuple)
seeds = st.integers(0, 1000)


def sentences_kept(summary: Text, version: Text) -> int:
    return len([sentence for sentence in version if sentence in summary])


@given(seeds)
def test_each_step_changes_one_more_sentence_until_none_is_as_it_was(seed: int) -> None:
    versions = chain(SUMMARIES, 0, np.random.default_rng(seed), negatives=9)

    assert versions[0] == SUMMARIES[0]
    assert [sentences_kept(SUMMARIES[0], version) for version in versions] == [3, 2, 1, 0]


@given(st.lists(texts, min_size=1, max_size=3), seeds)
def test_a_version_has_only_words_of_the_summary_or_sentences_of_the_others(summaries: list[Text], seed: int) -> None:
    others = {sentence for other in summaries[1:] for sentence in other}

    for version in chain(summaries, 0, np.random.default_rng(seed)):
        for sentence in version:
            assert sentence in others or set(sentence.split()) <= set(" ".join(summaries[0]).split())
            assert sentence


def test_of_a_long_chain_some_steps_are_drawn_in_their_order_or_the_first_taken() -> None:
    summary = tuple(f"Sentence number {k}." for k in range(30))

    drawn = chain([summary], 0, np.random.default_rng(1))
    first = chain([summary], 0, np.random.default_rng(1), first_steps=True)

    kept = [sentences_kept(summary, version) for version in drawn]
    assert len(drawn) == 6
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] < 25
    assert [sentences_kept(summary, version) for version in first] == [30, 29, 28, 27, 26, 25]


def test_the_same_seed_gives_the_same_chain() -> None:
    assert chain(SUMMARIES, 0, np.random.default_rng(7)) == chain(SUMMARIES, 0, np.random.default_rng(7))
    chains = {tuple(chain(SUMMARIES, 0, np.random.default_rng(seed))) for seed in range(9)}
    assert len(chains) > 5


@given(seeds)
def test_versions_of_their_own_are_each_made_from_the_summary_and_may_be_reordered(seed: int) -> None:
    versions = worse_versions(SUMMARIES[:1], 0, np.random.default_rng(seed), 3)

    assert len(versions) == 3
    own = set(" ".join(SUMMARIES[0]).split())
    assert all(set(" ".join(version).split()) <= own for version in versions)


@pytest.mark.parametrize(
    ("version", "what"),
    [
        (("Four five.", "One two three.", "Six."), "sentences swapped"),
        (("three. two One", "Four five.", "Six."), "words reversed"),
        (("One two three.", "Six."), "a sentence deleted"),
        (("One two three.", "Ten.", "Six."), "a sentence replaced"),
        (("One three.", "Four five.", "Six."), "words deleted"),
    ],
)
def test_each_of_the_five_kinds_of_mutation_occurs(version: Text, what: str) -> None:
    rng = np.random.default_rng(0)

    assert version in worse_versions(SUMMARIES, 0, rng, 2000), what
