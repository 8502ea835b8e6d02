"""Where to report holes: only where somebody wants to be told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django import Settings

from annotate.settings import security_contact

PATH = "/.well-known/security.txt"


def test_whoever_finds_a_hole_learns_whom_to_tell(client: Client, settings: Settings) -> None:
    settings.SECURITY_CONTACT = "mailto:security@example.org"
    answer = client.get(PATH)
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; charset=utf-8")
    said = dict(line.split(": ", 1) for line in answer.content.decode().splitlines())
    assert said["Contact"] == "mailto:security@example.org"
    left = datetime.fromisoformat(said["Expires"]) - datetime.now(UTC)
    assert timedelta(days=30) < left < timedelta(days=365)
    assert client.head(PATH).status_code == 200


@pytest.mark.django_db
def test_where_nobody_wants_to_be_told_there_is_no_such_page(client: Client) -> None:
    assert client.get(PATH).status_code == 404


@pytest.mark.parametrize("contact", ["", "mailto:security@example.org", "https://example.org/report?a=b"])
def test_a_contact_is_a_mailbox_or_a_page(monkeypatch: pytest.MonkeyPatch, contact: str) -> None:
    monkeypatch.setenv("PREFERENDUM_SECURITY_CONTACT", contact)
    assert security_contact() == contact


@pytest.mark.parametrize(
    "contact", ["security@example.org", "http://example.org", "mailto:", "mailto:a@b.c\nExpires: x", "https://é"]
)
def test_what_is_no_contact_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch, contact: str) -> None:
    monkeypatch.setenv("PREFERENDUM_SECURITY_CONTACT", contact)
    with pytest.raises(ImproperlyConfigured):
        security_contact()
