"""How people judge and agree, what the scores rest on, and what was done about it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate import previews
from annotate.api.serializers.judging import AnnotatorSerializer
from annotate.api.serializers.strict import Strict
from annotate.judges import Judge
from annotate.judging.excluding import LONGEST_REASON
from annotate.models import Act, Preview


class ShareSerializer(serializers.Serializer[Any]):
    """k of n, and its share with a 95% interval (Wilson); null where n is 0."""

    k = serializers.IntegerField(source="count")
    n = serializers.IntegerField(source="of")
    value = serializers.FloatField(source="share", allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)


class JudgeSerializer(serializers.Serializer[Judge]):
    """How one annotator judges. `figures`: the worker's, by name, each with `value`, `n` and, where known, an interval.

    A flag is a question, not a verdict. `seconds`: the median; `pace`: its course, in as many equal parts.
    """

    annotator = AnnotatorSerializer()
    wanted = serializers.IntegerField()
    judged = serializers.IntegerField()
    surplus = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    pace = serializers.ListField(child=serializers.FloatField())
    left = ShareSerializer()
    ties = serializers.IntegerField()
    skips = serializers.IntegerField()
    undone = serializers.IntegerField()
    seen_at = serializers.DateTimeField(allow_null=True)
    resting = serializers.SerializerMethodField()
    figures = serializers.DictField()
    flags = serializers.ListField(child=serializers.CharField())
    weight = serializers.FloatField(allow_null=True)
    reason = serializers.CharField()

    @extend_schema_field(serializers.BooleanField())
    def get_resting(self, judge: Judge) -> bool:
        return judge.annotator.paused_at is not None


class AgreementSerializer(serializers.Serializer[Any]):
    """How far people agree, as of `version`: in the study, by topic, over time, who with whom, the disputed pairs."""

    version = serializers.IntegerField()
    computed_at = serializers.DateTimeField(allow_null=True)
    problem = serializers.CharField()
    figures = serializers.DictField()


class RobustnessSerializer(serializers.Serializer[Any]):
    """Whether the rank of the first place survives the removal of any one person, and what that moves."""

    survives = serializers.BooleanField()
    first = serializers.CharField()
    people = serializers.IntegerField()
    unknown = serializers.IntegerField()
    takers = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    systems = serializers.SerializerMethodField()
    computed_at = serializers.DateTimeField()

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_systems(self, robust: Any) -> list[dict[str, Any]]:
        names = ("system", "rank", "rank_low", "rank_high", "change", "person")
        return [{name: getattr(one, name) for name in names} for one in robust.systems]


class ExaminationSerializer(serializers.Serializer[Any]):
    """What the scores rest on: coverage of the topics, sentences that fit badly, and what single people move."""

    coverage = serializers.ListField(child=serializers.DictField())
    misfits = serializers.ListField(child=serializers.DictField())
    robustness = RobustnessSerializer(allow_null=True)


class ActSerializer(serializers.ModelSerializer[Act]):
    """One administrative act. `digest` binds it to all before it; `actor` is a key, names may have changed since."""

    class Meta:
        model = Act
        fields = ["number", "act", "actor", "detail", "at", "digest"]
        read_only_fields = fields


class PeopleChosenSerializer(Strict[Any]):
    """Annotators by their pseudonyms, and whether they are to be left out or taken back in."""

    annotators = serializers.ListField(child=serializers.CharField(max_length=200), min_length=1, max_length=1000)
    leave_out = serializers.BooleanField(default=True)


class ExclusionSerializer(PeopleChosenSerializer):
    """Whom to exclude (or, with `leave_out` false, to take back in), and why; the log keeps it."""

    reason = serializers.CharField(max_length=LONGEST_REASON)


class RemovalPreviewSerializer(serializers.ModelSerializer[Preview]):
    """What would change. `state`: waiting (ask again), ready, failed (`problem` says why)."""

    annotators = serializers.SerializerMethodField()

    class Meta:
        model = Preview
        fields = ["key", "state", "annotators", "leave_out", "version", "topics", "done", "figures", "problem"]
        read_only_fields = fields

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_annotators(self, preview: Preview) -> list[str]:
        return [one.pseudonym for one in previews.people_of(preview)]
