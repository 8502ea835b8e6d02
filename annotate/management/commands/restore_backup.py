"""`manage.py restore_backup FILE`: restore a backup into a new, empty installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate.server import backups


class Command(BaseCommand):
    help = "Restore a backup into this installation, which must be empty, and update it to this program's version."
    requires_system_checks: tuple[str, ...] = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore, and print what was restored and any warnings."""
        try:
            restored, remarks = backups.restore(options["file"])
        except backups.NotPossible as problem:
            raise CommandError(f"Nothing was restored. {problem}") from problem
        for remark in remarks:
            self.stderr.write(self.style.WARNING(remark))
        self.stdout.write(
            f"Restored as of {restored.at}: {restored.rows['annotate_study']} studies, "
            f"{restored.rows['annotate_topic']} topics, {restored.rows['annotate_judgment']} rows of judgments."
        )
