"""How annotators judge and agree, what the scores rest on, and what was done about it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate.api.serializers.judging import AnnotatorSerializer
from annotate.api.serializers.records import serializer_of
from annotate.api.serializers.strict import Shown, Strict
from annotate.invitations import crowd_link
from annotate.judging import what_if
from annotate.judging.excluding import LONGEST_REASON
from annotate.models import AuditEntry, Participation, Recruitment, WhatIfQuestion
from annotate.reports.annotators import AnnotatorRow
from preferendum.results import Figure, WhatIf


class ShareSerializer(serializers.Serializer[Figure]):
    """k of n, and its share with a 95% interval (Wilson); null if n is 0."""

    k = serializers.IntegerField(source="count")
    n = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    interval = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.FloatField(), allow_null=True))
    def get_interval(self, figure: Figure) -> list[float | None] | None:
        return [figure.low, figure.high] if figure.n else None


class DemographicsSerializer(serializers.Serializer[Any]):
    """Participants of a table: with answers; who revoked their consent; whose answers expired; not in the study."""

    stored = serializers.IntegerField()
    revoked = serializers.IntegerField()
    expired = serializers.IntegerField()
    unknown = serializers.IntegerField()


class RecruitmentSerializer(Shown[Recruitment]):
    """The platform that annotators are recruited from, the link to give to it ("" for none), and completion codes."""

    link = serializers.SerializerMethodField()

    class Meta:
        model = Recruitment
        fields = ["platform", "link", "code_done", "code_no_work", "code_screened_out"]

    def get_link(self, recruitment: Recruitment) -> str:
        return crowd_link(recruitment, settings.ORIGIN)


class ParticipantSerializer(Shown[Participation]):
    """One person of the platform: how it ended, and what a payment may depend on; no pseudonym.

    `judged`: their answers, to gold pairs and repeats, too. `gold`: how often it was the one expected of a gold pair;
    null before the worker has counted. `answered_at`: when they last judged a pair, in practice, too. `finished_at`:
    when they had judged all that was wanted of them.
    """

    judged = serializers.IntegerField(source="annotator.judged")
    answered_at = serializers.DateTimeField(source="annotator.judged_at", allow_null=True)
    finished_at = serializers.DateTimeField(source="annotator.finished_at", allow_null=True)
    excluded_at = serializers.DateTimeField(source="annotator.excluded_at", allow_null=True)
    gold = serializers.SerializerMethodField()

    class Meta:
        model = Participation
        own = ["person", "session", "outcome", "code", "entered_at", "left_at"]
        fields = [*own, "judged", "answered_at", "finished_at", "excluded_at", "gold"]

    @extend_schema_field(ShareSerializer(allow_null=True))
    def get_gold(self, participation: Participation) -> dict[str, Any] | None:
        report = getattr(participation.annotator, "report", None)
        figure = report.record.figures.get("gold") if report else None
        return ShareSerializer(figure).data if figure else None


class AnnotatorRowSerializer(serializers.Serializer[AnnotatorRow]):
    """How one annotator judges. `figures`: the worker's, by name.

    A flag is a reason to look, not a verdict. `given`: how often each answer was. `seconds`: the median; `pace`: the
    medians of equal parts.
    """

    annotator = AnnotatorSerializer()
    wanted = serializers.IntegerField()
    judged = serializers.IntegerField()
    surplus = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    pace = serializers.ListField(child=serializers.FloatField())
    left = ShareSerializer()
    given = serializers.DictField(child=serializers.IntegerField())
    skips = serializers.IntegerField()
    undone = serializers.IntegerField()
    first_at = serializers.DateTimeField(allow_null=True)
    last_at = serializers.DateTimeField(allow_null=True)
    resting = serializers.SerializerMethodField()
    figures = serializers.DictField(child=serializer_of(Figure)())
    flags = serializers.ListField(child=serializers.CharField())
    weight = serializers.FloatField(allow_null=True)
    reason = serializers.CharField()

    @extend_schema_field(serializers.BooleanField())
    def get_resting(self, row: AnnotatorRow) -> bool:
        return row.annotator.paused_at is not None


class AuditEntrySerializer(Shown[AuditEntry]):
    """Who did what. `digest` includes all earlier entries; `actor` is a key, since names may change."""

    class Meta:
        model = AuditEntry
        fields = ["number", "action", "actor", "detail", "at", "digest"]


class AnnotatorsChosenSerializer(Strict[Any]):
    """Annotators by pseudonym, and whether to exclude them or include them again."""

    annotators = serializers.ListField(child=serializers.CharField(max_length=200), min_length=1, max_length=1000)
    leave_out = serializers.BooleanField(default=True)


class ExclusionSerializer(AnnotatorsChosenSerializer):
    """Annotators to exclude (or, with `leave_out` false, to include again), and the reason, which is logged."""

    reason = serializers.CharField(max_length=LONGEST_REASON)


class WhatIfQuestionSerializer(Shown[WhatIfQuestion]):
    """What would change. `state`: waiting (ask again), ready, failed (`problem` gives the reason)."""

    annotators = serializers.SerializerMethodField()
    figures = serializer_of(WhatIf)(source="record", allow_null=True, read_only=True)

    class Meta:
        model = WhatIfQuestion
        fields = ["key", "state", "annotators", "leave_out", "version", "topics", "done", "figures", "problem"]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_annotators(self, question: WhatIfQuestion) -> list[str]:
        return [annotator.pseudonym for annotator in what_if.annotators_of(question)]
