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

from evaluation.evidence import Evidence, Settings
from evaluation.metrics.pseudomodels import PSEUDOMODELS, Pseudomodels, Scope, first_references
from evaluation.metrics.registry import MODELS, Family, Metric, Need, Options, UnknownMetric, register, whole_number
from evaluation.metrics.rouge_units import SKIP, Overlap, RougeOptions, Text, Texts

Measure = Literal["rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-l", "rouge-s4", "rouge-su4"]
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
    return {measure: _overlap(texts, measure) for measure in measures}


def signature(measure: Measure, settings: RougeOptions) -> str:
    """The official command line that gives the same score, and what that does not say."""
    kind = {"rouge-l": "-n 1", "rouge-s4": f"-2 {SKIP}", "rouge-su4": f"-2 {SKIP} -u"}.get(measure, f"-n {measure[-1]}")
    parts = ["ROUGE-1.5.5", measure.upper(), kind]
    parts += ["-m"] * settings.stem + ["-s"] * settings.remove_stop_words
    parts += [f"-l {settings.words}"] * (settings.words is not None)
    parts += [f"-b {settings.bytes}"] * (settings.bytes is not None)
    parts += ["-f A" if settings.references == "pooled" else "-f B"]
    parts += ["(SMART stop words, 596)"] * settings.remove_stop_words + ["(jackknife)"] * settings.jackknife
    return " ".join(parts)


def _overlap(texts: Texts, measure: Measure) -> Overlap:
    match measure:
        case "rouge-1" | "rouge-2" | "rouge-3" | "rouge-4":
            return texts.n_grams(int(measure[-1]))
        case "rouge-l":
            return texts.longest_common_subsequences()
        case "rouge-s4" | "rouge-su4":
            return texts.skip_bigrams(with_unigrams=measure == "rouge-su4")
        case _:
            raise ValueError(f"there is no ROUGE measure {measure!r}; there are {', '.join(MEASURES)}")


def _combined(overlap: Overlap, settings: RougeOptions) -> list[Score]:
    score = _jackknifed if settings.jackknife and len(overlap.in_references) > 1 else _score
    return [score(hits, in_references, own, settings) for hits, in_references, own in _rows(overlap)]


def _rows(overlap: Overlap) -> Iterable[tuple[list[int], list[int], int]]:
    """Summary by summary: its hits with each reference, the units of each reference, its own units."""
    in_references: list[int] = overlap.in_references.tolist()
    for hits, own in zip(overlap.hits.tolist(), overlap.in_summaries.tolist(), strict=True):
        yield hits, in_references, own


def _jackknifed(hits: list[int], in_references: list[int], own: int, settings: RougeOptions) -> Score:
    """The mean score over the sets of references that lack one."""
    k = len(hits)
    parts = [_score(_without(hits, i), _without(in_references, i), own, settings) for i in range(k)]
    return Score(*(round(sum(values) / k, 5) for values in zip(*parts, strict=True)))


def _against_others(own: int, hits: list[int], in_references: list[int], units: int, settings: RougeOptions) -> Score:
    """The score of a summary that is a reference itself; not a number where there is no other."""
    if len(hits) == 1:
        return Score(math.nan, math.nan, math.nan)
    return _score(_without(hits, own), _without(in_references, own), units, settings)


def _without(values: list[int], i: int) -> list[int]:
    return values[:i] + values[i + 1 :]


def _score(hits: list[int], in_references: list[int], own: int, settings: RougeOptions) -> Score:
    if settings.references == "best":  # by rounded recall; the first of equals stands
        recalls = list(map(_share, hits, in_references))
        best = recalls.index(max(recalls))
        hits, in_references = [hits[best]], [in_references[best]]
    shared = sum(hits)
    recall = _share(shared, sum(in_references))
    precision = _share(shared, own * len(hits))
    f = round(recall * precision / (0.5 * precision + 0.5 * recall), 5) if shared else 0.0
    return Score(recall, precision, f)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 5) if whole else 0.0


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
        return frozenset({Need.REFERENCES})

    @property
    def signature(self) -> str:
        kept = "" if self.references is None else f", by the first {self.references} references by name"
        return f"{signature(self.measure, self.settings)} {self.value}{kept}"

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """A summary that is a reference itself is scored by the others; not a number where there is no other."""
        topic = first_references(topic, self.references)
        summaries = tuple(summary.sentences for summary in topic.summaries)
        overlap = _overlap(_texts(summaries, topic.references, self.settings), self.measure)
        scores = _combined(overlap, self.settings)
        for k, (summary, row) in enumerate(zip(topic.summaries, _rows(overlap), strict=True)):
            if (own := topic.own_reference(summary)) is not None:
                scores[k] = _against_others(own, *row, self.settings)
        return np.array([getattr(score, self.value) for score in scores], dtype=np.float64)


# Several measures are asked for of one topic after another: each of its texts is read once.
_texts = lru_cache(maxsize=1)(Texts)


def _make(asked: str, options: Options, _: Settings) -> Metric:
    measure = next(name for name in MEASURES if name == asked.partition(":")[0])
    try:
        settings = RougeOptions(
            stem="unstemmed" not in options,
            remove_stop_words="stop" in options,
            words=whole_number(asked, options, "words"),
            bytes=whole_number(asked, options, "bytes"),
            references="best" if "best" in options else "pooled",
            jackknife="jackknife" in options,
        )
        numbers = {option: whole_number(asked, options, option) for option in (MODELS, "pseudo")}
        if any(number is not None and number < 1 for number in numbers.values()):
            raise ValueError("a number of models must be at least 1")
        if "global" in options and "local" in options:
            raise ValueError("pseudomodels are either global or local")
    except UnknownMetric:
        raise
    except ValueError as error:
        raise UnknownMetric(f"{asked}: {error}") from None
    value: Value = "f" if "f" in options else "precision" if "p" in options else "recall"
    if not options.keys() & {"pseudo", "global", "local"}:
        return Rouge(asked, measure, value, settings, numbers[MODELS])
    by_references, by_pool = (
        Rouge(asked, measure, value, replace(settings, jackknife=jackknife)) for jackknife in (False, True)
    )
    scope: Scope = "global" if "global" in options else "local"
    return Pseudomodels(asked, by_references, by_pool, numbers["pseudo"] or PSEUDOMODELS, scope, numbers[MODELS])


register(
    Family(
        MEASURES,
        "ROUGE-1.5.5: words that a summary shares with the references (recall)",
        {
            "f": "the F-measure",
            "p": "precision",
            "stop": "without SMART stop words (-s)",
            "unstemmed": "without stems (no -m)",
            "words": "=100: only the first so many words (-l)",
            "bytes": "=665: only the first so many bytes (-b)",
            "best": "the best reference in place of all pooled (-f B)",
            "jackknife": "the mean over the sets that lack one reference",
            MODELS: "=1: by so many references, the first by name",
            "pseudo": f"=3: the summaries of so many of the best machines are references, too ({PSEUDOMODELS})",
            "local": "pseudomodels: the best of each topic",
            "global": "pseudomodels: the best of all topics",
        },
        _make,
    )
)
