"""Misfits: sentences that won more or less often than their utilities let one expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results import Misfit
from preferendum.show.shown import Column, Shown, Table, as_text, decimals

#: A residual beyond this is unusual.
UNUSUAL = 2.0


@dataclass(frozen=True, slots=True)
class MisfittingSentence:
    """A sentence of a topic that fits badly, with its name and its text."""

    topic: str
    name: str
    text: str
    misfit: Misfit


def show(sentences: Sequence[MisfittingSentence], asked: Mapping[str, str]) -> Shown:
    """The sentences that fit worst, of all topics together."""
    return Shown(verdict(sentences), [_table(sentences)] if sentences else ())


def verdict(sentences: Sequence[MisfittingSentence]) -> str:
    """How many sentences won unusually often or rarely; the first fits worst."""
    unusual = [row for row in sentences if abs(row.misfit.z) > UNUSUAL]
    if not unusual:
        return _("No sentence won unusually often or rarely: no residual is beyond ±2.")
    worst = unusual[0].misfit
    sentence = ngettext(
        "%(n)s sentence won unusually often or rarely (residual beyond ±2), at most by %(z)s: it won %(wins)s of "
        "%(judgments)s, %(expected)s expected.",
        "%(n)s sentences won unusually often or rarely (residual beyond ±2), at most by %(z)s: one won %(wins)s of "
        "%(judgments)s, %(expected)s expected.",
        len(unusual),
    )
    return sentence % {
        "n": len(unusual),
        "z": f"{worst.z:+.2f}",
        "wins": f"{worst.wins:g}",
        "judgments": worst.judgments,
        "expected": f"{worst.expected:.1f}",
    }


def _table(sentences: Sequence[MisfittingSentence]) -> Table:
    return Table(
        "misfits",
        _("Sentences that fit worst"),
        (
            Column("text", _("Sentence"), as_text),
            Column("topic", _("Topic"), as_text),
            Column("sentence"),
            Column("z", _("Residual"), lambda z: f"{z:+.2f}"),
            Column("wins", _("Won"), lambda wins: f"{wins:g}"),
            Column("expected", _("Expected"), decimals(1)),
            Column("judgments", _("Judgments")),
        ),
        tuple(
            (
                *(row.text, row.topic, row.name, row.misfit.z),
                *(row.misfit.wins, row.misfit.expected, row.misfit.judgments),
            )
            for row in sentences
        ),
        note=_(
            "Where a sentence wins unusually often or rarely, people may read it differently, or similar sentences may "
            "be worth more or less. The residual is (won − expected) / standard deviation; beyond ±2 is unusual, since "
            "the utilities were fitted to these very judgments. Unusual sentences stand out. The list ends after 20 "
            "sentences of a topic, and 50 of a study."
        ),
        closed=not any(abs(row.misfit.z) > UNUSUAL for row in sentences),
        links=tuple({"sentence_id": row.misfit.sentence} for row in sentences),
        leads_to="sentence",
        marked=frozenset(k for k, row in enumerate(sentences) if abs(row.misfit.z) > UNUSUAL),
    )
