"""Topics with their texts, sentences with their utilities, summaries with their scores."""

from __future__ import annotations

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import imports
from annotate.api.parsers import LargeJSONParser
from annotate.api.serializers.results import SentenceSerializer, SummaryDetailSerializer, SummarySerializer
from annotate.api.serializers.texts import (
    DocumentSerializer,
    JudgedSerializer,
    MendingSerializer,
    ReportedPairSerializer,
    TextSerializer,
    TopicSerializer,
)
from annotate.api.views.base import View
from annotate.models import Fit, Item, Reference, SourceDocument, Study, Summary, Topic
from annotate.reports import metric_scores, reported_pairs


class SummaryFilter(serializers.Serializer[None]):
    """The summaries requested."""

    topic = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    system = serializers.CharField(required=False, max_length=200)


SUMMARY_CHOICE = [
    OpenApiParameter("topic", int, description="Only summaries of this topic, by its id."),
    OpenApiParameter("system", str, description="Only summaries of this system, by its name."),
]


def chosen_summaries(view: View, study: Study) -> QuerySet[Summary]:
    """The requested summaries of a study. Raises `ValidationError`."""
    wanted = view.checked(SummaryFilter, view.request.query_params.dict())
    return metric_scores.chosen(study, wanted.get("topic"), wanted.get("system", ""))


def _topics(study: Study) -> QuerySet[Topic]:
    newest = Fit.objects.filter(item_set=OuterRef("pk")).order_by("-data_version").values("judgments")[:1]
    return (
        Topic.objects.filter(study=study)
        .select_related("sentence_set__progress", "sentence_set__tally")
        .annotate(sentence_count=Count("sentence_set__items"), judgment_count=Coalesce(Subquery(newest), 0))
        .order_by("position")
    )


@extend_schema(tags=["texts"])
class Topics(View):
    @extend_schema(operation_id="list_topics", responses=TopicSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The topics of a study, in the order of upload."""
        return self.page(TopicSerializer, _topics(self.study(study_id)))


@extend_schema(tags=["texts"])
class OneTopic(View):
    @extend_schema(operation_id="read_topic", responses=TopicSerializer)
    def get(self, request: Request, study_id: int, topic_id: int) -> Response:
        """A topic and its state."""
        return self.show(TopicSerializer, get_object_or_404(_topics(self.study(study_id)), pk=topic_id))


@extend_schema(tags=["texts"])
class Documents(View):
    @extend_schema(operation_id="list_documents", responses=DocumentSerializer(many=True))
    def get(self, request: Request, study_id: int, topic_id: int) -> Response:
        """The source documents of a topic as they were uploaded."""
        topic = get_object_or_404(Topic, pk=topic_id, study=self.study(study_id))
        return self.page(DocumentSerializer, SourceDocument.objects.filter(topic=topic).order_by("position"))


@extend_schema(tags=["texts"])
class OneDocument(View):
    parser_classes = [LargeJSONParser]

    @extend_schema(operation_id="mend_document", request=MendingSerializer, responses=DocumentSerializer)
    def patch(self, request: Request, study_id: int, topic_id: int, document_id: int) -> Response:
        """Edit the sentences of a document. Those that stay keep their judgments; the others' become history.

        Code 409, `judged`, says how many these are. Send their number as `lose_judgments` to confirm; *restore* returns
        them for a day.
        """
        study = self.study(study_id, "edit")
        document = get_object_or_404(SourceDocument, pk=document_id, topic__in=study.topics.filter(pk=topic_id))
        sent = self.sent(MendingSerializer)
        mended = imports.mend(document, sent["sentences"], self.user, sent["lose_judgments"])
        return self.show(DocumentSerializer, mended)


@extend_schema(tags=["texts"])
class References(View):
    @extend_schema(operation_id="list_references", responses=TextSerializer(many=True))
    def get(self, request: Request, study_id: int, topic_id: int) -> Response:
        """The reference summaries of a topic."""
        topic = get_object_or_404(Topic, pk=topic_id, study=self.study(study_id))
        return self.page(TextSerializer, Reference.objects.filter(topic=topic).order_by("position"))


@extend_schema(tags=["results"])
class Sentences(View):
    @extend_schema(operation_id="list_sentences", responses=SentenceSerializer(many=True))
    def get(self, request: Request, study_id: int, topic_id: int) -> Response:
        """The sentences of a topic in order, each with its utility and the judgments that it rests on."""
        topic = get_object_or_404(Topic, pk=topic_id, study=self.study(study_id))
        rows = Item.objects.filter(item_set=topic.pk).select_related("document").prefetch_related("utilities")
        return self.page(SentenceSerializer, rows.order_by("position"))


@extend_schema(tags=["texts"])
class OneSentence(View):
    @extend_schema(operation_id="set_judged", request=JudgedSerializer, responses=SentenceSerializer)
    def patch(self, request: Request, study_id: int, topic_id: int, sentence_id: int) -> Response:
        """Leave a sentence out of judging, or take it back, at any time."""
        study = self.study(study_id, "edit")
        sentence = get_object_or_404(Item, pk=sentence_id, document__topic__in=study.topics.filter(pk=topic_id))
        return self.show(
            SentenceSerializer, imports.set_judged(sentence, self.sent(JudgedSerializer)["to_judge"], self.user)
        )


@extend_schema(tags=["texts"])
class ReportedPairs(View):
    @extend_schema(operation_id="list_reported_pairs", responses=ReportedPairSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """Pairs that annotators reported to the researchers, the newest first."""
        return self.page(ReportedPairSerializer, reported_pairs.of(self.study(study_id)))


@extend_schema(tags=["results"])
class Summaries(View):
    @extend_schema(operation_id="list_summaries", parameters=SUMMARY_CHOICE, responses=SummarySerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The summaries of a study with their scores and human scores."""
        rows = chosen_summaries(self, self.study(study_id))
        return self.page(SummarySerializer, rows.prefetch_related("human_scores", "scores"))


@extend_schema(tags=["results"])
class OneSummary(View):
    @extend_schema(operation_id="read_summary", responses=SummaryDetailSerializer)
    def get(self, request: Request, study_id: int, summary_id: int) -> Response:
        """A summary and how its score is computed, sentence by sentence."""
        rows = Summary.objects.select_related("topic", "system").prefetch_related("human_scores", "scores__fit")
        return self.show(
            SummaryDetailSerializer, get_object_or_404(rows, pk=summary_id, topic__study=self.study(study_id))
        )
