"""Everything that is stored about one person, for them to read and to take along."""

from __future__ import annotations

from typing import Any

from annotate.models import Annotator, AnnotatorReport, Consent, Judgment, Participation


def personal_data(annotator: Annotator) -> dict[str, Any]:
    """All rows about this annotator, as plain values of JSON; texts that they judged are there to be recognized."""
    participation = Participation.objects.filter(annotator=annotator).first()
    report = AnnotatorReport.objects.filter(annotator=annotator).first()
    return {
        "study": annotator.study.title,
        "pseudonym": annotator.pseudonym,
        "account": annotator.user.get_username() if annotator.user else None,
        "joined_at": annotator.joined_at.isoformat(),
        "finished_at": annotator.finished_at.isoformat() if annotator.finished_at else None,
        "excluded_at": annotator.excluded_at.isoformat() if annotator.excluded_at else None,
        "quota": annotator.quota,
        "judged": annotator.judged,
        "seconds": annotator.seconds,
        "shortcuts": annotator.shortcuts,
        "participation": _participation(participation) if participation else None,
        "consents": [
            {"version": one.version, "text": one.text, "at": one.at.isoformat()}
            for one in Consent.objects.filter(annotator=annotator).order_by("version")
        ],
        "pairs": _pairs(annotator),
        "figures": {"figures": report.figures, "flags": report.flags, "weight": report.weight} if report else None,
    }


def _participation(found: Participation) -> dict[str, Any]:
    return {
        "person": found.person,
        "session": found.session,
        "outcome": found.outcome,
        "code": found.code,
        "entered_at": found.entered_at.isoformat(),
        "left_at": found.left_at.isoformat() if found.left_at else None,
    }


def _pairs(annotator: Annotator) -> list[dict[str, Any]]:
    answers: dict[int, list[dict[str, Any]]] = {}
    for one in Judgment.objects.filter(assignment__annotator=annotator).order_by("assignment", "revision"):
        said = {"answer": one.answer, "seconds": one.seconds, "at": one.at.isoformat()}
        answers.setdefault(one.assignment_id, []).append(said)
    shown = annotator.assignments.select_related("topic", "pair__first", "pair__second").order_by("pk")
    return [
        {
            "key": str(one.key),
            "topic": one.topic.title or one.topic.name,
            "left": one.left.text,
            "right": one.right.text,
            "shown_at": one.created_at.isoformat(),
            "state": one.state,
            "skip_reason": one.skip_reason,
            "answers": answers.get(one.pk, []),
        }
        for one in shown
    ]
