"""What the recipe of an analysis says: the worker computes it, and pages, the API and files show it."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Study
from tests.annotate import making, scored
from tests.annotate.everything import program

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    made = scored.scored_study(metric_names="rouge-1,js")
    making.store(made, b"topic,system,dimension,score\nrain,off,pyramid,2\n", "scores.csv")
    scored.score_with_metrics(made)
    return made


def test_an_analysis_has_a_page_below_metrics_and_answers_its_question(client: Client, study: Study):
    client.force_login(making.owner(study))
    address = reverse("analysis", args=[study.pk, "counted-scores"])
    page = client.get(address).content.decode()
    assert "How many scores did each metric give?" in page
    assert "Scores by metric" in page
    metrics = client.get(reverse("analysis", args=[study.pk, "metric-agreement"])).content.decode()
    assert f'href="{address}' in metrics


def test_an_analysis_is_in_the_api_with_its_tables(study: Study):
    answer = program(making.owner(study)).get(f"/api/v1/studies/{study.pk}/results/counted-scores/").json()
    (table,) = answer["tables"]
    assert table["columns"] == ["metric", "scores"]
    assert {"metric": "js", "scores": 5} in table["rows"]


def test_an_analysis_has_files_for_papers_and_for_programs(client: Client, study: Study):
    client.force_login(making.owner(study))
    files = {
        form: b"".join(client.get(reverse(f"analysis_{form}", args=[study.pk, "counted-scores", "counts"]))).decode()
        for form in ("csv", "tex")
    }
    assert files["csv"].splitlines()[0] == "metric,scores"
    assert "\\begin{tabular}" in files["tex"]
