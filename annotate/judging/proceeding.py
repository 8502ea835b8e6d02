"""Store an answer and draw the pair after next, in one transaction: what nearly every answer on a page comes to."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.db.models import Exists, Q, QuerySet, Subquery

from annotate.judging import checks
from annotate.judging.answers import (
    SUMS,
    Changed,
    Recorded,
    is_usual,
    must_be_answer,
    record_judgment,
    store_usual,
)
from annotate.judging.choosing import Desk
from annotate.judging.drawing import (
    PERSON,
    RUN,
    TERMS,
    as_person,
    draw_at,
    enough_for_now,
    of_topic,
    standing,
)
from annotate.models import Annotator, Assignment, Tally
from annotate.prepared import Prepared

logger = logging.getLogger(__name__)


def record_and_draw(
    assignment: Assignment, showing: Assignment, revision: int, answer: str, seconds: float | None = None
) -> tuple[Recorded, Assignment | None]:
    """Store an answer as `record_judgment` does, with the pair that comes after the one they are `showing`.

    One transaction for both, half as long for others who wait for the topic; None where `draw` has to look further for
    that pair. Whatever goes wrong in drawing, the answer is stored.
    """
    must_be_answer(answer)
    if is_usual(assignment, revision):
        try:
            with transaction.atomic(durable=True):
                recorded = store_usual(assignment, revision, answer, seconds)
                return recorded, _draw_on(showing) if showing.topic_id == assignment.topic_id else None
        except Changed:
            pass  # `record_judgment` looks closer
        except NotDrawn:
            logger.exception("no pair could be drawn with an answer; it is stored by itself")
            assignment.annotator.refresh_from_db(fields=SUMS)  # they were added to already
    return record_judgment(assignment, revision, answer, seconds), None


class NotDrawn(Exception):
    """Drawing failed, and has undone what was stored before it."""


def _ask_for_both(annotator: Any, topic: Any, showing: Any) -> QuerySet[Any, Any]:
    held = Assignment.objects.filter(~Q(pk=showing), annotator=annotator, state=Assignment.State.OPEN)
    taken = Subquery(Tally.objects.filter(topic_id=topic).values("taken"))
    return (
        Annotator.objects.filter(pk=annotator)
        .annotate(holds=Exists(held), taken=taken, **of_topic(topic))
        .values_list(*PERSON.columns(), *TERMS.columns("study"), "holds", "taken", "now", "lapsed", "last")
    )


_both = Prepared(_ask_for_both)


def _draw_on(showing: Assignment) -> Assignment | None:
    """The next pair of the same topic. The answer before it has locked the topic's tally and the person: one look at
    both is enough. Raises `NotDrawn` whatever went wrong."""
    annotator = showing.annotator
    try:
        values = iter(_both(annotator.pk, showing.topic_id, showing.pk)[0])
        person, holds = as_person(values), next(values)
        moves_on = (person.judged + 1) % RUN == 0
        is_check = checks.due(annotator, person.judged + person.skipped + 1) is not None
        if holds or moves_on or is_check or standing(person, ahead=1) or enough_for_now(person):
            return None
        return draw_at(Desk(showing.topic_id, *values), person, annotator)
    except Exception as error:
        raise NotDrawn from error
