"""Coverage, misfits, and what single annotators move: small worked examples, limits, and whole fits beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from preferendum.annotators.agreement import PairJudgments, agreement
from preferendum.annotators.diagnostics import coverage, examine, influence, misfits
from preferendum.annotators.what_if import compare
from preferendum.evidence import Evidence, Judgments, Settings, SummaryText
from preferendum.fit.similarity import similarity
from preferendum.results import Standing, TopicInfluence
from preferendum.scoring.evaluate import evaluate

SENTENCES = ("Rain fell in Ohio.", "Snow fell in Maine.", "A dog barked.", "Schools closed in Ohio.", "He wore a hat.")


def said(*rows: tuple[int, int, float, int]) -> Judgments:
    a, b, outcome, who = zip(*rows, strict=True)
    return Judgments(np.array(a), np.array(b), np.array(outcome, dtype=float), np.ones(len(a)), np.array(who))


JUDGED = said((0, 1, 1, 0), (1, 2, 1, 0), (2, 0, 0, 1), (3, 2, 1, 1), (4, 3, 1, 2), (4, 0, 1, 2), (1, 4, 0.5, 0))


def evidence(judgments: Judgments = JUDGED) -> Evidence:
    summaries = (SummaryText("rain", (SENTENCES[0],)), SummaryText("hat", (SENTENCES[4],)))
    return Evidence("t", tuple(f"d:{k}" for k in range(5)), SENTENCES, judgments, summaries)


def test_coverage_counts_sentences_pairs_parts_and_strong_components() -> None:
    found = coverage(said((0, 1, 1, 0), (1, 2, 1, 0), (2, 0, 1, 0), (2, 0, 1, 1), (3, 4, 1, 0)), 6)
    assert found.judgments == (1, 2, 1, 2)  # one sentence unjudged, two with one judgment, one with two, two with three
    assert found.pairs == 4
    assert found.parts == (3, 2)
    assert found.strong_components == (3, 1, 1)


def test_a_tie_leads_both_ways() -> None:
    assert coverage(said((0, 1, 0.5, 0)), 2).strong_components == (2,)
    assert coverage(said((0, 1, 1.0, 0)), 2).strong_components == (1, 1)


def test_a_residual_is_what_was_won_beyond_what_utilities_expect() -> None:
    judgments = said((0, 1, 1, 0), (0, 1, 1, 0), (1, 2, 0, 0))
    found = {one.sentence: one for one in misfits(judgments, np.array([0.0, 0.0, math.log(3)]))}
    assert (found[0].wins, found[0].expected, found[0].judgments) == (2, 1, 2)
    assert found[0].z == pytest.approx(1 / math.sqrt(0.5))
    assert found[2].z == pytest.approx((1 - 0.75) / math.sqrt(0.75 * 0.25))
    assert found[1].z == pytest.approx((0 - 1.25) / math.sqrt(0.5 + 0.1875))
    assert [one.sentence for one in misfits(judgments, np.array([0.0, 0.0, math.log(3)]))] == [1, 0, 2]


def test_the_one_whom_a_sentence_surprises_comes_first_and_unjudged_ones_never() -> None:
    found = misfits(said((0, 1, 1, 0)), np.zeros(3))
    assert {one.sentence for one in found} == {0, 1}


@pytest.mark.parametrize("smooth", ["none", "paper"])
def test_scores_without_somebody_are_those_of_a_fit_without_them(smooth) -> None:
    settings = Settings(smooth=smooth)
    found = examine(evidence(), settings, similarity(SENTENCES, "tfidf-jaccard"))
    assert found.scores == pytest.approx([one.score for one in evaluate(evidence(), settings).summaries], abs=1e-9)
    for person in range(3):
        left = evaluate(evidence(JUDGED.some(JUDGED.annotator != person)), settings)
        assert found.without[person] == pytest.approx([one.score for one in left.summaries], abs=1e-7)


def test_a_kernel_keeps_what_it_learnt_and_comes_close_to_a_whole_fit() -> None:
    found = examine(evidence(), Settings(), similarity(SENTENCES, "tfidf-jaccard"))
    left = evaluate(evidence(JUDGED.some(JUDGED.annotator != 2)), Settings())
    assert found.without[2] == pytest.approx([one.score for one in left.summaries], rel=0.15)
    assert not np.allclose(found.without[2], found.scores, rtol=1e-3)


def test_what_cannot_be_told_without_a_prior_is_not_told() -> None:
    judgments = said((0, 1, 1, 0), (1, 0, 1, 1), (0, 2, 1, 0), (2, 1, 1, 2))
    three = Evidence("t", ("d:0", "d:1", "d:2"), SENTENCES[:3], judgments, evidence().summaries)
    found = examine(three, Settings(smooth="none", prior=0), similarity(SENTENCES[:3], "tfidf-jaccard"))
    assert np.isfinite(found.scores).any()
    assert np.isnan(found.without).all()


def moved(**without: list[float]) -> TopicInfluence:
    annotators = tuple(int(name[1:]) for name in without)
    return TopicInfluence(("x", "y", "z"), (3.0, 2.0, 1.0), annotators, tuple(map(tuple, without.values())))


def test_the_first_place_that_falls_with_one_person_says_with_whom() -> None:
    found = influence([moved(p7=[3, 2.5, 1], p8=[2, 2.5, 1])])
    assert found is not None
    assert (found.annotators, found.unknown, found.first) == (2, 0, "x")
    assert found.new_firsts == ((8, "y"),)
    first, second, _third = found.systems
    assert (first.system, first.rank, first.rank_low, first.rank_high) == ("x", 1, 1, 2)
    assert (first.change, first.annotator) == (-1.0, 8)
    assert (second.rank_low, second.rank_high) == (1, 2)


def test_over_topics_one_person_moves_means() -> None:
    found = influence([moved(p7=[1, 2, 1]), moved(p8=[3, 2, 1])])
    assert found is not None
    assert found.new_firsts == ()  # 3 and 1 make 2, which shares the first place
    assert found.systems[0].change == -1.0


def test_people_who_wrote_summaries_have_no_rank() -> None:
    found = influence([moved(p7=[1, 2.5, 1], p8=[3, 0.5, 1])], people={"x"})
    assert found is not None
    assert (found.first, found.new_firsts) == ("y", ((8, "z"),))
    assert [one.system for one in found.systems] == ["y", "z"]


def test_whom_nothing_can_be_said_of_is_counted_and_changes_nothing() -> None:
    found = influence([moved(p7=[math.nan] * 3, p8=[3, 2, 1])])
    assert found is not None
    assert (found.annotators, found.unknown, found.new_firsts) == (2, 1, ())
    assert all(one.annotator is None for one in found.systems)
    assert influence([]) is None


def test_two_rankings_beside_each_other_say_what_was_lost_and_gained() -> None:
    tight, wide = ((1e-4, 0.0), (0.0, 1e-4)), ((1.0, 0.0), (0.0, 1.0))
    nobody = np.empty(0, dtype=np.int64)
    nothing = agreement(PairJudgments(nobody, np.empty(0), nobody, nobody))
    agreements = (nothing, nothing)
    before = [Standing(("x", "y"), (2.0, 1.0), tight, 100)]
    after = [Standing(("x", "y"), (1.0, 2.0), wide, 50)]
    found = compare(before, after, agreements)
    assert (found.before.judgments, found.after.judgments) == (100, 50)
    assert [one.system for one in found.after.systems] == ["y", "x"]
    assert (found.kendall, found.pearson) == (-1.0, pytest.approx(-1.0))
    assert (found.lost, found.gained) == ((("x", "y"),), ())
    assert compare(before, [Standing(("x", "y"), (0.0, 0.0), wide, 0)], agreements).kendall is None
