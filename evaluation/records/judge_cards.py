"""Load what machines and people say of whole summaries, and find the studies whose judge cards are out of date.

Helped boards are kept as `helped-boards`, under the judge's name, and their topics under its name and `TOPICS`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import Annotator, Judgment, Ranking, ScoredBy, Study, Tally
from annotate.models.analysis import of_head
from evaluation.records.win_rates import load_summarized, stop_rule_of
from preferendum.evidence import Evidence
from preferendum.formats.records import Preference
from preferendum.judged import Beside, joined, once
from preferendum.scoring.stopping import StopRule

HUMAN, MACHINE = Annotator.Kind.HUMAN, Annotator.Kind.MACHINE


@dataclass(frozen=True, slots=True)
class MachineAnswers:
    """The answers about whole summaries of a study at one version: people's, and each machine's by its pseudonym."""

    version: int
    topics: Sequence[Evidence]
    human: Sequence[Preference]
    machines: Mapping[str, Sequence[Preference]]
    stop_rule: StopRule | None

    @property
    def names(self) -> list[str]:
        """The machines, once people judged, too."""
        return sorted(self.machines) if self.human else []

    def joined(self) -> Beside:
        """The machines' answers, the first one of each pair in each order, with people's."""
        own = [once(self.machines[name]) for name in self.names]
        by_topic = defaultdict(list)
        for row in chain(self.human, *own):
            by_topic[row.topic].append(row)
        topics = [replace(topic, between_summaries=tuple(by_topic[topic.topic_id])) for topic in self.topics]
        return replace(joined(topics, own, self.names), stop_rule=self.stop_rule)


def studies_with_machines() -> QuerySet[Study]:
    """Studies where a machine judges, ranked by win rates after it was last held against people. Adds the `wanted`
    version."""
    ranked = Ranking.objects.filter(study=OuterRef("pk"), scored_by=ScoredBy.WIN_RATE).values("version")
    judging = Exists(Annotator.objects.arrived().filter(study=OuterRef("pk"), kind=MACHINE))
    studies = Study.objects.annotate(wanted=Subquery(ranked)).alias(done=of_head("judge-cards"))
    return studies.filter(judging | Q(done__gt=0), wanted__gt=F("done"))


def load_machines(study_id: int) -> MachineAnswers | None:
    """Everything as it was at one moment, whatever kinds count in the study; None where no machine is new."""
    with snapshot():
        study = studies_with_machines().filter(pk=study_id).first()
        if study is None:
            return None
        by_machine = defaultdict(list)
        for row in _about_summaries(study, MACHINE):
            by_machine[row.annotator].append(row)
        human = _about_summaries(study, HUMAN) if by_machine else []
        version: int = study.wanted  # type: ignore[attr-defined]
        stop_rule = stop_rule_of(study, Tally.objects.filter(item_set__study=study, of_summaries=True).count())
    return MachineAnswers(version, load_summarized(study_id) if human else (), human, by_machine, stop_rule)


def _about_summaries(study: Study, kind: str) -> list[Preference]:
    counted = Judgment.objects.counted(kind=kind)
    return list(exports.preferences(study, counted.filter(assignment__item_set__of="summaries")))
