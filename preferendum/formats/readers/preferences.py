"""Preferences: who preferred which of two sentences or summaries, as JSON Lines or as CSV with the same columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, Literal, cast, get_args

from preferendum.formats.answers import LETTERS
from preferendum.formats.checks import shapes, strict_json
from preferendum.formats.checks.complaints import Place, kind, shown
from preferendum.formats.checks.text import clean, name
from preferendum.formats.judge import judge_from, kept_of
from preferendum.formats.readers.draft import Alone, Draft
from preferendum.formats.readers.headings import ASPECTS, letter_of
from preferendum.formats.readers.lines import Sink, read_objects
from preferendum.formats.readers.tables import Columns, Row, number, write_rows
from preferendum.formats.readers.topics import named
from preferendum.formats.reasons import NOTE_CHARACTERS, WORDS_CHARACTERS
from preferendum.formats.records import KINDS, Of, Preference, design_weight

NEEDED = ("topic", "a", "b", "winner")
OPTIONAL = ("annotator", "seconds", "at")
COLUMNS = Columns(NEEDED, (*OPTIONAL, "of"), others=True)
#: Of a table without topics.
COLUMNS_ALONE = Columns(NEEDED[1:], ("topic", *OPTIONAL, "of"), others=True)

#: What our CSV has besides these.
WRITTEN = ("kind", "reason", "design_weight", "why", "note", "confidence")

#: What the two sides of a pair must be.
TWO_OF: Mapping[Of, str] = {"sentences": "two different sentences", "summaries": "summaries of two systems"}

#: The keys of a reason for an answer, with the most characters of each.
REASONS = {"why": WORDS_CHARACTERS, "note": NOTE_CHARACTERS}
_KEYS = frozenset((*NEEDED, *OPTIONAL, "of"))
#: What is null in a line of JSON where it is not known.
_NULLABLE = (*OPTIONAL, "of", "reason", "design_weight", "drawn_for", "confidence", "judge", *REASONS)
_SENTENCE = re.compile(r"(?P<document>.+):(?P<index>0|[1-9][0-9]{0,6})", re.DOTALL)


def read_preferences_jsonl(file: BinaryIO, place: Place, draft: Draft) -> None:
    for here, given in read_objects(file, place):
        if not add_preference(here, given, draft):
            return


def add_preference(here: Place, given: dict[str, Any], draft: Draft) -> bool:
    """Add the preference of an object; False where there is too much."""
    preference = preference_of(here, given, draft.alone)
    if preference is None:
        return True
    _refuse_another_aspect(here, preference, draft)
    return draft.add_row(draft.preferences, preference, here, preference.extra)


def _refuse_another_aspect(here: Place, preference: Preference, draft: Draft) -> None:
    """Complain where an answer is about another aspect than one before: a board of both would say nothing of either."""
    for key, value in preference.extra.items():
        if key.casefold() in ASPECTS and isinstance(value, str | int) and (aspect := str(value).strip()):
            first = draft.aspects.setdefault((preference.of, key), aspect)
            if aspect != first:
                expected = "answers about one aspect in a file, here %(first)s"
                here.key(key).refuse("%(aspect)s", expected, aspect=shown(aspect), first=shown(first))


def read_preferences_rows(rows: Iterable[tuple[Place, Row]], draft: Draft) -> None:
    for here, row in rows:
        given: dict[str, Any] = {key: value for key, value in row.items() if value or key in NEEDED}
        given["winner"] = _letter(row)
        if "seconds" in given:
            given["seconds"] = number(here.key("seconds"), given["seconds"])
            if given["seconds"] is None:
                continue
        if not add_preference(here, given, draft):
            return


def _letter(row: Row) -> str:
    """The letter of a table's answer, which may be another word or the name of a side; other values as they are."""
    winner = row["winner"]
    if winner in LETTERS:
        return winner
    word = winner.strip()
    named = next((side for side in ("a", "b") if word and row[side].strip() == word), "")
    return named or letter_of(word) or winner


def write_preferences(
    preferences: Iterable[Preference], file: Sink, form: Literal["jsonl", "csv"] = "jsonl", *, with_of: bool = False
) -> None:
    """JSON Lines are exact and for analysis. CSV is for spreadsheets: formulas are defused, and the only other keys are
    who judged (`kind`), why the pair was shown (`reason`), its `design_weight`, the reason for the answer (`why`,
    `note`) and a machine's `confidence`. What is known of a machine (`judge`) is in its first line.

    `with_of`: in CSV a column says what each is about; without it all must be about sentences.
    """
    of = ("of",) if with_of else ()
    if form == "csv":
        rows = (
            (
                *(getattr(p, key) for key in (*NEEDED, *OPTIONAL)),
                kind_of(p),
                _word(p, "reason"),
                p.extra.get("design_weight"),
                _word(p, "why"),
                _word(p, "note"),
                p.extra.get("confidence"),
                *(p.of for _column in of),
            )
            for p in preferences
        )
        write_rows(file, (*NEEDED, *OPTIONAL, *WRITTEN, *of), rows)
        return
    described: set[str] = set()
    for preference in preferences:
        row = preference_as_json(preference)
        if preference.annotator in described:
            row["judge"] = None
        elif row["judge"]:
            described.add(preference.annotator)
        file.writelines([strict_json.line(row).encode() + b"\n"])


def _word(preference: Preference, key: str) -> str:
    word = preference.extra.get(key)
    return word if isinstance(word, str) else ""


def kind_of(preference: Preference, otherwise: str = "human") -> str:
    """Who judged: `human`, `machine` or `simulated`; `otherwise` where the preference does not say."""
    return _word(preference, "kind") or otherwise


def is_recognisable(preference: Preference) -> bool:
    """Whether an equal row is the same judgment. Without annotator and time it may be another person's, without topic
    and time about other texts, and simulated ones are drawn with replacement."""
    is_known = preference.at or (preference.annotator and preference.topic)
    return bool(is_known) and kind_of(preference) != "simulated"


def weight_of(preference: Preference) -> float:
    """The preference's design weight."""
    return design_weight(preference.extra.get("reason"), preference.extra.get("design_weight"))


def drawn_for(preference: Preference) -> tuple[str, ...] | None:
    """The systems that its pair was drawn to tell apart; None for all of its topic."""
    systems = preference.extra.get("drawn_for")
    return None if systems is None else tuple(systems)


def preference_as_json(preference: Preference) -> dict[str, Any]:
    """The preference as an object of JSON with every key, since some programs take the keys of the first lines for
    those of all.
    """
    given: dict[str, Any] = {**dict.fromkeys(_NULLABLE), **preference.extra}
    given |= {"kind": kind_of(preference), "of": preference.of}
    given |= {key: getattr(preference, key) for key in NEEDED}
    return given | {key: value for key in OPTIONAL if (value := getattr(preference, key)) not in ("", None)}


def sentence_name(given: str) -> tuple[str, int] | None:
    """`d1:0` as document and index; None where it is no name of a sentence."""
    match = _SENTENCE.fullmatch(given)
    return (match["document"], int(match["index"])) if match else None


def preference_of(place: Place, given: dict[str, Any], alone: Alone | None) -> Preference | None:
    """A row with our keys as a preference; None and complaints where it is none."""
    before = len(place.complaints.collected)
    given = {key: value for key, value in given.items() if value is not None or key not in _NULLABLE}
    topic = named(place, given, "topic") if alone is None else _topic_alone(place, given, alone)
    of = of_what(place.key("of"), given.get("of") if alone is None else given.get("of") or _of_alone(given, alone))
    a, b = (_side(place, given, key, of) for key in ("a", "b"))
    if a and a == b:
        place.key("b").refuse("%(name)s on both sides", TWO_OF[of or "sentences"], name=shown(a))
    winner = given.get("winner")
    if not isinstance(winner, str) or winner not in LETTERS:
        what, (*most, last) = "no such key" if "winner" not in given else kind(winner), LETTERS
        place.key("winner").refuse("%(what)s", f"{', '.join(most)} or {last}", what=what)
    if "kind" in given and given["kind"] not in KINDS:  # or a machine might count as a person
        place.key("kind").refuse("%(what)s", ", ".join(KINDS), what=kind(given["kind"]))
    extra = strict_json.extras(place, given, _KEYS)
    if "design_weight" in extra:
        extra["design_weight"] = _design_weight(place.key("design_weight"), extra["design_weight"])
    if "drawn_for" in extra:
        extra["drawn_for"] = list(shapes.systems(place.key("drawn_for"), extra["drawn_for"]))
    if extra.get("kind") == "machine":
        _check_machine(place, extra)
    for key in REASONS.keys() & extra.keys():
        extra[key] = shapes.words(REASONS[key])(place.key(key), extra[key])
    preference = Preference(
        topic,
        a,
        b,
        winner=winner,  # type: ignore[arg-type]  # or complained of above
        annotator=_annotator(place, given),
        seconds=_seconds(place, given),
        at=_at(place, given),
        extra=extra,
        of=of or "sentences",
    )
    return preference if len(place.complaints.collected) == before else None


def _check_machine(place: Place, extra: dict[str, Any]) -> None:
    """Check a machine's confidence, and what is known of it, in place; in a table a word named judge is neither."""
    if "confidence" in extra:
        here, given = place.key("confidence"), extra["confidence"]
        given = number(here, given) if isinstance(given, str) else given
        extra["confidence"] = 0.0 if given is None else shapes.real(0, 1)(here, given)
    if not isinstance(extra.get("judge", ""), str):
        kept = kept_of(judge_from(place.key("judge"), extra.pop("judge")))
        extra |= {"judge": kept} if kept else {}


def _topic_alone(place: Place, given: Mapping[str, Any], alone: Alone) -> str:
    """The name of the topic; empty where no row has one."""
    is_named = given.get("topic") not in (None, "")
    if alone.has_topics is None:
        alone.has_topics = is_named
    if is_named != alone.has_topics:
        actual = "%(what)s, and rows before it have none" if is_named else "nothing, and rows before it have one"
        place.key("topic").refuse(actual, "a topic in every row, or in none", what=kind(given.get("topic")))
        return ""
    return named(place, given, "topic") if is_named else ""


def _of_alone(given: Mapping[str, Any], alone: Alone) -> Of:
    """What is compared where nothing is said: sentences if the first row names two as files do."""
    if alone.of is None:
        sides = [given.get(side) for side in ("a", "b")]
        are_sentences = all(isinstance(side, str) and sentence_name(side) for side in sides)
        alone.of = "sentences" if are_sentences else "summaries"
    return alone.of


def of_what(place: Place, value: Any) -> Of | None:
    """What a pair is of, sentences where nothing is said; None and a complaint where it is nothing that is compared."""
    if value is None or value == "":
        return "sentences"
    if isinstance(value, str) and value in get_args(Of):
        return cast(Of, value)
    place.refuse("%(what)s", "sentences or summaries", what=kind(value))
    return None


def _side(place: Place, given: Mapping[str, Any], key: str, of: Of | None) -> str:
    """The name of one of the two; empty where there is none, which was complained of."""
    if of is None:
        return ""
    return named(place, given, key) if of == "summaries" else _sentence(place, given, key)


def _sentence(place: Place, given: Mapping[str, Any], key: str) -> str:
    here = place.key(key)
    value = given.get(key)
    if not isinstance(value, str):
        what = "no such key" if key not in given else kind(value)
        here.refuse("%(what)s", "a sentence's name <document>:<index from 0>, such as d1:0", what=what)
        return ""
    cleaned = clean(here, value)
    if cleaned is None:
        return ""
    if not sentence_name(cleaned):
        here.refuse("%(what)s", "a sentence's name <document>:<index from 0>, such as d1:0", what=shown(cleaned))
        return ""
    return cleaned


def _annotator(place: Place, given: Mapping[str, Any]) -> str:
    value = given.get("annotator")
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return name(place.key("annotator"), value) or ""
    place.key("annotator").refuse("%(what)s", "a name in double quotes", what=kind(value))
    return ""


def _seconds(place: Place, given: Mapping[str, Any]) -> float | None:
    value = given.get("seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or math.isinf(value):
        place.key("seconds").refuse("%(what)s", "a number of seconds, 0 or more", what=kind(value))
        return None
    return float(value)


def _design_weight(place: Place, value: Any) -> float:
    given = number(place, value) if isinstance(value, str) else value
    return 0.0 if given is None and isinstance(value, str) else shapes.real(0)(place, given)


def _at(place: Place, given: Mapping[str, Any]) -> str:
    value = given.get("at")
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return shapes.moment(place.key("at"), value)
    place.key("at").refuse("%(what)s", "a time such as 2026-01-31T16:53:19Z", what=kind(value))
    return ""
