"""What was computed: sentences, summaries, systems; and the judgments that it rests on."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate.models import Annotator, Assignment, Judgment, Sentence, Summary


class SentenceSerializer(serializers.ModelSerializer[Sentence]):
    """A source sentence, what it is worth and what that rests on; null where nothing was computed yet."""

    name = serializers.SerializerMethodField()
    document = serializers.CharField(source="document.name", read_only=True)
    strength = serializers.FloatField(source="utility.strength", default=None, allow_null=True, read_only=True)
    utility = serializers.FloatField(source="utility.utility", default=None, allow_null=True, read_only=True)
    se = serializers.FloatField(source="utility.se", default=None, allow_null=True, read_only=True)
    low = serializers.FloatField(source="utility.low", default=None, allow_null=True, read_only=True)
    high = serializers.FloatField(source="utility.high", default=None, allow_null=True, read_only=True)
    wins = serializers.FloatField(source="utility.wins", default=None, allow_null=True, read_only=True)
    judgments = serializers.IntegerField(source="utility.judgments", default=None, allow_null=True, read_only=True)

    class Meta:
        model = Sentence
        fields = [
            "id",
            "name",
            "document",
            "index",
            "position",
            "paragraph",
            "text",
            "strength",
            "utility",
            "se",
            "low",
            "high",
            "wins",
            "judgments",
        ]
        read_only_fields = fields

    def get_name(self, sentence: Sentence) -> str:
        return f"{sentence.document.name}:{sentence.index}"


class SummarySerializer(serializers.ModelSerializer[Summary]):
    """A system's summary with its score (null where nothing was computed yet) and what people thought of it."""

    system = serializers.CharField(source="system.name", read_only=True)
    topic_name = serializers.CharField(source="topic.name", read_only=True)
    human = serializers.SerializerMethodField()
    score = serializers.FloatField(source="score.score", default=None, allow_null=True, read_only=True)
    se = serializers.FloatField(source="score.se", default=None, allow_null=True, read_only=True)
    low = serializers.FloatField(source="score.low", default=None, allow_null=True, read_only=True)
    high = serializers.FloatField(source="score.high", default=None, allow_null=True, read_only=True)

    class Meta:
        model = Summary
        fields = [
            "id",
            "topic",
            "topic_name",
            "system",
            "text",
            "sentences",
            "extra",
            "human",
            "score",
            "se",
            "low",
            "high",
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.DictField(child=serializers.FloatField()))
    def get_human(self, summary: Summary) -> dict[str, float]:
        return {score.dimension: score.score for score in summary.human_scores.all()}


class PartSerializer(serializers.Serializer[Any]):
    """One sentence of a summary: the source sentence it was matched with, and what it adds to the score.

    It adds weight x value x factor; `nearest` is a sentence's name, or null where nothing is alike.
    """

    text = serializers.CharField()
    nearest = serializers.CharField(allow_null=True)
    similarity = serializers.FloatField()
    value = serializers.FloatField()
    factor = serializers.FloatField()
    weight = serializers.FloatField()


class SummaryDetailSerializer(SummarySerializer):
    """A summary with the parts that its score was put together from."""

    parts = serializers.SerializerMethodField()

    class Meta(SummarySerializer.Meta):
        fields = [*SummarySerializer.Meta.fields, "parts"]
        read_only_fields = fields

    @extend_schema_field(PartSerializer(many=True))
    def get_parts(self, summary: Summary) -> list[dict[str, Any]]:
        score = getattr(summary, "score", None)
        parts: list[dict[str, Any]] = score.parts if score is not None else []
        nearest = [part["nearest"] for part in parts if part.get("nearest") is not None]
        names = {
            sentence.pk: f"{sentence.document.name}:{sentence.index}"
            for sentence in Sentence.objects.filter(pk__in=nearest).select_related("document")
        }
        return [
            {name: part.get(name) for name in ("text", "similarity", "value", "factor", "weight")}
            | {"nearest": names.get(part.get("nearest") or 0)}
            for part in parts
        ]


class PlaceSerializer(serializers.Serializer[Any]):
    """A system's place. `low` to `high`: 95% interval of the score; `rank_low` to `rank_high`: ranks it may have."""

    rank = serializers.IntegerField()
    system = serializers.CharField(source="system.name")
    score = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    rank_low = serializers.IntegerField()
    rank_high = serializers.IntegerField()
    topics = serializers.IntegerField()
    better_than = serializers.ListField(child=serializers.CharField())
    summary = serializers.IntegerField(source="summary_id", allow_null=True)


class DifferenceSerializer(serializers.Serializer[Any]):
    """Two systems over the topics that both summarized; `p` is two-sided and adjusted for how many pairs were tried."""

    better = serializers.CharField()
    worse = serializers.CharField()
    difference = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    significant = serializers.BooleanField()


class LeaderboardSerializer(serializers.Serializer[Any]):
    """Systems in order, and what that rests on.

    `behind`: topics whose judgments or texts are newer than their scores. `version` changes whenever anything here may
    have. `simulated`: how many of the judgments were simulated.
    """

    systems = PlaceSerializer(many=True, source="rows")
    differences = DifferenceSerializer(many=True)
    topics = serializers.IntegerField()
    judgments = serializers.IntegerField()
    simulated = serializers.IntegerField()
    fitted_at = serializers.DateTimeField(allow_null=True)
    settings = serializers.DictField()
    program_version = serializers.CharField()
    behind = serializers.IntegerField()
    problem = serializers.CharField()
    has_worker = serializers.BooleanField()
    version = serializers.CharField()


class JudgmentSerializer(serializers.ModelSerializer[Judgment]):
    """One revision of one answer, under a pseudonym. `counted`: scores rest on it.

    `reason`: why the pair was shown; `expected`: the side that was known to be right, if it was.
    """

    assignment = serializers.UUIDField(source="assignment.key", read_only=True)
    topic = serializers.CharField(source="topic.name", read_only=True)
    left = serializers.SerializerMethodField()
    right = serializers.SerializerMethodField()
    annotator = serializers.CharField(source="assignment.annotator.pseudonym", read_only=True)
    kind = serializers.ChoiceField(source="assignment.annotator.kind", choices=Annotator.Kind.choices, read_only=True)
    reason = serializers.ChoiceField(source="assignment.reason", choices=Assignment.Reason.choices, read_only=True)
    expected = serializers.CharField(source="assignment.expected", read_only=True)
    counted = serializers.SerializerMethodField()

    class Meta:
        model = Judgment
        fields = [
            "id",
            "assignment",
            "revision",
            "topic",
            "left",
            "right",
            "answer",
            "annotator",
            "kind",
            "seconds",
            "at",
            "reason",
            "expected",
            "counted",
        ]
        read_only_fields = fields

    def get_left(self, judgment: Judgment) -> str:
        sentence = judgment.assignment.left
        return f"{sentence.document.name}:{sentence.index}"

    def get_right(self, judgment: Judgment) -> str:
        sentence = judgment.assignment.right
        return f"{sentence.document.name}:{sentence.index}"

    def get_counted(self, judgment: Judgment) -> bool:
        return judgment.pk in self.context["counted"]
