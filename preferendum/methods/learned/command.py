"""`prefscore` and `prefscore-train`: scores by a fine-tuned language model, worked out here for a study to import."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from preferendum.cli import common
from preferendum.cli.common import Command, InputError, Output
from preferendum.cli.tables import Table
from preferendum.evidence import Evidence, evidence
from preferendum.methods.learned.presets import PRESETS, preferred
from preferendum.show.shown import Cell

EXTRA = ("torch", "transformers", "safetensors")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_topics(parser)
    group = _model_arguments(parser, "what prefscore-train saved, or a BERT with the released model.pth beside it")
    group.add_argument("--metric", metavar="NAME", default="prefscore", help="what to call it (default: prefscore)")


def run(options: argparse.Namespace) -> str:
    learned = _learned()
    topics = _topics(options)
    try:
        scorer = learned.load(options.model, options.device)
    except learned.NoModel as reason:
        raise InputError(str(reason)) from None
    return common.scores_file(options.metric, topics, lambda topic: learned.scores(scorer, topic))


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_topics(parser)
    group = _model_arguments(parser, "the language model to begin with, such as bert-base-uncased")
    group.add_argument("--save", metavar="FOLDER", type=Path, required=True, help="where the trained model goes")
    group.add_argument(
        "--preset",
        choices=list(PRESETS),
        metavar="|".join(PRESETS),
        default="paper",
        help="as the paper says, or as the program that its authors released (default: paper)",
    )
    group.add_argument("--steps", metavar="N", type=common.positive, help="stop after so many steps")
    group.add_argument("--seed", metavar="N", type=common.whole, default=0, help="seed (default: 0)")


def train(options: argparse.Namespace) -> Output:
    learned = _learned()
    preset = PRESETS[options.preset]
    pairs = preferred(_topics(options), preset, options.seed)
    if not pairs:
        raise InputError(f"{options.topics}: no topic has documents and references, so there is nothing to learn from")
    try:
        scorer = learned.begin(options.model, preset, options.seed, options.device)
    except learned.NoModel as reason:
        raise InputError(str(reason)) from None
    losses: list[float] = []
    began = time.monotonic()

    def heard(step: int, loss: float) -> None:
        losses.append(loss)
        if step % 100 == 0:
            common.note(f"step {step}: loss {sum(losses[-100:]) / 100:.4f}")

    steps = learned.fit(scorer, pairs, options.seed, options.steps, heard)
    options.save.mkdir(parents=True, exist_ok=True)
    learned.save(scorer, options.save)
    last = losses[-100:]
    figures: dict[str, Cell] = {
        "preset": preset.name,
        "pairs": len(pairs),
        "steps": steps,
        "loss": sum(last) / len(last),
        "seconds": time.monotonic() - began,
    }
    table = Table(tuple(figures), (tuple(figures.values()),), title=f"trained on {options.topics}")
    return Output([table], table, figures)


def _model_arguments(parser: argparse.ArgumentParser, about: str) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("model", "Takes torch and transformers: requirements/learned.txt.")
    group.add_argument("--model", metavar="FOLDER", type=Path, required=True, help=about)
    group.add_argument("--device", metavar="NAME", default="cpu", help="cpu, or cuda for a GPU (default: cpu)")
    return group


def _learned() -> ModuleType:
    """The module that needs the extra packages. Raises `InputError` that says how to install them."""
    if lacking := [name for name in EXTRA if find_spec(name) is None]:
        raise InputError(
            f"{lacking[0]} is not installed. In an environment of its own: pip install --require-hashes "
            "-r requirements/learned.txt"
        )
    from preferendum.methods.learned import scorer

    return scorer


def _topics(options: argparse.Namespace) -> Sequence[Evidence]:
    return [evidence(topic) for topic in common.bundle_from(options.topics, options.columns).topics]


COMMAND = Command(
    name="prefscore",
    help="score summaries by a fine-tuned language model (PrefScore), as a table to import",
    description="Writes topic,system,metric,score: scores.csv, which a study imports as the metric given:prefscore.",
    add_arguments=add_arguments,
    run=run,
    makes_file=True,
)
TRAINING = Command(
    name="prefscore-train",
    help="fine-tune a language model to tell references from worse versions of them",
    description="Trains the scorer for prefscore on the references of the topics, without anybody's scores.",
    add_arguments=add_training_arguments,
    run=train,
)

COMMANDS = (COMMAND, TRAINING)
