"""How a study differs from its frozen plan, as far as the study knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.models import Annotator, Assignment, Plan, Study, System, Topic
from annotate.models.judging import AssignmentQuerySet
from annotate.reports.method import phrase
from formats.settings import KINDS_COUNTED, SETTINGS

#: So many names are listed; the rest are counted.
SHOWN = 8


def deviations(plan: Plan) -> list[str]:
    """What is otherwise than it was frozen, sentence by sentence; [] of a plan that is not frozen."""
    if not plan.is_frozen:
        return []
    study = plan.study
    return [
        *_of_settings(plan),
        *_of_numbers(plan),
        *_of_names(_("Topics"), plan.snapshot.get("topics", ()), Topic.objects.filter(study=study)),
        *_of_names(_("Systems"), plan.snapshot.get("systems", ()), System.objects.filter(study=study)),
        *_of_exclusions(plan),
    ]


def _of_settings(plan: Plan) -> Iterator[str]:
    before = plan.snapshot.get("settings", {})
    for setting in SETTINGS:
        now = getattr(plan.study, setting.name)
        if setting.name in before and before[setting.name] != now:
            yield _("A setting was changed: %(now)s (planned: %(before)s).") % {
                "now": phrase(setting.name, now), "before": phrase(setting.name, before[setting.name]),
            }  # fmt: skip


def _of_numbers(plan: Plan) -> Iterator[str]:
    rows = _counted(plan.study)
    judgments, annotators = rows.count(), rows.values("annotator").distinct().count()
    before = rows.filter(closed_at__lt=plan.frozen_at).count()
    if before:
        yield ngettext(
            "%(n)d judgment that counts was given before the plan was frozen.",
            "%(n)d judgments that count were given before the plan was frozen.",
            before,
        ) % {"n": before}
    if plan.judgments is not None and judgments != plan.judgments:
        yield ngettext(
            "%(n)d judgment counts (planned: %(planned)d).", "%(n)d judgments count (planned: %(planned)d).", judgments
        ) % {"n": judgments, "planned": plan.judgments}
    if plan.annotators is not None and annotators != plan.annotators:
        yield ngettext(
            "%(n)d annotator gave them (planned: %(planned)d).",
            "%(n)d annotators gave them (planned: %(planned)d).",
            annotators,
        ) % {"n": annotators, "planned": plan.annotators}


def _counted(study: Study) -> AssignmentQuerySet:
    topics = Topic.objects.filter(study=study)
    kinds = KINDS_COUNTED[study.counted_kinds]
    return Assignment.objects.in_place().filter(topic__in=topics, annotator__kind__in=kinds)


def _of_names(title: str, before: Sequence[str], rows: QuerySet[Any]) -> Iterator[str]:
    now = set(rows.values_list("name", flat=True))
    for words, names in (
        (_("%(title)s that were added: %(names)s."), now - set(before)),
        (_("%(title)s that are gone: %(names)s."), set(before) - now),
    ):
        if names:
            yield words % {"title": title, "names": _listed(sorted(names))}


def _listed(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    shown = ", ".join(names[:SHOWN])
    return _("%(names)s and %(more)d more") % {"names": shown, "more": more} if more > 0 else shown


def _of_exclusions(plan: Plan) -> Iterator[str]:
    excluded = Annotator.objects.filter(study=plan.study, excluded_at__isnull=False).count()
    if excluded:
        yield ngettext(
            "%(n)d annotator is excluded. Say by which rule; the audit log has the reason.",
            "%(n)d annotators are excluded. Say by which rules; the audit log has the reasons.",
            excluded,
        ) % {"n": excluded}
