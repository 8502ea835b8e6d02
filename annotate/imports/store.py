"""Store an upload's texts, their sentences, and judgments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotate import judging
from annotate.database.rows import add, recount
from annotate.imports import compared
from annotate.imports.holding import hold
from annotate.imports.memory import refuse_large_topics
from annotate.imports.metrics import store_metric_scores
from annotate.imports.recutting import add_topics, columns_of_sentences
from annotate.imports.replacing import (
    columns_of,
    compare,
    content_of,
    drop_scores_of_old_texts,
    keep_before,
    replace,
    with_other_documents,
)
from annotate.models import (
    Annotator,
    HumanScore,
    Item,
    ItemSet,
    PyramidAnnotation,
    Reference,
    SourceDocument,
    Study,
    Summary,
    System,
    Topic,
    Upload,
)
from preferendum import formats
from preferendum.formats.not_judged import marked
from preferendum.formats.pyramid import Annotation
from preferendum.formats.readers.pyramid_json import annotation_as_json, located
from preferendum.formats.sentences import cut_text

BATCH = 500


def store(
    study: Study, bundle: formats.Bundle, *, kind: str = Annotator.Kind.HUMAN, pseudonym: str = ""
) -> list[Topic]:
    """Store a bundle in one transaction, or nothing; returns the new topics.

    Texts are cut before it begins. Judgments that state their kind (as our exports do) keep it; all others are of
    `kind`, under `pseudonym` where they name no annotator. Uploads are stored in short steps instead (`uploads`), while
    others judge.
    """
    bundle = cut_bundle(study, bundle)
    with transaction.atomic():
        topics = store_texts(study, bundle)
        judging.import_judgments(study, bundle.preferences, kind, pseudonym)
    return topics


def cut_bundle(study: Study, bundle: formats.Bundle) -> formats.Bundle:
    """The bundle with the sentences of its new topics, and of existing ones whose documents differ.

    Raises `formats.Refused` for topics that the worker has too little memory for.
    """
    languages = [(topic, topic.language) for topic in bundle.topics]
    languages += [(record, topic.language) for topic, record in with_other_documents(study, bundle)]
    cuts = {
        record.topic_id: marked({text.name: cut_text(text, own or study.language) for text in record.documents})
        for record, own in languages
    }
    refuse_large_topics({name: sum(map(len, documents.values())) for name, documents in cuts.items()})
    return dataclasses.replace(bundle, cuts=cuts)


def store_texts(study: Study, bundle: formats.Bundle) -> list[Topic]:
    """Store a bundle's topics and its data for existing ones, in the caller's transaction; returns the new topics.

    The worker cuts new topics that are not in `Bundle.cuts`.
    """
    hold(study.pk)
    topics = store_topics(study, bundle)
    late = store_late(study, bundle)
    judging.open_tallies(ItemSet.objects.filter(topic__in=topics))
    judging.raise_version(late)
    return topics


def store_topics(study: Study, bundle: formats.Bundle, upload: Upload | None = None) -> list[Topic]:
    """Store new topics with all their texts and scores, in the caller's transaction."""
    topics = _store_topics(study, bundle, upload)
    keys = {topic.name: topic.pk for topic in topics}
    summaries = [(keys[topic.topic_id], summary) for topic in bundle.topics for summary in topic.summaries]
    _store_summaries(study, summaries, upload)
    _store_scores((row for topic_id, summary in summaries for row in _scores_of(topic_id, summary)), upload)
    store_metric_scores(row for topic_id, summary in summaries for row in _metrics_of(topic_id, summary))
    compared.keep_in_step(study, list(keys.values()), upload=upload)
    compared.open_judged(study, [(preference.topic, preference.of) for preference in bundle.preferences], upload)
    recount(Topic, ItemSet, Item, Summary)
    return topics


def store_late(study: Study, bundle: formats.Bundle, upload: Upload | None = None) -> set[int]:
    """Store a bundle's data for existing topics, in the caller's transaction; returns the topics to be fitted again.

    What differs is replaced (`replacing`).
    """
    if not bundle.has_late:
        return set()
    keys = dict(Topic.objects.filter(study=study).values_list("name", "pk"))
    seen = compare(study, bundle)
    removal = keep_before(study, upload.user, seen, upload.filename, upload=str(upload.key)) if upload else None
    if upload and upload.preview.get("drops_scores"):
        drop_scores_of_old_texts(study, upload.user, seen, upload.filename)
    with_summaries = replace(seen, removal, upload) | {topic_id for topic_id, _summary in seen.summaries}
    _store_summaries(study, seen.summaries, upload)
    compared.keep_in_step(study, with_summaries | seen.topics_of("topics"), removal)
    _store_references(seen.references, upload)
    scores = [
        (keys[score.topic], score.system, score.dimension, score.assessor, score.score) for score in seen.human_scores
    ]
    _store_scores(scores, upload)
    _store_means([*scores, *seen.changed_scores()], upload)
    metric_scores = [(keys[row.topic], row.system, row.metric, row.score) for row in bundle.metric_scores]
    metric_scores += [row for late in bundle.summaries for row in _metrics_of(keys[late.topic], late.summary)]
    store_metric_scores(metric_scores)
    for name, annotation in bundle.pyramids.items():
        _store_pyramid(keys[name], annotation, upload)
    others = {topic_id for topic_id, _reference in seen.references}
    others |= {row[0] for row in scores} | {row[0] for row in metric_scores} | {keys[name] for name in bundle.pyramids}
    Topic.objects.filter(pk__in=with_summaries | others).score_anew()
    return with_summaries


def remove_topics(upload: Upload) -> None:
    """Delete the topics of an upload that will not be stored, with all their texts, in the caller's transaction."""
    Topic.with_unfinished.filter(upload=upload).delete()
    System.objects.filter(study=upload.study_id, summaries=None).delete()


def _store_topics(study: Study, bundle: formats.Bundle, upload: Upload | None) -> list[Topic]:
    records, cuts = bundle.topics, bundle.cuts
    last = Topic.with_unfinished.filter(study=study).aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    topics = add_topics(
        [
            Topic(
                study=study,
                name=record.topic_id,
                title=record.title,
                question=record.question,
                language=record.language,
                base=record.base,
                position=position,
                cut_version=int(record.topic_id in cuts),
                extra=dict(record.extra),
                upload=upload,
            )
            for position, record in enumerate(records, first)
        ],
        BATCH,
    )
    documents = SourceDocument.objects.bulk_create(
        [
            SourceDocument(topic=topic, **columns)
            for topic, record in zip(topics, records, strict=True)
            for columns in _columns(record.documents)
        ],
        BATCH,
    )
    sentences = (
        {"item_set_id": topic.pk, **row}
        for topic, own in groupby(documents, lambda document: document.topic)
        if topic.name in cuts
        for row in columns_of_sentences([(document, cuts[topic.name].get(document.name, ())) for document in own])
    )
    add(Item, sentences)
    Reference.objects.bulk_create(
        [
            Reference(topic=topic, upload=upload, **columns)
            for topic, record in zip(topics, records, strict=True)
            for columns in _columns(record.references)
        ],
        BATCH,
    )
    PyramidAnnotation.objects.bulk_create(
        [
            PyramidAnnotation(topic=topic, upload=upload, **_annotation(record.pyramid))
            for topic, record in zip(topics, records, strict=True)
            if record.pyramid
        ],
        BATCH,
    )
    return topics


def _store_pyramid(topic_id: int, annotation: Annotation, upload: Upload | None) -> None:
    """Store a Pyramid, in place of an existing one."""
    references = {row.name: row.whole for row in Reference.objects.filter(topic=topic_id)}
    rows = Summary.objects.filter(topic=topic_id).select_related("system")
    columns = _annotation(located(annotation, references, {row.system.name: row.whole for row in rows}))
    PyramidAnnotation.objects.update_or_create(topic_id=topic_id, defaults=columns | {"upload": upload})


def _annotation(pyramid: Annotation) -> dict[str, Any]:
    return {"data": annotation_as_json(pyramid), "assessor": pyramid.assessor}


def _store_references(references: Sequence[tuple[int, formats.Text]], upload: Upload | None) -> None:
    """Store references after existing ones."""
    last = Reference.objects.filter(topic__in={topic_id for topic_id, _text in references}).order_by()
    following = {topic_id: position + 1 for topic_id, position in last.values_list("topic").annotate(Max("position"))}
    for topic_id, text in references:
        position = following.get(topic_id, 0)
        following[topic_id] = position + 1
        Reference.objects.create(
            topic_id=topic_id, name=text.name, position=position, upload=upload, **content_of(text)
        )


def _columns(texts: Iterable[formats.Text]) -> Iterable[dict[str, Any]]:
    for position, text in enumerate(texts):
        yield {"name": text.name, "position": position, **content_of(text)}


def _store_summaries(study: Study, summaries: Sequence[tuple[int, formats.Summary]], upload: Upload | None) -> None:
    wanted = {summary.name for _topic, summary in summaries}
    stored = set(System.objects.filter(study=study).values_list("name", flat=True))
    System.objects.bulk_create([System(study=study, name=name) for name in sorted(wanted - stored)], BATCH)
    systems: Mapping[str, int] = dict(System.objects.filter(study=study).values_list("name", "pk"))
    common = {"upload_id": upload and upload.pk, "created_at": timezone.now()}
    keys = ({"topic_id": topic, "system_id": systems[summary.name]} for topic, summary in summaries)
    add(Summary, (key | common | columns_of(own) for key, (_topic, own) in zip(keys, summaries, strict=True)))


#: The topic's key, the system, the dimension, the assessor, the score.
ScoreRow = tuple[int, str, str, str, float]


def _scores_of(topic_id: int, summary: formats.Summary) -> Iterator[ScoreRow]:
    for assessor, scores in [("", summary.human), *summary.ratings.items()]:
        for dimension, score in scores.items():
            yield topic_id, summary.name, dimension, assessor, score


def _metrics_of(topic_id: int, summary: formats.Summary) -> Iterator[tuple[int, str, str, float]]:
    return ((topic_id, summary.name, metric, score) for metric, score in summary.metrics.items())


def _store_means(scores: Sequence[ScoreRow], upload: Upload | None) -> None:
    """Store the means of all assessors' ratings for what is rated in these rows, unless they state the mean."""
    wanted = {row[:3] for row in scores if row[3]} - {row[:3] for row in scores if not row[3]}
    ratings: dict[tuple[int, str, str], list[float]] = {}
    rows = HumanScore.objects.ratings().filter(summary__topic__in={topic_id for topic_id, *_rest in wanted})
    columns = ("summary__topic_id", "summary__system__name", "dimension", "score")
    for topic_id, system, dimension, score in rows.order_by("pk").values_list(*columns):
        ratings.setdefault((topic_id, system, dimension), []).append(score)
    _store_scores([(*key, "", fmean(ratings[key])) for key in sorted(wanted)], upload)


def _store_scores(scores: Iterable[ScoreRow], upload: Upload | None) -> None:
    rows = list(scores)
    summaries = Summary.keys_of({topic_id for topic_id, *_rest in rows})
    unique = ("summary_id", "dimension", "assessor")
    columns = (*unique, "score", "upload_id")
    given = ((summaries[row[0], row[1]], *row[2:], upload and upload.pk) for row in rows)
    add(HumanScore, (dict(zip(columns, values, strict=True)) for values in given), unique)
