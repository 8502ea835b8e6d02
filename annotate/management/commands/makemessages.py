"""`manage.py makemessages`: Django's own, for the pages that are translated: those of annotators."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser
from django.core.management.commands import makemessages

#: The files, and rooms of files, with all texts that annotators read.
FOR_ANNOTATORS = (
    "annotate/crowd/arriving.py",
    "annotate/invitations.py",
    "annotate/judging/annotators.py",
    "annotate/judging/answers.py",
    "annotate/judging/no_pair.py",
    "annotate/server/limits.py",
    "annotate/views/crowd.py",
    "annotate/views/judging",
    "preferendum/formats/answers.py",
    "preferendum/formats/settings.py",
    "templates/account/my_judging.html",
    "templates/base.html",
    "templates/judge",
)


class Command(makemessages.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        """Keep catalogues short: without places, which change with every line, and without texts that are gone."""
        super().add_arguments(parser)
        parser.set_defaults(add_location="file", no_obsolete=True, no_wrap=True)

    def find_files(self, root: str) -> list[makemessages.TranslatableFile]:
        """The files with texts for annotators."""
        wanted = [Path(root, path) for path in FOR_ANNOTATORS]
        return [
            file for file in super().find_files(root) if any(Path(file.path).is_relative_to(path) for path in wanted)
        ]

    def write_po_file(self, potfile: str, locale: str) -> None:
        """Write a language's catalogue without the time, the only line that each run would change."""
        super().write_po_file(potfile, locale)
        catalogue = Path(potfile).parent / locale / "LC_MESSAGES" / f"{self.domain}.po"
        lines = catalogue.read_text().splitlines(keepends=True)
        catalogue.write_text("".join(line for line in lines if not line.startswith('"POT-Creation-Date')))
