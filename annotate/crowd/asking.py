"""Ask annotators about themselves: the questionnaire of a study, in versions, and each annotator's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.crowd.demographics import next_version
from annotate.judging.importing import moment
from annotate.models import Annotator, AnsweredQuestionnaire, Participation, Questionnaire, Study
from annotate.refusal import Refusal, cleaned, invalid
from preferendum.formats.checks.complaints import shown
from preferendum.formats.questionnaire import LONGEST_OPTION, MOST_OPTIONS, MOST_QUESTIONS, Question, why_unfit
from preferendum.results import to_json

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from preferendum.formats.archive.study_records import StudyArchive

Place = Questionnaire.Place


def questionnaire_of(study: Study) -> Questionnaire:
    """The newest version of our own questions; an unsaved one without any, of version 0, if there is none. Writes
    nothing."""
    asked = Questionnaire.objects.filter(study=study).exclude(place=Place.PLATFORM)
    return asked.order_by("-version").first() or Questionnaire(study=study, version=0)


@transaction.atomic
def set_questionnaire(study: Study, user: User, questions: Sequence[Question], place: str) -> Questionnaire:
    """Ask these questions from now on: a new version if anything changed. Earlier answers keep theirs.

    Raises `Refusal` for what no page could ask.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    asked = [checked_question(question) for question in questions]
    texts = [question.text for question in asked]
    if twice := next((text for text in texts if texts.count(text) > 1), None):
        raise invalid("questions", _("%(text)s is asked twice.") % {"text": shown(twice)})
    if len(asked) > MOST_QUESTIONS:
        raise invalid("questions", _("Ask at most %(most)d questions.") % {"most": MOST_QUESTIONS})
    newest = questionnaire_of(study)
    if (tuple(asked), place) == (newest.asked, newest.place) or not (asked or newest.version):
        return newest
    questionnaire = Questionnaire.objects.create(
        study=study, version=next_version(study), place=Place(place), questions=to_json(asked), at=timezone.now()
    )
    note(study, user, "change questionnaire", version=questionnaire.version, place=place, questions=texts)
    return questionnaire


def due(annotator: Annotator, place: str = "") -> Questionnaire | None:
    """What the annotator has still to answer, at this place if one is given. Only people answer, and only once."""
    if annotator.kind != Annotator.Kind.HUMAN or annotator.imported:
        return None
    questionnaire = questionnaire_of(annotator.study)
    if not questionnaire.questions or (place and questionnaire.place != place):
        return None
    if AnsweredQuestionnaire.objects.filter(annotator=annotator).exclude(questionnaire__place=Place.PLATFORM).exists():
        return None
    withdrawn = Participation.objects.filter(annotator=annotator, outcome=Participation.Outcome.WITHDRAWN)
    return None if withdrawn.exists() else questionnaire


@transaction.atomic
def answer_questionnaire(annotator: Annotator, version: str, answers: Mapping[str, Any]) -> None:
    """Store an annotator's answers by the texts of the questions; the first answers stand.

    Raises `Refusal` if the study asks another version by now, or an answer is missing or does not fit.
    """
    Study.objects.select_for_update(no_key=True).get(pk=annotator.study_id)  # they may be withdrawing in another tab
    questionnaire = due(annotator)
    if questionnaire is None or not Annotator.objects.filter(pk=annotator.pk).exists():
        return
    if str(questionnaire.version) != version:
        raise Refusal("another version of the questions", "changed")
    if unfit := why_unfit(questionnaire.asked, answers):
        raise invalid("answers", _("%(text)s has no answer that fits.") % {"text": shown(unfit)})
    AnsweredQuestionnaire.objects.create(
        annotator=annotator, questionnaire=questionnaire, answers=dict(answers), at=timezone.now()
    )


def restore_questionnaires(study: Study, archive: StudyArchive) -> None:
    """Store an archive's questionnaires and what the study's annotators answered."""
    now = timezone.now()
    versions = {
        own.version: Questionnaire(
            study=study, version=own.version, place=own.place, questions=to_json(own.questions), at=moment(own.at, now)
        )
        for own in archive.questionnaires
    }
    Questionnaire.objects.bulk_create(versions.values())
    keys = dict(Annotator.objects.filter(study=study).values_list("pseudonym", "pk"))
    AnsweredQuestionnaire.objects.bulk_create(
        AnsweredQuestionnaire(
            annotator_id=keys[given.annotator],
            questionnaire=versions[given.version],
            answers=given.answers,
            at=moment(given.at, now),
        )
        for given in archive.questionnaire_answers
    )


def checked_question(question: Question) -> Question:
    """The question as it is stored. Raises `Refusal` for one that no page could ask."""
    text = cleaned("questions", question.text)
    options = tuple(dict.fromkeys(filter(None, (cleaned("questions", option) for option in question.options))))
    checked = Question(text, question.kind, options if question.has_options else (), question.required)
    if not checked.is_askable or len(options) > MOST_OPTIONS or any(len(option) > LONGEST_OPTION for option in options):
        message = _("%(text)s needs 2 to %(most)d options, one a line, each of at most %(longest)d characters.")
        about = {"text": shown(text), "most": MOST_OPTIONS, "longest": LONGEST_OPTION}
        raise invalid("questions", message % about)
    return checked
