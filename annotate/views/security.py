"""The contact for reporting vulnerabilities of this installation (RFC 9116), if its operator sets one."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_safe

#: Renewed with each request; the RFC wants less than a year.
GOOD_FOR = timedelta(days=180)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """The contact, and its date of expiry."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = (timezone.now() + GOOD_FOR).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = f"Contact: {settings.SECURITY_CONTACT}\nExpires: {expires}\nPreferred-Languages: en\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


urlpatterns = [path(".well-known/security.txt", security_txt, name="security_txt")]
