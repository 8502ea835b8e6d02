"""The settings of a study: the one place that declares their names, types, defaults, bounds and choices.

Archives, the command line, the mathematics, forms, pages and the API take from here what they need; the columns of
`annotate.models.Study`, which add the words that people read, are held to it by a test. So adding a setting is a line
here, a column there with its migration, and the code that acts on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, get_args, get_type_hints

from preferendum.formats.checks.limits import QUESTION_CHARACTERS
from preferendum.formats.reasons import WORDS_CHARACTERS
from preferendum.formats.records import Extra
from preferendum.formats.words import gettext_noop

Group = Literal["asked", "judging", "quality", "scoring", "stopping", "metrics"]
ScoreChoice = Literal["importance", "combined", "coverage", "published"]
SmoothChoice = Literal["kernel", "paper", "none"]
SimilarityChoice = Literal["tfidf-jaccard", "tfidf", "jaccard"]
Compares = Literal["sentences", "summaries", "both"]
CountedKinds = Literal["people", "people-and-machines", "people-and-simulated", "machines", "simulated", "all"]

#: The kinds of annotators whose judgments count, by the choice of a study. The first one leads: the study wants its
#: judgments, and agreement and influence are computed among its annotators.
KINDS_COUNTED: Mapping[CountedKinds, tuple[str, ...]] = {
    "people": ("human",),
    "people-and-machines": ("human", "machine"),
    "people-and-simulated": ("human", "simulated"),
    "machines": ("machine",),
    "simulated": ("simulated",),
    "all": ("human", "machine", "simulated"),
}

#: The default question to annotators, from the paper.
QUESTION = gettext_noop("Which of these two sentences contains more important information?")
#: The same of whole summaries.
SUMMARY_QUESTION = gettext_noop("Which summary tells you more of what is important?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The declaration of one setting.

    `low`, `high`: bounds of a number, or of the length of a text. `group`: the part of a form with it.
    `changes_fits`: whether the same judgments give other scores. `is_share`: people read and type it in percent.
    Of scoring: `published`, its value in Zopf (2018); `idle`, values of others with which it has no effect; `about`,
    what it does, for the command line.
    """

    name: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    group: Group = "scoring"
    changes_fits: bool = False
    is_share: bool = False
    published: Any = None
    idle: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""

    @property
    def type(self) -> type:
        return type(self.default)

    @property
    def option(self) -> str:
        """Its name on the command line, without the dashes before it."""
        return self.name.replace("_", "-")

    def number(self, text: str) -> float:
        """The text as a number within the bounds. Raises `ValueError` with a message."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if self.low <= value <= self.high:
            return value
        raise ValueError(f"{text!r} is not a number from {self.low:g} to {self.high:g}")


def _scoring(about: str, **declared: Any) -> Setting:
    return Setting(about=about, changes_fits=True, **declared)


def _asked(**declared: Any) -> Setting:
    return Setting(group="asked", **declared)


def _judging(**declared: Any) -> Setting:
    return Setting(group="judging", **declared)


def _quality(**declared: Any) -> Setting:
    return Setting(group="quality", **declared)


def _stopping(**declared: Any) -> Setting:
    return Setting(group="stopping", **declared)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """How judgments become scores; docs/model.md says what each setting does."""

    score: Annotated[ScoreChoice, _scoring("what systems are ranked by", published="published")] = "importance"
    smooth: Annotated[SmoothChoice, _scoring("how judgments spread to similar sentences", published="paper")] = "kernel"
    prior: Annotated[
        float,
        _scoring(
            "virtual wins, and as many losses, of every sentence against one of utility 0; 0 for none; smoothing by "
            "kernel has a prior of its own",
            low=0,
            high=1000,
            published=0.0,
            idle={"smooth": "kernel"},
        ),
    ] = 1.0
    similarity: Annotated[SimilarityChoice, _scoring("how the similarity of sentences is measured")] = "tfidf-jaccard"
    weigh_annotators: Annotated[bool, _scoring("weight judgments by the annotators' reliability")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings(Scoring):
    """What a study asks of people, and how their answers become scores. `extra`: unknown keys, kept for others."""

    title: Annotated[str, _asked(high=200)] = ""
    compares: Annotated[Compares, _asked()] = "sentences"
    question: Annotated[str, _asked(high=QUESTION_CHARACTERS)] = QUESTION
    summary_question: Annotated[str, _asked(high=QUESTION_CHARACTERS)] = SUMMARY_QUESTION
    language: Annotated[str, _asked(high=35)] = "en"
    guidelines: Annotated[str, _asked(high=20_000)] = ""
    guidelines_first: Annotated[bool, _asked()] = False

    ties_allowed: Annotated[bool, _judging()] = False
    neither_allowed: Annotated[bool, _judging()] = False
    reason_words: Annotated[str, _judging(high=WORDS_CHARACTERS)] = ""
    reason_note: Annotated[bool, _judging()] = False
    show_progress: Annotated[bool, _judging()] = True
    judgments_per_topic: Annotated[int, _judging(low=1, high=1_000_000)] = 300
    summary_judgments_per_topic: Annotated[int, _judging(low=1, high=1_000_000)] = 10
    summary_share: Annotated[float, _judging(low=0, high=1, is_share=True)] = 0.5
    judgments_per_pair: Annotated[int, _judging(low=1, high=100)] = 1
    pairs_per_annotator: Annotated[int, _judging(low=1, high=100_000)] = 30
    random_share: Annotated[float, _judging(low=0, high=1, is_share=True)] = 0.2
    seed: Annotated[int, _judging(low=0, high=2**63 - 1, changes_fits=True)] = 0
    counted_kinds: Annotated[CountedKinds, _judging(changes_fits=True)] = "people"

    stop_rule: Annotated[bool, _stopping(changes_fits=True)] = False
    equal_within: Annotated[float, _stopping(low=0, high=1)] = 0.0
    closes_when_decided: Annotated[bool, _stopping()] = False

    training: Annotated[bool, _quality()] = False
    training_threshold: Annotated[float, _quality(low=0, high=1, is_share=True)] = 0.6
    gold_share: Annotated[float, _quality(low=0, high=0.5, is_share=True)] = 0.0
    shared_share: Annotated[float, _quality(low=0, high=0.5, is_share=True)] = 0.2
    repeat_share: Annotated[float, _quality(low=0, high=0.5, is_share=True)] = 0.05
    reading_speed: Annotated[int, _quality(low=0, high=10_000)] = 100
    skips_in_a_row: Annotated[int, _quality(low=0, high=1_000)] = 10
    person_cap: Annotated[float, _quality(low=0, high=1, is_share=True)] = 0.05
    judgments_per_hour: Annotated[int, _quality(low=0, high=100_000)] = 0
    pilot: Annotated[bool, _quality()] = False

    metric_names: Annotated[str, Setting(group="metrics", high=500)] = (
        "rouge-1,rouge-2,rouge-su4,js,js-consensus,pyramid"
    )

    extra: Extra = field(default_factory=dict)


def _declared(settings: StudySettings) -> tuple[Setting, ...]:
    """The settings in the order of a form."""
    declared = []
    for name, hint in get_type_hints(StudySettings, include_extras=True).items():
        if isinstance(setting := getattr(hint, "__metadata__", (None,))[0], Setting):
            default, choices = getattr(settings, name), get_args(get_args(hint)[0])
            published = default if setting.published is None else setting.published
            declared.append(replace(setting, name=name, default=default, choices=choices, published=published))
    return tuple(sorted(declared, key=lambda setting: get_args(Group).index(setting.group)))


SETTINGS = _declared(StudySettings())
NAMES = [setting.name for setting in SETTINGS]
SHARES = {setting.name: setting for setting in SETTINGS if setting.is_share}
SCORING = tuple(setting for setting in SETTINGS if setting.group == "scoring")
#: Equations 2-5 of Zopf (2018), without a prior wherever there is a finite maximum without one.
PUBLISHED: Mapping[str, Any] = {setting.name: setting.published for setting in SCORING}


def as_word(value: Any) -> str:
    """A value as the command line and metrics write it: on, 0.1, kernel."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def counting(settings: Mapping[str, Any]) -> list[tuple[Setting, Any]]:
    """The scoring settings with their values; without those that are missing, or idle given the others."""
    idle = idle_among(settings)
    return [
        (setting, settings[setting.name]) for setting in SCORING if setting.name in settings and setting not in idle
    ]


def idle_among(settings: Mapping[str, Any]) -> list[Setting]:
    """The scoring settings that have no effect given the values of others."""
    return [setting for setting in SCORING if any(settings.get(name) == value for name, value in setting.idle.items())]
