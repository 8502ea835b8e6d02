"""Headers on every answer, and the probes of load balancers."""

import pytest
from django.test import Client


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
def test_a_probe_is_answered_whatever_name_it_calls_us(client: Client, path: str) -> None:
    answer = client.get(path, headers={"host": "10.1.2.3:8000"})
    assert (answer.status_code, answer.content) == (200, b"ok")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/about/", "/no/such/page/", "/sign-in/"])
def test_every_answer_carries_the_security_headers(client: Client, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "no-store" in headers["Cache-Control"]
    assert "camera=()" in headers["Permissions-Policy"]
