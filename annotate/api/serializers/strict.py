"""Strict checks of requests, whose unknown fields are refused; and rows that are only shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model
from django.utils.translation import gettext as _
from rest_framework import serializers

Row = TypeVar("Row")
Stored = TypeVar("Stored", bound=Model)


class Strict(serializers.Serializer[Row]):
    """For requests: an unknown field is an error."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({name: [_("There is no such field.")] for name in unknown})
        return super().to_internal_value(data)


class Shown(serializers.ModelSerializer[Stored]):
    """For answers: no field is written."""

    def get_extra_kwargs(self) -> dict[str, Any]:
        return {name: {"read_only": True} for name in self.Meta.fields}
