"""Assessors of a study's summaries, for its page: the command's report, where there is not too much of it."""

from __future__ import annotations

from preferendum.annotators.assessors import number_of_pairs
from preferendum.methods.meta.assessors import Assessed, assessors_report
from preferendum.methods.meta.scores import Scores
from preferendum.methods.meta.study_reports import judged_among
from preferendum.results import AssessorsReport
from preferendum.results.metrics import Peers

#: More ratings, or more pairs of identical summaries that one assessor scored, are left to the command line.
MOST_RATINGS, MOST_PAIRS = 100_000, 100_000


def study_assessors(scores: Scores, assessed: Assessed) -> dict[Peers, AssessorsReport]:
    """Report on assessors of machines' summaries and, if there are people's, of all; none where there is too much."""
    if number_of_pairs(assessed.ratings, assessed.texts) > MOST_PAIRS:
        return {}
    return {peers: assessors_report(own, assessed, peers) for peers, own in judged_among(scores)}
