"""`manage.py simulate_judgments STUDY`: judgments as the reference summaries would make them (model.md, 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate import imports, judging
from annotate.models import Annotator, Reference, Sentence, Study, Topic
from evaluation.fit.similarity import similarity
from evaluation.scoring.simulate import judge, value_by_references
from formats.records import Preference, Text
from formats.sentences import cut_text
from formats.settings import KINDS_COUNTED

PSEUDONYM = "simulated from the references"


class Command(BaseCommand):
    help = "Add judgments simulated from a study's references; they are labeled as simulated wherever they are shown."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", type=int, help="the study's number, as in its address")
        parser.add_argument("--per-topic", type=int, default=100, help="judgments for each topic (default: 100)")
        parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same pairs (default: 0)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Simulate for every topic that has references; say so where none has."""
        study = Study.objects.filter(pk=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']}.")
        for pk in Topic.objects.uncut().filter(study=study).values_list("pk", flat=True):
            imports.cut_topic(pk)
        preferences = [
            preference
            for topic in Topic.objects.filter(study=study)
            for preference in simulate(topic, study, options["per_topic"], options["seed"])
        ]
        if not preferences:
            raise CommandError("No topic of this study has references that distinguish its sentences.")
        judging.import_judgments(study, preferences, Annotator.Kind.SIMULATED, PSEUDONYM)
        if options["verbosity"]:
            self.stdout.write(f"Added {len(preferences)} simulated judgments.")
            if Annotator.Kind.SIMULATED not in KINDS_COUNTED[study.counted_kinds]:
                self.stdout.write("The study does not count them; its setting “whose judgments count” can change that.")


def simulate(topic: Topic, study: Study, count: int, seed: int) -> Iterator[Preference]:
    """Judgments of one topic; none where it has no references."""
    sentences = list(Sentence.objects.filter(topic=topic).select_related("document").order_by("position"))
    references = [
        sentence.text
        for reference in Reference.objects.filter(topic=topic).order_by("position")
        for sentence in cut_text(_text(reference), topic.language or study.language)
    ]
    if not (sentences and references):
        return
    names = [sentence.name for sentence in sentences]
    alike = similarity([sentence.text for sentence in sentences], study.similarity)
    judgments = judge(value_by_references(alike, references), count, seed)
    for a, b, outcome in zip(judgments.a, judgments.b, judgments.outcome, strict=True):
        yield Preference(topic.name, names[a], names[b], "a" if outcome == 1 else "b")


def _text(reference: Reference) -> Text:
    given = reference.sentences
    return Text(reference.name, sentences=tuple(given)) if given is not None else Text(reference.name, reference.text)
