"""What a platform knows of a study's participants, from its table."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotate import crowd
from annotate.access import in_study
from annotate.models import Study
from annotate.views.research.pages import STUDY, page, user_of
from preferendum import formats
from preferendum.formats.checks import limits


class TableForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("File"), widget=forms.FileInput(attrs={"accept": ".csv"}))

    def clean_file(self) -> object:
        file = self.cleaned_data["file"]
        if file.size > limits.TABLE:
            raise forms.ValidationError(_("The file is larger than 2 MB."))
        return file


@in_study("annotators")
@require_http_methods(["GET", "HEAD", "POST"])
def study_demographics(request: HttpRequest, study: Study) -> HttpResponse:
    """Store the answers in a table of a platform, at once; say how many participants have some, and why others not."""
    form = TableForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            counts = crowd.put_demographics(study, user_of(request), file, file.name)
        except formats.Refused as refused:
            for complaint in refused.complaints:
                form.add_error("file", formats.message(complaint))
        else:
            told = _(
                "Participants with answers: %(stored)d. Nothing is stored of the others: consent revoked: %(revoked)d; "
                "no answer, or expired ones alone: %(expired)d; not in this study: %(unknown)d."
            )
            messages.success(request, told % counts)
            return redirect("study_demographics", study_id=study.pk)
    return page(request, study, "research/people/demographics.html", form=form, here="members")


urlpatterns = [path(STUDY + "demographics/", study_demographics, name="study_demographics")]
