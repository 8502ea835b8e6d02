"""An upload on its way: waiting, read or refused, confirmed by a person, stored by the worker.

Every step is a conditional UPDATE from one state to the next, so that a second click, a second worker or a worker that
comes back from the dead finds the step done and changes nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

import formats
from annotate.acts import note
from annotate.models import SourceDocument, Study, Summary, Topic, Upload
from annotate.models.corpus import upload_path
from annotate.refusal import Refusal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)
State = Upload.State
Cut = Callable[[str, str], int]

MEGABYTE = 1_000_000
#: Judgments must still fit on the disk when no upload does.
KEPT_FREE = 1024 * MEGABYTE


def receive(study: Study, user: User, file: File[Any]) -> Upload:
    """Keep a file, as it comes, under a random name, for the worker to read.

    Raises `Refusal` where it is too large, and where it cannot be kept.
    """
    if file.size > settings.UPLOAD_LIMIT:
        message = ngettext(
            "The file is larger than %(limit)d megabyte.",
            "The file is larger than %(limit)d megabytes.",
            settings.UPLOAD_LIMIT // MEGABYTE,
        ) % {"limit": settings.UPLOAD_LIMIT // MEGABYTE}
        raise Refusal(message, "too_large", {"file": [message]})
    if not file.size:
        message = _("The file is empty.")
        raise Refusal(message, "empty", {"file": [message]})
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    upload = Upload(study=study, user=user, filename=_shown_name(file.name), size=file.size, sha256=digest.hexdigest())
    _keep(upload, file)
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
            note(study, user, "upload", upload=str(upload.key), filename=upload.filename, sha256=upload.sha256)
    except BaseException:
        upload.file.delete(save=False)
        raise
    return upload


def _keep(upload: Upload, file: File[Any]) -> None:
    """Lay the file down whole, or nothing of it. Raises `Refusal`."""
    root = Path(settings.MEDIA_ROOT)
    refusal = Refusal(_("There is no room for uploads on the server. Tell whoever runs it."), "no_room")
    try:
        root.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(root).free < KEPT_FREE:
            raise refusal
        upload.file.save("upload", file, save=False)
    except OSError as error:  # no room after all, no name left, a disk that takes nothing, no folder
        logger.error("an upload could not be kept: %s", error)
        with suppress(OSError):
            upload.file.storage.delete(upload_path(upload, ""))
        raise refusal from error


def read_upload(upload: Upload, cut: Cut) -> formats.Bundle | None:
    """What the file brings, checked as a whole against the study; None where it is refused or nobody waits for it.

    `cut(text, language)`: into how many sentences a text is cut. A waiting upload becomes ready, with a preview, or
    refused, with the reasons. A confirmed one is read again because the study may have changed since: it stays
    confirmed, or is refused. Raises `OSError` where the file is not there: whoever sent it is not to blame.
    """
    state = Upload.objects.filter(pk=upload.pk).values_list("state", flat=True).first()
    if state not in (State.WAITING, State.CONFIRMED):
        return None
    study = upload.study
    Path(upload.file.path).stat()

    @cache
    def counted(text: str, language: str) -> int:
        return cut(text, language or study.language)

    try:
        bundle = formats.read(upload.file.path, name=upload.filename, known=known_of(study, counted), cut=counted)
    except formats.Refused as refused:
        complaints = [dataclasses.asdict(complaint) for complaint in refused.complaints]
        _move(upload, [state], State.REFUSED, complaints=complaints)
        return None
    if state == State.WAITING:
        _move(upload, [state], State.READY, preview=_preview(bundle, counted))
    upload.refresh_from_db()
    return bundle


@transaction.atomic
def confirm(upload: Upload, user: User) -> None:
    """Let the worker store it; twice is as good as once. Raises `Refusal` where it is unread or refused."""
    if _move(upload, [State.READY], State.CONFIRMED, tries=0):
        note(upload.study, user, "confirm upload", upload=str(upload.key), filename=upload.filename)
        return
    upload.refresh_from_db()
    if upload.state not in (State.CONFIRMED, State.STORED):
        message = _("This file cannot be stored: it is %(state)s.") % {"state": upload.get_state_display()}
        raise Refusal(message, "state")


@transaction.atomic
def discard(upload: Upload, user: User) -> None:
    """Throw the file away. Raises `Refusal` once a person said that it is to be stored."""
    if _move(upload, [State.WAITING, State.READY, State.REFUSED, State.FAILED], State.DISCARDED):
        note(upload.study, user, "discard upload", upload=str(upload.key), filename=upload.filename)
        # Only once nobody can come back to it: a rolled-back discard must find its file.
        transaction.on_commit(lambda: upload.file.storage.delete(upload.file.name or ""))
        return
    upload.refresh_from_db()
    if upload.state != State.DISCARDED:
        message = _("This file cannot be discarded: it is %(state)s.") % {"state": upload.get_state_display()}
        raise Refusal(message, "state")


def mark_stored(upload: Upload) -> None:
    """Say that it is stored, in the transaction that stores it, before anything else there.

    Raises `Refusal` where somebody else stored it first: then that transaction must not go on.
    """
    if not _move(upload, [State.CONFIRMED], State.STORED):
        raise Refusal(_("This file is not waiting to be stored."), "state")
    note(upload.study, upload.user, "store upload", upload=str(upload.key), filename=upload.filename)


def note_try(upload: Upload) -> int:
    """Count one more try at reading or storing it; which one this is. A file that kills its reader must end."""
    Upload.objects.filter(pk=upload.pk).update(tries=F("tries") + 1)
    upload.refresh_from_db(fields=["tries"])
    return upload.tries


def give_up(upload: Upload, problem: str) -> None:
    """Try no longer, and say why in plain words."""
    complaint = formats.Complaint(upload.filename, 0, "", "%(problem)s", "", {"problem": problem})
    _move(upload, [State.WAITING, State.CONFIRMED], State.FAILED, complaints=[dataclasses.asdict(complaint)])


def known_of(study: Study, cut: Cut) -> formats.Known:
    """What the study has already: topics, their documents with the number of their sentences, who summarized them."""
    systems: dict[int, set[str]] = {}
    for topic_id, system in Summary.objects.filter(topic__study=study).values_list("topic_id", "system__name"):
        systems.setdefault(topic_id, set()).add(system)
    documents: dict[int, dict[str, int | None]] = {}
    is_cut = Q(topic__progress__prepared_version=F("topic__text_version"))
    rows = SourceDocument.objects.filter(topic__study=study)
    counted = rows.filter(is_cut).annotate(count=Count("cut_sentences")).order_by("position")
    for topic_id, name, count in counted.values_list("topic_id", "name", "count"):
        documents.setdefault(topic_id, {})[name] = count
    # Only what nobody has cut yet is read whole: a study's texts may be large.
    for document in rows.exclude(is_cut).select_related("topic").iterator(100):
        given = document.mended or document.sentences
        count = len(given) if given is not None else cut(document.text, document.topic.language)
        documents.setdefault(document.topic_id, {})[document.name] = count
    topics = Topic.objects.filter(study=study).values_list("pk", "name")
    return formats.Known(
        {name: formats.KnownTopic(documents.get(pk, {}), frozenset(systems.get(pk, ()))) for pk, name in topics}
    )


def _preview(bundle: formats.Bundle, cut: Cut) -> dict[str, Any]:
    """What a person looks at before they say that it is to be stored; the model says what it looks like."""
    topics = []
    for topic in bundle.topics:
        texts: list[dict[str, Any]] = [
            {
                "name": text.name,
                "sentences": len(text.sentences)
                if text.sentences is not None
                else cut(text.text or "", topic.language),
                "given_cut": text.sentences is not None,
            }
            for text in topic.documents
        ]
        topics.append(
            {
                "name": topic.topic_id,
                "title": topic.title,
                "documents": len(topic.documents),
                "sentences": sum(text["sentences"] for text in texts),
                "references": len(topic.references),
                "summaries": len(topic.summaries),
                "texts": texts,
            }
        )
    summaries = [summary for topic in bundle.topics for summary in topic.summaries]
    dimensions = Counter(dimension for summary in summaries for dimension in summary.human)
    dimensions.update(score.dimension for score in bundle.human_scores)
    return {
        "topics": topics,
        "systems": sorted({one.name for one in summaries} | {late.summary.name for late in bundle.summaries}),
        "dimensions": [{"name": name, "scores": scores} for name, scores in sorted(dimensions.items())],
        "summaries": len(bundle.summaries),
        "human_scores": len(bundle.human_scores),
        "preferences": len(bundle.preferences),
        "remarks": [dataclasses.asdict(remark) for remark in bundle.remarks],
    }


def _move(upload: Upload, before: list[str], after: str, **fields: Any) -> bool:
    """Take it from one of these states to another, if it is still there."""
    # `update` passes by auto_now; refreshing keeps the caller's row true.
    moved = Upload.objects.filter(pk=upload.pk, state__in=before).update(
        state=after, changed_at=timezone.now(), **fields
    )
    if moved:
        upload.refresh_from_db()
    return bool(moved)


def _shown_name(name: str | None) -> str:
    """What the visitor called the file, as one line that can be shown."""
    return "".join(character for character in name or "" if character.isprintable())[:300].strip() or _("upload")
