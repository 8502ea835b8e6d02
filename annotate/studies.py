"""What is done to a study as a whole: it is made, set up, opened and closed, deleted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotate import access, imports, judging, members
from annotate.audit_log import note
from annotate.database import append_only
from annotate.models import Export, Membership, Study, Topic, Upload
from annotate.refusal import Refusal, check, cleaned, invalid
from formats.settings import NAMES, SETTINGS

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def create_study(user: User, form_token: UUID | None = None, **fields: Any) -> Study:
    """A new study, owned by `user`; the one that is there where the form with this token was sent before.

    Raises `Refusal` for a value that will not do, `PermissionDenied` for a person.
    """
    if not access.may_create_studies(user):
        raise PermissionDenied
    first = Study.objects.filter(form_token=form_token, created_by=user) if form_token else Study.objects.none()
    if first.exists():
        return first.get()
    try:
        return make_study(user, form_token=form_token, **fields)
    except (IntegrityError, Refusal):
        if study := first.first():  # sent twice at once
            return study
        raise


@transaction.atomic
def make_study(
    user: User, *, extra: Mapping[str, Any] | None = None, form_token: UUID | None = None, **fields: Any
) -> Study:
    """Like `create_study`, for an operator at the machine, who may give a study to anybody."""
    study = Study(created_by=user, extra=dict(extra or {}), form_token=form_token, **_only_settings(fields))
    check(study)
    study.save(force_insert=True)
    members.give_role(study, user, Membership.Role.OWNER)
    note(study, user, "create study", title=study.title)
    return study


@transaction.atomic
def change_settings(study: Study, user: User, **fields: Any) -> Study:
    """Set what is given, leave the rest. Scores follow by themselves where they depend on what was changed."""
    study = _locked(study)
    changes = {
        name: [getattr(study, name), value]
        for name, value in _only_settings(fields).items()
        if getattr(study, name) != value
    }
    if not changes:
        return study
    for name, (_before, after) in changes.items():
        setattr(study, name, after)
    check(study)
    if "language" in changes:
        imports.cut_again(study)
    study.save(update_fields=list(changes))
    if any(setting.changes_fits for setting in SETTINGS if setting.name in changes):
        judging.raise_version(Topic.objects.filter(study=study).values_list("pk", flat=True))
    if "judgments_per_pair" in changes:
        judging.keep_needs(study)
    if "metric_names" in changes:
        Topic.objects.filter(study=study).score_anew()
    note(study, user, "change settings", changes=changes)
    return study


@transaction.atomic
def set_state(study: Study, user: User, state: str) -> Study:
    """Open, pause or close a study; while it is not open nobody draws a pair. Answers on their way are still taken."""
    if state not in Study.State.values:
        raise invalid("state", _("This state does not exist."))
    study = _locked(study)
    if study.state != state:
        before, study.state = study.state, state
        study.save(update_fields=["state"])
        note(study, user, "set state", before=before, after=state)
    return study


@transaction.atomic
def delete_study(study: Study, user: User) -> None:
    """Delete a study with everything in it, its files too. The log keeps who did it.

    Whoever draws or judges there is waited for, and whoever comes later finds nothing.
    """
    if not access.may(user, study, "members"):
        raise PermissionDenied
    _locked(study)
    judging.lock_study(study.pk)
    uploads, exports = Upload.objects.filter(study=study), Export.objects.filter(study=study)
    files = [*(upload.file for upload in uploads), *(export.file for export in exports if export.file)]
    gone = {"study": study.pk, "title": study.title}
    with append_only.erasing():
        study.delete()
    note(None, user, "delete study", **gone)
    for file in files:
        transaction.on_commit(partial(file.delete, save=False))


def _only_settings(fields: dict[str, Any]) -> dict[str, Any]:
    if unknown := sorted(fields.keys() - set(NAMES)):
        raise TypeError(f"not settings of a study: {', '.join(unknown)}")
    return {name: cleaned(name, value) if isinstance(value, str) else value for name, value in fields.items()}


def _locked(study: Study) -> Study:
    return Study.objects.select_for_update().get(pk=study.pk)
