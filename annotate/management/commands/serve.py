"""`manage.py serve`: the website and a worker on one machine, kept running."""

from __future__ import annotations

import os
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from annotate.server.origin import place_to_listen
from annotate.server.supervisor import Program, Supervisor, port_is_free

WEB = ["gunicorn", "-c", "python:annotate.server.gunicorn", "annotate.wsgi"]
WORKER = ["celery", "--quiet", "-A", "evaluation.app", "worker", "--loglevel", "WARNING"]
PATIENCE = 60.0  # seconds for the website to start answering


class Command(BaseCommand):
    help = "Serve the website and run a worker on this machine, until Ctrl-C."
    requires_system_checks: tuple[str, ...] = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        usual = "(default: as in PREFERENDUM_BIND, or {})"
        only_here, of_origin = "this machine only", "the port in PREFERENDUM_ORIGIN, or 8000"
        parser.add_argument("--host", help=f"address to listen on {usual.format(only_here)}")
        parser.add_argument("--port", type=int, help=f"port to listen on {usual.format(of_origin)}")

    def handle(self, *args: Any, **options: Any) -> None:
        """Update database and static files, then run both processes until stopped."""
        host, port = place_to_listen(settings.ORIGIN, options["host"], options["port"])
        if not port_is_free(host, port):
            raise CommandError(f"Port {port} is used by another program; choose another one with --port.")
        self.prepare()
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        origin = settings.ORIGIN if os.environ.get("PREFERENDUM_ORIGIN") else f"http://{place}"
        environment = os.environ | {
            "PREFERENDUM_ORIGIN": origin + settings.PREFIX,
            "PREFERENDUM_BIND": place,
            "DJANGO_SETTINGS_MODULE": "annotate.settings",
            "OPENBLAS_NUM_THREADS": "1",
        }
        programs = [Program("web", WEB), Program("worker", WORKER)]

        def welcome() -> None:
            if self.answers(f"http://{place}"):
                if urlsplit(origin).port != port:
                    self.stdout.write(f"It listens at http://{place}; a proxy before it must send it what it gets.\n")
                self.welcome(origin)
            self.stdout.flush()  # the links are wanted now, in a file, too

        Supervisor(programs, environment, self.stdout.write).run(welcome)

    def prepare(self) -> None:
        """Prepare the installation before the processes start."""
        self.stdout.write("Updating the database ...")
        call_command("migrate", interactive=False, verbosity=0)
        self.stdout.write("Collecting the static files ...")
        call_command("collectstatic", interactive=False, verbosity=0)

    def welcome(self, origin: str) -> None:
        address = origin + reverse("home")
        self.stdout.write(self.style.SUCCESS(f"\nPreferendum runs at {address}\n") + "Ctrl-C stops it.\n")

    def answers(self, address: str) -> bool:
        """Wait until the website answers; False, with a message, if it does not."""
        host = settings.ALLOWED_HOSTS[0]
        request = urllib.request.Request(f"{address}/about/", headers={"Host": host})  # noqa: S310
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(request, timeout=5).close()  # noqa: S310
                return True
            except urllib.error.HTTPError:
                return True
            except OSError:
                time.sleep(0.1)
        self.stdout.write(self.style.ERROR("The website does not answer; its messages above say why."))
        return False
