"""A study's questions to its annotators about themselves, before the first pair or after the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotate import crowd
from annotate.refusal import Refusal, cleaned
from annotate.views.judging.progress import find_annotator, go_on
from preferendum.formats.questionnaire import LARGEST, LONGEST_ANSWER, Question

#: More options than this are in a list that opens.
MOST_BUTTONS = 12


class QuestionnaireForm(forms.Form):
    """A field for each question, by its number."""

    def __init__(self, questions: Sequence[Question], *args: Any) -> None:
        super().__init__(*args)
        self.questions = {f"q{number}": question for number, question in enumerate(questions)}
        for name, question in self.questions.items():
            self.fields[name] = _field(question)

    def clean(self) -> None:
        for name, question in self.questions.items():
            if question.kind == "text" and name in self.cleaned_data:
                try:
                    self.cleaned_data[name] = cleaned(name, self.cleaned_data[name])
                except Refusal as refusal:
                    self.add_error(name, refusal.fields[name])

    @property
    def answers(self) -> dict[str, Any]:
        """The answers given, by the texts of their questions."""
        given = (
            (question.text, self.cleaned_data[name])
            for name, question in self.questions.items()
            if name in self.cleaned_data
        )
        return {text: answer for text, answer in given if answer not in ("", None, [])}


def _field(question: Question) -> forms.Field:
    own: dict[str, Any] = {"label": question.text, "required": question.required}
    options = [(option, option) for option in question.options]
    match question.kind:
        case "text":
            return forms.CharField(max_length=LONGEST_ANSWER, **own)
        case "number":
            widget = forms.NumberInput(attrs={"step": "any"})
            return forms.FloatField(widget=widget, min_value=-LARGEST, max_value=LARGEST, **own)
        case "several":
            return forms.MultipleChoiceField(choices=options, widget=forms.CheckboxSelectMultiple, **own)
        case "scale":
            steps = list(enumerate(question.options, 1))
            return forms.TypedChoiceField(choices=steps, coerce=int, widget=forms.RadioSelect, **own)
        case "one" if len(options) <= MOST_BUTTONS:
            return forms.ChoiceField(choices=options, widget=forms.RadioSelect, **own)
        case _:
            return forms.ChoiceField(choices=[("", _("Choose one")), *options], **own)


@require_http_methods(["GET", "HEAD", "POST"])
def questionnaire(request: HttpRequest, key: UUID) -> HttpResponse:
    """The questions; once they are answered, the next pair, or the code."""
    annotator = find_annotator(request, key)
    due = crowd.due(annotator)
    if due is None:
        return redirect("progress", key=key)
    form = QuestionnaireForm(due.asked, request.POST if request.method == "POST" else None)
    if form.is_bound and (form.is_valid() or request.POST.get("version") != str(due.version)):
        try:
            crowd.answer_questionnaire(annotator, request.POST.get("version", ""), form.answers)
        except Refusal:
            messages.warning(request, _("The questions have just changed. Please look at them again."))
            form = QuestionnaireForm(due.asked)
        else:
            return go_on(request, annotator)
    context = {"annotator": annotator, "study": annotator.study, "questionnaire": due, "form": form}
    return render(request, "judge/questionnaire.html", context)


urlpatterns = [path("progress/<uuid:key>/questions/", questionnaire, name="questionnaire")]
