"""Questions to the worker: what would change without some annotators, or with one kind of them alone. The one
writer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F

from annotate.models import Annotator, Study, WhatIfQuestion
from annotate.models.study import sum_of_topics

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

State = WhatIfQuestion.State
#: How many of a study's questions are kept, about annotators and about each kind of them.
KEPT = 20


def version_of(study: Study) -> int:
    """The version of all data that an answer rests on."""
    own = Study.objects.filter(pk=study.pk).annotate(version=sum_of_topics("tally__data_version"))
    return int(own.values_list("version", flat=True).first() or 0)


def annotators_of(question: WhatIfQuestion) -> list[Annotator]:
    """The annotators that the question is about."""
    return list(Annotator.objects.filter(study=question.study_id, pk__in=question.annotators).order_by("pk"))


def is_old(question: WhatIfQuestion) -> bool:
    """Whether the data of the answer have changed since."""
    return question.state == State.READY and question.version != version_of(question.study)


def latest(study: Study, kind: str) -> WhatIfQuestion | None:
    """The latest question about this kind of annotators."""
    return WhatIfQuestion.objects.filter(study=study, kind=kind).order_by("pk").last()


def asked(study: Study, keys: Iterable[int]) -> WhatIfQuestion | None:
    """The newest question what would change without the annotators of these keys; None if there is none."""
    return _current(WhatIfQuestion.objects.filter(study=study, kind="", leave_out=True), sorted(keys))


def ask(study: Study, user: User, annotators: Iterable[Annotator], *, leave_out: bool = True) -> WhatIfQuestion:
    """The question what would change without these annotators (or with them again); a current one is reused.

    Annotators of other studies are ignored.
    """
    keys = sorted({annotator.pk for annotator in annotators if annotator.study_id == study.pk})
    return _ask(study, user, keys, leave_out=leave_out)


def ask_kind(study: Study, user: User, kind: str) -> WhatIfQuestion:
    """The question which leaderboard this kind alone would give; a current one is reused."""
    return _ask(study, user, [], kind=kind)


@transaction.atomic
def _ask(study: Study, user: User, keys: list[int], *, leave_out: bool = True, kind: str = "") -> WhatIfQuestion:
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    questions = WhatIfQuestion.objects.filter(study=study, kind=kind)
    if earlier := _current(questions.filter(leave_out=leave_out), keys):
        return earlier
    question = WhatIfQuestion.objects.create(study=study, user=user, annotators=keys, leave_out=leave_out, kind=kind)
    kept = questions.order_by("-pk").values_list("pk", flat=True)[:KEPT]
    questions.exclude(pk__in=list(kept)).delete()
    return question


def _current(questions: QuerySet[WhatIfQuestion], keys: list[int]) -> WhatIfQuestion | None:
    alike = (own for own in questions.order_by("-pk") if own.annotators == keys and own.state != State.FAILED)
    return next((own for own in alike if not is_old(own)), None)


def note_progress(question: WhatIfQuestion, parts: Mapping[str, Any], topics: int) -> None:
    """Store what is worked out so far."""
    question.waiting().filter(pk=question.pk).update(parts=dict(parts), done=len(parts), topics=topics)


def finish(question: WhatIfQuestion, figures: Mapping[str, Any], version: int) -> None:
    """Publish the answer and clear its parts."""
    question.waiting().filter(pk=question.pk).update(
        state=State.READY, figures=dict(figures), version=version, parts={}, done=F("topics"), problem=""
    )
