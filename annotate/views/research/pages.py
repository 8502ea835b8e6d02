"""What the pages of a study have in common."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotate import access, judging
from annotate.models import Study
from annotate.views.research.menu import menu_of, topic_menu
from preferendum import formats

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: The addresses of a study.
STUDY = "studies/<int:study_id>/"
#: htmx swaps nothing for this answer: the page is up to date.
UNCHANGED = 204
#: The media types of tables.
CSV = "text/csv; charset=utf-8"
LATEX = "application/x-tex; charset=utf-8"


def page(
    request: HttpRequest, study: Study, template: str, *, status: int = 200, here: str = "", **context: Any
) -> HttpResponse:
    """A page of a study, `here` in its menu; `can` says what to offer, `topic_analyses` what a topic's menu lists.

    `only_answers`: whether nothing is here to judge (`judging.has_only_answers`).
    """
    can = access.abilities(request.user, study)
    context |= {"study": study, "can": can, "menu": menu_of(study, here, can)}
    context.setdefault("only_answers", partial(judging.has_only_answers, study))
    if topic := context.get("topic"):
        context["topic_analyses"] = partial(topic_menu, topic)
    return render(request, template, context, status=status)


def user_of(request: HttpRequest) -> User:
    """The signed-in user; only inside `in_study`, which lets no visitor without an account through."""
    return cast("User", request.user)


def keys(sent: Iterable[str]) -> list[int]:
    """The values sent that can be keys of rows."""
    return [int(key) for key in sent if key.isascii() and key.isdigit() and len(key) < 16]


def is_seen(request: HttpRequest, version: str) -> bool:
    """Whether the page polls (it names the version that it shows) and is up to date."""
    return request.GET.get("seen") == version


def as_file(content: bytes, kind: str, name: str) -> HttpResponse:
    """A download with this media type and name."""
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> tuple[bytes, str]:
    """A table as the content of a file, and its media type."""
    file = io.BytesIO()
    formats.write_rows(file, columns, rows)
    return file.getvalue(), CSV


def digest(*shown: object) -> str:
    """A version of what a page shows, for pages without a better one."""
    return hashlib.blake2s(repr(shown).encode(), digest_size=8).hexdigest()
