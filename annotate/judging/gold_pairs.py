"""Pairs whose right answer is known: for practice, or hidden among the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, BinaryIO

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.audit_log import note
from annotate.judging.importing import sentence_ids
from annotate.models import GoldPair, Item, ItemSet, Study
from annotate.refusal import Refusal, check, cleaned, invalid
from preferendum.formats.archive.gold_pairs import read_gold_pairs
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.checks.text import visible
from preferendum.formats.records import Of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_EXPECTED: Mapping[Of, str] = {
    "sentences": gettext_noop("a sentence of the topic, such as d1:0"),
    "summaries": gettext_noop("a system that summarized the topic"),
}


@transaction.atomic
def prepare_pair(study: Study, user: User, *, better: Item, worse: Item, use: str, explanation: str = "") -> GoldPair:
    """Store which of two sentences of one topic is right, and its use. Earlier assignments stay as they are.

    Raises `Refusal` where the sentences have the same text, are of two topics, not to be judged, or prepared already.
    """
    if better.item_set_id != worse.item_set_id or better.item_set.study_id != study.pk:
        raise invalid("worse", _("Both must be sentences, or both summaries, of the same topic of this study."))
    if visible(better.text) == visible(worse.text):
        raise invalid("worse", _("Choose two different ones."))
    for field, sentence in (("better", better), ("worse", worse)):
        if sentence.not_judged:
            raise invalid(field, _("This one is marked “not to be judged”, so nobody is asked about it."))
    either = Q(better=better, worse=worse) | Q(better=worse, worse=better)
    if GoldPair.objects.filter(either).exists():
        raise invalid("worse", _("This pair has already been added."))
    explanation = cleaned("explanation", explanation)
    gold_pair = GoldPair(item_set_id=better.item_set_id, better=better, worse=worse, use=use, explanation=explanation)
    check(gold_pair)
    gold_pair.save(force_insert=True)
    note(study, user, "prepare pair", gold_pair=gold_pair.pk, use=use)
    return gold_pair


@transaction.atomic
def import_gold_pairs(study: Study, user: User, file: BinaryIO, place: Place) -> int:
    """Prepare every pair of a table, or none; returns how many. Raises `formats.Refused` with every complaint."""
    rows = list(read_gold_pairs(file, place))
    item_sets = ItemSet.objects.filter(study=study).by_name()
    named = {own: sentence_ids(item_sets[own]) for own in {(row.topic, row.of) for _, row in rows} & item_sets.keys()}
    for here, row in rows:
        if (row.topic, row.of) not in item_sets:
            names, expected = [name for name, of in item_sets if of == row.of], gettext_noop("a topic of the study")
            here.key("topic").refuse_unknown("topic", row.topic, names, expected)
            continue
        ids = [named[row.topic, row.of].get(name) for name in (row.better, row.worse)]
        for key, name, sentence in zip(("better", "worse"), (row.better, row.worse), ids, strict=True):
            if sentence is None:
                expected = _EXPECTED[row.of]
                here.key(key).refuse("%(name)s", expected, name=shown(name))
        two = [Item.objects.select_related("item_set").get(pk=pk) for pk in ids if pk is not None]
        if len(two) == 2:
            better, worse = two
            try:
                prepare_pair(study, user, better=better, worse=worse, use=row.use, explanation=row.explanation)
            except Refusal as refusal:
                reasons = [reason for several in refusal.fields.values() for reason in several] or [refusal.message]
                here.refuse("%(why)s", gettext_noop("a pair that can be prepared"), why=" ".join(reasons))
    place.complaints.raise_if_any()
    return len(rows)


@transaction.atomic
def delete_gold_pair(gold_pair: GoldPair, user: User) -> None:
    """Delete this pair. Annotators who saw it keep their answers, and whether these were right."""
    note(gold_pair.item_set.study, user, "forget pair", gold_pair=gold_pair.pk, use=gold_pair.use)
    GoldPair.objects.filter(pk=gold_pair.pk).delete()
