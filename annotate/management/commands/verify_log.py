"""`manage.py verify_log`: check that the audit log is intact."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from annotate import audit_log
from annotate.database import append_only


class Command(BaseCommand):
    help = "Check the audit log and say where it was changed; exit with 1 if it was."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--heads", action="store_true", help="print the last digest of each log as JSON, to keep")
        parser.add_argument("--against", type=Path, help="a file of kept digests, which the logs must still contain")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read all logs, and check that the database still refuses to change them."""
        broken = list(audit_log.verify(_read(options["against"])))
        for breach in broken:
            where = "the installation" if breach.study is None else f"study {breach.study}"
            self.stderr.write(f"The log of {where} breaks: {breach.why}.")
        for table, action in append_only.missing(connection):
            self.stderr.write(f"The database would let anybody {action} {table}: run the command `migrate`.")
            broken.append(audit_log.Break(None, 0, table))
        if broken:
            sys.exit(1)
        heads = audit_log.current_heads()
        if options["heads"]:
            self.stdout.write(json.dumps({name: dataclasses.asdict(head) for name, head in heads.items()}, indent=1))
        elif options["verbosity"]:
            count = sum(head.number for head in heads.values())
            self.stdout.write(f"{count} entries in {len(heads)} logs are as they were written.")


def _read(path: Path | None) -> dict[str, audit_log.Head]:
    if path is None:
        return {}
    try:
        return {name: audit_log.Head(**head) for name, head in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CommandError(f"{path} holds no heads of logs: {error}") from error
