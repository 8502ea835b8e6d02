"""Pagination of lists."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param


class Pages(PageNumberPagination):
    """`?page=2&page_size=100`; a page holds 50 items, or up to 200 on request."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200


class PagesByKey(Pages):
    """`?after=1234&page_size=100`: pages of a list that grows with every answer, each as cheap as the first.

    Rows are ordered by one whole number, each once. To number or count the pages would cost more with every row.
    """

    page_query_param = "after"
    page_query_description = "Only what follows the item at which another page ended, as its `next` says."

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        self.address = request.build_absolute_uri()
        if "page" in request.query_params:
            raise ValidationError({"page": [_("Pages of this list have no numbers. Open `next` of the page before.")]})
        if not re.fullmatch("[0-9]{1,18}", after := request.query_params.get(self.page_query_param, "0")):
            raise ValidationError({"after": [_("Open `next` of the page before; this is no part of it.")]})
        size = self.get_page_size(request) or self.page_size
        self.key = str(queryset.query.order_by[0])
        rows = self._rows(queryset, int(after), size + 1)
        self.has_next = len(rows) > size
        self.rows = rows[:size]
        return self.rows

    def _rows(self, queryset: QuerySet[Any], after: int, number: int) -> list[Any]:
        """So many rows after this key, or all that there are.

        Sought among few keys, then among more: a database that must put all rows in order first reads them all.
        """
        last = queryset.model._default_manager.aggregate(last=Max(self.key))["last"] or 0
        width = number
        while True:
            rows = list(queryset.filter(**{f"{self.key}__gt": after, f"{self.key}__lte": after + width})[:number])
            if len(rows) == number or after + width >= last:
                return rows
            width *= 4

    def get_next_link(self) -> str | None:
        if not self.has_next:
            return None
        return replace_query_param(self.address, self.page_query_param, getattr(self.rows[-1], self.key))

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.get_next_link(), "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        numbered: dict[str, Any] = super().get_paginated_response_schema(schema)
        wanted = {name: numbered["properties"][name] for name in ("next", "results")}
        wanted["next"]["example"] = f"http://api.example.org/accounts/?{self.page_query_param}=1234"
        return {**numbered, "required": list(wanted), "properties": wanted}
