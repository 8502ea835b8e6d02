"""Two systems beside each other, down to the answers that made the difference, and all systems by topics."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from annotate import studies
from annotate.models import Fit, Score, Study, Summary, System, Utility
from annotate.reports import comparison
from annotate.reports import leaderboard as boards
from evaluation import tasks
from preferendum.show.analyses.two_systems import TwoSystems
from tests.annotate import making, scored
from tests.annotate.everything import made_once
from tests.annotate.reading import address, rows_of, text_of

pytestmark = pytest.mark.django_db


made_study = made_once(scored.scored_study)


@pytest.fixture
def study(client: Client, made_study: tuple[Study, object]) -> Study:
    study = Study.objects.get(pk=made_study[0].pk)
    client.force_login(making.owner(study))
    return study


def two(study: Study) -> tuple[System, System]:
    return study.systems.get(name="lead & co_"), study.systems.get(name="=hat")


def asked(study: Study, **more: str) -> dict[str, str]:
    first, second = two(study)
    return {"first": str(first.pk), "second": str(second.pk), **more}


def compared(study: Study, first: System, second: System) -> TwoSystems:
    return comparison.of_study(study, "recommended").compare((first.pk, first.name), (second.pk, second.name))


def newest(study: Study) -> Fit:
    fit = boards.newest_fit(scored.topic(study).sentence_set)
    assert fit is not None
    return fit


def score_of(fit: Fit, system: System) -> float:
    score = Score.objects.get(fit=fit, summary__system=system).score
    assert score is not None
    return score


def test_words_and_sentences_add_up_to_the_difference(study: Study) -> None:
    first, second = two(study)
    fit = newest(study)
    apart = comparison.of_topic(fit, first, second)
    assert apart is not None

    difference = score_of(fit, first) - score_of(fit, second)

    assert apart.first.total - apart.second.total == pytest.approx(difference)
    assert sum(lead.contribution for lead in apart.sentences) == pytest.approx(difference)
    turned = comparison.of_topic(fit, second, first)
    assert turned is not None
    assert [lead.contribution for lead in turned.sentences] == [-lead.contribution for lead in apart.sentences]


def test_answers_speak_for_the_system_that_says_what_was_preferred(study: Study) -> None:
    first, second = two(study)
    apart = comparison.of_topic(newest(study), first, second)
    assert apart is not None

    answers = {(answer.preferred.name, answer.other.name): answer for answer in apart.answers}

    rain_before_hat = answers["d1:0", "d2:2"]
    assert rain_before_hat.weight > 0, "the flood is what the first system says, the hat is what the second does"
    assert (rain_before_hat.times, rain_before_hat.of) == (1, 1)
    assert ("d1:2", "d2:0") not in answers, "a tie prefers neither"


def test_the_page_of_a_topic_shows_what_made_the_difference(client: Client, study: Study) -> None:
    fit = newest(study)
    place = reverse("compare_in_topic", args=[study.pk, fit.item_set_id])

    page = text_of(client, place, **asked(study))

    for utility in Utility.objects.filter(fit=fit, sentence__document__name="d1", sentence__index=0):
        assert reverse("sentence", args=[study.pk, utility.sentence_id]) in page
    assert "preferred by 1 of 1" in page
    assert "People’s answers" not in page, "some are simulated"
    assert "counted: people’s and simulated ones" not in page, "of this topic, none is"
    assert "He wore a hat." in page
    snow = reverse("compare_in_topic", args=[study.pk, study.topics.get(name="snow").pk])
    assert "counted: people’s and simulated ones" in text_of(client, snow, **asked(study))
    published = text_of(client, place, **asked(study, scored_by="published"))
    assert "no words to hold against each other" in published
    assert client.get(place, {"first": "1"}).status_code == 404


def test_two_systems_are_compared_topic_by_topic(client: Client, study: Study) -> None:
    first, second = two(study)
    page = text_of(client, address(study, "two-systems"), **asked(study))

    board = boards.of_study(study)
    means = {row.system: row.score for row in board.rows}
    shown = compared(study, first, second)
    assert shown.lead is not None
    assert shown.lead.difference == pytest.approx(means[first.name] - means[second.name])
    assert f"The mean scores of {escape(first.name)} and {escape(second.name)} differ by" in page
    assert reverse("compare_in_topic", args=[study.pk, scored.topic(study).pk]) in page
    rows = rows_of(client, address(study, "two-systems", "topics"), **asked(study))
    assert {row["topic"] for row in rows} == {"rain", "snow"}
    assert rows == sorted(rows, key=lambda row: -float(row["difference"])), "the order of the figure"
    for row in rows:
        assert float(row["difference"]) == pytest.approx(float(row["first"]) - float(row["second"]))
    turned = compared(study, second, first)
    assert turned.lead is not None
    assert (turned.lead.difference, turned.lead.low) == (-shown.lead.difference, -(shown.lead.high or 0))

    Summary.objects.filter(system=first).update(person=True)
    systems = comparison.of_study(study, "recommended").systems
    assert [name for _key, name in systems] == [second.name, first.name, "off"], "people follow the ranked systems"


def test_by_the_stop_rule_two_systems_are_compared_with_the_plan_beside_them(client: Client) -> None:
    study = scored.scored_study(stop_rule=True, judgments_per_topic=10)
    client.force_login(making.owner(study))
    first, second = two(study)
    assert compared(study, first, second).planned == 20
    page = text_of(client, address(study, "two-systems"), **asked(study))
    assert "The study plans 20." in page
    board = text_of(client, reverse("leaderboard", args=[study.pk]))
    assert "By the stop rule" in board
    assert "surely below" not in board  # nothing is equal within 0


def test_the_map_has_the_score_of_every_summary(client: Client, study: Study) -> None:
    page, table = (address(study, "scores-by-topic", *part) for part in ((), ("scores",)))
    page, rows = text_of(client, page), {row["system"].lstrip("'"): row for row in rows_of(client, table)}
    scores = Score.objects.filter(scored_by="recommended", score__isnull=False).select_related("summary__system")
    assert scores.count() == 4
    for score in scores:
        assert reverse("summary", args=[study.pk, score.summary_id]) in page
        assert float(rows[score.summary.system.name][score.summary.topic.name]) == pytest.approx(score.score)
    assert list(rows) == [row.system for row in boards.of_study(study).rows]
    first, second, *_ = boards.of_study(study).rows
    assert f"{escape(first.system)} has the highest mean score" in page
    Summary.objects.filter(system__name=first.system).update(person=True)
    page = text_of(client, address(study, "scores-by-topic"))
    assert f"{escape(second.system)} has the highest mean score" in page, "people are not ranked with systems"


def test_coverage_claims_as_much_in_a_topic_that_few_judged(client: Client, study: Study) -> None:
    system = two(study)[0]
    pages = [
        (address(study, "scores-by-topic"), {}),
        (address(study, "two-systems"), asked(study)),
        (reverse("system", args=[study.pk, system.pk]), {}),
    ]
    for address_of, query in pages:
        assert "fewer than five" in text_of(client, address_of, **query)
    studies.change_settings(study, making.owner(study), score="coverage")
    assert tasks.catch_up(study.pk) == {}
    for address_of, query in pages:
        html = client.get(address_of, query).content.decode()
        assert "fewer than five" not in html, address_of
        assert 'class="thin"' not in html, address_of
    lines = compared(study, *two(study)).lines
    assert {line.judgments for line in lines} == {None}
    assert not any(line.is_thin for line in lines)
