"""Five pairs of the demo's first topic for whoever has no study, and what their answers come to. Nothing is stored."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from annotate.judging.trying import Trial
from annotate.models import GoldPair, Pair, Sentence, SourceDocument, Study, Topic
from formats.answers import share_of_first
from formats.sentences import cut
from formats.settings import QUESTION

FOLDER = Path(settings.BASE_DIR) / "annotate" / "demo"
#: Sentences that can be understood on their own and are in summaries of nine of the ten systems, by document and place.
SENTENCES = (
    ("M0008.english", 0),
    ("M0009.english", 0),
    ("M0006.english", 3),
    ("M0005.english", 0),
    ("M0001.english", 1),
)
#: Which of them are asked together. Each is in two pairs, never in two that follow one another.
PAIRS = ((0, 1), (2, 3), (4, 0), (1, 2), (3, 4))
LANGUAGE = "en"


@dataclass(frozen=True)
class Demo:
    """The demo's first topic, without rows: sentences by document, those that are asked, systems' summaries."""

    study: Study
    topic: Topic
    documents: dict[str, list[Sentence]]
    asked: list[Sentence]
    summaries: dict[str, str]


@cache
def load() -> Demo:
    """Read and cut the topic, once in a process."""
    with (FOLDER / "wikinews.jsonl").open() as file:
        given = json.loads(file.readline())
    study = Study(title=_("Five pairs to try"), question=QUESTION, ties_allowed=True, pairs_per_annotator=len(PAIRS))
    topic = Topic(study=study, name=given["topic_id"], title=given["title"])
    documents = {text["id"]: _sentences(topic, text["id"], text["text"]) for text in given["documents"]}
    asked = [documents[name][index] for name, index in SENTENCES]
    summaries = {summary["system"]: " ".join(summary["text"].split()) for summary in given["summaries"]}
    return Demo(study, topic, documents, asked, summaries)


def _sentences(topic: Topic, name: str, text: str) -> list[Sentence]:
    document = SourceDocument(topic=topic, name=name)
    return [
        Sentence(
            pk=index, topic=topic, document=document, index=index, paragraph=sentence.paragraph, text=sentence.text
        )
        for index, sentence in enumerate(cut(text, LANGUAGE))
    ]


@dataclass(frozen=True)
class DemoPairs:
    """Five pairs of five sentences; the seed decides which stands on which side."""

    practice: Sequence[GoldPair] = ()
    length: int = len(PAIRS)

    @property
    def study(self) -> Study:
        return load().study

    def draw(self, seed: int, number: int) -> Pair:
        first, second = (load().asked[place] for place in PAIRS[number])
        return Pair(topic=load().topic, first=first, second=second)

    def sentences_around(self, sentence: Sentence) -> Sequence[Sentence]:
        return load().documents[sentence.document.name]


# What five answers come to


@dataclass(frozen=True)
class Tried:
    """A sentence, how often it was preferred (a tie is half), in how many answers, and systems that say it."""

    text: str
    preferred: float
    asked: int
    systems: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What the answers of a trial say of sentences, and of systems: each has (name, won less lost) of its sentences."""

    answered: int
    sentences: tuple[Tried, ...]
    systems: tuple[tuple[str, float], ...]

    @property
    def is_circle(self) -> bool:
        """Whether all was answered and no sentence was preferred more often than another."""
        return self.answered == len(PAIRS) and len({sentence.preferred for sentence in self.sentences}) == 1


def result_of(trial: Trial) -> Result:
    """What the answers come to, best first; skipped pairs count for nothing."""
    asked = load().asked
    won, times = [0.0] * len(asked), [0] * len(asked)
    for number, answer in enumerate(trial.answers):
        if answer != "skip":
            first, second = PAIRS[number]
            share = _share_of_first(trial, number, answer)
            won[first], won[second] = won[first] + share, won[second] + 1 - share
            times[first], times[second] = times[first] + 1, times[second] + 1
    rows = [
        Tried(sentence.text, won[place], times[place], systems_that_say(sentence.text))
        for place, sentence in enumerate(asked)
    ]
    points = {
        name: sum(2 * row.preferred - row.asked for row in rows if name in row.systems) for name in load().summaries
    }
    ranked = sorted(points.items(), key=lambda pair: (-pair[1], pair[0]))
    rows.sort(key=lambda row: row.asked - 2 * row.preferred)
    return Result(sum(answer != "skip" for answer in trial.answers), tuple(rows), tuple(ranked))


def _share_of_first(trial: Trial, number: int, answer: str) -> float:
    return share_of_first(answer, trial.is_swapped(number))


def systems_that_say(sentence: str) -> tuple[str, ...]:
    """The systems in whose summary the sentence stands word for word."""
    return tuple(name for name, text in load().summaries.items() if " ".join(sentence.split()) in text)


@cache
def leaderboard() -> tuple[tuple[str, float, float, float], ...]:
    """The demo's leaderboard as it was downloaded: system, score and its interval, best first."""
    with (FOLDER / "leaderboard.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        return tuple((row["system"], float(row["score"]), float(row["low"]), float(row["high"])) for row in rows)
