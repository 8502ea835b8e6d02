"""What annotators ask for by mail, and writing to them: finding one, withdrawing them, and a list of addresses."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import crowd
from annotate.access import in_study
from annotate.audit_log import note
from annotate.crowd import personal
from annotate.forms import WithdrawForm
from annotate.models import Annotator, Participation, Study
from annotate.reports import annotators
from annotate.views.research.pages import STUDY, page, user_of


@in_study("annotators")
@require_POST
def annotator_find(request: HttpRequest, study: Study) -> HttpResponse:
    """Lead to the annotator with this name, code, platform ID or e-mail address; IDs stay out of addresses."""
    annotators = personal.find(study, request.POST.get("find", ""))
    if len(annotators) == 1:
        note(study, user_of(request), "find annotator", annotator=annotators[0].pseudonym)
        return redirect("study_annotator", study_id=study.pk, annotator_id=annotators[0].pk)
    if annotators:
        messages.error(request, _("Several annotators have this code: ask for the name or the platform ID."))
    else:
        messages.error(request, _("No annotator of this study has this name, code, platform ID or e-mail address."))
    return redirect("study_annotators", study_id=study.pk)


@in_study("annotators")
@require_http_methods(["GET", "HEAD", "POST"])
def annotator_withdraw(request: HttpRequest, study: Study, annotator_id: int) -> HttpResponse:
    """Withdraw an annotator who asks for it, as they could on their own page; asks what becomes of the answers."""
    annotator = get_object_or_404(
        Annotator.objects.arrived(), study=study, pk=annotator_id, kind=Annotator.Kind.HUMAN, imported=False
    )
    form = WithdrawForm(request.POST or None)
    if form.is_valid():
        erase = form.cleaned_data["answers"] == "erase"
        crowd.withdraw(annotator, erase=erase, by=user_of(request))
        messages.success(request, _("The annotator is withdrawn. The log says that you did it."))
        if erase:
            return redirect("study_annotators", study_id=study.pk)
        return redirect("study_annotator", study_id=study.pk, annotator_id=annotator.pk)
    participation = crowd.participation_of(annotator)
    return page(
        request,
        study,
        "monitor/annotator_withdraw.html",
        here="annotators",
        annotator=annotator,
        is_withdrawn=participation is not None and participation.outcome == Participation.Outcome.WITHDRAWN,
    )


@in_study("annotators")
@require_safe
def annotator_addresses(request: HttpRequest, study: Study) -> HttpResponse:
    """The addresses and platform IDs of annotators, one a line, to copy: of all, or of those who look careless.

    No pseudonyms, nor their order: who writes to them need not know what each judged. The log records who reads it.
    """
    addresses = personal.addresses(study)
    if request.GET.get("of") == "careless":
        flagged = annotators.careless(study, Annotator.Kind.HUMAN).flagged
        addresses = {key: address for key, address in addresses.items() if key in flagged}
    if request.method == "GET":
        note(study, user_of(request), "read addresses", annotators=len(addresses))
    return HttpResponse(
        "".join(f"{address}\n" for address in sorted(addresses.values())), content_type="text/plain; charset=utf-8"
    )


urlpatterns = [
    path(STUDY + "annotators/find/", annotator_find, name="annotator_find"),
    path(STUDY + "annotators/<int:annotator_id>/withdraw/", annotator_withdraw, name="annotator_withdraw"),
    path(STUDY + "annotators/addresses.txt", annotator_addresses, name="annotator_addresses"),
]
