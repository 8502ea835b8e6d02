"""The base of every view of the API."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from django.core.files import File
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from annotate.api.access import SignedIn, find_study, user_of
from annotate.api.parsers import TableParser
from annotate.database.transactions import is_lost, once_more
from annotate.models import Study
from annotate.server import idempotency
from preferendum import formats

if TYPE_CHECKING:
    from django.contrib.auth.models import User

KEY = "Idempotency-Key"


class View(GenericAPIView[Any]):
    """A view for signed-in users, with the steps that all views share."""

    permission_classes = [SignedIn]
    filter_backends: list[Any] = []
    #: Whether a POST may have an `Idempotency-Key`.
    takes_key = True
    #: The ability that a POST needs; its answer is given again to those alone who have it still.
    post_ability = "members"
    #: What must be undone after a rollback.
    undo: Callable[[], object] = staticmethod(lambda: None)

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        if request.method == "POST" and self.takes_key and request.headers.get(KEY) and hasattr(self, "post"):
            self.post: Callable[..., Response] = partial(self._once, self.post)

    def _once(self, post: Callable[..., Response], request: Request, **kwargs: Any) -> Response:
        """The answer of `post`, or the stored one for this key and user or token, if they may still send this."""
        study = self.study(kwargs["study_id"], self.post_ability) if "study_id" in kwargs else None
        whose = self.user.pk, getattr(request.auth, "pk", None), request.headers[KEY]

        def work() -> tuple[int, str]:
            response = post(request, **kwargs)
            return response.status_code, JSONRenderer().render(self.to_keep(response.data)).decode()

        try:
            answered = idempotency.once(whose, self.fingerprint, study, work)
        except BaseException:
            self.undo()
            raise
        return Response(self.to_answer(json.loads(answered.answer or "null")), status=answered.status)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of address and body; computed once, before the transaction, which would wait for a file."""
        data = cast(dict[str, Any], self.request.data)
        digest = hashlib.sha256(json.dumps([self.request.get_full_path(), data], sort_keys=True, default=str).encode())
        for chunk in data["file"].chunks() if isinstance(data.get("file"), File) else ():
            digest.update(chunk)
        return digest.hexdigest()

    def to_keep(self, answer: Any) -> Any:
        """The part of an answer that is stored."""
        return answer

    def to_answer(self, kept: Any) -> Any:
        """The answer for what is stored."""
        return kept

    @property
    def user(self) -> User:
        return user_of(self.request)

    def handle_exception(self, exc: Exception) -> Response:
        """Call the view again if another transaction was faster; else answer the exception."""
        if is_lost(exc):
            try:
                return once_more(self._ask)
            except Exception as again:
                exc = again
        return super().handle_exception(exc)

    def _ask(self) -> Response:
        self.initial(self.request, *self.args, **self.kwargs)  # permissions are checked again, too
        handler = getattr(self, str(self.request.method).lower(), self.http_method_not_allowed)
        response: Response = handler(self.request, *self.args, **self.kwargs)
        return response

    def study(self, study_id: int, ability: str = "see") -> Study:
        """The study, if the caller may see it and has the ability. Raises `Http404` or `PermissionDenied`."""
        return find_study(self.request, study_id, ability)

    def sent(self, serializer: type[BaseSerializer[Any]], **options: Any) -> Any:
        """The request's data, checked. Raises `ValidationError`."""
        return self.checked(serializer, self.request.data, **options)

    def checked(self, serializer: type[BaseSerializer[Any]], data: Any, **options: Any) -> Any:
        """The data, checked. Raises `ValidationError`."""
        checked = serializer(data=data, context=self.get_serializer_context(), **options)
        checked.is_valid(raise_exception=True)
        return checked.validated_data

    def sent_file(self) -> File[Any]:
        """The file that was sent. Raises `ValidationError` for none."""
        file = cast(Mapping[str, Any], self.request.data).get("file")
        if not isinstance(file, File):
            raise ValidationError({"file": [_("Send a file.")]})
        return file

    def show(self, serializer: type[BaseSerializer[Any]], row: Any, status: int = 200) -> Response:
        return Response(serializer(row, context=self.get_serializer_context()).data, status=status)

    def page(self, serializer: type[BaseSerializer[Any]], rows: QuerySet[Any], **context: Any) -> Response:
        """A page of rows, which must have an order."""
        shown = self.paginate_queryset(rows) or []
        data = serializer(shown, many=True, context={**self.get_serializer_context(), **context}).data
        return self.get_paginated_response(data)


class TableView(View):
    """A view for a table that is stored as a whole while its sender waits."""

    parser_classes = [TableParser]

    def stored(self, store: Callable[[File[Any], str], dict[str, int]]) -> dict[str, int]:
        """Return what `store` does of the table that was sent; raise `ValidationError` with every complaint."""
        try:
            with self.sent_file() as file:
                return store(file, _("the body"))
        except formats.Refused as refused:
            raise ValidationError({"file": [formats.message(own) for own in refused.complaints]}) from refused
