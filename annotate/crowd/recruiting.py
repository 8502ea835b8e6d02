"""Say where a study's people come from, what they agree to, and what they leave with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.models import Recruitment, Study
from annotate.refusal import check, cleaned, invalid

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: What a researcher may set, in the order in which a page asks for it.
SETTINGS = (
    "consent",
    "platform",
    "person_parameter",
    "session_parameter",
    "return_url",
    "code_done",
    "code_no_work",
    "code_screened_out",
)
CODES = ("code_done", "code_no_work", "code_screened_out")


@transaction.atomic
def recruit(study: Study, user: User, **fields: str) -> Recruitment:
    """Set what is given, leave the rest. A changed text of consent is a new version; people who agreed keep theirs."""
    if unknown := sorted(fields.keys() - set(SETTINGS)):
        raise TypeError(f"not settings of recruitment: {', '.join(unknown)}")
    Study.objects.select_for_update().get(pk=study.pk)
    found = Recruitment.objects.filter(study=study).first() or Recruitment(study=study)
    typed = {name: cleaned(name, value) for name, value in fields.items()}
    changes = {name: [getattr(found, name), value] for name, value in typed.items() if getattr(found, name) != value}
    for name, (_before, after) in changes.items():
        setattr(found, name, after)
    if "consent" in changes:
        found.consent_version += 1
    _check(found)
    if changes:
        found.save()
        # the log says that codes were changed, not which they are: who reads it may not be who pays
        told = {name: change for name, change in changes.items() if name not in CODES}
        codes = [name for name in CODES if name in changes]
        note(study, user, "recruit", changes=told, codes=codes, consent_version=found.consent_version)
    return found


def _check(found: Recruitment) -> None:
    check(found)
    if found.platform == Recruitment.Platform.PROLIFIC and not found.code_done:
        message = _("Copy the completion code from Prolific. Without it, participants cannot show that they are done.")
        raise invalid("code_done", message)
    codes = [code for name in CODES if (code := getattr(found, name))]
    if len(set(codes)) < len(codes):
        raise invalid("code_done", _("Each outcome needs its own code, so that you can tell them apart."))
    if found.session_parameter == found.person_parameter:
        raise invalid("session_parameter", _("The participant and the session need different parameter names."))
