"""The questionnaire of a study: the questions to annotators about themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

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
from annotate.crowd.asking import checked_question
from annotate.forms import AnsweringForm
from annotate.models import Questionnaire, Study
from annotate.refusal import Refusal
from annotate.views.research.pages import STUDY, page, user_of
from preferendum.formats.questionnaire import (
    LONGEST_OPTION,
    LONGEST_QUESTION,
    MOST_OPTIONS,
    MOST_QUESTIONS,
    Question,
    QuestionKind,
)

KINDS: Mapping[QuestionKind, Any] = {
    "text": gettext_lazy("a short text"),
    "number": gettext_lazy("a number"),
    "one": gettext_lazy("one of the options"),
    "several": gettext_lazy("several of the options"),
    "scale": gettext_lazy("a step of a scale"),
}
assert set(KINDS) == set(get_args(QuestionKind))


class PlaceForm(forms.Form):
    place = forms.ChoiceField(
        label=gettext_lazy("When annotators are asked"),
        choices=Questionnaire.Place.choices[:2],
        widget=forms.RadioSelect,
    )


class QuestionForm(AnsweringForm, forms.Form):
    """One question; without a text, none."""

    text = forms.CharField(
        label=gettext_lazy("Question"),
        max_length=LONGEST_QUESTION,
        required=False,
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    kind = forms.ChoiceField(label=gettext_lazy("The answer is"), choices=list(KINDS.items()), initial="one")
    options = forms.CharField(
        label=gettext_lazy("Options, or the steps of the scale in their order"),
        required=False,
        max_length=(LONGEST_OPTION + 2) * MOST_OPTIONS,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text=gettext_lazy("One a line."),
    )
    required = forms.BooleanField(label=gettext_lazy("Annotators must answer"), required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("text") and not self.errors:
            try:
                checked_question(_question(cleaned))
            except Refusal as refusal:
                self.add_error("options", refusal.message)
        return cleaned


QuestionForms = forms.formset_factory(QuestionForm, extra=1, max_num=MOST_QUESTIONS, absolute_max=MOST_QUESTIONS + 1)


def presets() -> dict[str, tuple[str, Question]]:
    """Questions that are ready to be chosen, in the researcher's language, by what a form sends."""
    languages = (
        *(_("English"), _("German"), _("French"), _("Spanish"), _("Portuguese"), _("Italian"), _("Arabic")),
        *(_("Chinese"), _("Japanese"), _("another language")),
    )
    steps = _("none"), _("a little"), _("I read them often"), _("I work with them")
    expertise = Question(_("How much experience do you have with texts like these?"), "scale", steps, True)
    return {
        "language": (_("native language"), Question(_("What is your native language?"), "one", languages, True)),
        "expertise": (_("expertise"), expertise),
    }


@in_study("settings")
@require_http_methods(["GET", "HEAD", "POST"])
def study_questionnaire(request: HttpRequest, study: Study) -> HttpResponse:
    """Set the questions and their place. A question that is ready to be chosen is added to the form, unsaved."""
    newest = crowd.questionnaire_of(study)
    place = PlaceForm(request.POST or None, initial={"place": newest.place})
    forms_of = QuestionForms(request.POST or None, initial=_initial(newest.asked))
    problems: list[str] = []
    if place.is_valid() and forms_of.is_valid():
        questions = [_question(sent) for sent in forms_of.cleaned_data if sent.get("text")]
        if (preset := presets().get(request.POST.get("add", ""))) is not None:
            forms_of = QuestionForms(initial=_initial([*questions, preset[1]]))
        else:
            try:
                crowd.set_questionnaire(study, user_of(request), questions, place.cleaned_data["place"])
            except Refusal as refusal:
                problems = [problem for several in refusal.fields.values() for problem in several]
            else:
                messages.success(request, _("Saved. Annotators who have not answered yet are asked these questions."))
                return redirect("study_questionnaire", study_id=study.pk)
    return page(
        request,
        study,
        "research/studies/questionnaire.html",
        here="questionnaire",
        place=place,
        forms=forms_of,
        problems=problems,
        newest=newest,
        presets=presets(),
    )


def _initial(questions: Iterable[Question]) -> list[dict[str, Any]]:
    return [
        {"text": own.text, "kind": own.kind, "options": "\n".join(own.options), "required": own.required}
        for own in questions
    ]


def _question(sent: Mapping[str, Any]) -> Question:
    return Question(sent["text"], sent["kind"], tuple(sent["options"].splitlines()), sent["required"])


urlpatterns = [path(STUDY + "questionnaire/", study_questionnaire, name="study_questionnaire")]
