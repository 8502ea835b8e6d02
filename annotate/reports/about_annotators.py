"""What annotators said about themselves, and what groups of them by their answers say of the systems."""

from __future__ import annotations

from django.db.models import Subquery
from django.utils.translation import gettext as _

from annotate.models import AnsweredQuestionnaire, Participation, Questionnaire, Result, Study, Summary
from annotate.models.analysis import ResultQuerySet
from annotate.reports.what_if import score_of
from preferendum.results import GroupOutcome
from preferendum.show.analyses.about_annotators import AboutAnnotators, Answered
from preferendum.show.analyses.annotator_groups import Group
from preferendum.show.points import why_untested
from preferendum.show.standing import by_author, rows_of, verdict


def of_study(study: Study) -> AboutAnnotators:
    """Questions that several versions ask are as the newest has them."""
    versions = Questionnaire.objects.filter(study=study).order_by("-version")
    questions = {question.text: question for version in reversed(versions) for question in version.asked}
    in_order = dict.fromkeys(question.text for version in versions for question in version.asked)
    rows = AnsweredQuestionnaire.objects.filter(annotator__study=study).order_by("annotator")
    columns = "annotator", "annotator__pseudonym", "questionnaire__place", "questionnaire__version", "answers"
    answered: dict[int, Answered] = {}
    for key, pseudonym, place, version, answers in rows.values_list(*columns):
        own = answered.get(key, Answered(key, pseudonym, None, {}))
        seen = own.version if place == Questionnaire.Place.PLATFORM else version
        answered[key] = Answered(key, pseudonym, seen, {**own.answers, **answers})
    return AboutAnnotators(tuple(questions[text] for text in in_order), tuple(answered.values()))


def results_of_groups(study: Study) -> ResultQuerySet:
    """Results since the last annotator withdrew and the answers of a platform changed: earlier ones may rest on an
    answer that is gone."""
    withdrawn = Participation.objects.filter(study=study, outcome=Participation.Outcome.WITHDRAWN)
    of_platform = Questionnaire.objects.filter(study=study, place=Questionnaire.Place.PLATFORM)
    ended = Study.objects.values_list(
        Subquery(withdrawn.order_by("-left_at").values("left_at")[:1]),
        Subquery(of_platform.order_by("-at").values("at")[:1]),
    ).get(pk=study.pk)
    last = max(filter(None, ended), default=None)
    return Result.objects.filter(computed_at__gt=last) if last else Result.objects.all()


def has_groups(study: Study) -> bool:
    """Whether the worker has ranked the systems by groups."""
    return results_of_groups(study).of_study(study, "groups-of-annotators").exclude(choice="").exists()


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
    ground = own.outcome.ground
    words = verdict(ranked, own.differences, ground) or why_untested(score) or ground.words
    return Group(name, own, words, score, [*((None, row) for row in people), *((row.rank, row) for row in ranked)])
