"""Annotators, what they are shown, and what they answer."""

from __future__ import annotations

from typing import Any, get_args

from django.utils.translation import gettext as _
from rest_framework import serializers

from annotate.api.serializers.records import serializer_of
from annotate.api.serializers.strict import Shown, Strict
from annotate.models import Annotator, Assignment, ReportedPair
from preferendum.formats.answers import ANSWERS
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.judge import Judge, judge_from
from preferendum.formats.records import Of, Role


class JudgeSerializer(serializer_of(Judge)):  # type: ignore[misc]  # the class is made
    __doc__ = Judge.__doc__

    def get_fields(self) -> dict[str, Any]:
        """All of them may be missing."""
        fields: dict[str, Any] = super().get_fields()
        for field in fields.values():
            field.required = False
            field.allow_blank = True
        return fields

    def to_internal_value(self, data: Any) -> Judge:
        complaints = Complaints()
        judge = judge_from(Place(complaints, ""), data)
        if judge is None or complaints.collected:
            message = _("Found %(found)s; expected %(expected)s.")
            raise serializers.ValidationError(
                {
                    own.field or "non_field_errors": [
                        message % {"found": _(own.found) % own.params, "expected": _(own.expected) % own.params}
                    ]
                    for own in complaints.collected
                }
            )
        return judge


class AnnotatorSerializer(Shown[Annotator]):
    """An annotator, under a pseudonym. `judge`: what is known of a machine."""

    judge = JudgeSerializer(read_only=True, allow_null=True)

    class Meta:
        model = Annotator
        fields = ["pseudonym", "kind", "imported", "judge", "judged", "seconds", "quota"]
        fields += ["joined_at", "finished_at", "excluded_at"]


class OwnAnnotatorSerializer(AnnotatorSerializer):
    """Your machine annotator, with the key for drawing pairs."""

    class Meta(AnnotatorSerializer.Meta):
        fields = ["key", *AnnotatorSerializer.Meta.fields]


class JoiningSerializer(Strict[Any]):
    """The name of a machine annotator. Joining again under the same name gives the same one.

    `judge`: what is known of it; null or missing: as before. What it judged by stays: 409 (`another_judge`) for another
    model, version, prompt or temperature. `consent`: the version of the study's text that you agree to, if it asks for
    consent.
    """

    pseudonym = serializers.CharField(max_length=200)
    consent = serializers.IntegerField(min_value=1, required=False, allow_null=True)
    judge = JudgeSerializer(required=False, allow_null=True)


class SelectionSerializer(Strict[Any]):
    """Which pairs a machine is to judge; without `of`, those that the study gives its machines.

    `people`: those that people judged; `all`: all pairs of summaries. `share`: of these, by lot, the same for every
    machine. `both_orders`: each pair twice, the second time with its sides swapped.
    """

    of = serializers.ChoiceField(choices=["people", "all"], required=False)
    share = serializers.FloatField(min_value=0, max_value=1, default=1.0)
    both_orders = serializers.BooleanField(default=False)

    def validate(self, sent: Any) -> Any:
        if "of" not in sent and (sent["both_orders"] or sent["share"] != 1):
            raise serializers.ValidationError({"of": [_("Say of which pairs: people or all.")]})
        return sent


class RemainingSerializer(serializers.Serializer[Any]):
    """How many pairs a machine is to judge, and how many of its answers are still to come."""

    pairs = serializers.IntegerField()
    answers = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer[Any]):
    judged = serializers.IntegerField()
    quota = serializers.IntegerField()


class TurnSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=list(get_args(Role)))
    content = serializers.CharField()


class PairSerializer(serializers.Serializer[Any]):
    """Two sentences, or two whole summaries, to compare, without their origin. Judge them with `key` and `revision`.

    `prompt`: what summaries without source documents answer; empty otherwise. `left_turns`, `right_turns`: the whole
    conversations, where summaries were given as such; `left` and `right` are then what the assistant says there.
    `answers`: those that the study allows.
    `reason_words`: the reasons that it offers, with commas between them; `reason_note`: whether it offers a line, too.
    """

    key = serializers.UUIDField()
    of = serializers.ChoiceField(choices=list(get_args(Of)))
    question = serializers.CharField()
    prompt = serializers.CharField()
    left = serializers.CharField()
    right = serializers.CharField()
    left_turns = TurnSerializer(many=True, allow_null=True)
    right_turns = TurnSerializer(many=True, allow_null=True)
    answers = serializers.ListField(child=serializers.ChoiceField(choices=list(ANSWERS)))
    reason_words = serializers.CharField()
    reason_note = serializers.BooleanField()
    revision = serializers.IntegerField()
    progress = ProgressSerializer()


class AnswerSerializer(Strict[Any]):
    """The answer. The revision is the one of the drawn pair; sending it twice stores it once.

    `why`: some of the pair's `reason_words`, with commas between them; `note`: the reason in own words; `confidence`:
    how sure a machine is.
    """

    revision = serializers.IntegerField(min_value=1, max_value=32_767)
    answer = serializers.ChoiceField(choices=list(ANSWERS))
    seconds = serializers.FloatField(min_value=0, max_value=86_400, required=False, allow_null=True)
    confidence = serializers.FloatField(min_value=0, max_value=1, required=False, allow_null=True)
    why = serializers.CharField(required=False, allow_blank=True)
    note = serializers.CharField(required=False, allow_blank=True)

    def validate_seconds(self, seconds: float | None) -> float | None:
        if seconds is not None and seconds != seconds:
            raise serializers.ValidationError(_("Enter a number."))
        return seconds

    validate_confidence = validate_seconds


class RecordedSerializer(serializers.Serializer[Any]):
    """The current answer. `counted`: it fills one of the places that the study has for annotators of this kind."""

    key = serializers.UUIDField()
    revision = serializers.IntegerField()
    answer = serializers.ChoiceField(choices=list(ANSWERS))
    counted = serializers.BooleanField()


class SkippingSerializer(Strict[Any]):
    """`report`: what is wrong with the pair, for the researchers to read; `note`: the same in own words."""

    reason = serializers.ChoiceField(choices=Assignment.SkipReason.choices)
    report = serializers.ChoiceField(choices=ReportedPair.Reason.choices, required=False)
    note = serializers.CharField(max_length=500, required=False, allow_blank=True)


class UndoingSerializer(Strict[Any]):
    """`revision`: the revision of the undo, so that sending it twice undoes nothing more."""

    revision = serializers.IntegerField(min_value=2, max_value=32_767, required=False, allow_null=True)
