"""Load the judgments of whole summaries, over all topics at once, and save the win rates that follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import BigIntegerField, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from numpy.typing import NDArray

from annotate import exports
from annotate.database.rows import put
from annotate.database.snapshot import snapshot
from annotate.models import (
    Annotator,
    Fit,
    Item,
    ItemSet,
    ItemSetProgress,
    Judgment,
    Ranking,
    Score,
    ScoredBy,
    Study,
    Suggestion,
    Summary,
    System,
    Tally,
    Topic,
)
from annotate.models.analysis import of_head
from annotate.reports import rests_on
from evaluation.records.results import Standings, save_ranking
from preferendum.about import __version__
from preferendum.evidence import Evidence, evidence
from preferendum.formats.answers import SHARES
from preferendum.results import Outcome, Standing
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.stopping import StopRule
from preferendum.scoring.win_rate import ENDS, Answers, WinRates, in_topics

WIN_RATE = ScoredBy.WIN_RATE
BATCH = 500
#: So many pairs of each topic are drawn at least, and at most such that pairs x systems squared take no minutes.
FEWEST_PAIRS, MOST_WORK = 8, 2e9


@dataclass(frozen=True, slots=True)
class ComparedTopic:
    """The summaries of a topic as people compare them, at one version; `summaries`: the key of each, by system;
    `texts`: the key of what is compared, and its text, by system; `judged`: its judgments, as pages count them."""

    key: int
    name: str
    version: int
    summaries: Mapping[str, int]
    texts: Mapping[str, tuple[int, str]]
    judged: Sequence[rests_on.Group]


@dataclass(frozen=True, slots=True)
class ComparedSummaries:
    """The judgments of a study's summaries, at one moment. `annotators`: their keys, by number; `leading`: the
    numbers of those of the kind whose influence is computed; `judgments`: the keys of the answers; `planned`:
    so many a topic.
    """

    study_id: int
    version: int
    topics: tuple[ComparedTopic, ...]
    answers: Answers
    annotators: tuple[int, ...]
    leading: tuple[int, ...]
    judgments: tuple[int, ...]
    settings: Mapping[str, Any]
    stop_rule: StopRule | None
    planned: int

    @property
    def has(self) -> NDArray[np.bool_]:
        """(topics, systems): whether there is a summary."""
        systems = self.answers.systems
        return np.array([[name in topic.summaries for name in systems] for topic in self.topics], dtype=np.bool_)

    @property
    def texts(self) -> dict[str, dict[str, str]]:
        """The text that annotators read, by topic and system; without summaries that are never shown."""
        return {topic.name: {system: text for system, (_key, text) in topic.texts.items()} for topic in self.topics}

    def outcome(self, outcome: Outcome) -> Outcome:
        """The outcome of a what-if, with the number of topics where each system was judged."""
        return replace(outcome, topics=self.number_judged, systems=in_topics(self.answers, outcome.systems))

    @property
    def number_judged(self) -> int:
        """The number of topics that answers are about."""
        return len(set(self.answers.topic.tolist()))


def studies_with_new_answers() -> QuerySet[Study]:
    """Studies whose win rates are older than what was said of summaries. Adds the `wanted` version."""
    ranked = Ranking.objects.filter(study=OuterRef("pk"), scored_by=WIN_RATE).values("version")
    compared = Exists(Tally.objects.filter(item_set__study=OuterRef("pk"), of_summaries=True))
    studies = _with_version(Study.objects.filter(compared)).alias(ranked=Subquery(ranked))
    return studies.filter(Q(ranked__isnull=True) | Q(ranked__lt=F("wanted")))


def studies_with_unexamined_answers() -> QuerySet[Study]:
    """Studies ranked by win rates after these were last examined. Adds the `wanted` version."""
    ranked = Ranking.objects.filter(study=OuterRef("pk"), scored_by=WIN_RATE).values("version")
    studies = Study.objects.annotate(wanted=Subquery(ranked))
    return studies.alias(done=of_head("win-rate-smallest-set")).filter(wanted__gt=F("done"))


def studies_with_later_systems() -> QuerySet[Study]:
    """Studies ranked by win rates with systems that nobody judged and that are not predicted yet. Adds the `wanted`
    version."""
    rankings = Ranking.objects.filter(study=OuterRef("pk"), scored_by=WIN_RATE, judgments__gt=0)
    with_text = System.objects.filter(study=OuterRef("pk"), summaries__has_text=True)
    unjudged = with_text.exclude(standings__ranking__scored_by=WIN_RATE)
    studies = Study.objects.annotate(wanted=Subquery(rankings.values("version")))
    return studies.alias(done=of_head("later-systems")).filter(Exists(unjudged), wanted__gt=F("done"))


def load_summarized(study_id: int) -> list[Evidence]:
    """The topics of a study with their texts."""
    study = Study.objects.get(pk=study_id)
    with snapshot():
        topics = list(exports.topic_records(Topic.objects.filter(study=study).order_by("position")))
    return [evidence(replace(topic, language=topic.language or study.language)) for topic in topics]


def _with_version(studies: QuerySet[Study]) -> QuerySet[Study]:
    """It rises with every topic, so that pairs of it are suggested before there are answers."""
    now, last = F("item_sets__tally__data_version") + 1, F("item_sets__last_data_version")
    of_summaries = Q(item_sets__of="summaries")
    versions = Sum(Coalesce(now, last, output_field=BigIntegerField()), filter=of_summaries)
    return studies.annotate(wanted=Coalesce(versions, 0) + F("removed_version"))


def _version_of(study_id: int) -> int:
    return next((int(study.wanted) for study in _with_version(Study.objects.filter(pk=study_id))), 0)  # type: ignore[attr-defined]


def load_compared(
    study_id: int, but: Collection[int] = (), also: Collection[int] = (), kind: str = ""
) -> ComparedSummaries | None:
    """Everything as it was at one moment; None where summaries are not compared. Annotators `but` are left out, `also`
    are included although they are excluded; a `kind` of annotators, if given, counts alone."""
    with snapshot():
        study = Study.objects.filter(pk=study_id).first()
        topics = tuple(_topics(study_id))
        if study is None or not topics:
            return None
        rows = Judgment.objects.counted(also, kind).filter(assignment__item_set__in=[topic.key for topic in topics])
        answers, annotators, judgments = _answers(rows.exclude(assignment__annotator__in=list(but)), topics)
        leading = Annotator.objects.filter(pk__in=annotators, kind=study.leading_kind).values_list("pk", flat=True)
        return ComparedSummaries(
            study_id=study_id,
            version=_version_of(study_id),
            topics=topics,
            answers=answers,
            annotators=annotators,
            leading=tuple(annotators.index(key) for key in leading),
            judgments=judgments,
            settings={"score": WIN_RATE.value, "counted_kinds": study.counted_kinds},
            stop_rule=stop_rule_of(study, len(topics)),
            planned=study.summary_judgments_per_topic,
        )


def stop_rule_of(study: Study, topics: int) -> StopRule | None:
    """The rule that the study stops by, if any; summaries of so many topics are compared."""
    return StopRule(study.summary_judgments_per_topic * topics) if study.stop_rule else None


def _topics(study_id: int) -> Iterable[ComparedTopic]:
    tallies = Tally.objects.filter(item_set__study=study_id, of_summaries=True).order_by("item_set__topic__position")
    columns = "item_set_id", "item_set__topic__name", "item_set__topic", "data_version"
    rows = list(tallies.values_list(*columns))
    keys = Summary.keys_of([topic for _key, _name, topic, _version in rows])
    summaries: dict[int, dict[str, int]] = {topic: {} for _key, _name, topic, _version in rows}
    for (topic, system), key in keys.items():
        summaries[topic][system] = key
    texts: dict[int, dict[str, tuple[int, str]]] = {key: {} for key, *_rest in rows}
    items = Item.objects.to_judge().filter(item_set__in=texts).order_by("position")
    for item_set, pk, system, text in items.values_list("item_set", "pk", "system", "text"):
        texts[item_set][system] = pk, text
    judged = {own.pk: own.groups for own in rests_on.judged_in(ItemSet.objects.filter(pk__in=texts))}
    return (
        ComparedTopic(key, name, version, summaries[topic], texts[key], judged[key])
        for key, name, topic, version in rows
    )


def _answers(
    rows: QuerySet[Judgment], topics: tuple[ComparedTopic, ...]
) -> tuple[Answers, tuple[int, ...], tuple[int, ...]]:
    """The answers by topics, in the order in which they were stored; the keys of annotators, by number, in the order of
    their first ones; those of the judgments. An answer that no file says whose it is has the number -1.
    """
    systems = tuple(sorted({system for topic in topics for system in topic.summaries}))
    number = {system: k for k, system in enumerate(systems)}
    place = {topic.key: k for k, topic in enumerate(topics)}
    pair = "assignment__pair"
    columns = (
        *("answer", "assignment__swapped", "assignment__item_set", "assignment__annotator"),
        *(f"{pair}__first__system", f"{pair}__second__system", "pk", "assignment__annotator__is_unnamed"),
    )
    about_present = [row for row in rows.values_list(*columns) if row[4] in number and row[5] in number]
    about_present.sort(key=lambda row: place[row[2]])
    who = {key: k for k, key in enumerate(dict.fromkeys(row[3] for row in about_present if not row[7]))}
    table = np.array(
        [
            (place[row[2]], number[row[5 if row[1] else 4]], number[row[4 if row[1] else 5]], who.get(row[3], -1))
            for row in about_present
        ],
        dtype=np.int64,
    ).reshape(-1, 4)
    return (
        Answers(
            systems=systems,
            topics=tuple(topic.name for topic in topics),
            topic=table[:, 0],
            first=table[:, 1],
            second=table[:, 2],
            outcome=np.array([SHARES[row[0]] for row in about_present], dtype=np.float64),
            weight=np.ones(len(about_present)),
            annotator=table[:, 3],
        ),
        tuple(who),
        tuple(row[6] for row in about_present),
    )


def standing_by_keys(compared: ComparedSummaries, standing: Standing) -> Standing:
    """The standing with the keys of annotators in place of their numbers, as the worker keeps shares of annotators."""
    if standing.shares is None:
        return standing
    keys = tuple(compared.annotators[int(number)] for number in standing.shares.annotators)
    return replace(standing, shares=replace(standing.shares, annotators=keys))


def pairs_owed(compared: ComparedSummaries) -> int:
    """How many pairs of each topic are to be drawn; 0 where they were, for these texts: no answer changes them."""
    size = len(compared.topics) * max(len(compared.answers.systems), 1) ** 2
    count = max(FEWEST_PAIRS, min(compared.planned, int(MOST_WORK / size)))
    keys = [topic.key for topic in compared.topics]
    drawn: dict[int, list[tuple[int, int]]] = {key: [] for key in keys}
    rows = Suggestion.objects.filter(item_set__in=keys).order_by("rank").values_list("item_set", "first", "second")
    for key, first, second in rows:
        drawn[key].append((first, second))
    asked, every = set[str](), set[str]()
    for topic in compared.topics:
        system = {key: name for name, (key, _text) in topic.texts.items()}
        own = [pair for pair in drawn[topic.key] if system.keys() >= set(pair)]
        alike = Counter(text for _key, text in topic.texts.values()).values()
        possible = comb(len(topic.texts), 2) - sum(comb(n, 2) for n in alike)
        if len(own) < min(count, possible):
            return count
        asked |= {system[key] for pair in own for key in pair}
        every |= topic.texts.keys() if possible else set()
    return count if every - asked and len(every) <= 2 * count * len(keys) else 0


def save_win_rates(
    compared: ComparedSummaries,
    rates: WinRates | None,
    to_ask: Mapping[str, Sequence[tuple[str, str]]] | None,
    seconds: float,
) -> bool:
    """Publish the win rates of systems and of summaries, and the pairs to suggest by topic, all at once; False if these
    or newer ones are there.

    `rates` None: there are no answers that count; `to_ask` None: the pairs stay.
    """
    standings = () if rates is None else (standing_by_keys(compared, rates.standing),)
    comparison = Comparison(standings, stop_rule=compared.stop_rule)
    ranked = in_topics(compared.answers, comparison.ranked(*ENDS))
    of_study = Standings(
        study_id=compared.study_id,
        scored_by=WIN_RATE,
        version=compared.version,
        judgments=len(compared.answers),
        settings=compared.settings,
        topics=standings,
        coverage={},
        stop_rule=compared.stop_rule,
        number=compared.number_judged,
    )
    with transaction.atomic():
        if not save_ranking(of_study, ranked, comparison.columns(), comparison.ground):
            return False
        fits = _add_fits(compared, rates, seconds)
        if rates is None:
            Score.objects.filter(summary__topic__study=compared.study_id, scored_by=WIN_RATE).delete()
        else:
            _save_scores(compared, rates, fits)
        if to_ask is not None:
            for topic in compared.topics:
                _suggest(topic, to_ask.get(topic.name, ()))
    return True


def _suggest(topic: ComparedTopic, pairs: Sequence[tuple[str, str]]) -> None:
    keys = [sorted(topic.texts[system][0] for system in pair) for pair in pairs]
    columns = {
        "item_set_id": [topic.key] * len(keys),
        "first_id": [first for first, _second in keys],
        "second_id": [second for _first, second in keys],
        "rank": range(len(keys)),
        "is_random": [False] * len(keys),
        "design_weight": [0.0] * len(keys),
        "drawn_for": [None] * len(keys),
    }
    put(Suggestion, ["item_set_id", "rank"], columns)
    Suggestion.objects.filter(item_set=topic.key, rank__gte=len(keys)).delete()


def _add_fits(compared: ComparedSummaries, rates: WinRates | None, seconds: float) -> dict[int, int]:
    """Store a fit of each topic with new answers. Returns the key of every topic's newest fit."""
    fits = Fit.objects.filter(item_set__in=[topic.key for topic in compared.topics], scored_by=WIN_RATE)
    fitted = dict(fits.order_by("data_version").values_list("item_set", "data_version"))
    new = [(k, topic) for k, topic in enumerate(compared.topics) if fitted.get(topic.key) != topic.version]
    judgments = Counter(compared.answers.topic.tolist())
    learnt = {} if rates is None else {"variances": list(rates.effects.variances)}
    rows = [
        Fit(
            item_set_id=topic.key,
            scored_by=WIN_RATE,
            data_version=topic.version,
            judgments=judgments[k],
            sentences=len(topic.texts),
            settings=dict(compared.settings) | learnt,
            program_version=__version__,
            residual=0.0 if rates is None else rates.effects.residual,
            iterations=0 if rates is None else rates.effects.iterations,
            seconds=seconds,
            created_at=timezone.now(),
        )
        for k, topic in new
    ]
    Fit.objects.bulk_create(rows, BATCH)
    progress = [
        ItemSetProgress(item_set_id=topic.key, fitted_version=topic.version, judged=topic.judged) for _k, topic in new
    ]
    update: dict[str, Any] = {"unique_fields": ["item_set"], "update_fields": ["fitted_version", "judged"]}
    ItemSetProgress.objects.bulk_create(progress, BATCH, update_conflicts=True, **update)
    return dict(fits.order_by("data_version").values_list("item_set", "pk"))


def _save_scores(compared: ComparedSummaries, rates: WinRates, fits: Mapping[int, int]) -> None:
    """Save the scores of all summaries: what is said on one topic tells of systems, and so of their other summaries."""
    present = set(Summary.objects.filter(topic__study=compared.study_id).values_list("pk", flat=True))
    rows = [
        (fits[topic.key], topic.summaries[mean.system], mean)
        for topic, (_name, scores) in zip(compared.topics, rates.by_topic(), strict=True)
        for mean in scores.means()
        if topic.summaries.get(mean.system) in present
    ]
    same: dict[str, Any] = {"scored_by": WIN_RATE.value, "coverage": None, "by_length": None, "parts": "[]"}
    columns: dict[str, Any] = {
        "fit_id": [fit for fit, *_rest in rows],
        "summary_id": [summary for _fit, summary, _mean in rows],
        "score": [mean.score for *_rest, mean in rows],
        "se": [mean.se for *_rest, mean in rows],
        "low": [mean.low for *_rest, mean in rows],
        "high": [mean.high for *_rest, mean in rows],
    }
    columns |= {name: [value] * len(rows) for name, value in same.items()}
    put(Score, ["summary_id", "scored_by"], columns)
