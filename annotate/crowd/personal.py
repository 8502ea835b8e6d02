"""Everything that is stored about one annotator, for them to read and to download; who they are elsewhere."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from annotate.models import Annotator, AnnotatorReport, AnsweredQuestionnaire, Consent, Judgment, Participation, Study


def personal_data(annotator: Annotator) -> dict[str, Any]:
    """All rows about this annotator, as plain values of JSON, with the texts that they judged."""
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
            {"version": consent.version, "text": consent.text, "at": consent.at.isoformat()}
            for consent in Consent.objects.filter(annotator=annotator).order_by("version")
        ],
        "questionnaires": [
            {"version": given.questionnaire.version, "answers": given.answers, "at": given.at.isoformat()}
            for given in AnsweredQuestionnaire.objects.filter(annotator=annotator).select_related("questionnaire")
        ],
        "pairs": _pairs(annotator),
        "figures": {"figures": report.figures, "flags": report.flags, "weight": report.weight} if report else None,
    }


def find(study: Study, text: str) -> list[Annotator]:
    """The annotators with this pseudonym, completion code, platform ID, or e-mail address of their account."""
    text = text.strip()
    if not text or "\0" in text:
        return []
    named = (
        Q(pseudonym=text) | Q(participation__person=text) | Q(participation__code=text) | Q(user__email__iexact=text)
    )
    return list(Annotator.objects.arrived().filter(named, study=study).order_by("pk"))


def addresses(study: Study) -> dict[int, str]:
    """Where people who judge can be written to, by key: their platform ID, or the e-mail address of their account."""
    people = Annotator.objects.arrived().filter(study=study, kind=Annotator.Kind.HUMAN).order_by("pk")
    rows = people.values_list("pk", "participation__person", "user__email")
    return {key: person or email for key, person, email in rows if person or email}


def _participation(participation: Participation) -> dict[str, Any]:
    return {
        "person": participation.person,
        "session": participation.session,
        "outcome": participation.outcome,
        "code": participation.code,
        "entered_at": participation.entered_at.isoformat(),
        "left_at": participation.left_at.isoformat() if participation.left_at else None,
    }


def _pairs(annotator: Annotator) -> list[dict[str, Any]]:
    answers: dict[int, list[dict[str, Any]]] = {}
    for judgment in Judgment.objects.filter(assignment__annotator=annotator).order_by("assignment", "revision"):
        answer = {"answer": judgment.answer, "seconds": judgment.seconds, "at": judgment.at and judgment.at.isoformat()}
        answer |= {"why": judgment.why, "note": judgment.note}
        answers.setdefault(judgment.assignment_id, []).append(answer)
    shown = annotator.assignments.select_related("item_set__topic", "pair__first", "pair__second")
    return [
        {
            "key": str(assignment.key),
            "topic": assignment.item_set.topic.title or assignment.item_set.topic.name,
            "left": assignment.left.text,
            "right": assignment.right.text,
            "shown_at": assignment.created_at.isoformat(),
            "state": assignment.state,
            "skip_reason": assignment.skip_reason,
            "answers": answers.get(assignment.pk, []),
            "reported": [
                {"reason": reported.reason, "note": reported.note, "at": reported.at.isoformat()}
                for reported in assignment.reported.all()
            ],
        }
        for assignment in shown.prefetch_related("reported").order_by("pk")
    ]
