"""ROUGE exactly as the official ROUGE-1.5.5 computes it.

C.-Y. Lin, "ROUGE: a package for automatic evaluation of summaries", 2004, and the behaviour of the program itself,
which published figures rest on. A text is a sequence of lines, one sentence each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Settings
from preferendum.methods.metrics.rouge import ANY, PSEUDOMODELS, SKIP
from preferendum.methods.metrics.rouge.pseudomodels import Pseudomodels, Scope
from preferendum.methods.metrics.rouge.units import Overlap, RougeOptions, Text, Texts
from preferendum.methods.metrics.shared.by_references import first_references
from preferendum.metrics.registry import MODELS, Metric, Need, Options, UnknownMetric, number, whole_number

Measure = Literal["rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-l", "rouge-w", "rouge-s4", "rouge-su4"]
Value = Literal["recall", "precision", "f"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
USUAL = RougeOptions()
"""Stems, no stop words removed, no limit, all references pooled: what most papers report."""


class Score(NamedTuple):
    """Each rounded to five decimals, as the program prints them."""

    recall: float
    precision: float
    f: float


def scores(
    summaries: Sequence[Text],
    references: Sequence[Text],
    measures: Iterable[Measure] = MEASURES,
    settings: RougeOptions = USUAL,
) -> dict[Measure, list[Score]]:
    """Score each summary against all references: for each measure one score a summary."""
    return {
        measure: _combined(overlap, settings)
        for measure, overlap in overlaps(summaries, references, measures, settings).items()
    }


def overlaps(
    summaries: Sequence[Text], references: Sequence[Text], measures: Iterable[Measure], settings: RougeOptions
) -> dict[Measure, Overlap]:
    """Count, for each measure, what each summary shares with each reference."""
    if not references:
        raise ValueError("ROUGE needs at least one reference")
    texts = Texts(summaries, references, settings)
    return {measure: _overlap(texts, measure, settings) for measure in measures}


def signature(measure: Measure, settings: RougeOptions) -> str:
    """The official command line that gives the same score, and what that does not say."""
    parts = ["ROUGE-1.5.5", *_kind(measure, settings)]
    parts += ["-m"] * settings.stem + ["-s"] * settings.remove_stop_words
    parts += [f"-l {settings.words}"] * (settings.words is not None)
    parts += [f"-b {settings.bytes}"] * (settings.bytes is not None)
    parts += ["-f A" if settings.references == "pooled" else "-f B"]
    parts += [f"-p {settings.alpha:g}"] * (settings.alpha != USUAL.alpha)
    parts += ["(tokens of any script)"] * settings.unicode
    parts += ["(SMART stop words, 596)"] * settings.remove_stop_words + ["(jackknife)"] * settings.jackknife
    return " ".join(parts)


def _kind(measure: Measure, settings: RougeOptions) -> tuple[str, str]:
    """What the program calls the measure, and the option that has it calculated."""
    match measure:
        case "rouge-l":
            return "ROUGE-L", "-n 1"
        case "rouge-w":
            return f"ROUGE-W-{settings.weight:g}", f"-w {settings.weight:g}"
        case "rouge-s4" | "rouge-su4":
            name, option = ("SU", " -u") if measure == "rouge-su4" else ("S", "")
            distance, given = ("*", -1) if settings.skip is None else (settings.skip, settings.skip)
            return f"ROUGE-{name}{distance}", f"-2 {given}{option}"
        case _:
            return measure.upper(), f"-n {measure[-1]}"


def _overlap(texts: Texts, measure: Measure, settings: RougeOptions) -> Overlap:
    match measure:
        case "rouge-1" | "rouge-2" | "rouge-3" | "rouge-4":
            return texts.n_grams(int(measure[-1]))
        case "rouge-l":
            return texts.longest_common_subsequences()
        case "rouge-s4" | "rouge-su4":
            return texts.skip_bigrams(settings.skip, with_unigrams=measure == "rouge-su4")
        case "rouge-w":
            return texts.weighted_common_subsequences(settings.weight)
        case _:
            raise ValueError(f"there is no ROUGE measure {measure!r}; there are {', '.join(MEASURES)}")


class _Units(NamedTuple):
    """What one summary shares with each reference, the units of each reference and its own."""

    hits: list[float]
    in_references: list[float]
    own: float
    power: float

    def without(self, i: int) -> _Units:
        """The units as if there were no reference i."""
        hits, in_references = ([*values[:i], *values[i + 1 :]] for values in (self.hits, self.in_references))
        return self._replace(hits=hits, in_references=in_references)

    def only(self, i: int) -> _Units:
        """The units as if reference i were the only one."""
        return self._replace(hits=[self.hits[i]], in_references=[self.in_references[i]])


def _combined(overlap: Overlap, settings: RougeOptions) -> list[Score]:
    score = _jackknifed if settings.jackknife and len(overlap.in_references) > 1 else _score
    return [score(units, settings) for units in _by_summary(overlap)]


def _by_summary(overlap: Overlap) -> Iterable[_Units]:
    in_references: list[float] = overlap.in_references.tolist()
    for hits, own in zip(overlap.hits.tolist(), overlap.in_summaries.tolist(), strict=True):
        yield _Units(hits, in_references, own, overlap.power)


def _jackknifed(units: _Units, settings: RougeOptions) -> Score:
    """The mean score over the sets of references that lack one."""
    k = len(units.hits)
    parts = [_score(units.without(i), settings) for i in range(k)]
    return Score(*(round(sum(values) / k, 5) for values in zip(*parts, strict=True)))


def _against_others(own: int, units: _Units, settings: RougeOptions) -> Score:
    """The score of a summary that is a reference itself; not a number where there is no other."""
    if len(units.hits) == 1:
        return Score(math.nan, math.nan, math.nan)
    return _score(units.without(own), settings)


def _score(units: _Units, settings: RougeOptions) -> Score:
    if settings.references == "best":  # by rounded recall; the first of equals stands
        # The program compares by what a reference is worth before it is raised once more.
        recalls = [
            _share(hits, whole ** (1 / units.power), units.power)
            for hits, whole in zip(units.hits, units.in_references, strict=True)
        ]
        units = units.only(recalls.index(max(recalls)))
    shared = sum(units.hits)
    recall = _share(shared, sum(units.in_references), units.power)
    precision = _share(shared, units.own * len(units.hits), units.power)
    weighted = (1 - settings.alpha) * precision + settings.alpha * recall
    return Score(recall, precision, round(recall * precision / weighted, 5) if weighted else 0.0)


def _share(part: float, whole: float, power: float) -> float:
    return round((part / whole) ** (1 / power), 5) if whole else 0.0


@dataclass(frozen=True, slots=True)
class Rouge:
    """The metric: one of a summary's three values of one measure; `references`: by so many, the first by name."""

    name: str
    measure: Measure
    value: Value
    settings: RougeOptions
    references: int | None = None

    @property
    def needs(self) -> frozenset[Need]:
        # the program reads nothing else but digits
        return frozenset({Need.REFERENCES} if self.settings.unicode else {Need.REFERENCES, Need.LATIN})

    @property
    def signature(self) -> str:
        kept = "" if self.references is None else f", by the first {self.references} references by name"
        return f"{signature(self.measure, self.settings)} {self.value}{kept}"

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """A summary that is a reference itself is scored by the others; not a number where there is no other."""
        topic = first_references(topic, self.references)
        summaries = tuple(summary.sentences for summary in topic.summaries)
        overlap = _overlap(_texts(summaries, topic.references, self.settings), self.measure, self.settings)
        scores = _combined(overlap, self.settings)
        for k, (summary, units) in enumerate(zip(topic.summaries, _by_summary(overlap), strict=True)):
            if (own := topic.own_reference(summary)) is not None:
                scores[k] = _against_others(own, units, self.settings)
        return np.array([getattr(score, self.value) for score in scores], dtype=np.float64)


# Several measures of one topic are requested in turn: each of its texts is read once.
_texts = lru_cache(maxsize=1)(Texts)


def make(asked: str, options: Options, _: Settings | None) -> Metric:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    measure = next(name for name in MEASURES if name == asked.partition(":")[0])
    try:
        settings = RougeOptions(
            stem="unstemmed" not in options,
            unicode="unicode" in options,
            remove_stop_words="stop" in options,
            words=whole_number(asked, options, "words"),
            bytes=whole_number(asked, options, "bytes"),
            references="best" if "best" in options else "pooled",
            jackknife="jackknife" in options,
            alpha=USUAL.alpha if (alpha := number(asked, options, "alpha")) is None else alpha,
            skip=_skip(asked, options),
            weight=number(asked, options, "weight") or USUAL.weight,
        )
        numbers = {option: whole_number(asked, options, option) for option in (MODELS, "pseudo")}
        if any(number is not None and number < 1 for number in numbers.values()):
            raise ValueError("a number of models must be at least 1")
        if "alpha" in options and "p" in options:
            raise ValueError("alpha is of the F-measure, not of precision")
        if "global" in options and "local" in options:
            raise ValueError("pseudomodels are either global or local")
    except UnknownMetric:
        raise
    except ValueError as error:
        raise UnknownMetric(f"{asked}: {error}") from None
    value: Value = "f" if options.keys() & {"f", "alpha"} else "precision" if "p" in options else "recall"
    if not options.keys() & {"pseudo", "global", "local"}:
        return Rouge(asked, measure, value, settings, numbers[MODELS])
    by_references, by_pool = (
        Rouge(asked, measure, value, replace(settings, jackknife=jackknife)) for jackknife in (False, True)
    )
    scope: Scope = "global" if "global" in options else "local"
    return Pseudomodels(asked, by_references, by_pool, numbers["pseudo"] or PSEUDOMODELS, scope, numbers[MODELS])


def _skip(asked: str, options: Options) -> int | None:
    return None if options.get("skip") == ANY else whole_number(asked, {"skip": str(SKIP), **options}, "skip")
