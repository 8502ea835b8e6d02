"""The judgments of a study's archive as preferences."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from preferendum.formats.answers import ANSWERS, UNDONE
from preferendum.formats.archive.study_records import AssignmentRecord, JudgmentRecord, StudyArchive
from preferendum.formats.judge import kept_of
from preferendum.formats.records import Preference
from preferendum.formats.settings import KINDS_COUNTED


def counted(archive: StudyArchive, of_kinds: Collection[str] = ()) -> Iterator[Preference]:
    """The preferences that the study's scores rest on, in order: the last revision of each answer that was not taken
    back, in its place, by annotators who are not excluded and of a kind that the study counts, or one `of_kinds`.
    """
    chosen = of_kinds or KINDS_COUNTED[archive.settings.counted_kinds]
    judges = {row.pseudonym: kept for row in archive.annotators if (kept := kept_of(row.judge))}
    kinds = {row.pseudonym: row.kind for row in archive.annotators if row.excluded_at is None and row.kind in chosen}
    names = {row.pseudonym: "" if row.unnamed else row.pseudonym for row in archive.annotators}
    in_place = {
        row.key: row
        for row in archive.assignments
        if row.state == "judged" and row.holds_place and row.annotator in kinds
    }
    revisions: dict[str, int] = {}
    for judgment in archive.judgments:
        revisions[judgment.assignment] = max(judgment.revision, revisions.get(judgment.assignment, 0))
    for judgment in archive.judgments:
        is_last = judgment.revision == revisions[judgment.assignment]
        shown = in_place.get(judgment.assignment)
        if shown is not None and is_last and judgment.answer != UNDONE:
            own = {"judge": judges[shown.annotator]} if shown.annotator in judges else {}
            yield _preference(judgment, shown, kinds[shown.annotator], names[shown.annotator], own)


def _preference(
    judgment: JudgmentRecord, shown: AssignmentRecord, kind: str, annotator: str, own: dict[str, Any]
) -> Preference:
    by = own if kind == "human" else {"kind": kind, **own}
    why = {} if shown.reason_shown == "imported" else {"reason": shown.reason_shown}
    counts: dict[str, Any] = {} if shown.design_weight in (None, 1) else {"design_weight": shown.design_weight}
    counts |= {} if shown.drawn_for is None else {"drawn_for": list(shown.drawn_for)}
    counts |= {key: given for key in ("why", "note") if (given := getattr(judgment, key))}
    counts |= {} if judgment.confidence is None else {"confidence": judgment.confidence}
    return Preference(
        topic=shown.topic,
        a=shown.left,
        b=shown.right,
        winner=ANSWERS[judgment.answer].letter,
        annotator=annotator,
        seconds=judgment.seconds,
        at=judgment.at or "",
        extra=dict(judgment.extra) | by | why | counts,
        of=shown.of,
    )
