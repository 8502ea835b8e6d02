"""The Human Evaluation Datasheet (Shimorina and Belz 2022), answered as far as the study knows.

The numbers are the datasheet's (version 2.0), the questions are asked in our own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotate.models import Recruitment
from annotate.reports import methods_section
from annotate.reports.study_facts import StudyFacts


@dataclass(frozen=True, slots=True)
class Question:
    """`answer` is empty where only the researcher knows."""

    number: str
    asked: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the datasheet."""

    title: str
    questions: Sequence[Question]


def datasheet(facts: StudyFacts) -> list[Section]:
    """All questions, with the answers that the study has."""
    return [
        Section(_("1 Paper and resources"), _resources()),
        Section(_("2 Systems"), _systems(facts)),
        Section(_("3.1 Sample of outputs"), _sample(facts)),
        Section(_("3.2 Evaluators"), _evaluators(facts)),
        Section(_("3.3 Design"), _design(facts)),
        Section(_("4.1 and 4.2 Quality criterion and mode"), _criterion()),
        Section(_("4.3 Responses"), _responses(facts)),
        Section(_("5 Ethics"), _ethics(facts)),
    ]


def markdown(facts: StudyFacts) -> str:
    """The datasheet as a file; what is open says so."""
    lines = [
        "# " + _("Human Evaluation Datasheet: %(study)s") % {"study": " ".join(facts.study.title.split())},
        _("Questions by the numbers of HEDS 2.0 (Shimorina and Belz 2022), in the words of Preferendum %(version)s.")
        % {"version": facts.program_version},
    ]
    for section in datasheet(facts):
        lines.append(f"## {section.title}")
        lines += [f"**{own.number} {own.asked}**\n\n{own.answer or open_answer()}" for own in section.questions]
    return "\n\n".join(lines) + "\n"


def open_answer() -> str:
    return _("[to be answered by you]")


def _resources() -> list[Question]:
    return [
        Question("1.1", _("Where is the paper?")),
        Question("1.2", _("Where are data, code and other resources?")),
        Question("1.3", _("Who filled this in, and whom can one ask?")),
    ]


def _systems(facts: StudyFacts) -> list[Question]:
    language = facts.study.language
    return [
        Question("2.1", _("What goes into the systems?"), _("Text: one or more documents of a topic.")),
        Question("2.2", _("What comes out?"), _("Text: a summary.")),
        Question("2.3", _("What is their task?"), _("Summarization.")),
        Question("2.4", _("Which languages go in?"), _("%(tag)s, unless a topic says otherwise") % {"tag": language}),
        Question(
            "2.5", _("Which languages come out?"), _("%(tag)s, unless a topic says otherwise") % {"tag": language}
        ),
    ]


def _sample(facts: StudyFacts) -> list[Question]:
    outputs = _("%(summaries)d summaries of %(systems)d systems and people on %(topics)d topics.") % {
        "summaries": facts.summaries, "systems": facts.systems, "topics": facts.topics,
    }  # fmt: skip
    shown = _(
        "Evaluators do not see the outputs: they judge pairs of source sentences, and outputs are scored from that."
    )
    return [
        Question("3.1.1", _("How many outputs of each system are evaluated?"), f"{outputs} {shown}"),
        Question("3.1.2", _("How were they chosen?")),
        Question("3.1.3", _("What is the statistical power of a sample of this size?")),
    ]


def _evaluators(facts: StudyFacts) -> list[Question]:
    recruited = {
        Recruitment.Platform.NONE: _("By invitation links."),
        Recruitment.Platform.PROLIFIC: _("On Prolific."),
    }
    training = (
        _("Guidelines before the first pair.") if facts.study.guidelines else _("The question, and how to answer.")
    )
    if facts.study.training and facts.practice_pairs:
        training += " " + _("%(n)d practice pairs with the expected answer; at least %(share)g of them must match.") % {
            "n": facts.practice_pairs, "share": facts.study.training_threshold,
        }  # fmt: skip
    platform = recruited.get(Recruitment.Platform(facts.platform), _("On a crowdsourcing platform or panel."))
    counted = _("%(annotators)d, with %(kinds)s.") % {
        "annotators": facts.annotators, "kinds": facts.rests_on.counted.words,
    }  # fmt: skip
    return [
        Question("3.2.1", _("How many evaluators are there?"), counted),
        Question("3.2.2", _("Are they experts, paid, known to you, or you yourselves?")),
        Question("3.2.3", _("How were they recruited?"), platform),
        Question("3.2.4", _("How were they prepared?"), training),
        Question("3.2.5", _("What else is known of them?")),
    ]


def _design(facts: StudyFacts) -> list[Question]:
    interface = _(
        "A web page (Preferendum %(version)s): the question above two sentences side by side, one above the other on a "
        "phone; a click or an arrow key prefers one; the document can be opened; an answer can be undone."
    ) % {"version": facts.program_version}
    return [
        Question("3.3.1", _("Was the design registered beforehand? Where?")),
        Question("3.3.2", _("How are responses collected?"), _("On web pages of Preferendum.")),
        Question("3.3.3", _("How is quality assured?"), " ".join(_quality(facts))),
        Question("3.3.4", _("What do evaluators see?"), interface),
        Question(
            "3.3.5",
            _("How free are they in when and how fast they work?"),
            _("Free: they may stop at any time and go on later, and no answer has to come within a time."),
        ),
        Question("3.3.6", _("Are they told that they can ask and comment?")),
        Question("3.3.7", _("Where do they work?"), _("At a place of their own choice, online.")),
        Question("3.3.8", _("If not there, under which conditions?"), _("Does not apply.")),
    ]


def _quality(facts: StudyFacts) -> Iterator[str]:
    study = facts.study
    if study.gold_share and facts.gold_pairs:
        yield _("Hidden gold pairs (share %(share)g of the work).") % {"share": study.gold_share}
    if study.repeat_share:
        yield _("Repeated pairs with sides swapped (share %(share)g).") % {"share": study.repeat_share}
    if study.reading_speed:
        yield _("Whoever answers faster than %(n)d characters a second is asked to read.") % {"n": study.reading_speed}
    if study.skips_in_a_row:
        yield _("Whoever skips %(n)d pairs in a row is thanked and leaves.") % {"n": study.skips_in_a_row}
    if study.weigh_annotators:
        yield _("Judgments are weighted by the reliability of their annotators.")
    yield _("Sides and order are random, and statistics of each annotator are looked at.")
    yield _("Excluded annotators: %(n)d.") % {"n": facts.excluded}


def _criterion() -> list[Question]:
    return [
        Question("4.1.1", _("Correctness, goodness or a feature?"), _("Goodness.")),
        Question("4.1.2", _("Form, content, or both?"), _("Content.")),
        Question(
            "4.1.3",
            _("In its own right, or against the input or something outside?"),
            _("Relative to the input: the source documents."),
        ),
        Question("4.2.1", _("Objective or subjective?"), _("Subjective.")),
        Question("4.2.2", _("Absolute or relative?"), _("Relative.")),
        Question("4.2.3", _("Intrinsic or extrinsic?"), _("Intrinsic.")),
    ]


def _responses(facts: StudyFacts) -> list[Question]:
    values = [_("the first sentence"), _("the second sentence")]
    values += [_("equally important")] if facts.study.ties_allowed else []
    scores = methods_section.scores(facts)
    return [
        Question("4.3.1", _("What is the criterion called?"), _("Importance of information.")),
        Question("4.3.2", _("How is it explained to evaluators?"), facts.study.guidelines),
        Question("4.3.3", _("How many values can an answer have?"), str(len(values))),
        Question("4.3.4", _("Which values?"), ", ".join(values)),
        Question("4.3.5", _("How are they presented?"), _("As a choice of exactly one.")),
        Question("4.3.6", _("If there is no scale, what do evaluators do?"), _("Does not apply.")),
        Question("4.3.7", _("What exactly are they asked each time?"), facts.study.question),
        Question("4.3.8", _("What form has a response?"), _("Relative: which of two sentences is better.")),
        Question("4.3.9", _("How do responses become scores?"), scores),
        Question(
            "4.3.10",
            _("How are effect sizes and significance determined?"),
            _("95% intervals of scores; two-sided tests of differences, adjusted for their number (Holm)."),
        ),
        Question(
            "4.3.11",
            _("How far do evaluators agree with each other and with themselves?"),
            methods_section.agreement(facts) or _("Not measured: hardly any pair was judged twice."),
        ),
    ]


def _ethics(facts: StudyFacts) -> list[Question]:
    kept = _("Annotators appear under pseudonyms.")
    consent = _("Annotators agree to a text about it before they begin.") if facts.has_consent else ""
    return [
        Question("5.1", _("Which ethics committee approved it?")),
        Question("5.2", _("Are there personal data, and how are they treated?")),
        Question("5.3", _("Are there special categories of personal data?")),
        Question("5.4", _("Was an impact assessment made?")),
        Question("", _("What the study knows about this"), f"{kept} {consent}".strip()),
    ]
