"""Users edit the cutting of a file's documents before the file is stored.

Until then the upload's preview holds the changes; see `Upload` for its form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.imports.workbench import changed_meanwhile, joined, no_sentence, split
from annotate.models import Item, SourceDocument, Topic, Upload
from annotate.refusal import Refusal
from preferendum.formats.not_judged import BY_HAND, not_judged
from preferendum.formats.records import Bundle, Cut, Text
from preferendum.formats.sentences import cut_text

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def join_in_preview(upload: Upload, number: int, index: int, version: int, user: User) -> None:
    """Make one sentence of two in the document with this number, from 0.

    `version`: of the preview that the user saw. Raises `Refusal` if it has changed since, and for a file with
    judgments: they name sentences by their places.
    """
    _move_border(upload, number, version, user, lambda texts: joined(texts, index, upload.study.language))


def split_in_preview(upload: Upload, number: int, index: int, at: int, version: int, user: User) -> None:
    """Make two sentences of one, the second from character `at` on. Raises `Refusal`, as above."""
    _move_border(upload, number, version, user, lambda texts: split(texts, index, at))


def previewed_sentences(document: dict[str, Any]) -> list[Item]:
    """The sentences of a document in a preview, as unsaved rows."""
    return [Item(index=index, text=text, not_judged=mark) for index, (text, mark) in enumerate(document["sentences"])]


@transaction.atomic
def set_judged_in_preview(upload: Upload, number: int, index: int, to_judge: bool, version: int, user: User) -> None:
    """Leave a sentence out of judging, or take it back in. Raises `Refusal` if the preview has changed since."""
    row, document = _as_seen(upload, number, version)
    sentences = document["sentences"]
    if not 0 <= index < len(sentences):
        raise no_sentence()
    before = _counts(document)
    sentences[index][1] = "" if to_judge else sentences[index][1] or BY_HAND
    _keep(row, document, before, user, "take back sentence" if to_judge else "leave out sentence", index=index)


@transaction.atomic
def _move_border(
    upload: Upload, number: int, version: int, user: User, moved: Callable[[list[str]], list[str]]
) -> None:
    row, document = _as_seen(upload, number, version)
    if has_judgments(row):
        message = _("The file brings judgments of these sentences, so they cannot be joined or split.")
        raise Refusal(message, "judged")
    before, marks = _counts(document), dict(document["sentences"])
    texts = moved([text for text, _mark in document["sentences"]])
    rules = not_judged([_cut(texts)])[0]
    document["sentences"] = [[text, marks.get(text, rule)] for text, rule in zip(texts, rules, strict=True)]
    document["mended"] = True
    _keep(row, document, before, user, "mend document", sentences=len(texts))


def has_judgments(upload: Upload) -> bool:
    """Whether the file has judgments, which name sentences."""
    return bool(upload.preview.get("preferences"))


def _as_seen(upload: Upload, number: int, version: int) -> tuple[Upload, dict[str, Any]]:
    """The upload, locked, and one of its documents, if they are still as the user saw them."""
    row = Upload.objects.select_for_update(no_key=True, of=("self",)).select_related("study").get(pk=upload.pk)
    cuts = row.preview.get("cuts", [])
    if row.state != Upload.State.READY or row.preview.get("changes", 0) != version or number >= len(cuts):
        raise changed_meanwhile()
    return row, cuts[number]


def _counts(document: dict[str, Any]) -> dict[str, int]:
    marks = [mark for _text, mark in document["sentences"]]
    return {"sentences": len(marks), "not_judged": sum(map(bool, marks))}


def _keep(
    row: Upload, document: dict[str, Any], before: dict[str, int], user: User, action: str, **detail: int
) -> None:
    document["changed"] = True
    topic = next(topic for topic in row.preview["topics"] if topic["name"] == document["topic"])
    for name, number in _counts(document).items():
        topic[name] += number - before[name]
    row.preview["changes"] = row.preview.get("changes", 0) + 1
    row.save(update_fields=["preview"])
    named = {"topic": document["topic"], "document": document["document"]}
    note(row.study, user, action, upload=str(row.key), **named, **detail)


# When the file is stored


def with_changes(upload: Upload, bundle: Bundle) -> Bundle:
    """The bundle with the sentences of its new topics as users changed them."""
    cuts = {topic.topic_id: dict(bundle.cuts[topic.topic_id]) for topic in bundle.topics}
    for document in _changed(upload):
        own, name = cuts.get(document["topic"], {}), document["document"]
        texts, marks = zip(*document["sentences"], strict=True)
        shown = _cut(texts) if document.get("mended") else own.get(name, ())
        if [*texts] == [cut.text for cut in shown]:  # the study's language may have changed since
            own[name] = tuple(replace(cut, rule=mark) for cut, mark in zip(shown, marks, strict=True))
    return replace(bundle, cuts={**bundle.cuts, **cuts})


def keep_borders(upload: Upload, topics: Sequence[Topic]) -> None:
    """Let mended documents stay mended when they are cut again."""
    for document in _changed(upload):
        if document.get("mended"):
            stored = SourceDocument.objects.filter(topic__in=topics, topic__name=document["topic"])
            texts = [text for text, _mark in document["sentences"]]
            stored.filter(name=document["document"]).update(mended=texts)


def _changed(upload: Upload) -> list[dict[str, Any]]:
    return [document for document in upload.preview["cuts"] if document.get("changed")]


def _cut(texts: Sequence[str]) -> tuple[Cut, ...]:
    return cut_text(Text("", None, tuple(texts)))
