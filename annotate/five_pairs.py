"""Five pairs of the demo's first topic for visitors without a study, and the result of their answers."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F

from annotate import imports, judging, studies
from annotate.models import Annotator, Assignment, Item, ItemSet, Judgment, Pair, Study, Topic
from annotate.refusal import Refusal
from preferendum import formats
from preferendum.formats.answers import share_of_first
from preferendum.formats.sentences import cut
from preferendum.formats.settings import QUESTION

#: Self-contained sentences from summaries of nine of the ten systems, by document and place.
SENTENCES = (
    ("M0008.english", 0),
    ("M0009.english", 0),
    ("M0006.english", 3),
    ("M0005.english", 0),
    ("M0001.english", 1),
)
#: The pairs, the left sentence first. Each sentence is in two pairs, never in two in a row.
PAIRS = ((0, 1), (2, 3), (4, 0), (1, 2), (3, 4))
TITLE, LANGUAGE = "Five pairs to try", "en"
#: The key of the study of the five pairs, and its owner, an account that cannot be used.
TOKEN, OWNER = UUID("f0f5a1c2-5e3b-4d57-9a52-6d1c1be2f5aa"), "five-pairs"


@cache
def topic() -> dict[str, Any]:
    """The topic, from the file next to the code."""
    with studies.EXAMPLE.open() as file:
        return dict(json.loads(file.readline()))


@cache
def sentences() -> tuple[str, ...]:
    """The five sentences."""
    texts = {document["id"]: document["text"] for document in topic()["documents"]}
    return tuple(cut(texts[name], LANGUAGE)[index].text for name, index in SENTENCES)


def first_pair() -> Assignment:
    """The first pair as the start page shows it, before anything is stored."""
    study = Study(title=TITLE, question=QUESTION, ties_allowed=True)
    first, second = (Item(text=sentences()[place]) for place in PAIRS[0])
    shown = ItemSet(study=study, of="sentences", topic=Topic(study=study, title=topic()["title"]))
    return Assignment(
        annotator=Annotator(study=study), item_set=shown, pair=Pair(first=first, second=second), swapped=False
    )


def study() -> Study:
    """The study of the pairs; stored when a visitor first tries them."""
    stored = Study.objects.filter(form_token=TOKEN)
    try:
        return stored.first() or _store()
    except (IntegrityError, Refusal):  # another process stored it just now
        return stored.get()


@transaction.atomic
def _store() -> Study:
    owner, _is_new = User.objects.get_or_create(username=OWNER, defaults={"is_active": False, "password": "!"})
    asked: dict[str, Any] = {"ties_allowed": True, "pairs_per_annotator": len(PAIRS)}
    study = studies.make_study(owner, form_token=TOKEN, title=TITLE, language=LANGUAGE, **asked)
    documents = tuple(formats.Text(text["id"], text["text"]) for text in topic()["documents"])
    bundle = formats.Bundle(topics=(formats.Topic(topic()["topic_id"], documents, title=topic()["title"]),))
    imports.store(study, bundle)
    return study


def start() -> Annotator:
    """A new trial of the five pairs."""
    own = study()
    rows = Item.objects.filter(item_set__study=own)
    asked = [rows.get(document__name=name, index=index) for name, index in SENTENCES]
    return judging.start_trial(own, pairs=[(asked[left], asked[right]) for left, right in PAIRS])


# The result of the answers


@dataclass(frozen=True)
class Tried:
    """A sentence, how often it was preferred (a tie is half), in how many answers, and the systems that use it."""

    text: str
    preferred: float
    asked: int
    systems: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What a trial's answers say of sentences and systems; a system has (name, its sentences' wins less losses)."""

    answered: int
    sentences: tuple[Tried, ...]
    systems: tuple[tuple[str, float], ...]

    @property
    def is_circle(self) -> bool:
        """Whether all was answered and no sentence was preferred more often than another."""
        return self.answered == len(PAIRS) and len({sentence.preferred for sentence in self.sentences}) == 1


def result_of(trial: Annotator) -> Result:
    """The result, best first; skipped pairs, and pairs in their place, do not count."""
    judged = Judgment.objects.filter(assignment__annotator=trial, assignment__state=Assignment.State.JUDGED)
    columns = ("answer", "assignment__swapped", "assignment__pair__first__text", "assignment__pair__second__text")
    last = judged.filter(revision=F("assignment__revision")).values_list(*columns)
    answers = [row for row in last if set(row[2:]) <= set(sentences())]
    won, times = dict.fromkeys(sentences(), 0.0), Counter[str]()
    for answer, swapped, first, second in answers:
        share = share_of_first(answer, swapped)
        won[first], won[second] = won[first] + share, won[second] + 1 - share
        times.update((first, second))
    rows = [Tried(text, won[text], times[text], systems_that_say(text)) for text in sentences()]
    rows.sort(key=lambda row: row.asked - 2 * row.preferred)
    points = {name: sum(2 * row.preferred - row.asked for row in rows if name in row.systems) for name in _summaries()}
    ranked = sorted(points.items(), key=lambda pair: (-pair[1], pair[0]))
    return Result(len(answers), tuple(rows), tuple(ranked))


@cache
def _summaries() -> dict[str, str]:
    return {summary["system"]: " ".join(summary["text"].split()) for summary in topic()["summaries"]}


def systems_that_say(sentence: str) -> tuple[str, ...]:
    """The systems whose summary contains the sentence word for word."""
    return tuple(name for name, text in _summaries().items() if " ".join(sentence.split()) in text)


@cache
def leaderboard() -> tuple[tuple[str, float, float, float], ...]:
    """The demo's leaderboard as downloaded: system, score and its interval, best first."""
    with studies.EXAMPLE.with_name("leaderboard.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        return tuple((row["system"], float(row["score"]), float(row["low"]), float(row["high"])) for row in rows)
