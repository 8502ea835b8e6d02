"""`train`: learn a metric from human scores, and say how well it does on topics that taught it nothing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from preferendum.cli import common
from preferendum.cli.common import Command, InputError
from preferendum.cli.tables import Table, as_text
from preferendum.evidence import Evidence, evidence, with_bases
from preferendum.formats.checks import limits
from preferendum.methods.analyses.assessors.report import without_assessors
from preferendum.methods.compared import listed
from preferendum.methods.metrics.input_similarity import TOPIC_WORDS
from preferendum.methods.metrics.trained import files as trained_metrics
from preferendum.methods.metrics.trained.files import KINDS, TrainedMetric, written_trained_metric
from preferendum.methods.metrics.trained.prefscore import Documents
from preferendum.methods.training.preference_training import PreferenceCourse
from preferendum.methods.training.subset_regression import NotConverged
from preferendum.methods.training.training import TRAINERS, Course, TooLittle, Training, topic_examples
from preferendum.metrics.registry import MissingEvidence, UnknownMetric
from preferendum.results import Correlation, TopicExamples, TrainingReport
from preferendum.results.metrics import Peers
from preferendum.results.preference_training import PreferenceTraining

(FROM_REFERENCES,) = trained_metrics.FROM_REFERENCES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_topics(parser)
    parser.add_argument(
        "again",
        metavar="TOPICS2",
        type=Path,
        nargs="?",
        help="other topics: features are fitted on TOPICS, chosen by these, and fitted again on these (default: fitted "
        "on every other topic of TOPICS, chosen by the others, and fitted again on all)",
    )
    group = parser.add_argument_group("training", "docs/metrics.md explains the methods.")
    group.add_argument(
        "--target",
        metavar="DIMENSION",
        help=f"the human scores to predict; not with {FROM_REFERENCES}, which needs none",
    )
    group.add_argument(
        "--method",
        choices=(*TRAINERS, FROM_REFERENCES),
        metavar="|".join((*TRAINERS, FROM_REFERENCES)),
        default="robust",
        help="; ".join(f"{', '.join(own.methods)}: {kind}" for kind, own in KINDS.items()) + " (default: robust)",
    )
    group.add_argument(
        "--peers",
        choices=get_args(Peers),
        metavar="|".join(get_args(Peers)),
        default="machines",
        help="whose summaries teach; all: people's too (default: machines)",
    )
    group.add_argument(
        "--options",
        metavar="LIST",
        type=_options,
        default={},
        help=f"what features need to know, separated by commas, as in background=FILE ({', '.join(TOPIC_WORDS)})",
    )
    group.add_argument(
        "--without-assessors",
        metavar="LIST",
        type=listed,
        default=(),
        help="learn nothing from what these assessors gave, separated by commas: the worst, as the command assessors "
        "names them (Owczarzak et al. 2012, table 5)",
    )
    references = parser.add_argument_group(
        FROM_REFERENCES, "It learns to tell references from worse versions of them (docs/metrics.md)."
    )
    references.add_argument(
        "--documents",
        choices=get_args(Documents),
        metavar="|".join(get_args(Documents)),
        help="scores are means over documents, or all documents are one text (default: mean)",
    )
    references.add_argument("--seed", metavar="N", type=common.whole, help="seed of the worse versions (default: 0)")


def run(options: argparse.Namespace) -> str:
    """The metric as a file; on standard error, how well it does."""
    if options.method == FROM_REFERENCES:
        return _from_references(options)
    if options.target is None:
        raise InputError(f"--method {options.method} learns from human scores: say which by --target DIMENSION")
    if options.documents is not None or options.seed is not None:
        raise InputError(f"--documents and --seed are options of --method {FROM_REFERENCES}")
    paths = [options.topics, *([options.again] if options.again else [])]
    sets = [
        with_bases([evidence(topic) for topic in common.bundle_from(path, options.columns).topics]) for path in paths
    ]
    *first, last = _without(sets, options.without_assessors)
    training = Training(
        method=options.method,
        target=options.target,
        peers=options.peers,
        options=options.options,
        source=_source(paths[-1], options.without_assessors),
        chosen_by=_source(paths[0], options.without_assessors) if first else "",
    )
    try:
        course = Course(training, _examples(last, training), _examples(first[0], training) if first else ())
        course.check()
        steps = [course.step(number) for number in common.progress(range(course.steps), "training: step")]
    except (TooLittle, NotConverged, MissingEvidence, UnknownMetric) as reason:
        raise InputError(str(reason)) from None
    metric = course.trained(steps)
    print(as_text([*_tables(metric, course.report(metric))]), file=sys.stderr, end="")
    return written_trained_metric(metric)


COMMAND = Command(
    name="train",
    help="learn a metric from human scores (Rankel, Conroy & Schlesinger 2012) or from references (Luo et al. 2022)",
    description="Learns a linear combination of features that orders systems as people do, and writes it as a file "
    "that trained:FILE scores other topics with. How well it does, and how well without the topics that "
    "it is held against, is told on standard error.",
    add_arguments=add_arguments,
    run=run,
    takes="TOPICS [TOPICS2]",
    makes_file=True,
)


def _from_references(options: argparse.Namespace) -> str:
    if any((options.target, options.again, options.options, options.without_assessors)):
        raise InputError(
            f"--method {FROM_REFERENCES} learns from no human scores: without --target, --options, "
            "--without-assessors and TOPICS2"
        )
    topics = [evidence(topic) for topic in common.bundle_from(options.topics, options.columns).topics]
    course = PreferenceCourse(options.topics.name, options.documents or "mean", options.seed or 0)
    try:
        metric, report = course.train(topics)
    except MissingEvidence as reason:
        raise InputError(str(reason)) from None
    print(as_text([*_tables_of_pairs(metric, report)]), file=sys.stderr, end="")
    return written_trained_metric(metric)


def _tables_of_pairs(metric: TrainedMetric, report: PreferenceTraining) -> Iterator[Table]:
    yield Table(
        title=f"{metric.kind} by {metric.method}",
        columns=("feature", "coefficient"),
        rows=tuple((name, f"{weight:.4g}") for name, (weight, _mean) in metric.linear.features.items()),
    )
    yield Table(
        title="Share of pairs told apart, ties one half, with 95% intervals over stories",
        notes=(
            f"{report.pairs} pairs of versions of {report.references} references; {report.stories} stories (topics "
            "with documents of their own)",
            "held-out: stories by what was learnt without them; length: if the longer text were always the better one",
        ),
        columns=("by", "share", "low", "high"),
        rows=tuple(
            (label, figure.value, figure.low, figure.high)
            for label, figure in (("held-out", report.accuracy), ("length", report.by_length))
        ),
    )


def _options(text: str) -> Mapping[str, str]:
    parts = (part.strip().partition("=") for part in text.split(",") if part.strip())
    given = {name: value for name, _sign, value in parts}
    if unknown := next((name for name in given if name not in TOPIC_WORDS), None):
        raise argparse.ArgumentTypeError(f"{unknown!r} is none of {', '.join(TOPIC_WORDS)}")
    return given


def _without(sets: Sequence[list[Evidence]], names: Sequence[str]) -> list[list[Evidence]]:
    """Raises `InputError` for an assessor who scored no summary."""
    there_are = {name for topics in sets for topic in topics for summary in topic.summaries for name in summary.ratings}
    if unknown := [name for name in names if name not in there_are]:
        hint = f"the assessors are: {', '.join(sorted(there_are))}" if there_are else "no rating names its assessor"
        raise InputError(f"--without-assessors: {unknown[0]!r} scored no summary; {hint}")
    return [without_assessors(topics, names) for topics in sets]


def _source(path: Path, without: Sequence[str]) -> str:
    """What the trained metric says that it learnt from."""
    left_out = f" without {', '.join(without)}" if without else ""
    return f"{path.name}{left_out}"[: limits.TITLE_CHARACTERS]


def _examples(topics: Sequence[Evidence], training: Training) -> tuple[TopicExamples, ...]:
    reader = training.reader().prepared(topics)
    return tuple(topic_examples(topic, training, reader) for topic in common.progress(topics, "reading: topic"))


def _tables(metric: TrainedMetric, report: TrainingReport) -> Iterator[Table]:
    yield Table(
        title=f"{metric.kind} by {metric.method} for {metric.target}",
        notes=(f"chosen: in how many of {report.parts} parts, each learnt without some topics, it was chosen, too",),
        columns=("feature", "coefficient", "chosen"),
        rows=(
            *((name, f"{weight:.4g}", report.chosen[name]) for name, (weight, _mean) in metric.linear.features.items()),
            ("intercept", f"{metric.linear.intercept:.4g}", None),
        ),
    )
    if report.agreement is None:
        return
    yield Table(
        title="Correlation of systems with people, and agreement on summaries",
        notes=(
            f"{report.agreement.topics} topics, {report.agreement.systems} systems, with Fisher's 95% interval",
            "left-out: topics by what was learnt without them; the systems are the same",
        ),
        columns=("metric", "pearson", "low", "high", "spearman", "kendall", "agreement"),
        rows=tuple(
            (
                row.metric,
                *_pearson(row.correlations["system"]["pearson"]),
                *(row.correlations["system"][kind].value for kind in ("spearman", "kendall")),
                row.agreement.value,
            )
            for row in report.agreement.metrics
        ),
    )


def _pearson(correlation: Correlation) -> tuple[float | None, float | None, float | None]:
    return correlation.value, correlation.fisher_low, correlation.fisher_high
