"""One topic: its sentences by utility, its documents as they are split, and the judgments of each sentence."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import imports
from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.forms import MendForm, complain
from annotate.models import Fit, Item, ItemSet, Judgment, SourceDocument, Study, Summary, Topic, Utility
from annotate.refusal import Refusal
from annotate.reports import leaderboard, minutes
from annotate.reports.study import topic_states, worker_is_there
from annotate.views.refusals import refusals_shown
from annotate.views.research.download import TABLE, download
from annotate.views.research.pages import UNCHANGED, as_file, csv_table, digest, is_seen, keys, page, user_of
from preferendum.formats.answers import share_of_first
from preferendum.show.plots import Scale
from preferendum.show.points import unit_of

SENTENCES_A_PAGE = 100
#: So few sentences need no search.
SHORT = 20
COLUMNS = ("rank", "sentence", "text", "utility", "low", "high", "value", "strength", "wins", "judgments")
JUDGMENTS_A_PAGE = 100
#: Small interval plots have 100 units from side to side; the dots need a little air there.
MARGIN = 4.0


@in_study("see")
@require_safe
@snapshot()
def topic(request: HttpRequest, study: Study, topic_id: int) -> HttpResponse:
    """The topic's sentences, the most useful first, with what each rests on."""
    topic = get_object_or_404(Topic.objects.select_related("sentence_set"), study=study, pk=topic_id)
    fit = leaderboard.newest_fit(topic.sentence_set)
    state = topic_states(study, study.topics.filter(pk=topic.pk))[0]
    asked = request.GET.get("words", "").strip()[:200]
    utilities = _ranked(fit)
    chosen = Paginator(utilities.filter(sentence__text__icontains=asked), SENTENCES_A_PAGE).get_page(
        request.GET.get("page")
    )
    everything = list(utilities.values_list("pk", "utility", "low", "high"))
    places = {key: place for place, (key, *_figures) in enumerate(everything, 1)}
    bounds = [number for _key, *figures in everything for number in figures if number is not None]
    scale = Scale(min(bounds, default=0.0), max(bounds, default=1.0), MARGIN, 100 - MARGIN)
    return page(
        request,
        study,
        "research/texts/topic.html",
        topic=topic,
        state=state,
        fit=fit,
        chosen=chosen,
        rows=[_drawn(utility, scale) | {"place": places[utility.pk]} for utility in chosen],
        asked=asked,
        keep=f"{urlencode({'words': asked})}&" if asked else "",
        is_long=len(places) > SHORT,
        zero=scale.at(0.0),
        unit=unit_of("", [(value, low, high) for _key, value, low, high in everything]),
        timed=minutes.of_topic(topic),
        worker_missing=(state.is_behind or not state.is_cut) and not worker_is_there(),
        show="sentences",
        downloads=[download(_("All sentences with their utilities"), "topic", TABLE[1:], [study.pk, topic.pk])],
    )


def _ranked(fit: Fit | None) -> QuerySet[Utility]:
    """A fit's utilities, the largest first."""
    utilities = Utility.objects.filter(fit=fit).select_related("sentence__document")
    return utilities.order_by("-utility", "sentence__position")


@in_study("see")
@require_safe
@snapshot()
def topic_csv(request: HttpRequest, study: Study, topic_id: int) -> HttpResponse:
    """The sentences of a topic with their utilities, as a file."""
    topic = get_object_or_404(Topic, study=study, pk=topic_id)
    utilities = _ranked(leaderboard.newest_fit(topic.sentence_set))
    return as_file(
        *csv_table(COLUMNS, (_cells(place, utility) for place, utility in enumerate(utilities, 1))),
        f"sentences-{slugify(topic.name) or topic.pk}.csv",
    )


def _cells(place: int, utility: Utility) -> tuple[str | float | int | None, ...]:
    own = utility.sentence
    figures = utility.utility, utility.low, utility.high, utility.value, utility.strength
    return place, own.name, own.text, *figures, utility.wins, utility.judgments


@in_study("see")
@require_safe
def topic_documents(request: HttpRequest, study: Study, topic_id: int) -> HttpResponse:
    """The documents with their sentences; updates itself while the worker splits them."""
    topic = get_object_or_404(Topic, study=study, pk=topic_id)
    state = topic_states(study, study.topics.filter(pk=topic.pk))[0]
    version = digest(topic.text_version, state.is_cut, state.problem)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    return page(
        request,
        study,
        "research/texts/documents.html" if "seen" in request.GET else "research/texts/topic_documents.html",
        topic=topic,
        state=state,
        documents=topic.documents.annotate(
            left_out=Count("cut_sentences", filter=~Q(cut_sentences__not_judged=""))
        ).prefetch_related(Prefetch("cut_sentences", queryset=Item.objects.order_by("index"))),
        references=topic.references.all(),
        summaries=topic.summaries.select_related("system").order_by("system__name"),
        version=version,
        is_judged=_is_judged(topic),
        worker_missing=not state.is_cut and not worker_is_there(),
        show="documents",
    )


@in_study("edit")
@require_http_methods(["GET", "HEAD", "POST"])
def document_mend(request: HttpRequest, study: Study, topic_id: int, document_id: int) -> HttpResponse:
    """Move the borders between a document's sentences; ask first if judgments would become history."""
    document = get_object_or_404(SourceDocument, topic__in=study.topics.filter(pk=topic_id), pk=document_id)
    texts = document.cut_sentences.order_by("index").values_list("text", flat=True)
    cut = document.mended or texts or document.sentences or []
    first = {"sentences": "\n".join(" ".join(sentence.split()) for sentence in cut)}
    form = MendForm(document, request.POST or None, initial=first)
    lose, question = max(keys([request.POST.get("lose", "")]), default=0), None
    if form.is_valid():
        try:
            imports.mend(document, form.cleaned_data["sentences"], user_of(request), lose)
        except Refusal as refusal:
            question = refusal if isinstance(refusal, imports.WouldLoseJudgments) else None
            complain(form, refusal)
        else:
            messages.success(request, _("Your sentences were saved."))
            return redirect("topic_documents", study_id=study.pk, topic_id=topic_id)
    return page(
        request,
        study,
        "research/texts/mend.html",
        topic=document.topic,
        document=document,
        form=form,
        question=question,
    )


@in_study("edit")
@require_POST
def document_unmend(request: HttpRequest, study: Study, topic_id: int, document_id: int) -> HttpResponse:
    """Return to the program's own split of the document."""
    document = get_object_or_404(SourceDocument, topic__in=study.topics.filter(pk=topic_id), pk=document_id)
    with refusals_shown(request):
        imports.mend(document, None, user_of(request))
        messages.success(request, _("The document will be split automatically again."))
    return redirect("topic_documents", study_id=study.pk, topic_id=topic_id)


@in_study("see")
@require_safe
def sentence(request: HttpRequest, study: Study, sentence_id: int) -> HttpResponse:
    """One sentence in its document, and the judgments that its utility rests on; a summary has its own page."""
    sentence = get_object_or_404(
        Item.objects.select_related("item_set__topic", "document").prefetch_related("utilities"),
        item_set__in=ItemSet.objects.filter(study=study),
        pk=sentence_id,
    )
    document, topic = sentence.document, sentence.item_set.topic
    if document is None:
        summary = get_object_or_404(Summary, topic=topic, system__name=sentence.system)
        return redirect("summary", study_id=study.pk, summary_id=summary.pk)
    judgments = (
        Judgment.objects.counted()
        .filter(assignment__item_set=sentence.item_set_id)
        .filter(Q(assignment__pair__first=sentence) | Q(assignment__pair__second=sentence))
        .select_related("assignment__annotator", "assignment__pair__first", "assignment__pair__second")
        .order_by("-pk")
    )
    chosen = Paginator(judgments, JUDGMENTS_A_PAGE).get_page(request.GET.get("page"))
    utility = sentence.utility
    return page(
        request,
        study,
        "research/texts/sentence.html",
        topic=topic,
        sentence=sentence,
        utility=utility,
        unit=unit_of("", [(utility.utility, utility.low, utility.high)] if utility else []),
        published=sentence.published_utility,
        rank=_rank(utility) if utility else None,
        neighbours=document.spaced(sentence.index + 2)[max(0, sentence.index - 2) :],
        chosen=chosen,
        judgments=[_from_its_side(judgment, sentence) for judgment in chosen],
    )


def _drawn(utility: Utility, scale: Scale) -> dict[str, object]:
    """A row of the list with the place of its interval on the small plot."""
    return {
        "utility": utility,
        "sentence": utility.sentence,
        "x": scale.at(utility.utility),
        "low": None if utility.low is None else scale.at(utility.low),
        "high": None if utility.high is None else scale.at(utility.high),
    }


def _from_its_side(judgment: Judgment, sentence: Item) -> dict[str, object]:
    """A judgment from the side of one of its two sentences."""
    shown = judgment.assignment
    was_left = shown.left.pk == sentence.pk
    return {
        "judgment": judgment,
        "annotator": shown.annotator,
        "other": shown.right if was_left else shown.left,
        "was_left": was_left,
        "share": share_of_first(judgment.answer, swapped=not was_left),
    }


def _rank(utility: Utility) -> dict[str, int]:
    others = Utility.objects.filter(fit=utility.fit_id)
    return {"place": 1 + others.filter(utility__gt=utility.utility).count(), "of": others.count()}


def _is_judged(topic: Topic) -> bool:
    return Judgment.objects.lasting().filter(item_set=topic.pk).exists()


_TOPIC = "studies/<int:study_id>/topics/<int:topic_id>/"
urlpatterns = [
    path(_TOPIC, topic, name="topic"),
    path(_TOPIC + "sentences.csv", topic_csv, name="topic_csv"),
    path(_TOPIC + "documents/", topic_documents, name="topic_documents"),
    path(_TOPIC + "documents/<int:document_id>/mend/", document_mend, name="document_mend"),
    path(_TOPIC + "documents/<int:document_id>/unmend/", document_unmend, name="document_unmend"),
    path("studies/<int:study_id>/sentences/<int:sentence_id>/", sentence, name="sentence"),
]
