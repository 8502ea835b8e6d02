"""Judgments to scores: the worked example, what must not matter, what rests on nothing, and what cannot be said."""

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example as for_example
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from preferendum.evidence import AS_PUBLISHED, UNDETERMINED_PRIOR, Evidence, Judgments, Settings, SummaryText
from preferendum.fit import zermelo
from preferendum.fit.similarity import similarity
from preferendum.scoring.evaluate import TopicResult, UndeterminedTopic, curve, evaluate
from preferendum.scoring.importance import cleared_values, share_words
from preferendum.scoring.ranking import Comparison

EXAMPLE = json.loads((Path(__file__).parents[1] / "data" / "model_example.json").read_text())


def judgments(triples: list[tuple[int, int, float]]) -> Judgments:
    a, b, outcome = np.array(triples, dtype=np.float64).reshape(-1, 3).T
    ones = np.ones(len(triples))
    return Judgments(a.astype(np.int64), b.astype(np.int64), outcome, ones, ones.astype(np.int64))


def example(**changes: object) -> Evidence:
    base = Evidence(
        topic_id="M0",
        sentence_ids=tuple(f"d1:{i}" for i in range(4)),
        sentences=tuple(EXAMPLE["sentences"]),
        judgments=judgments([(winner, loser, 1.0) for winner, loser in EXAMPLE["judgments"]]),
        summaries=tuple(SummaryText(system, tuple(text)) for system, text in EXAMPLE["summaries"].items()),
    )
    return replace(base, **changes)


COVERAGE = Settings(score="coverage")


def scores_of(result: TopicResult) -> dict[str, float]:
    return {summary.system: summary.score for summary in result.summaries if summary.score is not None}


decided = st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0])).filter(
    lambda t: t[0] != t[1]
)
many = st.lists(decided, min_size=1, max_size=12)
modes = st.sampled_from(["paper", "none"])


def test_the_worked_example_is_reproduced() -> None:
    for redundancy, key in ((True, "scores"), (False, "scores_without_redundancy")):
        result = evaluate(example(), replace(AS_PUBLISHED, prior=0.1, redundancy=redundancy))

        np.testing.assert_allclose(result.strengths, EXAMPLE["strengths_prior_0_1"], rtol=0, atol=1e-9)
        assert {s.system: s.score for s in result.summaries} == pytest.approx(EXAMPLE[key], abs=1e-9)


def test_a_result_says_what_it_rests_on() -> None:
    result = evaluate(example(), replace(AS_PUBLISHED, prior=0.1))

    assert result.judgments == 3
    assert result.judged.tolist() == [2, 1, 1, 2]
    assert result.wins.tolist() == [2, 0, 1, 0]
    assert result.residual < 1e-8
    assert result.iterations > 0
    np.testing.assert_allclose(result.utilities, np.log(result.strengths) - np.log(result.strengths).mean())
    assert result.se is not None
    assert result.low is not None
    assert result.high is not None
    np.testing.assert_allclose(result.high - result.low, 2 * 1.959963984540054 * result.se)
    np.testing.assert_allclose((result.high + result.low) / 2, result.utilities, atol=1e-12)


def test_a_sentence_gives_its_strength_as_published_and_otherwise_its_chance_cleared_of_length() -> None:
    published, recommended = evaluate(example(), AS_PUBLISHED), evaluate(example())

    np.testing.assert_array_equal(published.values, published.strengths)
    assert published.summaries[0].parts[0].value == published.values[0]
    assert recommended.estimate is not None
    texts = share_words(example())
    np.testing.assert_array_equal(recommended.values, cleared_values(texts, recommended.estimate.chances))
    assert recommended.values.mean() == pytest.approx(0.5)


@pytest.mark.parametrize("kind", ["importance", "combined", "coverage"])
def test_the_words_of_a_summary_add_up_to_its_score(kind: str) -> None:
    result = evaluate(example(), Settings(score=kind))
    assert result.words is not None
    for summary in result.summaries:
        terms = [term.contribution for term in result.words.terms(summary.system, kind)]
        assert sum(terms) == pytest.approx(summary.score or 0.0, abs=1e-12)
        assert summary.coverage == pytest.approx(
            sum(term.contribution for term in result.words.terms(summary.system, "coverage"))
        )


def test_coverage_needs_no_judgments_and_has_no_interval() -> None:
    judged, unjudged = evaluate(example(), COVERAGE), evaluate(example(judgments=judgments([])), COVERAGE)

    assert [s.score for s in judged.summaries] == [s.coverage for s in judged.summaries]
    assert [s.score for s in judged.summaries] == [s.score for s in unjudged.summaries]
    assert {(s.se, s.low, s.high) for s in judged.summaries} == {(None, None, None)}
    assert {s.significant for s in Comparison([judged.standing]).differences()} == {None}


def test_a_summary_without_a_word_of_its_sources_has_no_importance_and_no_rank() -> None:
    foreign = (*example().summaries, SummaryText("foreign", ("Zebras graze.",)))
    result = evaluate(example(summaries=foreign))

    assert (result.summaries[-1].score, result.summaries[-1].coverage) == (None, 0.0)
    assert "foreign" not in result.standing.systems


def test_what_both_ways_of_scoring_share_changes_nothing() -> None:
    beside = evaluate(example(), Settings())
    alone, together = evaluate(example(), AS_PUBLISHED), evaluate(example(), AS_PUBLISHED, beside=beside)

    assert [(s.score, s.se) for s in together.summaries] == [(s.score, s.se) for s in alone.summaries]


@settings(max_examples=25)
@given(many, st.randoms(use_true_random=False), modes)
def test_neither_the_order_nor_the_side_of_judgments_matters(triples: list, random: object, mode: str) -> None:
    """To the last bit where they are fitted (`test_preference`); here through all of it."""
    turned = [(b, a, 1 - outcome) for a, b, outcome in triples]
    random.shuffle(turned)  # type: ignore[attr-defined]
    first = evaluate(example(judgments=judgments(triples)), Settings(smooth=mode))
    second = evaluate(example(judgments=judgments(turned)), Settings(smooth=mode))

    np.testing.assert_allclose(first.utilities, second.utilities, atol=1e-9)


@given(many, st.permutations(range(4)), modes, st.sampled_from(["importance", "combined", "published"]))
@for_example([(0, 1, 0.0), (0, 1, 0.0), (0, 1, 0.0), (0, 1, 0.5)], [1, 0, 2, 3], "paper", "importance")
def test_renaming_the_sentences_renames_the_utilities_and_leaves_the_scores(
    triples: list, order: list[int], mode: str, kind: str
) -> None:
    chosen = Settings(smooth=mode, score=kind)
    place = {old: new for new, old in enumerate(order)}
    before = evaluate(example(judgments=judgments(triples)), chosen)
    after = evaluate(
        example(
            sentences=tuple(EXAMPLE["sentences"][old] for old in order),
            judgments=judgments([(place[a], place[b], outcome) for a, b, outcome in triples]),
        ),
        chosen,
    )

    np.testing.assert_allclose(after.utilities, before.utilities[order], atol=1e-7)
    assert after.standing.systems == before.standing.systems
    np.testing.assert_allclose(after.standing.scores, before.standing.scores, atol=1e-6)
    np.testing.assert_allclose(after.standing.covariance, before.standing.covariance, atol=1e-6)


@given(many, st.integers(0, 3), st.integers(0, 3), modes)
def test_one_more_win_raises_the_winner_above_the_loser(triples: list, winner: int, loser: int, mode: str) -> None:
    if winner == loser:
        return
    before = evaluate(example(judgments=judgments(triples)), Settings(smooth=mode)).utilities
    after = evaluate(example(judgments=judgments([*triples, (winner, loser, 1.0)])), Settings(smooth=mode)).utilities

    if mode == "none":  # smoothing pulls similar sentences along, so that only the raw model promises this
        assert after[winner] - after[loser] > before[winner] - before[loser]
    assert not np.allclose(after, before, atol=1e-6) or mode != "none"


def test_the_winner_of_a_single_judgment_is_ahead_in_every_mode() -> None:
    for mode in ("paper", "kernel", "none"):
        result = evaluate(example(judgments=judgments([(1, 2, 1.0)])), Settings(smooth=mode))
        assert result.utilities[1] > result.utilities[2]


def test_the_same_evidence_gives_the_same_bits() -> None:
    first, second = (evaluate(example(), Settings(prior=0.1)) for _ in range(2))

    assert first.utilities.tobytes() == second.utilities.tobytes()
    np.testing.assert_array_equal(first.standing.covariance, second.standing.covariance)
    assert [s.score for s in first.summaries] == [s.score for s in second.summaries]


def test_a_similarity_at_hand_and_a_warm_start_change_nothing() -> None:
    plain = evaluate(example(), Settings(prior=0.1))
    helped = evaluate(
        example(), Settings(prior=0.1), similarity=similarity(EXAMPLE["sentences"]), start=plain.utilities + 0.5
    )

    np.testing.assert_allclose(helped.utilities, plain.utilities, atol=1e-8)


def test_a_topic_without_judgments_has_equal_utilities_and_scores_that_say_so() -> None:
    for chosen in (replace(AS_PUBLISHED, prior=1.0), AS_PUBLISHED):
        result = evaluate(example(judgments=judgments([])), chosen)

        assert result.judgments == 0
        assert result.utilities.tolist() == [0, 0, 0, 0]
        assert result.strengths.tolist() == [0.25] * 4
        assert result.se is None
        assert result.low is None
        assert result.high is None
        one, *_, none = result.summaries
        assert (one.score, one.se, one.low, one.high) == (0.25, None, None, None)
        assert none.score == 0


def test_a_topic_without_sentences_or_summaries_has_a_result() -> None:
    empty = Evidence("M0", (), (), judgments([]), (SummaryText("lead", ("It rained.",)),))

    assert [s.score for s in evaluate(empty).summaries] == [None]
    assert [s.score for s in evaluate(empty, AS_PUBLISHED).summaries] == [0]
    assert evaluate(example(summaries=())).summaries == ()
    assert evaluate(example(summaries=())).standing.systems == ()


def test_without_a_prior_a_topic_without_a_finite_maximum_says_so() -> None:
    with pytest.raises(UndeterminedTopic, match=r"topic M0: .* d1:0; .* small prior such as 0\.1") as caught:
        evaluate(example(), Settings(smooth="none", prior=0.0))

    assert caught.value.topic_id == "M0"
    assert isinstance(caught.value, zermelo.Undetermined)


def test_as_published_a_topic_without_a_finite_maximum_is_fitted_with_a_small_prior_and_says_so() -> None:
    fallen_back, stated = evaluate(example(), AS_PUBLISHED), evaluate(example(), replace(AS_PUBLISHED, prior=0.1))

    assert fallen_back.settings == replace(AS_PUBLISHED, prior=UNDETERMINED_PRIOR)
    np.testing.assert_array_equal(fallen_back.strengths, stated.strengths)


def test_the_papers_model_has_a_maximum_where_everything_won_and_lost() -> None:
    triples = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 1.0)]
    result = evaluate(example(judgments=judgments(triples)), AS_PUBLISHED)

    assert result.settings == AS_PUBLISHED
    assert np.isfinite(result.utilities).all()


def test_scores_as_published_have_no_errors_since_these_are_not_calibrated() -> None:
    result = evaluate(example(), AS_PUBLISHED)

    assert all(summary.score is not None for summary in result.summaries)
    assert all(summary.se is summary.low is summary.high is None for summary in result.summaries)


def test_a_summarys_interval_is_that_of_the_topics_board_and_allows_for_annotators() -> None:
    rng = np.random.default_rng(2)
    a = rng.integers(4, size=400)
    b = (a + rng.integers(1, 4, size=400)) % 4
    who = rng.integers(2, size=400)
    outcome = np.where(who == 0, a < b, a > b).astype(float)  # two annotators of opposite taste
    topic = example(judgments=Judgments(a, b, outcome, np.ones(400), who))
    unnamed, named = evaluate(topic), evaluate(replace(topic, annotators=("x", "y")))
    ranked = {own.system: own for own in Comparison([named.standing]).ranked()}
    for own, other in zip(named.summaries, unnamed.summaries, strict=True):
        if own.system not in ranked:
            assert (own.score, own.se, own.low, own.high) == (None,) * 4
            continue
        assert (own.score, own.low, own.high) == (other.score, ranked[own.system].low, ranked[own.system].high)
        assert own.low < other.low < other.high < own.high


def test_intervals_of_utilities_cover_what_they_claim() -> None:
    """Bradley-Terry judges without smoothing: of 800 intervals at nominal 95%, between 90% and 99% hold the truth."""
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, m = 40, 600
        truth = rng.normal(0, 1.2, n)
        a = rng.integers(0, n, m)
        b = (a + rng.integers(1, n, m)) % n
        outcome = (rng.random(m) < expit(truth[a] - truth[b])).astype(np.float64)
        sentences = tuple(f"word{i} twin{i}" for i in range(n))
        ids = tuple(f"d:{i}" for i in range(n))
        evidence = Evidence("M0", ids, sentences, Judgments(a, b, outcome, np.ones(m), np.zeros(m, int)), ())
        result = evaluate(evidence, replace(AS_PUBLISHED, smooth="none", prior=1.0))
        assert result.low is not None
        assert result.high is not None
        true = truth - truth.mean()
        covered.append((result.low <= true) & (true <= result.high))

    assert 0.90 <= np.mean(covered) <= 0.99


def test_the_curve_ends_with_the_result_and_begins_with_the_first_judgments() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 95)
    b = (a + rng.integers(1, 4, 95)) % 4
    evidence = example(judgments=Judgments(a, b, (a < b).astype(float), np.ones(95), np.zeros(95, int)))
    path = curve(evidence, Settings(prior=0.1))

    assert [point.judgments for point in path] == [10, 19, 29, 38, 48, 57, 67, 76, 86, 95]
    whole = evaluate(evidence, Settings(prior=0.1))
    assert path[-1].scores == pytest.approx(scores_of(whole), abs=1e-9)
    begun = evaluate(replace(evidence, judgments=evidence.judgments.some(slice(10))), Settings(prior=0.1))
    assert path[0].scores == pytest.approx(scores_of(begun), abs=1e-9)


def test_a_curve_of_few_judgments_has_a_point_for_each_and_none_of_nothing() -> None:
    assert [point.judgments for point in curve(example())] == [1, 2, 3]
    assert curve(example(judgments=judgments([]))) == ()


def test_a_curve_passes_over_what_the_papers_model_leaves_open() -> None:
    triples = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 1.0)]
    path = curve(example(judgments=judgments(triples)), Settings(smooth="none", prior=0.0))

    assert [point.judgments for point in path] == [4, 5]


def test_a_topic_of_many_sentences_never_takes_a_number_for_every_two_of_them() -> None:
    n, m = 5000, 60
    rng = np.random.default_rng(0)
    sentences = tuple(" ".join(f"w{word}" for word in row) for row in rng.zipf(1.4, size=(n, 6)) % 3000)
    judgments = Judgments(np.arange(m), np.arange(m, 2 * m), np.ones(m), np.ones(m), np.zeros(m, dtype=np.int64))
    summaries = (SummaryText("a", sentences[:2]), SummaryText("b", sentences[2:4]))
    topic = Evidence("t", tuple(f"d:{i}" for i in range(n)), sentences, judgments, summaries)
    tracemalloc.start()
    result = evaluate(topic)
    result.errors.difference(np.arange(10), np.arange(10, 20))
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < n * n * 4
