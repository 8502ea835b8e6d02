"""A judge's card: a machine held against people, and its bias for each system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop
from preferendum.results.judge_card import (
    AGREES,
    FEWEST_PAIRS,
    FIRST_NAMED,
    FIRST_WINS,
    LESS,
    MORE,
    TIES,
    TOO_EARLY,
    JudgeCard,
    Row,
)
from preferendum.show.judge import in_words
from preferendum.show.points import unit_for
from preferendum.show.shown import DASH, Cell, Column, Shown, Table, as_text, p_value, sentences

_LEANS = {
    (FIRST_WINS, MORE): gettext_noop("It leans to the first shown"),
    (FIRST_WINS, LESS): gettext_noop("It leans to the second shown"),
    (FIRST_NAMED, MORE): gettext_noop("It prefers the first named more often than people do"),
    (FIRST_NAMED, LESS): gettext_noop("It prefers the second named more often than people do"),
    (TIES, MORE): gettext_noop("It says that two are equal more often than people do"),
    (TIES, LESS): gettext_noop("It says that two are equal less often than people do"),
}


def show(card: JudgeCard, _asked: Mapping[str, Any]) -> Shown:
    """How far a judge agrees with people, how far these agree with each other, and what is surely wrong with it."""
    rests_on = _("Rests on %(answers)s answers by %(judge)s and %(human)s by people about whole summaries.") % {
        "answers": f"{card.answers:,}",
        "judge": card.judge,
        "human": f"{card.human:,}",
    }
    return Shown(sentences(_agreement(card), *_leans(card)), tables(card), rests_on=rests_on)


def _about(card: JudgeCard) -> str:
    """What is known of the judge; "" for nothing."""
    about = in_words(card.about, card.first, card.last)
    return f"{card.judge}: {about}" if about else ""


def _agreement(card: JudgeCard) -> str:
    agrees = card.row(AGREES)
    if agrees is None or agrees.note == TOO_EARLY or agrees.value is None:
        about = {"judge": card.judge, "pairs": agrees.n if agrees else 0, "least": FEWEST_PAIRS}
        early = _("Too early to compare %(judge)s with people: both decided %(pairs)d pairs, and it takes %(least)d.")
        return early % about
    words = _("Of %(n)s pairs that both decided, %(judge)s agrees with people in %(share)s")
    own = words % {"n": f"{agrees.n:,}", "judge": card.judge, "share": _with_interval(agrees)}
    if agrees.human is None:
        return own
    return _("%(own)s; people agree with each other in %(share)s") % {"own": own, "share": _shown(agrees, agrees.human)}


def _with_interval(row: Row) -> str:
    value, ends = _shown(row, row.value), _ends(row)
    return value if ends == DASH else f"{value} {ends}"


def _ends(row: Row) -> str:
    return DASH if row.low is None else f"[{_shown(row, row.low)}, {_shown(row, row.high)}]"


def _shown(row: Row, value: float | None) -> str:
    if value is None:
        return DASH
    if row.unit and row.unit != "%":
        return f"{value:,.0f}"
    unit = unit_for([row], is_share=row.unit == "%")
    return f"{unit.show(value)}{unit.sign}"


def _leans(card: JudgeCard) -> Iterator[str]:
    """What is surely wrong with the judge: a side, ties."""
    for row in card.rows:
        if words := _LEANS.get((row.what, row.note)):
            yield _(words)


def tables(card: JudgeCard) -> list[Table]:
    """The card, and the bias for each system where people's answers tell it."""
    columns = (
        Column("what", _("what"), as_text),
        *(Column("value"), Column("low"), Column("high"), Column("people")),
        *(Column("", _("judge")), Column("", _("95% interval")), Column("", _("people"))),
        *(Column("n", "n"), Column("note", _("note"), as_text)),
    )
    cells: list[tuple[Cell, ...]] = [
        (
            *(row.what, row.value, row.low, row.high, row.human),
            *(_shown(row, row.value), _ends(row), _shown(row, row.human), row.n, row.note),
        )
        for row in card.rows
    ]
    numbers = _(
        "%(answers)s answers by %(judge)s, %(human)s by people, which decide what is right; intervals are over topics, "
        "those of sides and ties Wilson's"
    )
    nameless = _("Answers do not say what they are about, so that none can be compared with people's")
    note = sentences(
        *_leans(card),
        numbers % {"answers": f"{card.answers:,}", "judge": card.judge, "human": f"{card.human:,}"},
        nameless if card.is_nameless else "",
        _about(card),
        _("The alternative-annotator test passes nearly every judge, ties are left out of it"),
    )
    title = _("%(judge)s beside people") % {"judge": card.judge}
    figures = Table("judge-card", title, columns, tuple(cells), note)
    return [figures, *([_biases(card)] if card.biases else [])]


def _biases(card: JudgeCard) -> Table:
    unit, is_marked = unit_for(card.biases), any(own.by_maker for own in card.biases)
    columns = (
        Column("system", _("system"), as_text),
        Column("bias", _("judge above people"), unit.show),
        *(Column("low"), Column("high"), Column("", _("95% interval")), Column("p", "p", p_value)),
        *([Column("by_maker", _("maker"), lambda is_own: _("the judge’s") if is_own else "")] if is_marked else []),
    )
    rows = tuple((own.system, *unit.bounded(own), own.p, *([own.by_maker] if is_marked else [])) for own in card.biases)
    note = _("In utilities (logits), beyond how it spreads systems; p for all systems together (Holm).")
    return Table("judge-bias", _("Bias a system"), columns, rows, note)
