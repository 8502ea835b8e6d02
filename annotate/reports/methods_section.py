"""The methods section of a paper, true of this study, in plain text and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from django.template.loader import render_to_string
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.audit_log import SettingChange
from annotate.models import Recruitment
from annotate.reports.method import name_in_words, phrase, value_in_words
from annotate.reports.study_facts import StudyFacts
from preferendum.formats.answers import HALF
from preferendum.formats.settings import SETTINGS
from preferendum.metrics.names import WIN_RATE, title_of
from preferendum.results import Bounded
from preferendum.show import citations
from preferendum.show.citations import CITATIONS, PROGRAM, ZOPF
from preferendum.show.latex import escaped
from preferendum.show.points import why_untested

#: How a sentence cites a publication, and several together.
_KEY = re.compile(r"\[\[([a-z0-9-]+)\]\]")
_MARK = re.compile(r"((?:\s*\[\[[a-z0-9-]+\]\])+)")
#: Settings whose value is a text.
_TEXTS = {setting.name for setting in SETTINGS if setting.type is str and not setting.choices}
AGREEMENT = "krippendorff-2004-content", "fleiss-1971-measuring"
UTILITIES = "zermelo-1929-berechnung", "bradley-terry-1952-rank"
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
    texts = {name: _MARK.sub(_in_brackets, " ".join(sentences)) for name, sentences in parts.items()}
    return render_to_string(
        "research/studies/datasheet.md",
        {
            "facts": facts,
            "annotators": annotators(facts),
            "recruitment": recruitment(facts),
            "why_untested": why_untested(facts.study.score),
            **texts,
        },
    )


def _in_brackets(match: re.Match[str]) -> str:
    cited = [CITATIONS[key].short for key in _KEY.findall(match[1]) if key in CITATIONS]
    return f" ({'; '.join(cited)})" if cited else ""


def section(facts: StudyFacts) -> str:
    """A paragraph each on the material, annotators, pairs, estimates, their uncertainty, and settings; publications
    stand in it as [[key]]."""
    paragraphs = (
        _material(facts),
        (*_judged(facts), *_checks(facts), *_agreement(facts)),
        (*_pairs(facts), *_drawn(facts)),
        _scores(facts),
        (*_ranking(facts), *_metrics(facts)),
        (*_settings(facts), *_changes(facts)),
    )
    return "\n\n".join(" ".join(sentences) for sentences in paragraphs)


def _material(facts: StudyFacts) -> Iterator[str]:
    opening = {
        "sentences": _("We evaluated summaries by pairwise preferences of source sentences [[%(key)s]]."),
        "summaries": _("We evaluated summaries by pairwise preferences of whole summaries."),
        "both": _(
            "We evaluated summaries by pairwise preferences of source sentences [[%(key)s]] and of whole summaries."
        ),
    }
    yield opening[facts.study.compares] % {"key": ZOPF}
    yield _("The material has %(topics)s with %(documents)s and %(sentences)s, and %(summaries)s by %(systems)s.") % {
        "topics": _n(facts.topics, "topic"),
        "documents": _n(facts.documents, "document"),
        "sentences": _n(facts.sentences, "sentence"),
        "summaries": _n(facts.summaries, "summary"),
        "systems": _n(facts.systems, "system"),
    }


def _pairs(facts: StudyFacts) -> Iterator[str]:
    if facts.rests_on.counted.human and (len(facts.study.questions) == 1 or not facts.rests_on.is_mixed):
        asked = {
            "sentences": _("Annotators saw two sentences of a topic at a time and were asked: “%(question)s”."),
            "summaries": _("Annotators saw two summaries of a topic at a time and were asked: “%(question)s”."),
        }
    else:
        asked = {
            "sentences": _("The question about two sentences of a topic is: “%(question)s”."),
            "summaries": _("The question about two summaries of a topic is: “%(question)s”."),
        }
    for kind, question in facts.study.questions.items():
        yield (asked[kind] % {"question": question}).replace("?”.", "?”")
    if not facts.rests_on.counted.human:
        yield _("No person has answered so far.")
    for answer in facts.study.answers.values():
        if answer.share == HALF:
            template = _("“%(answer)s” is an answer, too, and counts as half a win for each side.")
            yield template % {"answer": capfirst(_(answer.name))}
    if facts.study.must_prefer:
        yield _("One of the two must be chosen.")
    if facts.rests_on.counted.human and (facts.study.reason_words or facts.study.reason_note):
        yield _("Annotators could give a reason with each answer.")


def _judged(facts: StudyFacts) -> Iterator[str]:
    if not facts.judgments:
        yield _("No judgment has been collected so far.")
        return
    counted = "; ".join(filter(None, (facts.rests_on.counted.words, facts.rests_on.by_question)))
    yield _("The scores rest on %(n)s judgments (%(kinds)s).") % {"n": f"{facts.judgments:,}", "kinds": counted}
    if who := annotators(facts):
        yield _("Annotators: %(annotators)s.") % {"annotators": who}
    if facts.rests_on.counted.simulated:
        yield _("Simulated judgments were drawn by a program from references or Pyramids; nobody saw those pairs.")
    if facts.first and facts.last:
        days = {"first": facts.first.date().isoformat(), "last": facts.last.date().isoformat()}
        is_one = days["first"] == days["last"]
        yield (_("All are of %(first)s.") if is_one else _("They are from %(first)s to %(last)s.")) % days
    if facts.recruited:
        yield recruitment(facts)
    if facts.excluded:
        yield ngettext(
            "%(n)d annotator was excluded, and none of their judgments counts.",
            "%(n)d annotators were excluded, and none of their judgments counts.",
            facts.excluded,
        ) % {"n": facts.excluded}
    if facts.rests_on.not_counted.total:
        yield _("Further judgments were kept and not counted: %(kinds)s.") % {"kinds": facts.rests_on.not_counted.words}


def _drawn(facts: StudyFacts) -> Iterator[str]:
    """How pairs were drawn, without those imported from a file."""
    if facts.planned:
        yield ngettext(
            "%(n)d pair of summaries was chosen before the first answer, so that all systems come up equally often.",
            "%(n)d pairs of summaries were chosen before the first answer, so that all systems come up equally often.",
            facts.planned,
        ) % {"n": facts.planned}
    if facts.telling:
        drawn = {"random": facts.random, "telling": facts.telling}
        yield _("Of the pairs %(random)d were drawn at random and %(telling)d chosen adaptively.") % drawn
        if facts.summaries:
            yield _("The latter tell systems apart, with known probabilities that the scores correct for.")
    elif facts.random == facts.judgments:
        yield _("All pairs were drawn at random.")


def _checks(facts: StudyFacts) -> Iterator[str]:
    if facts.practice_pairs and facts.study.training:
        yield ngettext(
            "Everybody began with %(n)d practice pair.",
            "Everybody began with %(n)d practice pairs.",
            facts.practice_pairs,
        ) % {"n": facts.practice_pairs}
    if facts.gold_pairs and facts.study.gold_share:
        yield _("Gold pairs with an expected answer were hidden among the others and never counted.")


def _settings(facts: StudyFacts) -> Iterator[str]:
    if facts.unlike:
        phrases = "; ".join(phrase(setting.name, value) for setting, value in facts.unlike)
        yield _("Settings that differ from the recommended ones: %(settings)s.") % {"settings": phrases}
    else:
        yield _("All settings are the recommended ones.")


def _agreement(facts: StudyFacts) -> Iterator[str]:
    own = facts.agreement
    if own is None:
        return
    alpha, kappa = AGREEMENT
    percent = "–" if own.percent.value is None else f"{100 * own.percent.value:.0f}%"
    if own.why == "few_pairs":
        yield _(
            "Pairs that two or more annotators judged: %(pairs)d, too few for a coefficient of agreement; %(percent)s "
            "of any two judgments agree."
        ) % {"pairs": own.pairs, "percent": percent}
        return
    yield _(
        "On the %(pairs)d pairs that two or more annotators judged, Krippendorff’s alpha [[%(alpha_key)s]] is "
        "%(alpha)s, Fleiss’ kappa [[%(kappa_key)s]] is %(kappa)s, and %(percent)s of any two judgments agree (alpha "
        "and kappa direction-free: chance counts every answer half in each direction)."
    ) % {
        "pairs": own.pairs,
        "alpha_key": alpha,
        "kappa_key": kappa,
        "alpha": _bounded(own.alpha),
        "kappa": _bounded(own.kappa),
        "percent": percent,
    }


def _bounded(figure: Bounded) -> str:
    if figure.value is None:
        return _("undefined")
    if figure.low is None or figure.high is None:
        return f"{figure.value:.2f}"
    return _("%(value).2f (95%% interval [%(low).2f, %(high).2f])") % {
        "value": figure.value, "low": figure.low, "high": figure.high,
    }  # fmt: skip


def _scores(facts: StudyFacts) -> Iterator[str]:
    if "sentences" in facts.study.questions:
        yield from _scores_by_sentences(facts)
    if "summaries" in facts.study.questions:
        yield _(
            "Whole summaries were scored under a Bradley–Terry model [[%(key)s]] with random effects of systems and of "
            "their summaries, fitted to all topics together; the score of a system is its win rate, how often its "
            "summary is preferred to that of another system on topics like these."
        ) % {"key": UTILITIES[1]}


def _ranking(facts: StudyFacts) -> Iterator[str]:
    is_one = len(facts.study.questions) == 2 and not why_untested(facts.study.score)
    if "sentences" in facts.study.questions and not is_one:
        yield from _ranked(_("the mean over topics"), facts.study.score)
    if "summaries" in facts.study.questions:
        both = _("win rate and, separately, by mean importance over topics")
        yield from _ranked(both if is_one else _("win rate"), WIN_RATE)
    if facts.ground is not None:
        yield facts.ground.words


def _ranked(by: str, score: str) -> Iterator[str]:
    if why := why_untested(score):
        yield _("Systems are ranked by %(by)s.") % {"by": by}
        yield why
        return
    yield _(
        "Systems are ranked by %(by)s, with 95%% intervals; differences between systems are tested two-sided and "
        "corrected for their number [[%(holm)s]]."
    ) % {"by": by, "holm": HOLM}


def _scores_by_sentences(facts: StudyFacts) -> Iterator[str]:
    if facts.study.score == "published":
        yield _("Summaries were scored by equations 2 to 5 as published [[%(key)s]].") % {"key": ZOPF}
    else:
        yield _(
            "From the judgments we estimated utilities of the sentences by maximum likelihood [[%(first)s]] "
            "[[%(second)s]], %(smoothing)s."
        ) % {"first": UTILITIES[0], "second": UTILITIES[1], "smoothing": _smoothing(facts)}
        yield _SCORES[facts.study.score]()
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


def annotators(facts: StudyFacts) -> str:
    """People and machines whose judgments count; simulations are neither."""
    each = {"person": facts.annotators, "machine": facts.machines}
    return _listed([_n(number, noun) for noun, number in each.items() if number])


def recruitment(facts: StudyFacts) -> str:
    """Where annotators were recruited, of those who came from a platform; "" if nobody did."""
    if not facts.recruited:
        return ""
    is_prolific = facts.platform == Recruitment.Platform.PROLIFIC
    given = {
        "n": facts.recruited,
        "all": facts.annotators,
        "platform": _("Prolific") if is_prolific else _("a crowdsourcing platform"),
    }
    if facts.recruited == facts.annotators:
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
    yield _("All of it was done with Preferendum %(version)s [[%(key)s]].") % about


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
        "topic": ngettext("%(n)d topic", "%(n)d topics", number),
        "document": ngettext("%(n)d document", "%(n)d documents", number),
        "sentence": ngettext("%(n)d sentence", "%(n)d sentences", number),
        "summary": ngettext("%(n)d summary", "%(n)d summaries", number),
        "system": ngettext("%(n)d system", "%(n)d systems", number),
        "person": ngettext("%(n)d person", "%(n)d people", number),
        "machine": ngettext("%(n)d machine", "%(n)d machines", number),
    }
    return forms[noun] % {"n": number}
