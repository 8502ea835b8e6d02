"""`manage.py doctor`: on one page what is wrong here, and how to mend it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import redis
from django.conf import settings
from django.core.management.base import BaseCommand
from kombu.connection import Connection

from annotate.server.doctor import Finding, examine

PATIENCE = 3.0  # seconds


class Command(BaseCommand):
    help = "Check database, worker, backups, broker, disk, clock, files and key; exit with 1 if anything is wrong."
    requires_system_checks: tuple[str, ...] = ()
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one line for each thing that was looked at, and below it how to mend what is wrong."""
        findings = examine(broker)
        for finding in findings:
            mark = self.style.ERROR("wrong") if finding.wrong else self.style.SUCCESS("fine ")
            self.stdout.write(f"{mark}  {finding.about:<13} {finding.wrong or finding.detail}")
            if finding.mend:
                self.stdout.write(f"                      {finding.mend}")
        wrong = sum(bool(finding.wrong) for finding in findings)
        if wrong:
            self.stdout.write(f"\n{wrong} of {len(findings)} things are wrong.")
            sys.exit(1)
        self.stdout.write("\nNothing is wrong.")


def broker() -> Iterator[Finding]:
    """Whether the queue can be reached, keeps what it is given and throws nothing of it away."""
    if settings.BROKER_URL.startswith("memory://"):
        yield Finding("broker", "embedded in the worker")
        return
    patience = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
    try:
        with Connection(settings.BROKER_URL, transport_options=patience) as connection:  # the same as the worker's
            client = connection.channel().client
            policy = client.info("memory").get("maxmemory_policy", "")
            keeps = client.info("persistence").get("aof_enabled", 0)
    except redis.RedisError as error:
        mend = "Start the broker in BROKER_URL. Judgments are still stored; scores are not updated."
        yield Finding("broker", wrong=str(error), mend=mend)
        return
    if policy != "noeviction":
        mend = "redis-cli config set maxmemory-policy noeviction (and in redis.conf)"
        yield Finding("broker", wrong=f"if memory is short, it evicts tasks ({policy})", mend=mend)
    elif not keeps:
        mend = "redis-cli config set appendonly yes (and in redis.conf); until then a restart costs seconds of delay"
        yield Finding("broker", wrong="it keeps no log on the disk", mend=mend)
    else:
        yield Finding("broker", "answers, keeps its log and evicts nothing")
