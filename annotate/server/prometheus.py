"""Metrics for Prometheus: how requests were answered, and the state of the installation.

Each process of the website counts requests. Under gunicorn, each keeps its counters in a file of its own
(`annotate.server.gunicorn`), so that any process can report all; elsewhere they are in memory. The state is read from
the tables on each scrape, in a constant number of queries. Labels are names of addresses, methods and statuses: no
study, no person, no part of an address.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime

from django.db.models import Count, Max, Min, Q, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from annotate.models import Annotator, Assignment, Export, ItemSetProgress, Topic, Upload, WorkerPulse
from annotate.reports.study import SILENCE, UNDER_WAY
from annotate.reports.worker import with_since

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
#: Seconds. A judgment should be answered within 0.1, a page within 0.25.
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
#: A client may make up a method, and each would be kept forever.
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
#: Names the folder in which the processes of one gunicorn keep their counters.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"

Answerer = Callable[[HttpRequest], HttpResponse]
_own = CollectorRegistry()

requests = Histogram(
    "preferendum_request_seconds",
    "How long requests took to be answered.",
    ["route", "method", "status"],
    buckets=BUCKETS,
    registry=_own,
)


def counted(get_response: Answerer) -> Answerer:
    """Count every request by the name of its address ("none" for static files and unknown addresses)."""

    def middleware(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = get_response(request)
        match = request.resolver_match
        route = (match.view_name if match else "") or "none"
        method = request.method if request.method in METHODS else "other"
        with suppress(OSError):  # the counters are in a file: a full disk must not break a page
            requests.labels(route, method, response.status_code).observe(time.perf_counter() - began)
        return response

    return middleware


def page() -> bytes:
    """All metrics in Prometheus's format. Raises DatabaseError if the tables cannot be read."""
    registry = CollectorRegistry()
    registry.register(_Tables())
    own = _own
    if FOLDER in os.environ:
        own = CollectorRegistry()
        MultiProcessCollector(own)  # type: ignore[no-untyped-call]
    return generate_latest(registry) + generate_latest(own)


class _Tables:
    """The installation's state, from the tables."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, (words, value) in figures().items():
            yield GaugeMetricFamily(f"preferendum_{name}", words, value=value)

    def describe(self) -> list[GaugeMetricFamily]:
        return []  # or registering would read the tables


def figures() -> dict[str, tuple[str, float]]:
    """Each figure's description and number, by name.

    An age is in seconds: 0 if nothing waits, infinite if none ever was.
    """
    now = timezone.now()
    behind = Topic.objects.behind()
    oldest = with_since(behind).exclude(sentence_set__progress__problem__gt="").aggregate(Min("since"))["since__min"]
    pulses = WorkerPulse.objects.aggregate(newest=Max("at"), alive=Count("pk", filter=Q(at__gte=now - SILENCE)))
    return {
        "judgments": (
            "Stored judgments, without undone ones.",
            Annotator.objects.lasting().aggregate(n=Coalesce(Sum("judged"), 0))["n"],
        ),
        "topics_behind": ("Topics whose scores are not up to date.", behind.count()),
        "topics_behind_oldest_seconds": (
            "Age of the oldest judgment not yet scored, without failed topics and imports.",
            _age(oldest, now) if oldest else 0.0,
        ),
        "topics_failed": (
            "Topics whose last computation failed.",
            ItemSetProgress.objects.exclude(problem="").count(),
        ),
        "workers": ("Workers seen recently.", pulses["alive"]),
        "worker_pulse_age_seconds": (
            "Seconds since any worker was last seen.",
            _age(pulses["newest"], now) if pulses["newest"] else float("inf"),
        ),
        "uploads_waiting": (
            "Uploads that wait for the worker.",
            Upload.objects.filter(state__in=UNDER_WAY).count(),
        ),
        "exports_waiting": (
            "Exports that wait for the worker.",
            Export.objects.filter(state=Export.State.WAITING).count(),
        ),
        "leases_open": (
            "Pairs that somebody has on the screen.",
            Assignment.objects.lasting().filter(state=Assignment.State.OPEN, expires_at__gt=now).count(),
        ),
    }


def _age(moment: datetime, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds())
