"""The names and options of metrics that can score a study's summaries, in addition to its own scores.

`preferendum.methods.metrics` has the metrics; a test compares both. Options that name a file are left to the command
line: the website reads no files by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop

#: Before the names of a study's own scores, where they stand among metrics.
PREFERENCES = "preferences:"
#: They, in the order in which they are compared; by the names that the command line knows.
IMPORTANCE, COMBINED, AS_PRINTED, COVERAGE = (
    f"{PREFERENCES}{name}" for name in ("importance", "combined", "published", "coverage")
)
#: The score from answers about whole summaries, likewise.
WIN_RATE = "win-rate"

_FLAG, _WHOLE, _NUMBER = "", "=[1-9][0-9]{0,4}", r"=[1-9][0-9]{0,2}(\.[0-9]{1,5})?"
_SHARE = r"=(0(\.[0-9]{1,5})?|1)"
_MODELS = {"models": _WHOLE}
_ROUGE = {
    **dict.fromkeys(("f", "p", "stop", "unstemmed", "best", "local", "global"), _FLAG),
    **dict.fromkeys(("words", "bytes", "models", "pseudo"), _WHOLE),
    "alpha": _SHARE,
}
_PYRAMID = dict.fromkeys(("down", "up"), _FLAG)
_TOPIC_WORDS = {"cutoff": _NUMBER, "natural": _FLAG}
_NONE: Mapping[str, str] = {}

#: By the name of a metric, its options, each with a pattern of its value.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-l"), _ROUGE),
    "rouge-w": _ROUGE | {"weight": _NUMBER},
    **dict.fromkeys(("rouge-s4", "rouge-su4"), _ROUGE | {"skip": rf"{_WHOLE}|=any"}),
    **dict.fromkeys(("autosummeng", "memog"), _MODELS | {"normalized": _FLAG}),
    "vert-f": _MODELS | {"f": _FLAG, "chi2": _FLAG},
    **dict.fromkeys(("js", "js-smoothed", "kl", "kl-summary", "js-consensus", "unigram", "multinomial"), _NONE),
    **dict.fromkeys(("cosine", "js-pool"), _NONE),
    **dict.fromkeys(("cosine-topic", "topic-share", "topic-fraction"), _TOPIC_WORDS),
    **dict.fromkeys(("pyramid", "pyramid-original"), _PYRAMID),
}
METRICS = tuple(OPTIONS)
#: Options that contradict each other.
_EITHER = ({"local", "global"}, {"p", "alpha"}, {"words", "bytes"}, {"f", "chi2"})
#: What a list has in it where a metric's scores of one topic rest on other topics, too.
ACROSS_TOPICS = r"(^|,)\s*(cosine|cosine-topic|topic-share|topic-fraction|js-pool)\s*(:|,|$)|:(pseudo|local|global)"


def listed_metrics(names: str) -> tuple[str, ...]:
    """The metrics in a list with commas, each once."""
    return tuple(dict.fromkeys(name for part in names.split(",") if (name := part.strip())))


def unknown_metrics(names: str) -> list[str]:
    """What is in the list and no metric that summaries can be scored with."""
    return [name for name in listed_metrics(names) if not _is_known(name)]


def rests_on_all_topics(name: str) -> bool:
    """Whether the metric's scores of one topic rest on other topics, too."""
    return re.search(ACROSS_TOPICS, name) is not None


def _is_known(name: str) -> bool:
    base, *given = name.split(":")
    options = OPTIONS.get(base)
    names = [option.partition("=")[0] for option in given]
    if options is None or len(set(names)) < len(names) or any(both <= set(names) for both in _EITHER):
        return False
    return all(
        name in options and re.fullmatch(f"{name}({options[name]})", option)
        for name, option in zip(names, given, strict=True)
    )


#: What metrics are called on pages.
_TITLES = {
    "preferences": gettext_noop("Preferences"),
    IMPORTANCE: gettext_noop("Preferences: importance"),
    COMBINED: gettext_noop("Preferences: combined"),
    AS_PRINTED: gettext_noop("Preferences: as published"),
    COVERAGE: gettext_noop("Coverage (words alone)"),
    WIN_RATE: gettext_noop("Whole summaries: win rate"),
    "autosummeng": "AutoSummENG",
    "memog": "MeMoG",
    "js": gettext_noop("JS divergence"),
    "js-smoothed": gettext_noop("JS divergence, smoothed"),
    "js-consensus": gettext_noop("JS divergence from the consensus"),
    "kl": gettext_noop("KL divergence of the documents"),
    "kl-summary": gettext_noop("KL divergence of the summary"),
    "js-pool": gettext_noop("JS divergence from standard summarizers"),
    "cosine": gettext_noop("Cosine of documents and summary"),
    "cosine-topic": gettext_noop("Cosine of topic words"),
    "topic-share": gettext_noop("Share of topic words in the summary"),
    "topic-fraction": gettext_noop("Fraction of the topic words"),
    "unigram": gettext_noop("Unigram probability"),
    "multinomial": gettext_noop("Multinomial probability"),
    "pyramid": gettext_noop("Pyramid"),
    "pyramid-original": gettext_noop("Pyramid, original"),
}
#: The same after the name of a mixture: plots have little room for names.
_SHORT = {
    "preferences": gettext_noop("preferences"),
    IMPORTANCE: gettext_noop("importance"),
    COMBINED: gettext_noop("combined"),
    AS_PRINTED: gettext_noop("as published"),
    COVERAGE: gettext_noop("coverage"),
}


def title_of(metric: str) -> str:
    """What a metric is called on pages."""
    whose, _space, mixture = metric.partition(" ")
    if mixture and whose in _SHORT:
        return f"{mixture}, {_(_SHORT[whose])}"
    name, _colon, options = metric.partition(":")
    if metric in _TITLES:
        return _(_TITLES[metric])
    if name == "given":
        return options
    title = _(_TITLES[name]) if name in _TITLES else name.upper()
    if options == "jackknife":
        return f"{title}, {_('one reference less')}"
    return f"{title} ({options})" if options else title


def scorer_name(by: str, by_human: bool) -> str:
    """What people in a dimension, or a metric, are called on pages."""
    return _("People: %(dimension)s") % {"dimension": by} if by_human else title_of(by)


#: What a topic may lack for a metric (`preferendum.methods.metrics.registry.Need`).
_LACKING = {
    "documents": gettext_noop("%(metric)s needs documents. Topics without any: %(topics)s."),
    "references": gettext_noop("%(metric)s needs references. Topics without any: %(topics)s."),
    "pyramids": gettext_noop("%(metric)s needs Pyramids. Topics without one: %(topics)s."),
    "references of an earlier set": gettext_noop(
        "%(metric)s needs the references of an earlier set. Topics without any: %(topics)s."
    ),
    "texts in Latin letters": gettext_noop(
        "%(metric)s reads Latin letters and digits only. Topics in another script: %(topics)s."
    ),
    "other topics": gettext_noop("%(metric)s needs six topics or more with documents of their own."),
}
#: So many topics are named; the rest are counted.
_NAMED = 8


def why_absent(topics: Iterable[tuple[str, Mapping[str, str]]]) -> Iterator[str]:
    """Why a metric is not there, or not for every topic: of each its name and what it lacks, by metric.

    With options a metric lacks what it lacks without them.
    """
    lacking: dict[tuple[str, str], list[str]] = {}
    for topic, absent in topics:
        for metric, need in absent.items():
            if (plain := metric.partition(":")[0]) == metric or plain not in absent:
                lacking.setdefault((metric, need), []).append(topic)
    for (metric, need), names in lacking.items():
        yield _(_LACKING[need]) % {"metric": title_of(metric), "topics": _listed(names)}


def _listed(names: Sequence[str]) -> str:
    shown, more = ", ".join(names[:_NAMED]), len(names) - _NAMED
    return _("%(names)s and %(more)d more") % {"names": shown, "more": more} if more > 0 else shown
