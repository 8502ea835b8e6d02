"""The states of an upload: waiting, read or refused, confirmed by a person, stored by the worker.

Every step is a conditional UPDATE from one state to the next, so that a second click, a second worker or a revived
worker finds the step done and changes nothing.

Annotators must not wait for imports: judgments are stored in short transactions of their own, one upload of a study
after another. `Upload.judgments_stored` counts them; the last transaction resets it to None, and makes everything
visible. An interrupted upload continues from there; one that failed for good is removed again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import shutil
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

import formats
from annotate import judging
from annotate.audit_log import note
from annotate.database import durability
from annotate.imports.cutting import as_given
from annotate.imports.holding import hold
from annotate.imports.memory import refuse_large_topics
from annotate.imports.previewed import store_changes, with_borders
from annotate.imports.replacing import NamedCuts, compare, cut_changed, refuse_again
from annotate.imports.store import cut_bundle, remove_topics, store_late, store_topics
from annotate.models import Reference, Removal, SourceDocument, Study, Summary, Topic, Upload
from annotate.models.corpus import upload_path
from annotate.refusal import Refusal
from formats.checks.text import blank
from formats.not_judged import not_judged
from formats.sentences import count, cut_text

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)
State = Upload.State

MEGABYTE = 1_000_000
#: Free bytes that uploads leave for judgments.
KEPT_FREE = 1024 * MEGABYTE
#: How many characters of a file's documents are shown as they were cut.
SHOWN_CHARACTERS = 40_000
#: How many judgments are stored in one transaction: annotators wait for no more.
STEP = 100
#: The pause after each, in multiples of its length, in which SQLite's one lock is free.
PAUSE = 2
#: So many seconds after it began to read the file, and at least so many after it began to store, the worker does other
#: work. Every turn reads the file again: 7 s for 200,000 judgments.
TURN, LEAST = 45.0, 10.0


def receive(study: Study, user: User, file: File[Any]) -> Upload:
    """Keep a file unchanged, under a random name, for the worker to read.

    Raises `Refusal` if it is too large or empty, and if it cannot be kept.
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
    keep(upload, file)
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
            note(study, user, "upload", upload=str(upload.key), filename=upload.filename, sha256=upload.sha256)
    except BaseException:
        upload.file.delete(save=False)
        raise
    return upload


def keep(upload: Upload, file: File[Any]) -> None:
    """Write the whole file to the disk, or nothing. Raises `Refusal`."""
    root = Path(settings.MEDIA_ROOT)
    refusal = Refusal(_("The server has no room for uploads. Please tell the operator of this site."), "no_room")
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


def process(upload: Upload) -> None:
    """Do an upload's next step: read a waiting one, store a confirmed one; once, even with several workers.

    A waiting upload becomes ready, with a preview, or refused, with the reasons. A confirmed one is read again because
    the study may have changed since: it is stored whole, perhaps in several turns, or refused. Stored parts of refused
    or failed ones are removed. Raises `OSError` if the file is missing, which is not the user's fault.
    """
    upload.refresh_from_db()
    if upload.state not in Upload.WAITING:
        _remove_parts(upload)
        return
    if (
        upload.state == State.CONFIRMED
        and Upload.unfinished().filter(study=upload.study).exclude(pk=upload.pk).exists()
    ):
        return  # after the one that is being stored
    changes_before = _changes_before(upload)
    ends = time.monotonic() + TURN
    try:
        bundle = _read(upload)
        if upload.state == State.WAITING:
            _show(upload, bundle)
        else:
            _store(upload, bundle, changes_before, ends)
    except formats.Refused as refused:
        complaints = [dataclasses.asdict(complaint) for complaint in refused.complaints]
        _move(upload, [upload.state], State.REFUSED, complaints=complaints)


def _read(upload: Upload) -> formats.Bundle:
    """The file's data, checked as a whole against the study. Raises `formats.Refused`."""
    Path(upload.file.path).stat()
    study = upload.study
    bundle = formats.read(upload.file.path, name=upload.filename, existing=existing_of(study), language=study.language)
    refuse_again(study, bundle)
    return bundle


def _show(upload: Upload, bundle: formats.Bundle) -> None:
    seen = compare(upload.study, bundle, cut_changed(upload.study, bundle))
    preview = _preview(bundle, upload.study.language) | seen.preview() | {"removals": _removals(upload)}
    refuse_large_topics({topic["name"]: topic["sentences"] for topic in preview["topics"]})
    _move(upload, [State.WAITING], State.READY, preview=preview)


def _store(upload: Upload, bundle: formats.Bundle, changes_before: int, ends: float) -> None:
    """Store as much as a turn allows, which `ends` at a monotonic time; once all is stored, make it visible."""
    changed = cut_changed(upload.study, bundle)
    if not _is_as_known(upload) or _ask_again(upload, bundle, changed):
        return
    if upload.judgments_stored is None and not _begin(upload, bundle, changes_before):
        return
    arrivals = judging.arrivals(upload.study, bundle.preferences, upload)
    ends = max(ends, time.monotonic() + LEAST)
    while (stored := upload.judgments_stored or 0) < len(arrivals.rows):
        if not _step(upload, partial(judging.store_some, arrivals, stored)) or time.monotonic() > ends:
            return
    _end(upload, bundle, changed, arrivals)


def _ask_again(upload: Upload, bundle: formats.Bundle, changed: NamedCuts) -> bool:
    """Before anything is stored: if it would replace other data than was confirmed, or if sentences that its judgments
    name may have changed, show a new preview. True then."""
    if upload.judgments_stored is not None:
        return False
    now = compare(upload.study, bundle, changed).preview() | {"removals": _removals(upload)}
    replaces_same = all(
        now[part] == upload.preview.get(part, type(now[part])()) for part in ("replacements", "replaced")
    )
    names_same = not bundle.preferences or now["removals"] == upload.preview.get("removals", now["removals"])
    if replaces_same and names_same:
        return False
    return _move(upload, [State.CONFIRMED], State.READY, preview=upload.preview | now | {"asks_again": True})


def _begin(upload: Upload, bundle: formats.Bundle, changes_before: int) -> bool:
    """Store the texts; False if that is done already, another upload of the study is first, or something was stored,
    removed or restored since this one was compared with the study."""
    cuts = {topic: with_borders(upload, topic, own) for topic, own in cut_bundle(upload.study, bundle).items()}
    with transaction.atomic():
        others = Upload.unfinished().filter(study=upload.study_id)
        if (
            not hold(upload.study_id)
            or others.exists()
            or _changes_before(upload) != changes_before
            or not _move(upload, [State.CONFIRMED], State.CONFIRMED, judgments_stored=0)
        ):
            return False
        for topic in store_topics(upload.study, bundle, cuts, upload):
            store_changes(upload, topic.name, topic.pk)
    return True


def _changes_before(upload: Upload) -> int:
    """A version that changes whenever data of the study are stored, removed or restored."""
    return Upload.objects.filter(study=upload.study_id, state=State.STORED).count() + _removals(upload)


def _removals(upload: Upload) -> int:
    """A version that changes whenever data of the study are removed, replaced or restored."""
    removals = Removal.objects.filter(study=upload.study_id).aggregate(
        removed=Count("pk"), restored=Count("restored_at")
    )
    return int(removals["removed"]) + int(removals["restored"])


def _step(upload: Upload, work: Callable[[int], int]) -> bool:
    """Do one step in a transaction of its own, then pause for others; False if another process has the upload.

    `work` gets the maximum number of judgments and returns how many it has stored.
    """
    with durability.unhurried():
        began = time.monotonic()
        if not hold(upload.study_id) or not _is_as_known(upload):
            return False
        stored = (upload.judgments_stored or 0) + work(STEP)
        Upload.objects.filter(pk=upload.pk).update(judgments_stored=stored)
    upload.judgments_stored = stored
    time.sleep(PAUSE * (time.monotonic() - began))
    return True


def _is_as_known(upload: Upload) -> bool:
    as_known = Q(state=upload.state, judgments_stored=upload.judgments_stored)
    return Upload.objects.filter(as_known, pk=upload.pk).exists()


@transaction.atomic
def _end(upload: Upload, bundle: formats.Bundle, changed: NamedCuts, arrivals: judging.Arrivals) -> None:
    """Store the rest and make everything visible at once."""
    if not hold(upload.study_id) or not _is_as_known(upload):
        return
    judging.lock_study(upload.study_id)
    _move(upload, [State.CONFIRMED], State.STORED, judgments_stored=None)
    late = store_late(upload.study, bundle, changed, upload)
    judging.open_tallies(Topic.asked.filter(upload=upload))
    judging.count_in(arrivals, late)
    note(upload.study, upload.user, "store upload", upload=str(upload.key), filename=upload.filename)


def _remove_parts(upload: Upload) -> None:
    """Remove what is stored of an upload that will not be stored."""
    while upload.judgments_stored:
        if not _step(upload, lambda number: -judging.remove_some(upload, number)):
            return
    if upload.judgments_stored is not None:
        _remove_rest(upload)


@transaction.atomic
def _remove_rest(upload: Upload) -> None:
    if hold(upload.study_id) and _is_as_known(upload):
        remove_topics(upload)
        judging.forget_arrivals(upload)
        Upload.objects.filter(pk=upload.pk).update(judgments_stored=None)


@transaction.atomic
def confirm(upload: Upload, user: User) -> None:
    """Let the worker store it; idempotent. Raises `Refusal` if it is unread or refused."""
    if _move(upload, [State.READY], State.CONFIRMED):
        note(upload.study, user, "confirm upload", upload=str(upload.key), filename=upload.filename)
        return
    upload.refresh_from_db()
    if upload.state not in (State.CONFIRMED, State.STORED):
        message = _("This file cannot be stored: it is %(state)s.") % {"state": upload.get_state_display()}
        raise Refusal(message, "state")


@transaction.atomic
def discard(upload: Upload, user: User) -> None:
    """Delete the file. Raises `Refusal` once it is confirmed."""
    if _move(upload, [State.WAITING, State.READY, State.REFUSED, State.FAILED], State.DISCARDED):
        note(upload.study, user, "discard upload", upload=str(upload.key), filename=upload.filename)
        # Only after the commit: a rolled-back discard must find its file.
        transaction.on_commit(lambda: upload.file.storage.delete(upload.file.name or ""))
        return
    upload.refresh_from_db()
    if upload.state != State.DISCARDED:
        message = _("This file cannot be discarded: it is %(state)s.") % {"state": upload.get_state_display()}
        raise Refusal(message, "state")


def existing_of(study: Study) -> formats.Existing:
    """What the study has: topics with their documents, the numbers of sentences, systems and references."""
    systems: dict[int, set[str]] = {}
    for topic_id, system in Summary.objects.filter(topic__in=Topic.objects.filter(study=study)).values_list(
        "topic_id", "system__name"
    ):
        systems.setdefault(topic_id, set()).add(system)
    references: dict[int, set[str]] = {}
    for topic_id, name in Reference.objects.filter(topic__study=study).values_list("topic_id", "name"):
        references.setdefault(topic_id, set()).add(name)
    documents: dict[int, dict[str, int]] = {}
    rows = SourceDocument.objects.filter(topic__in=Topic.objects.filter(study=study))
    cut_topics = Topic.objects.cut().filter(study=study)
    counted = rows.filter(topic__in=cut_topics).annotate(count=Count("cut_sentences")).order_by("position")
    for topic_id, name, sentences in counted.values_list("topic_id", "name", "count"):
        documents.setdefault(topic_id, {})[name] = sentences
    # Only uncut texts are read whole: a study's texts may be large.
    for document in rows.exclude(topic__in=cut_topics).select_related("topic").iterator(100):
        language = document.topic.language or study.language
        documents.setdefault(document.topic_id, {})[document.name] = count(as_given(document), language)
    topics = Topic.objects.filter(study=study).values_list("pk", "name")
    return formats.Existing(
        {
            name: formats.ExistingTopic(
                documents.get(pk, {}), frozenset(systems.get(pk, ())), frozenset(references.get(pk, ()))
            )
            for pk, name in topics
        },
        replaceable=True,
    )


def _preview(bundle: formats.Bundle, language: str) -> dict[str, Any]:
    """The preview to confirm; see `Upload` for its form."""
    topics, shown, room = [], [], SHOWN_CHARACTERS
    for topic in bundle.topics:
        cuts = [cut_text(text, topic.language or language) for text in topic.documents]
        rules = not_judged(cuts)
        texts: list[dict[str, Any]] = [
            {"name": text.name, "sentences": len(own), "given_cut": text.sentences is not None}
            for text, own in zip(topic.documents, cuts, strict=True)
        ]
        for text, own, marks in zip(topic.documents, cuts, rules, strict=True):
            room -= sum(len(sentence.text) for sentence in own)
            if room > 0:
                sentences = [[sentence.text, rule] for sentence, rule in zip(own, marks, strict=True)]
                shown.append({"topic": topic.topic_id, "document": text.name, "sentences": sentences})
        topics.append(
            {
                "name": topic.topic_id,
                "title": topic.title,
                "documents": len(topic.documents),
                "sentences": sum(text["sentences"] for text in texts),
                "not_judged": sum(bool(rule) for marks in rules for rule in marks),
                "references": len(topic.references),
                "summaries": len(topic.summaries),
                "content_units": len(topic.pyramid.pyramid.scus) if topic.pyramid else 0,
                "annotated": len(topic.pyramid.peers) if topic.pyramid else 0,
                "texts": texts,
            }
        )
    summaries = [summary for topic in bundle.topics for summary in topic.summaries]
    dimensions = Counter(dimension for summary in summaries for dimension in summary.human)
    dimensions.update(score.dimension for score in bundle.human_scores if not score.assessor)
    metrics = Counter(metric for summary in summaries for metric in summary.metrics)
    metrics.update(score.metric for score in bundle.metric_scores)
    assessors = Counter(who for summary in summaries for who, own in summary.ratings.items() for _score in own)
    assessors.update(score.assessor for score in bundle.human_scores if score.assessor)
    return {
        "topics": topics,
        "cuts": shown,
        "systems": sorted({summary.name for summary in summaries} | {late.summary.name for late in bundle.summaries}),
        "dimensions": [{"name": name, "scores": scores} for name, scores in sorted(dimensions.items())],
        "persons": sum(summary.person for summary in (*summaries, *(late.summary for late in bundle.summaries))),
        "metrics": [{"name": name, "scores": scores} for name, scores in sorted(metrics.items())],
        "assessors": len(assessors),
        "ratings": sum(assessors.values()),
        "summaries": len(bundle.summaries),
        "human_scores": len(bundle.human_scores),
        "preferences": len(bundle.preferences),
        "pyramids": len(bundle.pyramids),
        "preferences_by_kind": Counter(map(judging.kind_of, bundle.preferences)),
        "remarks": [dataclasses.asdict(remark) for remark in bundle.remarks],
    }


def _move(upload: Upload, before: list[str], after: str, **fields: Any) -> bool:
    """Move it from one of these states to another, if it is still there."""
    # `update` skips auto_now; refreshing keeps the caller's row up to date.
    moved = Upload.objects.filter(pk=upload.pk, state__in=before).update(
        state=after, changed_at=timezone.now(), **fields
    )
    if moved:
        upload.refresh_from_db()
    return bool(moved)


def _shown_name(name: str | None) -> str:
    """The visitor's file name, as one printable line."""
    shown = "".join(character for character in name or "" if character.isprintable())[:300].strip()
    return _("upload") if blank(shown) else shown
