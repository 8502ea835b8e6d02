"""How annotators leave: outcome and completion code."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote

from django.db import transaction
from django.utils import timezone

from annotate import audit_log, exports, judging
from annotate.audit_log import note
from annotate.crowd.arriving import recruitment_of
from annotate.crowd.demographics import forget_answers
from annotate.crowd.recruiting import forget
from annotate.judging import NoPair
from annotate.models import Annotator, Participation, Recruitment, Study
from annotate.refusal import Refusal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Outcome = Participation.Outcome

PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


def participation_of(annotator: Annotator) -> Participation | None:
    return Participation.objects.filter(annotator=annotator).first()


def has_left(annotator: Annotator) -> bool:
    """Whether the annotator has their code, or has withdrawn: then they can neither judge nor undo."""
    return Participation.objects.filter(annotator=annotator).exclude(outcome=Outcome.WORKING).exists()


def leave(annotator: Annotator) -> Participation:
    """End the participation with the outcome's code, unless the annotator still has work.

    An outcome is final, even if the study changes later. Raises `Refusal` for annotators without a participation.
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
    """The platform's address for the code, or "" where annotators type it in themselves."""
    recruitment = recruitment_of(participation.study)
    if not participation.code:
        return ""
    prolific = PROLIFIC if recruitment.platform == Recruitment.Platform.PROLIFIC else ""
    return (recruitment.return_url or prolific).replace("{code}", quote(participation.code, safe=""))


def withdraw(annotator: Annotator, erase: bool, by: User | None = None) -> None:
    """Withdraw the annotator for good and forget who they are; with `erase`, delete them and their judgments.

    `by`: the user who does it for them; None where they do it themselves.

    What stays is an entry in the log, the digest that prevents their name from taking part again, and their completion
    code, if they had one.
    """
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=annotator.study_id)
        participation = Participation.objects.select_for_update().filter(annotator=annotator).first()
        if participation is None:  # they had an invitation: no name to exclude, but the outcome is stored
            digest = f"withdrawn {annotator.key}"
            participation = Participation(
                study=annotator.study, annotator=annotator, digest=digest, entered_at=timezone.now()
            )
        person, participation.person, participation.session = participation.person, "", ""
        participation.outcome, participation.left_at = Outcome.WITHDRAWN, timezone.now()
        participation.save()
        forget_answers(annotator)
        if erase:
            _leave_nothing(annotator, by)
        else:
            judging.stop(annotator)
            exports.make_anew(annotator.study)
            note(annotator.study, by, "withdraw annotator", annotator=annotator.pseudonym)
        forget(participation.study, person)


def _leave_nothing(annotator: Annotator, by: User | None) -> None:
    """Erase the annotator and their judgments, also from exports and the log; no pseudonym leads back to them."""
    judgments = judging.erase(annotator)
    entries = audit_log.erase_annotator(annotator)
    exports.make_anew(annotator.study)
    note(annotator.study, by, audit_log.ERASURE, judgments=judgments, entries=entries)


def _code(recruitment: Recruitment, outcome: str) -> str:
    """The researcher's code for this outcome; for a generic platform without one, a random code."""
    given = {
        Outcome.DONE: recruitment.code_done,
        Outcome.NO_WORK: recruitment.code_no_work,
        Outcome.SCREENED_OUT: recruitment.code_screened_out,
    }[Outcome(outcome)]
    if given or recruitment.platform != Recruitment.Platform.GENERIC:
        return given
    return secrets.token_hex(16)
