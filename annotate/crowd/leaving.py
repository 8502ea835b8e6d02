"""Somebody is done, or there is nothing left for them, or they want to go: with which word, and with which code."""

from __future__ import annotations

import secrets
from urllib.parse import quote

from django.db import transaction
from django.utils import timezone

from annotate import audit_log, exports, judging
from annotate.audit_log import note
from annotate.crowd.arriving import recruitment_of
from annotate.crowd.recruiting import forget
from annotate.judging import NoPair
from annotate.models import Annotator, Participation, Recruitment, Study
from annotate.refusal import Refusal

Outcome = Participation.Outcome

PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


def participation_of(annotator: Annotator) -> Participation | None:
    return Participation.objects.filter(annotator=annotator).first()


def has_left(annotator: Annotator) -> bool:
    """Whether somebody has their code, or has withdrawn: they judge no more and take nothing back."""
    return Participation.objects.filter(annotator=annotator).exclude(outcome=Outcome.WORKING).exists()


def leave(annotator: Annotator) -> Participation:
    """Let them go with the code of their outcome, if they may; whoever still has work stays at work, without a code.

    How somebody left stays as it is, whatever the study asks of people later. Raises `Refusal` for whoever did not
    come from a platform.
    """
    drawn = judging.draw(annotator)
    with transaction.atomic():
        participation = Participation.objects.select_for_update().filter(annotator=annotator).first()
        if participation is None:
            raise Refusal("no participation", "no_participation")
        outcome = drawn.told.outcome if isinstance(drawn, NoPair) else None
        if participation.outcome == Outcome.WORKING and outcome is not None:
            participation.outcome, participation.left_at = outcome, timezone.now()
            participation.code = _code(recruitment_of(annotator.study), outcome)
            participation.save(update_fields=["outcome", "left_at", "code"])
    return participation


def return_link(participation: Participation) -> str:
    """Where the platform takes the code, or "" where people type it in themselves."""
    recruitment = recruitment_of(participation.study)
    if not participation.code:
        return ""
    prolific = PROLIFIC if recruitment.platform == Recruitment.Platform.PROLIFIC else ""
    return (recruitment.return_url or prolific).replace("{code}", quote(participation.code, safe=""))


def withdraw(annotator: Annotator, erase: bool) -> None:
    """Let somebody go for good, and forget who they are; with `erase`, what they judged too, and them.

    What stays is a line in the log, the digest that keeps their name from taking part once more, and the code that
    they are paid by, if they had one.
    """
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=annotator.study_id)
        participation = Participation.objects.select_for_update().filter(annotator=annotator).first()
        if participation is None:  # came by an invitation: nobody's name to keep out, but a word on how it ended
            digest = f"withdrawn {annotator.key}"
            participation = Participation(
                study=annotator.study, annotator=annotator, digest=digest, entered_at=timezone.now()
            )
        person, participation.person, participation.session = participation.person, "", ""
        participation.outcome, participation.left_at = Outcome.WITHDRAWN, timezone.now()
        participation.save()
        if erase:
            _leave_nothing(annotator)
        else:
            judging.stop(annotator)
            note(annotator.study, None, "withdraw annotator", annotator=annotator.pseudonym)
        forget(participation.study, person)


def _leave_nothing(annotator: Annotator) -> None:
    """Erase them with all that they judged, from exports and the log's text too; no pseudonym leads back to them."""
    judgments = judging.erase(annotator)
    entries = audit_log.erase_annotator(annotator)
    exports.make_anew(annotator.study)
    note(annotator.study, None, audit_log.ERASURE, judgments=judgments, entries=entries)


def _code(recruitment: Recruitment, outcome: str) -> str:
    """What the researcher set for this outcome; a generic platform gets one that nobody can guess and nobody shares."""
    given = {
        Outcome.DONE: recruitment.code_done,
        Outcome.NO_WORK: recruitment.code_no_work,
        Outcome.SCREENED_OUT: recruitment.code_screened_out,
    }[Outcome(outcome)]
    if given or recruitment.platform != Recruitment.Platform.GENERIC:
        return given
    return secrets.token_hex(16)
