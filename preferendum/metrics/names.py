"""The names of metrics: of a study's own scores, and of what else its summaries can be scored with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import JACKKNIFE, Need, families, family_of

#: Before the names of a study's own scores, where they stand among metrics.
PREFERENCES = "preferences:"
#: They, in the order in which they are compared; by the names that the command line knows.
IMPORTANCE, COMBINED, AS_PRINTED, COVERAGE = (
    f"{PREFERENCES}{name}" for name in ("importance", "combined", "published", "coverage")
)
#: The score from answers about whole summaries, likewise.
WIN_RATE = "win-rate"
#: All scores of a study's own, in the order in which they stand before other metrics.
OWN = (IMPORTANCE, COMBINED, AS_PRINTED, COVERAGE, WIN_RATE)


def metrics() -> tuple[str, ...]:
    """The metrics that a study can have its summaries scored with."""
    return tuple(name for family in families() if family.for_studies for name in family.names)


def options_of(name: str) -> Mapping[str, str]:
    """The options of such a metric, each with a pattern of its value."""
    family = family_of(name)
    options = {} if family is None or not family.for_studies else family.options
    return {name: own.value for name, own in options.items() if own.value is not None}


def across_topics() -> str:
    """A pattern of what a list has in it where a metric's scores of one topic rest on other topics, too."""
    names = [name for family in families() if family.across_topics for name in family.names]
    options = [name for family in families() for name, own in family.options.items() if own.across_topics]
    patterns = [rf"(^|,)\s*({'|'.join(names)})\s*(:|,|$)"] if names else []
    patterns += [f":({'|'.join(dict.fromkeys(options))})"] if options else []
    return "|".join(patterns) or "a^"  # which nothing matches


def listed_metrics(names: str) -> tuple[str, ...]:
    """The metrics in a list with commas, each once."""
    return tuple(dict.fromkeys(name for part in names.split(",") if (name := part.strip())))


def unknown_metrics(names: str) -> list[str]:
    """What is in the list and no metric that summaries can be scored with; nothing where no metric is installed."""
    return [name for name in listed_metrics(names) if not _is_known(name)] if metrics() else []


def rests_on_all_topics(name: str) -> bool:
    """Whether the metric's scores of one topic rest on other topics, too."""
    return re.search(across_topics(), name) is not None


def _is_known(name: str) -> bool:
    base, *given = name.split(":")
    family, options = family_of(base), options_of(base)
    names = [option.partition("=")[0] for option in given]
    if family is None or not family.for_studies or len(set(names)) < len(names):
        return False
    if any(both <= set(names) for both in family.either):
        return False
    return all(
        name in options and re.fullmatch(f"{name}({options[name]})", option)
        for name, option in zip(names, given, strict=True)
    )


#: What a study's own scores are called on pages.
_TITLES = {
    "preferences": gettext_noop("Preferences"),
    IMPORTANCE: gettext_noop("Preferences: importance"),
    COMBINED: gettext_noop("Preferences: combined"),
    AS_PRINTED: gettext_noop("Preferences: as published"),
    COVERAGE: gettext_noop("Coverage (words alone)"),
    WIN_RATE: gettext_noop("Whole summaries: win rate"),
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
    family = family_of(name)
    titles = _TITLES | (dict(family.titles) if family else {})
    if metric in titles:
        return _(titles[metric])
    if name == "given":
        return options
    title = _(titles[name]) if name in titles else name.upper()
    if options == JACKKNIFE:
        return f"{title}, {_('one reference less')}"
    return f"{title} ({options})" if options else title


def scorer_name(by: str, by_human: bool) -> str:
    """What people in a dimension, or a metric, are called on pages."""
    return _("People: %(dimension)s") % {"dimension": by} if by_human else title_of(by)


#: What a topic may lack for a metric.
_LACKING: Mapping[str, str] = {
    Need.DOCUMENTS: gettext_noop("%(metric)s needs documents. Topics without any: %(topics)s."),
    Need.REFERENCES: gettext_noop("%(metric)s needs references. Topics without any: %(topics)s."),
    Need.PYRAMIDS: gettext_noop("%(metric)s needs Pyramids. Topics without one: %(topics)s."),
    Need.BASES: gettext_noop("%(metric)s needs the references of an earlier set. Topics without any: %(topics)s."),
    Need.LATIN: gettext_noop("%(metric)s reads Latin letters and digits only. Topics in another script: %(topics)s."),
    Need.OTHER_TOPICS: gettext_noop("%(metric)s needs six topics or more with documents of their own."),
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
