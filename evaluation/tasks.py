"""What the worker does, each in three words: load, compute, save.

A task may come twice, late or never: it looks at the tables first and finds nothing to do where others were faster.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import TypedDict

import numpy as np
from celery import current_task, shared_task
from celery.exceptions import SoftTimeLimitExceeded

import formats
from annotate import exports, imports, previews
from annotate.models import Export, Preview, Upload
from annotate.refusal import Refusal
from evaluation import consensus, examination, intake, people, prepare, records, reliability, removal, sampling
from evaluation.evaluate import TopicResult, UndeterminedTopic, curve, evaluate
from evaluation.evidence import Evidence, Judgments, Settings, SummaryText
from evaluation.ranking import compare_systems, rank_systems
from evaluation.scoring import Matched, match
from evaluation.similarity import Similarity, similarity

logger = logging.getLogger(__name__)

#: A file that could not be read, stored or written in so many tries will not be tried again.
TRIES = 3
#: How many pairs are asked for after a fit; the next one brings others.
QUEUE = 64
#: A preview is left for a moment after so many seconds, so that scores and other people have their turn.
TURN = 15.0

UNDETERMINED = (
    "Without a prior the judgments leave the strengths of this topic's sentences undetermined: nothing else was ever "
    "preferred to %(sentences)s. More judgments may settle it; a small prior such as 0.1, in the study's settings, "
    "does so at once."
)
TOO_LONG = (
    "It took longer than a minute and was stopped. The topic has too many sentences or judgments for this machine."
)
BROKEN = "The program failed: %(error)s. Whoever runs this installation finds more in the worker's log."
PREVIEW_BROKEN = (
    "The program failed three times over this preview. Whoever runs this installation finds out why in its log."
)
FILE_TOO_LONG = "It took longer than a minute and was stopped. Try smaller files, one after another."
FILE_BROKEN = "The program failed three times over this file. Whoever runs this installation finds out why in its log."


@shared_task(name="prepare_topic")
def prepare_topic(topic_id: int) -> None:
    """Cut the documents of a topic into sentences."""
    if records.topics_uncut().filter(pk=topic_id).exists():
        _try_topic(topic_id, intake.cut_topic)


@shared_task(name="refit_topic")
def refit_topic(topic_id: int) -> None:
    """Work out what the judgments of a topic say by now; then what they say of the systems, if nothing else waits."""
    if records.is_behind(topic_id):
        _try_topic(topic_id, _refit)
    study_id = records.study_to_rank(topic_id)
    if study_id is not None:
        rank_study(study_id)
    draw_curve(topic_id)


@shared_task(name="draw_curve")
def draw_curve(topic_id: int) -> None:
    """Work out how a topic's scores came to be, once nobody waits for scores: it takes longer than the fit."""
    if not records.is_curve_owed(topic_id):
        return
    with records.claimed(f"topic:{topic_id}", _token()) as ours:
        if not ours:
            return
        try:
            _draw(topic_id)
        except Exception:
            logger.exception("the curve of topic %s could not be drawn", topic_id)
            records.leave_curve(topic_id)


@shared_task(name="rank_study")
def rank_study(study_id: int) -> None:
    """Put a study's systems in order over all of its topics."""
    with records.claimed(f"study:{study_id}", _token()) as ours:
        if not ours:
            return
        try:
            standings = records.load_standings(study_id)
            if standings is not None:
                differences = compare_systems(standings.topics)
                systems = rank_systems(standings.topics, differences=differences)
                records.save_ranking(standings, systems, differences)
        except Exception as error:
            logger.exception("study %s could not be ranked", study_id)
            records.note_ranking_failure(study_id, _said(error))


@shared_task(name="report_people")
def report_people(study_id: int) -> None:
    """Work out how a study's people judge, and how far they agree."""
    with records.claimed(f"people:{study_id}", _token()) as ours:
        if not ours or not records.studies_unreported().filter(pk=study_id).exists():
            return
        try:
            loaded = records.load_people(study_id)
            if loaded is not None:
                _report(loaded)
        except Exception as error:
            logger.exception("the people of study %s could not be reported on", study_id)
            records.note_people_failure(study_id, _said(error))


def _report(loaded: records.People) -> None:
    said = loaded.said
    found = reliability.estimate(
        [one.judgments for one in loaded.answers],
        len(loaded.annotators),
        [one.counted for one in loaded.answers],
    )
    by_topic = {number: consensus.agreement(said.only(said.topic == number)) for number in range(len(loaded.topics))}
    records.save_people(
        loaded,
        people.describe(loaded.answers, len(loaded.annotators), found),
        consensus.agreement(said),
        by_topic,
        consensus.over_time(said),
        consensus.who_with_whom(said),
        consensus.disputed(said),
    )


@shared_task(name="read_upload")
def read_upload(upload_id: int) -> None:
    """Read a file and say what it would bring, or why it cannot be taken."""
    _try_upload(upload_id, Upload.State.WAITING, _read)


@shared_task(name="store_upload")
def store_upload(upload_id: int) -> None:
    """Store what a person looked at and confirmed, if it still fits the study."""
    _try_upload(upload_id, Upload.State.CONFIRMED, _store)


@shared_task(name="write_export")
def write_export(export_id: int) -> None:
    """Write a study into a file for whoever asked for it."""
    with records.claimed(f"export:{export_id}", _token()) as ours:
        export = Export.objects.filter(pk=export_id, state=Export.State.WAITING).first() if ours else None
        if export is None:
            return
        if exports.note_try(export) > TRIES:
            exports.give_up(export, FILE_BROKEN)
            return
        try:
            exports.write_export(export)
        except SoftTimeLimitExceeded:
            exports.give_up(export, TOO_LONG)
        except Exception:
            logger.exception("export %s could not be written", export_id)


@shared_task(name="work_out_preview")
def work_out_preview(preview_id: int) -> None:
    """Say what would change without some annotators, or with them again; a long answer comes in several turns."""
    with records.claimed(f"preview:{preview_id}", _token()) as ours:
        preview = Preview.objects.filter(pk=preview_id, state=Preview.State.WAITING).first() if ours else None
        if preview is None:
            return
        if previews.note_try(preview) > TRIES:
            previews.give_up(preview, PREVIEW_BROKEN)
            return
        try:
            _answer(preview)
        except UndeterminedTopic as error:
            previews.give_up(preview, UNDETERMINED % {"sentences": _some(error.sentences)})
        except SoftTimeLimitExceeded:
            previews.give_up(preview, TOO_LONG)
        except Exception:
            logger.exception("preview %s could not be worked out", preview_id)


@shared_task(name="examine_topic")
def examine_topic(topic_id: int) -> None:
    """Look closely at what a topic's scores rest on."""
    with records.claimed(f"examination:{topic_id}", _token()) as ours:
        began = time.perf_counter()
        version = records.fitted_version(topic_id) if ours else 0
        snapshot = records.load_evidence(topic_id, split) if version else None
        if snapshot is None:
            return
        found = None
        try:
            if len(snapshot.evidence.judgments):
                compared = _compare(snapshot.evidence.sentences, snapshot.settings.similarity)
                found = examination.examine(_weighed(snapshot), snapshot.settings, compared)
        except Exception:
            logger.exception("topic %s could not be examined", topic_id)
        records.save_topic_examination(snapshot, version, found, time.perf_counter() - began)


@shared_task(name="examine_study")
def examine_study(study_id: int) -> None:
    """Say whether a study's ranking survives the removal of any one person."""
    with records.claimed(f"robustness:{study_id}", _token()) as ours:
        if ours and records.studies_unexamined().filter(pk=study_id).exists():
            version, topics = records.load_examinations(study_id)
            records.save_examination(study_id, version, examination.robustness(topics))


def catch_up(study_id: int) -> dict[str, str]:
    """Do now, in this process, whatever is behind in a study; by the names of its topics, what went wrong with them."""
    for topic_id in list(records.topics_behind().filter(study=study_id).order_by("pk").values_list("pk", flat=True)):
        prepare_topic(topic_id)
        refit_topic(topic_id)
    rank_study(study_id)
    for topic_id in list(records.curves_owed().filter(topic__study=study_id).values_list("topic_id", flat=True)):
        draw_curve(topic_id)
    return records.problems_of(study_id)


def _refit(topic_id: int) -> None:
    began = time.perf_counter()
    snapshot = records.load_evidence(topic_id, split)
    if snapshot is None:
        return
    if len(snapshot.evidence.judgments):
        result = _evaluate(snapshot)
        to_ask = _to_ask(snapshot, result)
        records.save_result(snapshot, result, time.perf_counter() - began, to_ask)
    else:
        records.save_nothing(snapshot)


def _to_ask(snapshot: records.Snapshot, result: TopicResult) -> list[tuple[int, int]]:
    """The pairs whose answers would tell most now; none where the study wants random ones only."""
    if snapshot.random_share >= 1 or result.errors is None:
        return []
    filled = records.pairs_filled(snapshot)
    pairs = sampling.informative_pairs(result.utilities, result.errors, QUEUE, snapshot.seed, filled)
    return [(i, j) for i, j in pairs.tolist()]


def _answer(preview: Preview) -> None:
    """Fit every topic that it concerns as if it were so already; what was fitted before is not fitted again."""
    began = time.perf_counter()
    but, also = (preview.annotators, ()) if preview.leave_out else ((), preview.annotators)
    versions = records.topics_judged(preview)
    parts = {key: part for key, part in preview.parts.items() if versions.get(int(key)) == part["version"]}
    for topic_id, version in versions.items():
        if str(topic_id) in parts:
            continue
        snapshot = records.load_evidence(topic_id, split, but, also)
        if snapshot is not None:
            result = _evaluate(snapshot)
            parts[str(topic_id)] = records.as_part(version, result.standing)
        previews.note_progress(preview, parts, len(versions))
        if time.perf_counter() - began > TURN:
            return
    fits = records.load_fits(preview.study_id)
    answers = {int(key): records.from_part(part) for key, part in parts.items()}
    change = removal.compare(list(fits.values()), list((fits | answers).values()))
    loaded = records.load_people(preview.study_id)
    if loaded is not None:
        people_now = loaded.said
        if preview.leave_out:
            gone = np.isin(people_now.person, records.people_numbers(loaded, preview.annotators))
            people_then = people_now.only(~gone)
        else:
            again = records.load_people(preview.study_id, preview.annotators)
            people_then = people_now if again is None else again.said
        figures = records.as_figures(change, consensus.agreement(people_now), consensus.agreement(people_then))
        previews.finish(preview, figures, loaded.version)


def _draw(topic_id: int) -> None:
    snapshot = records.load_evidence(topic_id, split)
    if snapshot is not None:
        texts = _texts(snapshot)
        records.save_curve(snapshot, curve(_weighed(snapshot), snapshot.settings, **texts))


def _evaluate(snapshot: records.Snapshot) -> TopicResult:
    return evaluate(_weighed(snapshot), snapshot.settings, **_texts(snapshot))


def _weighed(snapshot: records.Snapshot) -> Evidence:
    return reliability.weighed(snapshot.evidence, snapshot.settings)


@lru_cache(maxsize=4096)
def split(text: str, language: str) -> tuple[str, ...]:
    """The sentences of a summary; cutting it again at every judgment would take longer than the fit."""
    return tuple(one.text for one in prepare.cut_text(formats.Text("", text), language))


class Texts(TypedDict):
    """What rests on a topic's texts alone."""

    similarity: Similarity
    matched: Matched


def _texts(snapshot: records.Snapshot) -> Texts:
    evidence, settings = snapshot.evidence, snapshot.settings
    return {
        "similarity": _compare(evidence.sentences, settings.similarity),
        "matched": _match(evidence.sentences, evidence.summaries, evidence.language, settings),
    }


# Keyed by the sentences themselves, so that it cannot be out of date. A thousand sentences take 8 MB.
@lru_cache(maxsize=16)
def _compare(sentences: tuple[str, ...], name: str) -> Similarity:
    return similarity(sentences, name)


@lru_cache(maxsize=16)
def _match(
    sentences: tuple[str, ...], summaries: tuple[SummaryText, ...], language: str, settings: Settings
) -> Matched:
    nobody = np.empty(0, dtype=np.int64)
    judgments = Judgments(nobody, nobody, np.empty(0), np.empty(0), nobody)
    topic = Evidence("", (), sentences, judgments, summaries, language=language)
    return match(topic, _compare(sentences, settings.similarity), settings)


def _some(names: tuple[str, ...]) -> str:
    """The first of some names, and how many more there are."""
    rest = len(names) - 3
    return ", ".join(names[:3]) + (f" and {rest} more" if rest > 0 else "")


def _try_topic(topic_id: int, work: Callable[[int], None]) -> None:
    """Work on a topic that nobody else is at; what goes wrong is said on its page, and keeps no other from its turn."""
    with records.claimed(f"topic:{topic_id}", _token()) as ours:
        if not ours or not records.begin_try(topic_id):
            return
        try:
            work(topic_id)
        except UndeterminedTopic as error:
            records.note_failure(topic_id, UNDETERMINED % {"sentences": _some(error.sentences)}, curable=True)
        except SoftTimeLimitExceeded:
            records.note_failure(topic_id, TOO_LONG)
        except Exception as error:
            logger.exception("topic %s failed", topic_id)
            records.note_failure(topic_id, BROKEN % {"error": _said(error)})
        else:
            records.end_try(topic_id)


def _token() -> uuid.UUID | None:
    """What stays the same when a task is given out again; the heartbeat puts it at the end of the task's id."""
    task_id = current_task.request.id if current_task else None
    return uuid.UUID(task_id.rpartition(" ")[2]) if task_id else None


def _said(error: Exception) -> str:
    """An error in one line, short enough for a page."""
    line = " ".join(str(error).split())
    return f"{type(error).__name__}: {line}"[:300] if line else type(error).__name__


def _try_upload(upload_id: int, state: str, work: Callable[[Upload], None]) -> None:
    with records.claimed(f"upload:{upload_id}", _token()) as ours:
        upload = Upload.objects.select_related("study").filter(pk=upload_id, state=state).first() if ours else None
        if upload is None:
            return
        if imports.note_try(upload) > TRIES:
            imports.give_up(upload, FILE_BROKEN)
            return
        try:
            work(upload)
        except Refusal:
            logger.info("upload %s was stored by somebody else", upload_id)
        except SoftTimeLimitExceeded:
            imports.give_up(upload, FILE_TOO_LONG)
        except Exception:
            logger.exception("upload %s failed", upload_id)


def _read(upload: Upload) -> None:
    imports.read_upload(upload, intake.count_sentences)


def _store(upload: Upload) -> None:
    bundle = imports.read_upload(upload, intake.count_sentences)
    if bundle is not None:
        intake.take_in(upload.study, bundle, upload=upload)
