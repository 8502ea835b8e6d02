"""The page that says how metrics agree with people, and its files: what a researcher reads and takes along."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

import formats
from annotate import imports, judging
from annotate.models import Fit, Result, Study
from evaluation.worker import claims
from formats.analyses import convergence
from formats.results import Convergence, DimensionAgreement, PairCounts, Passing, StudyConvergence, from_json
from tests import kept
from tests.annotate import scored
from tests.annotate.making import owner, study
from tests.annotate.test_api import API, client_of
from tests.annotate.test_monitor import signed_in

pytestmark = pytest.mark.django_db

GRADES = {"first & best": ("Heavy rain flooded three towns in Ohio.", 4.0), "=second": ("He wore a hat.", 1.0)}
GRADES |= {"third": ("It rained in Ohio. Schools in the towns were closed.", 3.0)}


@pytest.fixture
def graded() -> Study:
    return graded_study()


def graded_study() -> Study:
    """Three topics, three systems, people's scores in two dimensions, judgments, and what the worker makes of them."""
    made = study(title="Rain")
    topics = tuple(
        formats.Topic(
            f"T{number}",
            documents=scored.RAIN.documents,
            references=scored.RAIN.references if number else (),
            summaries=tuple(
                formats.Summary(system, text, human={"overall": grade + number, "style_2": grade % 3})
                for system, (text, grade) in GRADES.items()
            ),
        )
        for number in range(3)
    )
    imports.store(made, formats.Bundle(topics=topics))
    scored.judge(made, *((f"T{number}", "d1:0", "d2:2", "a") for number in range(3)))
    assert scored.tasks.catch_up(made.pk) == {}
    scored.score_with_metrics(made)
    return made


def address(made: Study, form: str = "", part: str = "agreement") -> str:
    return reverse(f"analysis{form}", args=[made.pk, "metric-agreement", *([part] if form else [])])


def text_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_compares_every_metric_with_people_preferences_first(graded: Study) -> None:
    text = text_of(signed_in(graded), address(graded))
    table = text.partition("<tbody>")[2]
    named = [table.index(name) for name in ("Preferences: importance", "Preferences: as published", "ROUGE-2")]
    assert named == sorted(named)
    assert "Agreement with human overall" in text
    assert "Pyramid needs Pyramids. Topics without one: T0, T1, T2." in text
    assert "ROUGE-1 needs references. Topics without any: T0." in text


def test_another_dimension_can_be_chosen(graded: Study) -> None:
    assert "Agreement with human style_2" in text_of(signed_in(graded), address(graded) + "?dimension=style_2")
    assert "Agreement with human overall" in text_of(signed_in(graded), address(graded) + "?dimension=nothing")


def test_without_human_scores_it_says_what_to_upload() -> None:
    made = study()
    text = text_of(signed_in(made), address(made))
    assert "Upload what people think of the summaries" in text
    assert reverse("upload_new", args=[made.pk]) in text


def test_before_the_worker_it_says_that_figures_are_to_come(graded: Study) -> None:
    graded.results.all().delete()
    assert "Being worked out" in text_of(signed_in(graded), address(graded))
    assert signed_in(graded).get(address(graded, "_csv")).status_code == 404


def test_an_open_page_hears_of_new_judgments_alone(graded: Study) -> None:
    client = signed_in(graded)
    (seen,) = re.findall(r"seen=([^\"&]*)", text_of(client, address(graded)))
    assert client.get(f"{address(graded)}?seen={seen}").status_code == 204
    scored.judge(graded, ("T1", "d1:1", "d2:2", "b"), ("T1", "d1:1", "d1:0", "a"))
    assert scored.tasks.catch_up(graded.pk) == {}
    scored.score_with_metrics(graded)
    assert 'hx-select="#analysis"' in text_of(client, f"{address(graded)}?seen={seen}")


def test_an_open_page_hears_of_intervals_and_of_mixed_rows(graded: Study) -> None:
    client = signed_in(graded)
    for analysis in ("intervals", "mixtures"):
        (seen,) = re.findall(r"seen=([^\"&]*)", text_of(client, address(graded)))
        Result.objects.update_or_create(
            study=graded, analysis=analysis, choice="", defaults={"turns": 1_000, "computed_at": timezone.now()}
        )
        assert client.get(f"{address(graded)}?seen={seen}").status_code == 200


def test_intervals_and_tests_are_of_the_figures_that_they_stand_beside(graded: Study) -> None:
    client = signed_in(graded)
    text = text_of(client, address(graded))
    assert "ahead by" in text
    assert "differ significantly from Preferences: importance (Holm)" in text
    assert "are being worked out" not in text
    row = kept.rows("metrics", "machines", "overall").get()
    row.record["metrics"][0]["agreement"]["value"] = 0.125
    row.save()
    kept.heads("intervals").update(version=0)
    text = text_of(client, address(graded))
    assert "Intervals and tests of the newest figures are being worked out." in text
    assert "ahead by" not in text
    assert "significantly" not in text.partition("correlation-system")[0]
    rows = list(csv.DictReader(io.StringIO(text_of(client, address(graded, "_csv")))))
    assert (rows[0]["agreement"], rows[0]["low"], rows[1]["low"] != "") == ("0.125", "", True)
    assert {row["holm"] for row in rows} == {""}


def test_the_files_say_what_the_page_says(graded: Study) -> None:
    client = signed_in(graded)
    rows = list(csv.DictReader(io.StringIO(client.get(address(graded, "_csv")).content.decode())))
    assert [row["metric"] for row in rows][:2] == ["preferences:importance", "preferences:combined"]
    text = text_of(client, address(graded))
    for row in rows:
        assert f"{float(row['agreement']):.3f}" in text
    record = from_json(DimensionAgreement, kept.rows("intervals", "machines", "overall").get().record)
    for level, by_kind in record.metrics[0].correlations.items():
        first = next(csv.DictReader(io.StringIO(text_of(client, address(graded, "_csv", f"correlation-{level}")))))
        for kind, own in by_kind.items():
            said = [first[kind], first[f"{kind}_low"], first[f"{kind}_high"]]
            assert said == ["" if figure is None else str(figure) for figure in (own.value, own.low, own.high)]
    differences = list(csv.DictReader(io.StringIO(text_of(client, address(graded, "_csv", "differences")))))
    assert [row["second"] for row in differences] == [metric.metric for metric in record.metrics[1:]]
    svg = client.get(address(graded, "_svg")).content.decode()
    assert "agreement with people" in svg
    assert "Preferences: importance" in svg


def test_the_latex_table_is_plain_latex(graded: Study) -> None:
    table = signed_in(graded).get(address(graded, "_tex")).content.decode()
    body = [line for line in table.splitlines() if not line.startswith("%")]
    assert body[:2] == [r"\begin{tabular}{lrrrrrrr}", r"\toprule"]
    rows = [line for line in body if line.endswith(r"\\")]
    assert {line.count(" & ") for line in rows} == {7}
    assert all(line.isascii() for line in body)
    table = signed_in(graded).get(address(graded, "_tex", "correlation-system")).content.decode()
    assert [name in table for name in ("Pearson, r", r"Spearman, $\rho$", r"Kendall, $\tau$")] == [True] * 3


def test_the_api_has_the_same_figures(graded: Study) -> None:
    client = client_of(owner(graded))
    url = f"{API}/studies/{graded.pk}/results/metric-agreement/"
    found = client.get(f"{url}?dimension=style_2").json()
    assert found["choices"][0] == {"name": "dimension", "chosen": "style_2", "options": ["overall", "style_2"]}
    tables = {table["name"]: table["rows"] for table in found["tables"]}
    assert tables["agreement"][0]["metric"] == "preferences:importance"
    record = from_json(DimensionAgreement, kept.rows("metrics", "machines", "style_2").get().record)
    assert [row["agreement"] for row in tables["agreement"]] == [own.agreement.value for own in record.metrics]
    assert [row["agreement"] for row in tables["topics"]] == [
        topic.agreement for own in record.metrics for topic in own.topics
    ]
    assert client.get(f"{url}?dimension=nothing").status_code == 404
    assert client.get(f"{url}?peers=nobody").status_code == 404


def systems_address(made: Study, form: str = "") -> str:
    return reverse(f"analysis{form}", args=[made.pk, "pairs-of-systems", *(["pairs"] if form else [])])


def test_the_page_of_pairs_counts_what_people_and_metrics_tell_apart(graded: Study) -> None:
    client = signed_in(graded)
    text = text_of(client, systems_address(graded) + "?dimension=style_2").partition("<tbody>")[2]
    assert text.index("People: style_2") < text.index("Preferences: importance") < text.index("ROUGE-2")
    assert "People: overall" not in text
    assert "Benjamini" in text
    assert "Pyramid needs Pyramids. Topics without one: T0, T1, T2." in text


def pair_counts(dimension: str) -> PairCounts:
    return from_json(PairCounts, kept.rows("pairs-of-systems", "machines", "people", dimension).get().record["counts"])


def test_the_file_of_pairs_says_what_the_record_says(graded: Study) -> None:
    content = signed_in(graded).get(systems_address(graded, "_csv")).content.decode()
    first, *others = csv.DictReader(io.StringIO(content))
    count = pair_counts("overall").counts[0]
    assert (first["scorer"], first["by"], first["corrected"], first["pairs"]) == ("people", "overall", "no", "3")
    assert {test: int(first[test]) for test in count.p} == count.p
    assert {row["scorer"] for row in others[2:]} == {"metric"}


def test_pairs_that_are_to_come_and_pairs_that_never_come_look_different(graded: Study) -> None:
    kept.rows("pairs-of-systems").delete()
    assert "Not worked out here" in text_of(signed_in(graded), systems_address(graded))
    kept.heads("pairs-of-systems").update(version=0)
    assert "Being worked out" in text_of(signed_in(graded), systems_address(graded))
    assert signed_in(graded).get(systems_address(graded, "_csv")).status_code == 404
    assert "Nothing to work with yet" in text_of(signed_in(other := study()), systems_address(other))


def test_too_few_draws_for_so_many_pairs_are_a_dash_not_a_zero(graded: Study) -> None:
    row = kept.rows("pairs-of-systems", "machines", "people", "overall").get()
    row.record["counts"]["draws"] = 10
    row.save()
    text = text_of(signed_in(graded), systems_address(graded))
    assert "A dash:" in text
    rows = list(csv.DictReader(io.StringIO(signed_in(graded).get(systems_address(graded, "_csv")).content.decode())))
    assert [rows[1][test] for test in ("corrected", "t", "swap")] == [
        "Holm",
        str(pair_counts("overall").counts[0].holm["t"]),
        "",
    ]


def test_the_api_counts_the_same_pairs(graded: Study) -> None:
    url = f"{API}/studies/{graded.pk}/results/pairs-of-systems/?dimension=style_2"
    rows = client_of(owner(graded)).get(url).json()["tables"][0]["rows"]
    counted = pair_counts("style_2").counts[0]
    assert {test: rows[0][test] for test in counted.p} == counted.p
    assert next(row["by"] for row in rows if row["scorer"] == "metric") == "preferences:importance"


def test_simulated_judgments_stand_beside_peoples_in_rows_of_their_own(graded: Study) -> None:
    client = signed_in(graded)
    assert "as in table 2" not in text_of(client, address(graded))
    scored.mix(graded)
    text = text_of(client, address(graded))
    table = text.partition("<tbody>")[2]
    assert table.index("Preferences: as published") < table.index("man+ref, importance")
    assert "200 a topic that are simulated" in text
    assert "are of earlier judgments" not in text
    kept.heads("mixtures").update(version=0)
    assert "The rows with simulated judgments are of earlier judgments" in text_of(client, address(graded))


def test_the_page_says_how_long_judging_took(graded: Study) -> None:
    client = signed_in(graded)
    assert "minutes a topic" not in text_of(client, address(graded))
    timed = formats.Preference("T0", "d1:0", "d1:1", "a", annotator="w1", seconds=90.0)
    judging.import_judgments(graded, [timed])
    text = text_of(client, address(graded))
    assert "Judging took 1.5 minutes a topic on average, over 1 topic whose time is known." in text
    assert text_of(client, address(graded, "_csv", "minutes")).split() == ["topic,minutes", "T0,1.5"]


def curves_address(made: Study, form: str = "", part: str = "curves") -> str:
    return reverse(f"analysis{form}", args=[made.pk, "convergence", *([part] if form else [])])


def curves_of(dimension: str) -> Convergence:
    return from_json(StudyConvergence, kept.rows("convergence", "machines", dimension).get().record).curves


def test_the_page_of_curves_says_from_how_many_judgments_on_preferences_are_ahead(graded: Study) -> None:
    client = signed_in(graded)
    text = text_of(client, curves_address(graded) + "?dimension=style_2")
    assert "Agreement with human style_2 by number of judgments" in text
    assert "The curves rest on: 3 by people (computed" in " ".join(text.split())
    assert "judgments a topic" in text
    assert "agrees better with people than ROUGE-2" in text or "does not agree better with people than ROUGE-2" in text
    assert "first &amp; best" not in text
    assert curves_address(graded) in text_of(client, address(graded))


@pytest.mark.parametrize(
    ("passing", "said", "shortly"),
    [
        (Passing("preferences:importance", "rouge-2", 50), "From 50 judgments a topic on", "from 50"),
        (
            Passing("preferences:importance", "rouge-2", None, 1_297),
            "about 1000 more judgments a topic",
            "about 1000 more",
        ),
        (Passing("preferences:importance", "rouge-2", None), "it will not with many more", "not in sight"),
    ],
)
def test_words_say_what_is_passed_and_what_is_still_needed(passing: Passing, said: str, shortly: str) -> None:
    assert said in convergence.words(passing, 300)
    assert convergence.shortly(passing, 300) == shortly


def test_older_curves_stay_with_what_they_rest_on_while_newer_ones_are_worked_out(graded: Study) -> None:
    scored.judge(graded, ("T1", "d1:1", "d2:2", "b"))
    assert scored.tasks.catch_up(graded.pk) == {}
    scored.tasks.compare_metrics(graded.pk)
    client = signed_in(graded)
    text = " ".join(text_of(client, curves_address(graded)).split())
    assert "Newer data are being worked in." in text
    assert "The curves rest on: 3 by people (computed" in text
    said = client_of(owner(graded)).get(f"{API}/studies/{graded.pk}/results/convergence/").json()
    assert said["is_old"]
    assert said["rests_on"].startswith("The curves rest on: 3 by people (computed")
    kept.heads("convergence").update(record={"sampled": 1, "to_sample": 3})
    claims.give_sign_of_life("worker")
    assert "1 of 3 topics are worked out" in text_of(client, curves_address(graded))


def test_an_open_page_of_curves_hears_of_progress_alone(graded: Study) -> None:
    client = signed_in(graded)
    for sampled in (0, 1):
        (seen,) = re.findall(r"seen=([^\"&]*)", text_of(client, curves_address(graded)))
        assert client.get(f"{curves_address(graded)}?seen={seen}").status_code == 204
        kept.heads("convergence").update(version=0, record={"sampled": sampled, "to_sample": 3})
        assert client.get(f"{curves_address(graded)}?seen={seen}").status_code == 200


def test_curves_that_are_to_come_and_curves_that_never_come_look_different(graded: Study) -> None:
    kept.rows("convergence").delete()
    client = signed_in(graded)
    assert "Not worked out here" in text_of(client, curves_address(graded))
    kept.heads("convergence").update(version=0)
    assert "Being worked out" in text_of(client, curves_address(graded))
    assert client.get(curves_address(graded, "_csv", "samples")).status_code == 404
    Fit.objects.all().delete()
    assert "As soon as a topic with human scores has judgments" in text_of(client, curves_address(graded))
    assert "Nothing to work with yet" in text_of(signed_in(other := study()), curves_address(other))


def test_the_files_of_curves_say_what_the_record_says(graded: Study) -> None:
    client = signed_in(graded)
    record = curves_of("overall")
    rows = list(csv.DictReader(io.StringIO(text_of(client, curves_address(graded, "_csv", "samples")))))
    whole = [row for row in rows if not row["topic"]]
    assert float(whole[0]["agreement"]) == record.metrics[0].points[0].agreement
    assert [row["metric"] for row in whole if not row["judgments"]] == [own.metric for own in record.baselines]
    svg = client.get(curves_address(graded, "_svg")).content.decode()
    assert svg.count("<polyline") == len(record.metrics) + sum(own.agreement is not None for own in record.baselines)
    assert "3 by people" in svg
    for part, rows_of_it in (
        ("agreement", len(record.sizes)),
        ("passings", len(record.passings)),
        ("metrics", len(record.metrics + record.baselines)),
    ):
        table = text_of(client, curves_address(graded, "_tex", part))
        assert len([line for line in table.splitlines() if line.endswith(r"\\")]) == 1 + rows_of_it
        assert "3 by people" in table


def test_the_api_has_the_same_curves(graded: Study) -> None:
    client = client_of(owner(graded))
    url = f"{API}/studies/{graded.pk}/results/convergence/"
    tables = {table["name"]: table["rows"] for table in client.get(f"{url}?dimension=style_2").json()["tables"]}
    record = curves_of("style_2")
    assert [row["judgments"] for row in tables["agreement"]] == list(record.sizes)
    for metric in record.metrics:
        assert [row[metric.metric] for row in tables["agreement"]] == [point.agreement for point in metric.points]
    said = {(row["metric"], row["than"], row["judgments"], row["expected"]) for row in tables["passings"]}
    assert said == {(own.metric, own.baseline, own.judgments, own.expected) for own in record.passings}
    assert client.get(f"{url}?dimension=nothing").status_code == 404


def test_the_page_of_curves_asks_at_most_twenty_times(graded: Study, django_assert_max_num_queries: Any) -> None:
    client = signed_in(graded)
    with django_assert_max_num_queries(20):
        client.get(curves_address(graded))
