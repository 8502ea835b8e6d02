"""What can be told of summaries without references, or with few of them?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.without_references [--sets summeval_op summeval squality]
        [--draws 1000]

The metrics of Louis and Nenkova (2013) beside ROUGE: those that need documents only, the regression on them
(leave-one-topic-out, and learnt from another set), pools of systems and of standard summarizers, ROUGE by one reference
to all, and pseudomodels beside one. For each: agreement with people (equation 1) and Spearman's correlation of the
systems' means, with 95% intervals over systems and topics (topics alone, and no correlation, for two systems). The
systems that people were, and references that are among the judged summaries, are left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from benchmarks.corpora import DOCUMENTS, POOLS, SETS, read
from preferendum.evidence import Evidence
from preferendum.methods.analyses.metric_agreement.report import Sampling, metric_agreement
from preferendum.methods.meta.scores import collect, judged_topics
from preferendum.metrics import registry
from preferendum.results import Bounded

#: From where else the regression may learn the same human score.
OTHER = {"summeval_op": "summeval", "summeval": "summeval_op"}


def names_for(name: str, references: int) -> list[str]:
    regression = f"simetrix-regression:dimension={SETS[name].dimension}"
    elsewhere = [f"{regression}:train={SETS[OTHER[name]].path}"] if name in OTHER else []
    models = [k for k in (1, 2, 3, 4, references) if k <= references]
    by_models = registry.by_fewer_references("rouge-su4", sorted(set(models)))
    pseudomodels = [f"rouge-su4:models=1:pseudo=3:{scope}" for scope in ("global", "local")]
    return [*DOCUMENTS, regression, *elsewhere, *POOLS, *by_models, *pseudomodels]


def shown(figure: Bounded) -> str:
    if figure.value is None:
        return ""
    interval = "" if figure.low is None else f" [{figure.low:.3f}, {figure.high:.3f}]"
    return f"{figure.value:.3f}{interval}"


def table(name: str, topics: Sequence[Evidence], names: Sequence[str], draws: int) -> str:
    """How well these metrics agree with people on the judged topics of a set."""
    began = time.process_time()
    dimension = SETS[name].dimension
    assert dimension is not None
    metrics = registry.prepared(map(registry.metric, names), topics)
    scores = collect(topics, [dimension], metrics).judged(dimension)
    sampling = Sampling("topics" if len(scores.systems) == 2 else "both", draws)
    resamples = sampling.resamples(scores)
    with_systems = len(scores.systems) > 2
    lines = [
        f"## {name}: {dimension}, {len(scores.topics)} topics, {len(scores.systems)} systems; {{seconds:.0f}} s of CPU",
        "",
        "| metric | agreement with people |" + " Spearman's correlation of systems |" * with_systems,
        "|---|---|" + "---|" * with_systems,
    ]
    for metric in metrics:
        report = metric_agreement(metric.name, scores, dimension, resamples, sampling.level)
        label = metric.name.replace(str(SETS[OTHER[name]].path), OTHER[name]) if name in OTHER else metric.name
        of_systems = f" {shown(report.correlations['system']['spearman'])} |" * with_systems
        lines.append(f"| {label} | {shown(report.agreement)} |{of_systems}")
    return "\n".join(lines).format(seconds=time.process_time() - began)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=["summeval_op", "summeval", "squality"], default=["summeval_op"])
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args(arguments)
    for name in options.sets:
        chosen = SETS[name]
        topics = judged_topics(read(chosen.path, chosen.without), [chosen.dimension or ""], chosen.without)
        names = names_for(name, min(len(topic.references) for topic in topics))
        print(table(name, topics, names, options.draws), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
