"""Verbs on a study as a whole: create, set up, open and close, delete."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.files.base import ContentFile, File
from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from annotate import access, audit_log, crowd, exports, imports, judging, members, webhooks
from annotate.audit_log import note
from annotate.database import append_only
from annotate.database.snapshot import snapshot
from annotate.imports import written
from annotate.models import (
    Assignment,
    AuditEntry,
    Delivery,
    Export,
    Item,
    ItemSet,
    Membership,
    SourceDocument,
    Study,
    Topic,
    Upload,
)
from annotate.refusal import Refusal, check, cleaned, invalid
from annotate.server import limits
from annotate.server.languages import translated
from preferendum import formats
from preferendum.formats.settings import NAMES, QUESTION, SETTINGS, SUMMARY_QUESTION, StudySettings
from preferendum.results import Difference

if TYPE_CHECKING:
    from django.contrib.auth.models import User

EXAMPLE = settings.BASE_DIR / "annotate" / "demo" / "wikinews.jsonl"
#: Judgments that a study wants of each sentence by default, and of each topic at least.
JUDGMENTS_A_SENTENCE, FEWEST = 5, 20


def create_study(user: User, form_token: UUID | None = None, **fields: Any) -> Study:
    """A new study, owned by `user`; the existing one if the form with this token was sent before.

    It asks in the language of its texts, unless `fields` have the questions.
    Raises `Refusal` for an unsuitable value, `PermissionDenied` if the user may not create studies.
    """
    if not access.may_create_studies(user):
        raise PermissionDenied
    first = Study.objects.filter(form_token=form_token, created_by=user) if form_token else Study.objects.none()
    if first.exists():
        return first.get()
    language = fields.get("language", "")
    asked = {"question": translated(QUESTION, language), "summary_question": translated(SUMMARY_QUESTION, language)}
    try:
        return make_study(user, form_token=form_token, **asked | fields)
    except (IntegrityError, Refusal):
        if study := first.first():  # sent twice at once
            return study
        raise


@transaction.atomic
def begin_study(
    user: User, form_token: UUID | None, *, title: str, language: str, file: File[Any] | None, example: bool
) -> Study:
    """A new study with the recommended settings, which receives this file, or the example; sent again, the same study.

    Raises `Refusal`, also of the file, and then there is no study, and `PermissionDenied`.
    """
    study = create_study(user, form_token, title=title, language=language, compares="both")
    if example:
        file = ContentFile(EXAMPLE.read_bytes(), EXAMPLE.name)
    if file and not Upload.objects.filter(study=study).exists():
        imports.refuse_at_once(file, language)
        imports.receive(study, user, file)
    return study


@transaction.atomic
def leave(study: Study, user: User) -> bool:
    """Delete a study that holds nothing but a file that began it and was discarded; whether it did."""
    began = {"create study", "upload", "choose columns", "discard upload"}
    actions = {*AuditEntry.objects.filter(study=study).values_list("action", flat=True)}
    is_begun = study.form_token is not None and actions <= began and Upload.objects.filter(study=study).count() == 1
    if is_begun and access.may(user, study, "members"):
        delete_study(study, user)
        return True
    return False


@transaction.atomic
def make_study(
    user: User, *, extra: Mapping[str, Any] | None = None, form_token: UUID | None = None, **fields: Any
) -> Study:
    """Like `create_study`, for an operator at the machine, who may give a study to any user."""
    study = Study(created_by=user, extra=dict(extra or {}), form_token=form_token, **_only_settings(fields))
    check(study)
    study.save(force_insert=True)
    members.give_role(study, user, Membership.Role.OWNER)
    note(study, user, "create study", title=study.title)
    return study


@limits.for_each_user(limits.COPIES)
@transaction.atomic
def copy_study(
    study: Study, user: User, *, title: str, with_topics: bool = False, form_token: UUID | None = None
) -> Study:
    """A copy of a study, owned by `user`: its settings, consent text and questionnaire, without its members.

    Its topics arrive as an upload, which the worker writes, to be checked and confirmed. Raises `Refusal` and
    `PermissionDenied` as `create_study` does, and `TooOften`.
    """
    settings = {name: getattr(study, name) for name in NAMES}
    copy = create_study(user, form_token, **settings | {"title": title})
    if AuditEntry.objects.filter(study=copy, action="copy study").exists():  # the form was sent before
        return copy
    if consent := crowd.recruitment_of(study).consent:
        crowd.recruit(copy, user, consent=consent)
    if (questionnaire := crowd.questionnaire_of(study)).questions:
        crowd.set_questionnaire(copy, user, questionnaire.asked, questionnaire.place)
    if with_topics and study.topics.exists():
        upload = Upload(study=copy, user=user, filename="topics.jsonl", size=0, sha256="", copied_from=study)
        written.begin(upload, (), "upload", filename=upload.filename)
    for noted in (study, copy):
        note(noted, user, "copy study", study=study.pk, copy=copy.pk, with_topics=with_topics)
    return copy


def write_copied_topics(upload: Upload, study: Study) -> None:
    """Every sentence as it is split: a document uploaded in sentences is not split again."""
    with Path(upload.file.path).open("wb") as file, snapshot():
        cuts: dict[tuple[str, str], list[str]] = {}
        rows = Item.objects.filter(document__topic__in=study.topics.all()).order_by("position")
        for topic, document, text in rows.values_list("item_set__topic__name", "document__name", "text"):
            cuts.setdefault((topic, document), []).append(text)
        formats.write_topics((_as_cut(topic, cuts) for topic in exports.topics(study)), file)
    written.hand_over(upload)


def _as_cut(topic: formats.Topic, cuts: Mapping[tuple[str, str], list[str]]) -> formats.Topic:
    """The topic with its documents in these sentences, by topic and document; documents without any keep their text."""
    documents = [
        replace(document, text=None, sentences=tuple(cut)) if cut else document
        for document in topic.documents
        for cut in [cuts.get((topic.topic_id, document.name))]
    ]
    return replace(topic, documents=tuple(documents))


@transaction.atomic
def change_settings(study: Study, user: User, **fields: Any) -> Study:
    """Set the given settings, leave the rest. Scores that depend on them are updated automatically."""
    study = _locked(study)
    changes = {
        name: [getattr(study, name), value]
        for name, value in _only_settings(fields).items()
        if getattr(study, name) != value
    }
    if not changes:
        return study
    for name, (_before, after) in changes.items():
        setattr(study, name, after)
    check(study)
    if "language" in changes:
        imports.cut_again(study)
    study.save(update_fields=list(changes))
    if any(setting.changes_fits for setting in SETTINGS if setting.name in changes):
        judging.raise_version(ItemSet.objects.filter(study=study).values_list("pk", flat=True))
    if "compares" in changes:
        imports.keep_in_step(study, Topic.objects.filter(study=study).values_list("pk", flat=True))
    if "judgments_per_pair" in changes:
        judging.keep_needs(study)
    if "metric_names" in changes:
        Topic.objects.filter(study=study).score_anew()
    note(study, user, audit_log.SETTINGS, changes=changes)
    return study


@transaction.atomic
def set_state(study: Study, user: User | None, state: str) -> Study:
    """Open, pause or close a study; unless it is open, no pairs are drawn. Answers to drawn pairs are still stored.

    `user` None: it closes automatically.
    """
    if state not in Study.State.values:
        raise invalid("state", _("This state does not exist."))
    study = _locked(study)
    if study.state != state:
        before, study.state = study.state, state
        study.save(update_fields=["state"])
        note(study, user, "set state", before=before, after=state)
    return study


@transaction.atomic
def plan_judgments(study: Study) -> None:
    """Set as many judgments as suits the study's sentences, unless a number was set or judging has begun; compare whole
    summaries alone if no topic has documents."""
    study = _locked(study)
    begun = Assignment.objects.lasting().filter(item_set__study=study)
    if begun.exclude(reason=Assignment.Reason.IMPORTED).exists():
        return
    _compare_what_there_is(study)
    if begun.exists():
        return
    topics = Topic.objects.filter(study=study).count()
    sentences = Item.objects.to_judge().of_sources(study).count()
    is_decided = study.judgments_per_topic != StudySettings().judgments_per_topic
    if is_decided or not sentences:
        return
    planned = max(FEWEST, math.ceil(JUDGMENTS_A_SENTENCE * sentences / topics / 10) * 10)
    if planned != study.judgments_per_topic:
        note(study, None, "plan judgments", judgments_per_topic=[study.judgments_per_topic, planned])
        study.judgments_per_topic = planned
        study.save(update_fields=["judgments_per_topic"])


def _compare_what_there_is(study: Study) -> None:
    topics = Topic.objects.filter(study=study)
    with_two_summaries = topics.annotate(count=Count("summaries")).filter(count__gt=1)
    has_documents = SourceDocument.objects.filter(topic__in=topics).exists()
    if study.compares == "summaries" or has_documents or not with_two_summaries.exists():
        return
    note(study, None, audit_log.SETTINGS, changes={"compares": [study.compares, "summaries"]})
    study.compares = "summaries"
    study.save(update_fields=["compares"])
    imports.keep_in_step(study, topics.values_list("pk", flat=True))


def conclude_verdicts(study_id: int, differences: Collection[Difference], *, by_summaries: bool = False) -> None:
    """Conclude whether a study is decided, once it was ranked: whether the stop rule has a verdict on every pair of its
    systems, by answers about summaries, if it asks for any. Webhooks hear of it, and it closes if it is to."""
    ruled = Study.objects.filter(stop_rule=True)
    ruled = ruled.exclude(compares="sentences") if by_summaries else ruled.filter(compares="sentences")
    study = ruled.filter(pk=study_id).first()
    if study is None:
        return
    is_decided = bool(differences) and all(
        own.planned_share is not None and own.verdict(study.equal_within) in ("apart", "equal") for own in differences
    )
    webhooks.conclude(study, Delivery.Event.DECIDED, lambda: is_decided)
    if is_decided and study.closes_when_decided and study.state == Study.State.OPEN:
        set_state(study, None, Study.State.CLOSED)


@transaction.atomic
def delete_study(study: Study, user: User) -> None:
    """Delete a study with everything in it, its files too. The log records who did it.

    It waits for requests that draw or judge; later ones find nothing.
    """
    Study.objects.select_for_update().get(pk=study.pk)  # with its key: no new row refers to it
    if not access.may(user, study, "members"):
        raise PermissionDenied
    judging.lock_study(study.pk)
    list(Topic.with_unfinished.select_for_update().filter(study=study).order_by("pk").values_list("pk"))
    list(ItemSet.with_unfinished.select_for_update().filter(study=study).order_by("pk").values_list("pk"))
    uploads, exports = Upload.objects.filter(study=study), Export.objects.filter(study=study)
    files = [partial(imports.delete_files, upload) for upload in uploads]
    files += [partial(export.file.delete, save=False) for export in exports if export.file]
    gone = {"study": study.pk, "title": study.title}
    with append_only.erasing():
        study.delete()
    note(None, user, "delete study", **gone)
    for delete in files:
        transaction.on_commit(delete)


def _only_settings(fields: dict[str, Any]) -> dict[str, Any]:
    if unknown := sorted(fields.keys() - set(NAMES)):
        raise TypeError(f"not settings of a study: {', '.join(unknown)}")
    return {name: cleaned(name, value) if isinstance(value, str) else value for name, value in fields.items()}


def _locked(study: Study) -> Study:
    return Study.objects.select_for_update(no_key=True).get(pk=study.pk)
