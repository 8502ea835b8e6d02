"""Metrics and human scores beside the study's own: on pages of topics, summaries and systems, as a file, by calls."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from django.urls import reverse

from annotate import imports
from annotate.models import ComputedScore, Fit, HumanScore, Score, Study, Summary, System, Topic, TopicMetrics
from preferendum.show.analyses import metric_scores
from preferendum.show.analyses.metric_scores import ScoresTable, SummaryScores
from preferendum.show.points import unit_of
from tests.annotate.making import owner
from tests.annotate.reading import address, rows_of, signed_in, text_of
from tests.annotate.test_api import API, client_of
from tests.annotate.test_metric_pages import graded_study

pytestmark = pytest.mark.django_db

SCORES = b"topic,system,metric,score\nT1,third,BERTScore,0.61\n"


@pytest.fixture
def graded() -> Study:
    """With what two assessors gave one summary, and a metric worked out elsewhere that knows only it."""
    made = graded_study()
    summary = summary_of(made)
    for assessor, score in (("ann", 2.0), ("bob", 5.5)):
        HumanScore.objects.create(summary=summary, dimension="overall", assessor=assessor, score=score)
    imports.put_metric_scores(made, owner(made), io.BytesIO(SCORES), "the body")
    return made


def summary_of(made: Study, topic: str = "T1", system: str = "third") -> Summary:
    return Summary.objects.get(topic__study=made, topic__name=topic, system__name=system)


def read(score: float | None) -> str:
    """A score without an interval, with three digits."""
    return unit_of("", [(score, None, None)]).show(score)


def test_a_summary_names_every_score_and_who_gave_it(graded: Study) -> None:
    summary = summary_of(graded)
    text = text_of(signed_in(graded), reverse("summary", args=[graded.pk, summary.pk]))
    rouge = ComputedScore.objects.get(summary=summary, metric="rouge-2")
    own = Score.objects.get(summary=summary, scored_by="published")
    assert own.score is not None
    for shown in ("ROUGE-2", read(rouge.score), "BERTScore", "0.610", read(own.score), "ann", "5.5"):
        assert shown in text
    assert "Pyramid needs Pyramids. Topics without one: T1." in text
    assert address(summary.topic, "metrics") in text
    HumanScore.objects.all().delete()
    text = text_of(signed_in(graded), reverse("summary", args=[graded.pk, summary.pk]))
    assert "ROUGE-2" not in text


def test_a_summary_that_the_judgments_do_not_score_has_its_human_scores(graded: Study) -> None:
    Score.objects.all().delete()
    text = text_of(signed_in(graded), reverse("summary", args=[graded.pk, summary_of(graded).pk]))
    assert "This summary has no score yet." in text
    assert "human scores" in text


def test_a_topic_shows_its_summaries_and_what_it_lacks(graded: Study) -> None:
    topic = Topic.objects.get(study=graded, name="T0")
    text = text_of(signed_in(graded), address(topic, "metrics"))
    assert "ROUGE-1 needs references. Topics without any: T0." in text
    assert text.index("Preferences: importance") < text.index("JS divergence")
    assert "ROUGE-2</th>" not in text
    for summary in topic.summaries.all():
        assert reverse("summary", args=[graded.pk, summary.pk]) in text
    rated = text_of(signed_in(graded), address(summary_of(graded).topic, "metrics"))
    assert "2 · 5.5" in rated


def test_the_verdict_says_which_system_most_put_first() -> None:
    def said(system: str, rouge: float | None, kl: float | None, overall: float) -> SummaryScores:
        return SummaryScores(1, "T", system, False, {"rouge-2": rouge, "kl": kl}, {"overall": overall})

    rows = (said("a", 0.5, -1.0, 3.0), said("b", 0.5, -2.0, 4.0), said("c", None, None, 1.0))
    table = ScoresTable(("rouge-2", "kl"), ("overall",), {}, (), rows)
    assert metric_scores.show(table, {}).verdict == (
        "2 of 3 metrics and dimensions of human scores put a first in this topic."
    )
    person = replace(rows[0], system="p", person=True, metrics={"rouge-2": 0.9, "kl": 0.0}, human={"overall": 5.0})
    beside = replace(table, summaries=(person, *rows))
    assert metric_scores.show(beside, {}).verdict == metric_scores.show(table, {}).verdict, "people are no systems"
    nothing = ScoresTable(("kl",), (), {}, (), (SummaryScores(1, "T", "a", False, {"kl": None}),))
    assert metric_scores.show(nothing, {}).verdict == "No metric has anything to say of these summaries."


def test_metrics_that_say_nothing_are_in_files_alone() -> None:
    rows = (SummaryScores(1, "T", "a", False, {"rouge-2": 0.5, "kl": None}),)
    table = metric_scores.scores(ScoresTable(("rouge-2", "kl"), (), {}, (), rows))
    assert table.heads == ["System", "Metrics, ROUGE-2"]
    assert table.csv().decode().startswith("topic,system,person,rouge-2,kl")


def test_a_system_shows_every_topic(graded: Study) -> None:
    shown = System.objects.get(study=graded, name="third")
    text = text_of(signed_in(graded), reverse("system", args=[graded.pk, shown.pk]))
    assert "2 · 5.5" in text
    assert "ROUGE-2" in text
    assert f"{address(graded, 'scores-of-summaries')}?system=third" in text


def test_all_scores_are_asked_for_by_topic_and_system(graded: Study) -> None:
    client, page = signed_in(graded), address(graded, "scores-of-summaries")
    topic, system = Topic.objects.get(study=graded, name="T1"), System.objects.get(study=graded, name="third")
    summaries = Summary.objects.filter(topic__study=graded)
    for asked, shown in (
        ("", summaries),
        ("?topic=T1", summaries.filter(topic=topic)),
        ("?topic=T1&system=third", summaries.filter(topic=topic, system=system)),
        ("?topic=nothing&system=-1", summaries),
    ):
        text = text_of(client, page + asked)
        links = {summary for summary in summaries if f"/summaries/{summary.pk}/" in text}
        assert links == set(shown), asked
    assert page in text_of(client, address(graded, "metric-agreement"))


def test_another_studys_topic_is_not_asked_for(graded: Study) -> None:
    other = graded_study()
    Topic.objects.filter(study=other, name="T0").update(name="Elsewhere")
    text = text_of(signed_in(graded), f"{address(graded, 'scores-of-summaries')}?topic=Elsewhere")
    assert f"/summaries/{summary_of(graded).pk}/" in text
    assert f"/summaries/{summary_of(other).pk}/" not in text


def test_the_file_says_what_is_stored(graded: Study) -> None:
    rows = rows_of(signed_in(graded), address(graded, "scores-of-summaries", "scores"))
    assert len(rows) == Summary.objects.filter(topic__study=graded).count()
    (row,) = (row for row in rows if (row["topic"], row["system"]) == ("T1", "third"))
    stored = ComputedScore.objects.get(summary=summary_of(graded), metric="rouge-2").score
    assert float(row["rouge-2"]) == stored
    assert (row["person"], row["given:BERTScore"], row["human:fluency_2"]) == ("false", "0.61", "0.0")
    assert rows[0]["given:BERTScore"] == ""


def test_the_api_says_the_same_of_a_topic_and_of_all(graded: Study) -> None:
    client, here = client_of(owner(graded)), f"{API}/studies/{graded.pk}"
    topic = Topic.objects.get(study=graded, name="T1")
    tables = client.get(f"{here}/topics/{topic.pk}/results/metrics/").json()["tables"]
    scores, ratings, metrics = (table["rows"] for table in tables)
    names = [row["metric"] for row in metrics]
    assert names[:3] == ["preferences:importance", "preferences:combined", "preferences:published"]
    assert names[-1] == "given:BERTScore"
    signed = {row["metric"] for row in metrics if row["signature"]}
    assert signed == {"rouge-1", "rouge-2", "rouge-su4", "js", "js-consensus"}
    assert {row["assessor"]: row["score"] for row in ratings if row["system"] == "third"} == {"ann": 2.0, "bob": 5.5}
    (row,) = (row for row in scores if row["system"] == "third")
    url = f"{here}/results/scores-of-summaries/"
    same, rated, _metrics = client.get(f"{url}?topic=T1&system=third").json()["tables"]
    assert same["rows"] == [row]
    assert [(given["assessor"], given["score"]) for given in rated["rows"]] == [("ann", 2.0), ("bob", 5.5)]
    everything = client.get(url).json()
    assert len(everything["tables"][0]["rows"]) == Summary.objects.count()
    assert everything["verdict"] == "Of 9 summaries, 9 have human scores, and 9 have scores of metrics."
    assert client.get(f"{url}?topic=x").status_code == 404


def test_what_is_missing_is_said_once_where_people_are_among_the_systems(graded: Study) -> None:
    absent = {"pyramid": "pyramids", "pyramid:jackknife": "pyramids"}
    TopicMetrics.objects.filter(topic__name="T1").update(absent=absent)
    client = client_of(owner(graded))
    topic = Topic.objects.get(study=graded, name="T1")
    reasons = client.get(f"{API}/studies/{graded.pk}/topics/{topic.pk}/results/metrics/").json()["notes"]
    assert reasons == ["Pyramid needs Pyramids. Topics without one: T1."]


def test_a_summary_ranked_by_its_win_rate_is_tinted_by_the_answers_about_sentences(graded: Study) -> None:
    Fit.objects.filter(scored_by="published").update(scored_by="win-rate", settings={"score": "win-rate"})
    Score.objects.filter(scored_by="published").update(scored_by="win-rate")
    address_of_summary = reverse("summary", args=[graded.pk, summary_of(graded).pk])
    page = text_of(signed_in(graded), address_of_summary, scored_by="win-rate")
    assert "tint shade-" in page
    assert '<dt>Answers about this summary</dt><dd>0 <small class="quiet">of 1 on the topic' in page
