"""What the worker keeps for each analysis, opened for whoever reads it: page, file or API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Count, Exists, OuterRef, Sum
from django.utils.translation import gettext as _

from annotate.models import (
    ComputedScore,
    Fit,
    HumanScore,
    MetricScore,
    PyramidAnnotation,
    Result,
    Score,
    Study,
    Topic,
    TopicMetrics,
    TopicProgress,
)
from annotate.models.analysis import OfStudy
from annotate.reports import diagnostics, metric_scores, minutes, rests_on
from annotate.reports.metrics import why_absent
from formats.analyses import OF_STUDY, OF_TOPIC, Analysis
from formats.results import AssessorsReport, DocumentSetsReport, PairCounts, SentenceRankings, from_json
from formats.results.metrics import StudyPairs
from formats.shown import Choice, Shown

#: What an address may choose, in one analysis or another.
CHOICES = ("dimension", "peers", "by", "topic", "scores")
#: A record that is read only if it is shown.
Record = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """What is kept for an analysis.

    `records`: by the analysis's keys; `is_possible`: there is what it needs; `is_old`: newer data wait to be worked
    in; `version`: changes with all of this; `problem`: why the last try failed; `notes`: what it lacks.
    """

    records: Mapping[tuple[str, ...], Record]
    is_possible: bool
    is_old: bool
    version: str
    problem: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_left_out(self) -> bool:
        """The worker has finished, and kept nothing: there is too much of it for a page, or too little."""
        return self.is_possible and not self.is_old and not self.records


@dataclass(frozen=True, slots=True)
class Opened:
    """An analysis of a study or topic with what is kept for it, and what is shown of the record that was asked for."""

    of: Study | Topic
    analysis: Analysis
    stored: Stored
    choices: tuple[Choice, ...] = ()
    shown: Shown | None = None

    @property
    def study_id(self) -> int:
        return self.of.study_id if isinstance(self.of, Topic) else self.of.pk

    @property
    def rests_on(self) -> str:
        """The judgments behind preferences, in words."""
        own = rests_on.of_topic(self.of) if isinstance(self.of, Topic) else rests_on.of_study(self.of)
        return f"{_('Preferences rest on:')} {own.counted.words}"

    @property
    def asked(self) -> dict[str, str]:
        """What an address says to choose the same."""
        return {choice.name: choice.chosen for choice in self.choices if choice.chosen}

    @property
    def several(self) -> list[Choice]:
        """Choices with more than one option: a reader is offered these."""
        return [choice for choice in self.choices if len(choice.options) > 1]


def analyses_of(of: Study | Topic) -> Mapping[str, Analysis]:
    """Those of a study, or of a topic, by name."""
    return {analysis.name: analysis for analysis in (OF_TOPIC if isinstance(of, Topic) else OF_STUDY)}


def stored_for(of: Study | Topic, analysis: Analysis) -> Stored:
    """What is kept for the analysis; no record is read."""
    return STORED[analysis.name](of)


def opened(of: Study | Topic, analysis: Analysis, asked: Mapping[str, str]) -> Opened:
    """The analysis as it is asked for; what there is not is not asked for."""
    stored = stored_for(of, analysis)
    if not stored.records:
        return Opened(of, analysis, stored)
    choices = list(_choices(analysis, list(stored.records), asked))
    record = stored.records[tuple(choice.chosen for choice in choices)]()
    shown = analysis.show(record, asked)
    return Opened(of, analysis, stored, (*shown.choices, *choices), shown)


def all_opened(of: Study | Topic, abilities: frozenset[str]) -> Iterator[Opened]:
    """Every analysis that its reader may see, as it is without a choice."""
    return (opened(of, analysis, {}) for analysis in analyses_of(of).values() if analysis.ability in abilities)


def _choices(analysis: Analysis, keys: list[tuple[str, ...]], asked: Mapping[str, str]) -> Iterator[Choice]:
    """Of each key what there is for those before it."""
    for k, name in enumerate(analysis.keys):
        values = dict.fromkeys(key[k] for key in keys)
        choice = Choice.of(name, str(_KEYS[name]()), ((value, _named(name, value)) for value in values), asked)
        keys = [key for key in keys if key[k] == choice.chosen]
        yield choice


_KEYS: Mapping[str, Callable[[], str]] = {
    "dimension": lambda: _("Scored by people for"),
    "peers": lambda: _("Summaries of"),
}


def _named(key: str, value: str) -> str:
    if key != "peers":
        return value
    return _("machines and people") if value == "all" else _("machines")


# What is kept


def _of_metrics(study: Study, analysis: OfStudy, records: Mapping[tuple[str, ...], Record]) -> Stored:
    """Of human scores and metrics."""
    metrics, own = Result.objects.head(study, "metrics"), Result.objects.head(study, analysis)
    problem = own.problem or metrics.problem
    lacking = TopicMetrics.objects.filter(topic__study=study).exclude(absent={}).order_by("topic__position")
    return Stored(
        records,
        is_possible=HumanScore.objects.filter(summary__topic__study=study).exists(),
        is_old=own.version < metrics.version or not metrics.version,
        version=f"{metrics.version}-{own.version}-{problem}" if metrics.pk else "",
        problem=problem,
        notes=tuple(why_absent(lacking.select_related("topic"))),
    )


def _by_peers(analysis: OfStudy, kind: type[Any], study: Study) -> Stored:
    return _of_metrics(study, analysis, _records(study, analysis, kind))


def _pairs_of_systems(study: Study) -> Stored:
    rows = Result.objects.by_keys(study, "pairs-of-systems")
    of_peers = sorted({peers for peers, _whose, _by in rows}, reverse=True)
    records: dict[tuple[str, ...], Record] = {(peers,): partial(_study_pairs, peers, rows) for peers in of_peers}
    return _of_metrics(study, "pairs-of-systems", records)


def _study_pairs(peers: Any, rows: Mapping[tuple[str, ...], Result]) -> StudyPairs:
    def counts(by_whom: str) -> Iterator[PairCounts]:
        for (own, whose, _by), row in rows.items():
            if (own, whose) == (peers, by_whom) and row.record:
                yield from_json(PairCounts, row.record["counts"])

    return StudyPairs(peers, tuple(counts("people")), tuple(counts("metric")))


def _records(study: Study, analysis: OfStudy, kind: type[Any]) -> dict[tuple[str, ...], Record]:
    """What is kept under keys, machines before all."""
    rows = Result.objects.by_keys(study, analysis)
    return {keys: partial(rows[keys].read, kind) for keys in sorted(rows, reverse=True)}


def _sentence_ranking(topic: Topic) -> Stored:
    row = Result.objects.filter(topic=topic, analysis="sentence-ranking").first()
    has_values = topic.references.exists() or PyramidAnnotation.objects.filter(topic=topic).exists()
    version = topic.text_version + topic.peers_version + _fitted(topic)
    took = minutes.of_topic(topic)
    is_ranked = row is not None and row.record and row.record["reports"]
    return Stored(
        {(): partial(row.read, SentenceRankings)} if row and is_ranked and has_values else {},
        is_possible=has_values,
        is_old=row is None or row.version < version,
        version=f"{version}-{row.version if row else ''}-{has_values}",
        notes=() if took is None else (_("Judging took %(minutes).1f minutes.") % {"minutes": took},),
    )


def _metrics_of_topic(topic: Topic) -> Stored:
    row = TopicMetrics.objects.filter(topic=topic).select_related("topic").first()
    has_scores = any(
        model.objects.filter(summary__topic=topic).exists() for model in (ComputedScore, MetricScore, Score, HumanScore)
    )
    versions = row.version if row else 0, _fitted(topic), topic.text_version, topic.peers_version
    return Stored(
        {(): partial(metric_scores.of_topic, topic)} if has_scores else {},
        is_possible=topic.summaries.exists(),
        is_old=Topic.objects.unscored().filter(pk=topic.pk).exists(),
        version="-".join(map(str, versions)),
        notes=tuple(why_absent([row])) if row else (),
    )


def _fitted(topic: Topic) -> int:
    return TopicProgress.objects.filter(topic=topic).values_list("fitted_version", flat=True).first() or 0


def _of_examination(study: Study, record: Record) -> Stored:
    """Of what the worker finds when it looks closely at each topic with judgments that count."""
    counts = Fit.objects.newest().filter(topic=OuterRef("pk"), judgments__gt=0)
    judged = Topic.objects.filter(Exists(counts), study=study)
    rows = Result.objects.of_topics(study, "diagnostics")
    done = rows.filter(topic=OuterRef("pk"), version__gte=OuterRef("progress__fitted_version"))
    behind = judged.filter(~Exists(done)).count()
    looked = rows.filter(record__isnull=False).aggregate(topics=Count("pk"), version=Sum("version"))
    return Stored(
        {(): record} if looked["topics"] else {},
        is_possible=judged.exists(),
        is_old=behind > 0,
        version=f"{looked['topics']}-{looked['version']}-{behind}",
    )


def _coverage(study: Study) -> Stored:
    return _of_examination(study, partial(diagnostics.coverage, study))


def _misfits(study: Study) -> Stored:
    return _of_examination(study, partial(diagnostics.misfits, study))


STORED: Mapping[str, Callable[[Any], Stored]] = {
    "assessors": partial(_by_peers, "assessors", AssessorsReport),
    "document-sets": partial(_by_peers, "document-sets", DocumentSetsReport),
    "coverage": _coverage,
    "misfits": _misfits,
    "metrics": _metrics_of_topic,
    "pairs-of-systems": _pairs_of_systems,
    "sentence-ranking": _sentence_ranking,
}
