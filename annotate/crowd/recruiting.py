"""Set a study's platform, consent text and completion codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.models import Recruitment, Study
from annotate.refusal import check, cleaned, invalid
from preferendum.formats.checks.complaints import shown

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CODES = ("code_done", "code_no_work", "code_screened_out")
#: What a researcher may set, in the order of the page.
SETTINGS = (
    *("consent", "platform", "person_parameter", "session_parameter", "check_session", "expected_ids", "return_url"),
    *CODES,
)


@transaction.atomic
def recruit(study: Study, user: User, **fields: str | bool) -> Recruitment:
    """Set the given fields. A changed consent text is a new version; earlier consents keep theirs."""
    if unknown := sorted(fields.keys() - set(SETTINGS)):
        raise TypeError(f"not settings of recruitment: {', '.join(unknown)}")
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    recruitment = Recruitment.objects.filter(study=study).first() or Recruitment(study=study)
    typed = {name: cleaned(name, value) if isinstance(value, str) else value for name, value in fields.items()}
    if "expected_ids" in typed:
        typed["expected_ids"] = _one_a_line(str(typed["expected_ids"]))
    changes = {
        name: [getattr(recruitment, name), value]
        for name, value in typed.items()
        if getattr(recruitment, name) != value
    }
    for name, (_before, after) in changes.items():
        setattr(recruitment, name, after)
    if "consent" in changes:
        recruitment.consent_version += 1
    _check(recruitment)
    if changes:
        recruitment.save()
        # The log has neither codes (its readers may not be those who pay) nor participants' names.
        told = {name: change for name, change in changes.items() if name not in CODES}
        if "expected_ids" in told:
            told["expected_ids"] = [len(ids.splitlines()) for ids in told["expected_ids"]]
        codes = [name for name in CODES if name in changes]
        note(study, user, "recruit", changes=told, codes=codes, consent_version=recruitment.consent_version)
    return recruitment


def forget(study: Study, person: str) -> None:
    """Remove a person who withdrew from the list of expected ones."""
    recruitment = Recruitment.objects.select_for_update().filter(study=study).first()
    if recruitment is not None and person in recruitment.expected:
        recruitment.expected_ids = "\n".join(name for name in recruitment.expected if name != person)
        recruitment.save(update_fields=["expected_ids"])


def _one_a_line(ids: str) -> str:
    """The IDs on a line each, without duplicates, in their order."""
    return "\n".join(dict.fromkeys(filter(None, map(str.strip, ids.splitlines()))))


def _check(recruitment: Recruitment) -> None:
    check(recruitment)
    if wrong := next((name for name in recruitment.expected if not recruitment.could_name(name)), None):
        message = _("%(id)s is not a Prolific ID: these have 24 characters, 0 to 9 and a to f.")
        raise invalid("expected_ids", message % {"id": shown(wrong)})
    if recruitment.check_session and not recruitment.session_parameter:
        raise invalid("session_parameter", _("To check the session, enter the name of its parameter."))
    if recruitment.platform == Recruitment.Platform.PROLIFIC and not recruitment.code_done:
        message = _(
            "Enter the completion code of the study on Prolific, or any code if “preferendum prolific” is to make the "
            "study there. Without one, participants cannot show that they are done."
        )
        raise invalid("code_done", message)
    codes = [code for name in CODES if (code := getattr(recruitment, name))]
    if len(set(codes)) < len(codes):
        raise invalid("code_done", _("Each outcome needs its own code, so that you can tell them apart."))
    if recruitment.session_parameter == recruitment.person_parameter:
        raise invalid("session_parameter", _("The participant and the session need different parameter names."))
