"""Who did what, written down. Written by annotate.audit_log."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotate.models.study import Study


class AuditEntry(models.Model):
    """Who did what to which study; append-only.

    The entries of a study are numbered from 1, and so are those of the installation (no study); each carries a digest
    of itself and of the one before. They outlast the study and the person: neither key is a constraint of the database.

    `digest` covers `detail` by `detail_digest`, so that a person's erasure may empty `detail` and the chain holds.
    Entries that are older than `detail_digest` have none: their digest covers `detail` itself.
    """

    study = models.ForeignKey(
        Study, on_delete=models.DO_NOTHING, db_constraint=False, related_name="audit_entries", null=True
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    number = models.PositiveBigIntegerField()
    action = models.CharField(max_length=60)
    detail = models.JSONField(default=dict)
    detail_digest = models.CharField(max_length=64, default="", blank=True)
    at = models.DateTimeField()
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="audit_entry_follows_one"),
            models.UniqueConstraint(
                fields=["number"], name="audit_entry_follows_one_of_the_installation", condition=models.Q(study=None)
            ),
        ]

    def __str__(self) -> str:
        return self.action
