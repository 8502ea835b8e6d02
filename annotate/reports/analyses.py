"""What the worker stores for each analysis, opened for a page, a file or the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db.models import Case, Count, Exists, Max, OuterRef, QuerySet, Sum, When
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate import forecasts
from annotate.models import (
    Annotator,
    AnsweredQuestionnaire,
    ComputedScore,
    Fit,
    HumanScore,
    ItemSetProgress,
    Judgment,
    MetricScore,
    PyramidAnnotation,
    Ranking,
    Result,
    Score,
    ScoredBy,
    Study,
    Topic,
    TopicMetrics,
)
from annotate.models.analysis import version_of_examinations
from annotate.models.crowd import version_of_groups
from annotate.models.study import sum_of_topics
from annotate.reports import (
    about_annotators,
    agreement,
    comparison,
    diagnostics,
    forecast,
    metric_scores,
    minutes,
    rests_on,
    score_map,
)
from annotate.reports import leaderboard as boards
from preferendum.formats.settings import KINDS_COUNTED
from preferendum.metrics.names import why_absent
from preferendum.results import (
    AgreementReport,
    Curves,
    DimensionAgreement,
    PairCounts,
    SentenceRankings,
    StudyConvergence,
    from_json,
)
from preferendum.results.judge_card import JudgeCard
from preferendum.results.metrics import StudyPairs, main_first
from preferendum.results.scores import rests_on_answers
from preferendum.results.statement import Judged, RestsOn
from preferendum.results.statistics import LEVEL
from preferendum.show.analyses import Analysis, of_study, of_topic
from preferendum.show.analyses.both_questions import BothQuestions
from preferendum.show.shown import Choice, Shown

#: All names of choices in addresses, over all analyses.
CHOICES = (
    *("dimension", "peers", "by", "topic", "system", "scores", "scored_by", "first", "second", "topics"),
    *("difference", "pay", "currency", "question", "judge"),
)
#: A record that is read only if it is shown.
Record = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored for an analysis.

    `records`: by the analysis's keys; `is_possible`: its input exists; `is_old`: newer data await the worker;
    `version`: changes with all of this; `problem`: why the last try failed; `notes`: what it lacks; `at_work`: what the
    worker does meanwhile, "" for newer data, and `progress`, how far it is, each in a sentence; `is_among`: it rests on
    the judgments of the leading kind alone.
    """

    records: Mapping[tuple[str, ...], Record]
    is_possible: bool
    is_old: bool
    version: str
    problem: str = ""
    notes: tuple[str, ...] = ()
    at_work: str = ""
    progress: str = ""
    is_among: bool = False

    @property
    def is_left_out(self) -> bool:
        """The worker has finished and stored nothing: too much for a page, or too little."""
        return self.is_possible and not self.is_old and not self.records


@dataclass(frozen=True, slots=True)
class Opened:
    """An analysis of a study or topic with what is stored for it, and what is shown of the chosen record.

    `record`: the chosen one, for an analysis with a template of its own.
    """

    of: Study | Topic
    analysis: Analysis
    stored: Stored
    choices: tuple[Choice, ...] = ()
    shown: Shown | None = None
    record: Any = None

    @property
    def study_id(self) -> int:
        return self.of.study_id if isinstance(self.of, Topic) else self.of.pk

    @property
    def rests_on(self) -> str:
        """The judgments that the preferences rest on, in words."""
        if self.shown and self.shown.rests_on:
            return self.shown.rests_on
        own = self._of_topic(self.of) if isinstance(self.of, Topic) else self._of_study(self.of)
        if self.stored.is_among:
            return f"{_('Rests on:')} {Judged(**{KINDS_COUNTED[own.kinds][0]: own.leading}).words}"
        if own.counted.total:
            return f"{_('Preferences rest on:')} {own.counted.words}"
        return _("No judgments about sentences count yet.") if self._is_of_sentences else _("No judgments count yet.")

    @property
    def _is_of_sentences(self) -> bool:
        return self.analysis.name == "sentence-ranking"

    def _of_topic(self, topic: Topic) -> RestsOn:
        """On all judgments; the order of its sentences on those about sentences."""
        asked = boards.asked_about(topic.study, ScoredBy.RECOMMENDED, topic)
        return rests_on.of_sets(topic.study, asked) if self._is_of_sentences else rests_on.of_topic(topic)

    def _of_study(self, study: Study) -> RestsOn:
        """On all judgments, or on those of the leaderboard that it is about."""
        first_place = diagnostics.examined(study) if self.analysis.name in diagnostics.FIRST_PLACE else ""
        scored_by = self.asked.get("scored_by", first_place)
        return rests_on.of_sets(study, boards.asked_about(study, scored_by)) if scored_by else rests_on.of_study(study)

    @property
    def needs(self) -> str:
        """What there must be before there is an answer; "" if it is there."""
        return "" if self.stored.is_possible else _(self.analysis.needs)

    @property
    def asked(self) -> dict[str, str]:
        """The query that makes the same choice."""
        return {choice.name: choice.chosen for choice in self.choices if choice.chosen}

    @property
    def several(self) -> list[Choice]:
        """Choices with more than one option, which readers are offered; the API and files know all."""
        return [choice for choice in map(self._offered, self.choices) if len(choice.options) > 1]

    def _offered(self, choice: Choice) -> Choice:
        """The choice without scores as published, unless these are the study's setting or chosen."""
        is_setting = isinstance(self.of, Study) and self.of.score == "published"
        if choice.name != "scored_by" or choice.chosen == ScoredBy.PUBLISHED or is_setting:
            return choice
        return replace(choice, options=tuple(own for own in choice.options if own[0] != ScoredBy.PUBLISHED))


def analyses_of(of: Study | Topic) -> Mapping[str, Analysis]:
    """The analyses of a study, or of a topic, by name."""
    return {analysis.name: analysis for analysis in (of_topic() if isinstance(of, Topic) else of_study())}


def stored_for(of: Study | Topic, analysis: Analysis) -> Stored:
    """What is stored for the analysis; heads are read, records under keys are not."""
    if analysis.record is not None:
        assert isinstance(of, Study), "what is worked out of all scores is of a study"
        return _of_metrics(of, analysis.name, _records(of, analysis.name, analysis.record))
    return STORED[analysis.name](of)


def has_human_scores(study: Study) -> bool:
    """Whether metrics can be held against people here."""
    return HumanScore.objects.filter(summary__topic__study=study).exists()


def names_with_records(study: Study) -> set[str]:
    """The analyses of metrics with something to show, in a study with human scores."""
    kept = Result.objects.filter(study=study).exclude(choice="")
    return {*kept.values_list("analysis", flat=True).distinct(), "scores-of-summaries"}


def names_of_topic(topic: Topic) -> set[str]:
    """The analyses of metrics with something to show of a topic; none in a study without human scores."""
    rated = Exists(HumanScore.objects.filter(summary__topic__study=topic.study_id))
    rows = Topic.objects.filter(rated, pk=topic.pk).values_list("results__analysis", "results__record__reports")
    return {*(name for name, reports in rows if reports), *(["metrics"] if rows else ())}


def opened(of: Study | Topic, analysis: Analysis, asked: Mapping[str, str], abilities: frozenset[str]) -> Opened:
    """The analysis as requested, as far as its reader may see it; choices that do not exist are ignored."""
    stored = stored_for(of, analysis)
    if not stored.records:
        return Opened(of, analysis, stored)
    choices = list(_choices(of, analysis, list(stored.records), asked))
    record = stored.records[tuple(choice.chosen for choice in choices)]()
    shown = analysis.show(record, asked).for_reader(abilities)
    return Opened(of, analysis, stored, (*shown.choices, *choices), shown, record)


def all_opened(of: Study | Topic, abilities: frozenset[str]) -> Iterator[Opened]:
    """Every analysis that its reader may see, with its default choices."""
    return (
        opened(of, analysis, {}, abilities) for analysis in analyses_of(of).values() if analysis.ability in abilities
    )


def _choices(
    of: Study | Topic, analysis: Analysis, keys: list[tuple[str, ...]], asked: Mapping[str, str]
) -> Iterator[Choice]:
    """For each key, the values that exist under the keys chosen before it."""
    for k, name in enumerate(analysis.keys):
        values = dict.fromkeys(key[k] for key in keys)
        titles = _titles(of) if name == "topic" else {}
        options = [(value, titles.get(value) or _named(of, name, value)) for value in values]
        choice = Choice.of(name, str(_KEYS[name]()), options, asked)
        keys = [key for key in keys if key[k] == choice.chosen]
        yield choice


_KEYS: Mapping[str, Callable[[], str]] = {
    "dimension": lambda: _("Scored by people for"),
    "peers": lambda: _("Summaries of"),
    "topic": lambda: _("Topic"),
    "system": lambda: _("System"),
    "scored_by": lambda: _("Score"),
    "question": lambda: _("Question"),
    "judge": lambda: _("Judge"),
}


def _titles(of: Study | Topic) -> dict[str, str]:
    study_id = of.study_id if isinstance(of, Topic) else of.pk
    return dict(Topic.objects.filter(study=study_id).values_list("name", "title"))


def _named(of: Study | Topic, key: str, value: str) -> str:
    if key == "scored_by" and isinstance(of, Study):
        return boards.names_of_ways(of)[value]
    if key == "peers":
        return _("machines and people") if value == "all" else _("machines")
    return value or _("all")


# What is stored


def _of_metrics(study: Study, analysis: str, records: Mapping[tuple[str, ...], Record]) -> Stored:
    """For analyses of human scores and metrics."""
    metrics, own = Result.objects.head(study, "metrics"), Result.objects.head(study, analysis)
    problem = own.problem or metrics.problem
    return Stored(
        records,
        is_possible=bool(records) or has_human_scores(study),
        is_old=own.version < metrics.version or not metrics.version,
        version=f"{metrics.version}-{own.version}-{problem}" if metrics.pk else "",
        problem=problem,
    )


def _absent(study: Study) -> tuple[str, ...]:
    """Why metrics are missing, for some topics or all."""
    lacking = TopicMetrics.objects.filter(topic__study=study).exclude(absent={}).order_by("topic__position")
    return tuple(why_absent((str(row.topic), row.absent) for row in lacking.select_related("topic")))


def _agreement(study: Study) -> Stored:
    """Figures exist at once; slower ones are added later."""
    records: dict[tuple[str, ...], Record] = {
        keys: partial(_agreement_of, study, row) for keys, row in _by_dimension(study, "metrics").items()
    }
    stored = _of_metrics(study, "intervals", records)
    metrics, intervals, mixed = (Result.objects.head(study, name) for name in ("metrics", "intervals", "mixtures"))
    version = f"{stored.version}-{intervals.turns}-{mixed.turns}"
    return replace(stored, version=version, notes=(*_lagging(metrics, intervals), *_absent(study)))


def _lagging(metrics: Result, intervals: Result) -> Iterator[str]:
    if intervals.version < metrics.version:
        yield _("Intervals and tests of the newest figures are being worked out.")


def _agreement_of(study: Study, row: Result) -> AgreementReport:
    """Intervals are the worker's: over systems and topics, with 1,000 resamples."""
    intervals = Result.objects.of_study(study, "intervals").filter(choice=row.choice).first()
    bounded = intervals.read(DimensionAgreement) if intervals else None
    figures = from_json(DimensionAgreement, row.record).with_intervals(bounded)
    peers: Any = row.keys[0]
    return AgreementReport(peers, "both", 1000, 0, LEVEL, (figures,), minutes.by_topic(study), _is_by_raters(study))


def _is_by_raters(study: Study) -> bool:
    """Whether at least half of those whose answers count also scored summaries, by their names."""
    judged = Exists(Judgment.objects.counted().filter(assignment__annotator=OuterRef("pk")))
    rated = Exists(HumanScore.objects.filter(summary__topic__study=study, assessor=OuterRef("pseudonym")))
    raters = list(Annotator.objects.filter(judged, study=study).values_list(rated, flat=True))
    return bool(raters) and 2 * sum(raters) >= len(raters)


def _convergence(study: Study) -> Stored:
    rows = _by_dimension(study, "convergence")
    records: dict[tuple[str, ...], Record] = {keys: partial(_curves, row) for keys, row in rows.items()}
    stored = _of_metrics(study, "convergence", records)
    judged = Fit.objects.newest().filter(item_set__study=study, judgments__gt=0)
    is_possible = stored.is_possible and (bool(records) or judged.exists())
    noted = Result.objects.head(study, "convergence").record
    progress = _so_far(noted or {}) if stored.is_old else ""
    return replace(stored, is_possible=is_possible, version=f"{stored.version}-{noted}", progress=progress)


def _so_far(noted: Mapping[str, int]) -> str:
    if noted.get("to_sample"):
        return _("%(sampled)d of %(to_sample)d topics are worked out.") % noted
    return _(
        "The worker begins once nobody has judged or uploaded anything for a minute, and the intervals of the "
        "agreement are there."
    )


def _curves(row: Result) -> Curves:
    grown = from_json(StudyConvergence, row.record)
    at = date_format(row.computed_at, "j M Y, H:i")
    return Curves(grown, f"{Judged(**grown.judgments).words} ({_('computed')} {at} UTC)")


def _by_dimension(study: Study, analysis: str) -> dict[tuple[str, ...], Result]:
    """Results by dimension and peers, machines first; records are read on demand."""
    kept = Result.objects.defer("record").by_keys(study, analysis)
    rows = {(dimension, peers): row for (peers, dimension), row in kept.items()}
    return {keys: rows[keys] for keys in sorted(rows, key=lambda keys: (main_first(keys[0]), keys[1] != "machines"))}


def _pairs_of_systems(study: Study) -> Stored:
    rows = Result.objects.defer("record").by_keys(study, "pairs-of-systems")
    of_peers = sorted({peers for peers, _whose, _by in rows}, reverse=True)
    records: dict[tuple[str, ...], Record] = {(peers,): partial(_study_pairs, study, peers) for peers in of_peers}
    return _of_metrics(study, "pairs-of-systems", records)


def _study_pairs(study: Study, peers: Any) -> StudyPairs:
    rows = Result.objects.by_keys(study, "pairs-of-systems")

    def counts(by_whom: str) -> Iterator[PairCounts]:
        for (own, whose, _by), row in rows.items():
            if (own, whose) == (peers, by_whom) and row.record:
                yield from_json(PairCounts, row.record["counts"])

    metrics = sorted(counts("metric"), key=lambda own: not rests_on_answers(own.by))  # counted later
    return StudyPairs(tuple(counts("people")), tuple(metrics))


def _records(study: Study, analysis: str, kind: type[Any]) -> dict[tuple[str, ...], Record]:
    """Results under keys, machines before all."""
    rows = Result.objects.defer("record").by_keys(study, analysis)
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
        notes=() if took is None else (_took(took),),
    )


def _took(timed: minutes.Timed) -> str:
    words = ngettext(
        "%(n)d judgment whose time is known took %(minutes).1f minutes.",
        "%(n)d judgments whose time is known took %(minutes).1f minutes together.",
        timed.judgments,
    )
    return words % {"n": timed.judgments, "minutes": timed.minutes}


def _metrics_of_topic(topic: Topic) -> Stored:
    row = TopicMetrics.objects.filter(topic=topic).first()
    has_scores = any(
        model.objects.filter(summary__topic=topic).exists() for model in (ComputedScore, MetricScore, Score, HumanScore)
    )
    versions = row.version if row else 0, _fitted(topic), topic.text_version, topic.peers_version
    return Stored(
        {(): partial(metric_scores.of_topic, topic)} if has_scores else {},
        is_possible=topic.summaries.exists(),
        is_old=Topic.objects.unscored().filter(pk=topic.pk).exists(),
        version="-".join(map(str, versions)),
        notes=tuple(why_absent([(str(topic), row.absent)])) if row else (),
    )


def _scores_of_summaries(study: Study) -> Stored:
    """For all summaries, or those of a topic, of a system, or of both."""
    summaries = list(metric_scores.chosen(study).values_list("topic__name", "system__name"))
    by_topic: dict[str, list[str]] = {"": sorted({system for _topic, system in summaries})} if summaries else {}
    for topic, system in summaries:
        by_topic.setdefault(topic, []).append(system)
    topics = Topic.objects.filter(study=study)
    versions = ("text_version", "peers_version", "metrics__version", "sentence_set__progress__fitted_version")
    return Stored(
        {
            (topic, system): partial(metric_scores.of_study, study, topic, system)
            for topic, systems in by_topic.items()
            for system in ("", *systems)
        },
        is_possible=bool(summaries),
        is_old=topics.unscored().exists(),
        version="-".join(map(str, topics.aggregate(*map(Sum, versions)).values())),
        notes=_absent(study),
    )


def _fitted(topic: Topic) -> int:
    return ItemSetProgress.objects.filter(item_set=topic.pk).values_list("fitted_version", flat=True).first() or 0


_JUDGED = Exists(Fit.objects.newest().filter(item_set=OuterRef("pk"), judgments__gt=0))


def _unexamined(study: Study) -> QuerySet[Topic]:
    """The topics whose diagnostics are older than their fit, or not there yet."""
    done = Result.objects.of_topics(study, "diagnostics").filter(topic=OuterRef("pk"))
    is_done = Exists(done.filter(version__gte=OuterRef("sentence_set__progress__fitted_version")))
    return Topic.objects.filter(_JUDGED, ~is_done, study=study)


def _of_examination(study: Study, record: Callable[[Study], Any]) -> Stored:
    """For the worker's diagnostics of each topic with judgments that count."""
    behind = _unexamined(study).count()
    unjudged = Topic.objects.filter(~_JUDGED, study=study).count()
    rows = Result.objects.of_topics(study, "diagnostics").filter(record__isnull=False)
    looked = rows.aggregate(topics=Count("pk"), version=Sum("version"))
    return Stored(
        {(): partial(record, study)} if looked["topics"] else {},
        is_possible=Topic.objects.filter(_JUDGED, study=study).exists(),
        is_old=behind > 0,
        version=f"{looked['topics']}-{looked['version']}-{behind}",
        notes=(_("Topics without a judgment that counts: %(n)d.") % {"n": unjudged},) if unjudged else (),
    )


def _of_annotators(study: Study, record: Callable[[Result], Any]) -> Stored:
    """For figures about annotators, which the worker publishes together."""
    wanted = Study.objects.annotate(wanted=sum_of_topics("tally__data_version")).values_list("wanted", flat=True)
    return replace(_of_head(study, "annotators", record, wanted.get(pk=study.pk) or 1), is_among=True)


def _about_annotators(study: Study) -> Stored:
    """For what annotators answered, which nobody has to work out."""
    answered = AnsweredQuestionnaire.objects.filter(annotator__study=study)
    seen = answered.aggregate(n=Count("pk"), last=Max("pk"), asked=Max("annotator__study__questionnaires__version"))
    return Stored(
        {(): partial(about_annotators.of_study, study)} if seen["n"] else {},
        is_possible=bool(seen["n"]),
        is_old=False,
        version="{n}-{last}-{asked}".format(**seen),
    )


def _groups(study: Study) -> Stored:
    """For each question with groups of annotators who answered it."""
    wanted = Study.objects.annotate(wanted=version_of_groups()).values_list("wanted", flat=True).get(pk=study.pk) or 1
    stored = _of_head(study, "groups-of-annotators", lambda _head: None, wanted)
    results = about_annotators.results_of_groups(study).defer("record")
    asked = [keys[0] for keys in results.by_keys(study, "groups-of-annotators")]
    return replace(
        stored,
        records={(text,): partial(about_annotators.groups, study, text) for text in asked},
        is_possible=AnsweredQuestionnaire.objects.filter(annotator__study=study).exists(),
        version=f"{stored.version}-{wanted}-{len(asked)}",
        is_among=True,
    )


def _influence(study: Study) -> Stored:
    if (own := diagnostics.name_of(study, "influence")) != "influence":
        return _of_head(study, own, diagnostics.influence, _ranked(study))
    wanted = Study.objects.annotate(wanted=version_of_examinations()).values_list("wanted", flat=True).get(pk=study.pk)
    return _of_head(study, "influence", diagnostics.influence, (wanted or 1) + _unexamined(study).count())


def _smallest_set(study: Study) -> Stored:
    """If the worker has examined the study and stored no record, there is no such set."""
    own, of_influence = (diagnostics.name_of(study, name) for name in ("smallest-set", "influence"))
    influence = Result.objects.head(study, of_influence)
    wanted = influence.version or 1 if own == "smallest-set" else _ranked(study)
    stored = _of_head(study, own, diagnostics.found_set, wanted, bool(influence.record))
    return replace(stored, notes=())  # it is one of all the answers that count


def _ranked(study: Study) -> int:
    ranked = Ranking.objects.filter(study=study, scored_by=ScoredBy.WIN_RATE)
    return ranked.values_list("version", flat=True).first() or 1


def _of_head(
    study: Study, analysis: str, record: Callable[[Result], Any], wanted: int, may_be_none: bool = False
) -> Stored:
    """For results without keys, among annotators of the leading kind."""
    head = Result.objects.head(study, analysis)
    return Stored(
        {(): partial(record, head)} if head.version and (head.record or may_be_none) else {},
        is_possible=head.pk is not None or Annotator.objects.filter(study=study, judged__gt=0).exists(),
        is_old=head.version < wanted,
        version=f"{head.version}-{head.problem}",
        problem=head.problem,
        notes=(rests_on.among(study),),
    )


def _of_boards(study: Study, record: Callable[[Study, str], Any]) -> Stored:
    """For both leaderboards, the study's headline first."""
    rankings = Ranking.objects.filter(study=study).annotate(placed=Count("systems"))
    rows = list(rankings.values_list("scored_by", "placed", "version", "created_at"))
    headline = boards.headline(study)
    ways = sorted((row[0] for row in rows if row[1]), key=lambda scored_by: scored_by != headline)
    is_behind = boards.is_behind(study)
    return Stored(
        {(scored_by,): partial(record, study, scored_by) for scored_by in ways},
        is_possible=bool(ways) or boards.what_is_missing(study) in ("", "worker"),
        is_old=not ways or is_behind,
        version="-".join(map(str, (*rows, is_behind))),
    )


def inputs_of(study: Study) -> frozenset[str]:
    """What the study has for results of its own to hold against people: human scores, machines that judge summaries."""
    scores = HumanScore.objects.filter(summary__topic__study=OuterRef("pk"))
    machine = Annotator.Kind.MACHINE
    # Where machines are there, one of the first answers is theirs: nobody looks through all answers for none.
    have_judged = When(
        Exists(Annotator.objects.filter(study=OuterRef("pk"), kind=machine)), then=Exists(_about_summaries(machine))
    )
    columns = Exists(scores), Case(have_judged, default=False)
    has_scores, has_machines = Study.objects.filter(pk=study.pk).values_list(*columns)[0]
    return frozenset([*(["human scores"] if has_scores else []), *(["machines"] if has_machines else [])])


def _about_summaries(kind: str) -> QuerySet[Judgment]:
    """Judgments of whole summaries by annotators of this kind, in the study of an outer query."""
    of_summaries = {"assignment__item_set__of": "summaries", "assignment__item_set__study": OuterRef("pk")}
    return Judgment.objects.counted(kind=kind).filter(**of_summaries)


def _judge_cards(study: Study) -> Stored:
    """The card of each machine."""
    records = _records(study, "judge-cards", JudgeCard)
    head = Result.objects.head(study, "judge-cards")
    rankings = Ranking.objects.filter(study=study, scored_by=ScoredBy.WIN_RATE)
    wanted = rankings.values_list("version", flat=True).first() or 1
    both = (Exists(_about_summaries(kind)) for kind in (Annotator.Kind.MACHINE, Annotator.Kind.HUMAN))
    judged = Study.objects.filter(*both, pk=study.pk)
    return Stored(
        dict(sorted(records.items())),
        is_possible=bool(records) or judged.exists(),
        is_old=head.version < wanted,
        version=f"{wanted}-{head.version}-{head.problem}",
        problem=head.problem,
    )


def _both_questions(study: Study) -> Stored:
    """For both boards; for sentences, the recommended one."""
    stored = _of_boards(study, lambda study, scored_by: boards.of_study(study, scored_by))
    two = [stored.records.get((way,)) for way in (ScoredBy.WIN_RATE.value, ScoredBy.RECOMMENDED.value)]

    def record() -> BothQuestions:
        by_summaries, by_sentences = (read() for read in two if read is not None)
        return BothQuestions.of(by_sentences.score, by_summaries.everyone, by_sentences.everyone)

    records: dict[tuple[str, ...], Record] = {} if None in two else {(): record}
    answers = Judgment.objects.counted().filter(assignment__item_set__study=study)
    are_judged = (answers.filter(assignment__item_set__of=own).exists() for own in ("summaries", "sentences"))
    return replace(stored, records=records, is_possible=bool(records) or all(are_judged))


def _forecast(study: Study) -> Stored:
    latest = forecasts.latest(study)
    is_waiting = latest is not None and latest.state == latest.State.WAITING
    so_far: tuple[Any, ...] = (latest.pk, latest.state, latest.done) if latest else ()
    record, version = forecast.basis(study)
    return Stored(
        {(): partial(forecast.of_study, study, record, latest.record if latest else None)} if record else {},
        is_possible=record is not None or is_waiting,
        is_old=is_waiting,
        version="-".join(map(str, (*so_far, version))),
        problem=latest.problem if latest else "",
        at_work=_("The study is being simulated."),
        progress=_("%(done)d of %(steps)d simulations") % {"done": latest.done, "steps": latest.steps}
        if latest and latest.steps
        else "",
    )


STORED: Mapping[str, Callable[[Any], Stored]] = {
    "forecast": _forecast,
    "two-systems": partial(_of_boards, record=comparison.of_study),
    "judge-cards": _judge_cards,
    "both-questions": _both_questions,
    "scores-by-topic": partial(_of_boards, record=score_map.of_study),
    "influence": _influence,
    "smallest-set": _smallest_set,
    "agreement-of-annotators": partial(_of_annotators, record=agreement.named),
    "about-annotators": _about_annotators,
    "groups-of-annotators": _groups,
    "metric-agreement": _agreement,
    "convergence": _convergence,
    "coverage": partial(_of_examination, record=diagnostics.coverage),
    "misfits": partial(_of_examination, record=diagnostics.misfits),
    "metrics": _metrics_of_topic,
    "scores-of-summaries": _scores_of_summaries,
    "pairs-of-systems": _pairs_of_systems,
    "sentence-ranking": _sentence_ranking,
}
