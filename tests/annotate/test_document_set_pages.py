"""The page that says whether scores depend on the document set, its pictures and its files."""

from __future__ import annotations

import re

import pytest

from annotate import imports
from annotate.models import Study
from preferendum import formats
from preferendum.results import DocumentSetsReport
from tests import kept
from tests.annotate import making, scored
from tests.annotate.everything import study_once
from tests.annotate.reading import address, rows_of, signed_in, text_of

pytestmark = pytest.mark.django_db

WORDS = ["rain", "fell", "in", "the", "towns", "of", "Ohio", "and", "schools", "were", "closed", "for", "three", "days"]
#: A name that is no good citizen of an address, of a page or of a table.
ODD = 'T3 & "<b>'


def compared_study() -> Study:
    """Four topics that differ very much, six machines, a person, two references; in one topic a score is missing."""
    made = making.study(title="Sets")
    references = (formats.Text("A", " ".join(WORDS[:9])), formats.Text("B", " ".join(WORDS[3:])))
    person = formats.Summary("A", references[0].text, human={"overall": 9.5, "style": 4.0}, person=True, reference="A")
    topics = tuple(
        formats.Topic(
            name,
            documents=(),
            references=references,
            summaries=(
                *(
                    formats.Summary(
                        f"system {k}",
                        " ".join(WORDS[k : k + 5]),
                        human={"overall": k / 2 + 3 * number, "style": k % 3.0},
                    )
                    for k in range(6)
                    if (number, k) != (2, 5)
                ),
                person,
            ),
        )
        for number, name in enumerate(["T0", "T1", "T2", ODD])
    )
    imports.store(made, formats.Bundle(topics=topics))
    assert scored.tasks.catch_up(made.pk) == {}
    scored.score_with_metrics(made)
    return made


made_study, compared = study_once(compared_study)


def record(made: Study, peers: str = "machines") -> DocumentSetsReport:
    return kept.rows("document-sets", peers, study=made).get().read(DocumentSetsReport)


def test_the_page_tests_people_and_every_metric(compared: Study) -> None:
    text = text_of(signed_in(compared), address(compared, "document-sets"))
    assert text.index("People: overall") < text.index("ROUGE-1") < text.index("JS divergence from the consensus")
    human = record(compared).scorers[0]
    assert human.kruskal is not None
    assert f">{human.kruskal.statistic:.1f}<" in text
    assert f"{human.different} of 6 pairs of topics differ" in text
    assert "Topics by mean rank: People: overall" in text
    assert "People ahead" not in text
    assert address(compared, "document-sets") in text_of(signed_in(compared), address(compared, "metric-agreement"))


def test_the_topics_that_differ_from_the_chosen_one_are_marked(compared: Study) -> None:
    client = signed_in(compared)
    plain = text_of(client, address(compared, "document-sets"))
    assert plain.count('class="differs"') == plain.count('class="chosen"') == 0
    (differing,) = (topic.differs for topic in record(compared).scorers[0].sets if topic.topic == ODD)
    assert differing
    link = next(link for link in re.findall(r'<a href="(\?[^"]*#topics)"', plain) if "T3" in link)
    chosen = client.get(
        address(compared, "document-sets") + link.replace("&amp;", "&").partition("#")[0]
    ).content.decode()
    # Drawn wide and drawn narrow.
    assert chosen.count('class="chosen"') == 2
    assert chosen.count('class="differs"') == 2 * len(differing)
    assert "T3 &amp; &quot;&lt;b&gt; differs from" in chosen
    assert text_of(client, address(compared, "document-sets"), topic="nothing").count('class="chosen"') == 0


def test_a_metric_and_people_among_the_systems_can_be_chosen(compared: Study) -> None:
    text = text_of(
        signed_in(compared), address(compared, "document-sets"), peers="all", by="rouge-1:jackknife", dimension="style"
    )
    assert "All scores: ROUGE-1, one reference less" in text
    assert "ROUGE-1, one reference less against human style" in text
    assert "People: style" in text
    assert "People: overall" not in text
    assert "People ahead" in text
    unknown = text_of(
        signed_in(compared), address(compared, "document-sets"), peers="nobody", by="nothing", dimension="nothing"
    )
    assert "All scores: People: overall" in unknown


def test_every_score_is_a_cell_and_a_missing_one_is_crossed_out(compared: Study) -> None:
    text = text_of(signed_in(compared), address(compared, "document-sets"))
    assert text.count("T2, system ") == 6
    cell = re.search(r'fill="([#\w]+)"><title>T2, system 5: (.*?)</title>', text)
    assert cell is not None
    assert cell.groups() == ("none", "no score")


def test_the_files_say_what_the_record_says(compared: Study) -> None:
    def rows(part: str, **asked: str) -> list[dict[str, str]]:
        return rows_of(signed_in(compared), address(compared, "document-sets", part), **asked)

    report = record(compared, "all")
    first = next(scorer for scorer in report.scorers if scorer.by == "overall")
    assert first.kruskal is not None
    tests = rows("tests", peers="all")
    assert [row["scorer"] for row in tests][:2] == ["people", "metric"]
    assert float(tests[0]["kruskal_p"]) == first.kruskal.p
    scorers = [one for one in report.scorers if not one.by_human or one.by == "style"]
    assert [(row["by"], row["kruskal_p"]) for row in rows("tests", peers="all", dimension="style")] == [
        (one.by, str(one.kruskal.p) if one.kruskal else "") for one in scorers
    ]
    ranks = {row["topic"]: float(row["mean_rank"]) for row in rows("topics", peers="all")}
    assert ranks == {topic.topic: topic.mean_rank for topic in first.sets}
    scores = rows("scores", peers="all")
    assert [(row["system"], row["machine"]) for row in scores[:7]][-1] == ("A", "0")
    assert sum(row["score"] == "" for row in scores) == 1
    points = rows("scatter", peers="all", by="rouge-2:jackknife")
    scatter = next(one for one in report.scatters if (one.dimension, one.metric) == ("overall", "rouge-2:jackknife"))
    assert [float(row["human overall"]) for row in points] == [point.y for point in scatter.points]


def test_a_picture_of_nothing_is_not_there() -> None:
    """One topic: there is nothing to compare, and the page says so with dashes."""
    made = making.study()
    summaries = tuple(formats.Summary(name, f"Rain in {name}.", human={"overall": 1.0}) for name in "ab")
    references = (formats.Text("A", "Rain in Ohio."),)
    imports.store(made, formats.Bundle(topics=(formats.Topic("T", (), references=references, summaries=summaries),)))
    scored.score_with_metrics(made)
    client = signed_in(made)
    assert "Topics by mean rank" not in text_of(client, address(made, "document-sets"))
    assert client.get(address(made, "document-sets", "topics", "svg")).status_code == 404
    assert client.get(address(made, "document-sets", "tests")).status_code == 200
