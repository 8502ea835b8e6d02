"""Trials: pairs as an annotator sees them, of which nothing is stored. How far somebody is stands in the address.

`progress` is a seed and a letter for every pair before this one, such as "4711lrt"; a capital at its end is a practice
pair whose explanation is on the page.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from django.db.models import Count

from annotate.judging.checks import practice_pairs
from annotate.judging.drawing import RUN
from annotate.models import Annotator, Assignment, GoldPair, Pair, Sentence, Study, Topic
from formats.answers import SHARES, SIDES

State = Assignment.State
LETTERS = {answer: answer[0] for answer in (*SHARES, "skip")}
ANSWERS = {letter: answer for answer, letter in LETTERS.items()}
#: So many pairs are tried at most, whatever the study asks of its annotators.
LONGEST = 60
PROGRESS = re.compile(f"([0-9]{{1,9}})([{''.join(ANSWERS)}]*[{''.join(ANSWERS).upper()}]?)")


class Source(Protocol):
    """Where the pairs of a trial come from. The seed decides which, and on which side each sentence stands."""

    @property
    def study(self) -> Study: ...

    @property
    def practice(self) -> Sequence[GoldPair]: ...

    @property
    def length(self) -> int:
        """How many pairs there are, practice left out."""
        ...

    def draw(self, seed: int, number: int) -> Pair | None: ...

    def sentences_around(self, sentence: Sentence) -> Sequence[Sentence]:
        """The sentences of its document, in their order."""
        ...


@dataclass(frozen=True)
class Trial:
    """How far somebody is in a trial."""

    source: Source
    seed: int
    letters: str = ""

    @property
    def progress(self) -> str:
        return f"{self.seed}{self.letters}"

    @property
    def is_over(self) -> bool:
        """Whether there is no pair any more."""
        return self.number >= len(self.source.practice) + self.source.length

    @property
    def is_explained(self) -> bool:
        """Whether the answer to a practice pair is being explained."""
        return self.letters[-1:].isupper()

    @property
    def number(self) -> int:
        """The number of the pair on the page, from 0; practice pairs come first."""
        return len(self.letters) - self.is_explained

    @property
    def answers(self) -> list[str]:
        """What was answered, or "skip", after practice."""
        return [ANSWERS[letter] for letter in self.letters[len(self.source.practice) :]]

    def after(self, answer: str) -> Trial:
        """With one answer more; the explanation of a practice pair comes before the next one."""
        letter = LETTERS[answer]
        is_practice = self.number < len(self.source.practice)
        return replace(self, letters=self.letters + (letter.upper() if is_practice else letter))

    def explained(self) -> Trial:
        """With the explanation read."""
        return replace(self, letters=self.letters.lower())

    def before(self) -> Trial:
        """With the last answer taken back; practice is never taken back."""
        is_practice = len(self.letters) <= len(self.source.practice)
        return self if is_practice else replace(self, letters=self.letters[:-1])

    @cached_property
    def annotator(self) -> Annotator:
        """Somebody who has judged as many pairs; there is no row of them."""
        judged = sum(answer != "skip" for answer in self.answers)
        return Annotator(study=self.source.study, judged=judged, quota=self.source.length)

    @cached_property
    def assignment(self) -> Assignment | None:
        """The pair to show; None where the source has none. There is no row of it."""
        if self.number < len(self.source.practice):
            return self._practice(self.source.practice[self.number])
        pair = self.source.draw(self.seed, self.number - len(self.source.practice))
        return None if pair is None else self._assignment(pair, Assignment.Reason.RANDOM)

    def _practice(self, gold_pair: GoldPair) -> Assignment:
        pair = Pair(topic=gold_pair.topic, first=gold_pair.better, second=gold_pair.worse)
        assignment = self._assignment(pair, Assignment.Reason.TRAINING)
        assignment.expected = SIDES[assignment.swapped]
        assignment.state = State.JUDGED if self.is_explained else State.OPEN
        return assignment

    def _assignment(self, pair: Pair, reason: str) -> Assignment:
        swapped = self.is_swapped(self.number)
        return Assignment(annotator=self.annotator, topic=pair.topic, pair=pair, reason=reason, swapped=swapped)

    def is_swapped(self, number: int) -> bool:
        """Whether the first sentence of a pair stands on the right."""
        return random.Random(f"{self.seed} side {number}").random() < 0.5  # noqa: S311 (no secret)


def find_trial(source: Source, progress: str) -> Trial | None:
    """What an address says; None where it says nothing that a trial of this source could have come to."""
    match = PROGRESS.fullmatch(progress)
    if match is None:
        return None
    trial = Trial(source, int(match[1]), match[2])
    practice, length = len(source.practice), len(trial.letters)
    is_possible = length <= practice + source.length and (length <= practice or not trial.is_explained)
    return trial if is_possible else None


@dataclass(frozen=True)
class StudyPairs:
    """Random pairs of a study's sentences, after its practice pairs; whether the study is open does not matter."""

    study: Study

    @property
    def length(self) -> int:
        return min(self.study.pairs_per_annotator, LONGEST)

    @cached_property
    def practice(self) -> Sequence[GoldPair]:
        pairs = practice_pairs(self.study) if self.study.training else GoldPair.objects.none()
        return list(pairs.select_related("topic", "better", "worse")[:LONGEST])

    def draw(self, seed: int, number: int) -> Pair | None:
        """As for annotators, a run of pairs is of one topic; None where no topic has two sentences."""
        chance = random.Random(f"{seed} {number}")  # noqa: S311 (no secret)
        to_judge = Sentence.objects.to_judge().order_by()
        sizes = to_judge.filter(topic__study=self.study.pk).values_list("topic").annotate(size=Count("pk"))
        topics = sorted(topic for topic, size in sizes if size > 1)
        if not topics:
            return None
        topic = Topic.objects.get(pk=topics[(seed + number // RUN) % len(topics)])
        first, second = chance.sample(sorted(to_judge.filter(topic=topic).values_list("pk", flat=True)), 2)
        sentences = Sentence.objects.in_bulk([first, second])
        return Pair(topic=topic, first=sentences[first], second=sentences[second])

    def sentences_around(self, sentence: Sentence) -> Sequence[Sentence]:
        return list(Sentence.objects.filter(document=sentence.document_id).order_by("index"))
