"""`manage.py import_study`: a new study from files, or an exported one taken back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from annotate import imports, studies
from annotate.imports.restore import restore
from annotate.models import Annotator, Judgment, Study, Summary, Topic
from annotate.refusal import Refusal
from annotate.reports import leaderboard
from evaluation import tasks
from preferendum import formats
from preferendum.cli import common
from preferendum.formats.archive import study as study_archive
from preferendum.formats.settings import KINDS_COUNTED, Compares, StudySettings

REFUSED = 2


class Command(BaseCommand):
    help = (
        "Create a study from topics (a .jsonl file, a folder or a ZIP file) or from a file of export_study, and score "
        "it. If anything is wrong, nothing is stored: the reasons go to standard error, and the exit status is 2. "
        "Notes about what was ignored or replaced go there, too."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--owner", required=True, metavar="USER", help="the owner of the study")
        parser.add_argument("--title", default="", help="required, unless the file is an exported study")
        usual = StudySettings()
        parser.add_argument(
            "--question", default=usual.question, help="what annotators are asked (default: %(default)s)"
        )
        parser.add_argument(
            "--compares",
            choices=get_args(Compares),
            default=usual.compares,
            help="what annotators are asked to compare (default: %(default)s); an exported study says so itself",
        )
        parser.add_argument(
            "--language", default=usual.language, help="the language of topics without one (default: %(default)s)"
        )
        parser.add_argument(
            "--kind",
            choices=Annotator.Kind.values,
            default=str(Annotator.Kind.HUMAN),
            help="who made the judgments that do not say who did (default: human)",
        )
        parser.add_argument(
            "--counted-kinds",
            choices=list(KINDS_COUNTED),
            default=usual.counted_kinds,
            help="whose judgments count (default: %(default)s); an exported study says so itself",
        )
        parser.add_argument(
            "--metrics",
            dest="metric_names",
            default=usual.metric_names,
            help="what summaries are scored with, beside the study's scores (default: %(default)s)",
        )
        common.add_columns(parser)
        parser.add_argument(
            "--strict", action="store_true", help="also store nothing if anything was ignored or replaced"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = get_user_model().objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f"There is no user called {options['owner']}.", returncode=REFUSED)
        path: Path = options["path"]
        try:
            if study_archive.is_archive(path):
                study = restore(study_archive.read(path), owner, title=options["title"])
            else:
                study = self._begin(path, owner, options)
        except formats.Refused as refused:
            for complaint in refused.complaints:
                self.stderr.write(formats.message(complaint))
            self.stderr.write("Nothing was stored.")
            sys.exit(REFUSED)
        except Refusal as refusal:
            reasons = [reason for several in refusal.fields.values() for reason in several] or [refusal.message]
            raise CommandError("\n".join(reasons), returncode=REFUSED) from refusal
        self._tell(study, tasks.catch_up(study.pk))

    def _begin(self, path: Path, owner: Any, options: dict[str, Any]) -> Study:
        if not options["title"]:
            raise CommandError("--title is required: the title of the study.", returncode=REFUSED)
        bundle = formats.read(
            path, existing=formats.Existing({}), language=options["language"], columns=options["columns"]
        )
        for remark in bundle.remarks:
            self.stderr.write(formats.message(remark))
        if options["strict"] and bundle.remarks:
            raise CommandError("Nothing was stored: --strict allows no notes.", returncode=REFUSED)
        asked = ("title", "question", "compares", "language", "counted_kinds", "metric_names")
        fields = {name: options[name] for name in asked}
        with transaction.atomic():
            study = studies.make_study(owner, **fields)
            imports.store(study, bundle, kind=options["kind"])
        return study

    def _tell(self, study: Study, problems: dict[str, str]) -> None:
        topics = Topic.objects.filter(study=study).count()
        summaries = Summary.objects.filter(topic__study=study).count()
        judgments = Judgment.objects.filter(item_set__study=study).count()
        self.stdout.write(
            f"Study {study.pk}, {study.title}: {topics} topics, {summaries} summaries, {judgments} judgments."
        )
        board = leaderboard.of_study(study)
        for row in board.rows:
            self.stdout.write(f"{row.rank:4d}. {row.system}  {board.unit.as_score(board.unit.show(row.score))}")
        for topic, problem in problems.items():
            self.stderr.write(f"{topic}: {problem}")
