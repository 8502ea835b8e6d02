"""Whether scores depend on the document set, for a study's page: the command's report, where it is not too large."""

from __future__ import annotations

from evaluation.meta.document_sets import document_sets_report
from evaluation.meta.scores import Scores
from evaluation.meta.study_reports import judged_among
from formats.results import DocumentSetsReport
from formats.results.metrics import Peers

#: More topics, or more scores (topics x systems), are left to the command line: a page reads all of them at once.
MOST_TOPICS, MOST_SCORES = 200, 10_000


def study_sets(scores: Scores) -> dict[Peers, DocumentSetsReport]:
    """The topics that people scored any summary of, among machines and, if there are people, among all."""
    return {peers: document_sets_report(own, peers) for peers, own in judged_among(scores) if _is_small(own)}


def _is_small(scores: Scores) -> bool:
    topics = len(scores.topics)
    return topics <= MOST_TOPICS and topics * len(scores.systems) <= MOST_SCORES
