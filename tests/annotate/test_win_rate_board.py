"""The leaderboard of win rates: how it is reached, what stands beside it, and what a paper says of it."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotate.models import Judgment, Study, Summary
from annotate.reports import analyses, study_facts
from evaluation import tasks
from evaluation.records.statement import state
from preferendum.results import length
from tests.annotate import making
from tests.annotate.judging_study import joined, judged
from tests.annotate.reading import address, rows_of
from tests.annotate.test_comparing_summaries import record, study_of
from tests.annotate.visitors import signed_in
from tests.evaluation.test_win_rates_kept import answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    made = study_of(*(record(f"M{n}") for n in range(4)), pairs_per_annotator=50, judgments_per_pair=2)
    for _annotator in range(4):
        answer(joined(made), 10)
    tasks.rank_by_summaries(made.pk)
    tasks.report_annotators(made.pk)
    return made


def shown(study: Study, name: str, *path: object, **asked: str) -> str:
    client = signed_in(making.owner(study))
    return client.get(reverse(name, args=[study.pk, *path]), asked).content.decode()


def test_the_first_board_of_a_study_of_summaries_is_that_of_win_rates(study: Study) -> None:
    page = shown(study, "leaderboard")
    assert "Win rate (%)" in page
    assert "50% is the average." in page
    assert "4 people gave 40 judgments, on 4 topics." in page
    assert "Equations 2–5" not in page


def test_the_share_of_the_answers_of_a_topic_is_not_called_a_win_rate(study: Study) -> None:
    for page in (shown(study, "system", of_system("ann").system_id), shown(study, "analysis", "scores-by-topic")):
        assert page.count("Preferred in (%)") == 1
        assert re.findall(r"[Ww]in rate \(%\)", page.partition("Preferred in (%)")[2]) in ([], ["win rate (%)"])


def test_a_topic_has_no_verdict_on_win_rates_and_says_why(study: Study) -> None:
    page = shown(study, "topic_leaderboard", of_system("ann").topic_id)
    assert "Win rates are tested over all topics together, not in one topic." in page
    assert "Ranks<" not in page
    assert "Every two systems" not in page


def test_overview_board_and_methods_connect_their_numbers_of_judgments(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(compares="both", summary_share=0)
    answer(joined(Study.objects.get(pk=study.pk)), 2)
    assert tasks.catch_up(study.pk) == {}
    for name in ("study", "study_methods"):
        said = "5 people gave 42 judgments (2 about sentences, 40 about summaries), on 4 topics."
        assert said in shown(study, name)
    assert "4 people gave 40 judgments, on 4 topics." in shown(study, "leaderboard")
    assert "1 person gave 2 judgments, on " in shown(study, "leaderboard", scored_by="recommended")
    assert "Preferences rest on: 40 by people" in shown(study, "analysis", "scores-by-topic")


def test_what_a_topic_says_rests_on_its_answers_about_summaries_too(study: Study) -> None:
    topic = study.topics.get(name="M1")
    answers = Judgment.objects.counted().filter(assignment__item_set__topic=topic).count()
    assert answers > 0
    of_topic = {name: analyses.opened(topic, own, {}, frozenset()) for name, own in analyses.analyses_of(topic).items()}
    assert of_topic["metrics"].rests_on == f"Preferences rest on: {answers} by people"
    assert of_topic["sentence-ranking"].rests_on == "No judgments about sentences count yet."


def test_it_says_how_much_the_length_of_summaries_explains(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(length, "FEWEST", 2)
    state(study)
    assert "The length of summaries explains" in shown(study, "leaderboard")


def test_only_scores_that_a_study_has_are_offered(study: Study) -> None:
    assert "scored-by-" not in shown(study, "leaderboard")
    Study.objects.filter(pk=study.pk).update(compares="both")
    page = shown(study, "leaderboard")
    assert re.findall(r'id="scored-by-.*>(.*)</a>', page) == ["Win rate", "Importance"]


def test_what_to_expect_of_more_answers_speaks_of_no_simulated_studies(study: Study) -> None:
    page = shown(study, "analysis", "forecast")
    assert "The horizontal axis is logarithmic." in page
    assert "± of a difference" in page
    assert "simulated" not in page
    rows = rows_of(signed_in(making.owner(study)), address(study, "forecast", "summaries"))
    assert all(float(row["margin"]) <= 1 for row in rows)


def test_every_analysis_and_every_file_of_the_board_opens(study: Study) -> None:
    for name in ("study_methods", "study_annotators", "study_topics", "study", "disputed"):
        assert "Internal" not in shown(study, name)
    table = (
        signed_in(making.owner(study))
        .get(reverse("leaderboard", args=[study.pk]).removesuffix("/") + ".tex")
        .content.decode()
    )
    assert "Win rate" in table
    assert r"50\% is the average." in table


def test_the_methods_paragraph_names_the_model_and_the_question(study: Study) -> None:
    page = shown(study, "study_methods")
    assert "random effects of systems and of their summaries" in page
    assert "Annotators saw two summaries of a topic at a time" in page
    assert "utilities of the sentences" not in page


def test_agreement_names_the_summaries_of_a_topic(study: Study) -> None:
    assert "Topic M1 (summaries)" in shown(study, "analysis", "agreement-of-annotators")


def test_agreement_counts_a_topic_once_whose_sentences_and_summaries_were_judged() -> None:
    study = study_of(record("M1"), record("M2"), compares="both", pairs_per_annotator=50, judgments_per_pair=2)
    lone = joined(study)
    for _pair in range(24):
        judged(lone)
    tasks.report_annotators(study.pk)
    assert Judgment.objects.values("item_set").distinct().count() > 2
    assert "In 2 of 2 topics with judgments" in shown(study, "analysis", "agreement-of-annotators")


def test_people_who_judged_nothing_but_summaries_are_counted_in_the_methods(study: Study) -> None:
    assert study_facts.of_study(study).answers.human == 4


def of_system(system: str) -> Summary:
    return Summary.objects.get(system__name=system, topic__name="M1")


def test_the_page_of_a_summary_says_how_often_it_was_preferred_to_which(study: Study) -> None:
    page = shown(study, "summary", of_system("ann").pk)
    rows = re.findall(r'>(\w+)</bdi></a></th>\s*<td class="number" data-label="Preferred">(\d)</td>', page)
    assert [system for system, _times in rows] == ["bob", "lead", "long"]
    assert all(int(times) > 0 for _system, times in rows)
    assert "How the score is computed" not in page


def test_two_systems_are_compared_down_to_the_answers(study: Study) -> None:
    first, second = of_system("ann"), of_system("long")
    asked = {"first": str(first.system_id), "second": str(second.system_id)}
    page = shown(study, "compare_in_topic", first.topic_id, **asked)
    assert re.search(r"Answers: \d for ann, 0 for long\. No preference: 0", page)
    assert "What long says of M1." in page
    assert "As published" not in page, "of win rates no words were held against each other"
    assert "counted:" not in page
    page = shown(study, "analysis", "two-systems", **asked)
    assert "answers compare them directly" in page
    assert "By all answers, the win rates of ann and long differ by" in page
    assert "95% interval" not in page
