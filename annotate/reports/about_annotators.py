"""What annotators said about themselves."""

from __future__ import annotations

from annotate.models import AnsweredQuestionnaire, Questionnaire, Study
from formats.analyses.about_annotators import AboutAnnotators, Answered


def of_study(study: Study) -> AboutAnnotators:
    """Questions that several versions ask are as the newest has them."""
    versions = Questionnaire.objects.filter(study=study).order_by("-version")
    questions = {question.text: question for version in reversed(versions) for question in version.asked}
    in_order = dict.fromkeys(question.text for version in versions for question in version.asked)
    rows = AnsweredQuestionnaire.objects.filter(annotator__study=study).order_by("annotator")
    columns = "annotator", "annotator__pseudonym", "questionnaire__version", "answers"
    return AboutAnnotators(
        tuple(questions[text] for text in in_order), tuple(Answered(*row) for row in rows.values_list(*columns))
    )
