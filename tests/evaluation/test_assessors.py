"""Assessors of summaries: worked examples, what must not change anything, and one planted who scores at random."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from preferendum.evidence import evidence
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.pyramid import Annotation
from preferendum.formats.readers.pyramid_json import annotation_from
from preferendum.formats.records import Summary, Text, Topic
from preferendum.methods.analyses.assessors.auto_pyramid import auto_pyramid, manual_less_automatic
from preferendum.methods.analyses.assessors.consistency import (
    FEWEST_PAIRS,
    Rating,
    Ratings,
    agreement,
    consistency,
    equal_texts,
    identical_pairs,
    interval_alpha,
    worst,
)
from preferendum.methods.analyses.assessors.report import (
    Assessed,
    assessed,
    assessors_report,
    without_assessors,
    without_worst,
)
from preferendum.results import AssessorFigure, AssessorRanking, AssessorsReport, Figure, from_json, to_json
from preferendum.work.scores import Scores
from tests.evaluation.conftest import Run

DATA = Path(__file__).parents[1] / "data"
# Ten pairs of scores of identical summaries; alpha by two independent programs.
PAIRS = [(3, 3), (4, 5), (2, 2), (1, 1), (5, 5), (3, 2), (4, 4), (2, 2), (3, 3), (4, 3)]
SYSTEMS, TOPICS = 6, 8


def pyramid(assessor: str = "J") -> Annotation:
    """D0999: four models and four annotated summaries, made for tests."""
    annotation = annotation_from(Place(Complaints(), ""), json.loads((DATA / "pyramid_D0999.json").read_text()), {}, {})
    assert annotation is not None
    return replace(annotation, assessor=assessor)


def names(of: str, n: int) -> tuple[str, ...]:
    return tuple(f"{of}{k}" for k in range(n))


def scored_twice(pairs: list[tuple[float, float]], assessor: str = "A") -> Iterator[Rating]:
    """Each pair on a topic of its own, by two systems."""
    for k, both in enumerate(pairs):
        yield from (Rating("d", assessor, system, f"t{k}", score) for system, score in zip("ab", both, strict=True))


def literal_alpha(pairs: list[tuple[float, float]]) -> float:
    """1 - observed / expected, every two values counted out."""
    values = [value for pair in pairs for value in pair]
    observed = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
    apart = [(a - b) ** 2 for a, b in combinations(values, 2)]
    return 1 - observed / (sum(apart) / len(apart))


def test_identical_summaries_scored_twice_give_krippendorffs_alpha() -> None:
    ratings = Ratings.of(scored_twice(PAIRS), "ab", names("t", 10))
    (figure,) = consistency(ratings, np.zeros((2, 10), dtype=np.int64), draws=1000)

    assert figure.assessor == "A"
    assert (figure.value.value, figure.value.n) == (pytest.approx(0.9015544041450777, abs=1e-12), 10)
    assert figure.difference is not None
    assert figure.difference.value == pytest.approx(0.3)
    assert figure.value.low < figure.value.value < figure.value.high  # type: ignore[operator]


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=12), st.integers(-3, 3))
def test_alpha_is_that_of_all_values_counted_out_wherever_the_scale_begins(
    pairs: list[tuple[float, float]], start: int
) -> None:
    alpha = float(interval_alpha(np.array(pairs) + start, np.ones((1, len(pairs))))[0])
    if len({value for pair in pairs for value in pair}) == 1:
        assert np.isnan(alpha)
    else:
        assert alpha == pytest.approx(literal_alpha(pairs), abs=1e-9)


def test_pairs_are_of_one_topic_one_text_and_one_assessor() -> None:
    texts = {("a", "t"): "Rain  fell.", ("b", "t"): "Rain\nfell.", ("c", "t"): " Rain fell. ", ("d", "t"): "Snow."}
    texts |= {("a", "u"): "Rain fell.", ("b", "u"): "", ("c", "u"): " "}
    scores = {("A", "a", "t"): 1, ("A", "b", "t"): 2, ("A", "c", "t"): 3, ("A", "d", "t"): 9, ("B", "a", "t"): 4}
    scores |= {("A", who, "u"): 5 for who in "abc"}
    ratings = Ratings.of((Rating("d", *key, score) for key, score in scores.items()), "abcd", "tu")
    whose, pairs = identical_pairs(ratings, equal_texts(texts, "abcd", "tu"))

    assert {ratings.names[k] for k in whose} == {"A"}
    assert sorted(map(sorted, pairs.tolist())) == [[1, 2], [1, 3], [2, 3]]


def test_without_identical_summaries_there_is_no_consistency() -> None:
    ratings = Ratings.of(scored_twice(PAIRS), "ab", names("t", 10))
    assert consistency(ratings, np.arange(20).reshape(2, 10), draws=10) == ()


def test_few_pairs_are_shown_and_call_nobody_the_worst() -> None:
    few = list(scored_twice(PAIRS[: FEWEST_PAIRS - 1], "few"))
    given = [*few, *scored_twice([(1, 5), (5, 1), (2, 4), (4, 2), (3, 3)], "bad"), *scored_twice(PAIRS, "good")]
    figures = consistency(Ratings.of(given, "ab", names("t", 10)), np.zeros((2, 10), dtype=np.int64), draws=0)

    assert [(figure.assessor, figure.value.n, figure.is_ranked) for figure in figures] == [
        ("good", 10, True),
        ("bad", 5, True),
        ("few", 4, False),
    ]
    assert worst(figures, 1) == ("bad",)
    assert worst(figures, 2) is None  # nobody of whom enough is known would be left


def test_agreement_holds_each_against_the_mean_of_the_others() -> None:
    scores = {"A": [1, 2, 4, 5], "B": [1, 3, 4, 4], "C": [2, 2, 5, 5]}
    given = [Rating("d", who, "a", f"t{k}", own[k]) for who, own in scores.items() for k in range(4)]
    figures = agreement(Ratings.of(given, "a", names("t", 4)), (1, 4), draws=0)

    by_name = {figure.assessor: figure for figure in figures}
    assert by_name["A"].value.value == pytest.approx(literal_alpha([(1, 1.5), (2, 2.5), (4, 4.5), (5, 4.5)]))
    assert by_name["A"].value.n == 4


def test_agreement_is_of_summaries_that_others_scored_too() -> None:
    given = [Rating("d", "A", "a", "t0", 3), Rating("d", "B", "a", "t1", 3)]
    assert agreement(Ratings.of(given, "a", ("t0", "t1")), (1, 2), draws=0) == ()


@pytest.mark.parametrize("basis", ["consistency", "agreement"])
def test_who_scores_at_random_is_last(basis: str) -> None:
    """Of five, in 95 of 100 seeds at least; each scores 20 identical pairs, or they all the same 20 summaries."""
    last = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        truth = rng.integers(1, 6, size=20)
        given = []
        for who in "ABCDE":
            drawn = [rng.integers(1, 6, size=20) if who == "C" else truth + rng.normal(0, 1, 20) for _ in range(2)]
            given += scored_twice([(float(a), float(b)) for a, b in zip(*drawn, strict=True)], who)
        ratings = Ratings.of(given, "ab", names("t", 20))
        texts = np.zeros((2, 20), dtype=np.int64)
        figures = (
            consistency(ratings, texts, draws=0) if basis == "consistency" else agreement(ratings, (2, 20), draws=0)
        )
        last += figures[-1].assessor == "C"
    assert last >= 95


def test_contributors_of_other_summaries_are_found_word_by_word() -> None:
    scores = auto_pyramid(pyramid())

    assert {system: sorted(score.matched) for system, score in scores.items()} == {
        "3": ["2"], "12": [], "23": [], "40": [],
    }  # fmt: skip
    assert scores["3"].automatic == pytest.approx(3 / 18)
    assert scores["3"].manual == pytest.approx(22 / 18)
    assert manual_less_automatic([("J", scores)])[0].value.value == pytest.approx((22 / 18 - 3 / 18 + 12 / 18) / 4)


def test_contributors_of_models_are_found_if_asked() -> None:
    scores = auto_pyramid(pyramid(), with_models=True)

    assert scores["12"].matched == {"1", "2", "21"}
    assert scores["12"].automatic == pytest.approx(0.5)
    assert scores["3"].matched == {"2", "4", "21"}
    assert scores["3"].automatic == pytest.approx(7 / 18)


def test_nobody_is_charged_with_a_pyramid_that_names_no_annotator() -> None:
    assert manual_less_automatic([("", auto_pyramid(pyramid("")))]) == ()


def test_an_assessor_who_overlooks_what_was_found_elsewhere_comes_last() -> None:
    three = pyramid().peers["3"]
    of_each = {
        "careful": replace(pyramid(), peers={"3": three, "4": three, "5": three}),
        "lazy": replace(pyramid(), peers={"3": three, "4": three, "5": replace(three, matched={})}),
    }
    careful, lazy = manual_less_automatic((who, auto_pyramid(own)) for who, own in of_each.items())

    assert (careful.assessor, careful.value.value) == ("careful", pytest.approx(0))
    assert (lazy.assessor, lazy.value.value) == ("lazy", pytest.approx(-22 / 18 / 3))


def made(seed: int = 0, raters: int = 1) -> tuple[Scores, Assessed]:
    """Four assessors, each of two topics, or `raters` of them for every topic; two systems' summaries are equal."""
    rng = np.random.default_rng(seed)
    systems, topics = names("s", SYSTEMS), names("t", TOPICS)
    quality = np.linspace(1, 5, SYSTEMS)
    ratings = tuple(
        Rating("overall", f"A{(t + k) % 4}", systems[s], topics[t], float(quality[s] + rng.normal()))
        for t in range(TOPICS)
        for s in range(SYSTEMS)
        for k in range(raters)
    )
    texts = {(system, topic): "x" if s < 4 else system for s, system in enumerate(systems) for topic in topics}
    human = Ratings.of(ratings, systems, topics).means((SYSTEMS, TOPICS))
    metric = human + rng.normal(size=human.shape)
    machines = (True,) * SYSTEMS
    scores = Scores(systems, topics, {"overall": human}, {"m": metric}, {"m": "m"}, machines)
    return scores, Assessed(ratings, texts, {"t0": replace(pyramid("A0"), peers={"s0": pyramid().peers["3"]})})


def ranking_of(report: AssessorsReport, basis: str, dimension: int = 0) -> AssessorRanking:
    return next(ranking for ranking in report.dimensions[dimension].rankings if ranking.basis == basis)


@pytest.mark.parametrize(("basis", "raters"), [("consistency", 1), ("agreement", 3)])
def test_leaving_nobody_out_changes_nothing(basis: str, raters: int) -> None:
    scores, given = made(raters=raters)
    everything, *_others = ranking_of(assessors_report(scores, given, "machines", draws=0), basis).without

    assert (everything.left_out, everything.topics) == ((), TOPICS)
    assert everything.pearson == pytest.approx(1, abs=1e-12)
    assert everything.spearman == pytest.approx(1, abs=1e-12)


def test_without_the_worst_their_topics_are_gone_where_one_assessor_scores_a_topic() -> None:
    scores, given = made()
    ranking = ranking_of(assessors_report(scores, given, "machines", draws=0), "consistency")
    of_last = ranking.assessors[-1].assessor
    without = ranking.without[1]

    kept = np.array([f"A{t % 4}" != of_last for t in range(TOPICS)])
    human, metric = scores.human["overall"], scores.metrics["m"]
    before, after = human.mean(axis=1), human[:, kept].mean(axis=1)
    assert (without.left_out, without.topics, without.ratings) == ((of_last,), TOPICS - 2, SYSTEMS * (TOPICS - 2))
    assert without.pearson == pytest.approx(stats.pearsonr(before, after).statistic)
    assert without.spearman == pytest.approx(stats.spearmanr(before, after).statistic)
    beside = without.metrics[0]
    expected = stats.pearsonr(after, metric[:, kept].mean(axis=1)).statistic
    assert (beside.systems.value, beside.systems.n) == (pytest.approx(expected), SYSTEMS)
    of_each = [
        stats.pearsonr(human[:, k::4].ravel(), metric[:, k::4].ravel()).statistic
        for k in range(4)
        if f"A{k}" != of_last
    ]
    assert (beside.summaries.value, beside.summaries.n) == (pytest.approx(np.mean(of_each)), 3)
    assert [len(row.left_out) for row in ranking.without] == [0, 1, 2]
    assert set(ranking.without[2].left_out) == {figure.assessor for figure in ranking.assessors[-2:]}


def test_without_the_worst_topics_stay_where_others_scored_them_too() -> None:
    scores, given = made(raters=3)
    ranking = ranking_of(assessors_report(scores, given, "machines", draws=0), "agreement")

    assert [row.topics for row in ranking.without] == [TOPICS] * 3
    assert [row.ratings for row in ranking.without] == [144, 108, 72]


def test_scores_of_which_nobody_is_named_stay() -> None:
    scores, given = made()
    human = np.full((SYSTEMS, TOPICS), 3.0)
    figures = tuple(AssessorFigure(f"A{k}", Figure(1 - k / 10, 20)) for k in range(4))
    own = Ratings.of((rating for rating in given.ratings if rating.topic != "t7"), scores.systems, scores.topics)
    rows = list(without_worst(figures, human, own, {}))

    assert [row.topics for row in rows] == [8, 7, 5]  # A3 has scored t3; t7 is nobody's


def test_pyramids_are_a_dimension_of_whoever_annotated_them() -> None:
    scores, given = made()
    report = assessors_report(scores, given, "machines", draws=0)

    assert [(own.dimension, own.by_pyramid, own.ratings) for own in report.dimensions] == [
        ("overall", False, SYSTEMS * TOPICS),
        ("pyramid", True, 1),
    ]
    (figure,) = ranking_of(report, "auto_pyramid", dimension=1).assessors
    assert (figure.assessor, figure.value.value) == ("A0", pytest.approx(22 / 18))


def test_assessors_of_topics_are_those_of_the_file() -> None:
    summary = Summary("lead", "Rain fell. Snow fell.", human={"r": 3.0}, ratings={"A": {"r": 2.0}, "B": {"r": 4.0}})
    given = assessed([evidence(Topic("t", (Text("d", "Rain fell."),), summaries=(summary,), pyramid=pyramid()))])

    assert [(rating.assessor, rating.score) for rating in given.ratings] == [("A", 2.0), ("B", 4.0)]
    assert given.texts == {("lead", "t"): "Rain fell. Snow fell."}
    assert given.pyramids["t"].assessor == "J"


def test_without_assessors_scores_are_means_of_the_others_and_what_names_nobody_stays() -> None:
    ratings = {"A": {"r": 2.0, "f": 1.0}, "B": {"r": 4.0}, "C": {"r": 5.0}}
    rated = Summary("rated", "Rain.", human={"r": 3.5, "f": 1.0, "p": 0.3}, ratings=ratings)
    alone = Summary("alone", "Snow.", human={"r": 2.0}, ratings={"A": {"r": 2.0}})
    given = evidence(Topic("t", (Text("d", "Rain fell."),), summaries=(rated, alone)))

    (left,) = without_assessors([given], ["A"])
    assert [summary.human for summary in left.summaries] == [{"r": 4.5, "p": 0.3}, {}]
    assert set(left.summaries[0].ratings) == {"B", "C"}
    assert without_assessors([given], []) == [given]


def test_the_report_is_read_again_as_it_was_written() -> None:
    report = assessors_report(*made(raters=2), "machines", draws=20)
    assert from_json(AssessorsReport, json.loads(json.dumps(to_json(report)))) == report


def written(path: Path, given: Assessed) -> Path:
    """The made assessors as a file."""
    texts = sorted(given.texts)
    lines = [
        {
            "topic_id": topic,
            "references": [{"id": "R", "text": "x and more"}],
            "summaries": [
                {
                    "system": system,
                    "text": given.texts[system, topic],
                    "human": {"overall": 3},
                    "ratings": [
                        {"assessor": own.assessor, "overall": own.score}
                        for own in given.ratings
                        if (own.system, own.topic) == (system, topic)
                    ],
                }
                for system, own_topic in texts
                if own_topic == topic
            ],
        }
        for topic in sorted({topic for _system, topic in texts})
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_the_command_prints_and_writes_the_same(tmp_path: Path, run: Run) -> None:
    scores, given = made(raters=2)
    asked = ["assessors", str(written(tmp_path / "t.jsonl", given)), "--dimension", "all", "--metrics", "rouge-1"]
    data = run.json(*asked)
    texts = {form: run.out(*asked, "--format", form) for form in ("table", "csv")}

    expected = to_json(assessors_report(scores, given, "machines"))["dimensions"][0]
    (dimension,) = data["dimensions"]
    assert [ranking["basis"] for ranking in dimension["rankings"]] == ["consistency", "agreement"]
    for ranking, own in zip(dimension["rankings"], expected["rankings"], strict=True):
        assert ranking["assessors"] == own["assessors"]
        assert [row["left_out"] for row in ranking["without"]] == [row["left_out"] for row in own["without"]]
    assert "Consistency and agreement of assessors" in texts["table"]
    assert "The ranking of systems without the worst assessors" in texts["table"]
    assert "Metrics without the worst assessors: overall" in texts["table"]
    rows = texts["csv"].splitlines()
    assert rows[0] == "dimension,by_pyramid,figure,assessor,ranked,value,low,high,n,distance"
    assert len(rows) == 1 + 2 * 4


def test_the_command_says_what_it_takes(tmp_path: Path, run: Run) -> None:
    _scores, given = made()
    path = written(tmp_path / "t.jsonl", replace(given, ratings=()))

    assert "two equal summaries of a topic, or summaries that several assessors scored" in run.refused(
        "assessors", str(path), "--dimension", "all", "--metrics", "rouge-1"
    )
