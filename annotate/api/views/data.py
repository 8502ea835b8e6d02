"""A study's data; removing it, and restoring it within a day."""

from __future__ import annotations

import uuid

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import imports
from annotate.api.serializers.data import DataSerializer, RemovalSerializer, RemoveSerializer
from annotate.api.views.base import View
from annotate.models import Removal
from annotate.reports import data


@extend_schema(tags=["data"])
class Data(View):
    @extend_schema(operation_id="read_data", responses=DataSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """The systems and the dimensions of human scores of a study, with the names of their files."""
        study = self.study(study_id)
        what = {
            "systems": data.systems_of(study),
            "dimensions": data.dimensions_of(study),
            "earlier_uploads": data.earlier_in(study, "uploads"),
            "earlier_removals": data.earlier_in(study, "removed"),
        }
        return self.show(DataSerializer, what)


@extend_schema(tags=["data"])
class Removals(View):
    post_ability = "edit"

    @extend_schema(operation_id="list_removals", responses=RemovalSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """What was removed from a study, newest first."""
        return self.page(RemovalSerializer, data.removals_of(self.study(study_id)))

    @extend_schema(operation_id="remove", request=RemoveSerializer, responses={201: RemovalSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Remove a topic, a system with its summaries, a summary, a reference, or human scores.

        You can restore it within a day. Judgments of a topic stay as history, which nothing uses.
        """
        study, wanted = self.study(study_id, self.post_ability), self.sent(RemoveSerializer)
        return self.show(RemovalSerializer, imports.remove(study, self.user, wanted["kind"], wanted["key"]), 201)


@extend_schema(tags=["data"])
class Restoration(View):
    post_ability = "edit"

    @extend_schema(operation_id="restore_removed", request=None, responses=RemovalSerializer)
    def post(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """Restore what was removed, as it was."""
        removal = get_object_or_404(Removal, key=key, study=self.study(study_id, self.post_ability))
        return self.show(RemovalSerializer, imports.restore_removed(removal, self.user))
