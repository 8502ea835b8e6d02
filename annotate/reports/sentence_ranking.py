"""How well utilities order a topic's sentences (Zopf 2018, table 4): the worker's report, for pages and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_lazy

from annotate.models import PyramidAnnotation, Result, Topic, TopicProgress
from annotate.reports import minutes
from formats.results import SentenceRankings, SentenceReport
from formats.results.metrics import Judged, Values

SMOOTHINGS = {
    "kernel": gettext_lazy("kernel smoothing"),
    "paper": gettext_lazy("the paper’s smoothing"),
    "none": gettext_lazy("no smoothing"),
}
JUDGED: Mapping[Judged, object] = {
    "man": gettext_lazy("Judgments that count"),
    "ref": gettext_lazy("Simulated from references"),
    "py": gettext_lazy("Simulated from the Pyramid"),
}
#: The Pyramid first.
AGAINST: Mapping[Values, object] = {
    "pyramid": gettext_lazy("Against the Pyramid"),
    "references": gettext_lazy("Against the references"),
}


@dataclass(frozen=True, slots=True)
class RankingLine:
    """One kind of judgments, how many they are, and the agreement under each smoothing."""

    judged: Judged
    judgments: int
    agreements: tuple[float | None, ...]

    @property
    def name(self) -> object:
        return JUDGED[self.judged]


@dataclass(frozen=True, slots=True)
class RankingTable:
    """The lines against one kind of values; so many pairs of sentences differ in value."""

    against: Values
    pairs: int
    lines: tuple[RankingLine, ...]

    @property
    def name(self) -> object:
        return AGAINST[self.against]


@dataclass(frozen=True, slots=True)
class TopicSentences:
    """What is there of a topic. `minutes`: how long its judgments took, where that is known.

    `has_values`: it has references or a Pyramid; `is_old`: something has changed since, or nothing was worked out yet;
    `is_left_out`: it has no sentences, or too many.
    """

    reports: tuple[SentenceReport, ...]
    seed: int
    minutes: float | None
    has_values: bool
    is_old: bool
    is_left_out: bool
    computed_at: datetime | None

    @property
    def tables(self) -> list[RankingTable]:
        ordered = sorted(self.reports, key=lambda report: list(AGAINST).index(report.against))
        return [_table(report) for report in ordered]


def of_topic(topic: Topic) -> TopicSentences:
    """How well the topic's sentences are ordered, as far as the worker is."""
    row = Result.objects.filter(topic=topic, analysis="sentence-ranking").first()
    has_values = topic.references.exists() or PyramidAnnotation.objects.filter(topic=topic).exists()
    fitted = TopicProgress.objects.filter(topic=topic).values_list("fitted_version", flat=True).first() or 0
    is_old = row is None or row.version < topic.text_version + topic.peers_version + fitted
    ranked = row.read(SentenceRankings) if row and has_values else None
    reports = ranked.reports if ranked else ()
    return TopicSentences(
        reports=reports,
        seed=ranked.seed if ranked else 0,
        minutes=minutes.of_topic(topic),
        has_values=has_values,
        is_old=has_values and is_old,
        is_left_out=has_values and not is_old and not reports,
        computed_at=row.computed_at if row else None,
    )


def _table(report: SentenceReport) -> RankingTable:
    pairs = max((own.pairs for ranking in report.rankings for own in ranking.topics), default=0)
    return RankingTable(report.against, pairs, tuple(_lines(report)))


def _lines(report: SentenceReport) -> Iterator[RankingLine]:
    for judged in JUDGED:
        rankings = {ranking.smooth: ranking for ranking in report.rankings if ranking.judgments == judged}
        if rankings:
            judgments = max(own.judgments for ranking in rankings.values() for own in ranking.topics)
            agreements = (rankings[smooth].agreement if smooth in rankings else None for smooth in SMOOTHINGS)
            yield RankingLine(judged, judgments, tuple(agreements))
