"""Annotators, what they are shown, and what they answer."""

from __future__ import annotations

from typing import Any, get_args

from django.utils.translation import gettext as _
from rest_framework import serializers

from annotate.api.serializers.strict import Strict
from annotate.models import Annotator, Assignment, ReportedPair
from preferendum.formats.answers import ANSWERS
from preferendum.formats.records import Of


class AnnotatorSerializer(serializers.ModelSerializer[Annotator]):
    """An annotator, under a pseudonym."""

    class Meta:
        model = Annotator
        fields = [
            "pseudonym",
            "kind",
            "imported",
            "judged",
            "seconds",
            "quota",
            "joined_at",
            "finished_at",
            "excluded_at",
        ]
        read_only_fields = fields


class OwnAnnotatorSerializer(AnnotatorSerializer):
    """Your machine annotator, with the key for drawing pairs."""

    class Meta(AnnotatorSerializer.Meta):
        fields = ["key", *AnnotatorSerializer.Meta.fields]
        read_only_fields = fields


class JoiningSerializer(Strict[Any]):
    """The name of a machine annotator. Joining again under the same name gives the same one.

    `consent`: the version of the study's text that you agree to, if it asks for consent.
    """

    pseudonym = serializers.CharField(max_length=200)
    consent = serializers.IntegerField(min_value=1, required=False, allow_null=True)


class ProgressSerializer(serializers.Serializer[Any]):
    judged = serializers.IntegerField()
    quota = serializers.IntegerField()


class PairSerializer(serializers.Serializer[Any]):
    """Two sentences, or two whole summaries, to compare, without their origin. Judge them with `key` and `revision`.

    `prompt`: what summaries without source documents answer; empty otherwise. `answers`: those that the study allows.
    `reason_words`: the reasons that it offers, with commas between them; `reason_note`: whether it offers a line, too.
    """

    key = serializers.UUIDField()
    of = serializers.ChoiceField(choices=list(get_args(Of)))
    question = serializers.CharField()
    prompt = serializers.CharField()
    left = serializers.CharField()
    right = serializers.CharField()
    answers = serializers.ListField(child=serializers.ChoiceField(choices=list(ANSWERS)))
    reason_words = serializers.CharField()
    reason_note = serializers.BooleanField()
    revision = serializers.IntegerField()
    progress = ProgressSerializer()


class AnswerSerializer(Strict[Any]):
    """The answer. The revision is the one of the drawn pair; sending it twice stores it once.

    `why`: some of the pair's `reason_words`, with commas between them; `note`: the reason in own words.
    """

    revision = serializers.IntegerField(min_value=1, max_value=32_767)
    answer = serializers.ChoiceField(choices=list(ANSWERS))
    seconds = serializers.FloatField(min_value=0, max_value=86_400, required=False, allow_null=True)
    why = serializers.CharField(required=False, allow_blank=True)
    note = serializers.CharField(required=False, allow_blank=True)

    def validate_seconds(self, seconds: float | None) -> float | None:
        if seconds is not None and seconds != seconds:
            raise serializers.ValidationError(_("Enter a number."))
        return seconds


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
