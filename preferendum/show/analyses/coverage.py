"""Coverage: how much of each topic was judged, and whether judgments tie its sentences together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results import Coverage, Key
from preferendum.show.plots import IntervalRow, interval_plot
from preferendum.show.shown import Cell, Column, Figure, Shown, Table, as_text, figure

#: More topics than this are no longer read in a figure.
MOST_DRAWN = 200


@dataclass(frozen=True, slots=True)
class TopicCoverage:
    """How well a topic, by name and key, is covered."""

    topic: str
    key: Key
    coverage: Coverage


def show(topics: Sequence[TopicCoverage], asked: Mapping[str, str]) -> Shown:
    """Every topic that the worker has looked at."""
    return Shown(verdict(topics), [*(_figure(topics) if len(topics) <= MOST_DRAWN else ()), _table(topics)])


def verdict(topics: Sequence[TopicCoverage]) -> str:
    """Whether judgments tie the sentences of each topic together, and how many sentences have none."""
    connected = sum(topic.coverage.is_connected for topic in topics)
    of_topics = ngettext("%(connected)s of %(topics)s topic", "%(connected)s of %(topics)s topics", len(topics))
    if connected == len(topics):
        of_topics = ngettext("%(topics)s topic", "%(topics)s topics", len(topics))
    sentence = _(
        "Judgments tie the judged sentences of %(of)s together; %(left)s of %(sentences)s sentences have no judgment."
    )
    sentences = sum(topic.coverage.sentences for topic in topics)
    loose = sum(len(topic.coverage.strong_components) > 1 for topic in topics)
    if loose:
        sentence += " " + _(
            "Topics with more than one strongly connected component, where utilities depend on the prior or on similar "
            "sentences: %(loose)s."
        )
    return sentence % {
        "loose": loose,
        "of": of_topics % {"connected": connected, "topics": len(topics)},
        "left": sentences - sum(topic.coverage.judged for topic in topics),
        "sentences": sentences,
    }


def _figure(topics: Sequence[TopicCoverage]) -> list[Figure]:
    rows = tuple(
        IntervalRow(topic.topic, topic.coverage.median, topic.coverage.least, topic.coverage.most) for topic in topics
    )
    label = _("How many judgments the sentences of each topic have")
    caption = _("Dots are medians; lines reach from the least to the most judgments that a sentence of the topic has.")
    draw = partial(interval_plot, label=label, x_title=_("judgments of a sentence"), heads=("", _("topic")))
    return figure("coverage", _("Judgments per sentence"), caption, draw, rows)


def _table(topics: Sequence[TopicCoverage]) -> Table:
    parts, components = _("Connected parts"), _("Strongly connected components")
    return Table(
        "coverage",
        _("Coverage of the topics"),
        (
            Column("topic", _("Topic"), as_text),
            Column("sentences", _("Sentences")),
            Column("judged", _("Judged")),
            Column("pairs", _("Pairs")),
            Column("judgments"),
            Column("", _("Median"), group=(each := _("Judgments per sentence"))),
            Column("", _("Maximum"), group=each),
            Column("", _("Number"), group=parts),
            Column("", _("Largest"), group=parts),
            Column("parts"),
            Column("", _("Number"), group=components),
            Column("", _("Largest"), group=components),
            Column("strong_components"),
        ),
        tuple(_row(topic) for topic in topics),
        note=_(
            "Utilities compare sentences through chains of judgments, so a topic should form a single connected part. "
            "Within a strongly connected component, each sentence was preferred to each other one, directly or through "
            "others. If there is more than one component, utilities depend on the prior or on similar sentences. This "
            "is computed after the scores, so the newest judgments may be missing. Topics with more parts stand out."
        ),
        links=tuple({"topic_id": topic.key} for topic in topics),
        leads_to="topic",
        marked=frozenset(k for k, topic in enumerate(topics) if not topic.coverage.is_connected),
    )


def _row(topic: TopicCoverage) -> tuple[Cell, ...]:
    own = topic.coverage
    return (
        *(topic.topic, own.sentences, own.judged, own.pairs),
        *(_listed(own.judgments), own.median, own.most),
        *(len(own.parts), next(iter(own.parts), None), _listed(own.parts)),
        *(len(own.strong_components), next(iter(own.strong_components), None), _listed(own.strong_components)),
    )


def _listed(numbers: Sequence[int]) -> str:
    return "; ".join(map(str, numbers))
