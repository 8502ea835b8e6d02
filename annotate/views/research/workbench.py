"""The sentence workbench: a document's sentences as a list, each to join, split, leave out or take back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotate import imports
from annotate.access import in_study
from annotate.forms import WorkbenchForm
from annotate.models import Item, Judgment, SourceDocument, Study, Upload
from annotate.refusal import Refusal
from annotate.reports.study import worker_is_there
from annotate.views.research.pages import keys, page, user_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SENTENCES_A_PAGE = 100


@in_study("edit")
@require_http_methods(["GET", "HEAD", "POST"])
def workbench(request: HttpRequest, study: Study, topic_id: int, document_id: int) -> HttpResponse:
    """The sentences of a stored document."""
    documents = SourceDocument.objects.select_related("topic")
    document = get_object_or_404(documents, topic__in=study.topics.filter(pk=topic_id), pk=document_id)
    lose = max(keys([request.POST.get("lose", "")]), default=0)
    join, split = (partial(verb, document, lose=lose) for verb in (imports.join_with_next, imports.split_at))
    mark = partial(imports.set_judged_at, document)
    outcome = _changed(request, join, split, mark)
    topic = document.topic
    topic.refresh_from_db()
    sentences = Item.objects.filter(document=document).order_by("index")
    keys_of_documents = list(topic.documents.order_by("position").values_list("pk", flat=True))
    addresses = [reverse("workbench", args=[study.pk, topic_id, pk]) for pk in keys_of_documents]
    return _answer(
        request,
        study,
        "research/texts/workbench.html",
        outcome,
        sentences,
        addresses,
        keys_of_documents.index(document.pk),
        topic=topic,
        document=document,
        version=topic.text_version,
        language=topic.language or study.language,
        is_cut=topic.is_cut,
        may_move=True,
        is_judged=Judgment.objects.lasting().filter(item_set=topic.pk).exists(),
        left_out=sentences.exclude(not_judged="").count(),
        worker_missing=not topic.is_cut and not worker_is_there(),
    )


@in_study("edit")
@require_http_methods(["GET", "HEAD", "POST"])
def upload_document(request: HttpRequest, study: Study, key: UUID, number: int) -> HttpResponse:
    """The sentences of a document in a file that is not stored yet."""
    upload = get_object_or_404(Upload, study=study, key=key, state=Upload.State.READY)
    verbs = (imports.join_in_preview, imports.split_in_preview, imports.set_judged_in_preview)
    join, split, mark = (partial(verb, upload, number) for verb in verbs)
    outcome = _changed(request, join, split, mark)
    upload.refresh_from_db()
    cuts = upload.preview.get("cuts", [])
    if number >= len(cuts):
        raise Http404
    sentences = imports.previewed_sentences(cuts[number])
    addresses = [reverse("upload_document", args=[study.pk, key, place]) for place in range(len(cuts))]
    return _answer(
        request,
        study,
        "research/texts/upload_document.html",
        outcome,
        sentences,
        addresses,
        number,
        upload=upload,
        number=number,
        document=cuts[number],
        version=upload.preview.get("changes", 0),
        language=study.language,
        is_cut=True,
        may_move=not imports.has_judgments(upload),
        left_out=sum(bool(sentence.not_judged) for sentence in sentences),
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The index of the changed sentence, and why the change was refused, if so.

    `question`: set if judgments would become history; `asks`: the name and value of the button that was pressed.
    """

    index: int
    problem: str = ""
    question: imports.WouldLoseJudgments | None = None
    asks: tuple[str, str] = ("", "")


def _changed(
    request: HttpRequest,
    join: Callable[[int, int, User], None],
    split: Callable[[int, int, int, User], None],
    mark: Callable[[int, bool, int, User], None],
) -> _Outcome | None:
    """Make the change that was sent, if one was."""
    if request.method != "POST":
        return None
    form = WorkbenchForm(request.POST)
    if not form.is_valid():
        return _Outcome(0, _("This change was not understood. Nothing was changed."))
    sent = form.cleaned_data
    index, at = map(int, sent["split"].split(":")) if sent["split"] else (0, 0)
    version, user = sent["version"], user_of(request)
    try:
        if sent["split"]:
            split(index, at, version, user)
        elif sent["join"] is not None:
            index = sent["join"]
            join(index, version, user)
        else:
            to_judge = sent["take_back"] is not None
            index = sent["take_back"] if to_judge else sent["leave_out"]
            mark(index, to_judge, version, user)
    except imports.WouldLoseJudgments as refusal:
        asks = ("split", sent["split"]) if sent["split"] else ("join", str(index))
        return _Outcome(index, refusal.message, refusal, asks)
    except Refusal as refusal:
        return _Outcome(index, refusal.message)
    return _Outcome(index)


def _answer(
    request: HttpRequest,
    study: Study,
    template: str,
    outcome: _Outcome | None,
    sentences: Sequence[Item] | QuerySet[Item],
    addresses: Sequence[str],
    place: int,
    **context: Any,
) -> HttpResponse:
    """The list for htmx, else the page; after a change without htmx, a redirect to where it was made.
    A question to confirm is answered with the list or page, too.

    `addresses`: of all documents; `place`: this one's among them.
    """
    here = addresses[place]
    in_place = "HX-Request" in request.headers
    if outcome is not None and not in_place and outcome.question is None:
        if outcome.problem:
            messages.error(request, outcome.problem)
        number = outcome.index // SENTENCES_A_PAGE + 1
        return HttpResponseRedirect(f"{here}?page={number}#s-{outcome.index}")
    splitting = (keys([request.GET.get("split", "")]) or [-1])[0] if outcome is None else -1
    focus = outcome.index if outcome is not None else splitting if splitting >= 0 else None
    chosen = Paginator(sentences, SENTENCES_A_PAGE).get_page(
        request.GET.get("page") if focus is None else focus // SENTENCES_A_PAGE + 1
    )
    context |= {
        "here": here,
        "before": addresses[place - 1] if place else "",
        "after": addresses[place + 1] if place + 1 < len(addresses) else "",
        "chosen": chosen,
        "rows": [_row(sentence, splitting) for sentence in chosen],
        "last": chosen.paginator.count - 1,
        "focus": focus,
        "outcome": outcome,
    }
    return page(request, study, "research/texts/workbench_list.html" if in_place else template, **context)


def _row(sentence: Item, splitting: int) -> dict[str, Any]:
    return {"sentence": sentence, "words": imports.words_of(sentence.text) if sentence.index == splitting else None}


urlpatterns = [
    path(
        "studies/<int:study_id>/topics/<int:topic_id>/documents/<int:document_id>/sentences/",
        workbench,
        name="workbench",
    ),
    path("studies/<int:study_id>/uploads/<uuid:key>/documents/<int:number>/", upload_document, name="upload_document"),
]
