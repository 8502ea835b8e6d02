"""What the scores rest on: coverage of the topics, and sentences that fit badly."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.models import Study
from annotate.reports import diagnostics
from evaluation import tasks
from preferendum.results import Coverage, Misfit
from preferendum.show.analyses import coverage, misfits
from preferendum.show.analyses.coverage import TopicCoverage
from preferendum.show.analyses.misfits import MisfittingSentence
from tests.annotate import scored
from tests.annotate.reading import address, rows_of, signed_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    made = scored.scored_study(judgments_per_pair=3, smooth="none")
    for topic in made.topics.all():
        tasks.examine_topic(topic.pk)
    return made


def test_the_topics_page_has_a_line_of_each_and_files_have_what_the_worker_found(study: Study) -> None:
    client = signed_in(study)
    covered, found = diagnostics.coverage(study), diagnostics.misfits(study)
    assert covered
    assert found
    text = text_of(client, reverse("study_topics", args=[study.pk]))
    for verdict in (coverage.show(covered, {}).verdict, misfits.show(found, {}).verdict):
        assert verdict in text
    for name in ("coverage", "misfits"):
        assert client.get(address(study, name)).status_code == 404
    rows = rows_of(client, address(study, "coverage", "coverage"))
    assert [(row["topic"], int(row["judged"]), row["parts"]) for row in rows] == [
        (topic.topic, topic.coverage.judged, "; ".join(map(str, topic.coverage.parts))) for topic in covered
    ]
    rows = rows_of(client, address(study, "misfits", "misfits"))
    assert [(row["sentence"], row["text"], float(row["z"])) for row in rows] == [
        (one.name, one.text, one.misfit.z) for one in found
    ]


def test_the_verdicts_count_topics_sentences_and_the_worst_residual() -> None:
    whole = Coverage(4, (1, 1, 2), 3, (3,), (1, 1, 1))
    apart = Coverage(5, (0, 4, 1), 3, (3, 2), (3, 2))
    assert [whole.least, apart.least] == [0, 1]
    said = coverage.show([TopicCoverage("rain", 1, whole), TopicCoverage("snow", 2, apart)], {})
    assert said.verdict == (
        "Judgments tie the judged sentences of 1 of 2 topics together; 1 of 9 sentences have no judgment. Topics with "
        "more than one strongly connected component, where utilities depend on the prior or on similar sentences: 2."
    )
    assert said.tables[0].marked == {1}
    assert coverage.show([TopicCoverage("rain", 1, whole)] * 3, {}).verdict.startswith(
        "Judgments tie the judged sentences of 3 topics together; 3 of 12 sentences have no judgment."
    )

    def fits(*residuals: float) -> str:
        return misfits.show(
            [MisfittingSentence("rain", "d:0", "It rained.", Misfit(1, z, 5, 2.5, 6)) for z in residuals], {}
        ).verdict

    assert fits(-3.25, 2.5, 1.0) == (
        "2 sentences won unusually often or rarely (residual beyond ±2), at most by -3.25: one won 5 of 6, 2.5 "
        "expected."
    )
    assert fits(1.5) == fits() == "No sentence won unusually often or rarely: no residual is beyond ±2."
