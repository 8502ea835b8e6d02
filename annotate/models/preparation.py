"""The worker's progress with item sets, and the pairs it suggests. Written by evaluation.records."""

from __future__ import annotations

from django.db import models

from annotate.models.corpus import Item, ItemSet


class ItemSetProgress(models.Model):
    """The worker's progress with an item set, and in plain words why its last attempt failed (`problem`).

    `is_told`: almost no pair is left there that would distinguish systems: other sets have priority.
    `judged`: its judgments at `fitted_version`, as `annotate.reports.rests_on` counts them, so that no page counts all
    judgments of a study; None where they are not counted yet.
    A set is out of date if the current texts are not cut, or if `fitted_version` < its tally's data_version.
    """

    item_set = models.OneToOneField(ItemSet, on_delete=models.CASCADE, related_name="progress")
    fitted_version = models.PositiveBigIntegerField(default=0)
    judged = models.JSONField(null=True)
    problem = models.TextField(blank=True)
    is_told = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.item_set}: fitted {self.fitted_version}"


class Suggestion(models.Model):
    """A pair that the worker suggests to judge next, the lowest `rank` first; a hint that may vanish.

    `is_random`: drawn as if all pairs were equally likely. `design_weight`, `drawn_for`: as in an assignment.
    """

    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="suggestions")
    first = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    rank = models.PositiveIntegerField()
    is_random = models.BooleanField(default=False)
    design_weight = models.FloatField(default=0.0)
    drawn_for = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item_set", "rank"], name="suggestion_one_a_rank"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="suggestion_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} / {self.second_id}"
