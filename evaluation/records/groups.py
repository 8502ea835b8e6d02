"""Load groups of annotators by their answers about themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.models import AnsweredQuestionnaire, Result, Study
from annotate.models.analysis import of_head
from annotate.models.crowd import version_of_groups
from annotate.reports import about_annotators
from evaluation.records.annotators import Crowd, load_answers
from preferendum.formats.questionnaire import groups
from preferendum.work import Keys


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a study by question and answer, as keys of annotators in a `crowd` whose judgments count.

    `waiting`: those that are not worked out at this version, the oldest first.
    """

    study: Study
    version: int
    crowd: Crowd
    members: Mapping[Keys, Set[int]]
    waiting: Sequence[Keys]


def studies_ungrouped() -> QuerySet[Study]:
    """Studies whose groups of annotators are out of date. Adds the `wanted` version."""
    answered = Exists(AnsweredQuestionnaire.objects.filter(annotator__study=OuterRef("pk")))
    studies = Study.objects.annotate(wanted=version_of_groups(), done=of_head("groups-of-annotators"))
    return studies.filter(answered | Q(done__gt=0), wanted__gt=F("done"))


def load_groups(study_id: int) -> Groups | None:
    """The groups among annotators of the leading kind whose judgments count; None if nothing is out of date."""
    study = studies_ungrouped().filter(pk=study_id).first()
    loaded = load_answers(study_id)
    if study is None or loaded is None:
        return None
    version: int = study.wanted  # type: ignore[attr-defined]
    crowd, about = loaded.leading, about_annotators.of_study(study)
    everyone = frozenset(crowd.annotators[number] for number in crowd.judgments.annotator)
    answers = {own.key: own.answers for own in about.answered}
    members: dict[Keys, Set[int]] = {
        (question.text, name): own
        for question in about.questions
        for name, own in groups(question, answers, everyone).items()
    }
    done = {keys: row.version for keys, row in Result.objects.by_keys(study_id, "groups-of-annotators").items()}
    waiting = [keys for keys in members if done.get(keys, 0) < version]
    return Groups(study, version, crowd, members, sorted(waiting, key=lambda keys: done.get(keys, 0)))
