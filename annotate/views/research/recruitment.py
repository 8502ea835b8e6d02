"""Recruitment: the consent text, the platform, and the completion codes."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotate import crowd, invitations
from annotate.access import in_study
from annotate.audit_log import note
from annotate.forms import RecruitmentForm
from annotate.models import Participation, Study
from annotate.views.refusals import refusals_shown
from annotate.views.research.download import TABLE, download
from annotate.views.research.pages import as_file, csv_table, page, user_of

Outcome = Participation.Outcome
COLUMNS = ("person", "session", "outcome", "code", "entered_at", "left_at")


@in_study("settings")
@require_http_methods(["GET", "HEAD", "POST"])
def study_recruitment(request: HttpRequest, study: Study) -> HttpResponse:
    """Set how participants are recruited; the link for the platform can be copied."""
    before = crowd.recruitment_of(study).consent_version
    form = RecruitmentForm(request.POST or None, instance=crowd.recruitment_of(study))
    if form.is_valid():
        with refusals_shown(form):
            saved = crowd.recruit(study, user_of(request), **form.cleaned_data)
            has_new_text = saved.consent and saved.consent_version > before
            new_text = _("Saved. Whoever opens their link from now on agrees to the new text first.")
            messages.success(request, new_text if has_new_text else _("Saved."))
            return redirect("study_recruitment", study_id=study.pk)
    recruitment = crowd.recruitment_of(study)
    return page(
        request,
        study,
        "research/people/recruitment.html",
        form=form,
        recruitment=recruitment,
        entry=invitations.crowd_link(recruitment, request.build_absolute_uri("/").rstrip("/")),
        outcomes=_outcomes(study),
        here="recruitment",
        downloads=[download(_("Participants and their codes"), "participants", TABLE[1:], [study.pk])],
    )


@in_study("settings")
@require_safe
def participants_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """Participants from the platform with outcome and code, to be compared with the platform's list.

    No pseudonyms: the person who pays them need not know what each judged. The log records who downloads it.
    """
    rows = list(study.participations.exclude(person="").order_by("pk").values_list(*COLUMNS))
    if request.method == "GET":
        note(study, user_of(request), "download participants", people=len(rows))
    lines = [(*texts, came.isoformat(), left.isoformat() if left else None) for *texts, came, left in rows]
    return as_file(*csv_table(COLUMNS, lines), f"participants-{study.pk}.csv")


def _outcomes(study: Study) -> list[tuple[str, int]]:
    """Outcomes in words, with their numbers of participants."""
    counted = dict(study.participations.values_list("outcome").annotate(Count("pk")).order_by())
    return [(str(label), counted[value]) for value, label in Outcome.choices if counted.get(value)]


_PAGE = "studies/<int:study_id>/recruitment/"
urlpatterns = [
    path(_PAGE, study_recruitment, name="study_recruitment"),
    path(_PAGE + "participants.csv", participants_csv, name="participants_csv"),
]
