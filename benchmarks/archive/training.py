"""How much of the processor does training a metric take, and how well does it then do on topics that it never saw?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.training [--topics 100] [--systems 50] [--sets summeval_op]

First on topics that are made up, then on real ones, each dimension and method: the systems' Pearson correlation with
people, each topic scored by what was learnt without it, and in-sample, with Fisher's 95% interval.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.archive.metrics_page import human_scores
from benchmarks.corpora import SETS, read
from benchmarks.worlds import made_up
from preferendum.evidence import Evidence
from preferendum.methods.meta.scores import dimensions_of, judged_topics
from preferendum.methods.training.training import TRAINERS, Course, TooLittle, Training, topic_examples
from preferendum.results import Correlation


def made(topics: int, systems: int) -> list[Evidence]:
    """With summaries of three to five sentences."""

    def scored(topic: Evidence) -> Evidence:
        summaries = (
            replace(own, sentences=own.sentences[: 3 + (k + len(own.sentences[0])) % 3], human=human_scores(own))
            for k, own in enumerate(topic.summaries)
        )
        return replace(topic, summaries=tuple(summaries))

    return [scored(topic) for topic in made_up(topics, systems, references=4)]


def trained(topics: Sequence[Evidence], training: Training) -> tuple[float, float, Course]:
    """Seconds of processor time for reading features, and for learning."""
    began = time.process_time()
    reader = training.reader().prepared(topics)
    course = Course(training, tuple(topic_examples(topic, training, reader) for topic in topics))
    read_at = time.process_time()
    course.check()
    metric = course.trained([course.step(number) for number in range(course.steps)])
    course.report(metric)
    return read_at - began, time.process_time() - read_at, course


def speed(topics: int, systems: int) -> Iterator[str]:
    yield f"## Made up: {topics} topics, {systems} systems, 4 references"
    yield ""
    yield "| method | features, s of CPU | learning and its report, s of CPU |"
    yield "|---|---|---|"
    scored = made(topics, systems)
    target = dimensions_of(scored)[0]
    for method in TRAINERS:
        reading, learning, _course = trained(scored, Training(method, target))
        yield f"| {method} | {reading:.1f} | {learning:.1f} |"


def quality(name: str) -> Iterator[str]:
    topics = judged_topics(read(SETS[name].path, ()), [str(SETS[name].dimension)], SETS[name].without)
    yield f"## {name}"
    yield ""
    yield "| dimension | method | features | left-out | in-sample |"
    yield "|---|---|---|---|---|"
    for dimension in dimensions_of(topics):
        for method in TRAINERS:
            try:
                _reading, _learning, course = trained(topics, Training(method, dimension, "machines"))
            except TooLittle:
                continue
            metric = course.trained([course.step(number) for number in range(course.steps)])
            rows = course.report(metric).agreement.metrics[:2]
            figures = " | ".join(shown(row.correlations["system"]["pearson"]) for row in rows)
            names = ", ".join(metric.linear.features) if method != "least-squares" else "all"
            yield f"| {dimension} | {method} | {names} | {figures} |"


def shown(correlation: Correlation) -> str:
    if correlation.value is None:
        return ""
    low, high = correlation.fisher_low, correlation.fisher_high
    return f"{correlation.value:.3f}" + ("" if low is None or high is None else f" [{low:.3f}, {high:.3f}]")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--sets", nargs="*", choices=["summeval_op", "summeval", "squality"], default=["summeval_op"])
    options = parser.parse_args(arguments)
    lines = speed(options.topics, options.systems) if options.topics else iter(())
    for line in lines:
        print(line, flush=True)
    for name in options.sets:
        for line in ("", *quality(name)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
