"""A study's plan: written, frozen, and what was done otherwise. The one writer."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.models import Deviation, Plan, Study, System, Topic
from annotate.refusal import Refusal, check, cleaned, invalid
from formats.settings import NAMES
from formats.study_records import DeviationRecord, PlanRecord

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: What a person fills in.
FIELDS = ("hypotheses", "judgments", "annotators", "exclusions")
#: Deviations of one plan, at most.
MOST = 500


def plan_of(study: Study) -> Plan:
    """The study's plan; an empty one, not stored, where nobody wrote any."""
    return Plan.objects.filter(study=study).first() or Plan(study=study)


@transaction.atomic
def save(study: Study, user: User, **fields: Any) -> Plan:
    """Write the plan down, to be changed until it is frozen. Raises `Refusal` afterwards."""
    plan = _locked(study)
    _refuse_frozen(plan)
    for name in FIELDS:
        if name in fields:
            setattr(plan, name, cleaned(name, fields[name]) if isinstance(fields[name], str) else fields[name])
    check(plan)
    plan.save()
    note(study, user, "change plan")
    return plan


@transaction.atomic
def freeze(study: Study, user: User) -> Plan:
    """Let nobody change the plan any more, and keep with it what the study is now. Raises `Refusal` without a plan."""
    plan = _locked(study)
    _refuse_frozen(plan)
    if not plan.hypotheses:
        raise invalid("hypotheses", _("Say what you expect before you freeze the plan."))
    plan.frozen_at = timezone.now()
    plan.snapshot = _snapshot(Study.objects.get(pk=study.pk))
    plan.digest = digest_of(plan)
    plan.save()
    note(study, user, "freeze plan", digest=plan.digest)
    return plan


@transaction.atomic
def deviate(study: Study, user: User, text: str) -> Deviation:
    """Note what was done otherwise than planned. Raises `Refusal` before the plan is frozen, or without a text."""
    plan = _locked(study)
    if not plan.is_frozen:
        raise Refusal(_("Freeze the plan first. Until then you can change it."), "state")
    text = cleaned("text", text)
    if not text:
        raise invalid("text", _("Say what is different, and why."))
    if plan.deviations.count() >= MOST:
        raise Refusal(_("A plan has at most %(most)d deviations.") % {"most": MOST})
    row = Deviation(plan=plan, text=text, user=user, at=timezone.now())
    check(row)
    row.save(force_insert=True)
    note(study, user, "note deviation from plan", text=text)
    return row


def digest_of(plan: Plan) -> str:
    """SHA-256 of what is frozen, as JSON with sorted keys and without spaces: anybody can check it in an export."""
    content = {name: getattr(plan, name) for name in FIELDS}
    content |= {"frozen_at": moment(plan.frozen_at), "snapshot": plan.snapshot}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def moment(at: datetime | None) -> str | None:
    """A time as archives and digests have it."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


def archived(study: Study) -> PlanRecord | None:
    """The plan as it is exported; None where there is none."""
    plan = Plan.objects.filter(study=study).first()
    if plan is None:
        return None
    deviations = [DeviationRecord(row.text, moment(row.at) or "") for row in plan.deviations.all()]
    written = {name: getattr(plan, name) for name in FIELDS}
    return PlanRecord(
        **written, frozen_at=moment(plan.frozen_at), snapshot=plan.snapshot, digest=plan.digest, deviations=deviations
    )


def restore(study: Study, record: PlanRecord) -> None:
    """Take back what an archive holds; its digest says whether it is as it was frozen."""
    written = {name: getattr(record, name) for name in FIELDS}
    frozen_at = datetime.fromisoformat(record.frozen_at) if record.frozen_at else None
    snapshot = dict(record.snapshot)
    plan = Plan.objects.create(study=study, **written, frozen_at=frozen_at, snapshot=snapshot, digest=record.digest)
    Deviation.objects.bulk_create(
        Deviation(plan=plan, text=own.text, at=datetime.fromisoformat(own.at)) for own in record.deviations
    )


def _snapshot(study: Study) -> dict[str, Any]:
    return {
        "settings": {name: getattr(study, name) for name in NAMES},
        "topics": list(Topic.objects.filter(study=study).order_by("name").values_list("name", flat=True)),
        "systems": list(System.objects.filter(study=study).order_by("name").values_list("name", flat=True)),
    }


def _locked(study: Study) -> Plan:
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    return plan_of(study)


def _refuse_frozen(plan: Plan) -> None:
    if plan.is_frozen:
        raise Refusal(_("The plan is frozen. Note what is different as a deviation."), "state")
