"""The one form of every error."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ErrorDetailSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    fields = serializers.DictField(  # type: ignore[assignment]  # our key has the name of a DRF property
        child=serializers.ListField(child=serializers.CharField())
    )


class ErrorSerializer(serializers.Serializer[Any]):
    """`code` is for programs, `message` for people; `fields` says what is wrong with which value."""

    error = ErrorDetailSerializer()
