"""Assessors of a study's summaries, for its page: the command's report, where there is not too much of it."""

from __future__ import annotations

from collections.abc import Iterator

from preferendum.methods.analyses.assessors.consistency import number_of_pairs
from preferendum.methods.analyses.assessors.report import assessors_report
from preferendum.methods.meta.peers import judged_among
from preferendum.results import AssessorsReport
from preferendum.results.metrics import Peers
from preferendum.work import AtWork
from preferendum.work.ratings import Assessed
from preferendum.work.scores import Scores

#: More pairs of identical summaries that one assessor scored are left to the command line.
MOST_PAIRS = 100_000


def compute(study: AtWork) -> Iterator[None]:
    """Publish a report by peers."""
    reports = {} if study.ratings is None else study_assessors(study.scores.unmixed(), study.ratings)
    study.publish({(peers,): report for peers, report in reports.items()})
    yield


def study_assessors(scores: Scores, assessed: Assessed) -> dict[Peers, AssessorsReport]:
    """Report on assessors of machines' summaries and, if there are people's, of all; none where there is too much."""
    if number_of_pairs(assessed.ratings, assessed.texts) > MOST_PAIRS:
        return {}
    return {peers: assessors_report(own, assessed, peers) for peers, own in judged_among(scores)}
