"""What the subcommands share: options with the model's names, reading, progress, and what a command gives back."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from preferendum.archived import evidence_of
from preferendum.cli.tables import Table, as_csv
from preferendum.counted import left_out_in_words, of_kinds
from preferendum.evidence import AS_PUBLISHED, Evidence, Settings, evidence, with_bases
from preferendum.fit.similarity import similarity
from preferendum.formats import Bundle, Existing, Preference, existing_from, read
from preferendum.formats.archive import study
from preferendum.formats.readers.columns import ROLES
from preferendum.formats.readers.draft import Named
from preferendum.formats.readers.late import METRIC_SCORES
from preferendum.formats.settings import KINDS_COUNTED, SCORING, Setting, StudySettings, as_word, idle_among
from preferendum.scoring import simulate
from preferendum.scoring.simulations import Source, has_source, sentence_values
from preferendum.show import shown

PAIRS = 1000
#: With fewer, the ends of a 95% interval are a matter of chance.
FEWEST_RESAMPLES = 100

Item = TypeVar("Item")


class InputError(Exception):
    """Input that does not fit the request; the message says why and what to do. Exit status 2."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command found: `tables` for people and papers, `rows` as one table for a CSV, `data` for JSON."""

    tables: Sequence[Table | shown.Table]
    rows: Table | shown.Table
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: its name, what it does in a line, its options, and what it does with them.

    `makes_file`: whether it gives the text of a file in a format of its own; `takes`: what it is given first.
    """

    name: str
    help: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Output | str]
    takes: str = "TOPICS"
    makes_file: bool = False


#: What columns hold that judgments alone have.
_OF_JUDGMENTS = ("a", "b", "winner", "annotator", "seconds", "at", "of")


def add_input(parser: argparse.ArgumentParser, *, in_place_of_people: bool = True) -> None:
    """TOPICS, and where judgments come from; whether simulated ones may take the place of people's."""
    add_topics(parser)
    group = parser.add_argument_group("judgments")
    source = group.add_mutually_exclusive_group()
    source.add_argument(
        "--preferences", metavar="FILE", type=Path, help="judgments, as `rank` reads them; default: those in TOPICS"
    )
    if in_place_of_people:
        source.add_argument(
            "--simulate",
            choices=["references", "pyramid"],
            metavar="references|pyramid",
            help="simulate judgments from the references (equation 6) or the Pyramid annotations (7 and 8)",
        )
    group.add_argument(
        "--counted-kinds",
        choices=list(KINDS_COUNTED),
        help="whose judgments count (default: people); an exported study says so itself",
    )
    group.add_argument(
        "--pairs", metavar="N", type=whole, help=f"simulated judgments for each topic (default: {PAIRS})"
    )
    group.add_argument("--seed", metavar="N", type=whole, default=0, help="seed for everything random (default: 0)")


def add_topics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topics",
        metavar="TOPICS",
        type=Path,
        help="topics as JSON Lines, a table, a folder, or a ZIP file, such as that of an exported study "
        "(docs/formats.md)",
    )
    add_columns(parser)


def add_judgments(parser: argparse.ArgumentParser) -> None:
    """FILE with judgments, and which columns of another tool's file hold what."""
    parser.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="judgments: ours, another tool's, or an exported study (docs/formats.md)",
    )
    add_columns(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--columns",
        metavar="KEY=COLUMN,...",
        type=columns,
        help="which columns of a table, or of another tool's file, hold what: topic=doc,text=summary or "
        "a=left_model,b=right_model,winner=choice (docs/formats.md); with --preferences, columns of either file, and "
        "topic twice if both call it otherwise",
    )


def columns(text: str) -> Named:
    """What `--columns` says, by key; a key that is given several times has several columns."""
    named: dict[str, list[str]] = {}
    for key, _sign, column in (part.partition("=") for part in text.split(",")):
        if key not in ROLES or not column:
            raise argparse.ArgumentTypeError(f"{text!r}: expected KEY=COLUMN, where KEY is {', '.join(ROLES)}")
        named.setdefault(key, []).append(column)
    return {key: given[0] if len(given) == 1 else given for key, given in named.items()}


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The model's settings. All default to None, so that `settings_from` knows which were given."""
    group = parser.add_argument_group("model", "docs/model.md explains these settings.")
    group.add_argument(
        "--as-published",
        action="store_true",
        help="the same as --score published: all settings as in Zopf (2018); further options change single ones",
    )
    for setting in SCORING:
        about = f"{setting.about} (default: {as_word(setting.default)})"
        kind: dict[str, Any] = {"type": partial(_number, setting), "metavar": "X"}
        if setting.choices:
            kind = {"choices": setting.choices, "metavar": "|".join(setting.choices)}
        elif setting.type is bool:
            kind = {"action": argparse.BooleanOptionalAction}
        group.add_argument(f"--{setting.option}", help=about, **kind)
    group.add_argument(
        "--redundancy",
        action=argparse.BooleanOptionalAction,
        help="under --score published: count what a summary repeats only once, equation 5 (default: on)",
    )


def settings_from(options: argparse.Namespace) -> Settings:
    """The given settings, on top of the defaults or of the paper's. Raises `InputError`."""
    if options.as_published and options.score not in (None, "published"):
        raise InputError(f"--as-published is --score published, and --score {options.score} is asked for, too")
    is_published = options.as_published or options.score == "published"
    if options.redundancy is not None and not is_published:
        raise InputError("--redundancy is about --score published: other scores never pay for a repetition")
    asked = {field.name: getattr(options, field.name) for field in fields(Settings)}
    changes = {name: value for name, value in asked.items() if value is not None}
    settings = replace(AS_PUBLISHED if is_published else Settings(), **changes)
    if idle := [setting for setting in idle_among(asdict(settings)) if setting.name in changes]:
        raise InputError(f"--{idle[0].option} says nothing here: {idle[0].about}")
    return settings


def provenance(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """What JSON says of where figures come from: settings by the names of the options, and simulated judgments."""
    return {"settings": asdict(settings), "simulated": judgments_are_simulated(options) or None}


def labelled(table: shown.Table, options: argparse.Namespace) -> shown.Table:
    """The table, with a note where judgments are simulated."""
    label = judgments_are_simulated(options)
    return replace(table, note=f"{table.note} Judgments {label}.") if label else table


def load(options: argparse.Namespace, settings: Settings, *, judgments_needed: bool = True) -> list[Evidence]:
    """The topics of TOPICS, or of an exported study, with their judgments: given, found there, or simulated."""
    if options.pairs is not None and options.simulate is None:
        raise InputError("--pairs is the number of simulated judgments: it needs --simulate")
    if study.is_archive(options.topics):
        if options.simulate or options.preferences:
            raise InputError(f"{options.topics} is an exported study, which has judgments: give none beside it")
        if options.counted_kinds:
            raise InputError(f"{options.topics} is an exported study, whose settings say which kinds count")
        return with_bases(list(evidence_of(study.read(options.topics))))
    of_topics, of_judgments = _columns_of_each(options.columns or {}, options.preferences)
    bundle = bundle_from(options.topics, of_topics)
    if options.simulate:
        pairs = PAIRS if options.pairs is None else options.pairs
        return _simulated(bundle, options.simulate, settings, pairs, options.seed)
    given = _preferences(options.preferences, of_judgments, bundle, judgments_needed)
    preferences = _counted(given, options, judgments_needed)
    return with_bases([evidence(topic, preferences) for topic in bundle.topics])


def bundle_from(path: Path, columns: Named | None = None) -> Bundle:
    """What TOPICS holds, which must be topics, or summaries that begin some; notes say what was passed over."""
    bundle = read(path, columns=columns)
    if bundle.summaries and not bundle.topics:
        bundle = read(path, columns=columns, existing=Existing({}))
    _remark(bundle)
    if not bundle.topics:
        raise InputError(f"{path}: contains no topics, only tables about topics")
    return bundle


def with_documents(topics: Sequence[Evidence]) -> list[Evidence]:
    """The topics that judgments can be about; a note names the others. Raises `InputError` where there are none."""
    without = [topic.topic_id for topic in topics if not topic.sentences]
    if len(without) == len(topics):
        raise InputError("no topic has documents, and judgments are about their sentences")
    if without:
        note(f"{some_topics(without)}: needs documents to be scored; left out")
    return [topic for topic in topics if topic.sentences]


def judgments_are_simulated(options: argparse.Namespace) -> str:
    """A label for whatever rests on simulated judgments; empty where people judged."""
    return f"simulated from {options.simulate}, seed {options.seed}" if options.simulate else ""


def progress(items: Sequence[Item], doing: str) -> Iterator[Item]:
    """The items one by one; a line on standard error counts them, if it is a terminal."""
    looking = sys.stderr.isatty()
    for number, item in enumerate(items, 1):
        if looking:
            print(f"\r\x1b[K{doing} {number} of {len(items)} ...", end="", file=sys.stderr, flush=True)
        yield item
    if looking:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def scores_file(metric: str, topics: Sequence[Evidence], score: Callable[[Evidence], NDArray[np.float64]]) -> str:
    """The table `scores.csv` that a study takes as the metric given:NAME; summaries without a score are left out."""
    rows = [
        (topic.topic_id, summary.system, metric, value)
        for topic in progress(topics, "scoring: topic")
        for summary, value in zip(topic.summaries, score(topic).tolist(), strict=True)
        if math.isfinite(value)
    ]
    return as_csv(Table(METRIC_SCORES.needed, tuple(rows)))


def note(text: str) -> None:
    """A note that is not part of the result."""
    print(f"note: {text}", file=sys.stderr)


def _simulated(bundle: Bundle, source: Source, settings: Settings, pairs: int, seed: int) -> list[Evidence]:
    topics = with_bases([evidence(topic) for topic in bundle.topics])
    without = [topic.topic_id for topic in topics if topic.sentences and not has_source(topic, source)]
    if without:
        needed = "references" if source == "references" else "Pyramid annotations"
        raise InputError(f"--simulate {source} needs {needed}, and there are none for {some_topics(without)}")
    simulated = []
    for topic in progress(topics, "simulating judgments: topic"):
        if not topic.sentences:
            simulated.append(topic)
            continue
        value = sentence_values(topic, similarity(topic.sentences, settings.similarity), source)
        judged = simulate.judge(value, pairs, simulate.seed_for(seed, topic.topic_id))
        if pairs and not len(judged):
            note(f"topic {topic.topic_id}: to its {source} all sentences have the same value; no judgments")
        simulated.append(replace(topic, judgments=judged))
    return simulated


def _columns_of_each(named: Named, preferences: Path | None) -> tuple[Named, Named]:
    """The columns of TOPICS and of --preferences. A topic's are the texts', if any texts' are named, and the
    judgments' otherwise; a second one is the judgments'."""
    if preferences is None:
        return named, {}
    judged = {role: column for role, column in named.items() if role in _OF_JUDGMENTS}
    texts = {role: column for role, column in named.items() if role not in _OF_JUDGMENTS}
    if isinstance(topic := named.get("topic"), list) and len(topic) == 2:
        return texts | {"topic": topic[0]}, judged | {"topic": topic[1]}
    if judged and texts.keys() == {"topic"}:
        return {}, named
    return texts, judged


def _preferences(path: Path | None, columns: Named, bundle: Bundle, needed: bool) -> Sequence[Preference]:
    if path is None:
        if needed and not bundle.preferences:
            raise InputError("there are no judgments: give --preferences FILE, or --simulate references")
        return bundle.preferences
    imported = read(path, existing=existing_from(bundle.topics), columns=columns)
    _remark(imported)
    if not imported.preferences:
        raise InputError(f"{path}: there are no preferences in it")
    return imported.preferences


def _counted(preferences: Sequence[Preference], options: argparse.Namespace, needed: bool) -> list[Preference]:
    """Keep those of the kinds that count, people's unless the options name others; `options.left_out` has the rest."""
    counted, left_out = of_kinds(preferences, KINDS_COUNTED[options.counted_kinds or StudySettings().counted_kinds])
    if left_out:
        note(said_of(left_out))
    if left_out and not counted and (needed or options.preferences):
        raise InputError("there are no judgments of the kinds that count: ask for others with --counted-kinds")
    options.left_out.update(left_out)
    return counted


def with_left_out(output: Output, left_out: Mapping[str, int]) -> Output:
    """The output, saying in every format how many judgments were left out because their kind does not count."""
    data = {**output.data, "left_out": dict(left_out)}
    if not left_out:
        return replace(output, data=data)
    tables = [table.with_note(said_of(left_out)) for table in output.tables]
    return Output(tables, output.rows.with_column("left_out", said_of(left_out)), data)


def said_of(left_out: Mapping[str, int]) -> str:
    """How many judgments were left out, in a sentence."""
    return left_out_in_words(left_out, "--counted-kinds")


def _remark(bundle: Bundle) -> None:
    for remark in bundle.remarks:
        where = remark.file + (f":{remark.line}" if remark.line else "")
        note(f"{where}: {remark.said % remark.params}")


def some_topics(names: Sequence[str]) -> str:
    """The first few of them, for a message."""
    shown = ", ".join(names[:5])
    return f"topic {shown}" if len(names) == 1 else f"topics {shown}" + " ..." * (len(names) > 5)


def span(low: int | None, high: int | None) -> str:
    """The ranks that remain possible."""
    return str(low) if low == high else f"{low}-{high}"


def whole(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")


def positive(text: str) -> int:
    if whole(text) == 0:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return int(text)


def resamples(text: str) -> int:
    """Enough for an interval, or 0 for none."""
    if 0 < whole(text) < FEWEST_RESAMPLES:
        raise argparse.ArgumentTypeError(f"an interval takes at least {FEWEST_RESAMPLES}, or 0 for none")
    return int(text)


def sizes(text: str) -> tuple[int, ...]:
    """Numbers from 1 on, separated by commas, as they ascend."""
    return tuple(sorted({positive(size.strip()) for size in text.split(",")}))


def share(text: str) -> float:
    return _between(text, 0, 1)


def above_zero(text: str) -> float:
    number = _between(text, 0, math.inf)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError("it must be more than 0")
    return number


def _between(text: str, low: float, high: float) -> float:
    try:
        return Setting(low=low, high=high).number(text)
    except ValueError as reason:
        raise argparse.ArgumentTypeError(str(reason)) from None


def _number(setting: Setting, text: str) -> float:
    try:
        return setting.number(text)
    except ValueError as reason:
        raise argparse.ArgumentTypeError(str(reason)) from None
