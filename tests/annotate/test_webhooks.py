"""Webhooks on their page and in the API: who set one sees its secret once, and what became of its messages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse

from annotate import studies, webhooks
from annotate.models import AuditEntry, Delivery, Study, Webhook
from annotate.refusal import Refusal
from annotate.settings import webhook_networks
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.reading import signed_in

pytestmark = pytest.mark.django_db

ADDRESS = "https://example.org/hook?token=hidden"


@pytest.fixture
def study() -> Study:
    return making.study()


def secret_in(page: str) -> str:
    (found,) = re.findall(r"whsec_[A-Za-z0-9+/=]+", page)
    return str(found)


def test_a_page_shows_a_secret_once_and_another_after_it_was_replaced(study: Study) -> None:
    client, page = signed_in(study), reverse("study_webhooks", args=[study.pk])
    made = client.post(page, {"address": ADDRESS, "agreement_below": "0.4"}).content.decode()
    webhook = Webhook.objects.get()
    assert (webhook.address, webhook.agreement_below, webhook.secret) == (ADDRESS, 0.4, secret_in(made))
    assert "whsec_" not in client.get(page).content.decode()
    replaced = client.post(reverse("webhook_secret", args=[study.pk, webhook.pk])).content.decode()
    assert secret_in(replaced) not in made
    assert client.post(reverse("webhook_delete", args=[study.pk, webhook.pk])).status_code == 302
    assert not Webhook.objects.exists()


def test_a_page_says_what_became_of_each_message(study: Study) -> None:
    client, page = signed_in(study), reverse("study_webhooks", args=[study.pk])
    webhook = webhooks.create(study, making.owner(study), address=ADDRESS)
    client.post(reverse("webhook_test", args=[study.pk, webhook.pk]))
    assert "not delivered yet" in client.get(page).content.decode()
    delivery = Delivery.objects.get()
    for attempts, outcome, words in (
        (1, "200", ("delivered", "HTTP 200")),
        (9, "500", ("given up", "HTTP 500")),
        (9, "no answer", ("given up", "no answer")),
        (9, "no address", ("given up", "no address that we may send to")),
    ):
        delivery.attempts = attempts
        delivery.save()
        webhooks.end_attempt(delivery, outcome)
        shown = client.get(page).content.decode()
        assert all(own in shown for own in words)


def test_a_program_sets_tests_and_deletes_a_webhook(study: Study) -> None:
    api, path = program(making.owner(study)), f"/api/v1/studies/{study.pk}/webhooks/"
    made = api.post(path, {"address": ADDRESS}, format="json", headers={"Idempotency-Key": "x"}).json()
    assert secret_in(made.pop("secret"))
    assert api.get(path).json()["results"] == [made]
    sent = api.post(f"{path}{made['id']}/deliveries/").json()
    assert (sent["event"], sent["state"], sent["outcome"]) == ("webhook.test", "waiting", "")
    assert api.get(f"{path}{made['id']}/deliveries/").json()["results"] == [sent]
    assert "secret" in api.post(f"{path}{made['id']}/secret/").json()
    assert api.delete(f"{path}{made['id']}/").status_code == 204
    assert api.get(path).json()["results"] == []


def test_the_log_of_the_study_names_hosts_and_no_secret(study: Study) -> None:
    owner = making.owner(study)
    webhook = webhooks.create(study, owner, address=ADDRESS)
    webhooks.replace_secret(webhook, owner)
    webhooks.send_test(study, owner, webhook)
    webhooks.delete(webhook, owner)
    entries = AuditEntry.objects.filter(action__contains="webhook").order_by("number")
    assert [entry.action for entry in entries] == [
        "create webhook",
        "replace webhook secret",
        "test webhook",
        "delete webhook",
    ]
    assert all(entry.detail == {"webhook": entries[0].detail["webhook"], "host": "example.org"} for entry in entries)
    page = signed_in(study).get(reverse("log", args=[study.pk])).content.decode()
    assert "deleted a webhook to example.org" in page


@pytest.mark.parametrize(
    "address",
    [
        *(
            "",
            "example.org",
            "ftp://example.org/",
            "http://example.org/",
            "https://",
            "https:///hook",
            "https://ex ample.org/",
        ),
        *(
            "https://user:word@example.org/",
            "https://a@example.org/",
            "https://example.org:0/",
            "https://example.org:99999/",
        ),
        *("https://exämple.org/", "https://[::1/", "https://example.org/\u200b", f"https://example.org/{'x' * 500}"),
    ],
)
def test_what_is_no_address_of_a_receiver_is_refused(study: Study, address: str) -> None:
    with pytest.raises(Refusal) as refused:
        webhooks.create(study, making.owner(study), address=address)
    assert list(refused.value.fields) == ["address"]
    assert not Webhook.objects.exists()


def test_without_tls_an_address_is_taken_where_the_operator_allows_networks(study: Study, settings: Any) -> None:
    settings.WEBHOOK_NETWORKS = ["10.0.0.0/8"]
    assert webhooks.create(study, making.owner(study), address="http://10.0.0.7:9000/").pk


def test_a_study_has_few_webhooks(study: Study) -> None:
    for _number in range(webhooks.MOST):
        webhooks.create(study, making.owner(study), address=ADDRESS)
    sent = program(making.owner(study)).post(
        f"/api/v1/studies/{study.pk}/webhooks/", {"address": ADDRESS}, format="json"
    )
    assert (sent.status_code, sent.json()["error"]["code"]) == (409, "too_many")


def test_nobody_sends_tests_without_end(study: Study) -> None:
    webhook = webhooks.create(study, making.owner(study), address=ADDRESS)
    client = signed_in(study)
    found = [client.post(reverse("webhook_test", args=[study.pk, webhook.pk])).status_code for _number in range(21)]
    assert found == 20 * [302] + [429]


def test_a_copy_of_a_study_has_no_webhook(study: Study) -> None:
    owner = making.owner(study)
    webhooks.create(study, owner, address=ADDRESS)
    copy = studies.copy_study(study, owner, title="Copy")
    assert not Webhook.objects.filter(study=copy).exists()


def test_a_study_is_deleted_with_its_webhooks(study: Study) -> None:
    webhooks.announce(study, Delivery.Event.QUOTA)
    webhook = webhooks.create(study, making.owner(study), address=ADDRESS)
    webhooks.send_test(study, making.owner(study), webhook)
    studies.delete_study(study, making.owner(study))
    assert not Webhook.objects.exists()
    assert not Delivery.objects.exists()


def test_networks_are_read_or_named_as_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    assert webhook_networks() == []
    monkeypatch.setenv("PREFERENDUM_WEBHOOK_NETWORKS", "10.0.0.0/8, 192.168.1.7,fd00::/8")
    assert [str(network) for network in webhook_networks()] == ["10.0.0.0/8", "192.168.1.7/32", "fd00::/8"]
    monkeypatch.setenv("PREFERENDUM_WEBHOOK_NETWORKS", "intranet")
    with pytest.raises(ImproperlyConfigured, match="PREFERENDUM_WEBHOOK_NETWORKS"):
        webhook_networks()
