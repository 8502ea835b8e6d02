"""Analyses in the API: the same tables as on pages and in files."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate.reports.analyses import Opened


class ChoiceSerializer(serializers.Serializer[Any]):
    """The options of a parameter of this name, and the chosen one."""

    name = serializers.CharField()
    chosen = serializers.CharField()
    options = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_options(self, choice: Any) -> list[str]:
        return [value for value, _label in choice.options]


class TableSerializer(serializers.Serializer[Any]):
    """A table: its columns in order, and each row's values by column."""

    name = serializers.CharField()
    title = serializers.CharField()
    note = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.DictField())


class QuestionSerializer(serializers.Serializer[Any]):
    """An analysis as a question; `verdict`: null before it is computed; `needs`: what the study lacks for it; `is_old`:
    newer data wait to be included."""

    name = serializers.CharField(source="analysis.name")
    question = serializers.CharField(source="analysis.question")
    verdict = serializers.CharField(source="shown.verdict", default=None, allow_null=True)
    needs = serializers.CharField()
    is_old = serializers.BooleanField(source="stored.is_old")
    is_left_out = serializers.BooleanField(source="stored.is_left_out")
    problem = serializers.CharField(source="stored.problem")


class AnalysisSerializer(QuestionSerializer):
    """An analysis with its tables."""

    rests_on = serializers.CharField()
    choices = ChoiceSerializer(many=True)
    tables = serializers.SerializerMethodField()
    notes = serializers.SerializerMethodField()

    @extend_schema_field(TableSerializer(many=True))
    def get_tables(self, opened: Opened) -> list[dict[str, Any]]:
        return [table.json() for table in opened.shown.tables] if opened.shown else []

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_notes(self, opened: Opened) -> list[str]:
        return [*(opened.shown.notes if opened.shown else ()), *opened.stored.notes]
