"""What a study has, and what was removed from it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.api.serializers.records import serializer_of
from annotate.api.serializers.strict import Shown, Strict
from annotate.imports.removing import REMOVABLE
from annotate.models import Removal
from annotate.reports.data import DimensionLine, SystemLine


class EarlierUploadSerializer(serializers.Serializer[Any]):
    """A file that was stored before the study was imported. `by`: its user, a number instead of a name."""

    filename = serializers.CharField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField()
    at = serializers.DateTimeField()
    by = serializers.IntegerField()
    contents = serializers.DictField(child=serializers.IntegerField())


class EarlierRemovalSerializer(serializers.Serializer[Any]):
    """Something that was removed before the study was imported. `by`: as in uploads."""

    kind = serializers.CharField()
    name = serializers.CharField()
    topic = serializers.CharField()
    counts = serializers.DictField(child=serializers.IntegerField())
    at = serializers.DateTimeField()
    by = serializers.IntegerField()
    restored_at = serializers.DateTimeField(allow_null=True)


class DataSerializer(serializers.Serializer[Any]):
    """A study's data in addition to its topics; for an imported one, also its archive's files and removals."""

    systems = serializer_of(SystemLine)(many=True)
    dimensions = serializer_of(DimensionLine)(many=True)
    earlier_uploads = EarlierUploadSerializer(many=True)
    earlier_removals = EarlierRemovalSerializer(many=True)


class RemoveSerializer(Strict[Any]):
    """What to remove: by its id, human scores by the name of their dimension."""

    kind = serializers.ChoiceField(choices=REMOVABLE)
    key = serializers.CharField(max_length=200)


class RemovalSerializer(Shown[Removal]):
    """Something that was removed. `restorable_until`: null once it is restored, or the day is over."""

    by = serializers.CharField(source="user.username", read_only=True)
    topic = serializers.CharField(source="topic_name", read_only=True)
    counts = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    restorable_until = serializers.DateTimeField(read_only=True, allow_null=True)

    class Meta:
        model = Removal
        fields = ["key", "kind", "name", "topic", "counts", "by", "removed_at", "restored_at", "restorable_until"]
