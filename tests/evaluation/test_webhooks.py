"""Webhooks from the fact to the receiver: told once with the fact, sent until they arrive, and never to where they
must not go, whatever a receiver does."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connections, transaction
from django.utils import timezone
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from annotate import exports, imports, studies, webhooks
from annotate.models import Claim, Delivery, Study, Webhook
from annotate.models.webhook import PAUSES
from evaluation import agenda, sending, tasks
from preferendum.results import Agreement, Bounded, Difference
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study
from tests.annotate.test_judging_together import at_once

pytestmark = pytest.mark.django_db

Event, State = Delivery.Event, Delivery.State


class Receiver(ThreadingHTTPServer):
    """A program that gets messages, and answers with `status`, or does as `does` says with the open connection."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.headers = 204, dict[str, str]()
        self.does: Callable[[socket.socket], None] | None = None
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.cut = threading.Event()
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.address = f"http{'s' if tls else ''}://127.0.0.1:{self.server_address[1]}/hook?key=1"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, *_: Any) -> None:
        pass


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if self.server.does:
            self.close_connection = True
            with suppress(OSError):
                self.server.does(self.connection)
            self.server.cut.set()
            return
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]
    receiver = Receiver()
    yield receiver
    receiver.shutdown()
    receiver.server_close()


@pytest.fixture
def study() -> Study:
    return making.study()


def hook(study: Study, receiver: Receiver, **fields: Any) -> Webhook:
    return webhooks.create(study, making.owner(study), address=receiver.address, **fields)


def sent(webhook: Webhook) -> Delivery:
    """The last message, after the worker did all that is due."""
    tasks.send_webhook(webhook.pk)
    return Delivery.objects.filter(webhook=webhook).latest("pk")


def told(webhook: Webhook) -> list[str]:
    return list(Delivery.objects.filter(webhook=webhook).order_by("pk").values_list("event", flat=True))


# What is sent


def test_a_message_is_signed_small_and_leads_to_a_page(receiver: Receiver, study: Study) -> None:
    webhook = hook(study, receiver)
    webhooks.send_test(study, making.owner(study), webhook)
    delivery = sent(webhook)
    assert (delivery.state, delivery.outcome, delivery.attempts) == (State.DELIVERED, "204", 1)
    ((path, headers, body),) = receiver.got
    assert path == "/hook?key=1"
    assert Verifier(webhook.secret).verify(body, headers) == json.loads(body)
    link = f"http://127.0.0.1:8000/studies/{study.pk}/webhooks/"
    at = delivery.created_at.isoformat().replace("+00:00", "Z")
    assert json.loads(body) == {"type": "webhook.test", "timestamp": at, "data": {"study": study.pk, "link": link}}
    assert headers["webhook-id"] == f"msg_{delivery.key.hex}"
    assert headers["content-type"] == "application/json"
    assert study.title not in body.decode()


def test_a_new_secret_signs_from_then_on_and_the_old_one_no_more(receiver: Receiver, study: Study) -> None:
    webhook = hook(study, receiver)
    webhooks.send_test(study, making.owner(study), webhook)
    new = webhooks.replace_secret(webhook, making.owner(study))
    sent(webhook)
    ((_path, headers, body),) = receiver.got
    assert Verifier(new.secret).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(webhook.secret).verify(body, headers)


def test_a_secret_that_is_replaced_while_messages_are_sent_signs_those_that_follow(
    receiver: Receiver, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook, post = hook(study, receiver), sending.post
    for _number in range(2):
        webhooks.announce(study, Event.QUOTA)

    def replace_meanwhile(*sent: Any) -> str:
        webhooks.replace_secret(webhook, making.owner(study))
        return post(*sent)

    monkeypatch.setattr(sending, "post", replace_meanwhile)
    tasks.send_webhook(webhook.pk)
    (_path, first, body), (_same, second, other) = receiver.got
    assert Verifier(webhook.secret).verify(body, first)
    with pytest.raises(WebhookVerificationError):
        Verifier(webhook.secret).verify(other, second)


# What is told, and when


def test_an_export_and_a_refused_upload_are_told_with_what_they_are(receiver: Receiver, study: Study) -> None:
    making.take_in(study, making.TOPIC)
    webhook, other, owner = hook(study, receiver), hook(study, receiver), making.owner(study)
    export = exports.request_export(study, owner)
    assert told(webhook) == []
    exports.write_export(export)
    upload = making.receive(study, b'{"topic_id": 7}\n')
    imports.process(upload)
    imports.process(upload)
    exports.write_export(export)
    assert told(webhook) == [Event.EXPORT, Event.REFUSED]
    bodies = [list(own.deliveries.order_by("pk").values_list("body", flat=True)) for own in (webhook, other)]
    assert bodies[0] == bodies[1]
    ready, refused = (json.loads(body)["data"] for body in bodies[0])
    assert ready["export"] == str(export.key)
    assert refused["upload"] == str(upload.key)
    assert refused["link"].endswith(f"/studies/{study.pk}/uploads/{upload.key}/")


def test_what_is_rolled_back_was_never_told(receiver: Receiver, study: Study) -> None:
    webhook = hook(study, receiver)
    export = exports.request_export(study, making.owner(study))
    with transaction.atomic():
        exports.write_export(export)
        assert told(webhook) == [Event.EXPORT]
        transaction.set_rollback(True)
    export.refresh_from_db()
    assert (export.state, told(webhook)) == ("waiting", [])


def test_all_planned_judgments_are_told_once_and_again_if_more_are_planned(receiver: Receiver) -> None:
    study = ready_study(sentences=6, judgments_per_topic=3, pairs_per_annotator=9, person_cap=1.0)
    webhook, annotator = hook(study, receiver), joined(study)
    heard = []
    for number in range(1, 6):
        judged(annotator)
        tasks.catch_up(study.pk)
        tasks.catch_up(study.pk)
        heard.append(told(webhook).count(Event.QUOTA))
        if number == 3:
            studies.change_settings(study, making.owner(study), judgments_per_topic=5)
    assert heard == [0, 0, 1, 1, 2]


def decided(significant: bool) -> list[Difference]:
    return [Difference("ann", "bob", 0.2, 0.1, 0.3, 0.0, significant=significant, planned_share=1.0)]


def test_a_decided_study_is_told_whether_or_not_it_closes(receiver: Receiver) -> None:
    study = making.study(stop_rule=True, compares="summaries")
    webhook = hook(study, receiver)
    for significant in (False, True, True, False, True):
        studies.conclude_verdicts(study.pk, decided(significant), by_summaries=True)
    assert told(webhook) == [Event.DECIDED, Event.DECIDED]
    studies.conclude_verdicts(study.pk, decided(False), by_summaries=False)
    study.refresh_from_db()
    assert study.state == "open"
    assert told(webhook) == [Event.DECIDED, Event.DECIDED]


def test_agreement_is_told_once_it_is_surely_below_and_again_after_it_was_not(receiver: Receiver, study: Study) -> None:
    webhook, silent = hook(study, receiver, agreement_below=0.4), hook(study, receiver)
    for low, value, high, pairs in (
        (0.1, 0.3, 0.5, 20),  # perhaps below
        (0.1, 0.2, 0.3, 9),  # of too few pairs
        (0.1, 0.2, 0.3, 20),
        (0.1, 0.3, 0.5, 20),
        (0.1, 0.2, 0.3, 20),  # told already
        (0.3, 0.45, 0.6, 20),
        (0.1, 0.2, 0.3, 20),
    ):
        alpha = Bounded(value, low, high)
        webhooks.conclude_agreement(study.pk, Agreement(60, pairs, pairs, alpha, alpha, alpha, ""))
    assert told(webhook) == [Event.AGREEMENT, Event.AGREEMENT]
    assert json.loads(webhook.deliveries.first().body)["data"]["below"] == 0.4
    assert told(silent) == []


def test_the_worker_tells_of_agreement_with_the_figures_about_annotators(receiver: Receiver) -> None:
    study = ready_study(
        sentences=7, judgments_per_pair=2, judgments_per_topic=100, pairs_per_annotator=21, person_cap=1.0
    )
    webhook = hook(study, receiver, agreement_below=0.9)
    for answer in ("left", "right"):
        annotator = joined(study)
        for _pair in range(21):
            pair = judged(annotator, answer)
    assert pair
    tasks.report_annotators(study.pk)
    assert told(webhook) == [Event.AGREEMENT]


# Until it arrives


def test_a_message_is_sent_for_a_day_with_one_id_and_then_given_up(receiver: Receiver, study: Study) -> None:
    webhook, receiver.status = hook(study, receiver), 500
    began = timezone.now()
    with time_machine.travel(began, tick=False) as clock:
        webhooks.send_test(study, making.owner(study), webhook)
        for pause in PAUSES:
            assert sent(webhook).state == State.WAITING
            clock.shift(timedelta(seconds=pause - 1))
            assert not Webhook.objects.due().exists()
            clock.shift(timedelta(seconds=1))
            assert Webhook.objects.due().get() == webhook
        last = sent(webhook)
        assert (last.state, last.outcome, last.attempts) == (State.GIVEN_UP, "500", len(PAUSES) + 1)
        assert timedelta(hours=23) < timezone.now() - began < timedelta(hours=25)
        assert not Webhook.objects.due().exists()
    assert len({headers["webhook-id"] for _path, headers, _body in receiver.got}) == 1
    assert len({body for _path, _headers, body in receiver.got}) == 1
    assert len({headers["webhook-timestamp"] for _path, headers, _body in receiver.got}) == len(receiver.got) == 8


def test_what_a_killed_worker_did_not_finish_is_sent_again_after_a_pause(receiver: Receiver, study: Study) -> None:
    webhook = hook(study, receiver)
    delivery = webhooks.send_test(study, making.owner(study), webhook)
    assert webhooks.begin_attempt(Delivery.objects.get(pk=delivery.pk))
    assert not webhooks.begin_attempt(delivery)  # by another worker
    assert not Webhook.objects.due().exists()
    with time_machine.travel(timezone.now() + timedelta(seconds=PAUSES[0]), tick=False):
        assert sent(webhook).state == State.DELIVERED


def test_what_a_frozen_worker_says_of_an_attempt_does_not_undo_the_delivery_by_another(
    receiver: Receiver, study: Study
) -> None:
    webhook = hook(study, receiver)
    frozen = webhooks.send_test(study, making.owner(study), webhook)
    assert webhooks.begin_attempt(frozen)
    with time_machine.travel(timezone.now() + timedelta(seconds=PAUSES[0]), tick=False):
        assert sent(webhook).state == State.DELIVERED
    webhooks.end_attempt(frozen, "no answer")
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.outcome) == (State.DELIVERED, "204")


def test_a_clock_that_was_set_back_keeps_no_message(receiver: Receiver, study: Study) -> None:
    webhook = hook(study, receiver)
    with time_machine.travel(timezone.now() + timedelta(days=30)):
        webhooks.send_test(study, making.owner(study), webhook)
    assert Webhook.objects.due().get() == webhook


def test_nothing_is_sent_to_a_webhook_that_was_deleted(receiver: Receiver, study: Study) -> None:
    webhook = hook(study, receiver)
    delivery = webhooks.send_test(study, making.owner(study), webhook)
    webhooks.delete(webhook, making.owner(study))
    tasks.send_webhook(webhook.pk)
    assert not webhooks.begin_attempt(delivery)
    assert receiver.got == []


def test_the_log_keeps_the_last_messages_and_all_that_wait(
    receiver: Receiver, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "KEPT", 3)
    webhook = hook(study, receiver)
    for _number in range(5):
        webhooks.announce(study, Event.QUOTA)
    tasks.send_webhook(webhook.pk)
    for _number in range(5):
        webhooks.announce(study, Event.QUOTA)
    assert list(webhook.deliveries.order_by("pk").values_list("state", flat=True)) == 3 * ["delivered"] + 5 * [
        "waiting"
    ]


@pytest.mark.django_db(transaction=True)
def test_of_several_workers_one_sends(receiver: Receiver) -> None:
    webhook = hook(making.study(), receiver)
    receiver.does = lambda _line: time.sleep(0.2)
    webhooks.announce(webhook.study, Event.QUOTA)

    def work() -> None:
        tasks.send_webhook(webhook.pk)
        connections.close_all()

    workers = [threading.Thread(target=work) for _number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(receiver.got) == 1


@pytest.mark.django_db(transaction=True)
def test_a_study_and_a_webhook_are_deleted_while_they_hear_of_something(receiver: Receiver) -> None:
    for is_study in (True, False, True, False):
        study = making.study()
        owner, webhook = making.owner(study), hook(study, receiver)
        export = exports.request_export(study, owner)
        delete = partial(studies.delete_study, study, owner) if is_study else partial(webhooks.delete, webhook, owner)
        at_once(partial(tasks.write_export, export.pk), delete, partial(tasks.send_webhook, webhook.pk))
        assert not Webhook.objects.exists()
        assert not Delivery.objects.exists()


# A receiver that means harm


def test_no_redirect_is_followed(receiver: Receiver, study: Study) -> None:
    other = Receiver()
    receiver.status, receiver.headers = 307, {"Location": other.address}
    webhook = hook(study, receiver)
    webhooks.announce(study, Event.QUOTA)
    delivery = sent(webhook)
    assert (delivery.state, delivery.outcome, other.got) == (State.WAITING, "307", [])
    other.shutdown()
    other.server_close()


def drip(line: socket.socket) -> None:
    """A letter of the answer every now and then."""
    line.sendall(b"HTTP/1.1 200 ")
    while True:
        time.sleep(0.05)
        line.sendall(b"x")


def hold_on(line: socket.socket) -> None:
    """Read, and say nothing: until the other side leaves."""
    while line.recv(1000):
        pass


def never_end(line: socket.socket) -> None:
    """Ask to wait for ever, as fast as it can."""
    while True:
        line.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def drip_headers(line: socket.socket) -> None:
    """All is well, it says at once, and then a letter of a header every now and then."""
    line.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        time.sleep(0.05)
        line.sendall(b"x")


@pytest.mark.parametrize(
    ("does", "outcome"), [(drip, "no answer"), (hold_on, "no answer"), (never_end, "100"), (drip_headers, "200")]
)
def test_nobody_holds_an_attempt_up(receiver: Receiver, does: Callable[[socket.socket], None], outcome: str) -> None:
    receiver.does = does
    began = time.monotonic()
    assert sending.post(receiver.address, {}, "{}", 0.5) == outcome
    assert time.monotonic() - began < 2
    assert receiver.cut.wait(5), "the line was not cut"


@pytest.mark.parametrize(
    "answer", [b"", b"SSH-2.0\r\n", b"HTTP/1.1 x\r\n\r\n", b"HTTP/1.1 " + b"9" * 100_000, b"HTTP/1.1 999999\r\n"]
)
def test_what_is_no_answer_is_none_and_told_in_two_words(receiver: Receiver, answer: bytes) -> None:
    receiver.does = lambda line: line.sendall(answer)
    assert sending.post(receiver.address, {}, "{}", 2.0) == "no answer"


def test_of_a_long_answer_nothing_but_the_status_is_read(receiver: Receiver) -> None:
    receiver.does = lambda line: line.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(50_000_000))
    assert sending.post(receiver.address, {}, "{}", 5.0) == "200"
    assert receiver.cut.wait(5)


def test_a_name_that_is_not_looked_up_in_time_is_given_up(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_k: time.sleep(1) or [])
    began = time.monotonic()
    assert sending.post("https://example.org/", {}, "{}", 0.2) == "no answer"
    assert time.monotonic() - began < 0.9


# Where nothing may be sent


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "192.0.0.8"),
        *("::", "::1", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1", "100::1", "5f00::1"),
        *("::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1"),
        *("2002:a00:1::1", "2001:0:1234::1"),
    ],
)
def test_what_is_inside_a_network_is_not_reached(address: str, settings: Any) -> None:
    settings.WEBHOOK_NETWORKS = []
    assert not sending.may_reach("https", address)
    assert not sending.may_reach("http", address)


def test_what_is_public_is_reached_over_tls_alone_and_what_the_operator_allows_also_without(settings: Any) -> None:
    settings.WEBHOOK_NETWORKS = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
    assert [
        sending.may_reach("https", own) for own in ("93.184.215.14", "2606:4700::1", "10.9.9.9", "fd00::1")
    ] == 4 * [True]
    assert [sending.may_reach("http", own) for own in ("93.184.215.14", "2606:4700::1")] == 2 * [False]
    assert [sending.may_reach("http", own) for own in ("10.9.9.9", "fd00::1")] == 2 * [True]
    assert not sending.may_reach("https", "192.168.0.1")
    assert not sending.may_reach("https", "::ffff:10.9.9.9")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_not_connected_to(receiver: Receiver, study: Study, settings: Any, host: str) -> None:
    webhook = hook(study, receiver)
    Webhook.objects.update(address=receiver.address.replace("http", "https").replace("127.0.0.1", host))
    settings.WEBHOOK_NETWORKS = []
    webhooks.announce(study, Event.QUOTA)
    delivery = sent(webhook)
    assert (delivery.outcome, str(delivery.outcome_words)) == ("no address", "no address that we may send to")
    assert receiver.got == []


def test_a_name_is_looked_up_once_and_that_very_address_is_taken(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = socket.getaddrinfo, []

    def rebind(host: str, *rest: Any, **more: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1" if asked.count(host) == 1 else "127.0.0.2", *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    address = receiver.address.replace("127.0.0.1", "hook.example")
    assert sending.post(address, {}, "{}") == "204"
    assert asked.count("hook.example") == 1
    assert receiver.got[0][1]["host"] == address.split("/")[2]


# TLS


@pytest.fixture
def certified(tmp_path: Path, settings: Any) -> Iterator[tuple[Receiver, Path]]:
    """A receiver with a certificate for localhost that nobody else issued, and the file of it."""
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    receiver = Receiver(tls)
    sending._tls.cache_clear()
    yield receiver, certificate
    sending._tls.cache_clear()
    receiver.shutdown()
    receiver.server_close()


def test_a_certificate_must_be_trusted_and_of_that_name(
    certified: tuple[Receiver, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver, file = certified
    named = receiver.address.replace("127.0.0.1", "localhost")
    assert sending.post(named, {}, "{}") == "no answer"
    sending._tls.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert sending.post(named, {}, "{}") == "204"
    assert sending.post(receiver.address, {}, "{}") == "no answer"
    assert len(receiver.got) == 1


def test_who_says_nothing_about_tls_is_left(settings: Any) -> None:
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]
    with closing(socket.create_server(("127.0.0.1", 0))) as mute:
        began = time.monotonic()
        assert sending.post(f"https://127.0.0.1:{mute.getsockname()[1]}/", {}, "{}", 0.3) == "no answer"
        assert time.monotonic() - began < 2


# Beside other work


def test_sending_is_long_work_and_a_slow_receiver_gets_a_small_part_of_it(
    receiver: Receiver, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "TURN", 1.0)
    webhook = hook(study, receiver)
    for _number in range(3):
        webhooks.announce(study, Event.QUOTA)
    (work,) = agenda.look().waiting
    assert (work.task, work.key, work.is_long) == ("send_webhook", webhook.pk, True)
    receiver.does = lambda _line: time.sleep(tasks.TURN + 0.1)
    tasks.send_webhook(webhook.pk)
    assert len(receiver.got) == 1, "one turn"
    assert Webhook.objects.due().exists()
    assert agenda.look().waiting == ()
    claim = Claim.objects.get(name=f"webhook:{webhook.pk}")
    assert claim.attempts == 0, "not a failure of ours"
    with time_machine.travel(timezone.now() + timedelta(seconds=20 * (tasks.TURN + 0.1) + 1)):
        assert [work.task for work in agenda.look().waiting] == ["send_webhook"]
