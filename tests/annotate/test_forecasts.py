"""How many judgments a study needs: asked for on a page, simulated by the worker, shown with hours and money."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from statistics import median

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate import forecasts, imports, judging, studies
from annotate.models import Annotator, Assignment, Forecast, Item, ItemSet, Ranking, Study
from annotate.refusal import Refusal
from annotate.reports import forecast as reports
from annotate.reports import minutes
from annotate.reports.study import look_at, study_lines
from evaluation import forecasting, tasks
from evaluation.agenda import look
from evaluation.records import load_evidence
from preferendum.evidence import Settings
from preferendum.formats import Preference
from preferendum.results.planning import Pace
from preferendum.scoring.planning import TYPICAL, forecast
from tests import studies as made_studies
from tests.annotate import making, scored
from tests.annotate.reading import address, rows_of, signed_in, text_of

pytestmark = pytest.mark.django_db
State = Forecast.State


@pytest.fixture
def study() -> Study:
    made = made_studies.study(judgments_per_topic=100)
    for name in ("wide", "wider"):
        tasks.cut_topic(made_studies.wide_topic(made, 30 + len(name), name).pk)
    return made


def simulated(study: Study, careless: float | None = None) -> Forecast:
    asked = forecasts.ask(study, making.owner(study), careless)
    for _turn in range(100):
        tasks.forecast_study(asked.pk)
        asked.refresh_from_db()
        if asked.state != State.WAITING:
            return asked
    pytest.fail("a forecast does not end")


def test_the_worker_says_what_the_command_line_says(study) -> None:
    asked = simulated(study)

    topics = [load_evidence(topic.pk, tasks.split).evidence for topic in study.topics.all()]
    sizes = [point.judgments for point in asked.record.points]
    assert 100 in sizes
    asks = replace(TYPICAL, random_share=study.random_share)
    assert asked.record == forecast(topics, Settings(), sizes, asks)
    assert (asked.done, asked.steps, asked.parts) == (8, 8, {})


def test_a_turn_goes_on_where_the_last_one_stopped_unless_texts_have_changed(study, monkeypatch) -> None:
    monkeypatch.setattr(tasks, "TURN", 0.0)
    asked = forecasts.ask(study, making.owner(study))
    assert ("forecast_study", asked.pk) in [(work.task, work.key) for work in look().waiting]
    done = []
    for _turn in range(3):
        tasks.forecast_study(asked.pk)
        asked.refresh_from_db()
        done.append(asked.done)
    assert done == [1, 2, 3]

    tasks.cut_topic(made_studies.wide_topic(study, 40, "widest").pk)
    tasks.forecast_study(asked.pk)
    asked.refresh_from_db()
    assert (asked.done, asked.steps) == (1, 12)


def test_judgments_of_the_study_teach_how_far_sentences_differ(study) -> None:
    for topic in study.topics.all():
        rows = [(topic.name, f"d1:{k}", f"d1:{(k + step) % 34}", "a") for k in range(34) for step in (1, 7)]
        scored.judge(study, *rows, pseudonym="ann")

    asked = simulated(study)

    assert asked.record.learnt_from == 136
    assert asked.record.careless == 0
    assert simulated(study, 0.25).record.careless == 0.25


def test_a_newer_question_takes_the_place_of_one_that_waits(study) -> None:
    earlier = forecasts.ask(study, making.owner(study))
    later = forecasts.ask(study, making.owner(study))

    assert list(Forecast.objects.all()) == [later]
    assert not forecasts.note_progress(earlier, {}, 1, 2)
    for _number in range(forecasts.KEPT + 2):
        making.forecast(study)
    assert Forecast.objects.count() == forecasts.KEPT


def test_without_sentences_there_is_nothing_to_simulate(study) -> None:
    with pytest.raises(Refusal, match="no topic has two sentences"):
        forecasts.ask(made_studies.study(), making.owner(study))

    asked = forecasts.ask(study, making.owner(study))
    for topic in study.topics.all():
        imports.remove(study, making.owner(study), "topic", str(topic.pk))
    tasks.forecast_study(asked.pk)
    asked.refresh_from_db()
    assert (asked.state, asked.problem) == (State.FAILED, str(forecasting.NoSentences()))


def test_the_page_counts_hours_money_and_chances(study) -> None:
    client, page = signed_in(study), address(study, "forecast")
    assert "Simulate</button>" in text_of(client, page)
    assert (
        client.post(reverse("forecast_ask", args=[study.pk]), {"careless": "20", "pay": "12"}).url == f"{page}?pay=12"
    )
    waiting = client.get(page)
    assert 'hx-trigger="every 2s"' in waiting.content.decode()
    making.forecast(study)
    studies.change_settings(study, making.owner(study), judgments_per_topic=300)

    shown = client.get(page, {"difference": "1", "pay": "12", "currency": "EUR"})
    text = shown.content.decode()
    (table,) = shown.context["shown"].tables
    (planned,) = (dict(zip(table.json()["columns"], table.rows[k], strict=True)) for k in table.marked)
    seconds = Item.objects.paces(study)[False]
    assert planned["answers"] == 600  # 300 on each of two topics
    assert planned["hours"] == pytest.approx(600 * seconds / 3600)
    assert planned["cost"] == pytest.approx(12 * planned["hours"])
    assert f"No answer counts yet. In typical studies, 600 answers (about {planned['hours']:.0f} hours, " in text
    assert f"{planned['cost']:.0f} EUR) bring about ±{100 * planned['margin']:.2f} points." in text
    assert "tell two systems apart that differ by 1 point, in 80% of studies." in text
    assert "Cost (EUR)" in text
    assert "Texts or settings have changed since" in text  # 34 and 35 sentences, not 5

    rows = rows_of(client, address(study, "forecast", "sentences"), pay="12")
    assert [row["answers"] for row in rows if float(row["margin"]) == planned["margin"]] == ["600"]
    sent = client.get(reverse("api_result", args=[study.pk, "forecast"])).json()
    assert [row["answers"] for row in rows] == [str(row["answers"]) for row in sent["tables"][0]["rows"]]


def test_the_curve_goes_through_todays_interval_on_the_board(study) -> None:
    """Of answers by four annotators; what was simulated gives the shape."""
    rng = random.Random(1)
    for k in range(4):
        rows = [(name, *pair, "ab"[rng.random() < 0.5]) for name in ("wide", "wider") for pair in _pairs(rng)]
        scored.judge(study, *rows, pseudonym=f"ann {k}")
    making.forecast(study)
    tasks.catch_up(study.pk)
    client = signed_in(study)

    shown = client.get(address(study, "forecast")).context["shown"]

    ranking = Ranking.objects.get(study=study, scored_by="recommended")
    half = median((own.high - own.low) / 2 for own in ranking.system_differences)
    assert shown.tables[0].rows[0][:4] == (ranking.judgments, None, None, pytest.approx(half))
    assert shown.verdict.startswith(
        f"{ranking.judgments} answers by 4 annotators: "
        f"the difference of two systems is known to about ±{100 * half:.1f}"
    )
    assert "today" in client.get(address(study, "forecast")).content.decode()


def _pairs(rng: random.Random) -> list[tuple[str, str]]:
    return [tuple(f"d1:{k}" for k in rng.sample(range(30), 2)) for _pair in range(20)]


def test_what_is_asked_badly_is_said_beside_the_field(study) -> None:
    text = text_of(signed_in(study), address(study, "forecast"), pay="-3")
    assert "greater than or equal to 0" in text
    answer = signed_in(study).post(reverse("forecast_ask", args=[study.pk]), {"careless": "300"}, follow=True)
    assert "At most 100%." in answer.content.decode()
    assert not Forecast.objects.exists()


def test_the_pace_says_when_a_study_is_done(study) -> None:
    assert reports.course(study) == reports.Course(0, 200, None, None, None)
    now = timezone.now()
    at = (now - timedelta(days=2)).isoformat()
    judged = [Preference("wide", f"d1:{k}", f"d1:{k + 1}", "a", seconds=30.0, at=at) for k in range(20)]
    judging.import_judgments(study, judged, "human", "ann")
    (line,) = study_lines(Study.objects.all())
    assert (reports.course(study).a_day, line.judged_at) == (None, None)  # they were given elsewhere
    Assignment.objects.update(reason="random")

    course = reports.course(study)

    assert (course.done, course.wanted, course.seconds) == (20, 200, 30)
    assert course.a_day == pytest.approx(10, rel=0.01)
    assert course.ends_at - now == pytest.approx(timedelta(days=18), rel=0.01)


def test_hours_are_those_of_people_who_answered_here_and_read(study) -> None:
    of_sentences = ItemSet.objects.filter(study=study, of="sentences")

    def pace() -> Pace:
        return minutes.pace(of_sentences, Item.objects.paces(study)[False])

    read = Pace(Item.objects.paces(study)[False], "read")
    assert pace() == read
    judged = [Preference("wide", f"d1:{k}", f"d1:{k + 1}", "a", seconds=30.0) for k in range(20)]
    judging.import_judgments(study, judged, "human", "ann")
    assert pace() == read
    Assignment.objects.update(reason="random")
    assert pace() == Pace(30.0, "taken")
    hasty = [Preference("wider", f"d1:{k}", f"d1:{k + 1}", "a", seconds=0.7) for k in range(25)]
    judging.import_judgments(study, hasty, "human", "bob")
    Assignment.objects.update(reason="random")
    assert pace() == replace(read, basis="too fast")
    Annotator.objects.update(kind="machine")
    assert pace() == read


def test_short_topics_are_asked_for_no_more_than_their_pairs_take() -> None:
    made = scored.scored_study(judgments_per_topic=1_000)

    assert reports.course(made).wanted == look_at(made).wanted < 1_000
