"""What every view of the API begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from annotate.api.access import SignedIn, find_study, user_of
from annotate.database.transactions import is_lost, once_more
from annotate.models import Study

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class View(GenericAPIView[Any]):
    """A view for people who are signed in, with the few steps that all of them share."""

    permission_classes = [SignedIn]
    filter_backends: list[Any] = []

    @property
    def user(self) -> User:
        return user_of(self.request)

    def handle_exception(self, exc: Exception) -> Response:
        """Ask again where another transaction was faster; else answer the exception."""
        if is_lost(exc):
            try:
                return once_more(self._ask)
            except Exception as again:
                exc = again
        return super().handle_exception(exc)

    def _ask(self) -> Response:
        self.initial(self.request, *self.args, **self.kwargs)  # permissions are looked at again, too
        handler = getattr(self, str(self.request.method).lower(), self.http_method_not_allowed)
        response: Response = handler(self.request, *self.args, **self.kwargs)
        return response

    def study(self, study_id: int, ability: str = "see") -> Study:
        """The study, if the caller may see it and has the ability. Raises `Http404` or `PermissionDenied`."""
        return find_study(self.request, study_id, ability)

    def sent(self, serializer: type[BaseSerializer[Any]], **options: Any) -> Any:
        """What was sent, checked. Raises `ValidationError`."""
        checked = serializer(data=self.request.data, context=self.get_serializer_context(), **options)
        checked.is_valid(raise_exception=True)
        return checked.validated_data

    def show(self, serializer: type[BaseSerializer[Any]], row: Any, status: int = 200) -> Response:
        return Response(serializer(row, context=self.get_serializer_context()).data, status=status)

    def page(self, serializer: type[BaseSerializer[Any]], rows: QuerySet[Any], **context: Any) -> Response:
        """A page of rows, which must have an order."""
        shown = self.paginate_queryset(rows) or []
        data = serializer(shown, many=True, context={**self.get_serializer_context(), **context}).data
        return self.get_paginated_response(data)
