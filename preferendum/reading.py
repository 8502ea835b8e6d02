"""What people have, as the library takes it: a file of ours, a DataFrame, rows of dicts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preferendum.formats.archive import study
from preferendum.formats.archive.study_preferences import counted as counted_in
from preferendum.formats.archive.study_records import StudyArchive
from preferendum.formats.checks.complaints import escaped
from preferendum.formats.readers.columns import ROLES
from preferendum.formats.readers.draft import Named, Placed
from preferendum.formats.readers.reading import ROWS, read_alone
from preferendum.formats.records import Bundle, Complaint, Preference, Refused
from preferendum.formats.words import number_of


@dataclass(frozen=True, slots=True, repr=False)
class Data:
    """What a file, a DataFrame or rows hold.

    `placed`: the preferences, with where they stood; `archive`: the study, where it is one.
    """

    name: str
    bundle: Bundle
    placed: tuple[Placed[Preference], ...]
    archive: StudyArchive | None = None

    def __repr__(self) -> str:
        judgments = self.preferences
        texts = self.bundle.topics if self.archive is None else self.archive.topics
        topics = {topic.topic_id for topic in texts} | {judgment.topic for judgment in judgments}
        annotators = {judgment.annotator for judgment in judgments} - {""}
        remarks = [f"\n{remark}" for remark in self.bundle.remarks]
        parts = [
            number_of(len(judgments), "judgment"),
            number_of(len(topics - {""}), "topic") if topics - {""} else "no topics named",
            number_of(len(annotators), "annotator") if annotators else "no annotators named",
        ]
        return f"{self.name}: {', '.join(parts)}" + "".join(remarks)

    @property
    def preferences(self) -> Sequence[Preference]:
        """The judgments: all of a file, those of a study that count."""
        return self.bundle.preferences if self.archive is None else tuple(counted_in(self.archive))


#: What functions of the library take for data: what `read` gave, or what it takes. DataFrames can be iterated, too.
Source = Data | str | os.PathLike[str] | Iterable[Any]


def read(source: Source, *, columns: Named | None = None) -> Data:
    """Read judgments, topics or a study, whatever form they have.

    Parameters
    ----------
    source : path, DataFrame or iterable of dict
        A file in any of the formats of docs/formats.md (preferences as `.jsonl` or `.csv`, topics, a study's `.zip`); a
        DataFrame of pandas or polars; or rows as dicts. A judgment has the keys `a`, `b` and `winner` (`a`, `b`, `tie`
        or `neither`), and may have `topic`, `annotator`, `of`, `kind`, `seconds` and `at`. What is missing (None, NaN)
        is not known. A file of another tool, such as votes of Chatbot Arena, is recognised by its keys.
    columns : mapping of str to str or list of str, optional
        What the columns of a table, or of another tool's file, are called that hold `a`, `b`, `winner`, `topic`,
        `annotator` and so on, such as `{"a": "left_model", "b": "right_model", "winner": "choice"}`.

    Returns
    -------
    Data
        What the other functions take. It prints what it holds.

    Raises
    ------
    preferendum.Refused
        With every problem: where it is, what is there, what was expected. Nothing is read by halves.
    ValueError
        For columns of any other key.

    Examples
    --------
    >>> import preferendum as pf
    >>> pf.read([{"a": "large", "b": "small", "winner": "a", "annotator": "Ann"}])
    rows: 1 judgment, no topics named, 1 annotator
    >>> pf.read([{"a": "large", "b": "small", "winner": "large"}])
    Traceback (most recent call last):
    preferendum.formats.records.Refused: rows:1: winner: found the text "large"; expected a, b, tie or neither
    """
    if unknown := set(columns or ()) - set(ROLES):
        raise ValueError(f"columns: {', '.join(sorted(unknown))} is none of {', '.join(ROLES)}")
    if isinstance(source, Data):
        return source
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if study.is_archive(path):
            return Data(path.name, Bundle(), (), study.read(path))
        return Data(escaped(path.name or str(path)), *read_alone(path, columns))
    if hasattr(source, "iter_rows"):  # polars
        source = source.iter_rows(named=True)
    elif hasattr(source, "to_dict") and hasattr(source, "columns"):  # pandas
        source = source.to_dict("records")
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise refused(ROWS, "%(what)s", "a file, a DataFrame or a list of dicts", what=type(source).__name__)
    return Data(ROWS, *read_alone(source, columns))


def refused(file: str, actual: str, expected: str, field: str = "", **params: Any) -> Refused:
    """The reason why a whole file, or rows, are not taken."""
    return Refused((Complaint(file, 0, field, actual, expected, params),))
