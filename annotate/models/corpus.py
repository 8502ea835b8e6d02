"""What is summarized and what was made of it, and the uploads that brought it. Written by annotate.imports."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.models.study import Study


class Topic(models.Model):
    """What one set of source documents is about. `text_version` rises whenever its texts or their cutting change."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="topics")
    name = models.CharField(_("topic id"), max_length=200)
    title = models.CharField(_("title"), max_length=1000, blank=True)
    question = models.TextField(_("question"), max_length=10_000, blank=True)
    language = models.CharField(_("language"), max_length=60, blank=True)
    position = models.PositiveIntegerField()
    text_version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="topic_once_a_study"),
            models.UniqueConstraint(fields=["study", "position"], name="topic_one_a_position"),
        ]

    def __str__(self) -> str:
        return self.title or self.name


class TopicText(models.Model):
    """A text of a topic: whole (`text`), or as its provider (or a person mending our cutting) cut it (`sentences`)."""

    name = models.CharField(max_length=300)
    position = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    sentences = models.JSONField(null=True, blank=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class SourceDocument(TopicText):
    """One of the texts that are summarized. `mended` (if any) is how a person cut it, instead of our cutting."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="documents")
    mended = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["topic", "name"], name="document_once_a_topic")]


class Reference(TopicText):
    """A summary written by a person, as a model of what to say."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="references")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["topic", "name"], name="reference_once_a_topic")]


class System(models.Model):
    """A summarizer."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(_("system"), max_length=200)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="system_once_a_study")]

    def __str__(self) -> str:
        return self.name


class Summary(models.Model):
    """What one system wrote for one topic."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="summaries")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="summaries")
    text = models.TextField(blank=True)
    sentences = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "summaries"
        ordering = ["topic__position", "system__name"]
        constraints = [models.UniqueConstraint(fields=["topic", "system"], name="summary_once_a_topic_and_system")]

    def __str__(self) -> str:
        return f"{self.system} · {self.topic}"


class HumanScore(models.Model):
    """What people thought of one summary in one dimension; higher is better."""

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="human_scores")
    dimension = models.CharField(max_length=200)
    score = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["summary", "dimension"], name="human_score_once_a_dimension")]

    def __str__(self) -> str:
        return f"{self.dimension} {self.score}"


def upload_path(upload: Upload, filename: str) -> str:
    """A random name: what the visitor called the file is data, never a path."""
    return f"uploads/{upload.key}"


class Upload(models.Model):
    """A file on its way into a study: read by the worker, looked at by a person, then stored whole or not at all.

    `preview`: {"topics": [{"name", "title", "documents", "sentences", "references", "summaries": numbers}],
    "systems": [names], "summaries", "human_scores", "preferences": numbers of those for topics that the study has
    already or (preferences) of all, "remarks": [{"file", "said", "params"}]}.
    `complaints`: [{"file", "line", "field", "found", "expected", "params"}], as in `formats.records.Complaint`.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be read")
        READY = "ready", _("read, waiting for your word")
        REFUSED = "refused", _("refused")
        CONFIRMED = "confirmed", _("being stored")
        STORED = "stored", _("stored")
        DISCARDED = "discarded", _("discarded")
        FAILED = "failed", _("failed")

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="uploads")
    user: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    file = models.FileField(upload_to=upload_path, max_length=200)
    filename = models.CharField(max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    preview = models.JSONField(default=dict)
    complaints = models.JSONField(default=list)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["id"],
                name="upload_waiting",
                condition=models.Q(state__in=["waiting", "confirmed"]),
            )
        ]

    def __str__(self) -> str:
        return self.filename
