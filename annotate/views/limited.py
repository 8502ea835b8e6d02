"""Views with a rate limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponseBase

from annotate.server.limits import TooOften
from annotate.views.errors import too_often

P = ParamSpec("P")


def limited(
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Answer 429, with the time to wait, where a limit is used up."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except TooOften as often:
            return too_often(request, often)

    return guarded
