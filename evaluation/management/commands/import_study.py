"""`manage.py import_study`: a new study from files, or an exported one taken back."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

import formats
import formats.study
from annotate import studies
from annotate.models import Annotator, Judgment, Study, Summary, SystemScore, Topic
from annotate.refusal import Refusal
from evaluation import intake, tasks

REFUSED = 2
QUESTION = "Which of these two sentences contains more important information?"


class Command(BaseCommand):
    help = (
        "Make a study from topics (a .jsonl file, a folder or a zip), or from what export_study wrote, and score it. "
        "Nothing is stored where anything is wrong: the reasons go to standard error, and the exit status is 2."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--owner", required=True, metavar="USER", help="whose study it will be")
        parser.add_argument("--title", default="", help="needed unless the file is an exported study, which has one")
        parser.add_argument("--question", default=QUESTION, help=f"what annotators are asked (default: {QUESTION})")
        parser.add_argument("--language", default="en", help="of topics that do not say theirs (default: en)")
        parser.add_argument(
            "--kind",
            choices=Annotator.Kind.values,
            default=str(Annotator.Kind.HUMAN),
            help="who made the judgments that do not say so themselves (default: human)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = get_user_model().objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f"There is no user called {options['owner']}.", returncode=REFUSED)
        path: Path = options["path"]
        try:
            if is_archive(path):
                study = intake.restore(formats.study.read(path), owner, title=options["title"])
            else:
                study = self._begin(path, owner, options)
        except formats.Refused as refused:
            for complaint in refused.complaints:
                self.stderr.write(formats.message(complaint))
            self.stderr.write("Nothing was stored.")
            sys.exit(REFUSED)
        except Refusal as refusal:
            raise CommandError(refusal.message, returncode=REFUSED) from refusal
        self._tell(study, tasks.catch_up(study.pk))

    def _begin(self, path: Path, owner: Any, options: dict[str, Any]) -> Study:
        if not options["title"]:
            raise CommandError("--title is needed: what shall the study be called?", returncode=REFUSED)
        bundle = formats.read(
            path,
            known=formats.Known({}),
            cut=lambda text, language: intake.count_sentences(text, language or options["language"]),
        )
        fields = {name: options[name] for name in ("title", "question", "language")}
        with transaction.atomic():
            study = studies.make_study(owner, **fields)
            intake.take_in(study, bundle, kind=options["kind"])
        return study

    def _tell(self, study: Study, problems: dict[str, str]) -> None:
        topics = Topic.objects.filter(study=study).count()
        summaries = Summary.objects.filter(topic__study=study).count()
        judgments = Judgment.objects.filter(topic__study=study).count()
        self.stdout.write(
            f"Study {study.pk}, {study.title}: {topics} topics, {summaries} summaries, {judgments} judgments."
        )
        for standing in SystemScore.objects.filter(ranking__study=study).select_related("system").order_by("rank"):
            self.stdout.write(f"{standing.rank:4d}. {standing.system}  {standing.score:.4f}")
        for topic, problem in problems.items():
            self.stderr.write(f"{topic}: {problem}")


def is_archive(path: Path) -> bool:
    """Whether a file is what export_study writes."""
    try:
        with zipfile.ZipFile(path) as packed:
            return {"study.json", "MANIFEST"} <= set(packed.namelist())
    except (OSError, zipfile.BadZipFile):
        return False
