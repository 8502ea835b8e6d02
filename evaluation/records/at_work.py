"""What analyses of the plug-in find and where they keep their records: loaded and saved for all alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db.models import Count, F

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import Result, Study, Topic
from evaluation.records import derived
from evaluation.records.assessors import load_assessed
from evaluation.records.evidence import Snapshot, Split, load_evidence
from evaluation.records.metrics import OF_TOPIC, load_study_scores
from evaluation.records.mixtures import is_judged, version_to_mix
from evaluation.records.sentence_ranking import has_values, topics_with_unranked_sentences
from preferendum.evidence import Evidence, Settings, evidence
from preferendum.work import JudgedTopic, Keys, Work
from preferendum.work.ratings import Assessed
from preferendum.work.scores import Scores

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyAtWork:
    """A study at one version (`preferendum.work.AtWork`); of a work of topics, one topic of it."""

    work: Work
    study_id: int
    version: int
    split: Split
    seed: int
    texts_version: int = 0
    loaded: Scores | None = None
    ratings: Assessed | None = None
    topics: tuple[JudgedTopic, ...] = ()

    @property
    def scores(self) -> Scores:
        """Raises `LookupError` where the work does not say that it needs them."""
        if self.loaded is None:
            raise LookupError(f"{self.work.name} does not say that it needs scores")
        return self.loaded

    def evidence(self, topic: JudgedTopic) -> tuple[Evidence, Settings] | None:
        loaded = load_with_sources(topic.key, self.split)
        return None if loaded is None else (loaded.evidence, loaded.settings)

    def kept(self, kind: type[Record], of: str = "") -> Mapping[Keys, Record]:
        rows = Result.objects.by_keys(self.study_id, of or self.work.name)
        records = {keys: row.record if kind is dict else row.read(kind) for keys, row in rows.items()}
        return {keys: record for keys, record in records.items() if record is not None}

    def noted(self) -> Any:
        return Result.objects.head(self.study_id, self.work.name).record

    def keep(self, keys: Keys, record: Any) -> None:
        derived.keep(self.study_id, self.work.name, keys, record)

    def keep_of_topic(self, topic: JudgedTopic, record: Any) -> None:
        derived.keep_of_topic(topic.key, self.work.of_topics, topic.version, record)

    def note(self, noted: Any) -> None:
        derived.note(self.study_id, self.work.name, record=noted)

    def finish(self, keys: Collection[Keys]) -> None:
        derived.finish(self.study_id, self.work.name, self.version, keys)

    def publish(self, records: Mapping[Any, Any], noted: Any = None) -> None:
        derived.publish(self.study_id, self.work.name, self.version, records, noted)


@snapshot()
def load_at_work(work: Work, key: int, split: Split) -> StudyAtWork | None:
    """What the work needs of a study, or of a topic if it is of topics; None if that is gone, or nothing is to do."""
    if work.when == "valued":
        return _topic_at_work(work, key, split)
    study = Study.objects.filter(pk=key).first()
    if study is None:
        return None
    topics = tuple(_judged_topics(study, work.of_topics)) if "topics" in work.needs else ()
    if "scores" not in work.needs:
        version = version_to_mix(key)
        if version is None:
            return None
        return StudyAtWork(work=work, study_id=key, version=version, split=split, seed=study.seed, topics=topics)
    scores = load_study_scores(key, with_annotators="annotators" in work.needs)
    if scores is None:
        return None
    return StudyAtWork(
        work=work,
        study_id=key,
        version=scores.version,
        split=split,
        seed=study.seed,
        texts_version=scores.texts_version,
        loaded=scores.scores,
        ratings=load_assessed(key, work.most_ratings) if "ratings" in work.needs else None,
        topics=topics,
    )


def load_with_sources(topic_id: int, split: Split) -> Snapshot | None:
    """What a fit of the topic rests on, with its references and its Pyramid; None if it is gone or not prepared."""
    loaded = load_evidence(topic_id, split)
    record = next(exports.topic_records(Topic.objects.filter(pk=topic_id)), None)
    if loaded is None or record is None:
        return None
    texts = evidence(replace(record, documents=(), summaries=(), language=loaded.evidence.language))
    return replace(loaded, evidence=replace(loaded.evidence, references=texts.references, pyramid=texts.pyramid))


def _judged_topics(study: Study, analysis: str) -> list[JudgedTopic]:
    rows = {row.topic_id: row for row in Result.objects.of_topics(study.pk, analysis)}
    judged = (
        Topic.objects.filter(is_judged(), study=study)
        .annotate(version=sum(map(F, OF_TOPIC)), length=Count("sentence_set__items"), valued=has_values())
        .filter(version__isnull=False)
        .order_by("position")
    )
    return [
        JudgedTopic(key, name, version, length, valued, _kept(rows.get(key), version))
        for key, name, version, length, valued in judged.values_list("pk", "name", "version", "length", "valued")
    ]


def _kept(row: Result | None, version: int) -> Any:
    return row.record if row is not None and row.version == version else None


def _topic_at_work(work: Work, key: int, split: Split) -> StudyAtWork | None:
    topic = topics_with_unranked_sentences().filter(pk=key).select_related("study").first()
    if topic is None:
        return None
    version: int = topic.wanted  # type: ignore[attr-defined]  # annotated
    own = JudgedTopic(topic.pk, topic.name, version, 0, has_values=True, kept=None)
    return StudyAtWork(
        work=work, study_id=topic.study_id, version=version, split=split, seed=topic.study.seed, topics=(own,)
    )
