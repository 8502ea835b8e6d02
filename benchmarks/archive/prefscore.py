"""How well does the light PrefScore tell references from worse versions of them, and order summaries as people do?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.prefscore [--draws 1000]

It learns from SQuALITY (20 stories, 100 questions, 400 references by people) and is asked about held-out stories, and
about SummEval-OP (32 products with eight reviews each, 12 systems), which taught it nothing. `drawn`: five versions
drawn from all steps until every sentence is mutated, as the paper says; `first`: the first five steps.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.archive.without_references import shown
from benchmarks.corpora import SETS, read
from preferendum.evidence import Evidence
from preferendum.methods.analyses.metric_agreement.report import Sampling, metric_agreement
from preferendum.methods.meta.scores import collect, judged_topics
from preferendum.methods.metrics.trained.files import TrainedMetric, written_trained_metric
from preferendum.methods.training.preference_training import PreferenceCourse
from preferendum.metrics import registry

DIMENSIONS = ("relevance", "coherence", "fluency", "faithfulness")
OTHERS = ("js", "js-consensus", "rouge-1", "rouge-su4")


def training(topics: Sequence[Evidence]) -> tuple[str, dict[str, TrainedMetric]]:
    lines = [
        "| versions | documents | pairs | held-out accuracy | by length | seconds of CPU |",
        "|---|---|---|---|---|---|",
    ]
    metrics = {}
    for versions, first_steps in (("drawn", False), ("first", True)):
        for documents in ("mean", "pooled"):
            began = time.process_time()
            metric, report = PreferenceCourse("SQuALITY", documents, first_steps=first_steps).train(topics)
            seconds = time.process_time() - began
            figures = f"{report.pairs} | {shown(report.accuracy)} | {shown(report.by_length)} | {seconds:.1f}"
            lines.append(f"| {versions} | {documents} | {figures} |")
            metrics[f"prefscore, {versions}, {documents}"] = metric
    return "\n".join(lines), metrics


def correlations(metrics: dict[str, TrainedMetric], draws: int) -> str:
    chosen = SETS["summeval_op"]
    lines = [f"| metric | {' | '.join(DIMENSIONS)} |", "|---|" + "---|" * len(DIMENSIONS)]
    with tempfile.TemporaryDirectory() as folder:
        labels = dict.fromkeys(OTHERS, "")
        for k, (label, metric) in enumerate(metrics.items()):
            path = Path(folder) / f"{k}.json"
            path.write_text(written_trained_metric(metric), encoding="utf-8")
            labels[f"trained:{path}"] = label
        topics = judged_topics(read(chosen.path, chosen.without), DIMENSIONS, chosen.without)
        scores = collect(topics, DIMENSIONS, [registry.metric(name) for name in labels])
        for name, label in labels.items():
            cells = []
            for dimension in DIMENSIONS:
                own = scores.judged(dimension)
                sampling = Sampling("both", draws)
                report = metric_agreement(name, own, dimension, sampling.resamples(own), sampling.level)
                cells.append(shown(report.correlations["summary"]["spearman"]))
            lines.append(f"| {label or name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args(arguments)
    chosen = SETS["squality"]
    table, metrics = training(read(chosen.path, chosen.without))
    print("## SQuALITY: pairs of held-out stories\n", table, sep="\n", end="\n\n", flush=True)
    print("## SummEval-OP: Spearman's correlation within topics\n", correlations(metrics, options.draws), sep="\n")


if __name__ == "__main__":
    main()
