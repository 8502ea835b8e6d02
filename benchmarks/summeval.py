"""Which settings order summaries as people do, and is any of them ahead of ROUGE and JS?

    OPENBLAS_NUM_THREADS=1 python benchmarks/summeval.py [--topics ../shared/data/summeval_op/topics.jsonl]
        [--dimension relevance] [--without human-summaries] [--judgments 50 200 1000] [--seeds 5] [--draws 1000]

For every smoothing, value, normalization and match: agreement (equation 1) of the scores with people, from preferences
simulated from the references, the mean over several seeds, with 95% intervals over systems and topics; the same
resamples for the other metrics, which need no preferences, and for the bare length, which anything has to beat that
claims to have read the summaries. "ahead": the share of resamples in which the setting, at the largest number of
judgments, is ahead of the best of ROUGE-1/2/SU4 and JS in that same resample. "recommended is ahead by": the
difference of the defaults' agreement, at the largest number of judgments, from the metric's. "like length": agreement
on pairs whose lengths differ by at most 15%, pooled over topics, at the largest number of judgments.

A person's summary that is itself the reference is left out (`--without`); where a reference is among the judged
summaries (SQuALITY) it is not used as a reference. SQuALITY's documents stand in a file of their own beside its topics.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from evaluation import preference, scoring, simulate
from evaluation.agree import collect, judged_topics
from evaluation.correlation import without_dust
from evaluation.evidence import Evidence, Match, Normalization, Settings, Smoothing, Value
from evaluation.meta import agreement
from evaluation.metrics.registry import metric
from evaluation.prepare import evidence
from evaluation.resampling import Resamples
from evaluation.similarity import Similarity, similarity
from formats import Summary, Text, Topic

Matrix = NDArray[np.float64]
PEERS = ("rouge-1", "rouge-2", "rouge-su4", "js")
OTHERS = ("rouge-l", "rouge-1:stop", "kl", "js-consensus")
SCORED = tuple(product(get_args(Value), get_args(Normalization), get_args(Match)))


def texts(found: Sequence[dict[str, Any]]) -> tuple[Text, ...]:
    return tuple(Text(one["id"], text=one["text"]) for one in found)


def load(path: Path, dimension: str, without: Sequence[str]) -> list[Evidence]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    beside = path.parent / "documents.jsonl"
    kept_apart = (
        [json.loads(line) for line in beside.read_text(encoding="utf-8").splitlines()] if beside.exists() else []
    )
    documents = {document["id"]: document for document in kept_apart}
    topics = []
    for line in lines:
        judged = {summary["text"] for summary in line["summaries"] if summary["system"] not in without}
        topics.append(
            Topic(
                line["topic_id"],
                texts(line["documents"] or [documents[name] for name in line["document_ids"]]),
                tuple(one for one in texts(line["references"]) if one.text not in judged),
                tuple(Summary(one["system"], text=one["text"], human=one["human"]) for one in line["summaries"]),
            )
        )
    return judged_topics([evidence(topic) for topic in topics], dimension, without)


def fitted(
    topics: Sequence[Evidence], compared: Sequence[Similarity], count: int, seed: int
) -> Iterator[dict[str, Matrix]]:
    """Topic by topic the utilities under each smoothing."""
    for topic, similar in zip(topics, compared, strict=True):
        references = [sentence for reference in topic.references for sentence in reference]
        worth = simulate.worth_by_references(similar, references)
        judged = simulate.judge(worth, count, simulate.seed_for(seed, topic.topic_id))
        yield {
            smooth: preference.estimate(judged, len(topic.sentences), similar.matrix, Settings(smooth=smooth)).utilities
            for smooth in get_args(Smoothing)
        }


def characters(topics: Sequence[Evidence], row: dict[str, int]) -> Matrix:
    """What anybody has to beat where summaries differ in length."""
    lengths = np.full((len(row), len(topics)), np.nan)
    for column, topic in enumerate(topics):
        for summary in topic.summaries:
            lengths[row[summary.system], column] = sum(map(len, summary.sentences))
    return lengths


def agreement_at_like_length(human: Matrix, scores: Matrix, lengths: Matrix) -> float:
    """Equation 1, pooled, over the pairs whose shorter summary is at least 85% as long as the longer one."""
    first, second = np.triu_indices(len(human), 1)
    by_people, by_metric = (np.sign(without_dust(x[first]) - without_dust(x[second])) for x in (human, scores))
    alike = np.minimum(lengths[first], lengths[second]) >= 0.85 * np.maximum(lengths[first], lengths[second])
    counted = alike & np.isfinite(by_metric) & (np.abs(by_people) > 0)
    return float(np.mean((1 + by_people * by_metric)[counted]) / 2)


def main() -> None:
    data = Path(__file__).parents[2] / "shared" / "data"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=Path, default=data / "summeval_op" / "topics.jsonl")
    parser.add_argument("--dimension", default="relevance")
    parser.add_argument("--without", nargs="*", default=["human-summaries"])
    parser.add_argument("--judgments", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    begun = time.process_time()
    topics = load(options.topics, options.dimension, options.without)
    others = collect(topics, options.dimension, [metric(name) for name in (*PEERS, *OTHERS)])
    human, shape = others.human, others.human.shape
    drawn, whole = Resamples.drawn(*shape, "both", options.draws, 0), Resamples.whole(*shape)
    row = {system: k for k, system in enumerate(others.systems)}
    compared = [similarity(topic.sentences) for topic in topics]
    shares = [
        {
            how: scoring.match(topic, similar, replace(Settings(), value=how[0], normalize=how[1], match=how[2]))
            for how in SCORED
        }
        for topic, similar in zip(topics, compared, strict=True)
    ]

    lengths = characters(topics, row)
    values: dict[tuple[str, ...], dict[int, tuple[float, Matrix]]] = {}
    like: dict[tuple[str, ...], float] = {}
    for count in options.judgments:
        scores = {key: np.full((options.seeds, *shape), np.nan) for key in product(get_args(Smoothing), SCORED)}
        for seed in range(options.seeds):
            for column, utilities in enumerate(fitted(topics, compared, count, seed)):
                rows = [row[summary.system] for summary in topics[column].summaries]
                for (smooth, how), table in scores.items():
                    worth = scoring.values(utilities[smooth], how[0])
                    table[seed, rows, column] = shares[column][how].weights @ worth
        for (smooth, how), table in scores.items():
            found = values.setdefault((smooth, *how), {})
            once = float(np.mean([agreement(human, one, whole).mean[0] for one in table]))
            found[count] = once, np.mean([agreement(human, one, drawn).mean for one in table], axis=0)
            like[smooth, *how] = float(np.mean([agreement_at_like_length(human, one, lengths) for one in table]))

    metrics = {**others.metrics, "length in characters": lengths}
    peers = {name: agreement(human, matrix, drawn).mean for name, matrix in metrics.items()}
    best = np.max([peers[name] for name in PEERS], axis=0)
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}; {options.dimension}, "
        f"{shape[1]} topics, {shape[0]} systems, {options.seeds} seeds, {options.draws} resamples, default prior "
        f"{Settings().prior:g}; {time.process_time() - begun:.0f} s of CPU"
    )

    def cell(once: float, resampled: Matrix) -> str:
        low, high = np.nanquantile(resampled, [0.025, 0.975])
        return f"{once:.3f} [{low:.3f}, {high:.3f}]"

    print(f"| smooth | value | normalize | match | {' | '.join(map(str, options.judgments))} | ahead | like length |")
    print("|---|---|---|---|" + "---|" * (len(options.judgments) + 2))
    most = options.judgments[-1]
    chosen = Settings()
    recommended = (chosen.smooth, chosen.value, chosen.normalize, chosen.match)
    for key, found in sorted(values.items(), key=lambda item: -np.mean([once for once, _ in item[1].values()])):
        ahead = float(np.mean(found[most][1] > best))
        cells = " | ".join(cell(*found[count]) for count in options.judgments)
        print(f"| {' | '.join(key)} | {cells} | {ahead:.3f} | {like[key]:.3f} |")
    print(f"\nrecommended: {', '.join(recommended)}")
    print("\n| metric | agreement | recommended is ahead by | like length |\n|---|---|---|---|")
    at_best, resampled_at_best = values[recommended][most]
    for name, resampled in peers.items():
        once = float(agreement(human, metrics[name], whole).mean[0])
        even = agreement_at_like_length(human, metrics[name], lengths)
        ahead_by = cell(at_best - once, resampled_at_best - resampled)
        print(f"| {name} | {cell(once, resampled)} | {ahead_by} | {even:.3f} |")


if __name__ == "__main__":
    main()
