"""Pyramid annotations as plain values (`preferendum.methods.corpora.pyramid_xml` and
`preferendum.formats.readers.pyramid_json` read them).

A. Nenkova, R. Passonneau & K. McKeown, "The Pyramid method", ACM TSLP 4(2), 2007. A pyramid lists summary content
units (SCUs); each is expressed by contributors, stretches of text in the model summaries, and weighs as much as the
number of models that express it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an annotated text: what it says, and where it was found (None: nowhere)."""

    label: str
    span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Contributor:
    """What expresses an SCU in one place, in one part or several. `model`: index of its model summary."""

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
        """The models that express it; a contributor without a place is a model of its own (-1, -2, ...)."""
        places = enumerate(self.contributors, 1)
        return frozenset(-i if contributor.model is None else contributor.model for i, contributor in places)

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
    """The pyramid of a topic, and the annotated summaries by system. `assessor`: who annotated them, if known."""

    pyramid: Pyramid
    peers: Mapping[str, Peer] = field(default_factory=dict)
    assessor: str = ""


class AnnotatedText:
    """An annotated text, in which stretches are found by their words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places = [i for i, character in enumerate(text) if not character.isspace()]
        self._squeezed = "".join(text[i] for i in self._places)
        self._backwards = self._squeezed[::-1]

    def find(self, label: str, near: int) -> tuple[int, int] | None:
        """The place of the words of `label` that is nearest to the claimed one, ignoring white space."""
        wanted = "".join(label.split())
        start = self._nearest(wanted, bisect_left(self._places, near)) if wanted else None
        return None if start is None else (self._places[start], self._places[start + len(wanted) - 1] + 1)

    def _nearest(self, wanted: str, near: int) -> int | None:
        """The occurrence that begins nearest to `near`, the earlier of two.

        The one before is looked for backwards: `rfind` takes the product of both lengths where `find` takes their sum.
        """
        length = len(self._squeezed)
        before = self._backwards.find(wanted[::-1], max(length - near - len(wanted), 0))
        starts = [] if before < 0 else [length - before - len(wanted)]
        after = self._squeezed.find(wanted, near)
        if after >= 0:
            starts.append(after)
        return min(starts, key=lambda start: abs(start - near), default=None)
