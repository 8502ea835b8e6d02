"""What a platform knows of its participants, as answers to a version of the questionnaire that no page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotate import exports
from annotate.audit_log import note
from annotate.models import Annotator, AnsweredQuestionnaire, Participation, Questionnaire, Study
from preferendum.formats.questionnaire import Question
from preferendum.formats.readers.demographics import questions_of, read_demographics
from preferendum.results import to_json

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Answers by annotator and question.
Answers = Mapping[int, Mapping[str, Any]]


@transaction.atomic
def put_demographics(study: Study, user: User, file: IO[Any], name: str) -> dict[str, int]:
    """Store what a platform's table says of those who take part, in place of what an earlier one said of them.

    Returns the numbers of participants: those with answers, which are `stored`; those who `revoked` their consent, and
    those whose answers all are empty or `expired`, who have none here any more; and those who are `unknown` in the
    study. Raises `formats.Refused` with every complaint; then nothing is changed.
    """
    given = read_demographics(cast(Any, file), name=name)
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    here = Participation.objects.filter(study=study, annotator__kind=Annotator.Kind.HUMAN)
    keys = dict(here.exclude(outcome=Participation.Outcome.WITHDRAWN).values_list("person", "annotator_id"))
    of_ours = {keys[person]: answers for person, answers in given.items() if person in keys}
    before = _stored(study)
    after = {key: answers for key, answers in (_as_texts(before) | of_ours).items() if answers}
    questions, typed = _typed(after)
    counts = {
        "stored": sum(map(bool, of_ours.values())),
        "revoked": sum(answers is None for answers in of_ours.values()),
        "expired": sum(answers == {} for answers in of_ours.values()),
        "unknown": len(given) - len(of_ours),
    }
    if typed != before:
        _store(study, questions, typed, len(before.keys() - typed.keys()))
        exports.make_anew(study)
        note(study, user, "put demographics", **counts)
    return counts


def forget_answers(annotator: Annotator) -> None:
    """Delete what an annotator said about themselves, and what a platform did; no question names it any more."""
    before = _stored(annotator.study)
    AnsweredQuestionnaire.objects.filter(annotator=annotator).delete()
    if before.pop(annotator.pk, None):
        _store(annotator.study, *_typed(_as_texts(before)), 1)


def next_version(study: Study) -> int:
    last = Questionnaire.objects.filter(study=study).aggregate(last=Max("version"))["last"]
    return (last or 0) + 1


def _stored(study: Study) -> dict[int, dict[str, Any]]:
    of_platform = AnsweredQuestionnaire.objects.filter(questionnaire__place=Questionnaire.Place.PLATFORM)
    return dict(of_platform.filter(annotator__study=study).values_list("annotator", "answers"))


def _as_texts(answers: Answers) -> dict[int, dict[str, str]]:
    return {
        key: {
            text: answer if isinstance(answer, str) else repr(answer).removesuffix(".0") for text, answer in own.items()
        }
        for key, own in answers.items()
    }


def _typed(answers: Mapping[int, Mapping[str, str]]) -> tuple[Sequence[Question], Answers]:
    """The questions that have these answers, and these, numbers as numbers."""
    questions = questions_of(answers.values())
    numbers = {question.text for question in questions if question.kind == "number"}
    typed = {
        key: {text: float(answer) if text in numbers else answer for text, answer in own.items()}
        for key, own in answers.items()
    }
    return questions, typed


def _store(study: Study, questions: Sequence[Question], answers: Answers, fewer: int) -> None:
    """Store these answers and no others. `fewer`: how many annotators have none any more; as the version rises by more,
    `version_of_groups` rises."""
    now = timezone.now()
    questionnaire, _new = Questionnaire.objects.update_or_create(
        study=study,
        place=Questionnaire.Place.PLATFORM,
        defaults={"version": next_version(study) + fewer, "questions": to_json(questions), "at": now},
    )
    AnsweredQuestionnaire.objects.filter(questionnaire=questionnaire).delete()
    AnsweredQuestionnaire.objects.bulk_create(
        AnsweredQuestionnaire(annotator_id=key, questionnaire=questionnaire, answers=own, at=now)
        for key, own in answers.items()
    )
