"""Questions of what would change without somebody: asked by a person, worked out by the worker. The one writer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F, Sum

from annotate.models import Annotator, Preview, Study, Tally

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = Preview.State
#: A study's previews that stay in the table.
KEPT = 20


def version_of(study: Study) -> int:
    """Changes with everything that a preview of the study rests on."""
    found = Tally.objects.filter(topic__study=study).aggregate(version=Sum("data_version"))
    return found["version"] or 0


def people_of(preview: Preview) -> list[Annotator]:
    """Whom the question is about."""
    return list(Annotator.objects.filter(study=preview.study_id, pk__in=preview.annotators).order_by("pk"))


@transaction.atomic
def request_preview(study: Study, user: User, annotators: Iterable[Annotator], *, leave_out: bool = True) -> Preview:
    """Ask what would change without these annotators (or with them again); one that is up to date is not asked twice.

    Annotators of other studies are passed over.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    keys = sorted({one.pk for one in annotators if one.study_id == study.pk})
    for known in Preview.objects.filter(study=study, leave_out=leave_out).order_by("-pk"):
        is_news = known.state == State.READY and known.version != version_of(study)
        if known.annotators == keys and known.state != State.FAILED and not is_news:
            return known
    made = Preview.objects.create(study=study, user=user, annotators=keys, leave_out=leave_out)
    kept = Preview.objects.filter(study=study).order_by("-pk").values_list("pk", flat=True)[:KEPT]
    Preview.objects.filter(study=study).exclude(pk__in=list(kept)).delete()
    return made


def note_try(preview: Preview) -> int:
    """Count one more try at working it out; which one this is."""
    Preview.objects.filter(pk=preview.pk).update(tries=F("tries") + 1)
    preview.refresh_from_db(fields=["tries"])
    return preview.tries


def note_progress(preview: Preview, parts: Mapping[str, Any], topics: int) -> None:
    """Keep what is worked out so far; a try that comes that far is none that failed."""
    waiting = Preview.objects.filter(pk=preview.pk, state=State.WAITING)
    waiting.update(parts=dict(parts), done=len(parts), topics=topics, tries=0)


def finish(preview: Preview, figures: Mapping[str, Any], version: int) -> None:
    """Publish the answer; the parts that it was put together from are not needed any more."""
    waiting = Preview.objects.filter(pk=preview.pk, state=State.WAITING)
    waiting.update(state=State.READY, figures=dict(figures), version=version, parts={}, done=F("topics"), problem="")


def give_up(preview: Preview, problem: str) -> None:
    """Try no longer, and say why in plain words."""
    Preview.objects.filter(pk=preview.pk, state=State.WAITING).update(state=State.FAILED, problem=problem, parts={})
