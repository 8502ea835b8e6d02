"""Which column of a table is what: by name, by what is in it, or as a person says; then its rows with our names.

A column has a role, which is what `--columns ROLE=COLUMN` names. A table needs no `topic` if it has a `document`, the
text itself. Several columns may be `systems`: each holds the summaries of the system that it is named after.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.readers import headings, late, preferences
from preferendum.formats.readers.draft import Draft, Named
from preferendum.formats.readers.headings import WEAK, word_of
from preferendum.formats.readers.tables import Columns, Row, Table, is_number
from preferendum.formats.readers.tools.catalogue import topic_of
from preferendum.formats.records import Seen

Rows = Iterable[tuple[Place, Row]]

#: Roles without words of their own: their columns have exactly these names, or were seen by their contents.
ROLES = (*headings.NAMES, "systems", "reference_text", "person", "seconds", "at", "of")
#: Of these, the ones that have the same meaning in capitals, as `AT`.
_IN_ANY_CASE = frozenset(("person", "seconds", "at", "of"))
#: Columns of long texts that are no system's.
_ASIDE = frozenset(
    ("title", "url", "link", "notes", "note", "comment", "comments", "remark", "explanation", "reason", "date")
)
_SAMPLE = 200
#: A column whose values have more characters than this on the average holds texts, not names.
_LONG = 40
#: Texts of more words than this are hardly names, where nothing else says what they are.
_WORDS_OF_NAME = 4


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of table: what it is called, the columns of its form, and what reads its rows."""

    name: str
    columns: Columns
    read: Callable[[Rows, Draft], None]


KINDS = (
    Kind("preferences", preferences.COLUMNS, preferences.read_preferences_rows),
    Kind("human scores", late.HUMAN_SCORES, late.read_human_scores),
    Kind("scores by metrics", late.METRIC_SCORES, late.read_metric_scores),
    Kind("summaries", late.SUMMARIES, late.read_summaries),
)
SUMMARIES = KINDS[-1]
#: What is called like a role, or as a kind of table calls it.
_OWN = {*ROLES, *(column for kind in KINDS for column in kind.columns.needed)} - {"document", "reference"}


def seen(table: Table, named: Named | None = None) -> Seen:
    """What a table's columns are. Takes its first rows away. Certain is what names say, the columns' own and those that
    a person named in this header; what contents make likely is not."""
    rows = [row for _here, row in islice(table.rows, _SAMPLE)]
    looks = {column: _Look.at([row[column] for row in rows]) for column in table.header}
    roles, is_certain = _roles(table.header, looks)
    if named and not columns_of(named).keys().isdisjoint(table.header):
        roles, is_certain = as_named(table.header, roles, named), True
    if not _is_whole(roles):
        roles = as_named(table.header, _by_contents(table.header, looks, roles), named or {})
        is_certain = False
    first = tuple(tuple(row[column] for column in table.header) for row in rows[:3])
    return Seen(table.header, first, roles, is_certain and kind_of(roles) is not None, table.place.file)


def columns_of(named: Named) -> dict[str, str]:
    """The columns that a person named, each with its role."""
    return {
        column: role for role, given in named.items() for column in ([given] if isinstance(given, str) else list(given))
    }


def as_named(header: Sequence[str], roles: Mapping[str, str], named: Named) -> dict[str, str]:
    """The roles that were given; of the others those that were seen, unless another column has them now. Columns of the
    role "" have none."""
    given = {column: role for column, role in columns_of(named).items() if column in header}
    taken = {*given.values(), *(["system", "text"] if "systems" in given.values() else [])}
    merged = {column: role for column, role in roles.items() if column not in given and role not in taken} | given
    return {column: role for column, role in merged.items() if role}


def kind_of(roles: Mapping[str, str]) -> Kind | None:
    """The kind of a table whose columns have these roles; None where something is missing."""
    held = set(roles.values())
    if "document" in held:
        held.add("topic")
    for kind in KINDS[:-1]:
        # Preferences without a topic are complained of, or taken where they may have none.
        if {*kind.columns.needed} - {"topic"} <= held and (kind.name == "preferences" or "topic" in held):
            return kind
    is_full = {"system", "text"} <= held or "systems" in held or ("document" in held and not held & {"system", "text"})
    return SUMMARIES if "topic" in held and is_full else None


def read_as(table: Table, roles: Mapping[str, str], kind: Kind, draft: Draft) -> None:
    """Add the rows of a table whose columns have these roles."""
    place, complaints = table.place, table.place.complaints
    before = len(complaints.collected)
    changed = {role: column for column, role in roles.items() if role != column and role != "systems"}
    if changed:
        changes = ", ".join(f"{role} = {shown(column)}" for role, column in changed.items())
        Place(complaints, place.file).remark("columns: %(changes)s", changes=changes)
    if kind is SUMMARIES:
        late.read_texts(_text_rows(table, roles), draft)
    else:
        kind.read(_mapped(table, roles, kind), draft)
    complaints.collected[before:] = [
        replace(complaint, field=changed.get(complaint.field, complaint.field))
        for complaint in complaints.collected[before:]
    ]


def refuse_columns(table: Table, look: Seen) -> None:
    """Say which columns are missing for the nearest kind of table, and how to name them."""
    held = set(look.roles.values())
    held |= {"topic"} if "document" in held else set()
    # How much of each kind's columns the names say, whatever contents made likely.
    called = {column if column in _OWN else headings.role_of(column) for column in table.header}
    kind = max(reversed(KINDS), key=lambda kind: len(called & {*kind.columns.needed}) / len(kind.columns.needed))
    missing = [role for role in kind.columns.needed if role not in held]
    columns = ",".join(f"{role}=COLUMN" for role in missing or kind.columns.needed)
    table.place.refuse(
        "no column %(name)s among %(cells)s" if missing else "columns that do not say what they hold: %(cells)s",
        f"the columns %(header)s for {kind.name}: say which of yours these are (in a terminal with --columns "
        f"{columns}), or rename them",
        name=", ".join(missing),
        cells=shown(",".join(table.header), 200),
        header=kind.columns.header,
    )


def _mapped(table: Table, roles: Mapping[str, str], kind: Kind) -> Iterator[tuple[Place, Row]]:
    """Rows with our names; the other columns stay where the kind may have others."""
    usual = {*kind.columns.needed, *kind.columns.optional}
    document = next((column for column, role in roles.items() if role == "document"), None)
    # A file of ours with a header in capitals says with KIND who judged.
    is_ours = {*preferences.NEEDED} <= {column.lower() for column in table.header}
    ours = {column: column.lower() for column in table.header if is_ours and column.lower() in preferences.WRITTEN}
    for here, row in table.rows:
        renamed = {role: row[column] for column, role in roles.items() if role in usual}
        if kind.columns.others:
            others = {ours.get(column, column): row[column] for column in row if roles.get(column) not in usual}
            renamed = {column: value for column, value in others.items() if column not in usual} | renamed
        if "winner" in renamed:
            _refuse_unclear(here, renamed)
            renamed["topic"] = renamed.get("topic") or topic_of(here, row[document] if document else "")
            are_sentences = all(preferences.sentence_name(renamed[side]) for side in ("a", "b"))
            renamed["of"] = renamed.get("of") or ("sentences" if are_sentences else "summaries")
        yield here, renamed


def _refuse_unclear(here: Place, row: Row) -> None:
    """Complain where the winner is one side by its word and the other by its name."""
    word = row["winner"].strip()
    letter = headings.letter_of(word)
    if (letter, word) in (("a", row["b"].strip()), ("b", row["a"].strip())):
        actual = "%(word)s, which is a side and the system on the other"
        here.key("winner").refuse(actual, "left or right", word=shown(word))


#: What columns of a table of texts may be.
_OF_TEXTS = frozenset((*SUMMARIES.columns.needed, *SUMMARIES.columns.optional, "systems", "document", "reference_text"))


def _text_rows(table: Table, roles: Mapping[str, str]) -> Iterator[tuple[Place, Row]]:
    """A row for each summary, or for a row's topic without any. A system's empty cell in a row of several is none of
    its summaries."""
    of_role = {role: column for column, role in roles.items()}
    wide = [column for column, role in roles.items() if role == "systems"]
    kept = [role for role in ("person", "reference") if role in of_role]
    others = [column for column in table.header if roles.get(column) not in _OF_TEXTS]
    for here, row in table.rows:
        topic = row[of_role["topic"]] if "topic" in of_role else topic_of(here, row[of_role["document"]])
        common = {role: row[of_role[role]] for role in kept} | {"topic": topic.strip()}
        common |= {column: row[column] for column in others if column not in late.SUMMARIES.needed}
        texts = {role: row[of_role[role]] for role in late.OF_TOPIC if role in of_role}
        summaries = {column: row[column] for column in wide if row[column].strip()}
        if "system" in of_role and "text" in of_role:
            summaries[row[of_role["system"]].strip()] = row[of_role["text"]]
        for system, text in summaries.items():
            yield here, common | texts | {"system": system, "text": text}
            texts = {}
        if texts:
            yield here, common | texts


# Which column is what


@dataclass(frozen=True, slots=True)
class _Look:
    """What the values of a column are like."""

    is_long: bool
    is_text: bool
    is_numeric: bool
    distinct: int
    filled: int

    @classmethod
    def at(cls, values: Collection[str]) -> _Look:
        filled = [value.strip() for value in values if value.strip()]
        characters = sum(map(len, filled)) / max(len(filled), 1)
        words = sum(len(value.split()) for value in filled) / max(len(filled), 1)
        return cls(
            characters > _LONG,
            characters > _LONG or words > _WORDS_OF_NAME,
            bool(filled) and all(map(is_number, filled)),
            len(set(filled)),
            len(filled),
        )


def _roles(header: Sequence[str], looks: Mapping[str, _Look]) -> tuple[dict[str, str], bool]:
    """The role of each column whose name says one, and whether no two say the same."""
    columns: dict[str, list[str]] = {}
    for column in header:
        if role := _role_by_name(column, looks[column]):
            columns.setdefault(role, []).append(column)
    for side in ("a", "b"):
        if of_systems := [name for name in columns.get(side, ()) if headings.is_of_systems(name)]:
            columns[side] = of_systems
    if any(headings.side_of(column) == "c" for column in header):  # three or more are compared
        columns["a"], columns["b"] = [], []
    if len(columns.get("text", ())) > 1 and "document" not in columns:  # a dataset's `text` and `summary`
        columns["document"] = [name for name in columns["text"] if word_of(name) == "text"]
        columns["text"] = [name for name in columns["text"] if word_of(name) != "text"]
    strong = [name for name in columns.get("topic", ()) if word_of(name) not in WEAK]
    if strong:
        columns["topic"] = strong
    elif "topic" in columns and "document" in columns and "system" in columns:
        # `id` may number the rows.
        columns["topic"] = [name for name in columns["topic"] if looks[name].distinct < looks[name].filled]
    is_certain = all(len(names) <= 1 for names in columns.values())
    roles = {names[0]: role for role, names in columns.items() if names}
    held = set(roles.values())
    if "winner" in held and not {"a", "b"} & held and {"a", "b"} <= {headings.side_of(column) for column in header}:
        return roles, False  # two texts and no systems
    if "system" not in held and not {"a", "b"} & held and held & {"topic", "document"}:
        wide = [name for name in header if looks[name].is_long and roles.get(name, "text") == "text"]
        wide = [name for name in wide if word_of(name) not in _ASIDE]
        if len(wide) > 1:
            return {name: role for name, role in roles.items() if role != "text"} | dict.fromkeys(
                wide, "systems"
            ), is_certain
        if held & {"text"} and "document" not in held:  # one text a row
            return {name: "document" if role == "text" else role for name, role in roles.items()}, is_certain
    return roles, is_certain


def _is_whole(roles: Mapping[str, str]) -> bool:
    """Whether these columns make a table, and no text is without its system."""
    return kind_of(roles) is not None and not ("text" in roles.values() and "system" not in roles.values())


def _role_by_name(column: str, look: _Look) -> str:
    if column in _OWN:
        return column
    if column.lower() in _IN_ANY_CASE:
        return column.lower()
    role = headings.role_of(column)
    if role in ("topic", "document"):
        return "document" if look.is_long else "topic"
    if role == "reference":
        return "reference_text" if look.is_long else "reference"
    is_other = {"text": look.is_numeric, "system": look.is_long, "score": not look.is_numeric, "winner": look.is_text}
    is_other |= dict.fromkeys(("a", "b"), look.is_long)  # the two texts
    return "" if is_other.get(role) else role


def _by_contents(header: Sequence[str], looks: Mapping[str, _Look], roles: Mapping[str, str]) -> dict[str, str]:
    """A guess for a table whose names do not say enough."""
    guess, held = dict(roles), set(roles.values())
    free = [name for name in header if name not in roles and looks[name].filled]
    long = sorted((name for name in free if looks[name].is_text), key=lambda name: looks[name].distinct)
    if long and not held & {"text", "systems"}:
        guess[long.pop()] = "text"
    if long and "document" not in held:
        guess[long.pop(0)] = "document"
    short = [name for name in free if name not in guess and not looks[name].is_text]
    repeated = [name for name in short if 1 < looks[name].distinct < looks[name].filled and not looks[name].is_numeric]
    if "system" not in held and repeated:
        few = min(reversed(repeated), key=lambda name: looks[name].distinct)
        guess[few] = "system"
        short.remove(few)
    if not {"topic", "document"} & set(guess.values()) and short:
        guess[short[0]] = "topic"
    return guess
