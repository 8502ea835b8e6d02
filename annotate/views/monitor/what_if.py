"""What would change without some annotators, or with them again; and doing it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from annotate import judging
from annotate.access import in_study
from annotate.judging import what_if
from annotate.models import Annotator, Study, WhatIfQuestion
from annotate.reports.study import worker_is_there
from annotate.reports.what_if import changes, in_words, score_of, unit
from annotate.views.refusals import refusals_shown
from annotate.views.research.pages import STUDY, UNCHANGED, digest, is_seen, keys, page, user_of
from preferendum.results import WhatIf
from preferendum.show.analyses.annotator_agreement import STATISTICS, printed
from preferendum.show.points import why_untested


@in_study("annotators")
@require_POST
def what_if_ask(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask what would change without these annotators, or with them again."""
    annotators = Annotator.objects.arrived().filter(study=study, pk__in=keys(request.POST.getlist("annotator")))
    leave_out = request.POST.get("back") != "1"
    concerned = [annotator for annotator in annotators if annotator.is_excluded != leave_out]
    if not concerned:
        messages.error(request, _("Choose at least one annotator."))
        return redirect("study_annotators", study_id=study.pk)
    question = what_if.ask(study, user_of(request), concerned, leave_out=leave_out)
    return redirect("what_if", study_id=study.pk, key=question.key)


@in_study("annotators")
@require_safe
def what_if_answer(request: HttpRequest, study: Study, key: Any) -> HttpResponse:
    """What would change: computed by the worker, shown next to the present result."""
    question = get_object_or_404(WhatIfQuestion, study=study, key=key, kind="")
    has_worker = worker_is_there()
    version = digest(question.state, question.done, question.topics, has_worker)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    annotators = what_if.annotators_of(question)
    answer = question.record
    return page(
        request,
        study,
        "monitor/what_if_state.html" if "seen" in request.GET else "monitor/what_if.html",
        here="annotators",
        question=question,
        annotators=annotators,
        is_done=all(annotator.is_excluded == question.leave_out for annotator in annotators),
        what_if=answer,
        outcomes=_outcomes(answer) if answer else (),
        statistics=[_(title) for title in STATISTICS.values()],
        words=in_words(study, answer) if answer else "",
        changes=changes(answer) if answer else (),
        board={"score": (score := score_of(study))},
        why_untested=why_untested(score),
        unit=unit(answer, score) if answer else None,
        version=version,
        has_worker=has_worker,
        is_old=what_if.is_old(question),
        most=judging.excluding.LONGEST_REASON,
    )


def _outcomes(what_if: WhatIf) -> list[dict[str, Any]]:
    """The agreement as it is and as it would be."""
    return [
        {
            "outcome": outcome,
            "title": title,
            "pairs": outcome.agreement.pairs,
            "figures": [printed(getattr(outcome.agreement, name), is_share=name == "percent") for name in STATISTICS],
        }
        for title, outcome in ((_("Now"), what_if.before), (_("After"), what_if.after))
    ]


@in_study("annotators")
@require_POST
def what_if_do(request: HttpRequest, study: Study, key: Any) -> HttpResponse:
    """Exclude the question's annotators, or include them again, with a reason."""
    question = get_object_or_404(WhatIfQuestion, study=study, key=key, kind="")
    annotators = what_if.annotators_of(question)
    do = judging.exclude if question.leave_out else judging.readmit
    with refusals_shown(request):
        with transaction.atomic():
            done = sum([do(annotator, user_of(request), request.POST.get("reason", "")) for annotator in annotators])
        messages.success(request, _message(done, question.leave_out))
        if len(annotators) == 1:
            return redirect("study_annotator", study_id=study.pk, annotator_id=annotators[0].pk)
        return redirect("study_annotators", study_id=study.pk)
    return redirect("what_if", study_id=study.pk, key=key)


def _message(done: int, leave_out: bool) -> str:
    if leave_out:
        message = ngettext("%(n)d annotator is excluded.", "%(n)d annotators are excluded.", done) % {"n": done}
        return message + " " + _("Their judgments are kept but do not count. Scores are updated automatically.")
    message = ngettext("%(n)d annotator is included again.", "%(n)d annotators are included again.", done) % {"n": done}
    return message + " " + _("Their judgments count again. Scores are updated automatically.")


urlpatterns = [
    path(STUDY + "what-ifs/", what_if_ask, name="what_if_ask"),
    path(STUDY + "what-ifs/<uuid:key>/", what_if_answer, name="what_if"),
    path(STUDY + "what-ifs/<uuid:key>/do/", what_if_do, name="what_if_do"),
]
