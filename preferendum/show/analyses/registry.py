"""Every analysis, in the order of menus and of the API's list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from preferendum import plugin
from preferendum.formats.words import gettext, gettext_noop
from preferendum.show.analyses import (
    about_annotators,
    annotator_agreement,
    annotator_groups,
    both_questions,
    coverage,
    forecast,
    influence,
    judge_card,
    metric_scores,
    misfits,
    score_map,
    smallest_set,
    two_systems,
)
from preferendum.show.shown import Shown


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis and its question.

    `name`: in addresses, files and the API; `place`: in menus, the smallest first; `of`: what it is computed for;
    `title`: in a menu; `asks`: the question; `keys`: what its records are kept by, such as the dimension of human
    scores; `show`: a record and the reader's choices, as tables and figures; `needs`: what there must be before
    there is a record; `left_out`: when the website leaves it to the command line; `ability`: what a member must be
    able to do to see it; `template`: what pages have in addition; `form`: the template of a reader's choices;
    `page`: where its page is, in a menu, on the leaderboard or below Metrics, "": only files and the API; `record`:
    what the worker computes from all scores at once, for each choice of peers; others have a reader of their own.
    """

    name: str
    place: int
    asks: str
    show: Callable[[Any, Mapping[str, str]], Shown]
    needs: str
    keys: tuple[str, ...] = ()
    title: str = ""
    left_out: str = ""
    of: Literal["study", "topic"] = "study"
    ability: str = "see"
    template: str = ""
    form: str = ""
    page: Literal["results", "board", "people", "metrics", ""] = "metrics"
    record: type[Any] | None = None

    @property
    def question(self) -> str:
        """In the reader's language, as what follows."""
        return gettext(self.asks)


HUMAN_SCORES = gettext_noop("Upload what people think of the summaries, for example grades for relevance.")
_JUDGMENTS = gettext_noop("This needs a judgment that counts.")
_TWO_ANNOTATORS = gettext_noop("Agreement needs two annotators who judged the same pairs, and a running worker.")
_QUESTIONNAIRE = gettext_noop("Ask annotators about themselves, under Settings.")

_CORE = (
    Analysis(
        name="scores-of-summaries",
        place=30,
        title=gettext_noop("Scores"),
        asks=gettext_noop("What do metrics and human scores say of each summary?"),
        keys=("topic", "system"),
        show=metric_scores.show,
        needs=gettext_noop("Upload summaries. The worker then scores them with every metric that has what it needs."),
    ),
    Analysis(
        name="two-systems",
        place=80,
        page="results",
        title=gettext_noop("Compare"),
        asks=gettext_noop("How far is one system ahead of another?"),
        keys=("scored_by",),
        show=two_systems.show,
        needs=_JUDGMENTS,
    ),
    Analysis(
        name="forecast",
        place=85,
        page="results",
        title=gettext_noop("Forecast"),
        asks=gettext_noop("How many judgments does the study need?"),
        show=forecast.show,
        needs=gettext_noop("This takes answers about two systems, or a study that the worker has simulated."),
        form="research/results/forecast_form.html",
    ),
    Analysis(
        name="judge-cards",
        place=87,
        page="results",
        title=gettext_noop("Judges"),
        asks=gettext_noop("How far does a machine judge as people do?"),
        keys=("judge",),
        show=judge_card.show,
        needs=gettext_noop("This needs answers about whole summaries by a machine, and by people."),
    ),
    Analysis(
        name="both-questions",
        place=90,
        page="",
        asks=gettext_noop("Do whole summaries and sentences order systems alike?"),
        show=both_questions.show,
        needs=gettext_noop("Ask annotators about sentences and about whole summaries."),
    ),
    Analysis(
        name="scores-by-topic",
        place=100,
        page="board",
        title=gettext_noop("By topic"),
        asks=gettext_noop("How does each system score in each topic?"),
        keys=("scored_by",),
        show=score_map.show,
        needs=_JUDGMENTS,
        template="research/results/score_map.html",
    ),
    Analysis(
        name="influence",
        place=110,
        page="",
        asks=gettext_noop("Does the first place hang on single annotators?"),
        show=influence.show,
        needs=_JUDGMENTS,
    ),
    Analysis(
        name="smallest-set",
        place=120,
        page="",
        asks=gettext_noop("On how few answers does first place rest?"),
        show=smallest_set.show,
        needs=_JUDGMENTS,
    ),
    Analysis(
        name="agreement-of-annotators",
        place=130,
        page="people",
        title=gettext_noop("Agreement"),
        asks=gettext_noop("How well do annotators agree?"),
        show=annotator_agreement.show,
        needs=_TWO_ANNOTATORS,
        ability="annotators",
        template="monitor/heat_map.html",
    ),
    Analysis(
        name="about-annotators",
        place=140,
        page="people",
        title=gettext_noop("Questionnaire"),
        asks=gettext_noop("What do annotators say about themselves?"),
        show=about_annotators.show,
        needs=_QUESTIONNAIRE,
        ability="annotators",
    ),
    Analysis(
        name="groups-of-annotators",
        place=150,
        page="people",
        title=gettext_noop("Groups"),
        asks=gettext_noop("How does each group of annotators rank the systems?"),
        keys=("question",),
        show=annotator_groups.show,
        needs=_QUESTIONNAIRE,
        left_out=gettext_noop("No question has two groups of three people or more whose judgments count."),
        ability="annotators",
    ),
    Analysis(
        name="coverage",
        place=160,
        page="",
        asks=gettext_noop("Do judgments tie the sentences of each topic together?"),
        show=coverage.show,
        needs=_JUDGMENTS,
        ability="annotators",
    ),
    Analysis(
        name="misfits",
        place=170,
        page="",
        asks=gettext_noop("Which sentences won more or less often than their utility predicts?"),
        show=misfits.show,
        needs=_JUDGMENTS,
        ability="annotators",
    ),
    Analysis(
        name="metrics",
        place=180,
        title=gettext_noop("Metrics"),
        asks=gettext_noop("What do metrics and human scores say of each summary?"),
        show=metric_scores.show,
        needs=gettext_noop("Upload summaries. The worker then scores them with every metric that has what it needs."),
        left_out=gettext_noop("Nobody scored these summaries, and no metric did so far."),
        of="topic",
    ),
)
_analyses: dict[str, Analysis] = {own.name: own for own in _CORE}


def register(analysis: Analysis) -> None:
    """Add an analysis of the plug-in; its place in menus is `Analysis.place`."""
    _analyses[analysis.name] = analysis


def _of(kind: str) -> tuple[Analysis, ...]:
    plugin.load()
    return tuple(sorted((own for own in _analyses.values() if own.of == kind), key=lambda own: own.place))


def of_study() -> tuple[Analysis, ...]:
    """The analyses of a study, in their order."""
    return _of("study")


def of_topic() -> tuple[Analysis, ...]:
    """The analyses of a topic, in the same order."""
    return _of("topic")
