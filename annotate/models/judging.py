"""Annotators, pairs, assignments and judgments. Written by annotate.judging.

Judgments are the source of truth and are only ever added: an undo is a new revision. What is counted follows from
the rows: a judgment counts while it is the last revision of its assignment, is an answer, and its assignment holds
one of the pair's places.
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import NamedTuple, Self

from django.conf import settings
from django.db import models
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from annotate.models.corpus import Item, ItemSet, Upload
from annotate.models.membership import Invitation
from annotate.models.study import Study
from preferendum.formats.answers import ANSWERS, UNDONE, Answer
from preferendum.formats.reasons import listed
from preferendum.formats.settings import KINDS_COUNTED
from preferendum.results.planning import SECONDS, summaries_among


class Progress(NamedTuple):
    """An annotator's progress: at which pair (from 1) of how many; `minutes_left` is estimated from their own pace."""

    number: int
    wanted: int
    minutes_left: int


#: The setting with the number of judgments that a topic needs, by what annotators compare and whether it is of
#: summaries; topics of the other kind are not judged.
WANTED_BY = {
    ("sentences", False): "judgments_per_topic",
    ("both", False): "judgments_per_topic",
    ("both", True): "summary_judgments_per_topic",
    ("summaries", True): "summary_judgments_per_topic",
}


@dataclass
class LockedItemSet:
    """An item set whose tally is locked; `now`: when, by the database's clock, which every process shares.

    `answers`: how many were stored since and have yet to raise its `data_version`. `last`: the highest position of its
    texts, if known.
    """

    pk: int
    taken: int
    of_summaries: bool
    now: datetime
    answers: int = 0
    last: int | None = None


class TallyQuerySet(models.QuerySet["Tally"]):
    def lock(self, item_set: int, *, wait: bool = True) -> LockedItemSet | None:
        """Lock the item set's tally and read what is taken; None where the set is gone, or (without `wait`) locked."""
        rows = (
            self.select_for_update(skip_locked=not wait)
            .filter(item_set=item_set)
            .values_list("item_set_id", "taken", "of_summaries", Now())
        )
        return next((LockedItemSet(*row) for row in rows), None)

    def with_room(self, annotator: Annotator, also: models.Q | None = None) -> Self:
        """Tallies of item sets that need more judgments by annotators of this kind, or match `also`.

        Adds `filled`, the number of places that annotators of this kind hold; people's are `taken` in the tally.
        """
        study, wants_more = annotator.study, models.Q(pk__in=())
        for (compares, of_summaries), wanted_by in WANTED_BY.items():
            if compares == study.compares:
                wants_more |= models.Q(of_summaries=of_summaries, filled__lt=getattr(study, wanted_by))
        filled = self.annotate(filled=_filled("item_set", annotator))
        return filled.filter(wants_more if also is None else wants_more | also)


class Tally(models.Model):
    """One row per item set, locked first by every transaction that draws or judges there.

    `data_version` rises with everything that a fit rests on; `taken` counts the set's places that people's leases and
    judgments hold; `of_summaries`: it is of the summaries of a topic.
    """

    item_set = models.OneToOneField(ItemSet, on_delete=models.CASCADE, related_name="tally")
    data_version = models.PositiveBigIntegerField(default=0)
    taken = models.PositiveIntegerField(default=0)
    of_summaries = models.BooleanField(default=False)

    objects = TallyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "tallies"

    def __str__(self) -> str:
        return f"{self.item_set}: version {self.data_version}, {self.taken} taken"


#: The kind of trials: no page, figure, file or fit knows of them, and they are erased after a day.
TRIAL = "trial"


class AnnotatorQuerySet(models.QuerySet["Annotator"]):
    def lasting(self) -> Self:
        """All but trials."""
        return self.exclude(kind=TRIAL)

    def arrived(self) -> Self:
        """All but trials, and those of an upload that is still being stored."""
        return self.lasting().exclude(upload__in=Upload.unfinished())

    def lock(self, annotator: int) -> Annotator:
        """Lock the annotator, after the topic if one is locked; returns them and their study as they are now."""
        return self.select_for_update(no_key=True, of=("self",)).select_related("study").get(pk=annotator)


class Annotator(models.Model):
    """Someone (or something) that judges in one study, under a pseudonym.

    `judged` and `seconds` are running sums of their judgments (without undone ones) and of their reading time;
    `previous` is the key of the assignment that they judged or skipped last. So no page has to count or search to show
    progress, to estimate the remaining time or to undo. As they last began or went on: `pace` and `summary_pace`, the
    seconds that a pair of sentences and of summaries was expected to take; `sentence_pairs` and `summary_pairs`, how
    many there were to judge (None: as many as the study wants). While `paused_at` is set they get no pairs; while
    `excluded_at` is, their judgments do not count either.
    """

    class Kind(models.TextChoices):
        HUMAN = "human", _("person")
        MACHINE = "machine", _("machine")
        SIMULATED = "simulated", _("simulated")

    #: The kind whose judgments alone take the places of a topic and its pairs.
    TAKES_PLACES = Kind.HUMAN
    #: A further kind, which no page names.
    TRIAL = TRIAL

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="annotators")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="annotators"
    )
    invitation = models.ForeignKey(Invitation, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.HUMAN)
    #: They judged elsewhere and were imported: nobody who judges here is ever matched with them.
    imported = models.BooleanField(default=False)
    #: They stand for everybody whose answers a file has without saying whose they are.
    is_unnamed = models.BooleanField(default=False)
    pseudonym = models.CharField(max_length=200)
    #: What is known of a machine, as `preferendum.formats.judge.Judge`; None where nothing is.
    judge = models.JSONField(null=True, blank=True)
    quota = models.PositiveIntegerField(null=True, blank=True)
    judged = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    pace = models.FloatField(default=SECONDS, editable=False)
    summary_pace = models.FloatField(default=SECONDS, editable=False)
    sentence_pairs = models.PositiveIntegerField(null=True, blank=True, editable=False)
    summary_pairs = models.PositiveIntegerField(null=True, blank=True, editable=False)
    previous = models.UUIDField(null=True, blank=True, editable=False)
    shortcuts = models.BooleanField(default=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    skipped = models.PositiveIntegerField(default=0)
    skips_in_a_row = models.PositiveIntegerField(default=0)
    trained_at = models.DateTimeField(null=True, blank=True)
    screened_out_at = models.DateTimeField(null=True, blank=True)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    excluded_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    #: The upload that they were imported with, if any.
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, null=True, blank=True, related_name="+")

    objects = AnnotatorQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "pseudonym"], name="annotator_one_a_pseudonym"),
            models.UniqueConstraint(
                fields=["study", "user"],
                condition=models.Q(user__isnull=False, kind="human"),
                name="annotator_once_a_user",
            ),
            models.CheckConstraint(
                condition=models.Q(judge__isnull=True) | models.Q(kind="machine"), name="annotator_judge_is_a_machine"
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def is_excluded(self) -> bool:
        """Whether their judgments do not count."""
        return self.excluded_at is not None

    @cached_property
    def undo_revision(self) -> int:
        """The revision of an undo of their last answer, so that a second click undoes nothing more."""
        if self.previous is None:
            return 1
        return Assignment.objects.get(key=self.previous).revision + 1

    @property
    def pairs_wanted(self) -> int:
        """How many pairs they should judge."""
        return self.study.pairs_per_annotator if self.quota is None else self.quota

    def is_about_summaries(self, turn: int) -> bool:
        """Whether it is a pair of summaries whose turn it is, once the annotator has judged so many pairs."""
        return self.summaries_among(turn + 1) > self.summaries_among(turn)

    def summaries_among(self, turns: int) -> int:
        """How many of their first pairs are of summaries. Of both kinds, every second annotator begins with these."""
        if self.study.compares != "both":
            return turns if self.study.compares == "summaries" else 0
        pairs, share = max(self.pairs_wanted, 1), self.study.summary_share
        return summaries_among(turns, pairs, share, first=self.key.int % 2 == 1)

    @property
    def progress(self) -> Progress:
        """Never more pairs than there are for them, with the time for what is left of each kind, at their own pace."""
        wanted = self.pairs_wanted
        if self.sentence_pairs is not None and self.summary_pairs is not None:
            wanted = min(wanted, max(self.sentence_pairs + self.summary_pairs, self.judged))
        summaries, judged = {"sentences": (0, 0), "summaries": (wanted, self.judged)}.get(self.study.compares, (0, 0))
        if self.study.compares == "both":
            most = wanted if self.summary_pairs is None else self.summary_pairs
            summaries, judged = (min(most, self.summaries_among(n)) for n in (self.pairs_wanted, self.judged))
            if self.sentence_pairs is not None:  # where sentences are scarce, the others are of summaries
                summaries = max(summaries, wanted - max(self.sentence_pairs, self.judged - judged))
        extra = self.summary_pace - self.pace
        total, done = wanted * self.pace + summaries * extra, self.judged * self.pace + judged * extra
        mean = total / wanted if wanted else self.pace
        seconds = max(0.0, total - done) * (self.seconds + mean) / (done + mean)
        return Progress(min(self.judged + 1, wanted), wanted, math.ceil(seconds / 60))


def of_counted_kind(annotator: str) -> models.Q:
    """A condition: the annotator at this lookup path is of a kind that their study counts."""
    study = f"{annotator}__study__counted_kinds__in"
    counting = {kind: [choice for choice, kinds in KINDS_COUNTED.items() if kind in kinds] for kind in Annotator.Kind}
    return reduce(or_, (models.Q(**{f"{annotator}__kind": kind, study: choices}) for kind, choices in counting.items()))


class PairQuerySet(models.QuerySet["Pair"]):
    def to_judge(self) -> Self:
        """Pairs of items that may both be judged.

        Said so that PostgreSQL takes it for true of most items where it has not counted them. An equation it takes for
        rare: a plan began with the items of all studies and tried every two of them, which took 40 s, with a topic
        locked, after another study brought 10,000.
        """
        return self.exclude(first__not_judged__gt="").exclude(second__not_judged__gt="")

    def begun(self, annotator: Annotator) -> Self:
        """Pairs that were assigned to annotators of this kind, with a place left."""
        pairs = self.with_place(annotator)
        return pairs if annotator.kind == Annotator.TAKES_PLACES else pairs.filter(filled__gt=0)

    def with_place(self, annotator: Annotator) -> Self:
        """Pairs with a place left for the annotator; for people, only pairs with a `need`.

        After the study's judgments per pair were lowered a pair may need more than these: it keeps what it has, but
        returned places are not filled again.
        """
        pairs = self.alias(filled=_filled("pair", annotator))
        pairs = pairs.filter(filled__lt=annotator.study.most_per_pair)
        return pairs.filter(filled__lt=models.F("need")) if annotator.kind == Annotator.TAKES_PLACES else pairs

    def with_is_free(self, annotator: Annotator) -> Self:
        """Annotate each pair with `is_free`: whether the annotator may have the pair: they have not seen it and a place
        is left.

        A pair that needs nothing yet was never assigned to people: they may have it.
        """
        has_place = models.Q(filled__lt=annotator.study.judgments_per_pair)
        if annotator.kind == Annotator.TAKES_PLACES:
            has_place &= models.Q(need=0) | models.Q(filled__lt=models.F("need"))
        seen = models.Exists(Assignment.objects.filter(annotator=annotator.pk, pair=models.OuterRef("pk")))
        return self.alias(filled=_filled("pair", annotator)).annotate(is_free=has_place & ~seen)


class Pair(models.Model):
    """Two items of a set to compare, how many people's judgments are needed, and how many are leased or judged.

    Machines and simulated annotators take no places of people: their judgments are not in `taken`, and a pair that only
    they have judged needs nothing yet (`need` is 0 until a person draws it). The same numbers limit theirs, each kind
    by itself, counted from their assignments. A trial takes no place at all.
    """

    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="pairs")
    first = models.ForeignKey(Item, on_delete=models.RESTRICT, related_name="+")
    second = models.ForeignKey(Item, on_delete=models.RESTRICT, related_name="+")
    need = models.PositiveSmallIntegerField()
    taken = models.PositiveSmallIntegerField(default=0)

    objects = PairQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="pair_once"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="pair_in_order"),
            models.CheckConstraint(condition=models.Q(taken__lte=models.F("need")), name="pair_never_overtaken"),
        ]
        indexes = [
            models.Index(fields=["item_set"], name="pair_wanting", condition=models.Q(taken__lt=models.F("need")))
        ]

    def __str__(self) -> str:
        return f"{self.first_id} / {self.second_id}"

    @staticmethod
    def in_order(item: int, other: int) -> tuple[int, int]:
        """The keys of two items in the order of their pair."""
        return (min(item, other), max(item, other))


class GoldPair(models.Model):
    """Two sentences of a topic, or two summaries, with the right answer by a researcher: for practice, or hidden among
    others.

    Each has one use: a pair for practice tests nobody. `explanation` is shown in practice only.
    """

    class Use(models.TextChoices):
        TRAINING = "training", _("practice pair")
        GOLD = "gold", _("gold pair")

    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="gold_pairs")
    better = models.ForeignKey(
        Item, on_delete=models.CASCADE, related_name="+", verbose_name=_("more important sentence")
    )
    worse = models.ForeignKey(
        Item, on_delete=models.CASCADE, related_name="+", verbose_name=_("less important sentence")
    )
    use = models.CharField(_("use"), max_length=8, choices=Use.choices, default=Use.GOLD)
    explanation = models.TextField(_("explanation"), blank=True, max_length=2_000)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["better", "worse"], name="gold_pair_once"),
            models.CheckConstraint(condition=~models.Q(better=models.F("worse")), name="gold_pair_of_two"),
        ]

    def __str__(self) -> str:
        return f"{self.better_id} > {self.worse_id}"


def texts_of(pair: str = "") -> tuple[str, ...]:
    """Arguments of `select_related` for the public names of a pair's texts; `pair`: its lookup path, with `__`."""
    return tuple(f"{pair}{side}__document" for side in ("first", "second"))


def order_of(name: str) -> list[str]:
    """A key that sorts “reader 2” before “reader 10”."""
    return [part.zfill(12) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def question_about(item_set: ItemSet, study: Study) -> str:
    """The question about the set's pairs. A topic's own question is about sentences, and summaries answer it."""
    return study.summary_question if item_set.of == "summaries" else item_set.topic.question or study.question


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def to_show(self) -> Self:
        """Load everything that a page shows with them."""
        return self.select_related("item_set__topic", "pair__first", "pair__second", "annotator__study")

    def lasting(self) -> Self:
        """All but those of trials."""
        return self.exclude(annotator__kind=TRIAL)

    def arrived(self) -> Self:
        """All but those of trials, and of an upload that is still being stored, which drawing and judging never see."""
        return self.lasting().exclude(upload__in=Upload.unfinished())

    def holding(self, kind: str) -> Self:
        """Assignments that hold a place of their pair, by annotators of a kind who are not excluded: open or judged.

        Those of an upload hold theirs as soon as they are stored, like an open one.
        """
        return self.filter(holds_place=True, annotator__excluded_at=None, annotator__kind=kind)

    def in_place(self, *, or_imported: bool = False) -> Self:
        """Assignments whose judgment counts if its annotator's kind does: answered, in a place, not by an excluded one.

        Imported ones have no place only where both sentences have the same words.
        """
        placed = models.Q(holds_place=True)
        if or_imported:
            placed |= models.Q(reason=Assignment.Reason.IMPORTED)
        return self.arrived().filter(placed, state=Assignment.State.JUDGED, annotator__excluded_at=None)

    def counted(self) -> Self:
        """Assignments whose judgment counts: in a place, by an annotator of a kind that the study counts."""
        return self.in_place().filter(of_counted_kind("annotator"))

    def work(self) -> Self:
        """Answered assignments without practice, which is no work."""
        return self.filter(state=Assignment.State.JUDGED).exclude(reason=Assignment.Reason.TRAINING)

    def done(self) -> Self:
        """Answered or skipped assignments without practice: those that can be undone."""
        states = Assignment.State.JUDGED, Assignment.State.SKIPPED
        return self.filter(state__in=states).exclude(reason=Assignment.Reason.TRAINING)


class Design(models.Model):
    """The systems that pairs of an item set were drawn to distinguish, by sorted names. Written by
    annotate.judging.designs."""

    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="designs")
    number = models.PositiveSmallIntegerField()
    systems = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item_set", "number"], name="design_once_a_number")]

    def __str__(self) -> str:
        return f"{self.item_set}: {self.number}"


class Assignment(models.Model):
    """A pair as it was shown to an annotator: the sides, the reason, and the lease that reserves it.

    `holds_place` says whether it takes one of the pair's `need` places; an answer without a place is surplus, kept
    and not counted. Practice, gold pairs and repeats never hold one, and so never count. `expected` is the right side
    if the answer is known. `revision` is that of its last judgment, 0 before the first. `key` is random and the only
    thing that a browser learns. `design_weight`: the probability of the pair if all that were left had been equally
    likely, divided by the one it was drawn with; 0 if it was not drawn at random. `drawn_for`: the number of the
    set's design, if it was drawn to distinguish systems.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        JUDGED = "judged", _("judged")
        SKIPPED = "skipped", _("skipped")
        EXPIRED = "expired", _("expired")
        VOID = "void", _("void")

    class Reason(models.TextChoices):
        RANDOM = "random", _("random")
        SUGGESTED = "suggested", _("suggested by the worker")
        IMPORTED = "imported", _("imported")
        TRAINING = "training", _("practice")
        GOLD = "gold", _("gold pair")
        REPEAT = "repeat", _("repeat")

    #: The columns that judging changes, under the lock of its item set.
    LOCKED = ("state", "holds_place", "revision", "expires_at")
    #: Reasons of pairs whose answer is evidence: these alone take a place, and count.
    WANTED = (Reason.RANDOM, Reason.SUGGESTED, Reason.IMPORTED)

    class SkipReason(models.TextChoices):
        UNCLEAR = "unclear", _("unclear")
        BROKEN = "broken", _("broken text")
        LANGUAGE = "language", _("not my language")
        OTHER = "other", _("other")

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="assignments")
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="assignments")
    swapped = models.BooleanField()
    occasion = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=10, choices=Reason.choices, default=Reason.RANDOM)
    design_weight = models.FloatField(default=1.0)
    drawn_for = models.PositiveSmallIntegerField(null=True, blank=True)
    expected = models.CharField(max_length=5, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    skip_reason = models.CharField(max_length=10, choices=SkipReason.choices, blank=True)
    holds_place = models.BooleanField(default=True)
    revision = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    #: The upload that it was imported with, if any; nobody sees it until all of the upload is stored.
    upload = models.ForeignKey(
        Upload, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotator", "pair", "occasion"], name="assignment_never_twice_by_accident")
        ]
        indexes = [
            models.Index(fields=["item_set", "expires_at"], name="assignment_open", condition=models.Q(state="open")),
            models.Index(fields=["annotator", "state", "closed_at"], name="assignment_by_annotator"),
            models.Index(fields=["upload"], name="assignment_of_upload", condition=models.Q(upload__isnull=False)),
        ]

    def __str__(self) -> str:
        return str(self.key)

    @property
    def is_practice(self) -> bool:
        return self.reason == Assignment.Reason.TRAINING

    @property
    def is_wanted(self) -> bool:
        """Whether its answer is evidence: it may take a place, and count."""
        return self.reason in Assignment.WANTED

    @property
    def last_answer(self) -> str | None:
        """The last answer, "undone" included."""
        return Judgment.objects.filter(assignment=self, revision=self.revision).values_list("answer", flat=True).first()

    @property
    def question(self) -> str:
        return question_about(self.item_set, self.annotator.study)

    @property
    def left(self) -> Item:
        """The sentence shown on the left (above, on a phone)."""
        return self.pair.second if self.swapped else self.pair.first

    @property
    def right(self) -> Item:
        return self.pair.first if self.swapped else self.pair.second


def _filled(of: str, annotator: Annotator) -> models.F | models.Value | Coalesce:
    """How many places `of` a row's pair or item set annotators of this kind hold; people's are in the row itself, and
    trials hold none."""
    if annotator.kind == Annotator.TAKES_PLACES:
        return models.F("taken")
    if annotator.kind == TRIAL:
        return models.Value(0)
    held = Assignment.objects.holding(annotator.kind).filter(
        **{of: models.OuterRef("pk" if of == "pair" else "item_set")}
    )
    number = held.order_by().values(of).annotate(number=models.Count("pk")).values("number")
    return Coalesce(models.Subquery(number), 0)


class ReportedPairQuerySet(models.QuerySet["ReportedPair"]):
    def standing(self) -> Self:
        """Reports whose skip was not undone, and whose sentences still exist."""
        of_their_skip = self.filter(at=models.F("assignment__closed_at")).exclude(assignment__annotator__kind=TRIAL)
        return of_their_skip.filter(assignment__item_set__removal=None).exclude(assignment__skip_reason="")

    def unsettled(self) -> Self:
        """Standing reports whose sentences are still judged."""
        pair = "assignment__pair"
        return self.standing().filter(**{f"{pair}__first__not_judged": "", f"{pair}__second__not_judged": ""})


class ReportedPair(models.Model):
    """A report to the researchers by an annotator who skipped a pair; append-only. `at`: when they skipped it.

    `study`: that of the annotator; without it, who looks for reports would look through all assignments.
    """

    class Reason(models.TextChoices):
        FRAGMENT = "fragment", _("not a sentence")
        SAME = "same", _("both say the same")
        OFFENSIVE = "offensive", _("offensive or private")
        OTHER = "other", _("something else")

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="+")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="reported")
    reason = models.CharField(max_length=10, choices=Reason.choices)
    note = models.TextField(blank=True, max_length=500)
    at = models.DateTimeField()

    objects = ReportedPairQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.assignment}: {self.reason}"


#: Its lease has run out by the database's clock, and it still holds its place.
LAPSED = models.Q(state=Assignment.State.OPEN, expires_at__lt=Now())


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    def lasting(self) -> Self:
        """All but those of trials."""
        return self.exclude(assignment__annotator__kind=TRIAL)

    def arrived(self) -> Self:
        """All but those of trials, and of an upload that is still being stored."""
        return self.lasting().exclude(assignment__upload__in=Upload.unfinished())

    def standing(self) -> Self:
        """The last revision of each assignment, if it is an answer."""
        last = self.arrived().filter(
            assignment__state=Assignment.State.JUDGED, revision=models.F("assignment__revision")
        )
        return last.exclude(answer=UNDONE)

    def given_here(self) -> Self:
        """All but imported ones, whose sides and times nobody knows."""
        return self.exclude(assignment__reason=Assignment.Reason.IMPORTED)

    def counted(self, also: Collection[int] = (), kind: str = "") -> Self:
        """Judgments that fits rest on: standing, in a place, not by excluded annotators, of a kind the study counts.

        The annotators `also` (keys) are treated as not excluded; where a `kind` is named, it alone counts. Filter by
        `assignment__item_set`, not `item_set`: PostgreSQL without statistics would read all judgments of the set for
        each of its assignments.
        """
        included = models.Q(assignment__annotator__excluded_at=None)
        if also:
            included |= models.Q(assignment__annotator__in=list(also))
        in_place = self.standing().filter(included, assignment__holds_place=True)
        of_kind = models.Q(assignment__annotator__kind=kind) if kind else of_counted_kind("assignment__annotator")
        return in_place.filter(of_kind).order_by("pk")


class Judgment(models.Model):
    """One revision of an annotator's answer; (assignment, revision) is the idempotency key: the first stands.

    `why`: the reasons that they tapped, with commas between them; `note`: the reason in their own words; `confidence`:
    a machine's, from 0 to 1. `item_set` is where it was given; its assignment moves to the history of that set if one
    of its sentences is removed. `at`: None for one that was made elsewhere, nobody knows when.
    """

    ANSWERS = [*((key, _(answer.name)) for key, answer in ANSWERS.items()), (UNDONE, _("undone"))]

    assignment = models.ForeignKey(Assignment, on_delete=models.RESTRICT, related_name="judgments")
    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="judgments")
    revision = models.PositiveSmallIntegerField(default=1)
    answer = models.CharField(max_length=7, choices=ANSWERS)
    seconds = models.FloatField(null=True, blank=True)
    why = models.CharField(max_length=200, blank=True, default="")
    note = models.CharField(max_length=300, blank=True, default="")
    confidence = models.FloatField(null=True, blank=True)
    at = models.DateTimeField(null=True, blank=True)
    extra = models.JSONField(null=True, blank=True)

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "revision"], name="judgment_first_answer_stands"),
            models.CheckConstraint(condition=models.Q(revision__gte=1), name="judgment_revision_from_one"),
            models.CheckConstraint(
                condition=models.Q(confidence__isnull=True) | models.Q(confidence__gte=0, confidence__lte=1),
                name="judgment_confidence_is_a_share",
            ),
        ]
        indexes = [models.Index(fields=["item_set", "id"], name="judgment_of_item_set")]

    def __str__(self) -> str:
        return f"{self.assignment_id}.{self.revision}: {self.answer}"

    @property
    def given(self) -> Answer:
        """The answer, if it is no undo."""
        return ANSWERS[self.answer]

    @property
    def reasons(self) -> list[str]:
        """The reasons that were tapped."""
        return listed(self.why)

    @property
    def in_order(self) -> tuple[Item, Item]:
        """The two sentences, the preferred one first."""
        shown = self.assignment
        return (shown.left, shown.right) if self.given.share else (shown.right, shown.left)
