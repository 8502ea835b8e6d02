"""Studies: the list, a new one, its first page, its topics, its settings."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import access
from annotate import studies as verbs
from annotate.forms import CopyStudyForm, NewStudyForm, StudyForm
from annotate.models import Study, Upload
from annotate.reports import diagnostics, rests_on, statement
from annotate.reports.study import Overview, look_at, study_lines, topic_states
from annotate.views.limited import limited
from annotate.views.refusals import refusals_shown
from annotate.views.research.pages import UNCHANGED, digest, is_seen, page, user_of
from annotate.views.research.uploads import MEGABYTE
from preferendum.formats.settings import StudySettings
from preferendum.results.statement import StudyStatement

TOPICS_A_PAGE = 100


@login_required
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """The studies that the visitor may see."""
    lines = study_lines(access.visible_studies(request.user))
    may_create = access.may_create_studies(request.user)
    return render(request, "research/studies/studies.html", {"lines": lines, "may_create": may_create})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study_new(request: HttpRequest) -> HttpResponse:
    """Create a study."""
    if not access.may_create_studies(request.user):
        raise PermissionDenied
    form = NewStudyForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        with refusals_shown(form):
            study = verbs.begin_study(user_of(request), **form.cleaned_data)
            if upload := Upload.objects.filter(study=study).first():
                return redirect("upload", study_id=study.pk, key=upload.key)
            return redirect("upload_new", study_id=study.pk)
    shown = {"form": form, "limit": settings.UPLOAD_LIMIT // MEGABYTE}
    return render(request, "research/studies/study_new.html", shown)


@access.in_study("see")
@require_safe
def study(request: HttpRequest, study: Study) -> HttpResponse:
    """What the study holds and lacks, and what to do next; updates itself while open."""
    overview = look_at(study)
    record = statement.of_study(study)
    lines = statement.lines(record)
    version = _version(overview, record)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    template = "research/studies/overview.html" if "seen" in request.GET else "research/studies/study.html"
    return page(
        request, study, template, here="overview", overview=overview, record=record, lines=lines, version=version
    )


@access.in_study("see")
@require_safe
def study_topics(request: HttpRequest, study: Study) -> HttpResponse:
    """The topics and their progress."""
    chosen = Paginator(study.topics.order_by("position"), TOPICS_A_PAGE).get_page(request.GET.get("page"))
    shown = study.topics.select_related("upload__user").filter(pk__in=[topic.pk for topic in chosen])
    states = topic_states(study, shown)
    verdicts = diagnostics.of_texts(study) if access.may(request.user, study, "annotators") else ()
    return page(
        request, study, "research/texts/topics.html", chosen=chosen, states=states, verdicts=verdicts, here="topics"
    )


@access.in_study("settings")
@require_http_methods(["GET", "HEAD", "POST"])
def study_settings(request: HttpRequest, study: Study) -> HttpResponse:
    """Change what the study asks and how it computes."""
    if "share_pairs" in request.POST:
        verbs.change_settings(study, user_of(request), shared_share=StudySettings().shared_share)
        messages.success(request, _("From now on annotators share some pairs."))
        return redirect("analysis", study_id=study.pk, analysis="agreement-of-annotators")
    form = StudyForm(request.POST or None, instance=Study.objects.get(pk=study.pk))
    if form.is_valid():
        with refusals_shown(form):
            verbs.change_settings(study, user_of(request), **form.cleaned_data)
            recomputed = _("All scores are recomputed.") if set(form.changed_data) & set(form.recomputing) else ""
            messages.success(request, " ".join([_("The settings were saved."), recomputed]))
            return redirect("study_settings", study_id=study.pk)
    may_create = access.may_create_studies(request.user)
    return page(request, study, "research/studies/settings.html", form=form, may_create=may_create, here="settings")


@access.in_study("settings")
@require_POST
def study_state(request: HttpRequest, study: Study) -> HttpResponse:
    """Open, pause or close the study."""
    with refusals_shown(request):
        changed = verbs.set_state(study, user_of(request), request.POST.get("state", ""))
        messages.success(request, _("The study is now %(state)s.") % {"state": changed.get_state_display()})
    return redirect("study", study_id=study.pk)


@limited
@access.in_study("settings")
@require_http_methods(["GET", "HEAD", "POST"])
def study_copy(request: HttpRequest, study: Study) -> HttpResponse:
    """Create a copy of the study."""
    if not access.may_create_studies(request.user):
        raise PermissionDenied
    form = CopyStudyForm(request.POST or None, initial={"title": _("Copy of %(title)s") % {"title": study.title}})
    if form.is_valid():
        with refusals_shown(form):
            copy = verbs.copy_study(study, user_of(request), **form.cleaned_data)
            messages.success(request, _("This is the copy. Nobody has judged in it."))
            return redirect("study", study_id=copy.pk)
    return page(request, study, "research/studies/study_copy.html", form=form)


@access.in_study("members")
@require_http_methods(["GET", "HEAD", "POST"])
def study_delete(request: HttpRequest, study: Study) -> HttpResponse:
    """Delete the study for good, once its title was typed."""
    typed = request.POST.get("title", "")
    if request.method == "POST" and typed.strip() == study.title.strip():
        verbs.delete_study(study, user_of(request))
        messages.success(request, _("The study and everything in it were deleted."))
        return redirect("studies")
    return page(
        request,
        study,
        "research/studies/study_delete.html",
        wrong=request.method == "POST",
        topics=study.topics.count(),
        judgments=rests_on.of_study(study).total,
    )


def _version(overview: Overview, record: StudyStatement | None) -> str:
    uploads = [(upload.pk, upload.state) for upload in overview.uploads]
    topics = [(topic.topic.pk, topic.sentences, topic.rests_on, topic.problem) for topic in overview.topics]
    return digest(uploads, topics, repr(record), overview.next, overview.steps, overview.systems, overview.annotators)


urlpatterns = [
    path("studies/", studies, name="studies"),
    path("studies/new/", study_new, name="study_new"),
    path("studies/<int:study_id>/", study, name="study"),
    path("studies/<int:study_id>/topics/", study_topics, name="study_topics"),
    path("studies/<int:study_id>/settings/", study_settings, name="study_settings"),
    path("studies/<int:study_id>/state/", study_state, name="study_state"),
    path("studies/<int:study_id>/copy/", study_copy, name="study_copy"),
    path("studies/<int:study_id>/delete/", study_delete, name="study_delete"),
]
