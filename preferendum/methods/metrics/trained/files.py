"""A metric that was trained: a linear combination of a summary's features, with what it was learnt from.

    {"format": 1, "kind": "classy", "method": "canon", "target": "responsiveness", "peers": "all",
     "intercept": 1.5, "features": {"rouge-su4": [37.0, null], ...},
     "sources": [{"name": "TAC 2009", "use": "learnt", "texts": "3f2a...", "summaries": 2420,
                  "topics": {"D0901-A": "77b1...", ...}}],
     "left_out": [{"topics": ["77b1...", ...], "intercept": 1.4, "features": {...}}, ...],
     "options": {}, "program_version": "1.0.0"}

A score is intercept + sum of coefficient x feature; `features` gives each coefficient and the substitute of a feature
that is not a number: its mean, or null where there is then no score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, Literal

from preferendum.formats.checks import limits, shapes, strict_json
from preferendum.formats.checks.complaints import Complaints, Place, shown
from preferendum.formats.readers.lines import read_lines

Use = Literal["learnt", "chosen"]

LINGUISTIC = (
    "sentences",
    "redundancy-1",
    "redundancy-2",
    "term-entropy",
    "sentence-entropy",
    "overlap",
    "normalized-overlap",
)
CONTENT = ("rouge-2", "rouge-su4", "coverage", "bigrams", "coverage-p2p", "bigrams-p2p")
#: Before the name of a content feature that is about the references of the topic's earlier set (Nouveau-ROUGE).
BASE = "base-"


@dataclass(frozen=True, slots=True)
class Kind:
    """What there may be in metrics of a kind: how they are trained, and the features that they weigh."""

    methods: tuple[str, ...]
    features: tuple[str, ...]


#: Adding a kind is a line here, and its features' values in `preferendum.methods.metrics.trained.scores`.
KINDS: Mapping[str, Kind] = {
    "classy": Kind(("robust", "nnls", "canon"), (*LINGUISTIC, *CONTENT, *(f"{BASE}{name}" for name in CONTENT))),
    "prefscore": Kind(
        ("bradley-terry",), ("js", "kl", "kl-summary", "cosine-tf", "new-words", "log-unigram", *LINGUISTIC)
    ),
    "simetrix": Kind(
        ("least-squares",),
        (
            *("js", "js-smoothed", "kl", "kl-summary", "unigram", "multinomial"),
            *("cosine", "cosine-topic", "topic-share", "topic-fraction"),
        ),
    ),
}
#: That learn from references, and so without human scores.
FROM_REFERENCES = KINDS["prefscore"].methods
METHODS = tuple(method for kind in KINDS.values() for method in kind.methods)


@dataclass(frozen=True, slots=True)
class Linear:
    """`features`: of each its coefficient, and what it counts as where it is not a number; None: there is no score."""

    intercept: float
    features: Mapping[str, tuple[float, float | None]]


@dataclass(frozen=True, slots=True)
class Source:
    """Topics that coefficients were learnt from, or that features were chosen by.

    `topics`: the digest of each topic's documents by its name; `texts`: one of everything that was read of them.
    """

    name: str
    use: Use
    texts: str
    summaries: int
    topics: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The same learnt without some topics, named by their digests, so that these can be scored."""

    topics: tuple[str, ...]
    linear: Linear


@dataclass(frozen=True, slots=True)
class TrainedMetric:
    """`target`: the dimension of human scores that it predicts; `peers`: whose summaries it learnt from. Both are
    empty where it learnt from no human scores. `options`: what its kind needs to know in addition to the features."""

    kind: str
    method: str
    target: str
    peers: str
    linear: Linear
    sources: tuple[Source, ...]
    left_out: tuple[LeftOut, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    program_version: str = ""


_digest = shapes.matching(re.compile(r"[0-9a-f]{64}"), "a SHA-256 digest: 64 digits and letters from a to f")
_features = shapes.by_name((shapes.real(), shapes.maybe(shapes.real())))
_LINEAR: dict[str, shapes.Check] = {"intercept": shapes.real(), "features": _features}
_SOURCE: dict[str, shapes.Check] = {
    "name": shapes.words(limits.TITLE_CHARACTERS),
    "use": shapes.one_of(("learnt", "chosen")),
    "texts": _digest,
    "summaries": shapes.whole(0, 10**9),
    "topics": shapes.each(_digest),
}
_LEFT_OUT: dict[str, shapes.Check] = {"topics": shapes.listed(_digest, limits.TOPICS), **_LINEAR}
_WHOLE: dict[str, shapes.Check] = {
    "format": shapes.whole(1, 1),
    "kind": shapes.one_of(tuple(KINDS)),
    "method": shapes.one_of(METHODS),
    "target": shapes.words(limits.DIMENSION_CHARACTERS),
    "peers": shapes.one_of(("machines", "all", "")),
    **_LINEAR,
    "sources": shapes.listed(shapes.of_shape(lambda **values: Source(**values), _SOURCE), 10),
    "left_out": shapes.listed(shapes.of_shape(lambda **values: _left_out(values), _LEFT_OUT), limits.TOPICS),
    "options": shapes.each(shapes.words(limits.NAME_CHARACTERS)),
    "program_version": shapes.words(40),
}


def trained_metric_from(place: Place, given: Mapping[str, Any]) -> TrainedMetric | None:
    """The metric of one JSON object, or None and every complaint about it."""
    before = len(place.complaints.collected)
    optional = ("left_out", "options", "program_version")
    metric = shapes.record(place, given, lambda **values: _whole(values), _WHOLE, optional)
    if metric is not None:
        _check(place, metric)
    return metric if len(place.complaints.collected) == before else None


def trained_metric_as_json(metric: TrainedMetric) -> dict[str, Any]:
    """What `trained_metric_from` gives back as it is."""
    values = asdict(metric)
    left_out = [{"topics": part["topics"], **part["linear"]} for part in values.pop("left_out")]
    return {"format": 1, **values.pop("linear"), **values, "left_out": left_out}


def read_trained_metric(file: BinaryIO, name: str) -> TrainedMetric:
    """The metric of a file of that name. Raises `Refused`."""
    complaints = Complaints()
    place = Place(complaints, name)
    text = "\n".join(line or "" for _number, line in read_lines(file, place))
    given = None if complaints.collected else strict_json.parse_object(place, text)
    metric = None if given is None else trained_metric_from(place, given)
    if metric is None:
        raise complaints.refused()
    return metric


def written_trained_metric(metric: TrainedMetric) -> str:
    """The text of such a file."""
    return json.dumps(trained_metric_as_json(metric), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _whole(values: dict[str, Any]) -> TrainedMetric:
    del values["format"]
    return TrainedMetric(linear=_linear(values), **values)


def _left_out(values: dict[str, Any]) -> LeftOut:
    return LeftOut(values["topics"], _linear(values))


def _linear(values: dict[str, Any]) -> Linear:
    return Linear(values.pop("intercept"), values.pop("features"))


def _check(place: Place, metric: TrainedMetric) -> None:
    """What is of another kind than the metric is."""
    kind = KINDS[metric.kind]
    if metric.method not in kind.methods:
        place.key("method").refuse(
            "%(method)s", "for %(kind)s one of %(methods)s",
            method=metric.method, kind=metric.kind, methods=", ".join(kind.methods),
        )  # fmt: skip
    places = [place, *(place.key("left_out").key(k) for k in range(len(metric.left_out)))]
    for here, linear in zip(places, (metric.linear, *(part.linear for part in metric.left_out)), strict=True):
        if not linear.features:
            here.key("features").refuse("none", "at least one")
        for name in sorted(linear.features.keys() - set(kind.features)):
            expected = "a feature of %(of)s"
            here.key("features").refuse_unknown("feature", name, kind.features, expected, of=shown(metric.kind))
    if not metric.sources:
        place.key("sources").refuse("none", "what it was learnt from")
