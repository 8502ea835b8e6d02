"""Pyramid annotations as plain values (`formats.pyramid_xml` reads them).

A. Nenkova, R. Passonneau & K. McKeown, "The Pyramid method", ACM TSLP 4(2), 2007. A pyramid lists summary content
units (SCUs); each is expressed by contributors, stretches of text in the model summaries, and weighs as much as the
number of models that express it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an annotated text: what it says, and where it was found (None: nowhere)."""

    label: str
    span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Contributor:
    """What expresses an SCU in one place, in one part or several. `model`: index of the model summary it stands in."""

    parts: tuple[Part, ...]
    model: int | None = None


@dataclass(frozen=True, slots=True)
class Scu:
    """A summary content unit: a piece of meaning and the places where the models express it."""

    uid: str
    label: str
    contributors: tuple[Contributor, ...]

    @property
    def models(self) -> frozenset[int]:
        """The models that express it; a contributor that stands nowhere is a model of its own (-1, -2, ...)."""
        places = enumerate(self.contributors, 1)
        return frozenset(-i if one.model is None else one.model for i, one in places)

    @property
    def weight(self) -> int:
        return len(self.models)


@dataclass(frozen=True, slots=True)
class Pyramid:
    """What the model summaries of a topic say. `text`: all of them; `models`: their names, `borders`: where they begin.

    Without borders in the file each contributor counts as a model of its own.
    """

    text: str
    scus: tuple[Scu, ...]
    models: tuple[str, ...] = ()
    borders: tuple[int, ...] = ()

    @property
    def weights(self) -> Mapping[str, int]:
        return {scu.uid: scu.weight for scu in self.scus}


@dataclass(frozen=True, slots=True)
class Peer:
    """What one summary says: the contributors of each SCU of the pyramid that it expresses, and all that match none."""

    text: str
    matched: Mapping[str, tuple[Contributor, ...]]
    unmatched: tuple[Contributor, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotation:
    """The pyramid of a topic, and the annotated summaries by system."""

    pyramid: Pyramid
    peers: Mapping[str, Peer] = field(default_factory=dict)
