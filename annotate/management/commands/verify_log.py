"""`manage.py verify_log`: is the log of administrative acts still what was written?"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from annotate import acts, only_added


class Command(BaseCommand):
    help = "Check the log of administrative acts and say where it breaks; exit with 1 if it does."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--heads", action="store_true", help="print how far each log has got, as JSON, to be kept")
        parser.add_argument("--against", type=Path, help="heads that were kept: the logs must still pass through them")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read all logs, and look whether the database still refuses to change them."""
        broken = list(acts.verify(_read(options["against"])))
        for one in broken:
            where = "the installation" if one.study is None else f"study {one.study}"
            self.stderr.write(f"The log of {where} breaks: {one.why}.")
        for table, action in only_added.missing(connection):
            self.stderr.write(f"The database would let anybody {action} {table}: run `manage.py migrate`.")
            broken.append(acts.Break(None, 0, table))
        if broken:
            sys.exit(1)
        heads = acts.current_heads()
        if options["heads"]:
            self.stdout.write(json.dumps({name: dataclasses.asdict(head) for name, head in heads.items()}, indent=1))
        elif options["verbosity"]:
            count = sum(head.number for head in heads.values())
            self.stdout.write(f"{count} acts in {len(heads)} logs are as they were written.")


def _read(path: Path | None) -> dict[str, acts.Head]:
    if path is None:
        return {}
    try:
        return {name: acts.Head(**head) for name, head in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CommandError(f"{path} holds no heads of logs: {error}") from error
