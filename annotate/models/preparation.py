"""The worker's progress with topics, and the pairs it suggests. Written by evaluation.records."""

from __future__ import annotations

from django.db import models

from annotate.models.corpus import Sentence, Topic


class TopicProgress(models.Model):
    """The worker's progress with a topic, and in plain words why its last attempt failed (`problem`).

    `is_told`: almost no pair is left there that would distinguish systems: other topics have priority.
    A topic is out of date if its current texts are not cut, or if `fitted_version` < its tally's data_version.
    """

    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, related_name="progress")
    fitted_version = models.PositiveBigIntegerField(default=0)
    problem = models.TextField(blank=True)
    is_told = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.topic}: fitted {self.fitted_version}"


class Suggestion(models.Model):
    """A pair that the worker suggests to judge next, the lowest `rank` first; a hint that may vanish.

    `is_random`: drawn as if all pairs were equally likely. `design_weight`, `drawn_for`: as in an assignment.
    """

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="suggestions")
    first = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="+")
    rank = models.PositiveIntegerField()
    is_random = models.BooleanField(default=False)
    design_weight = models.FloatField(default=0.0)
    drawn_for = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["topic", "rank"], name="suggestion_one_a_rank"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="suggestion_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} / {self.second_id}"
