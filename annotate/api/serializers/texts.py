"""Topics and their texts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.api.serializers.strict import Strict
from annotate.models import Topic


class TopicSerializer(serializers.ModelSerializer[Topic]):
    """A topic and how far the worker has come with it.

    `cut`: its sentences are there. `up_to_date`: its scores rest on all that was judged. `judgments`: how many they
    rest on. `problem`: why the worker could not, in plain words.
    """

    cut = serializers.SerializerMethodField()
    up_to_date = serializers.SerializerMethodField()
    problem = serializers.CharField(source="progress.problem", default="", read_only=True)
    sentences = serializers.IntegerField(source="sentence_count", read_only=True)
    judgments = serializers.IntegerField(source="judgment_count", read_only=True)

    class Meta:
        model = Topic
        fields = [
            "id",
            "name",
            "title",
            "question",
            "language",
            "position",
            "extra",
            "cut",
            "up_to_date",
            "problem",
            "sentences",
            "judgments",
        ]
        read_only_fields = fields

    def get_cut(self, topic: Topic) -> bool:
        progress = getattr(topic, "progress", None)
        return progress is not None and progress.prepared_version >= topic.text_version

    def get_up_to_date(self, topic: Topic) -> bool:
        progress, tally = getattr(topic, "progress", None), getattr(topic, "tally", None)
        return (
            progress is not None
            and tally is not None
            and self.get_cut(topic)
            and progress.fitted_version >= tally.data_version
        )


class TextSerializer(serializers.Serializer[Any]):
    """A text as it was uploaded: whole, or in `sentences` that its provider had cut."""

    name = serializers.CharField()
    text = serializers.CharField()
    sentences = serializers.ListField(child=serializers.CharField(), allow_null=True)
    extra = serializers.DictField()


class DocumentSerializer(TextSerializer):
    """A source document as it was uploaded; `mended`: how a person cut it instead."""

    id = serializers.IntegerField()
    mended = serializers.ListField(child=serializers.CharField(), allow_null=True)


class MendingSerializer(Strict[Any]):
    """How a document is to be cut; null for our own cutting. Only borders move: no word is added, lost or changed."""

    sentences = serializers.ListField(
        child=serializers.CharField(max_length=1_000_000, allow_blank=True, trim_whitespace=False),
        allow_null=True,
        max_length=100_000,
    )
