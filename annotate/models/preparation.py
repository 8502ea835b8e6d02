"""What the worker makes of texts before anyone judges. Written by evaluation.records."""

from __future__ import annotations

from django.db import models

from annotate.models.corpus import SourceDocument, Topic


class TopicProgress(models.Model):
    """How far the worker has come with a topic, and what went wrong on the way.

    A topic is behind where `prepared_version` < the topic's text_version, or `fitted_version` < its tally's
    data_version. `problem` says in plain words why the last try failed, `tries` counts those that failed since the
    last that did not, and `retry_at` is when the next one may come (sooner, if the data are newer than the
    `tried_version` that failed).
    """

    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, related_name="progress")
    prepared_version = models.PositiveIntegerField(default=0)
    fitted_version = models.PositiveBigIntegerField(default=0)
    problem = models.TextField(blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    tried_version = models.PositiveBigIntegerField(default=0)
    tried_at = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.topic}: prepared {self.prepared_version}, fitted {self.fitted_version}"


class Sentence(models.Model):
    """A sentence of a source document; `<document>:<index>` is its public name, `position` its place in the topic."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="sentences")
    document = models.ForeignKey(SourceDocument, on_delete=models.CASCADE, related_name="cut_sentences")
    index = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    paragraph = models.PositiveIntegerField(default=0)
    text = models.TextField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["document", "index"], name="sentence_once_an_index"),
            models.UniqueConstraint(fields=["topic", "position"], name="sentence_once_a_position"),
        ]

    def __str__(self) -> str:
        return self.text


class Suggestion(models.Model):
    """A pair that the worker would like to have judged next, the lowest `rank` first; a hint that may vanish."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="suggestions")
    first = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="+")
    rank = models.PositiveIntegerField()
    reason = models.CharField(max_length=20)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["topic", "rank"], name="suggestion_one_a_rank"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="suggestion_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} / {self.second_id}"
