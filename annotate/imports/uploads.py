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
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate import judging, webhooks
from annotate.audit_log import note
from annotate.database import durability
from annotate.imports import kept
from annotate.imports.cutting import cut_topic
from annotate.imports.holding import hold
from annotate.imports.previewed import keep_borders, with_changes
from annotate.imports.repeated import without_stored
from annotate.imports.replacing import compare, refuse_again
from annotate.imports.store import cut_bundle, remove_topics, store_late, store_topics
from annotate.judging import what_if
from annotate.models import Delivery, ItemSet, Reference, Removal, SourceDocument, Study, Summary, Topic, Upload
from annotate.models.corpus import upload_path
from annotate.refusal import Refusal, invalid
from preferendum import formats
from preferendum.formats.checks.text import blank
from preferendum.formats.readers.columns import ROLES, as_named, columns_of, kind_of
from preferendum.formats.readers.draft import Named
from preferendum.formats.readers.preferences import kind_of as kind_of_annotator
from preferendum.formats.readers.tools.catalogue import NAMED
from preferendum.formats.settings import KINDS_COUNTED

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)
State = Upload.State

MEGABYTE = 1_000_000
#: Free bytes that uploads leave for judgments.
KEPT_FREE = 1024 * MEGABYTE
#: How many characters of a file's documents are shown as they were cut.
SHOWN_CHARACTERS = 40_000
#: How many characters of a cell are shown where columns are chosen.
SHOWN_OF_CELL = 200
#: A first file of at most so many bytes is read while its sender waits; so many of its problems are said.
READ_AT_ONCE, SHOWN_AT_ONCE = 1 * MEGABYTE, 5
#: How many judgments are stored in one transaction: annotators wait for no more.
STEP = 100
#: The pause after each, in multiples of its length, in which SQLite's one lock is free.
PAUSE = 2
#: So many seconds after it began to read the file, and at least so many after it began to store, the worker does other
#: work. Every turn reads the file again: 7 s for 200,000 judgments.
TURN, LEAST = 45.0, 10.0


def receive(study: Study, user: User, file: File[Any], columns: Named | None = None) -> Upload:
    """Keep a file unchanged, under a random name, for the worker to read.

    `columns`: by role, which columns of a table hold it. Raises `Refusal` if the file is too large or empty, if it
    cannot be kept, and for a role that columns do not have.
    """
    check_columns(columns or {})
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
    upload.columns = dict(columns) if columns else None
    return begin(upload, file, "upload", filename=upload.filename, sha256=upload.sha256)


def refuse_at_once(file: File[Any], language: str) -> None:
    """Raises `Refusal` with the first problems of a file that would begin a study, unless its columns can be chosen; of
    a large file the worker says so later."""
    if not 0 < file.size <= READ_AT_ONCE:
        return
    tables: list[formats.Seen] = []
    with NamedTemporaryFile() as copy:
        for chunk in file.chunks():
            copy.write(chunk)
        copy.flush()
        try:
            name = _shown_name(file.name)
            formats.read(copy.name, name=name, existing=formats.Existing({}), language=language, look=tables.append)
        except formats.Refused as refused:
            if not tables:
                problems = [formats.message(complaint) for complaint in refused.complaints[:SHOWN_AT_ONCE]]
                raise Refusal(_("Nothing was stored."), "invalid", {"file": problems}) from refused


def begin(upload: Upload, file: File[Any], action: str, **detail: object) -> Upload:
    """Store a new upload, its whole file, and an audit entry, or nothing. Raises `Refusal` if it cannot be kept."""
    _keep(upload, file)
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
            note(upload.study, upload.user, action, upload=str(upload.key), **detail)
    except BaseException:
        upload.file.delete(save=False)
        raise
    return upload


def _keep(upload: Upload, file: File[Any]) -> None:
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

    A waiting upload becomes ready, with a preview, or refused, with the reasons. A confirmed one is stored whole,
    perhaps in several turns; if the study has changed since the file was read, it is read again first. Stored parts of
    refused or failed ones are removed. Raises `OSError` if the file is missing, which is not the user's fault.
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
    ends = time.monotonic() + TURN
    try:
        if upload.state == State.WAITING or not kept.exists(upload) or _is_outdated(upload):
            _read(upload)
        if upload.state == State.CONFIRMED:
            _store(upload, kept.load(upload), ends)
    except formats.Refused as refused:
        complaints = [dataclasses.asdict(complaint) for complaint in refused.complaints]
        is_open = upload.table and not upload.table["is_certain"]
        with transaction.atomic():
            is_there = hold(upload.study_id)
            moved = _move(upload, [upload.state], State.ASKED if is_open else State.REFUSED, complaints=complaints)
            if is_there and moved and not is_open:
                webhooks.announce(upload.study, Delivery.Event.REFUSED, upload=str(upload.key))


def _read(upload: Upload) -> None:
    """Read the file, check it as a whole against the study, keep what it has, and show what it would change.

    A confirmed upload stays so, unless it would now replace other data, or its judgments may name other sentences.

    Raises `formats.Refused`.
    """
    study, before, path = upload.study, upload.preview, Path(upload.file.path)
    path.stat()
    version = _version(study)
    tables: list[formats.Seen] = []
    try:
        bundle = formats.read(
            path,
            name=upload.filename,
            existing=existing_of(study),
            language=study.language,
            columns=upload.columns,
            look=tables.append,
        )
    finally:
        _keep_table(upload, tables)
    bundle = without_stored(study, cut_bundle(study, bundle), upload.filename)
    seen = compare(study, bundle)
    refuse_again(study, bundle, seen)
    preview = _preview(bundle) | seen.preview() | version
    if before.get("changes"):
        preview |= {part: before[part] for part in ("topics", "cuts", "changes")}
    confirmed = ("replacements", "replaced", *(["removals"] if bundle.preferences else []))
    is_other = upload.judgments_stored is None and any(preview[part] != before.get(part) for part in confirmed)
    if upload.state == State.CONFIRMED and is_other:
        preview["asks_again"] = True
    after = State.READY if upload.state == State.WAITING or is_other else State.CONFIRMED
    kept.keep(upload, bundle)
    if not _is_as_known(upload) or not _move(upload, [upload.state], after, preview=preview):
        kept.forget(upload)  # it was discarded meanwhile


def _keep_table(upload: Upload, tables: Sequence[formats.Seen]) -> None:
    """Keep the beginning of the first table whose columns are not certain, or of the first one. For a header that its
    user met before, that choice is proposed."""
    if not tables:
        return
    seen = next((table for table in tables if not table.is_certain), tables[0])
    header, roles = list(seen.header), dict(seen.roles)
    rows = [[cell[:SHOWN_OF_CELL] for cell in row] for row in seen.rows]
    if not seen.is_certain:
        chosen = Upload.objects.filter(user=upload.user, columns__isnull=False, table__header=header)
        earlier = chosen.exclude(pk=upload.pk).order_by("-pk").values_list("columns", flat=True).first()
        roles = as_named(header, {}, earlier) if earlier else roles
    upload.table = {
        "file": seen.file,
        "header": header,
        "rows": rows,
        "roles": roles,
        "is_certain": seen.is_certain,
        "is_tool": seen.is_tool,
    }
    Upload.objects.filter(pk=upload.pk).update(table=upload.table)


def check_columns(columns: Named) -> None:
    """Raises `Refusal` for what names no columns."""
    if unknown := [role for role in columns if role and role not in ROLES]:
        message = _("%(unknown)s is none of %(roles)s.") % {"unknown": ", ".join(unknown), "roles": ", ".join(ROLES)}
        raise invalid("columns", message)


@transaction.atomic
def choose_columns(upload: Upload, user: User, columns: Named) -> None:
    """Have the file read with these columns, by role; those of its other tables stay. Raises `Refusal` if they are of
    no kind of table, and once the file is confirmed."""
    check_columns(columns)
    table = upload.table or {"header": [], "roles": {}}
    roles = as_named(table["header"], table["roles"], columns)
    held = {*roles.values()}
    is_whole = {"a", "b"} <= held <= {*NAMED} if table.get("is_tool") else kind_of(roles) is not None
    if not is_whole:
        message = _(
            "Say at least which columns hold the topic or document, the system and the summary; or the two of a pair "
            "and the winner."
        )
        raise invalid("columns", message)
    if not _move(
        upload,
        [State.ASKED, State.READY, State.REFUSED],
        State.WAITING,
        columns=_with_others(columns, upload.columns or {}, table["header"]),
        preview={},
        complaints=[],
    ):
        raise Refusal(_("The columns of this file cannot be chosen any more."), "state")
    kept.forget(upload)
    note(upload.study, user, "choose columns", upload=str(upload.key), filename=upload.filename)


def _with_others(columns: Named, earlier: Named, header: Sequence[str]) -> dict[str, list[str]]:
    """The columns by role, and those chosen earlier that this header does not have."""
    others = {column: role for column, role in columns_of(earlier).items() if column not in header}
    merged: dict[str, list[str]] = {}
    for column, role in (others | columns_of(columns)).items():
        merged.setdefault(role, []).append(column)
    return merged


def _store(upload: Upload, bundle: formats.Bundle, ends: float) -> None:
    """Store as much as a turn allows, which `ends` at a monotonic time; once all is stored, make it visible."""
    if not _is_as_known(upload) or (upload.judgments_stored is None and not _begin(upload, bundle)):
        return
    arrivals = judging.arrivals(upload.study, bundle.preferences, upload)
    ends = max(ends, time.monotonic() + LEAST)
    while (stored := upload.judgments_stored or 0) < len(arrivals.rows):
        if not _step(upload, partial(judging.store_some, arrivals, stored)) or time.monotonic() > ends:
            return
    _end(upload, bundle, arrivals)


def _begin(upload: Upload, bundle: formats.Bundle) -> bool:
    """Store the texts; False if that is done already, another upload of the study is first, or something was stored,
    removed or restored since this one was compared with the study."""
    bundle = with_changes(upload, bundle)
    with transaction.atomic():
        if (
            not hold(upload.study_id)
            or Upload.unfinished().filter(study=upload.study_id).exists()
            or _is_outdated(upload)
            or not _move(upload, [State.CONFIRMED], State.CONFIRMED, judgments_stored=0)
        ):
            return False
        keep_borders(upload, store_topics(upload.study, bundle, upload))
    return True


def _is_outdated(upload: Upload) -> bool:
    """Whether the study has changed since the file was read, before any of it was stored."""
    version = _version(upload.study)
    return upload.judgments_stored is None and any(upload.preview.get(part) != now for part, now in version.items())


def _version(study: Study) -> dict[str, Any]:
    """What changes with the data of the study that files are compared with; `removals`: with what is removed, replaced
    or restored."""
    removals = Removal.objects.filter(study=study).aggregate(Count("pk"), Count("restored_at"))
    texts = Topic.objects.filter(study=study).aggregate(Count("pk"), Sum("text_version"), Sum("peers_version"))
    stored = Upload.objects.filter(study=study, state=State.STORED).count()
    languages = Study.objects.filter(pk=study.pk).values_list("language", flat=True)
    return {"removals": sum(removals.values()), "version": [*languages, stored, *texts.values()]}


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
def _end(upload: Upload, bundle: formats.Bundle, arrivals: judging.Arrivals) -> None:
    """Store the rest and make everything visible at once."""
    if not hold(upload.study_id) or not _is_as_known(upload):
        return
    judging.lock_study(upload.study_id)
    _move(upload, [State.CONFIRMED], State.STORED, judgments_stored=None)
    late = store_late(upload.study, bundle, upload)
    judging.open_tallies(ItemSet.objects.filter(topic__upload=upload))
    judging.count_in(arrivals, late)
    if upload.simulation and upload.user and "simulated" not in KINDS_COUNTED[upload.study.counted_kinds]:
        what_if.ask_kind(upload.study, upload.user, "simulated")
    note(upload.study, upload.user, "store upload", upload=str(upload.key), filename=upload.filename)
    transaction.on_commit(lambda: kept.forget(upload))


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
def confirm(upload: Upload, user: User, *, drops_scores: bool = False) -> None:
    """Let the worker store it; idempotent. Raises `Refusal` if it is unread or refused.

    `drops_scores`: remove the human scores of the old texts of summaries that it replaces.
    """
    shown = Upload.objects.select_for_update(no_key=True, of=("self",)).get(pk=upload.pk).preview
    if _move(upload, [State.READY], State.CONFIRMED, preview=shown | {"drops_scores": drops_scores}):
        note(upload.study, user, "confirm upload", upload=str(upload.key), filename=upload.filename)
        return
    upload.refresh_from_db()
    if upload.state not in (State.CONFIRMED, State.STORED):
        message = _("This file cannot be stored: it is %(state)s.") % {"state": upload.get_state_display()}
        raise Refusal(message, "state")


@transaction.atomic
def discard(upload: Upload, user: User) -> None:
    """Delete the file. Raises `Refusal` once it is confirmed."""
    if _move(upload, [State.WAITING, State.ASKED, State.READY, State.REFUSED, State.FAILED], State.DISCARDED):
        note(upload.study, user, "discard upload", upload=str(upload.key), filename=upload.filename)
        # Only after the commit: a rolled-back discard must find its file.
        transaction.on_commit(lambda: delete_files(upload))
        return
    upload.refresh_from_db()
    if upload.state != State.DISCARDED:
        message = _("This file cannot be discarded: it is %(state)s.") % {"state": upload.get_state_display()}
        raise Refusal(message, "state")


def delete_files(upload: Upload) -> None:
    """Delete the file, and what was read from it."""
    kept.forget(upload)
    upload.file.storage.delete(upload.file.name or "")


def existing_of(study: Study) -> formats.Existing:
    """What the study has: topics, with the numbers of their documents' sentences, systems and references. Uncut topics
    are cut first."""
    topics = Topic.objects.filter(study=study)
    for key in topics.uncut().values_list("pk", flat=True):
        cut_topic(key)
    of_topic: dict[int, tuple[dict[str, int], set[str], set[str]]] = defaultdict(lambda: ({}, set(), set()))
    documents = SourceDocument.objects.filter(topic__in=topics).order_by("position").values_list("topic_id", "name")
    for topic_id, name, sentences in documents.annotate(Count("cut_sentences")):
        of_topic[topic_id][0][name] = sentences
    for topic_id, name in Summary.objects.filter(topic__in=topics).values_list("topic_id", "system__name"):
        of_topic[topic_id][1].add(name)
    for topic_id, name in Reference.objects.filter(topic__in=topics).values_list("topic_id", "name"):
        of_topic[topic_id][2].add(name)
    existing = {
        name: formats.ExistingTopic(of_topic[pk][0], frozenset(of_topic[pk][1]), frozenset(of_topic[pk][2]))
        for pk, name in topics.values_list("pk", "name")
    }
    return formats.Existing(existing, replaceable=True)


def _preview(bundle: formats.Bundle) -> dict[str, Any]:
    """The preview to confirm; see `Upload` for its form."""
    topics, shown, room = [], [], SHOWN_CHARACTERS
    for topic in bundle.topics:
        cuts = bundle.cuts[topic.topic_id]
        texts: list[dict[str, Any]] = [
            {"name": text.name, "sentences": len(cuts[text.name]), "given_cut": text.sentences is not None}
            for text in topic.documents
        ]
        for name, own in cuts.items():
            room -= sum(len(sentence.text) for sentence in own)
            if room > 0:
                sentences = [[sentence.text, sentence.rule] for sentence in own]
                shown.append({"topic": topic.topic_id, "document": name, "sentences": sentences})
        topics.append(
            {
                "name": topic.topic_id,
                "title": topic.title,
                "documents": len(topic.documents),
                "sentences": sum(text["sentences"] for text in texts),
                "not_judged": sum(bool(sentence.rule) for own in cuts.values() for sentence in own),
                "references": len(topic.references),
                "summaries": len(topic.summaries),
                "without_text": sum(not summary.is_known for summary in topic.summaries),
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
        "preferences_by_kind": Counter(map(kind_of_annotator, bundle.preferences)),
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
