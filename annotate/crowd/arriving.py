"""Annotators arrive from a platform: one identity there is one participation here, in any number of browsers."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate import judging
from annotate.models import Annotator, Consent, Participation, Recruitment, Study
from annotate.refusal import Refusal, cleaned

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_NAME = Participation._meta.get_field("person").max_length or 200


def recruitment_of(study: Study) -> Recruitment:
    """The study's recruitment; unsaved, and by invitation only, if none is set. Writes nothing."""
    return Recruitment.objects.filter(study=study).first() or Recruitment(study=study)


def is_open(study: Study) -> bool:
    """Whether new annotators from a platform are admitted."""
    return recruitment_of(study).platform != Recruitment.Platform.NONE and study.state == Study.State.OPEN


def agree(annotator: Annotator) -> Consent | None:
    """Store the consent to the current text, word for word, once per version. None where there is no text."""
    recruitment = recruitment_of(annotator.study)
    if not recruitment.consent:
        return None
    consent, _new = Consent.objects.get_or_create(
        annotator=annotator,
        version=recruitment.consent_version,
        defaults={"text": recruitment.consent, "at": timezone.now()},
    )
    return consent


def has_agreed(annotator: Annotator | None, recruitment: Recruitment) -> bool:
    """Whether they agreed to the text of consent as it is now."""
    return Consent.objects.filter(annotator=annotator, version=recruitment.consent_version).exists()


def agree_to(annotator: Annotator, version: int | None) -> None:
    """Store that the user of a program agrees to this version of the text, if there is one.

    Raises `Refusal` with the text unless they have agreed to its current version.
    """
    recruitment = recruitment_of(annotator.study)
    if not recruitment.consent or has_agreed(annotator, recruitment):
        return
    if version != recruitment.consent_version:
        message = _("This study asks for consent to a text. To agree, send its version, %(version)d, as “consent”.")
        message %= {"version": recruitment.consent_version}
        raise Refusal(message, "consent", {"consent": [recruitment.consent]})
    agree(annotator)


def find(study: Study, person: str) -> Annotator | None:
    """The annotator with this name on the platform, if they are known. Writes nothing.

    Raises `Refusal` for an invalid name, for annotators who withdrew, and for newcomers while the study is not open or
    where it does not expect them.
    """
    named = _named(person)
    participation = _participation(study, digest_of(study, named))
    if participation is None:
        _check_newcomer(study, named)
    return participation.annotator if participation else None


def enter(
    study: Study, person: str, session: str = "", user: User | None = None, *, is_recognized: bool = False
) -> Annotator:
    """A platform participant's annotator in the study: a new one, or the one that exists already.

    The unique digest decides between simultaneous arrivals. A signed-in user who took part under another name keeps
    their annotator. Raises `Refusal` as `find` does, and, where the study checks it, for a session other than their
    earlier one, unless the browser `is_recognized` as theirs.
    """
    annotator = find(study, person)
    person, session = _named(person), cleaned("session", session)[:LONGEST_NAME]
    while annotator is None:
        try:
            return _begin(study, person, session, digest_of(study, person), user)
        except IntegrityError:
            annotator = find(study, person)  # they have just joined in another tab
    if not is_recognized:
        _check_session(annotator, session)
    if session:  # each arrival on a platform is a session of its own: the last one stays
        working = Participation.objects.filter(annotator=annotator, outcome=Participation.Outcome.WORKING)
        working.exclude(session=session).update(session=session)
    return annotator


def digest_of(study: Study, person: str) -> str:
    """A digest that does not reveal the name and is slow to guess; 10 ms.

    The key is the study's own: with the installation's secret, paid annotators could return after a rotation.
    """
    key = bytes.fromhex(recruitment_of(study).identity_key)
    return hashlib.scrypt(f"{study.pk}|{person}".encode(), salt=key, n=2**12, r=8, p=1, dklen=32).hex()


def _begin(study: Study, person: str, session: str, digest: str, user: User | None) -> Annotator:
    with transaction.atomic():
        annotator = judging.join(study, user=user)
        if Participation.objects.filter(annotator=annotator).exists():
            return annotator
        Participation.objects.create(
            study=study, annotator=annotator, person=person, session=session, digest=digest, entered_at=timezone.now()
        )
        return annotator


def _check_newcomer(study: Study, person: str) -> None:
    recruitment = recruitment_of(study)
    if not is_open(study):
        raise Refusal(_("This study does not accept new annotators at the moment."), "not_open")
    if not recruitment.could_name(person):
        message = _(
            "The link does not contain a Prolific ID: these have 24 characters, 0 to 9 and a to f. Open it from "
            "Prolific."
        )
        raise Refusal(message, "nobody")
    if recruitment.expected and person not in recruitment.expected:
        message = _(
            "This link does not know your platform ID. Open it from the platform that sent you, with the account that "
            "was invited. If that does not help, write to the people who run this study."
        )
        raise Refusal(message, "not_expected")


def _check_session(annotator: Annotator, session: str) -> None:
    if not recruitment_of(annotator.study).check_session:
        return
    remembered = Participation.objects.filter(annotator=annotator).exclude(session="")
    if remembered.exclude(session=session).exists():
        message = _(
            "Somebody with your platform ID has begun already, in another session. Continue in the browser in which "
            "you began, or open the study from the platform again, as you did then. If that does not help, write to "
            "the people who run this study."
        )
        raise Refusal(message, "other_session")


def _participation(study: Study, digest: str) -> Participation | None:
    rows = Participation.objects.select_related("annotator__study").filter(study=study, digest=digest)
    participation = rows.first()
    if participation and (participation.annotator is None or participation.outcome == Participation.Outcome.WITHDRAWN):
        raise Refusal(_("You have withdrawn from this study. Thank you for your time."), "withdrawn")
    return participation


def _named(person: str) -> str:
    """The cleaned name. Raises `Refusal` for none, and for the placeholder that the platform did not fill in."""
    named = cleaned("person", person)
    if not named or len(named) > LONGEST_NAME or "{" in named:
        raise Refusal(
            _("The link does not contain your platform ID. Open it from the platform that sent you."), "nobody"
        )
    return named
