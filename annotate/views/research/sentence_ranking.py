"""Do utilities order a topic's sentences as references and Pyramids do? A page, and the same as files."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Study, Topic
from annotate.reports import rests_on, sentence_ranking
from annotate.reports.sentence_ranking import SMOOTHINGS, TopicSentences
from annotate.reports.study import worker_is_there
from annotate.views.research.pages import CSV, LATEX, as_file, csv_table, page, three_decimals
from annotate.views.research.paper import paper_part

_TYPES: Mapping[str, str] = {"tex": LATEX, "csv": CSV}


@in_study("see")
@require_safe
def topic_sentence_ranking(request: HttpRequest, study: Study, topic_id: int) -> HttpResponse:
    """How well judgments and simulated ones order the topic's sentences, under each smoothing."""
    topic = get_object_or_404(Topic, study=study, pk=topic_id)
    return page(
        request,
        study,
        "research/sentence_ranking.html",
        topic=topic,
        ranked=(ranked := sentence_ranking.of_topic(topic)),
        paper=[paper_part(_("Sentence ranking"), "topic_sentence_ranking", _TYPES, [study.pk, topic.pk])]
        if ranked.reports
        else None,
        smoothings=SMOOTHINGS.values(),
        has_worker=worker_is_there(),
        show="sentence_ranking",
    )


@in_study("see")
@require_safe
def topic_sentence_ranking_file(request: HttpRequest, study: Study, topic_id: int, form: str) -> HttpResponse:
    """The same as a file; 404 before anything was worked out."""
    topic = get_object_or_404(Topic, study=study, pk=topic_id)
    ranked = sentence_ranking.of_topic(topic)
    if not ranked.reports:
        raise Http404
    content = _csv(ranked) if form == "csv" else _latex(ranked, rests_on.of_study(study).counted.words)
    return as_file(content, _TYPES[form], f"sentences-{slugify(topic.name) or 'topic'}.{form}")


def _csv(ranked: TopicSentences) -> bytes:
    """A line for each smoothing, as the command writes it."""
    rows = [
        (table.against, line.judged, smooth, line.judgments, table.pairs, agreement)
        for table in ranked.tables
        for line in table.lines
        for smooth, agreement in zip(SMOOTHINGS, line.agreements, strict=True)
    ]
    return csv_table(("against", "judgments", "smoothing", "n", "pairs", "agreement"), rows)[0]


def _latex(ranked: TopicSentences, words: str) -> bytes:
    columns = [_("Values"), _("Judgments"), "n", *map(str, SMOOTHINGS.values())]
    rows = [
        [str(table.name), str(line.name), str(line.judgments), *map(three_decimals, line.agreements)]
        for table in ranked.tables
        for line in table.lines
    ]
    comment = f"{_('Judgments that count:')} {words}"
    return f"{formats.write_latex(columns, 'llrrrr', rows, [comment])}\n".encode()


_TOPIC = "studies/<int:study_id>/topics/<int:topic_id>/sentence-ranking"
urlpatterns = [
    path(f"{_TOPIC}/", topic_sentence_ranking, name="topic_sentence_ranking"),
    *[
        path(f"{_TOPIC}.{form}", topic_sentence_ranking_file, {"form": form}, name=f"topic_sentence_ranking_{form}")
        for form in _TYPES
    ],
]
