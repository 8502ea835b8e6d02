"""Restore an exported study: its texts, its sentences as they were cut, its judgments with their revisions."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from django.db import transaction

from annotate import crowd, judging, studies
from annotate.imports import compared, recutting
from annotate.imports.memory import refuse_large_topics
from annotate.imports.store import store_texts
from annotate.models import Item, ItemSet, Removal, SourceDocument, Study, Topic
from preferendum import formats
from preferendum.formats.archive.study_records import AssignmentRecord, GoldPairRecord, HistorySentence, StudyArchive
from preferendum.formats.records import Cut, Of
from preferendum.formats.serialization import to_json

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def restore(archive: StudyArchive, owner: User, *, title: str = "") -> Study:
    """Import an exported study whole, owned by `owner`.

    Results are computed again: docs/decisions/archive-is-replayed.md. Raises `formats.Refused` for topics that the
    worker has too little memory for.
    """
    fields = dataclasses.asdict(archive.settings)
    study = studies.make_study(owner, **fields | ({"title": title} if title else {}))
    study.earlier = {
        "uploads": [to_json(record) for record in archive.uploads],
        "removals": [to_json(record) for record in archive.removals],
    }
    study.save(update_fields=["earlier"])
    cuts: dict[str, dict[str, list[Cut]]] = {}
    for sentence in archive.sentences:
        document = cuts.setdefault(sentence.topic, {}).setdefault(sentence.document, [])
        document.append(Cut(sentence.text, 0, len(sentence.text), sentence.paragraph, sentence.not_judged))
    refuse_large_topics({topic: sum(map(len, documents.values())) for topic, documents in cuts.items()})
    own = {topic: {name: tuple(cut) for name, cut in documents.items()} for topic, documents in cuts.items()}
    store_texts(study, formats.Bundle(topics=tuple(archive.topics), cuts=own))
    judged: Sequence[AssignmentRecord | GoldPairRecord] = (*archive.assignments, *archive.gold_pairs)
    compared.open_judged(study, [(row.topic, row.of) for row in judged])
    _keep_cutting(study, archive, cuts)
    judging.restore(study, archive, _store_history(study, archive, owner))
    crowd.restore_questionnaires(study, archive)
    return study


def _store_history(study: Study, archive: StudyArchive, owner: User) -> dict[int, Item]:
    """The sentences of the archive's history by their numbers, in removed item sets that cannot be restored."""
    if not archive.history:
        return {}
    counts = {"judgments": len(archive.history)}
    kind = Removal.Kind.ARCHIVED
    removal = Removal.objects.create(study=study, user=owner, kind=kind, name=study.title, counts=counts)
    by_topic: dict[tuple[str, Of], dict[int, HistorySentence]] = defaultdict(dict)
    for row in archive.history:
        by_topic[row.topic, row.of] |= {side.number: side for side in (row.left, row.right)}
    stored: dict[int, Item] = {}
    for (name, of), sentences in by_topic.items():
        topic = Topic(study=study, name=name)
        if of == "summaries":
            same_name = Topic.objects.filter(study=study, name=name).first()
            topic = same_name or recutting.history_of_topic(topic, removal).topic
            history = recutting.history_of(ItemSet(study=study, topic=topic, of=of), removal)
        else:
            history = recutting.history_of_topic(topic, removal)
        stored |= _store_removed(history, sentences)
    return stored


def _store_removed(item_set: ItemSet, sentences: Mapping[int, HistorySentence]) -> dict[int, Item]:
    by_document: dict[str, dict[int, Cut]] = defaultdict(dict)
    for number, sentence in sentences.items():
        by_document[sentence.document][number] = Cut(sentence.text, 0, len(sentence.text), 0)
    if item_set.of == "summaries":
        # A system may have several there: each was removed at another time.
        numbered = (
            (system, index, cut) for system, own in by_document.items() for index, cut in enumerate(own.values())
        )
        rows = [
            Item(item_set=item_set, system=system, index=index, position=position, text=cut.text)
            for position, (system, index, cut) in enumerate(numbered)
        ]
    else:
        cuts = [
            (
                SourceDocument.objects.create(topic=item_set.topic, name=name, position=position, sentences=[]),
                list(own.values()),
            )
            for position, (name, own) in enumerate(by_document.items())
        ]
        rows = [Item(item_set=item_set, **own) for own in recutting.columns_of_sentences(cuts)]
    return dict(zip(chain(*by_document.values()), Item.objects.bulk_create(rows, 500), strict=True))


def _keep_cutting(study: Study, archive: StudyArchive, cuts: dict[str, dict[str, list[Cut]]]) -> None:
    """Keep the archive's cutting of topics that nobody has judged, as if a user had mended it: their texts may be cut
    again some day."""
    judged = {judgment.assignment for judgment in archive.judgments}
    shown = [assignment for assignment in archive.assignments if assignment.of == "sentences"]
    unjudged = cuts.keys() - {assignment.topic for assignment in shown if assignment.key in judged}
    documents = SourceDocument.objects.filter(topic__study=study, topic__name__in=unjudged).select_related("topic")
    changed = []
    for document in documents:
        sentences = [cut.text for cut in cuts[document.topic.name].get(document.name, ())]
        if sentences and sentences != document.sentences:
            document.mended = sentences
            changed.append(document)
    SourceDocument.objects.bulk_update(changed, ["mended"], 500)
