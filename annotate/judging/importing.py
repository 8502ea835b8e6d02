"""Judgments that were made elsewhere: stored as rows like all others, under pseudonyms."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Count, F, Max, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from annotate.audit_log import note
from annotate.database import append_only
from annotate.database.rows import find, put, recount
from annotate.judging import designs, tallies
from annotate.judging.answers import LONGEST_READ
from annotate.models import Annotator, Assignment, Item, ItemSet, Judgment, Pair, Study, Tally, Upload
from annotate.models.judging import order_of
from preferendum.formats.answers import LETTERS
from preferendum.formats.checks.text import visible
from preferendum.formats.judge import Judge, judge_in, judge_of, kept_of
from preferendum.formats.readers.preferences import REASONS, drawn_for, kind_of, weight_of
from preferendum.formats.records import Of, Preference

BATCH = 500
IMPORTED = {
    "reason": Assignment.Reason.IMPORTED,
    "expected": "",
    "state": Assignment.State.JUDGED,
    "skip_reason": "",
    "revision": 1,
}
Two = tuple[int, int]
#: An annotator's kind, and their name in the file.
Author = tuple[str, str]
Otherwise = TypeVar("Otherwise", datetime, None)


class UnknownSentence(LookupError):
    """A preference for a sentence, or a system's summary, that the study does not have."""


@dataclass(frozen=True)
class Located:
    """A preference with the rows it is about. `swapped`: the pair's second sentence was shown on the left.

    `of_copies`: both sentences have the same words. Then it takes no place and does not count.
    """

    preference: Preference
    author: Author
    item_set: int
    sentences: Two
    swapped: bool
    of_copies: bool


@dataclass(frozen=True)
class Arrivals:
    """Judgments that were made elsewhere, in the order in which they are stored, with their annotators.

    `sums`: by author, how many there are and how many seconds they read. `descriptions`: what is known of machines.
    `earlier`: the keys of annotators of an earlier import. `upload`: their upload, if it is not stored in one
    transaction.
    """

    study: Study
    rows: Sequence[Located]
    item_sets: frozenset[int]
    sums: Mapping[Author, tuple[int, float]]
    annotators: Mapping[Author, Annotator]
    descriptions: Mapping[Author, Judge]
    earlier: frozenset[int]
    upload: Upload | None


@transaction.atomic
def import_judgments(
    study: Study, preferences: Iterable[Preference], kind: str = Annotator.Kind.HUMAN, pseudonym: str = ""
) -> int:
    """Store judgments that were made elsewhere, in one transaction; returns how many.

    Judgments that state their kind (as our exports do) keep it; all others are of this `kind`. Those without an
    annotator get one for this call, called `pseudonym` if one is given. The same annotator may have judged a pair more
    than once: each time is an occasion. People's judgments take places. Raises `UnknownSentence`, with nothing stored.

    All item sets are locked first and the audit log last, as everywhere.
    """
    rows = _located(study, preferences, kind, pseudonym)
    tallies.lock({row.item_set for row in rows})
    arrivals = _arrivals(study, rows)
    for start in range(0, len(rows), BATCH):
        store_some(arrivals, start, BATCH)
    count_in(arrivals)
    return len(rows)


def arrivals(study: Study, preferences: Iterable[Preference], upload: Upload) -> Arrivals:
    """The judgments of an upload, with their annotators created; idempotent.

    `store_some` stores them, in as many transactions as necessary, and `count_in` counts them in the last one;
    `remove_some` removes them. Raises `UnknownSentence`.
    """
    return _arrivals(study, _located(study, preferences, Annotator.Kind.HUMAN, "", upload), upload)


def store_some(arrivals: Arrivals, start: int, number: int) -> int:
    """Store up to `number` judgments from `start`, in the caller's transaction; returns how many."""
    rows = arrivals.rows[start : start + number]
    by_set: dict[int, list[Located]] = {}
    for row in rows:
        by_set.setdefault(row.item_set, []).append(row)
    tallies.lock(by_set)
    for item_set_id, of_set in by_set.items():
        _store(arrivals, item_set_id, of_set)
    return len(rows)


def count_in(arrivals: Arrivals, besides: Iterable[int] = ()) -> None:
    """Count what is stored from this transaction on: these item sets, and those `besides`, are fitted again."""
    tallies.raise_version(arrivals.item_sets.union(besides))
    by_kind: Counter[str] = Counter()
    for author, (judged, seconds) in arrivals.sums.items():
        by_kind[author[0]] += judged
        if arrivals.annotators[author].pk in arrivals.earlier:
            add_up(arrivals.annotators[author].pk, judged, seconds)
    described = {arrivals.annotators[author]: kept_of(judge) for author, judge in arrivals.descriptions.items()}
    new = {annotator: kept for annotator, kept in described.items() if annotator.judge is None}
    for annotator, kept in new.items():
        Annotator.objects.filter(pk=annotator.pk).update(judge=kept)
    for annotator, kept in new.items():
        note(arrivals.study, None, "describe judge", annotator=annotator.pseudonym, judge=kept)
    for kind, judgments in sorted(by_kind.items()):
        note(arrivals.study, None, "import judgments", kind=kind, judgments=judgments)
    if arrivals.rows:
        recount(Pair, Assignment, Judgment)


def remove_some(upload: Upload, number: int) -> int:
    """Remove up to `number` judgments of an upload, in the caller's transaction; returns how many."""
    rows = Assignment.objects.filter(
        pk__in=list(Assignment.objects.filter(upload=upload).values_list("pk", flat=True)[:number])
    )
    item_sets = set(rows.values_list("item_set_id", flat=True))
    tallies.lock(item_sets)
    for item_set_id in item_sets:
        tallies.return_places(
            item_set_id,
            rows.holding(Annotator.TAKES_PLACES).filter(item_set=item_set_id).values_list("pair_id", flat=True),
        )
    pairs = list(rows.values_list("pair_id", flat=True))
    with append_only.erasing():
        Judgment.objects.filter(assignment__in=rows).delete()
    rows.delete()
    Pair.objects.filter(pk__in=pairs, assignments=None).delete()
    return len(pairs)


def forget_arrivals(upload: Upload) -> None:
    """Delete the annotators of an upload that has no judgment left, in the caller's transaction."""
    Annotator.objects.filter(upload=upload).delete()


def _located(
    study: Study, preferences: Iterable[Preference], kind: str, pseudonym: str, upload: Upload | None = None
) -> list[Located]:
    """The judgments with the rows they are about, item set by item set."""
    is_there = Q(pk__in=ItemSet.objects.filter(study=study)) | Q(topic__upload=upload, topic__upload__isnull=False)
    item_sets = ItemSet.with_unfinished.filter(is_there, study=study).by_name()
    rows: list[Located] = []
    for item_set, of_set in _by_set(preferences).items():
        if item_set not in item_sets:
            raise UnknownSentence(f"no topic {item_set[0]!r} with {item_set[1]} to compare")
        rows += _with_sentences(item_sets[item_set], of_set, kind, pseudonym)
    return rows


def _by_set(preferences: Iterable[Preference]) -> dict[tuple[str, Of], list[Preference]]:
    by_set: dict[tuple[str, Of], list[Preference]] = {}
    for preference in preferences:
        by_set.setdefault((preference.topic, preference.of), []).append(preference)
    return dict(sorted(by_set.items()))


def _with_sentences(
    item_set_id: int, preferences: Iterable[Preference], kind: str, pseudonym: str
) -> Iterator[Located]:
    ids = sentence_ids(item_set_id)
    with_text = Item.objects.filter(item_set=item_set_id).exclude(not_judged=Item.NotJudged.NO_TEXT)
    words = {pk: visible(text) for pk, text in with_text.values_list("pk", "text")}
    for preference in preferences:
        try:
            left, right = ids[preference.a], ids[preference.b]
        except KeyError as error:
            raise UnknownSentence(f"no {error.args[0]!r} in topic {preference.topic!r}") from error
        if left == right:
            raise UnknownSentence(f"{preference.a!r} is compared with itself")
        author = (kind_of(preference, kind), preference.annotator or pseudonym)
        of_copies = left in words and words[left] == words.get(right)
        yield Located(
            _without_kind(preference), author, item_set_id, Pair.in_order(left, right), left > right, of_copies
        )


def _without_kind(preference: Preference) -> Preference:
    if "kind" not in preference.extra:
        return preference
    return replace(preference, extra={name: value for name, value in preference.extra.items() if name != "kind"})


def _arrivals(study: Study, rows: Sequence[Located], upload: Upload | None = None) -> Arrivals:
    """The located judgments with their sums and annotators; creates missing annotators."""
    sums = _sums(rows)
    described = [row for row in rows if "judge" in row.preference.extra and _is_machine(row)]
    judges = {row.author: judge_in([row.preference]) for row in reversed(described)}  # the first one says it
    annotators, earlier = _annotators(study, sums, judges, upload)
    return Arrivals(study, rows, frozenset(row.item_set for row in rows), sums, annotators, judges, earlier, upload)


@transaction.atomic
def _annotators(
    study: Study, sums: Mapping[Author, tuple[int, float]], judges: Mapping[Author, Judge], upload: Upload | None
) -> tuple[dict[Author, Annotator], frozenset[int]]:
    """An annotator for each author: one of an earlier import (returns the keys of these), or a new one.

    Annotators who judged here are never matched, whatever their name; nor are those of an upload that is still being
    stored, and machines of another model, version, prompt or temperature.
    """
    everybody = {annotator.pseudonym: annotator for annotator in Annotator.objects.filter(study=study)}
    own = {name: row for name, row in everybody.items() if upload is not None and row.upload_id == upload.pk}
    others = {name: row for name, row in everybody.items() if name not in own}
    unfinished = set(Upload.unfinished().filter(study=study).values_list("pk", flat=True))
    taken = set(others)
    annotators: dict[Author, Annotator] = {}
    for author, (judged, seconds) in sorted(sums.items(), key=lambda own: (own[0][0], order_of(own[0][1]))):
        kind, name = author
        annotator, judge = others.get(name), judges.get(author, Judge())
        if (
            annotator is None
            or not annotator.imported
            or annotator.kind != kind
            or (annotator.upload_id in unfinished or judge.contradicts(judge_of(annotator.judge)))
        ):
            called = _free_name(name, taken)
            taken.add(called)
            annotator = own.get(called) or Annotator(
                study=study,
                kind=kind,
                pseudonym=called,
                imported=True,
                is_unnamed=not name,
                upload=upload,
                judged=judged,
                seconds=seconds,
            )
        annotators[author] = annotator
    new = [annotator for annotator in annotators.values() if annotator.pk is None]
    Annotator.objects.bulk_create(new, BATCH)
    return annotators, frozenset(row.pk for row in annotators.values() if row.pseudonym in others)


def _sums(rows: Iterable[Located]) -> dict[Author, tuple[int, float]]:
    """The number of judgments and the reading time in seconds, by author."""
    sums: dict[Author, tuple[int, float]] = {}
    for row in rows:
        judged, seconds = sums.get(row.author, (0, 0.0))
        sums[row.author] = (judged + 1, seconds + min(row.preference.seconds or 0.0, LONGEST_READ))
    return sums


def _free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken."""
    if wanted and wanted not in taken:
        return wanted
    called = wanted[:190] or "imported"
    return next(name for name in (f"{called} {number}" for number in range(1, len(taken) + 2)) if name not in taken)


def _store(arrivals: Arrivals, item_set_id: int, rows: Sequence[Located]) -> None:
    """Store judgments of one item set, whose tally is locked."""
    annotators = [arrivals.annotators[row.author].pk for row in rows]
    by_sentences = _take_places(arrivals, item_set_id, rows)
    pairs = [by_sentences[row.sentences] for row in rows]
    keys = [uuid.uuid4() for _row in rows]
    weights = [weight_of(row.preference) for row in rows]
    numbers, now, for_database = designs.Numbers(), timezone.now(), connection.ops.adapt_datetimefield_value
    at = [for_database(moment(row.preference.at, None)) for row in rows]
    designed = zip(rows, weights, strict=True)
    shown: dict[str, Sequence[Any]] = {
        "key": [key.hex for key in keys],
        "annotator_id": annotators,
        "pair_id": pairs,
        "swapped": [row.swapped for row in rows],
        "holds_place": [not row.of_copies for row in rows],
        "occasion": _occasions(annotators, pairs),
        "design_weight": weights,
        "drawn_for": [numbers.of(item_set_id, weight, drawn_for(row.preference)) for row, weight in designed],
        "created_at": [own or for_database(now) for own in at],
        "closed_at": at,
    }
    alike = IMPORTED | {"item_set_id": item_set_id, "upload_id": arrivals.upload and arrivals.upload.pk}
    put(Assignment, (), shown | _alike(rows, alike))
    assignments = dict(Assignment.objects.filter(key__in=keys).values_list("key", "pk"))
    answered: dict[str, Sequence[Any]] = {
        "assignment_id": [assignments[key] for key in keys],
        "answer": [LETTERS[row.preference.winner] for row in rows],
        "seconds": [row.preference.seconds for row in rows],
        "at": at,
        "extra": [json.dumps(extra) if (extra := _unknown(row)) else None for row in rows],
        "confidence": [row.preference.extra.get("confidence") if _is_machine(row) else None for row in rows],
        **{key: [row.preference.extra.get(key, "") for row in rows] for key in REASONS},
    }
    put(Judgment, (), answered | _alike(rows, {"item_set_id": item_set_id, "revision": 1}))


def _is_machine(row: Located) -> bool:
    return row.author[0] == Annotator.Kind.MACHINE


def _unknown(row: Located) -> dict[str, Any]:
    """What has no column of its own in a judgment."""
    columns = (*REASONS, "confidence", "judge") if _is_machine(row) else REASONS
    return {key: value for key, value in row.preference.extra.items() if key not in columns}


def _alike(rows: Sequence[Located], values: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Columns with the same value in each row."""
    return {name: [value] * len(rows) for name, value in values.items()}


def _take_places(arrivals: Arrivals, item_set_id: int, rows: Sequence[Located]) -> dict[Two, int]:
    """Take the places of these judgments, raising needs to fit; returns the keys of their pairs."""
    wanted = dict.fromkeys(sorted(row.sentences for row in rows), 0)
    for row in _in_places(arrivals, rows):
        wanted[row.sentences] += 1
    per_pair = Study.objects.values_list("judgments_per_pair", flat=True).get(pk=arrivals.study.pk)
    before = {pair: places for pair, (_key, *places) in _pairs(wanted).items()}
    after = []
    for pair, places in wanted.items():
        need, taken = before.get(pair, (0, 0))
        after.append((item_set_id, *pair, max(need, taken + places, per_pair) if places else need, taken + places))
    names = ("item_set_id", "first_id", "second_id", "need", "taken")
    put(Pair, ("first_id", "second_id"), dict(zip(names, zip(*after, strict=True), strict=True)))
    Tally.objects.filter(item_set_id=item_set_id).update(taken=F("taken") + sum(wanted.values()))
    return {pair: key for pair, (key, *_places) in _pairs(wanted).items()}


def _in_places(arrivals: Arrivals, rows: Iterable[Located]) -> Iterator[Located]:
    """The rows that take a place: by people who are not excluded, about different sentences."""
    earlier = Annotator.objects.filter(pk__in=arrivals.earlier) if arrivals.earlier else Annotator.objects.none()
    excluded = set(earlier.exclude(excluded_at=None).values_list("pk", flat=True))
    for row in rows:
        is_wanted = row.author[0] == Annotator.TAKES_PLACES and not row.of_copies
        if is_wanted and arrivals.annotators[row.author].pk not in excluded:
            yield row


def _pairs(wanted: Collection[Two]) -> dict[Two, tuple[int, int, int]]:
    """The existing ones of these pairs of sentences: key, need, taken."""
    by = ("first_id", "second_id")
    return {(first, second): tuple(own) for first, second, *own in find(Pair, by, wanted, (*by, "id", "need", "taken"))}


def add_up(annotator_id: int, judged: int, seconds: float) -> None:
    Annotator.objects.filter(pk=annotator_id).update(judged=F("judged") + judged, seconds=F("seconds") + seconds)


def recount_places(study: Study, item_set_id: int) -> None:
    """Count again what is taken in an item set whose tally is locked; needs grow to fit."""
    held = (
        Assignment.objects.holding(Annotator.TAKES_PLACES)
        .filter(pair=OuterRef("pk"))
        .order_by()
        .values("pair")
        .annotate(places=Count("pk"))
        .values("places")
    )
    pairs = Pair.objects.filter(item_set_id=item_set_id)
    counted = pairs.annotate(places=Coalesce(Subquery(held), 0))
    # Needs first: no pair may be taken more often than it needs, not even for a moment.
    counted.filter(places__gt=0).update(need=Greatest(F("need"), F("places"), study.judgments_per_pair))
    counted.update(taken=F("places"))
    taken = pairs.aggregate(taken=Coalesce(Sum("taken"), 0))["taken"]
    Tally.objects.filter(item_set_id=item_set_id).update(taken=taken)


def sentence_ids(item_set_id: int) -> dict[str, int]:
    """The keys of what is compared in the item set, by public name."""
    return {name: pk for pk, name in Item.objects.filter(item_set_id=item_set_id).names().items()}


def make_pairs(item_set_id: int, wanted: set[Two]) -> dict[Two, Pair]:
    """The item set's pairs, with new ones (that need nothing yet) for those of `wanted` that are missing."""
    rows = {(pair.first_id, pair.second_id): pair for pair in Pair.objects.filter(item_set_id=item_set_id)}
    new = [
        Pair(item_set_id=item_set_id, first_id=first, second_id=second, need=0)
        for first, second in wanted - rows.keys()
    ]
    new.sort(key=lambda pair: (pair.first_id, pair.second_id))
    return rows | {(pair.first_id, pair.second_id): pair for pair in Pair.objects.bulk_create(new, BATCH)}


def _occasions(annotators: Sequence[int], pairs: Sequence[int]) -> list[int]:
    """The number of the occasion for each annotator and pair: the next free one."""
    wanted, by = list(zip(annotators, pairs, strict=True)), ("annotator_id", "pair_id")
    stored = Assignment.objects.filter(annotator__in=set(annotators), pair__in=set(pairs)).order_by().values_list(*by)
    following: Counter[Two] = Counter()
    for annotator, pair, last in stored.annotate(Max("occasion")):
        following[annotator, pair] = last + 1
    occasions = []
    for both in wanted:
        occasions.append(following[both])
        following[both] += 1
    return occasions


def moment(at: str | None, otherwise: Otherwise) -> datetime | Otherwise:
    """The time in UTC; a time without a zone is read as UTC."""
    if not at:
        return otherwise
    moment = datetime.fromisoformat(at)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
