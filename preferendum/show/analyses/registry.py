"""Every analysis, in the order of the page of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from preferendum.formats.words import gettext, gettext_noop
from preferendum.results import AssessorsReport, DocumentSetsReport
from preferendum.show.analyses import (
    about_annotators,
    annotator_agreement,
    annotator_groups,
    assessors,
    both_questions,
    convergence,
    coverage,
    document_sets,
    forecast,
    influence,
    metric_agreement,
    metric_scores,
    misfits,
    score_map,
    sentence_ranking,
    smallest_set,
    system_pairs,
    two_systems,
)
from preferendum.show.shown import Shown


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis and its question.

    `name`: in addresses, files and the API; `of`: what it is computed for; `title`: in menus; `asks`: the question;
    `keys`: what its records are kept by, such as the dimension of human scores; `show`: a record and the reader's
    choices, as tables and figures; `needs`: what there must be before there is a record; `left_out`: when the website
    leaves it to the command line; `ability`: what a member must be able to do to see it; `template`: what pages have in
    addition; `form`: the template of a reader's choices; `tab`: which tab of a study lists it, `is_folded`: for
    researchers of methods; `record`: what is computed from all scores at once, for each choice of peers; others have a
    reader and a kind of work of their own.
    """

    name: str
    title: str
    asks: str
    keys: tuple[str, ...]
    show: Callable[[Any, Mapping[str, str]], Shown]
    needs: str
    left_out: str = ""
    of: Literal["study", "topic"] = "study"
    ability: str = "see"
    template: str = ""
    form: str = ""
    tab: Literal["texts", "results", "people"] = "results"
    is_folded: bool = False
    record: type[Any] | None = None

    @property
    def takes_upload(self) -> bool:
        """Whether an upload may bring what it needs."""
        return not self.form and self.needs not in (_JUDGMENTS, _TWO_ANNOTATORS, _QUESTIONNAIRE)

    @property
    def question(self) -> str:
        """In the reader's language, as what follows."""
        return gettext(self.asks)


_HUMAN_SCORES = gettext_noop(
    "Upload what people think of the summaries, for example grades for relevance. This page then answers the question."
)
_JUDGMENTS = gettext_noop("Once a judgment counts, this page answers the question.")
_SCORED = gettext_noop("This needs judgments that count, and systems that they score.")
_TWO_ANNOTATORS = gettext_noop("Agreement needs two annotators who judged the same pairs, and a running worker.")
_QUESTIONNAIRE = gettext_noop("Ask annotators about themselves, under Settings. This page then rests on their answers.")

ANALYSES = (
    Analysis(
        name="metric-agreement",
        title=gettext_noop("Metrics"),
        asks=gettext_noop("Do metrics agree with human scores?"),
        keys=("dimension", "peers"),
        show=metric_agreement.show,
        needs=_HUMAN_SCORES,
        left_out=gettext_noop("No summary has both a human score and a score by a metric."),
    ),
    Analysis(
        name="convergence",
        is_folded=True,
        title=gettext_noop("Convergence"),
        asks=gettext_noop("How many judgments does agreement with human scores take?"),
        keys=("dimension", "peers"),
        show=convergence.show,
        needs=gettext_noop(
            "As soon as a topic with human scores has judgments, this page says how agreement grows with their number."
        ),
        left_out=gettext_noop(
            "No topic of at most 1,000 sentences has both judgments and human scores. The command line (converge) "
            "works with topics of any length."
        ),
    ),
    Analysis(
        name="scores-of-summaries",
        is_folded=True,
        title=gettext_noop("Scores"),
        asks=gettext_noop("What do metrics and human scores say of each summary?"),
        keys=("topic", "system"),
        show=metric_scores.show,
        needs=gettext_noop("Upload summaries. The worker then scores them with every metric that has what it needs."),
    ),
    Analysis(
        name="pairs-of-systems",
        is_folded=True,
        title=gettext_noop("Pairs of systems"),
        asks=gettext_noop("Which systems do human scores and metrics tell apart?"),
        keys=("peers",),
        show=system_pairs.show,
        needs=_HUMAN_SCORES,
        left_out=gettext_noop(
            "This needs at least two systems with human scores. With more than 200 systems, or many systems and many "
            "topics, the tests take too long for a page; use the command line (agree --pairs-of-systems)."
        ),
    ),
    Analysis(
        name="document-sets",
        is_folded=True,
        record=DocumentSetsReport,
        title=gettext_noop("Document sets"),
        asks=gettext_noop("Do scores depend on the topic?"),
        keys=("peers",),
        show=document_sets.show,
        needs=_HUMAN_SCORES,
        left_out=gettext_noop(
            "With more than 200 topics, or 10,000 scores by a metric, this takes too long for a page; use the command "
            "line (sets)."
        ),
    ),
    Analysis(
        name="assessors",
        is_folded=True,
        record=AssessorsReport,
        title=gettext_noop("Raters of summaries"),
        asks=gettext_noop("How consistent are assessors, and what changes without the worst?"),
        keys=("peers",),
        show=assessors.show,
        needs=_HUMAN_SCORES,
        left_out=gettext_noop(
            "With more than 100,000 ratings, or pairs of identical summaries, this takes too long for a page; use the "
            "command line (assessors)."
        ),
        ability="annotators",
    ),
    Analysis(
        name="forecast",
        title=gettext_noop("Forecast"),
        asks=gettext_noop("How many judgments does the study need?"),
        keys=("scored_by",),
        show=forecast.show,
        needs=gettext_noop("Have the worker simulate the study. This page then answers the question."),
        form="research/results/forecast_form.html",
    ),
    Analysis(
        name="two-systems",
        title=gettext_noop("Compare"),
        asks=gettext_noop("How far is one system ahead of another?"),
        keys=("scored_by",),
        show=two_systems.show,
        needs=_JUDGMENTS,
    ),
    Analysis(
        name="both-questions",
        is_folded=True,
        title=gettext_noop("Both questions"),
        asks=gettext_noop("Do whole summaries and sentences order systems alike?"),
        keys=(),
        show=both_questions.show,
        needs=gettext_noop(
            "Ask annotators about sentences and about whole summaries. Once answers to both count, this page answers "
            "the question."
        ),
    ),
    Analysis(
        name="scores-by-topic",
        title=gettext_noop("By topic"),
        asks=gettext_noop("How does each system score in each topic?"),
        keys=("scored_by",),
        show=score_map.show,
        needs=_JUDGMENTS,
        template="research/results/score_map.html",
    ),
    Analysis(
        name="influence",
        title=gettext_noop("Influence"),
        asks=gettext_noop("Does the first place hang on single annotators?"),
        keys=(),
        show=influence.show,
        needs=_JUDGMENTS,
        left_out=_SCORED,
    ),
    Analysis(
        name="smallest-set",
        title=gettext_noop("Smallest set"),
        asks=gettext_noop("On how few answers does first place rest?"),
        keys=(),
        show=smallest_set.show,
        needs=_JUDGMENTS,
        left_out=_SCORED,
    ),
    Analysis(
        name="agreement-of-annotators",
        tab="people",
        title=gettext_noop("Agreement"),
        asks=gettext_noop("How well do annotators agree?"),
        keys=(),
        show=annotator_agreement.show,
        needs=_TWO_ANNOTATORS,
        ability="annotators",
        template="monitor/heat_map.html",
    ),
    Analysis(
        name="about-annotators",
        tab="people",
        title=gettext_noop("Questionnaire"),
        asks=gettext_noop("What do annotators say about themselves?"),
        keys=(),
        show=about_annotators.show,
        needs=_QUESTIONNAIRE,
        ability="annotators",
    ),
    Analysis(
        name="groups-of-annotators",
        tab="people",
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
        tab="texts",
        title=gettext_noop("Coverage"),
        asks=gettext_noop("Do judgments tie the sentences of each topic together?"),
        keys=(),
        show=coverage.show,
        needs=_JUDGMENTS,
        ability="annotators",
    ),
    Analysis(
        name="misfits",
        tab="texts",
        title=gettext_noop("Misfitting sentences"),
        asks=gettext_noop("Which sentences won more or less often than their utility predicts?"),
        keys=(),
        show=misfits.show,
        needs=_JUDGMENTS,
        ability="annotators",
    ),
    Analysis(
        name="metrics",
        title=gettext_noop("Metrics"),
        asks=gettext_noop("What do metrics and human scores say of each summary?"),
        keys=(),
        show=metric_scores.show,
        needs=gettext_noop("Upload summaries. The worker then scores them with every metric that has what it needs."),
        left_out=gettext_noop("Nobody scored these summaries, and no metric did so far."),
        of="topic",
    ),
    Analysis(
        name="sentence-ranking",
        title=gettext_noop("Sentence ranking"),
        asks=gettext_noop("Are the sentences themselves ranked well?"),
        keys=(),
        show=sentence_ranking.show,
        needs=gettext_noop(
            "With references or a Pyramid, this page says how well the judgments order the topic’s source sentences by "
            "what those say."
        ),
        left_out=gettext_noop(
            "The topic has no sentences, or more than 1,000. The command line (sentences) does it for any number."
        ),
        of="topic",
    ),
)
OF_STUDY, OF_TOPIC = (tuple(own for own in ANALYSES if own.of == kind) for kind in ("study", "topic"))
#: Those that are worked out of all scores of a study at once (`Analysis.record`).
OF_ALL_SCORES = tuple(own for own in OF_STUDY if own.record is not None)
