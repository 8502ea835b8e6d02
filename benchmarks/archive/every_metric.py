"""How well does every metric agree with people?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.every_metric [--sets summeval_op squality] [--judgments 200]
        [--draws 1000]

All metrics that a set has the texts for: the study's own scores, from judgments simulated from the references, the
recommended one first; ROUGE in its usual forms; graphs of characters; divergences and similarities to the documents;
pools and pseudomodels; and metrics that were trained on the set itself, where no topic is scored by what was learnt
from it. For each: agreement with people (equation 1) and Spearman's correlation of the systems' means, with 95%
intervals over systems and topics (topics alone, and no correlation, for two systems). The systems that people were, and
references that are among the judged summaries, are left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.archive.without_references import table
from benchmarks.corpora import DOCUMENTS, POOLS, SETS, read
from preferendum.evidence import Evidence
from preferendum.fit.similarity import similarity
from preferendum.methods.meta.scores import judged_topics
from preferendum.methods.metrics.trained.files import TrainedMetric, written_trained_metric
from preferendum.methods.training.preference_training import PreferenceCourse
from preferendum.methods.training.subset_regression import NotConverged
from preferendum.methods.training.training import TRAINERS, Course, TooLittle, Training, topic_examples
from preferendum.scoring.simulations import Simulation, with_simulated

PREFERENCES = tuple(f"preferences:{score}" for score in ("importance", "combined", "coverage", "published:prior=0.1"))
BY_REFERENCES = (
    *("rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-l", "rouge-w", "rouge-s4", "rouge-su4"),
    *("rouge-1:f", "rouge-2:f", "rouge-l:f", "rouge-1:stop", "autosummeng", "memog", "vert-f"),
)


def with_judgments(topics: Sequence[Evidence], count: int) -> list[Evidence]:
    """With so many simulated judgments a topic, seed 0."""
    simulation = Simulation("references", count, 0)
    return [with_simulated(topic, [simulation], similarity(topic.sentences, "tfidf-jaccard")) for topic in topics]


def trained_on(topics: Sequence[Evidence], dimension: str, folder: Path) -> Iterator[str]:
    """A metric by every method that the topics suffice for, as a file."""
    for method in TRAINERS:
        training = Training(method=method, target=dimension)
        try:
            reader = training.reader().prepared(topics)
            course = Course(training, tuple(topic_examples(topic, training, reader) for topic in topics), ())
            course.check()
            metric = course.trained([course.step(number) for number in range(course.steps)])
        except (TooLittle, NotConverged) as reason:
            print(f"{method}: {reason}", file=sys.stderr)
            continue
        yield _written(metric, folder)
    yield _written(PreferenceCourse().train(topics)[0], folder)


def _written(metric: TrainedMetric, folder: Path) -> str:
    path = folder / f"{metric.method}.json"
    path.write_text(written_trained_metric(metric))
    return f"trained:{path}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=["summeval_op", "summeval", "squality"], default=["summeval_op"])
    parser.add_argument("--judgments", type=int, default=200)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    for name in options.sets:
        chosen = SETS[name]
        assert chosen.dimension is not None
        topics = judged_topics(read(chosen.path, chosen.without), [chosen.dimension], chosen.without)
        topics = with_judgments(topics, options.judgments)
        pseudomodels = [f"rouge-su4:models=1:pseudo=3:{scope}" for scope in ("global", "local")]
        with tempfile.TemporaryDirectory() as folder:
            trained = trained_on(topics, chosen.dimension, Path(folder))
            names = [*PREFERENCES, *BY_REFERENCES, *DOCUMENTS, *POOLS, *pseudomodels, *trained]
            print(table(name, topics, names, options.draws).replace(f"{folder}/", ""), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
