"""What annotators said about themselves, and what groups of them by their answers say of the systems."""

from __future__ import annotations

from django.db.models import Max
from django.utils.translation import gettext as _

from annotate.models import AnsweredQuestionnaire, Participation, Questionnaire, Result, Study, Summary
from annotate.models.analysis import ResultQuerySet
from annotate.reports.what_if import score_of
from preferendum.results import GroupOutcome
from preferendum.show.analyses.about_annotators import AboutAnnotators, Answered
from preferendum.show.analyses.annotator_groups import Group
from preferendum.show.points import why_untested
from preferendum.show.standing import by_author, rows_of, tests_of, verdict


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


def results_of_groups(study: Study) -> ResultQuerySet:
    """Results since the last annotator withdrew: earlier ones rest on an answer that is gone."""
    withdrawn = Participation.objects.filter(study=study, outcome=Participation.Outcome.WITHDRAWN)
    last = withdrawn.aggregate(last=Max("left_at"))["last"]
    return Result.objects.filter(computed_at__gt=last) if last else Result.objects.all()


def groups(study: Study, asked: str) -> list[Group]:
    """The groups by the answers to a question, in the order of its options, all others last."""
    options = next((own.options for own in of_study(study).questions if own.text == asked), ())
    rows = results_of_groups(study).by_keys(study, "groups-of-annotators").items()
    named = {name: row.read(GroupOutcome) for (text, name), row in rows if text == asked}
    persons = Summary.human_authors(study.pk)
    in_order, score = sorted(named, key=lambda name: (*options, name).index(name)), score_of(study)
    return [_group(name or _("All others"), own, persons, score) for name in in_order if (own := named[name])]


def _group(name: str, own: GroupOutcome, persons: set[str], score: str) -> Group:
    people, ranked = by_author(rows_of(own.outcome.systems, own.differences, persons))
    tests = tests_of(ranked, own.differences)
    words = verdict(ranked, tests) if tests else why_untested(score) or own.outcome.ground.words
    return Group(name, own, words, score, [*((None, row) for row in people), *((row.rank, row) for row in ranked)])
