"""Exports of a study: an archive that can be imported again, and its judgments as preferences. Pseudonyms only."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

from django.core.files.base import File
from django.db import transaction
from django.db.models import Prefetch
from django.http import FileResponse, Http404
from django.utils.text import slugify

from annotate import webhooks
from annotate.access import may
from annotate.audit_log import note
from annotate.database.snapshot import snapshot
from annotate.judging.designs import systems_to_name
from annotate.models import (
    Annotator,
    AnsweredQuestionnaire,
    Assignment,
    Delivery,
    Export,
    Fit,
    GoldPair,
    Item,
    ItemSet,
    Judgment,
    MetricScore,
    PyramidAnnotation,
    Questionnaire,
    Reference,
    Removal,
    ReportedPair,
    Score,
    SourceDocument,
    Study,
    Summary,
    Topic,
    Upload,
)
from annotate.models.metric import GIVEN
from annotate.server import limits
from preferendum import formats
from preferendum.about import __version__
from preferendum.formats.answers import ANSWERS
from preferendum.formats.archive import study as study_archive
from preferendum.formats.archive import study_records as study_records
from preferendum.formats.archive.study_records import (
    AnnotatorRecord,
    AssignmentRecord,
    FitRecord,
    GoldPairRecord,
    HistoryAnswer,
    HistoryRecord,
    HistorySentence,
    JudgmentRecord,
    QuestionnaireAnswers,
    QuestionnaireRecord,
    RemovalRecord,
    Report,
    ReportedPairRecord,
    ScoredByName,
    SentenceRecord,
    StudyArchive,
    UploadRecord,
    Use,
)
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.judge import judge_of
from preferendum.formats.pyramid import Annotation
from preferendum.formats.readers.pyramid_json import annotation_from
from preferendum.formats.records import Kind
from preferendum.formats.settings import NAMES, StudySettings

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

State = Export.State
CHUNK = 2_000
#: A user's exports of one study that stay on the disk.
KEPT = 5


def exports_of(study: Study, user: User) -> QuerySet[Export]:
    """The exports of a study that a user may fetch, the newest first: their own; for owners, all."""
    exports = Export.objects.filter(study=study).select_related("study", "user").order_by("-pk")
    return exports if may(user, study, "members") else exports.filter(user=user)


@limits.for_each_user(limits.EXPORTS)
@transaction.atomic
def request_export(study: Study, user: User) -> Export:
    """Request the study as a file, which the worker writes. A repeated request while one is waiting returns that one.

    Raises `TooOften`.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    waiting = Export.objects.filter(study=study, user=user, state=State.WAITING).first()
    if waiting is not None:
        return waiting
    export = Export.objects.create(study=study, user=user)
    for old in Export.objects.filter(study=study, user=user).order_by("-pk")[KEPT:]:
        if old.file:
            transaction.on_commit(partial(old.file.delete, save=False))
        old.delete()
    note(study, user, "request export", export=str(export.key))
    return export


def write_export(export: Export) -> None:
    """Write the file; the export is ready once it is complete. An export that is not waiting stays as it is."""
    if export.state != State.WAITING:
        return
    with tempfile.TemporaryFile() as file:
        with snapshot():
            archive = make_archive(export.study)
        study_archive.write(archive, file)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        name = export.file.storage.save(f"exports/{export.key}.zip", File(file))
    if not _is_ready(export, file=name, sha256=digest):
        export.file.storage.delete(name)
    export.refresh_from_db()


@transaction.atomic
def _is_ready(export: Export, **written: str) -> bool:
    """Publish the file that was written, and tell webhooks; False if it is not waited for any more."""
    Study.objects.select_for_update(no_key=True).filter(pk=export.study_id).values_list("pk").first()
    waiting = Export.objects.filter(pk=export.pk, state=State.WAITING)
    if not waiting.update(state=State.READY, problem="", **written):
        return False
    webhooks.announce(export.study, Delivery.Event.EXPORT, export=str(export.key))
    return True


def make_anew(study: Study) -> None:
    """Withdraw the files of all ready exports, and have them written again; in the caller's transaction."""
    written = Export.objects.select_for_update().filter(study=study, state=State.READY)
    files = [(export.file.storage, str(export.file.name)) for export in written]
    written.update(state=State.WAITING, file="", sha256="")
    for storage, name in files:
        transaction.on_commit(partial(storage.delete, name))


def download(export: Export, name: str) -> FileResponse:
    """The file as a download with this name. Raises `Http404` if it is gone."""
    try:
        return FileResponse(export.file.open(), as_attachment=True, filename=name, content_type="application/zip")
    except FileNotFoundError as error:
        raise Http404 from error


def written(study: Study, write: Callable[[Study, IO[bytes]], None], end: str, kind: str) -> FileResponse:
    """The study at one moment, written to a file; `end`: of the file's name, `kind`: its media type."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (the response closes it)
    with snapshot():
        write(study, file)
    file.seek(0)
    name = f"{slugify(study.title) or 'study'}-{end}"
    return FileResponse(file, as_attachment=True, filename=name, content_type=kind)


def make_archive(study: Study) -> StudyArchive:
    """The study with all its data, always in the same order. Call it in a `snapshot`."""
    study = Study.objects.get(pk=study.pk)
    sentences, names = _sentences(study)
    members = _members(study)
    return StudyArchive(
        settings=StudySettings(**{name: getattr(study, name) for name in NAMES}, extra=study.extra),
        program_version=__version__,
        topics=tuple(topics(study)),
        sentences=tuple(sentences),
        annotators=tuple(
            AnnotatorRecord(
                pseudonym,
                cast(Kind, kind),
                _moment(joined_at),
                _known(excluded_at),
                is_unnamed,
                judge_of(judge) if judge else None,
            )
            for pseudonym, kind, joined_at, excluded_at, is_unnamed, judge in Annotator.objects.arrived()
            .filter(study=study)
            .order_by("pk")
            .values_list("pseudonym", "kind", "joined_at", "excluded_at", "is_unnamed", "judge")
        ),
        assignments=tuple(_assignments(study, names)),
        judgments=tuple(
            JudgmentRecord(str(key), revision, answer, seconds, _known(at), "", extra or {}, why, words, confidence)
            for key, revision, answer, seconds, at, extra, why, words, confidence in Judgment.objects.arrived()
            .filter(assignment__item_set__study=study, assignment__item_set__removal=None)
            .order_by("pk")
            .values_list("assignment__key", "revision", "answer", "seconds", "at", "extra", "why", "note", "confidence")
        ),
        fits=tuple(_fits(study, names)),
        gold_pairs=tuple(
            GoldPairRecord(topic, names[better], names[worse], cast(Use, use), explanation, of)
            for topic, better, worse, use, explanation, of in GoldPair.objects.filter(item_set__study=study)
            .order_by("pk")
            .values_list("item_set__topic__name", "better", "worse", "use", "explanation", "item_set__of")
        ),
        reported_pairs=tuple(
            ReportedPairRecord(str(key), cast(Report, reason), note, _moment(at))
            for key, reason, note, at in ReportedPair.objects.standing()
            .filter(study=study)
            .order_by("pk")
            .values_list("assignment__key", "reason", "note", "at")
        ),
        history=tuple(_history(study)),
        questionnaires=tuple(
            QuestionnaireRecord(own.version, cast(Any, own.place), own.asked, _moment(own.at))
            for own in Questionnaire.objects.filter(study=study).order_by("version")
        ),
        questionnaire_answers=tuple(
            QuestionnaireAnswers(pseudonym, version, answers, _moment(at))
            for pseudonym, version, answers, at in AnsweredQuestionnaire.objects.filter(annotator__study=study)
            .order_by("annotator")
            .values_list("annotator__pseudonym", "questionnaire__version", "answers", "at")
        ),
        uploads=(*(UploadRecord(**row) for row in study.earlier.get("uploads", ())), *_uploads(study, members)),
        removals=(*(RemovalRecord(**row) for row in study.earlier.get("removals", ())), *_removals(study, members)),
    )


def _sentences(study: Study) -> tuple[list[SentenceRecord], dict[int, str]]:
    """Sentences of source documents, and the public names of these and of whole summaries by key."""
    rows = Item.objects.filter(item_set__in=ItemSet.objects.filter(study=study)).order_by("item_set", "position")
    columns = ("item_set__topic__name", "document__name", "index", "paragraph", "text", "not_judged")
    sentences, names = [], {}
    for pk, system, *row in rows.values_list("pk", "system", *columns):
        if system:
            names[pk] = system
        else:
            record = SentenceRecord(*row)
            names[pk] = f"{record.document}:{record.index}"
            sentences.append(record)
    return sentences, names


def topics(study: Study) -> Iterator[formats.Topic]:
    """The topics as uploaded, with all their texts and human scores."""
    return topic_records(Topic.objects.filter(study=study))


def topic_records(topics: QuerySet[Topic]) -> Iterator[formats.Topic]:
    """These topics, with all their texts and human scores."""
    # Systems are joined: prefetching more than a thousand of them would exceed SQLite's limit on conditions.
    rows = (
        topics.order_by("position")
        .select_related("pyramid")
        .prefetch_related("documents", "references", Prefetch("summaries", Summary.objects.select_related("system")))
        .prefetch_related("summaries__human_scores")
        .prefetch_related(Prefetch("summaries__metric_scores", MetricScore.objects.given().order_by("metric")))
    )
    for topic in rows.iterator(CHUNK):
        yield formats.Topic(
            topic_id=topic.name,
            documents=tuple(map(_text, topic.documents.all())),
            references=tuple(map(_text, topic.references.all())),
            summaries=tuple(map(_summary, sorted(topic.summaries.all(), key=lambda summary: summary.system.name))),
            title=topic.title,
            question=topic.question,
            language=topic.language,
            pyramid=_pyramid(topic),
            base=topic.base,
            extra=topic.extra,
        )


def preferences(study: Study, judgments: QuerySet[Judgment] | None = None) -> Iterator[formats.Preference]:
    """The judgments that count (or others), by topic, in order of arrival; those about sentences first.

    `kind` is set for annotators who are no people, `reason` if it is known why the pair was shown, `design_weight` if
    it is not 1, and `drawn_for` names the systems that the pair was drawn to distinguish, if any. `why` and `note`: the
    reasons that were tapped, and the reason in the annotator's own words, if any. `judge`: what is known of a machine,
    `confidence`: how sure it was.
    """
    machines = Annotator.objects.filter(study=study, judge__isnull=False)
    judges = dict(machines.values_list("pseudonym", "judge"))
    names = Item.objects.filter(item_set__study=study).names()
    by_key = {item_set.pk: item_set for item_set in item_sets(study)}
    systems = systems_to_name(by_key)
    rows = (
        (Judgment.objects.counted() if judgments is None else judgments)
        .filter(assignment__item_set__in=by_key)
        .order_by("assignment__item_set__of", "assignment__item_set__topic__position", "pk")
        .values_list(
            *("assignment__item_set", "answer", "seconds", "at", "extra"),
            *("assignment__swapped", "assignment__pair__first", "assignment__pair__second"),
            *("assignment__annotator__pseudonym", "assignment__annotator__is_unnamed", "assignment__annotator__kind"),
            *("assignment__reason", "assignment__design_weight", "assignment__drawn_for"),
            *("why", "note", "confidence"),
        )
    )
    for key, answer, seconds, at, extra, swapped, first, second, pseudonym, *drawn in rows.iterator(CHUNK):
        is_unnamed, kind, reason, weight, design, *reasons, confidence = drawn
        left, right = (second, first) if swapped else (first, second)
        by = {} if kind == Annotator.Kind.HUMAN else {"kind": kind}
        by |= {"judge": judges[pseudonym]} if pseudonym in judges else {}
        why = {} if reason == Assignment.Reason.IMPORTED else {"reason": reason}
        counts: dict[str, Any] = {} if weight == 1 else {"design_weight": weight}
        if design in systems[key]:
            counts["drawn_for"] = list(systems[key][design])
        counts |= {name: given for name, given in zip(("why", "note"), reasons, strict=True) if given}
        counts |= {} if confidence is None else {"confidence": confidence}
        yield formats.Preference(
            topic=by_key[key].topic.name,
            a=names[left],
            b=names[right],
            winner=ANSWERS[answer].letter,
            annotator="" if is_unnamed else pseudonym,
            seconds=seconds,
            at=_known(at) or "",
            extra=(extra or {}) | by | why | counts,
            of=by_key[key].of,
        )


def item_sets(study: Study) -> QuerySet[ItemSet]:
    """The study's item sets in the order of its files."""
    return ItemSet.objects.filter(study=study).select_related("topic").order_by("of", "topic__position")


def are_summaries_judged(study: Study) -> bool:
    """Whether some of these preferences are about whole summaries."""
    of_summaries = ItemSet.objects.filter(study=study, of="summaries")
    return Judgment.objects.counted().filter(assignment__item_set__in=of_summaries).exists()


def _pyramid(topic: Topic) -> Annotation | None:
    row: PyramidAnnotation | None = getattr(topic, "pyramid", None)
    return None if row is None else annotation_of(row)


def annotation_of(row: PyramidAnnotation) -> Annotation | None:
    """A Pyramid in the format of exchange."""
    return annotation_from(Place(Complaints(), row.topic.name), row.data, {}, {})


def _text(row: SourceDocument | Reference) -> formats.Text:
    return formats.Text(row.name, *_content(row), row.extra)


def _summary(row: Summary) -> formats.Summary:
    ratings: dict[str, dict[str, float]] = {"": {}}
    for score in sorted(row.human_scores.all(), key=lambda score: (score.assessor, score.dimension)):
        ratings.setdefault(score.assessor, {})[score.dimension] = score.score
    human = ratings.pop("")
    given = {score.metric.removeprefix(GIVEN): score.score for score in row.metric_scores.all()}
    metrics = {metric: score for metric, score in given.items() if score is not None}
    reference = row.reference or None
    turns = None if row.turns is None else tuple(formats.Turn(**turn) for turn in row.turns)
    content = _content(row) if row.has_text else (None, None)
    return formats.Summary(row.system.name, *content, row.extra, human, row.person, reference, ratings, metrics, turns)


def _content(row: SourceDocument | Reference | Summary) -> tuple[str | None, tuple[str, ...] | None]:
    return (row.text, None) if row.sentences is None else (None, tuple(row.sentences))


def _assignments(study: Study, names: dict[int, str]) -> Iterable[AssignmentRecord]:
    rows = Assignment.objects.arrived().filter(item_set__study=study, item_set__removal=None).order_by("pk")
    columns = ("key", "item_set__topic__name", "annotator__pseudonym", "swapped", "pair__first", "pair__second")
    rest = ("occasion", "reason", "state", "skip_reason", "holds_place", "created_at", "closed_at", "expected")
    how = ("design_weight", "item_set_id", "drawn_for", "item_set__of")
    systems = systems_to_name(ItemSet.objects.filter(study=study).values_list("pk", flat=True))
    for row in rows.values_list(*columns, *rest, *how).iterator(CHUNK):
        key, topic, annotator, swapped, first, second, occasion, reason, state, *more = row
        skipped, place, created, closed, expected, design_weight, item_set_id, design, of = more
        yield AssignmentRecord(
            key=str(key),
            topic=topic,
            annotator=annotator,
            left=names[second if swapped else first],
            right=names[first if swapped else second],
            occasion=occasion,
            reason_shown=reason,
            state=cast(study_records.State, state),
            skip_reason=skipped,
            holds_place=place,
            created_at=_shown(created, closed, reason),
            closed_at=_known(closed),
            expected=expected,
            design_weight=design_weight,
            drawn_for=systems[item_set_id].get(design),
            of=of,
        )


def _history(study: Study) -> Iterator[HistoryRecord]:
    """Every judged pair that is void, of topics and sentences that were removed or replaced."""
    judged = Assignment.objects.arrived().filter(item_set__study=study, revision__gt=0).exclude(item_set__removal=None)
    rows = judged.select_related("item_set__topic", "annotator", "pair__first__document", "pair__second__document")
    numbers: dict[int, int] = {}
    for row in rows.prefetch_related("judgments").order_by("pk").iterator(CHUNK):
        yield HistoryRecord(
            key=str(row.key),
            topic=row.item_set.topic.name,
            annotator=row.annotator.pseudonym,
            left=_of_history(row.left, numbers),
            right=_of_history(row.right, numbers),
            occasion=row.occasion,
            reason_shown=row.reason,
            holds_place=row.holds_place,
            created_at=_shown(row.created_at, row.closed_at, row.reason),
            closed_at=_known(row.closed_at),
            expected=row.expected,
            answers=tuple(
                HistoryAnswer(
                    answer.revision,
                    answer.answer,
                    answer.seconds,
                    _known(answer.at),
                    answer.extra or {},
                    answer.why,
                    answer.note,
                    answer.confidence,
                )
                for answer in sorted(row.judgments.all(), key=lambda answer: answer.revision)
            ),
            of=row.item_set.of,
        )


def _of_history(item: Item, numbers: dict[int, int]) -> HistorySentence:
    number = numbers.setdefault(item.pk, len(numbers))
    return HistorySentence(number, item.document.name if item.document else item.system, item.text)


def _members(study: Study) -> dict[int, int]:
    """A number for each user who uploaded or removed something, after those from before an import."""
    earlier = (row["by"] for rows in study.earlier.values() for row in rows)
    uploads, removals = (table.objects.filter(study=study).order_by("pk") for table in (Upload, Removal))
    users = dict.fromkeys((*uploads.values_list("user", flat=True), *removals.values_list("user", flat=True)))
    return {user: number for number, user in enumerate(users, max(earlier, default=0) + 1)}


def _uploads(study: Study, members: dict[int, int]) -> Iterator[UploadRecord]:
    for row in Upload.objects.filter(study=study, state=Upload.State.STORED).order_by("pk"):
        contents = {name: number for name, number in row.contents.items() if number}
        yield UploadRecord(row.filename, row.size, row.sha256, _moment(row.created_at), members[row.user_id], contents)


def _removals(study: Study, members: dict[int, int]) -> Iterator[RemovalRecord]:
    rows = Removal.objects.filter(study=study).exclude(kind=Removal.Kind.ARCHIVED).defer("rows").order_by("pk")
    for row in rows:
        at, by = _moment(row.removed_at), members[row.user_id]
        yield RemovalRecord(row.kind, row.name, row.topic_name, row.counts, at, by, _known(row.restored_at))


def _fits(study: Study, names: dict[int, str]) -> Iterator[FitRecord]:
    rows = Fit.objects.filter(item_set__study=study, item_set__of="sentences").order_by(
        "item_set", "data_version", "-scored_by"
    )
    rows = rows.defer("curve", "covariance", "differences", "words")
    scores = Prefetch("scores", Score.objects.select_related("summary__system"))
    for fit in rows.select_related("item_set__topic").prefetch_related("utilities", scores):
        utilities = {names[row.sentence_id]: (row.strength, row.utility, row.se) for row in fit.utilities.all()}
        scored = {row.summary.system.name: row for row in fit.scores.all()}
        yield FitRecord(
            topic=fit.item_set.topic.name,
            judgments=fit.judgments,
            settings=fit.settings,
            program_version=fit.program_version,
            residual=fit.residual,
            iterations=fit.iterations,
            data_version=fit.data_version,
            at=_moment(fit.created_at),
            utilities=utilities,
            scores={system: (row.score, row.se, row.low, row.high) for system, row in scored.items()},
            scored_by=cast(ScoredByName, fit.scored_by),
            coverage={system: (row.coverage,) for system, row in scored.items()},
        )


def _moment(at: datetime) -> str:
    return (at if at.tzinfo is UTC else at.astimezone(UTC)).isoformat().replace("+00:00", "Z")


def _known(at: datetime | None) -> str | None:
    return None if at is None else _moment(at)


def _shown(at: datetime, closed_at: datetime | None, reason: str) -> str | None:
    """When a pair was shown; of an imported one without a time the row tells only when it was imported."""
    return None if closed_at is None and reason == Assignment.Reason.IMPORTED else _moment(at)
