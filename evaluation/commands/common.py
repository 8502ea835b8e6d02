"""What the subcommands share: options with the model's names, reading, progress, and what a command gives back."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from evaluation import simulate
from evaluation.annotated import annotated_sentences
from evaluation.evaluate import AS_PUBLISHED
from evaluation.evidence import Evidence, Match, Normalization, Settings, Smoothing, Value
from evaluation.prepare import evidence
from evaluation.reliability import weighed
from evaluation.similarity import SIMILARITIES, Similarity, similarity
from evaluation.tables import Table
from evaluation.text import cut
from formats import Bundle, Preference, known_from, read

PAIRS = 1000

Item = TypeVar("Item")


class Refusal(Exception):
    """Input that cannot be used as asked; the message says why and what to do. Exit status 2."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a command found: `tables` for people and papers, `rows` as one table for a CSV, `data` for JSON."""

    tables: Sequence[Table]
    rows: Table
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: its name, what it does in a line, its options, and what it does with them."""

    name: str
    help: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Report]


def add_input(parser: argparse.ArgumentParser) -> None:
    """TOPICS, and where judgments come from."""
    parser.add_argument(
        "topics", metavar="TOPICS", type=Path, help="topics as JSON Lines, a folder, or a zip (docs/formats.md)"
    )
    group = parser.add_argument_group("judgments")
    source = group.add_mutually_exclusive_group()
    source.add_argument(
        "--preferences", metavar="FILE", type=Path, help="preferences as JSON Lines or CSV; default: those in TOPICS"
    )
    source.add_argument(
        "--simulate",
        choices=["references", "pyramid"],
        metavar="references|pyramid",
        help="let the references (equation 6) or the Pyramid annotations (7 and 8) judge, instead of people",
    )
    group.add_argument(
        "--pairs", metavar="N", type=_whole, help=f"simulated judgments for each topic (default: {PAIRS})"
    )
    group.add_argument("--seed", metavar="N", type=_whole, default=0, help="what chance begins with (default: 0)")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The model's settings. All default to None, so that `settings_from` knows what was asked for."""
    default = Settings()
    group = parser.add_argument_group("model", "The names are those of docs/model.md, which says what each does.")
    group.add_argument(
        "--as-published",
        action="store_true",
        help="all the settings of Zopf (2018), without a prior; options beside it change single ones",
    )
    _choice(group, "--smooth", get_args(Smoothing), default.smooth, "how judgments spread to similar sentences")
    group.add_argument(
        "--prior",
        metavar="WINS",
        type=_amount,
        help=f"pseudo-wins and as many pseudo-losses of every sentence; 0 for none (default: {default.prior:g})",
    )
    group.add_argument(
        "--redundancy",
        action=argparse.BooleanOptionalAction,
        help=f"pay for what a summary repeats only once, equation 5 (default: {_on(default.redundancy)})",
    )
    _choice(group, "--value", get_args(Value), default.value, "what a sentence of the sources is worth")
    _choice(group, "--normalize", get_args(Normalization), default.normalize, "what a summary's length is divided by")
    group.add_argument(
        "--budget",
        metavar="CHARACTERS",
        type=positive,
        help="what --normalize budget divides by, but with --match content (default: the topic's longest summary)",
    )
    _choice(group, "--match", get_args(Match), default.match, "whether a distant match earns less")
    _choice(group, "--similarity", sorted(SIMILARITIES), default.similarity, "how sentences are compared")
    group.add_argument(
        "--weigh-annotators",
        action=argparse.BooleanOptionalAction,
        help=f"let judgments count as much as whoever gave them is reliable (default: {_on(default.weigh_annotators)})",
    )


def settings_from(options: argparse.Namespace) -> Settings:
    """The settings that were asked for, on top of the defaults or of the paper's."""
    base = AS_PUBLISHED if options.as_published else Settings()
    asked = {field.name: getattr(options, field.name) for field in fields(Settings)}
    changes = {name: value for name, value in asked.items() if value is not None}
    settings = replace(base, **({"normalize": "budget"} if options.budget else {}) | changes)
    if options.budget and settings.normalize != "budget":
        raise Refusal(f"--budget goes with --normalize budget, not with --normalize {settings.normalize}")
    if options.budget and settings.match == "content":
        raise Refusal("--budget counts characters, which --match content does not: add --match any or similarity")
    return settings


def settings_as_json(settings: Settings) -> dict[str, Any]:
    """The settings by the names of the options."""
    return asdict(settings)


def load(options: argparse.Namespace, settings: Settings, *, judgments_needed: bool = True) -> list[Evidence]:
    """The topics of TOPICS with their judgments: given, found in TOPICS, or simulated."""
    if options.pairs is not None and options.simulate is None:
        raise Refusal("--pairs is the number of simulated judgments: it goes with --simulate")
    bundle = read(options.topics, cut=_sentences)
    _remark(bundle)
    if not bundle.topics:
        raise Refusal(f"{options.topics}: there are no topics in it, only tables about topics")
    if options.simulate:
        pairs = PAIRS if options.pairs is None else options.pairs
        return _simulated(bundle, options.simulate, settings, pairs, options.seed)
    preferences = _preferences(options.preferences, bundle, judgments_needed)
    topics = [evidence(topic, preferences, bundle.pyramids.get(topic.topic_id)) for topic in bundle.topics]
    return [weighed(topic, settings) for topic in topics]


def judgments_are_simulated(options: argparse.Namespace) -> str:
    """A label for whatever rests on simulated judgments; empty where people judged."""
    return f"simulated from {options.simulate}, seed {options.seed}" if options.simulate else ""


def progress(items: Sequence[Item], doing: str) -> Iterator[Item]:
    """The items one by one, with a line on standard error that counts them, if somebody is looking."""
    looking = sys.stderr.isatty()
    for number, item in enumerate(items, 1):
        if looking:
            print(f"\r\x1b[K{doing} {number} of {len(items)} ...", end="", file=sys.stderr, flush=True)
        yield item
    if looking:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Something worth knowing that is no part of the result."""
    print(f"note: {text}", file=sys.stderr)


def _simulated(bundle: Bundle, source: str, settings: Settings, pairs: int, seed: int) -> list[Evidence]:
    topics = [evidence(topic, (), bundle.pyramids.get(topic.topic_id)) for topic in bundle.topics]
    without = [
        topic.topic_id for topic in topics if not (topic.references if source == "references" else topic.pyramid)
    ]
    if without:
        needed = "references" if source == "references" else "Pyramid annotations"
        raise Refusal(f"--simulate {source} needs {needed}, and there are none for {some_topics(without)}")
    found = []
    for topic in progress(topics, "simulating judgments: topic"):
        worth = _worth(topic, similarity(topic.sentences, settings.similarity), source)
        judged = simulate.judge(worth, pairs, simulate.seed_for(seed, topic.topic_id))
        if pairs and not len(judged):
            note(f"topic {topic.topic_id}: to its {source} all sentences are worth the same; no judgments")
        found.append(replace(topic, judgments=judged))
    return found


def _worth(topic: Evidence, compared: Similarity, source: str) -> NDArray[np.float64]:
    """(n,): what the simulated annotator takes each sentence to be worth."""
    if source == "references" or topic.pyramid is None:
        sentences = [sentence for reference in topic.references for sentence in reference]
        return simulate.worth_by_references(compared, sentences)
    return simulate.worth_by_pyramid(compared, annotated_sentences(topic.pyramid, topic.language))


def _preferences(path: Path | None, bundle: Bundle, needed: bool) -> Sequence[Preference]:
    if path is None:
        if needed and not bundle.preferences:
            raise Refusal("there are no judgments: give --preferences FILE, or --simulate references")
        return bundle.preferences
    brought = read(path, known=known_from(bundle.topics, _sentences), cut=_sentences)
    _remark(brought)
    if not brought.preferences:
        raise Refusal(f"{path}: there are no preferences in it")
    return brought.preferences


def _remark(bundle: Bundle) -> None:
    for remark in bundle.remarks:
        where = remark.file + (f":{remark.line}" if remark.line else "")
        note(f"{where}: {remark.said % remark.params}")


def _sentences(text: str, language: str) -> int:
    return len(cut(text, language))


def some_topics(names: Sequence[str]) -> str:
    """The first few of them, for a message."""
    shown = ", ".join(names[:5])
    return f"topic {shown}" if len(names) == 1 else f"topics {shown}" + " ..." * (len(names) > 5)


def _choice(group: Any, option: str, choices: Iterable[str], default: str, does: str) -> None:
    listed = list(choices)
    group.add_argument(option, choices=listed, metavar="|".join(listed), help=f"{does} (default: {default})")


def _on(value: bool) -> str:
    return "on" if value else "off"


def _whole(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")


def positive(text: str) -> int:
    if _whole(text) == 0:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return int(text)


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and value >= 0:
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
