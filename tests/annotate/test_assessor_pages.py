"""The page about those who score summaries, and its files: what it says, and why it says nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from annotate import imports
from annotate.models import Study, Topic
from evaluation.records import at_work
from evaluation.records.assessors import load_assessed
from preferendum import formats
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.pyramid import Annotation
from preferendum.formats.readers.pyramid_json import annotation_from
from preferendum.formats.readers.ratings import means
from preferendum.methods.analyses.assessors import compute as study_assessors
from preferendum.methods.analyses.assessors import show as assessors
from preferendum.results import (
    AssessedDimension,
    AssessorFigure,
    AssessorRanking,
    AssessorsReport,
    Figure,
    WithoutWorst,
)
from tests import kept
from tests.annotate import making, scored
from tests.annotate.everything import study_once
from tests.annotate.reading import address, rows_of, signed_in, text_of
from tests.test_house import ROOT

pytestmark = pytest.mark.django_db

WORDS = ["rain", "fell", "in", "the", "towns", "of", "Ohio", "and", "schools", "were", "closed", "for", "three", "days"]
#: A name that is no good citizen of an address, of a page or of a table.
ODD = '"Ada" & <b>'
ASSESSORS = (ODD, "Bob", "Cleo")


def pyramid(assessor: str) -> Annotation:
    """D0999, with the systems of the study."""
    given = json.loads((ROOT / "tests" / "data" / "pyramid_D0999.json").read_text())
    annotation = annotation_from(Place(Complaints(), ""), given, {}, {})
    assert annotation is not None
    peers = {f"system {k}": peer for k, peer in enumerate(annotation.peers.values())}
    return replace(annotation, peers=peers, assessor=assessor)


def ratings(number: int, k: int) -> dict[str, dict[str, float]]:
    """Of "overall" by all, the last one's upside down; of "style" by one for a topic."""
    given = {who: {"overall": float(k + number % 2)} for who in ASSESSORS[:2]}
    given["Cleo"] = {"overall": 5.0 - k}
    given[ASSESSORS[number % 3]] |= {"style": float((k + number) % 4)}
    return given


def work_on(made: Study) -> None:
    """What the page rests on, by the real worker."""
    for key in Topic.objects.unscored().filter(study=made).values_list("pk", flat=True):
        scored.tasks.score_with_metrics(key)
    scored.tasks.TASKS["compare_metrics"](made.pk)
    scored.tasks.TASKS["assessors"](made.pk)


def rated(system: str, text: str, given: dict[str, dict[str, float]]) -> formats.Summary:
    return formats.Summary(system, text, human=means(given), ratings=given)


def assessed_study(pyramids_by: str | None = ODD) -> Study:
    """Nine topics with six machines, of which three give the same summary, and a person; three assessors."""
    made = making.study(title="Assessed")
    references = (formats.Text("A", " ".join(WORDS[:9])), formats.Text("B", " ".join(WORDS[3:])))
    person = formats.Summary("A", references[0].text, human={"overall": 5.5}, person=True, reference="A")
    topics = tuple(
        formats.Topic(
            f"T{number}",
            documents=(),
            references=references,
            summaries=(
                *(rated(f"system {k}", " ".join(WORDS[max(k - 3, 0) :][:5]), ratings(number, k)) for k in range(6)),
                person,
            ),
            pyramid=pyramid(pyramids_by) if number < 2 and pyramids_by is not None else None,
        )
        for number in range(9)
    )
    imports.store(made, formats.Bundle(topics=topics))
    assert scored.tasks.catch_up(made.pk) == {}
    work_on(made)
    return made


made_study, assessed = study_once(assessed_study)


def record(made: Study, peers: str = "machines") -> AssessorsReport:
    return kept.rows("assessors", peers, study=made).get().read(AssessorsReport)


def without_ratings(**human: float) -> Study:
    """One topic with two different summaries, which somebody scored."""
    made = making.study()
    summaries = tuple(formats.Summary(name, f"Rain in {name}.", human=human) for name in "ab")
    references = (formats.Text("A", "Rain in Ohio."),)
    imports.store(made, formats.Bundle(topics=(formats.Topic("T", (), references=references, summaries=summaries),)))
    work_on(made)
    return made


def test_the_worker_reports_every_dimension_and_the_pyramids(assessed: Study) -> None:
    told = {own.dimension: [ranking.basis for ranking in own.rankings] for own in record(assessed).dimensions}
    assert told == {
        "overall": ["consistency", "agreement"],
        "style": ["consistency"],
        "pyramid": ["consistency", "auto_pyramid"],
    }
    overall = next(own for own in record(assessed).dimensions if own.dimension == "overall")
    consistency, agreement = overall.rankings
    assert {figure.value.n for figure in consistency.assessors} == {9 * 6}
    assert agreement.assessors[-1].assessor == "Cleo"
    assert agreement.without[1].left_out == ("Cleo",)
    assert agreement.without[1].pearson == pytest.approx(1)
    assert overall.ratings == 9 * 6 * 3
    assert record(assessed, "all").dimensions[0].unattributed == 9


def test_the_page_has_every_figure_with_its_interval_and_what_changes(assessed: Study) -> None:
    text = text_of(signed_in(assessed), address(assessed, "assessors"))
    assert {">Consistency</bdi>", ">Agreement</bdi>", ">Pyramid, manual less automatic</bdi>"} <= set(
        re.findall(r">[^<>]+</bdi>", text)
    )
    assert "&quot;Ada&quot; &amp; &lt;b&gt;" in text
    figure = record(assessed).dimensions[0].rankings[1].assessors[-1]
    assert figure.value.value is not None
    assert f"{figure.value.value:.2f}" in text
    assert f">{figure.value.n}</td>" in text
    assert f">{figure.difference.value:.2f}<" in text  # type: ignore[union-attr]
    assert "The ranking of systems without the worst assessors" in text
    assert "Metrics without the worst assessors: overall" in text
    assert "ROUGE-2" in text
    assert "nothing is deleted" in text


def test_another_dimension_and_people_among_the_systems_can_be_chosen(assessed: Study) -> None:
    client = signed_in(assessed)
    assert "worst assessors: style</h3>" in text_of(client, address(assessed, "assessors"), scores="human:style")
    assert "worst assessors: Pyramids</h3>" in text_of(client, address(assessed, "assessors"), scores="pyramids")
    assert "worst assessors: overall</h3>" in text_of(client, address(assessed, "assessors"), scores="style")
    text = text_of(client, address(assessed, "assessors"), scores="nothing", peers="all")
    assert "ROUGE-2, one reference less" in text
    assert "9 scores for overall name no assessor." in text


def test_it_says_in_words_why_something_is_absent() -> None:
    made = without_ratings(overall=3.0)
    text = text_of(signed_in(made), address(made, "assessors"))
    assert "The human scores do not say who gave them." in text
    assert "Upload the ratings of each assessor" in text

    nobody = assessed_study(pyramids_by="")
    assert "The Pyramids do not say who annotated them" in text_of(signed_in(nobody), address(nobody, "assessors"))
    none = assessed_study(pyramids_by=None)
    assert "No summary was annotated with a Pyramid." in text_of(signed_in(none), address(none, "assessors"))


def test_without_identical_summaries_and_with_one_assessor_nothing_can_be_told() -> None:
    made = making.study()
    summaries = tuple(rated(name, f"Rain in {name}.", {"Ada": {"overall": 3.0}}) for name in "ab")
    references = (formats.Text("A", "Rain in Ohio."),)
    imports.store(made, formats.Bundle(topics=(formats.Topic("T", (), references=references, summaries=summaries),)))
    work_on(made)
    text = text_of(signed_in(made), address(made, "assessors"))
    assert "Nobody scored two summaries of a topic that have the same text" in text
    assert "No summary was scored by two assessors in the same dimension" in text
    assert "without the worst assessors" not in text
    assert signed_in(made).get(address(made, "assessors", "figures")).status_code == 404


@pytest.mark.parametrize(
    ("module", "limit", "low"),
    [(study_assessors, "MOST_PAIRS", 10), (at_work, "load_assessed", lambda study, _most: load_assessed(study, 10))],
)
def test_too_many_ratings_are_left_to_the_command_line(
    assessed: Study, monkeypatch: pytest.MonkeyPatch, module: Any, limit: str, low: Any
) -> None:
    monkeypatch.setattr(module, limit, low)
    kept.heads("assessors").update(version=0)
    scored.tasks.TASKS["assessors"](assessed.pk)
    assert "Not worked out here" in text_of(signed_in(assessed), address(assessed, "assessors"))


def test_the_files_say_what_the_record_says(assessed: Study) -> None:
    def rows(part: str) -> list[dict[str, str]]:
        return rows_of(signed_in(assessed), address(assessed, "assessors", part))

    overall = record(assessed).dimensions[0]
    figures = [row for row in rows("figures") if (row["dimension"], row["figure"]) == ("overall", "agreement")]
    assert [row["assessor"] for row in figures] == [own.assessor for own in overall.rankings[1].assessors]
    assert [float(row["value"]) for row in figures] == [own.value.value for own in overall.rankings[1].assessors]
    ranks = [row for row in rows("ranks") if (row["dimension"], row["figure"]) == ("overall", "agreement")]
    assert [row["without"].count("; ") + bool(row["without"]) for row in ranks] == [0, 1, 2]
    beside = [row for row in rows("metrics") if row["metric"] == "rouge-2"]
    assert {row["dimension"] for row in beside} == {"overall"}
    expected = [row for ranking in overall.rankings for row in ranking.without]
    assert [float(row["systems_r"]) for row in beside] == [
        own.systems.value for row in expected for own in row.metrics if own.metric == "rouge-2"
    ]
    style = rows_of(signed_in(assessed), address(assessed, "assessors", "metrics"), peers="all", scores="human:style")
    assert {row["dimension"] for row in style} == {"style"}


def test_the_verdict_names_the_best_the_worst_and_what_the_worst_one_changes() -> None:
    def figure(name: str, value: float, *, is_ranked: bool = True) -> AssessorFigure:
        return AssessorFigure(name, Figure(value, 9, low=value - 0.1, high=value + 0.1), is_ranked=is_ranked)

    left = (WithoutWorst((), 9, 54, 1.0, 1.0, ()), WithoutWorst(("Cleo",), 9, 36, 0.9876, 1.0, ()))
    told = (figure("Ada", 0.9), figure("Bob", 0.5), figure("Cleo", -0.25), figure("Dan", 1, is_ranked=False))
    few = replace(AssessorRanking("consistency", told, left), assessors=told[2:], without=left[:1])

    def verdict(ranking: AssessorRanking) -> str:
        dimension = AssessedDimension(
            "style", by_pyramid=False, assessors=4, ratings=54, unattributed=0, rankings=(ranking,)
        )
        return assessors.show(AssessorsReport("machines", False, (dimension,)), {}).verdict

    assert verdict(AssessorRanking("agreement", told, left)) == (
        "Agreement, style, 3 assessors: highest for Ada, 0.90 [0.80, 1.00], lowest for Cleo, "
        "-0.25 [-0.35, -0.15]; without Cleo, systems’ means correlate with those of all scores by r = 0.988."
    )
    assert verdict(few) == "Too little is known of the assessors of style to call one worse than another."
