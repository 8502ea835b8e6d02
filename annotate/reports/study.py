"""What a study holds and lacks, and the next thing to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Value
from django.utils import timezone
from django.utils.functional import cached_property

from annotate import judging
from annotate.models import (
    Annotator,
    HumanScore,
    Item,
    ItemSet,
    PyramidAnnotation,
    Ranking,
    Reference,
    Result,
    SourceDocument,
    Study,
    Summary,
    System,
    Topic,
    Upload,
    WorkerPulse,
)
from annotate.models.judging import WANTED_BY
from annotate.reports import reported_pairs, rests_on, statement
from preferendum.results.statement import RestsOn

#: Workers report every second or two; one that was silent for longer is gone.
SILENCE = timedelta(seconds=15)

UNDER_WAY = (Upload.State.WAITING, Upload.State.CONFIRMED)


#: What is worked out of metrics beside human scores, by the names of the results.
OF_METRICS = ("metrics", "intervals", "mixtures", "across-topics")
#: How a problem begins that is none of the data: the worker had other work.
BUSY = "The worker was busy"


def is_busy(problem: str) -> bool:
    """Whether the worker only had no time."""
    return problem.startswith(BUSY)


class Next(StrEnum):
    """The next thing to do in the study."""

    START_WORKER = "start_worker"
    UPLOAD_TOPICS = "upload_topics"
    WAIT = "wait"
    CONFIRM_UPLOAD = "confirm_upload"
    MEND_UPLOAD = "mend_upload"
    LOOK_AT_PROBLEM = "look_at_problem"
    OPEN = "open"
    INVITE = "invite"
    UPLOAD_DOCUMENTS = "upload_documents"
    UPLOAD_SUMMARIES = "upload_summaries"
    UPLOAD_MORE = "upload_more"
    COLLECT = "collect"
    READ = "read"


@dataclass(frozen=True, slots=True)
class TopicState:
    """One topic's progress, with its sentences and its summaries. `judgments`: of the leading kind of annotators;
    `wanted`: of it in all; `done`: those that count towards these. `of_sentences`: what its utilities rest on."""

    topic: Topic
    documents: int
    sentences: int
    references: int
    summaries: int
    without_text: int
    rests_on: RestsOn
    of_sentences: RestsOn
    wanted: int
    done: int
    is_cut: bool
    is_behind: bool
    problem: str

    @property
    def judgments(self) -> int:
        return self.rests_on.leading

    @property
    def has_only_answers(self) -> bool:
        """Whether nobody can judge it, since none of its summaries has its text here."""
        return 0 < self.without_text == self.summaries and not self.documents

    @property
    def is_faulty(self) -> bool:
        """Whether something is wrong with it; a worker that was busy tries again."""
        return bool(self.problem) and not is_busy(self.problem)


@dataclass(frozen=True)
class Overview:
    """Everything that the first page of a study shows."""

    study: Study
    topics: tuple[TopicState, ...]
    systems: int
    #: Nothing is here to judge, since imported answers came without any text.
    has_only_answers: bool
    human_scores: int
    pyramids: int
    #: Reported pairs whose sentences are still judged.
    reported: int
    annotators: int
    #: Ways of scoring by which systems are ranked, from judgments that count.
    rankings: int
    uploads: tuple[Upload, ...]
    has_worker: bool
    ranking_problem: str
    metrics_problem: str

    @property
    def documents(self) -> int:
        return sum(topic.documents for topic in self.topics)

    @property
    def sentences(self) -> int:
        return sum(topic.sentences for topic in self.topics)

    @property
    def are_sentences_judged(self) -> bool:
        """Whether annotators judge sentences."""
        return self.sentences > 0 and self.study.compares != "summaries"

    @property
    def references(self) -> int:
        return sum(topic.references for topic in self.topics)

    @property
    def summaries(self) -> int:
        return sum(topic.summaries for topic in self.topics)

    @property
    def named_topics(self) -> int:
        return sum(bool(own.topic.name) for own in self.topics)

    @property
    def judgments(self) -> int:
        return sum(topic.judgments for topic in self.topics)

    @cached_property
    def rests_on(self) -> RestsOn:
        return RestsOn.together(self.study.counted_kinds, (topic.rests_on for topic in self.topics))

    @property
    def wanted(self) -> int:
        return sum(topic.wanted for topic in self.topics)

    @property
    def done(self) -> int:
        """Judgments that count towards the wanted ones: a topic's surplus does not fill another one's gap."""
        return sum(topic.done for topic in self.topics)

    @property
    def uncut(self) -> int:
        return sum(not topic.is_cut for topic in self.topics)

    @property
    def problems(self) -> tuple[TopicState, ...]:
        return tuple(topic for topic in self.topics if topic.is_faulty)

    @property
    def refused(self) -> tuple[Upload, ...]:
        """Uploads that were refused or failed and not discarded, without the one that `next` points to."""
        states = Upload.State.REFUSED, Upload.State.FAILED
        refused = tuple(upload for upload in self.uploads if upload.state in states)
        return refused[1:] if self.next == Next.MEND_UPLOAD else refused

    @property
    def under_way(self) -> tuple[Upload, ...]:
        return tuple(upload for upload in self.uploads if upload.state in UNDER_WAY)

    @property
    def needs_worker(self) -> bool:
        """Whether work waits while no worker runs."""
        waits = any(topic.is_behind or not topic.is_cut for topic in self.topics)
        return not self.has_worker and bool(self.under_way or waits)

    @property
    def waiting_upload(self) -> Upload | None:
        """The upload that a member must act on: first one to confirm, else one to mend and send again."""
        for states in ((Upload.State.READY, Upload.State.ASKED), (Upload.State.REFUSED, Upload.State.FAILED)):
            for upload in self.uploads:
                if upload.state in states:
                    return upload
        return None

    @cached_property
    def steps(self) -> list[tuple[str, str]]:
        """The steps to the first result: each is done, now or later. Empty once there is a result."""
        if self.has_only_answers or self.rankings:
            return []
        steps = {
            "texts": bool(self.topics),
            "summaries": bool(self.summaries),
            "invite": self.annotators > 0,
            "judge": self.judgments > 0,
            "result": False,
        }
        now = next(step for step, is_done in steps.items() if not is_done)
        return [(step, "done" if is_done else "now" if step == now else "later") for step, is_done in steps.items()]

    @cached_property
    def next(self) -> Next:
        """What to do now: the first that applies, from what blocks everything to what remains when all is done."""
        waiting = self.waiting_upload
        if self.needs_worker:
            return Next.START_WORKER
        if waiting and waiting.state == Upload.State.READY:
            return Next.CONFIRM_UPLOAD
        if self.under_way or self.uncut:
            return Next.LOOK_AT_PROBLEM if self.problems else Next.WAIT
        if not self.topics:
            return Next.MEND_UPLOAD if waiting else Next.UPLOAD_TOPICS
        if self.problems:
            return Next.LOOK_AT_PROBLEM
        if self.has_only_answers:
            return Next.READ
        if not self.documents and not self.wanted:
            return Next.UPLOAD_DOCUMENTS
        if not self.summaries:
            return Next.UPLOAD_SUMMARIES
        if not self.wanted and not self.judgments:
            return Next.UPLOAD_MORE
        if self.done >= self.wanted:
            return Next.READ
        if self.study.state != Study.State.OPEN:
            return Next.OPEN
        return Next.COLLECT if self.judgments else Next.INVITE


def worker_is_there() -> bool:
    """Whether a worker gave a sign of life lately."""
    return WorkerPulse.objects.filter(at__gte=timezone.now() - SILENCE).exists()


def numbers_of(study: Study, *rows: QuerySet[Any]) -> list[int]:
    """The number of rows of each query set, in one query."""
    together = [own.order_by().annotate(together=Value(1)).values("together") for own in rows]
    numbers = [Subquery(own.annotate(number=Count("pk")).values("number")) for own in together]
    return [number or 0 for number in Study.objects.values_list(*numbers).get(pk=study.pk)]


def look_at(study: Study) -> Overview:
    """The study at present, in a dozen queries however many topics it has."""
    summaries = Summary.objects.filter(topic__in=study.topics.all())
    systems, human_scores, reported, pyramids, annotators, rankings = numbers_of(
        study,
        System.objects.filter(Exists(summaries.filter(system=OuterRef("pk"))), study=study),
        HumanScore.objects.of_all().filter(summary__in=summaries),
        reported_pairs.unsettled(study),
        PyramidAnnotation.objects.filter(topic__in=study.topics.all()),
        Annotator.objects.arrived().filter(study=study, kind=study.leading_kind),
        Ranking.objects.filter(study=study, judgments__gt=0),
    )
    return Overview(
        study=study,
        topics=topic_states(study, study.topics.all()),
        systems=systems,
        has_only_answers=judging.has_only_answers(study),
        human_scores=human_scores,
        reported=reported,
        pyramids=pyramids,
        annotators=annotators,
        rankings=rankings,
        uploads=tuple(Upload.objects.filter(study=study).exclude(state=Upload.State.DISCARDED).order_by("-pk")[:5]),
        has_worker=worker_is_there(),
        ranking_problem=_problem_of(Ranking.objects.filter(study=study)),
        metrics_problem=_problem_of(Result.objects.filter(study=study, analysis__in=OF_METRICS)),
    )


def _problem_of(rows: QuerySet[Any]) -> str:
    """Why the last try of any of them failed, if it did."""
    return rows.exclude(problem="").exclude(problem__startswith=BUSY).values_list("problem", flat=True).first() or ""


def topic_states(study: Study, topics: QuerySet[Topic]) -> tuple[TopicState, ...]:
    """The progress of each of these topics of the study."""
    read = topics.select_related("sentence_set__progress", "sentence_set__tally")
    chosen = list(read.defer("sentence_set__progress__judged"))
    keys = topics.order_by().values("pk")
    asked = ItemSet.objects.filter(topic__in=keys)
    documents = counts_by_topic(SourceDocument.objects.filter(topic__in=keys))
    items = counts_by_set(Item.objects.filter(item_set__in=asked))
    to_judge = counts_by_set(Item.objects.to_judge().filter(item_set__in=asked))
    references = counts_by_topic(Reference.objects.filter(topic__in=keys))
    summaries = counts_by_topic(Summary.objects.filter(topic__in=keys))
    without_text = counts_by_topic(Summary.objects.filter(topic__in=keys, has_text=False))
    judged, wanted = dict[int, RestsOn](), dict[int, int]()
    sets_of: dict[int, list[int]] = {topic.pk: [] for topic in chosen}
    for own in rests_on.judged_in(asked):
        sets_of[own.topic_id].append(own.pk)
        judged[own.pk] = own.rests_on(study.counted_kinds)
        wanted[own.pk] = wanted_of(study, to_judge.get(own.pk, 0), of_summaries=own.of == "summaries")
    states = []
    for topic in chosen:
        both = sets_of[topic.pk]
        progress = getattr(topic.sentence_set, "progress", None)
        states.append(
            TopicState(
                topic=topic,
                documents=documents.get(topic.pk, 0),
                sentences=items.get(topic.pk, 0),
                references=references.get(topic.pk, 0),
                summaries=summaries.get(topic.pk, 0),
                without_text=without_text.get(topic.pk, 0),
                rests_on=RestsOn.together(study.counted_kinds, map(judged.__getitem__, both)),
                of_sentences=judged[topic.pk],
                wanted=sum(wanted[key] for key in both),
                done=sum(min(judged[key].leading, wanted[key]) for key in both),
                is_cut=topic.is_cut,
                is_behind=topic.is_cut and not topic.is_fitted,
                problem=progress.problem if progress else "",
            )
        )
    return tuple(states)


@dataclass(frozen=True, slots=True)
class StudyLine:
    """One study in a list of studies. `done`: the judgments that count towards the `wanted` ones, as in its overview.

    `judged_at`: the last judgment that is neither simulated nor imported; `lines`: what its answers say.
    """

    study: Study
    topics: int
    done: int
    wanted: int
    judged_at: datetime | None
    lines: tuple[statement.Line, ...] = ()


def study_lines(studies: QuerySet[Study]) -> tuple[StudyLine, ...]:
    """These studies with their progress, the newest first."""
    newest_first = list(studies.order_by("-pk"))
    to_judge = Item.objects.to_judge().filter(item_set__study__in=newest_first, item_set__removal=None)
    texts = Counter(counts_by_set(to_judge))
    by_key = {study.pk: study for study in newest_first}
    topics, done, wanted = Counter[int](), Counter[int](), Counter[int]()
    judged_at: dict[int, datetime] = {}
    for own in rests_on.judged_in(ItemSet.objects.filter(study__in=newest_first)):
        study = by_key[own.study_id]
        topics[study.pk] += own.of != "summaries"
        most = wanted_of(study, texts[own.pk], of_summaries=own.of == "summaries")
        wanted[study.pk] += most
        done[study.pk] += min(own.rests_on(study.counted_kinds).leading, most)
        if last := own.judged_at(study.counted_kinds):
            judged_at[study.pk] = max(last, judged_at.get(study.pk, last))
    records = statement.of_studies(newest_first)
    return tuple(
        StudyLine(
            study=study,
            topics=topics[study.pk],
            done=done[study.pk],
            wanted=wanted[study.pk],
            judged_at=judged_at.get(study.pk),
            lines=tuple(statement.lines(records.get(study.pk))),
        )
        for study in newest_first
    )


def wanted_of(study: Study, texts: int, *, of_summaries: bool = False) -> int:
    """How many judgments the study wants of a topic with so many texts (sentences or summaries), at most as many as its
    pairs take."""
    most = getattr(study, WANTED_BY.get((study.compares, of_summaries), ""), 0)
    return min(most, texts * (texts - 1) // 2 * study.judgments_per_pair)


def counts_by_topic(rows: QuerySet[Any]) -> dict[int, int]:
    """How many of these rows each topic has."""
    return dict(rows.order_by().values_list("topic_id").annotate(Count("pk")))


def counts_by_set(items: QuerySet[Item]) -> dict[int, int]:
    """How many of these items each set has."""
    return dict(items.order_by().values_list("item_set_id").annotate(Count("pk")))
