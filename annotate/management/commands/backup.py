"""`manage.py backup FILE`: everything but the secret key, in one file, while the installation runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate.server import backups


class Command(BaseCommand):
    help = "Write database, uploads and exports to one new file. Nothing has to be stopped."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the backup and say what is in it."""
        try:
            made = backups.backup(options["file"])
        except (backups.NotPossible, OSError) as problem:
            raise CommandError(f"No backup was made. {problem}") from problem
        size = options["file"].stat().st_size / 1e6
        self.stdout.write(
            f"{options['file']}: {made.rows['annotate_study']} studies, {made.rows['annotate_topic']} topics, "
            f"{made.rows['annotate_judgment']} rows of judgments, {size:.1f} MB. The secret key is not in it."
        )
