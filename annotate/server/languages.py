"""The language of pages: annotators' own, or else that of their texts; English on all other pages."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation


def middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answer in English, unless the view calls `speak`; say in which language the answer is."""

    def respond(request: HttpRequest) -> HttpResponse:
        with translation.override(settings.LANGUAGE_CODE):
            response = get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language())
        return response

    return respond


def speak(request: HttpRequest, language: str) -> None:
    """Answer this request in the language that the reader has chosen, or else in that of the texts (a tag: `pt-BR`).

    A language without translation is answered in its nearest relative (pt for pt-BR), or in English.
    """
    if spoken := _spoken(request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")) or _spoken(language):
        translation.activate(spoken)


def translated(text: str, language: str) -> str:
    """A text of annotators' pages in the language of their texts, or in English."""
    with translation.override(_spoken(language) or settings.LANGUAGE_CODE):
        return translation.gettext(text)


def _spoken(language: str) -> str:
    """The language of a translation; "" if there is none."""
    try:
        return translation.get_supported_language_variant(language.lower())
    except LookupError:
        return ""
