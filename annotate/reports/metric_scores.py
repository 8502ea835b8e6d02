"""Scores of single summaries by metrics and people, next to the study's own scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db.models import CharField, F, FloatField, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform

from annotate.models import ComputedScore, HumanScore, MetricScore, Score, Study, Summary, Topic
from preferendum.metrics.names import OWN, why_absent
from preferendum.results.scores import as_metrics
from preferendum.show.analyses.metric_scores import ScoresTable, SummaryScores

#: So many summaries' scores are read at once.
BATCH = 1000


def table_of(summaries: Sequence[Summary]) -> ScoresTable:
    """Scores of these summaries, whose topics are loaded with their `metrics`."""
    rows = tuple(scores_of(summaries))
    topics = {summary.topic_id: summary.topic for summary in summaries}.values()
    scored = [topic.metrics for topic in topics if hasattr(topic, "metrics")]
    signatures = {name: signature for row in reversed(scored) for name, signature in row.signatures.items()}
    names = {name for row in rows for name in row.metrics}
    order = [*OWN, *dict.fromkeys(name for row in scored for name in row.signatures), *sorted(names)]
    return ScoresTable(
        metrics=tuple(name for name in dict.fromkeys(order) if name in names),
        dimensions=tuple(sorted({dimension for row in rows for dimension in row.human})),
        signatures=signatures,
        absent=tuple(why_absent((str(row.topic), row.absent) for row in scored)),
        summaries=rows,
    )


def of_topic(topic: Topic) -> ScoresTable:
    """Scores of a topic's summaries."""
    return table_of(list(chosen(topic.study, topic.pk)))


def of_study(study: Study, topic: str = "", system: str = "") -> ScoresTable:
    """Scores of a study's summaries, or of those of a topic or a system, by name."""
    summaries = chosen(study, system=system)
    return table_of(list(summaries.filter(topic__name=topic) if topic else summaries))


def chosen(study: Study, topic: int | None = None, system: str = "") -> QuerySet[Summary]:
    """A study's summaries, optionally of one topic, by key, or of one system, by name."""
    summaries = Summary.objects.filter(topic__in=Topic.objects.filter(study=study))
    summaries = summaries if topic is None else summaries.filter(topic=topic)
    summaries = summaries.filter(system__name=system) if system else summaries
    return summaries.select_related("topic__metrics", "system").order_by("topic__position", "system__name")


def scores_of(summaries: Sequence[Summary]) -> Iterable[SummaryScores]:
    """Scores of each summary, in their order."""
    for start in range(0, len(summaries), BATCH):
        rows = {summary.pk: _nothing_of(summary) for summary in summaries[start : start + BATCH]}
        for summary, source, name, assessor, score, coverage in _scores(rows):
            row = rows[summary]
            if source == "own":
                row.metrics.update(as_metrics(name, score, coverage))
            elif source == "metric":
                row.metrics[name] = score
            elif assessor:
                row.ratings.setdefault(assessor, {})[name] = score
            else:
                row.human[name] = score
        yield from rows.values()


def _nothing_of(summary: Summary) -> SummaryScores:
    return SummaryScores(summary.pk, summary.topic.name, summary.system.name, summary.person)


def _scores(summaries: Collection[int]) -> Iterable[tuple[Any, ...]]:
    """All scores of these: summary, origin, metric or dimension, assessor, score, coverage.

    By one query: pages that show it have many of their own.
    """
    no_assessor, no_coverage = Value("", CharField()), Value(None, FloatField())

    def read(rows: QuerySet[Any], source: str, name: Any, assessor: Any, coverage: Any) -> QuerySet[Any]:
        columns = {"of": F("summary_id"), "source": Value(source), "name": name, "by": assessor, "value": F("score")}
        columns |= {"covers": coverage}
        scores: QuerySet[Any] = rows.filter(summary__in=summaries).order_by().annotate(**columns)
        return scores.values_list(*columns)

    own = read(Score.objects.all(), "own", KeyTextTransform("score", "fit__settings"), no_assessor, F("coverage"))
    computed = read(ComputedScore.objects.all(), "metric", F("metric"), no_assessor, no_coverage)
    given = read(MetricScore.objects.given(), "metric", F("metric"), no_assessor, no_coverage)
    human = read(HumanScore.objects.all(), "human", F("dimension"), F("assessor"), no_coverage)
    return sorted(own.union(computed, given, human, all=True), key=lambda row: row[:4])
