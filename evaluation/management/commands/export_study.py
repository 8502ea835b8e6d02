"""`manage.py export_study`: one study as one file, which `import_study` takes back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import Study
from preferendum.formats.archive import study as study_archive


class Command(BaseCommand):
    help = "Write a whole study, under pseudonyms, to one ZIP file that import_study can read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", type=int, metavar="ID", help="the number in the study's address")
        parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="where to write the ZIP file")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(pk=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']}.", returncode=2)
        output: Path = options["output"]
        with snapshot():
            archive = exports.make_archive(study)
        # A reader must never find half a study under that name, not even after we broke off.
        unfinished = output.with_name(f".{output.name}.{os.getpid()}")
        try:
            with unfinished.open("wb") as file:
                study_archive.write(archive, file)
            unfinished.replace(output)
        except OSError as error:
            raise CommandError(f"{output} cannot be written: {error.strerror}.", returncode=1) from error
        finally:
            unfinished.unlink(missing_ok=True)
        self.stdout.write(
            f"Wrote {study.title} to {output}: {len(archive.topics)} topics, {len(archive.judgments)} judgments."
        )
