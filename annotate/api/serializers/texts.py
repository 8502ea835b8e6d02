"""Topics and their texts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.api.serializers.strict import Shown, Strict
from annotate.models import ReportedPair, Topic


class TopicSerializer(Shown[Topic]):
    """A topic and its state.

    `cut`: it is split into sentences. `up_to_date`: its scores include all judgments. `judgments`: how many they
    include. `problem`: why the worker failed, in plain words. `needs_documents`: its sentences cannot be judged, as it
    has none. `base`: the topic with the earlier documents, which this one updates.
    """

    id = serializers.IntegerField(source="pk", read_only=True)
    cut = serializers.BooleanField(source="is_cut", read_only=True)
    up_to_date = serializers.SerializerMethodField()
    problem = serializers.CharField(source="sentence_set.progress.problem", default="", read_only=True)
    sentences = serializers.IntegerField(source="sentence_count", read_only=True)
    judgments = serializers.IntegerField(source="judgment_count", read_only=True)
    needs_documents = serializers.BooleanField(read_only=True)

    class Meta:
        model = Topic
        fields = ["id", "name", "title", "question", "language", "base", "position", "extra"]
        fields += ["cut", "up_to_date", "problem", "sentences", "judgments", "needs_documents"]

    def get_up_to_date(self, topic: Topic) -> bool:
        return topic.is_cut and topic.is_fitted


class TextSerializer(serializers.Serializer[Any]):
    """A text as it was uploaded: whole, or already split into `sentences`."""

    name = serializers.CharField()
    text = serializers.CharField()
    sentences = serializers.ListField(child=serializers.CharField(), allow_null=True)
    extra = serializers.DictField()


class DocumentSerializer(TextSerializer):
    """A source document as it was uploaded; `mended`: its sentences as edited by a person."""

    id = serializers.IntegerField()
    mended = serializers.ListField(child=serializers.CharField(), allow_null=True)


class ReportedPairSerializer(Shown[ReportedPair]):
    """Two sentences, by their ids as shown, and what an annotator reported about them."""

    topic = serializers.IntegerField(source="assignment.item_set.topic_id")
    left = serializers.IntegerField(source="assignment.left.pk")
    right = serializers.IntegerField(source="assignment.right.pk")
    annotator = serializers.CharField(source="assignment.annotator.pseudonym")

    class Meta:
        model = ReportedPair
        fields = ["topic", "left", "right", "annotator", "reason", "note", "at"]


class JudgedSerializer(Strict[Any]):
    """Whether a sentence is judged."""

    to_judge = serializers.BooleanField()


class MendingSerializer(Strict[Any]):
    """The sentences of a document; null for the automatic split. The text itself cannot change."""

    sentences = serializers.ListField(
        child=serializers.CharField(max_length=1_000_000, allow_blank=True, trim_whitespace=False),
        allow_null=True,
        max_length=100_000,
    )
    lose_judgments = serializers.IntegerField(
        default=0, min_value=0, help_text="How many judgments of sentences that change may become history."
    )
