"""`manage.py simulate_judgments STUDY`: judgments as references or a Pyramid would make them (model.md, 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate import imports, judging
from annotate.models import Annotator, Study, Topic
from evaluation.simulating import PSEUDONYMS, simulate
from evaluation.tasks import split
from preferendum.formats.settings import KINDS_COUNTED
from preferendum.scoring.simulations import Source

#: What no topic of a study had, in words.
LACKING: Mapping[Source, str] = {"references": "references that distinguish", "pyramid": "a Pyramid that distinguishes"}


class Command(BaseCommand):
    help = "Add judgments simulated from a study's references or Pyramids; labeled as such wherever they stand."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", type=int, help="the study's number, as in its address")
        parser.add_argument(
            "--source",
            choices=PSEUDONYMS,
            default="references",
            help="what they are simulated from (default: references)",
        )
        parser.add_argument("--per-topic", type=int, default=100, help="judgments for each topic (default: 100)")
        parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same pairs (default: 0)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Simulate for every topic that has what it takes; say so where none has."""
        study = Study.objects.filter(pk=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']}.")
        for pk in Topic.objects.uncut().filter(study=study).values_list("pk", flat=True):
            imports.cut_topic(pk)
        source: Source = options["source"]
        preferences = [
            preference
            for pk in Topic.objects.filter(study=study).values_list("pk", flat=True)
            for preference in simulate(pk, study, source, options["per_topic"], options["seed"], split)
        ]
        if not preferences:
            raise CommandError(f"No topic of this study has {LACKING[source]} its sentences.")
        judging.import_judgments(study, preferences)
        if options["verbosity"]:
            self.stdout.write(f"Added {len(preferences)} simulated judgments.")
            if Annotator.Kind.SIMULATED not in KINDS_COUNTED[study.counted_kinds]:
                self.stdout.write("The study does not count them; its setting “whose judgments count” can change that.")
