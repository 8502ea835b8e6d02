"""How a study's data come in, in one transaction: texts, their sentences, the judgments that came with them.

The website has texts to store and knows no mathematics; cutting them is ours. Whatever takes long is done before the
transaction begins, and it is stored whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import transaction

import formats
from annotate import imports, judging
from annotate.models import Annotator, SourceDocument, Study, Topic, Upload
from evaluation import prepare, records, text
from evaluation.records import Cut
from formats.study import StudyArchive

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: A document by the name of its topic and its own.
Address = tuple[str, str]


def count_sentences(given: str, language: str) -> int:
    """Into how many sentences a text is cut; what `formats.read` asks for."""
    return len(text.cut(given, language))


def cut_document(document: formats.Text, language: str) -> list[Cut]:
    """A document as its provider (or somebody mending our cutting) cut it, or as we cut it."""
    return [Cut(one.text, one.paragraph) for one in prepare.cut_text(document, language)]


def cut_topic(topic_id: int) -> None:
    """Load a topic's documents, cut them, save their sentences."""
    texts = records.load_texts(topic_id)
    if texts is not None:
        cuts = {key: cut_document(document, texts.language) for key, document in texts.documents.items()}
        records.save_preparation(topic_id, texts.version, cuts)


def take_in(
    study: Study,
    bundle: formats.Bundle,
    *,
    upload: Upload | None = None,
    kind: str = Annotator.Kind.HUMAN,
    pseudonym: str = "",
) -> list[Topic]:
    """Store everything that a bundle brings; the new topics.

    Judgments that say of which kind they are (as our exports do) keep it; all others are of `kind`, under `pseudonym`
    where they name no annotator. `upload` is marked as stored in the same transaction, and nothing is stored twice:
    raises `annotate.refusal.Refusal` where somebody else stored it first.
    """
    cuts = {
        (topic.topic_id, document.name): cut_document(document, topic.language or study.language)
        for topic in bundle.topics
        for document in topic.documents
    }
    _cut_those_judged(study, bundle)
    with transaction.atomic():
        if upload is not None:
            imports.mark_stored(upload)
        topics = imports.store_texts(study, bundle)
        _save_cuts(topics, cuts)
        for judged, preferences in _by_kind(bundle.preferences, kind).items():
            judging.bring_preferences(study, preferences, judged, pseudonym)
    return topics


def restore(archive: StudyArchive, owner: User, *, title: str = "") -> Study:
    """Take an exported study back whole: texts, sentences as they were cut, judgments with their revisions.

    What was computed from them is computed anew: the same judgments give the same scores.
    """
    cuts: dict[Address, list[Cut]] = {}
    for sentence in archive.sentences:
        cuts.setdefault((sentence.topic, sentence.document), []).append(Cut(sentence.text, sentence.paragraph))
    with transaction.atomic():
        study = imports.restore_texts(archive, owner, title=title)
        cut = {topic for topic, _ in cuts}
        _save_cuts(Topic.objects.filter(study=study, name__in=cut), cuts)
        judging.restore(study, archive)
    return study


def _cut_those_judged(study: Study, bundle: formats.Bundle) -> None:
    """Judgments of topics that were stored a moment ago must find their sentences."""
    names = {preference.topic for preference in bundle.preferences}
    for pk in records.topics_uncut().filter(study=study, name__in=names).values_list("pk", flat=True):
        cut_topic(pk)


def _save_cuts(topics: Iterable[Topic], cuts: dict[Address, list[Cut]]) -> None:
    """Store the sentences of new topics."""
    new = list(topics)
    own: dict[int, dict[int, list[Cut]]] = {topic.pk: {} for topic in new}
    names = {topic.pk: topic.name for topic in new}
    documents = SourceDocument.objects.filter(topic__study__in={topic.study_id for topic in new})
    for key, topic_id, name in documents.order_by("topic", "position").values_list("pk", "topic_id", "name"):
        if topic_id in own:
            own[topic_id][key] = cuts.get((names[topic_id], name), [])
    records.save_first_preparation(new, own)


def _by_kind(preferences: Iterable[formats.Preference], kind: str) -> dict[str, list[formats.Preference]]:
    """Judgments by who made them; what is simulated must never count as a person's."""
    found: dict[str, list[formats.Preference]] = {}
    for preference in preferences:
        extra = dict(preference.extra)
        said = extra.get("kind")
        if said in Annotator.Kind.values:
            del extra["kind"]
            found.setdefault(str(said), []).append(replace(preference, extra=extra))
        else:
            found.setdefault(kind, []).append(preference)
    return found
