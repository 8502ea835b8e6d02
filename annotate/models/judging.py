"""Who judges, what they were shown and what they preferred. Written by annotate.judging.

Judgments are the source of truth and are only ever added: an undo is a new revision. What is counted follows from
the rows: a judgment counts while it is the last revision of its assignment, is an answer, and its assignment holds
one of the pair's places.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.models.corpus import Topic
from annotate.models.preparation import Sentence
from annotate.models.study import Invitation, Study


class Tally(models.Model):
    """One row a topic, locked first by everyone who draws or judges there.

    `data_version` rises with everything that a fit rests on; `taken` counts the judgments wanted of the topic that
    are out (leased) or in, simulated ones left out.
    """

    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, related_name="tally")
    data_version = models.PositiveBigIntegerField(default=1)
    taken = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "tallies"

    def __str__(self) -> str:
        return f"{self.topic}: version {self.data_version}, {self.taken} taken"


class Annotator(models.Model):
    """Someone (or something) that judges in one study, under a pseudonym.

    `judged` and `seconds` are running sums of what they have judged (an undone judgment taken off again) and of the
    time they read, and `previous` is the key of the assignment that they judged last, so that no page has to count or
    search: how much they have done, how long the rest will take, what an undo takes back. While `paused_at` is set they
    are given no pairs; while `excluded_at` is, nothing that they judged counts either.
    """

    class Kind(models.TextChoices):
        HUMAN = "human", _("person")
        MACHINE = "machine", _("machine")
        SIMULATED = "simulated", _("simulated")

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="annotators")
    user: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="annotators"
    )
    invitation = models.ForeignKey(Invitation, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.HUMAN)
    pseudonym = models.CharField(max_length=200)
    quota = models.PositiveIntegerField(null=True, blank=True)
    judged = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    previous = models.UUIDField(null=True, blank=True, editable=False)
    #: The revision of that assignment, where `judging.find_shown` has looked it up.
    previous_revision: int | None = None
    shortcuts = models.BooleanField(default=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    skipped = models.PositiveIntegerField(default=0)
    skips_in_a_row = models.PositiveIntegerField(default=0)
    trained_at = models.DateTimeField(null=True, blank=True)
    screened_out_at = models.DateTimeField(null=True, blank=True)
    joined_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    excluded_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "pseudonym"], name="annotator_one_a_pseudonym"),
            models.UniqueConstraint(
                fields=["study", "user"],
                condition=models.Q(user__isnull=False, kind="human"),
                name="annotator_once_a_user",
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class Pair(models.Model):
    """Two sentences of a topic to compare, how many judgments are needed, and how many of those are out or in.

    A simulated annotator takes no place that a person could have: their judgments are not in `taken`, and a pair that
    only they have judged needs nothing yet (`need` is 0 until it is drawn).
    """

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="pairs")
    first = models.ForeignKey(Sentence, on_delete=models.RESTRICT, related_name="+")
    second = models.ForeignKey(Sentence, on_delete=models.RESTRICT, related_name="+")
    need = models.PositiveSmallIntegerField()
    taken = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="pair_once"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="pair_in_order"),
            models.CheckConstraint(condition=models.Q(taken__lte=models.F("need")), name="pair_never_overtaken"),
        ]
        indexes = [
            models.Index(fields=["topic"], name="pair_wanting", condition=models.Q(taken__lt=models.F("need"))),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} / {self.second_id}"

    @staticmethod
    def in_order(one: int, other: int) -> tuple[int, int]:
        """The keys of two sentences as their pair has them: the first, the second."""
        return (min(one, other), max(one, other))


class KnownPair(models.Model):
    """Two sentences of a topic of which a researcher says which one is right: for practice, or hidden among others.

    One use each: whoever has practised on a pair is not tested by it. `explanation` is shown in practice only.
    """

    class Use(models.TextChoices):
        TRAINING = "training", _("practice, with feedback")
        GOLD = "gold", _("hidden among the others")

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="known_pairs")
    better = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="+", verbose_name=_("the right one"))
    worse = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="+", verbose_name=_("the other one"))
    use = models.CharField(_("what for"), max_length=8, choices=Use.choices, default=Use.GOLD)
    explanation = models.TextField(_("why"), blank=True, max_length=2_000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["better", "worse"], name="known_pair_once"),
            models.CheckConstraint(condition=~models.Q(better=models.F("worse")), name="known_pair_of_two"),
        ]

    def __str__(self) -> str:
        return f"{self.better_id} > {self.worse_id}"


class Assignment(models.Model):
    """A pair as it was shown to an annotator: which side, why, and the lease that keeps it for them.

    `holds_place` says whether it takes one of the pair's `need` places; an answer without a place is surplus, kept
    and not counted. Practice, pairs with a known answer and repeats never hold one, and so never count. `expected` is
    the side that is right where the answer was known. `revision` is that of its last judgment, 0 before the first.
    `key` is random and the only thing that a browser learns.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        JUDGED = "judged", _("judged")
        SKIPPED = "skipped", _("skipped")
        EXPIRED = "expired", _("expired")
        VOID = "void", _("void")

    class Reason(models.TextChoices):
        RANDOM = "random", _("drawn at random")
        SUGGESTED = "suggested", _("asked for by the worker")
        IMPORTED = "imported", _("imported")
        TRAINING = "training", _("for practice")
        GOLD = "gold", _("its answer is known")
        REPEAT = "repeat", _("shown again, sides swapped")

    class SkipReason(models.TextChoices):
        UNCLEAR = "unclear", _("unclear")
        BROKEN = "broken", _("broken text")
        LANGUAGE = "language", _("not my language")
        OTHER = "other", _("other")

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="assignments")
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="assignments")
    swapped = models.BooleanField()
    occasion = models.PositiveSmallIntegerField(default=0)
    reason = models.CharField(max_length=10, choices=Reason.choices, default=Reason.RANDOM)
    expected = models.CharField(max_length=5, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    skip_reason = models.CharField(max_length=10, choices=SkipReason.choices, blank=True)
    holds_place = models.BooleanField(default=True)
    revision = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    #: When it was found for the answer that just came, by the database's clock (annotate.judging.showing).
    found_at: datetime | None = None

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["annotator", "pair", "occasion"], name="assignment_never_twice_by_accident"
            ),
        ]
        indexes = [
            models.Index(fields=["topic", "expires_at"], name="assignment_open", condition=models.Q(state="open")),
            models.Index(fields=["annotator", "state", "closed_at"], name="assignment_by_annotator"),
        ]

    def __str__(self) -> str:
        return str(self.key)

    @property
    def left(self) -> Sentence:
        """The sentence shown on the left (above, on a phone)."""
        return self.pair.second if self.swapped else self.pair.first

    @property
    def right(self) -> Sentence:
        return self.pair.first if self.swapped else self.pair.second


class Judgment(models.Model):
    """One revision of what an annotator preferred; (assignment, revision) is the idempotency key: the first stands."""

    class Answer(models.TextChoices):
        LEFT = "left", _("the left one")
        RIGHT = "right", _("the right one")
        TIE = "tie", _("equally important")
        UNDONE = "undone", _("taken back")

    assignment = models.ForeignKey(Assignment, on_delete=models.RESTRICT, related_name="judgments")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="judgments")
    revision = models.PositiveSmallIntegerField(default=1)
    answer = models.CharField(max_length=6, choices=Answer.choices)
    seconds = models.FloatField(null=True, blank=True)
    at = models.DateTimeField()
    extra = models.JSONField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "revision"], name="judgment_first_answer_stands"),
            models.CheckConstraint(condition=models.Q(revision__gte=1), name="judgment_revision_from_one"),
        ]
        indexes = [models.Index(fields=["topic", "id"], name="judgment_of_topic")]

    def __str__(self) -> str:
        return f"{self.assignment_id}.{self.revision}: {self.answer}"
