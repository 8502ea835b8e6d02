"""What is known of a machine that judges: as files, the API and archives have it, checked in one place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from preferendum.formats.checks import limits, shapes
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.records import Preference
from preferendum.formats.serialization import from_json, to_json

Words = Annotated[str, shapes.words(limits.NAME_CHARACTERS)]
#: No cost or temperature is larger.
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Judge:
    """A machine that judges; what is "", null or empty is not known.

    `prompt_sha256`: of the prompt's UTF-8, in NFC with lines that end in \\n; it is worked out where the prompt is
    given. `cost`: of one answer, in `currency`. `maker`: who made the model; `made`: the systems by the same maker,
    which the judge may favour.
    """

    model: Words = ""
    version: Words = ""
    prompt: Annotated[str, shapes.words(limits.PROMPT_OF_JUDGE)] = ""
    prompt_sha256: Annotated[str, shapes.matching(re.compile("([0-9a-f]{64})?"), "a SHA-256 sum, or nothing")] = ""
    temperature: Annotated[float, shapes.real(0, _MOST)] | None = None
    cost: Annotated[float, shapes.real(0, _MOST)] | None = None
    currency: Annotated[str, shapes.words(limits.CURRENCY_CHARACTERS)] = ""
    maker: Words = ""
    made: Annotated[tuple[str, ...], shapes.systems] = ()

    def __post_init__(self) -> None:
        if self.prompt and not self.prompt_sha256:
            object.__setattr__(self, "prompt_sha256", _sum_of(self.prompt))

    @property
    def is_known(self) -> bool:
        """Whether anything is."""
        return self != Judge()

    def contradicts(self, other: Judge) -> bool:
        """Whether both know their model, version, prompt or temperature, and differ there: then they are two."""
        names = ("model", "version", "prompt_sha256", "temperature")
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return any(own != given for own, given in pairs if own not in ("", None) and given not in ("", None))


def judge_from(place: Place, given: Any) -> Judge | None:
    """The judge of an object of JSON, any of whose keys may be missing; None and complaints where it is none."""
    if not isinstance(given, Mapping):
        shapes.free(place, given)
        return None
    shape = shapes.shape_of(Judge)
    judge = shapes.record(place, given, Judge, shape, optional=shape)
    if judge is None or not judge.prompt or judge.prompt_sha256 == (own := _sum_of(judge.prompt)):
        return judge
    actual = "%(given)s, and the prompt has %(own)s"
    place.key("prompt_sha256").refuse(actual, "the sum of the prompt", given=shown(judge.prompt_sha256), own=own)
    return None


def _sum_of(prompt: str) -> str:
    return hashlib.sha256(prompt.encode()).hexdigest()


def judge_in(rows: Iterable[Preference]) -> Judge:
    """What the rows of one machine say of it: the first that says something."""
    descriptions = (row.extra["judge"] for row in rows if isinstance(row.extra.get("judge"), Mapping))
    return next((judge_of(own) for own in descriptions), Judge())


def judge_of(kept: Mapping[str, Any] | None) -> Judge:
    """The judge that was kept as JSON."""
    return from_json(Judge, kept) if kept else Judge()


def kept_of(judge: Judge | None) -> dict[str, Any] | None:
    """The judge as JSON to keep; None where nothing is known."""
    return dict(to_json(judge)) if judge is not None and judge.is_known else None
