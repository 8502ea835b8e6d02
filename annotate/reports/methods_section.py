"""The methods section of a paper, true of this study, in plain text and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from annotate.audit_log import SettingChange
from annotate.models import Assignment, Recruitment
from annotate.reports.method import name_in_words, phrase, value_in_words
from annotate.reports.study_facts import StudyFacts
from preferendum.formats.answers import ANSWERS, HALF, SUMMARY_ANSWERS, Answer
from preferendum.formats.settings import KINDS_COUNTED, QUESTION, SETTINGS, SUMMARY_QUESTION
from preferendum.metrics.names import title_of
from preferendum.results.scores import is_tested
from preferendum.results.statement import Answers, Judged
from preferendum.show import citations
from preferendum.show.analyses.annotator_agreement import verdict
from preferendum.show.citations import CITATIONS, PROGRAM, ZOPF
from preferendum.show.judge import in_words
from preferendum.show.latex import escaped
from preferendum.show.points import why_untested

#: How a sentence cites a publication, and several together.
_KEY = re.compile(r"\[\[([a-z0-9-]+)\]\]")
_MARK = re.compile(r"((?:\s*\[\[[a-z0-9-]+\]\])+)")
#: Settings whose value is a text.
_TEXTS = {setting.name for setting in SETTINGS if setting.type is str and not setting.choices}
ALPHA = "krippendorff-2004-content"
UTILITIES = "zermelo-1929-berechnung", "bradley-terry-1952-rank"
#: What the study does not know.
OPEN = gettext_noop("[to be answered by you]")
#: So many different questions of topics are all quoted.
FEW_QUESTIONS = 3
COUNT_MACHINES = {choice for choice, kinds in KINDS_COUNTED.items() if "machine" in kinds}
KERNEL, HOLM = "simpson-gurevych-2018-finding", "holm-1979-simple"


def plain(facts: StudyFacts) -> str:
    """The section as text; publications as (Zopf 2018)."""
    return _MARK.sub(_in_brackets, section(facts))


def latex(facts: StudyFacts) -> str:
    """The section for a paper in LaTeX; publications by their keys in the BibTeX file."""
    parts = _MARK.split(section(facts))
    return (
        "".join(
            f"~\\cite{{{','.join(_KEY.findall(part))}}}" if k % 2 else escaped(part) for k, part in enumerate(parts)
        )
        + "\n"
    )


def bibtex(facts: StudyFacts) -> str:
    """What the section cites, the papers of the study's metrics, and the program."""
    cited = _KEY.findall(section(facts))
    of_metrics = [key for name in facts.metrics if (key := citations.of_metric(name))]
    return citations.bibtex(
        [key for key in dict.fromkeys([*cited, *of_metrics]) if key in CITATIONS], facts.program_version
    )


def datasheet(facts: StudyFacts) -> str:
    """The Human Evaluation Datasheet (HEDS 2.0, Shimorina and Belz 2022) in Markdown, as far as the study knows."""
    parts = {"scores": [*_scores(facts), *_ranking(facts)], "agreement": _agreement(facts)}
    judged = " ".join((*_given(facts), *_machines(facts)))
    texts = {name: _MARK.sub(_in_brackets, " ".join(sentences)) for name, sentences in parts.items()}
    usual = {"sentences": QUESTION, "summaries": SUMMARY_QUESTION}
    forms, elsewhere = list(_forms(facts).values()), " ".join(_elsewhere(facts))
    return render_to_string(
        "research/studies/datasheet.md",
        {
            "facts": facts,
            "open": _(OPEN),
            "outputs": _("%(outputs)s on %(topics)s")
            % {"outputs": _outputs(facts), "topics": _n(facts.topics, "topic")},
            "judged": judged,
            "recruitment": recruitment(facts),
            "elsewhere": elsewhere,
            "beside": f" {elsewhere}" if elsewhere else "",
            "own_questions": _own_questions(facts),
            "is_usual": not facts.own_questions
            and all(facts.study.questions.get(of) == usual[of] for of in facts.compared),
            "names": [[_(answer.name) for answer in _answers(facts, of).values()] for of in facts.asked_here],
            "has_intervals": any(form.has_intervals for form in forms),
            "has_tests": any(form.has_tests for form in forms),
            **texts,
        },
    )


def _elsewhere(facts: StudyFacts) -> Iterator[str]:
    """What a datasheet says of how judgments were collected that people did not give here."""
    counted = facts.answers.rests_on.counted if facts.answers else Judged()
    if not counted.total:
        yield _(OPEN)
    if counted.imported:
        yield _("Imported judgments: %(open)s") % {"open": _(OPEN)}
    if counted.machine:
        described = "; ".join(f"{own.name} ({in_words(own.about) or _(OPEN)})" for own in facts.machines)
        yield _("Judgments by machines: %(known)s.") % {"known": described or _(OPEN)}
    if counted.simulated:
        yield _("Simulated judgments: does not apply.")


def _in_brackets(match: re.Match[str]) -> str:
    cited = [CITATIONS[key].short for key in _KEY.findall(match[1]) if key in CITATIONS]
    return f" ({'; '.join(cited)})" if cited else ""


def section(facts: StudyFacts) -> str:
    """A paragraph each on the material, annotators, pairs, estimates, their uncertainty, and settings, as far as there
    is something to say; publications stand in it as [[key]]."""
    paragraphs = (
        _material(facts),
        (*_judged(facts), *_machines(facts), *_checks(facts), *_agreement(facts)),
        (*_pairs(facts), *_drawn(facts)),
        _scores(facts),
        (*_ranking(facts), *_metrics(facts)),
        (*_settings(facts), *_changes(facts)),
    )
    return "\n\n".join(text for sentences in paragraphs if (text := " ".join(sentences)))


def _material(facts: StudyFacts) -> Iterator[str]:
    if facts.only_answers:
        yield _(
            "We ranked %(systems)s by pairwise preferences that were given elsewhere. The texts that these are about, "
            "and the question that was asked, are not part of the data."
        ) % {"systems": _authors(facts)}
        return
    texts = {
        ("sentences",): _("source sentences [[%(key)s]]"),
        ("summaries",): _("whole summaries"),
        ("sentences", "summaries"): _("source sentences [[%(key)s]] and of whole summaries"),
    }[tuple(facts.compared)] % {"key": ZOPF}
    counted = facts.answers.rests_on.counted if facts.answers else Judged()
    if not facts.questions:
        opening = _("Summaries are to be evaluated by pairwise preferences of %(texts)s.")
    elif not facts.summaries:
        opening = _("We collected pairwise preferences of %(texts)s.")
    elif counted.simulated == counted.total:
        opening = _("We evaluated summaries by simulated pairwise preferences of %(texts)s.")
    else:
        opening = _("We evaluated summaries by pairwise preferences of %(texts)s.")
    yield opening % {"texts": texts}
    sources = {
        "topics": _n(facts.topics, "topic"),
        "documents": _n(facts.documents, "document"),
        "sentences": _n(facts.sentences, "sentence"),
    }
    material = (_("%(topics)s with %(documents)s and %(sentences)s") if facts.documents else "%(topics)s") % sources
    if facts.summaries:
        material = _("%(sources)s, and %(outputs)s") % {"sources": material, "outputs": _outputs(facts)}
    yield _("The material has %(material)s.") % {"material": material}
    yield from filter(None, [_own_questions(facts)])


def _outputs(facts: StudyFacts) -> str:
    """The summaries, by the systems that wrote them and the people who did."""
    if not facts.summaries:
        return _n(0, "summary")
    return _("%(summaries)s by %(authors)s") % {"summaries": _n(facts.summaries, "summary"), "authors": _authors(facts)}


def _authors(facts: StudyFacts) -> str:
    number = facts.systems - facts.human_systems
    people = ngettext("%(n)d person", "%(n)d people", facts.human_systems) % {"n": facts.human_systems}
    return _listed([*([_n(number, "system")] if number else []), *([people] if facts.human_systems else [])])


def _own_questions(facts: StudyFacts) -> str:
    """How many topics have a question of their own, and which; "" if none has."""
    number = sum(facts.own_questions.values())
    if not number:
        return ""
    quoted = [f"“{own}”" for own in facts.own_questions]
    is_each = len(quoted) <= FEW_QUESTIONS
    sentence = (
        ngettext(
            "%(n)s of %(topics)s has a question of its own: %(questions)s.",
            "%(n)s of %(topics)s have a question of their own: %(questions)s.",
            number,
        )
        if is_each
        else ngettext(
            "%(n)s of %(topics)s has a question of its own, such as %(questions)s.",
            "%(n)s of %(topics)s have a question of their own, such as %(questions)s.",
            number,
        )
    )
    about = {"n": f"{number:,}", "topics": _n(facts.topics, "topic")}
    parts = [sentence % (about | {"questions": _listed(quoted if is_each else quoted[:1])})]
    if "sentences" in (facts.asked_here if facts.questions else facts.compared):
        parts.append(_("About sentences, a topic’s own question is asked in place of the study’s."))
    if "summaries" in facts.asked_here and not facts.documents:
        parts.append(_("A topic’s own question stands above its summaries."))
    return _closed(" ".join(parts))


def _closed(text: str) -> str:
    """The text without a full stop after a quotation that ends with a mark of its own."""
    return re.sub("([?.!…]”)\\.", r"\1", text)


def _answers(facts: StudyFacts, of: str) -> dict[str, Answer]:
    """The answers that the study allows to one question."""
    named = SUMMARY_ANSWERS if of == "summaries" else ANSWERS
    return {key: named[key] for key in facts.study.answers}


def _pairs(facts: StudyFacts) -> Iterator[str]:
    """What annotators saw, of each question: only of those who judged here is that known."""
    if facts.only_answers:
        return
    for of, question in (("sentences", facts.study.question), ("summaries", facts.study.summary_question)):
        if of in facts.questions or of in facts.study.questions:
            yield _closed(_asked(facts, of) % {"question": question})
    if facts.answers and facts.answers.rests_on.counted.imported:
        yield _("Imported judgments were collected elsewhere [say how].")
    if not facts.here:
        return
    for of in facts.asked_here:
        for answer in _answers(facts, of).values():
            if answer.share == HALF:
                template = _("“%(answer)s” is an answer, too, and counts as half a win for each side.")
                yield template % {"answer": capfirst(_(answer.name))}
    if facts.study.must_prefer:
        yield _("One of the two must be chosen.")
    if facts.study.reason_words or facts.study.reason_note:
        yield _("Annotators could give a reason with each answer.")


def _asked(facts: StudyFacts, of: str) -> str:
    own = facts.questions.get(of)
    counted = own.answers.rests_on.counted if own else Judged()
    if facts.questions and not own:
        return {
            "sentences": _("The question about two sentences of a topic has no answer that counts: “%(question)s”."),
            "summaries": _("The question about two summaries of a topic has no answer that counts: “%(question)s”."),
        }[of]
    if not counted.here:
        return {
            "sentences": _("The study’s question about two sentences of a topic is: “%(question)s”."),
            "summaries": _("The study’s question about two summaries of a topic is: “%(question)s”."),
        }[of]
    if of == "sentences" and facts.own_questions:
        return _(
            "People who judged here saw two sentences of a topic at a time and were asked, unless the topic has a "
            "question of its own: “%(question)s”."
        )
    if counted.here < counted.total:
        return {
            "sentences": _(
                "People who judged here saw two sentences of a topic at a time and were asked: “%(question)s”."
            ),
            "summaries": _(
                "People who judged here saw two summaries of a topic at a time and were asked: “%(question)s”."
            ),
        }[of]
    return {
        "sentences": _("Annotators saw two sentences of a topic at a time and were asked: “%(question)s”."),
        "summaries": _("Annotators saw two summaries of a topic at a time and were asked: “%(question)s”."),
    }[of]


def _given(facts: StudyFacts) -> Iterator[str]:
    """Who gave how many judgments."""
    if facts.answers is None:
        yield _("The worker has not counted the judgments yet.")
        return
    yield facts.answers.words
    counted = facts.answers.rests_on.counted
    if counted.total and not counted.human:
        yield _("No judgment by a person counts.")


def _judged(facts: StudyFacts) -> Iterator[str]:
    yield from _given(facts)
    answers = facts.answers
    if answers is None:
        return
    if answers.rests_on.counted.simulated:
        yield _("Simulated judgments were drawn by a program; nobody saw those pairs.")
    yield from _days(answers)
    if answers.recruited:
        yield recruitment(facts)
    if facts.excluded:
        yield ngettext(
            "%(n)d annotator was excluded, and none of their judgments counts.",
            "%(n)d annotators were excluded, and none of their judgments counts.",
            facts.excluded,
        ) % {"n": facts.excluded}
    if answers.rests_on.not_counted.total:
        kinds = answers.rests_on.not_counted.words
        yield _("Further judgments were kept and not counted: %(kinds)s.") % {"kinds": kinds}


def _machines(facts: StudyFacts) -> Iterator[str]:
    """Which machines judged, as what, and how often, whether their answers count or not."""
    for own in facts.machines:
        about = in_words(own.about)
        given = {"name": f"{own.name} ({about})" if about else own.name, "n": f"{own.answers:,}"}
        answers = ngettext("%(n)s answer", "%(n)s answers", own.answers) % given
        given |= {"answers": answers, "pairs": f"{own.both_orders:,}"}
        if own.both_orders:
            template = ngettext(
                "The machine %(name)s gave %(answers)s, about %(pairs)s pair in both orders.",
                "The machine %(name)s gave %(answers)s, about %(pairs)s pairs in both orders.",
                own.both_orders,
            )
            yield template % given
        else:
            yield _("The machine %(name)s gave %(answers)s.") % given
    if facts.machines and facts.study.counted_kinds not in COUNT_MACHINES:
        yield _("No answer by a machine counts; they are held against those by people.")


def _days(answers: Answers) -> Iterator[str]:
    """When those were given that were given here."""
    if not answers.first:
        return
    is_one = answers.first == answers.last
    if answers.random + answers.telling + answers.planned == answers.rests_on.counted.total:
        sentence = (
            _("The judgments were given on %(first)s.")
            if is_one
            else _("The judgments were given from %(first)s to %(last)s.")
        )
    elif is_one:
        sentence = _("Those that were not imported were given on %(first)s.")
    else:
        sentence = _("Those that were not imported were given from %(first)s to %(last)s.")
    yield sentence % {"first": answers.first, "last": answers.last}


def _drawn(facts: StudyFacts) -> Iterator[str]:
    """How pairs were drawn, without those imported from a file."""
    answers = facts.answers or Answers()
    if answers.planned:
        yield ngettext(
            "%(n)s judgment is about a pair of summaries chosen before the first answer, so that all systems come up "
            "equally often.",
            "%(n)s judgments are about pairs of summaries chosen before the first answer, so that all systems come up "
            "equally often.",
            answers.planned,
        ) % {"n": f"{answers.planned:,}"}
    if answers.telling:
        drawn = {"random": f"{answers.random:,}", "telling": f"{answers.telling:,}"}
        yield (
            _("Of the judgments %(random)s are about pairs drawn at random, %(telling)s about pairs chosen adaptively.")
            % drawn
        )
        if facts.summaries:
            yield _("The latter tell systems apart, with known probabilities that the scores correct for.")
    elif 0 < answers.random == answers.rests_on.counted.total:
        yield _("All pairs were drawn at random.")


def _checks(facts: StudyFacts) -> Iterator[str]:
    """What was done about care, of those who judged here."""
    if not facts.here:
        return
    if Assignment.Reason.TRAINING in facts.checks and facts.practice_pairs and facts.study.training:
        yield ngettext(
            "People who judged here began with %(n)d practice pair.",
            "People who judged here began with %(n)d practice pairs.",
            facts.practice_pairs,
        ) % {"n": facts.practice_pairs}
    if Assignment.Reason.GOLD in facts.checks:
        yield _("Gold pairs with an expected answer were hidden among the others and never counted.")


def _settings(facts: StudyFacts) -> Iterator[str]:
    if facts.unlike:
        phrases = "; ".join(phrase(setting.name, value) for setting, value in facts.unlike)
        yield _("Settings that differ from the recommended ones: %(settings)s.") % {"settings": phrases}
    else:
        yield _("All settings are the recommended ones.")


def _agreement(facts: StudyFacts) -> Iterator[str]:
    """What the page of agreement says, with the source of its coefficient."""
    if facts.agreement is None or not facts.agreement.study.pairs:
        return
    if facts.answers and facts.answers.rests_on.is_mixed and facts.answers.rests_on.counted.human:
        yield _("Agreement is among people alone.")
    yield verdict(facts.agreement).replace("alpha", f"alpha [[{ALPHA}]]", 1)


def _scores(facts: StudyFacts) -> Iterator[str]:
    if "sentences" in facts.questions:
        yield from _scores_by_sentences(facts, facts.questions["sentences"].score)
    if facts.only_answers and not facts.topics:
        yield _(
            "The answers were fitted by a Bradley–Terry model [[%(key)s]]; the score of a system is its win rate, how "
            "often it is preferred to another system."
        ) % {"key": UTILITIES[1]}
    elif "summaries" in facts.questions:
        yield _(
            "Whole summaries were scored under a Bradley–Terry model [[%(key)s]] with random effects of systems and of "
            "their summaries, fitted to all topics together; the score of a system is its win rate, how often its "
            "summary is preferred to that of another system on topics like these."
        ) % {"key": UTILITIES[1]}


class _Form(NamedTuple):
    """Whether a ranking has intervals and tests, by the worker's record of the question."""

    has_intervals: bool
    has_tests: bool

    @property
    def words(self) -> str:
        if self.has_tests:
            return _(
                "Systems are ranked by %(by)s, with 95%% intervals; differences between systems are tested two-sided "
                "and corrected for their number [[%(holm)s]]."
            )
        if self.has_intervals:
            return _("Systems are ranked by %(by)s, with 95%% intervals.")
        return _("Systems are ranked by %(by)s.")


def _forms(facts: StudyFacts) -> dict[str, _Form]:
    """The form of each ranking that the study has: of two systems or more."""
    return {
        of: _Form(own.halfwidth is not None, bool(own.headline.tests))
        for of, own in facts.questions.items()
        if own.systems > 1
    }


def _ranking(facts: StudyFacts) -> Iterator[str]:
    """How systems were ranked; then, of each question, why nothing is tested, and whom verdicts hold for."""
    forms = _forms(facts)
    by = {"sentences": _("the mean over topics"), "summaries": _("win rate")}
    if len(forms) == 2 and len(set(forms.values())) == 1 and is_tested(facts.questions["sentences"].score):
        both = _("win rate and, separately, by mean importance over topics")
        yield forms["summaries"].words % {"by": both, "holm": HOLM}
    else:
        for of, form in forms.items():
            yield form.words % {"by": by[of], "holm": HOLM}
            yield from filter(None, [why_untested(facts.questions[of].score)])
    about = {"summaries": _("Whole summaries: %(words)s"), "sentences": _("Sentences: %(words)s")}
    for of, form in forms.items():
        if not (form.has_intervals or is_tested(facts.questions[of].score)):
            continue
        words = facts.questions[of].ground.words
        # Never said of both at once: "one annotator" may be another one for each.
        yield about[of] % {"words": words} if len(forms) > 1 else words


def _scores_by_sentences(facts: StudyFacts, score: str) -> Iterator[str]:
    if score == "published":
        yield _("Summaries were scored by equations 2 to 5 as published [[%(key)s]].") % {"key": ZOPF}
        return
    yield _(
        "From the judgments we estimated utilities of the sentences by maximum likelihood [[%(first)s]] "
        "[[%(second)s]], %(smoothing)s."
    ) % {"first": UTILITIES[0], "second": UTILITIES[1], "smoothing": _smoothing(facts)}
    if facts.summaries:
        yield _SCORES[score]()
    yield _(
        "Words are compared by their stems of PyStemmer %(version)s, in English those of Porter’s algorithm; "
        "Arabic, Hindi, Nepali and languages that it lacks are not stemmed."
    ) % {"version": version("PyStemmer")}


def _smoothing(facts: StudyFacts) -> str:
    if facts.study.smooth == "kernel":
        return _("with a Gaussian prior under which similar sentences have similar utilities [[%(key)s]]") % {
            "key": KERNEL
        }
    if facts.study.smooth == "paper":
        return _("with preferences passed on to similar sentences [[%(key)s]]") % {"key": ZOPF}
    return _("without smoothing")


_SCORES: dict[str, Any] = {
    "importance": lambda: _(
        "The score of a summary is its importance: what its words say that annotators prefer, less what they say that "
        "annotators do not, in points (hundredths); text of average value adds nothing, whatever its length."
    ),
    "combined": lambda: _(
        "The score of a summary is its coverage of the sources’ words plus four times its importance, which is what "
        "its words say that annotators prefer, less what they say that annotators do not."
    ),
    "coverage": lambda: _(
        "The score of a summary is its coverage, the weighted share of the sources’ words that it has; judgments have "
        "no part in it."
    ),
}


def recruitment(facts: StudyFacts) -> str:
    """Where annotators were recruited, of those who came from a platform; "" if nobody did."""
    if facts.answers is None or not facts.answers.recruited:
        return ""
    is_prolific = facts.platform == Recruitment.Platform.PROLIFIC
    given = {
        "n": facts.answers.recruited,
        "all": facts.answers.human,
        "platform": _("Prolific") if is_prolific else _("a crowdsourcing platform"),
    }
    if given["n"] == given["all"]:
        return _("All people were recruited on %(platform)s.") % given
    return _("%(n)d of %(all)d people were recruited on %(platform)s.") % given


def _metrics(facts: StudyFacts) -> Iterator[str]:
    """Only metrics with a figure on the page of agreement."""
    named = [_("the scores")] if facts.metrics and facts.scores_compared else []
    named += [
        f"{title_of(name)} [[{key}]]" if (key := citations.of_metric(name)) else title_of(name)
        for name in facts.metrics
    ]
    if named:
        yield _(
            "Human scores of the summaries were compared with %(metrics)s by the share of pairs of summaries that are "
            "ordered alike [[%(key)s]], with %(intervals)s by resampling [[%(resampling)s]]."
        ) % {
            "metrics": _listed(named),
            "key": ZOPF,
            "intervals": _("intervals and tests") if facts.metrics_tested else _("intervals"),
            "resampling": "deutsch-etal-2021-statistical",
        }


def _changes(facts: StudyFacts) -> Iterator[str]:
    """What a preregistration of the study could not know; its title is no method."""
    changed = [_changed(change) for change in facts.changes if change.name != "title"]
    if changed:
        yield _("After the first judgment, settings were changed: %(settings)s.") % {"settings": "; ".join(changed)}
    about = {"version": facts.program_version, "key": PROGRAM}
    yield _("We used Preferendum %(version)s [[%(key)s]].") % about


def _changed(change: SettingChange) -> str:
    """Describe a change of a setting, without the values of a text: they would be too long, and the log has only
    digests of long ones.
    """
    day = change.at.date().isoformat()
    if change.name in _TEXTS:
        return _("%(setting)s (on %(day)s)") % {"setting": name_in_words(change.name), "day": day}
    before, after = value_in_words(change.name, change.before), phrase(change.name, change.after)
    return _("%(after)s (until %(day)s: %(before)s)") % {"after": after, "day": day, "before": before}


def _listed(names: Sequence[str]) -> str:
    *first, last = names or [""]
    return _("%(first)s and %(last)s") % {"first": ", ".join(first), "last": last} if first else last


def _n(number: int, noun: str) -> str:
    """A number with its noun."""
    forms = {
        "topic": ngettext("%(n)s topic", "%(n)s topics", number),
        "document": ngettext("%(n)s document", "%(n)s documents", number),
        "sentence": ngettext("%(n)s sentence", "%(n)s sentences", number),
        "summary": ngettext("%(n)s summary", "%(n)s summaries", number),
        "system": ngettext("%(n)s system", "%(n)s systems", number),
    }
    return forms[noun] % {"n": f"{number:,}"}
