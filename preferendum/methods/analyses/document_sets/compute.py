"""Whether scores depend on the document set, for a study's page: the command's report, where it is not too large."""

from __future__ import annotations

from collections.abc import Iterator

from preferendum.methods.analyses.document_sets.report import document_sets_report
from preferendum.methods.meta.peers import judged_among
from preferendum.results import DocumentSetsReport
from preferendum.results.metrics import Peers
from preferendum.work import AtWork
from preferendum.work.scores import Scores

#: More topics, or more scores (topics x systems), are left to the command line: a page reads all of them at once.
MOST_TOPICS, MOST_SCORES = 200, 10_000


def compute(study: AtWork) -> Iterator[None]:
    """Publish a report by peers."""
    study.publish({(peers,): report for peers, report in study_sets(study.scores.unmixed()).items()})
    yield


def study_sets(scores: Scores) -> dict[Peers, DocumentSetsReport]:
    """The topics that people scored any summary of, among machines and, if there are people, among all."""
    return {peers: document_sets_report(own, peers) for peers, own in judged_among(scores) if _is_small(own)}


def _is_small(scores: Scores) -> bool:
    topics = len(scores.topics)
    return topics <= MOST_TOPICS and topics * len(scores.systems) <= MOST_SCORES
