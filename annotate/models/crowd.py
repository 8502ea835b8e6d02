"""Recruitment, consent, questionnaires and participation of annotators. Written by annotate.crowd."""

from __future__ import annotations

import re
import secrets
from typing import Any

from django.core.validators import RegexValidator
from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from annotate.models.judging import Annotator
from annotate.models.study import Study, new_link_key, sum_of_topics
from preferendum.formats.questionnaire import Question
from preferendum.results import from_json

#: A parameter's name in the address that a platform sends people to.
PARAMETER = RegexValidator(r"\A[A-Za-z][A-Za-z0-9_.-]*\Z", _("Use only letters, digits, “_”, “-” and “.”."))
#: Where annotators are sent with a code; nothing but a page.
WEB_ADDRESS = RegexValidator(r"\Ahttps?://[^\s<>\"]+\Z", _("The address must begin with https://."))


#: What Prolific calls its participants.
PROLIFIC_ID = re.compile(r"[0-9a-f]{24}")


def new_identity_key() -> str:
    return secrets.token_hex(32)


class Recruitment(models.Model):
    """How a study's annotators are recruited: their consent, platform and completion codes.

    `consent_version` rises with every change of the text; 0 needs none. `identity_key` is the key of participants'
    digests: it stays with the study, even if the installation's secrets change. `expected_ids`: who may take part, one
    per line; anybody where it is empty. `check_session`: whether an ID is admitted only with its first session.
    """

    class Platform(models.TextChoices):
        NONE = "none", _("invitation links only")
        PROLIFIC = "prolific", _("Prolific")
        GENERIC = "generic", _("another platform or panel")

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="recruitment")
    identity_key = models.CharField(max_length=64, default=new_identity_key, editable=False)
    link_key = models.CharField(max_length=32, default=new_link_key, editable=False, db_index=True)
    consent = models.TextField(_("consent"), blank=True, max_length=20_000)
    consent_version = models.PositiveIntegerField(default=0)
    platform = models.CharField(_("platform"), max_length=10, choices=Platform.choices, default=Platform.NONE)
    person_parameter = models.CharField(
        _("participant parameter"), max_length=60, default="PROLIFIC_PID", validators=[PARAMETER]
    )
    session_parameter = models.CharField(
        _("session parameter"), max_length=60, default="SESSION_ID", blank=True, validators=[PARAMETER]
    )
    check_session = models.BooleanField(_("check the session"), default=False)
    expected_ids = models.TextField(_("expected IDs"), blank=True, max_length=500_000)
    return_url = models.CharField(_("return address"), max_length=500, blank=True, validators=[WEB_ADDRESS])
    code_done = models.CharField(_("code for “done”"), max_length=100, blank=True)
    code_screened_out = models.CharField(_("code for “screened out”"), max_length=100, blank=True)
    code_no_work = models.CharField(_("code for “no work left”"), max_length=100, blank=True)

    def __str__(self) -> str:
        return f"{self.study}: {self.platform}"

    @property
    def expected(self) -> list[str]:
        """The platform's names of those who may take part; [] for anybody."""
        return self.expected_ids.splitlines()

    def could_name(self, person: str) -> bool:
        """Whether this can be a participant's name on the platform."""
        return self.platform != self.Platform.PROLIFIC or PROLIFIC_ID.fullmatch(person) is not None


class Consent(models.Model):
    """What one annotator agreed to, word for word, and when."""

    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="consents")
    version = models.PositiveIntegerField()
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotator", "version"], name="consent_once_a_version")]

    def __str__(self) -> str:
        return f"{self.annotator} · {self.version}"


class Questionnaire(models.Model):
    """A version of a study's questions to its annotators about themselves. The newest counts; it may be empty.

    At most one has the questions of a platform to its participants; it changes with their answers. `questions`:
    records of `preferendum.formats.questionnaire`.
    """

    class Place(models.TextChoices):
        BEFORE = "before", _("before the first pair")
        AFTER = "after", _("after the last pair")
        PLATFORM = "platform", _("nobody here: a platform knows the answers")

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="questionnaires")
    version = models.PositiveIntegerField()
    place = models.CharField(max_length=8, choices=Place.choices, default=Place.BEFORE)
    questions = models.JSONField(default=list)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "version"], name="questionnaire_once_a_version"),
            models.UniqueConstraint(
                fields=["study"], condition=models.Q(place="platform"), name="questionnaire_of_platform_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study} · {self.version}"

    @property
    def asked(self) -> tuple[Question, ...]:
        return tuple(from_json(Question, question) for question in self.questions)


class AnsweredQuestionnaire(models.Model):
    """What one annotator said about themselves, by the texts of the questions of the version that they saw; or what
    their platform says."""

    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="answered_questionnaires")
    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.CASCADE, related_name="answered")
    answers: models.JSONField[Any, Any] = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotator", "questionnaire"], name="answered_once_a_questionnaire")
        ]

    def __str__(self) -> str:
        return f"{self.annotator} · {self.questionnaire.version}"


class Participation(models.Model):
    """One person of a platform in one study: who they are there, and how it ended.

    `digest` is a slow keyed hash of the platform's name for the person: it keeps them from taking part twice, even
    after `person` or the annotator was erased. `code` is their completion code. An annotator with an invitation has a
    row here only after they withdrew.
    """

    class Outcome(models.TextChoices):
        WORKING = "working", _("in progress")
        DONE = "done", _("done")
        SCREENED_OUT = "screened_out", _("screened out")
        NO_WORK = "no_work", _("no work left")
        WITHDRAWN = "withdrawn", _("withdrawn")

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="participations")
    annotator = models.OneToOneField(Annotator, on_delete=models.SET_NULL, null=True, related_name="participation")
    person = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    digest = models.CharField(max_length=64)
    outcome = models.CharField(max_length=12, choices=Outcome.choices, default=Outcome.WORKING)
    code = models.CharField(max_length=100, blank=True)
    entered_at = models.DateTimeField()
    left_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "digest"], name="participation_once_a_digest")]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.outcome}"


def version_of_groups() -> Combinable:
    """The version of all that groups of annotators rest on, for each study of a query.

    It never falls: a withdrawal takes one answer away and counts twice. Where a platform's answers go, the version of
    their questionnaire rises by more.
    """
    withdrawn = Participation.objects.filter(outcome=Participation.Outcome.WITHDRAWN)
    numbers = (
        _number(Questionnaire.objects.all(), number=models.Max("version")),
        _number(AnsweredQuestionnaire.objects.all(), "annotator__study"),
    )
    return sum_of_topics("tally__data_version") + numbers[0] + numbers[1] + _number(withdrawn) * 2


def _number(rows: models.QuerySet[Any], study: str = "study", number: models.Aggregate | None = None) -> Combinable:
    of_study = rows.filter(**{study: models.OuterRef("pk")}).order_by().values(study)
    return Coalesce(models.Subquery(of_study.annotate(n=number or models.Count("pk")).values("n")), 0)
