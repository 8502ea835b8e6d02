"""AutoSummENG and MeMoG: the authors' program's own scores, and what graphs of few letters are like."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.methods.metrics.ngram_graphs.scores import graphs, merged, value_similarity
from preferendum.metrics.registry import UnknownMetric, metric

DEMO = Path(__file__).parents[2] / "annotate" / "demo" / "wikinews.jsonl"
# What the authors' program gives, as SacreROUGE's regression test (sacrerouge/tests/metrics/autosummeng_test.py) has
# it: two systems' summaries and two of the references, topic by topic. It merges into the graph of the first reference
# before that one is compared, and reports the similarity to the last one as MeMoG.
MERGED_FIRST = [0.137825, 0.181275, 0.24427, 0.148213, 0.14474, 0.144389, 0.210532, 0.204209, 0.136333, 0.216562]
MERGED_FIRST += [0.242036, 0.215287]
LAST = [0.15328, 0.168514, 0.269781, 0.151705, 0.178874, 0.155941, 0.207259, 0.20244, 0.127154, 0.22591, 0.251485]
LAST += [0.21972]


def topic(summaries: Sequence[str], references: Sequence[str]) -> Evidence:
    return Evidence(
        "t",
        (),
        (),
        Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64))),
        tuple(SummaryText(f"s{k}", tuple(text.splitlines())) for k, text in enumerate(summaries)),
        tuple(tuple(text.splitlines()) for text in references),
        reference_names=tuple("ABCDEF"[: len(references)]),
    )


def score(name: str, summary: str, *references: str) -> float:
    return float(metric(name).score(topic([summary], references))[0])


def compared() -> list[tuple[str, list[str]]]:
    """Each summary that the program was given, with its references."""
    given = []
    for line in DEMO.read_text(encoding="utf-8").splitlines():
        read = json.loads(line)
        references = [reference["text"] for reference in read["references"]]
        systems = [summary["text"] for summary in read["summaries"] if summary["system"].startswith("MultiLing")]
        given += [(summary, references) for summary in systems]
        given += [(references[k], references[:k] + references[k + 1 :]) for k in (0, 1)]
    return given


@pytest.mark.parametrize(("given", "merged_first", "last"), [*zip(compared(), MERGED_FIRST, LAST, strict=True)])
def test_similarities_are_the_authors_programs(given: tuple[str, list[str]], merged_first: float, last: float) -> None:
    summary, references = given

    others = [score("autosummeng", summary, reference) for reference in references[1:]]
    assert others[-1] == pytest.approx(last, abs=5.1e-7)
    assert np.mean([score("memog", summary, *references), *others]) == pytest.approx(merged_first, abs=5.1e-7)


@pytest.mark.parametrize("name", ["autosummeng", "memog", "autosummeng:normalized", "memog:normalized"])
def test_the_same_text_scores_1_and_one_of_other_letters_0(name: str) -> None:
    text = "The quake hit Chile.\nAid came."

    assert score(name, text, text) == 1
    assert score(name, text, text, text) == 1
    assert score(name, "OUGH! LUV, JO", text.lower()) == 0
    assert score(name, "", text) == 0


@pytest.mark.parametrize("name", ["autosummeng", "memog", "autosummeng:normalized"])
def test_by_one_reference_a_similarity_is_the_same_both_ways(name: str) -> None:
    one, other = "Quakes hit Chile on Monday.", "On Monday a quake hit the north of Chile."

    assert score(name, one, other) == pytest.approx(score(name, other, one))
    assert 0 < score("autosummeng", one, other) < score("autosummeng:normalized", one, other) < 1


def test_few_letters_make_a_graph_that_can_be_counted() -> None:
    """`abcab` has the n-grams abc, bca, cab: three pairs of neighbours both ways; `abca` has one of them."""
    longer, shorter, twice = graphs(["abcab", "abca", "aaaaa"])

    assert len(longer.edges) == 6
    assert longer.weights.tolist() == [1] * 6
    assert value_similarity(longer, shorter) == pytest.approx(2 / 6)
    assert value_similarity(longer, shorter, normalized=True) == 1
    assert twice.weights.tolist() == [6]  # aaa beside itself: three pairs, each both ways


def test_an_edge_of_all_graphs_weighs_their_mean_and_one_of_the_third_alone_its_own_weight() -> None:
    three = graphs(["aaaa", "aaaaa", "aaaaaabcd"])
    whole = merged(three)

    (everywhere,) = three[0].edges
    first, second, third = (float(graph.weights[graph.edges == everywhere][0]) for graph in three)
    assert whole.weights[whole.edges == everywhere][0] == pytest.approx((first + second + third) / 3)
    new = ~np.isin(whole.edges, three[0].edges)
    assert whole.weights[new].tolist() == three[2].weights[three[2].edges != everywhere].tolist()


def test_a_persons_summary_is_never_scored_by_its_own_text_and_machines_by_one_reference_less() -> None:
    given = topic(["quakes in Chile", "aid for Chile"], ["quakes in Chile", "help for Chile", "a quake"])
    given = replace(given, summaries=(replace(given.summaries[0], person=True, reference="A"), given.summaries[1]))

    person, machine = metric("memog:jackknife").score(given)

    assert person == score("memog", "quakes in Chile", "help for Chile", "a quake")
    without = [("help for Chile", "a quake"), ("quakes in Chile", "a quake"), ("quakes in Chile", "help for Chile")]
    assert machine == pytest.approx(np.mean([score("memog", "aid for Chile", *references) for references in without]))
    assert np.isnan(metric("autosummeng:models=1").score(given)[0])


def test_a_number_of_models_is_at_least_1() -> None:
    with pytest.raises(UnknownMetric, match="memog:models=0: a number of models must be at least 1"):
        metric("memog:models=0")
