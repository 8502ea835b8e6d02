"""Uploads and exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate.api.serializers.strict import Shown
from annotate.imports import baselines, simulated
from annotate.models import Export, Upload
from preferendum import formats


class ComplaintSerializer(serializers.Serializer[Any]):
    """A problem with a file; `message` is all of it in one line."""

    file = serializers.CharField()
    line = serializers.IntegerField()
    field = serializers.CharField()
    message = serializers.SerializerMethodField()

    def get_message(self, stored: Mapping[str, Any]) -> str:
        complaint = formats.Complaint(**stored)
        return formats.message(complaint) if complaint.expected else complaint.found % complaint.params


class PreviewTextSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    sentences = serializers.IntegerField()
    given_cut = serializers.BooleanField()


class PreviewTopicSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    documents = serializers.IntegerField()
    sentences = serializers.IntegerField()
    not_judged = serializers.IntegerField(default=0, help_text="Sentences that look like none.")
    without_text = serializers.IntegerField(default=0, help_text="Summaries of which only answers are known.")
    references = serializers.IntegerField()
    summaries = serializers.IntegerField()
    content_units = serializers.IntegerField(default=0, help_text="Of its Pyramid.")
    annotated = serializers.IntegerField(default=0, help_text="Summaries that its Pyramid annotates.")
    texts = PreviewTextSerializer(many=True)


class PreviewDimensionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    scores = serializers.IntegerField()


class PreviewKindsSerializer(serializers.Serializer[Any]):
    """How many preferences each kind of annotators made."""

    human = serializers.IntegerField(default=0)
    machine = serializers.IntegerField(default=0)
    simulated = serializers.IntegerField(default=0)


class RemarkSerializer(serializers.Serializer[Any]):
    """What was ignored or corrected; `message` says it in words."""

    file = serializers.CharField()
    line = serializers.IntegerField()
    field = serializers.CharField()
    message = serializers.SerializerMethodField()

    def get_message(self, remark: Mapping[str, Any]) -> str:
        return str(remark["said"] % remark["params"])


class PreviewReplacementSerializer(serializers.Serializer[Any]):
    """Something that the study has, as it is and as the file would have it; long texts are cut off.

    Documents show the sentences that would be removed, and those that would be added.
    """

    kind = serializers.CharField(help_text="documents, topics, references, summaries or human_scores")
    topic = serializers.CharField()
    name = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class PreviewRecutSerializer(serializers.Serializer[Any]):
    """What happens to the sentences of a topic whose documents are replaced, and to judgments of them."""

    topic = serializers.CharField()
    kept = serializers.IntegerField(help_text="Sentences that are there, word for word; they keep their judgments.")
    gone = serializers.IntegerField()
    new = serializers.IntegerField()
    judgments_kept = serializers.IntegerField()
    judgments_lost = serializers.IntegerField(help_text="They become history that nothing uses.")


class PreviewSerializer(serializers.Serializer[Any]):
    """The contents of a file: new topics, and the numbers of items for existing topics."""

    topics = PreviewTopicSerializer(many=True)
    systems = serializers.ListField(child=serializers.CharField())
    dimensions = PreviewDimensionSerializer(many=True)
    persons = serializers.IntegerField(default=0, help_text="Summaries that people wrote, of all.")
    metrics = PreviewDimensionSerializer(many=True, default=list)
    assessors = serializers.IntegerField(default=0)
    ratings = serializers.IntegerField(default=0, help_text="By assessors, of all summaries.")
    summaries = serializers.IntegerField()
    human_scores = serializers.IntegerField()
    preferences = serializers.IntegerField()
    pyramids = serializers.IntegerField(default=0)
    preferences_by_kind = PreviewKindsSerializer(default=dict)
    replacements = PreviewReplacementSerializer(
        many=True, default=list, help_text="What would be replaced, the first hundred; `replaced` counts all."
    )
    replaced = serializers.DictField(child=serializers.IntegerField(), default=dict)
    recuts = PreviewRecutSerializer(many=True, default=list, help_text="By topic whose documents are replaced.")
    unchanged = serializers.DictField(
        child=serializers.IntegerField(), default=dict, help_text="What the study has just so, by kind; it stays."
    )
    remarks = RemarkSerializer(many=True)


class BaselinesSerializer(serializers.Serializer[Any]):
    """What standard summarizers shall write: summaries of at most so many words."""

    words = serializers.IntegerField(default=100, min_value=baselines.WORDS[0], max_value=baselines.WORDS[1])


class SimulationSerializer(serializers.Serializer[Any]):
    """Which judgments shall be simulated; the same `seed` draws the same pairs."""

    source = serializers.ChoiceField(choices=list(simulated.SOURCES), default="references")  # type: ignore[assignment]  # a field
    per_topic = serializers.IntegerField(
        default=100, min_value=simulated.PER_TOPIC[0], max_value=simulated.PER_TOPIC[1]
    )
    seed = serializers.IntegerField(default=0, min_value=simulated.SEEDS[0], max_value=simulated.SEEDS[1])


class UploadTableSerializer(serializers.Serializer[Any]):
    """The columns of a table, its first rows, and what each column is taken for. `file`: which one of a ZIP file."""

    file = serializers.CharField()
    header = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    roles = serializers.DictField(child=serializers.CharField())
    is_certain = serializers.BooleanField()


class ColumnsSerializer(serializers.Serializer[Any]):
    """Which columns hold what, such as `{"topic": ["doc"], "text": ["summary"]}`."""

    columns = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))


class UploadSerializer(Shown[Upload]):
    """An uploaded file, or one that the worker writes: summaries by standard summarizers, simulated judgments.

    `preview` after it was read, `complaints` if it was refused, `problem` if it failed. `table` if it is one: while it
    is not certain which column is what, its `state` is `asked`. `columns`: what was chosen.
    """

    by = serializers.CharField(source="user.username", read_only=True)
    preview = serializers.SerializerMethodField()
    complaints = ComplaintSerializer(many=True, read_only=True)
    table = UploadTableSerializer(read_only=True, allow_null=True)
    columns = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), read_only=True, allow_null=True
    )

    class Meta:
        model = Upload
        fields = ["key", "filename", "size", "sha256", "by", "state", "table", "columns"]
        fields += ["preview", "complaints", "problem", "created_at", "changed_at"]

    @extend_schema_field(PreviewSerializer(allow_null=True))
    def get_preview(self, upload: Upload) -> Any:
        return PreviewSerializer(upload.preview).data if "topics" in upload.preview else None  # or it is being written


class FileSerializer(serializers.Serializer[Any]):
    """A file as browsers send one."""

    file = serializers.FileField(use_url=False)
    columns = serializers.CharField(
        default="", allow_blank=True, help_text="Which columns of a table hold what, as JSON, if not empty."
    )


class ExportSerializer(Shown[Export]):
    """An export of a study. Download its file when it is ready."""

    class Meta:
        model = Export
        fields = ["key", "state", "sha256", "problem", "created_at"]


class DatasetChoice(serializers.Serializer[Any]):
    """What a dataset to publish shall have."""

    texts = serializers.BooleanField(default=True)
