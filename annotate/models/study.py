"""Studies, who may do what in them, and what was done. Written by annotate.studies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from formats.topics import LANGUAGE


def finite(value: float) -> None:
    """Refuse what no other validator does: every comparison with NaN is false."""
    if not math.isfinite(value):
        raise ValidationError(_("Enter a number."))


SHARE: list[Callable[[Any], None]] = [finite, MinValueValidator(0.0), MaxValueValidator(1.0)]
HALF: list[Callable[[Any], None]] = [finite, MinValueValidator(0.0), MaxValueValidator(0.5)]


class Smoothing(models.TextChoices):
    PAPER = "paper", _("as in the paper")
    SHARPENED = "sharpened", _("sharpened")
    KERNEL = "kernel", _("kernel prior")
    NONE = "none", _("none")


class Value(models.TextChoices):
    STRENGTH = "strength", _("strength (as in the paper)")
    CHANCE = "chance", _("chance to be preferred")


class Normalization(models.TextChoices):
    LENGTH = "length", _("the summary's own length (as in the paper)")
    BUDGET = "budget", _("a common length")
    PIVOT = "pivot", _("a length between its own and a common one")


class Match(models.TextChoices):
    ANY = "any", _("any nearest sentence counts fully (as in the paper)")
    SIMILARITY = "similarity", _("weighed by similarity")
    CONTENT = "content", _("every sentence counts by the words in common")


class Similarity(models.TextChoices):
    TFIDF_JACCARD = "tfidf-jaccard", _("words in common and their weights (as in the paper)")
    TFIDF = "tfidf", _("weights of the words in common")
    JACCARD = "jaccard", _("words in common")


#: What people are asked where a study does not say: the paper's question.
QUESTION = "Which of these two sentences contains more important information?"


class Study(models.Model):
    """A campaign: what people are asked about which topics, and how their answers become scores."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    title = models.CharField(_("title"), max_length=200)
    question = models.CharField(_("question"), max_length=300, default=QUESTION)
    guidelines = models.TextField(_("guidelines"), blank=True, max_length=20_000)
    language = models.CharField(
        _("language of the texts"),
        max_length=35,
        default="en",
        validators=[RegexValidator(rf"\A(?:{LANGUAGE.pattern})\Z", _("Enter a language tag such as en, de or pt-BR."))],
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN)
    ties_allowed = models.BooleanField(_("“equally important” is an answer"), default=False)
    show_progress = models.BooleanField(_("annotators see how far they are"), default=True)
    judgments_per_topic = models.PositiveIntegerField(
        _("judgments per topic"), default=300, validators=[MinValueValidator(1), MaxValueValidator(1_000_000)]
    )
    judgments_per_pair = models.PositiveSmallIntegerField(
        _("judgments per pair"), default=1, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    pairs_per_annotator = models.PositiveIntegerField(
        _("pairs per annotator"), default=30, validators=[MinValueValidator(1), MaxValueValidator(100_000)]
    )
    seed = models.PositiveBigIntegerField(_("seed"), default=0)

    smooth = models.CharField(_("smoothing"), max_length=12, choices=Smoothing.choices, default=Smoothing.KERNEL)
    prior = models.FloatField(
        _("prior"), default=1.0, validators=[finite, MinValueValidator(0.0), MaxValueValidator(1000.0)]
    )
    redundancy = models.BooleanField(_("repetition earns nothing"), default=True)
    value = models.CharField(_("value of a sentence"), max_length=12, choices=Value.choices, default=Value.CHANCE)
    normalize = models.CharField(
        _("normalise by"), max_length=12, choices=Normalization.choices, default=Normalization.PIVOT
    )
    match = models.CharField(_("match"), max_length=12, choices=Match.choices, default=Match.CONTENT)
    similarity = models.CharField(
        _("similarity"), max_length=40, choices=Similarity.choices, default=Similarity.TFIDF_JACCARD
    )

    weigh_annotators = models.BooleanField(_("weigh annotators by their reliability"), default=False)

    # Who may judge how much, and how it is looked after: these change no score that judgments came to.
    pilot = models.BooleanField(_("members of the study may judge (a pilot)"), default=False)
    random_share = models.FloatField(_("share of purely random pairs"), default=0.2, validators=SHARE)
    repeat_share = models.FloatField(_("share of pairs shown again, sides swapped"), default=0.0, validators=HALF)
    gold_share = models.FloatField(_("share of pairs with a known answer"), default=0.0, validators=HALF)
    training = models.BooleanField(_("practice pairs come first"), default=False)
    training_threshold = models.FloatField(
        _("share of practice pairs that must be right"), default=0.6, validators=SHARE
    )
    person_cap = models.FloatField(_("one person’s share of a topic"), default=0.05, validators=SHARE)
    judgments_per_hour = models.PositiveIntegerField(
        _("judgments a person and hour"), default=0, validators=[MaxValueValidator(100_000)]
    )
    reading_speed = models.PositiveIntegerField(
        _("characters a second that nobody reads"), default=100, validators=[MaxValueValidator(10_000)]
    )
    skips_in_a_row = models.PositiveSmallIntegerField(
        _("skips in a row that end the work"), default=10, validators=[MaxValueValidator(1_000)]
    )

    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(judgments_per_pair__gte=1, judgments_per_topic__gte=1, pairs_per_annotator__gte=1),
                name="study_asks_for_something",
            ),
            models.CheckConstraint(condition=models.Q(prior__gte=0), name="study_prior_not_negative"),
        ]

    def __str__(self) -> str:
        return self.title


class Membership(models.Model):
    """What one person may do in one study."""

    class Role(models.TextChoices):
        OWNER = "owner", _("owner")
        RESEARCHER = "researcher", _("researcher")
        ADMIN = "admin", _("admin")
        ANNOTATOR = "annotator", _("annotator")

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(_("role"), max_length=12, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="membership_once_a_person")]

    def __str__(self) -> str:
        return f"{self.user} · {self.role}"


class Invitation(models.Model):
    """A link that lets people in. The link is signed, never stored, so that a leaked table lets nobody in."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(
        _("role"), max_length=12, choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR
    )
    label = models.CharField(_("label"), max_length=100, blank=True)
    expires_at = models.DateTimeField(_("good until"), null=True, blank=True)
    max_uses = models.PositiveIntegerField(_("how many people"), null=True, blank=True)
    uses = models.PositiveIntegerField(default=0)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(max_uses__isnull=True) | models.Q(uses__lte=models.F("max_uses")),
                name="invitation_never_overused",
            )
        ]

    def __str__(self) -> str:
        return self.label or f"invitation {self.pk}"


class Act(models.Model):
    """One administrative act: who did what to which study; only ever added. Written by annotate.acts.

    The acts of a study are numbered from 1, and so are those of the installation (no study); each carries a digest of
    itself and of the one before. They outlast the study and the person: neither key is a constraint of the database.
    """

    study = models.ForeignKey(Study, on_delete=models.DO_NOTHING, db_constraint=False, related_name="acts", null=True)
    actor: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    number = models.PositiveBigIntegerField()
    act = models.CharField(max_length=60)
    detail = models.JSONField(default=dict)
    at = models.DateTimeField()
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="act_follows_one_act"),
            models.UniqueConstraint(
                fields=["number"], name="act_follows_one_act_of_the_installation", condition=models.Q(study=None)
            ),
        ]

    def __str__(self) -> str:
        return self.act
