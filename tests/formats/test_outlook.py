"""What more answers, annotators or topics bring: one curve through today's interval, in a sentence that is true."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.results import Difference, Forecast, ForecastPoint, Ground, SummaryForecast, SystemResult
from preferendum.results.outlook import FURTHEST, Outlook, halfwidth, needed
from preferendum.results.planning import Pace
from preferendum.results.statistics import Z95, quantile
from preferendum.show.analyses.forecast import StudyForecast, might_show, show

OF_SUMMARIES = SummaryForecast(32, 13, 0.3, 0.4, 200, 400.0, 0.2)
POINTS = tuple(ForecastPoint(size, 0.04 / size**0.5, 0.001, 1.0) for size in (10, 20, 300))
OF_SENTENCES = Forecast(32, 6, 4, 0, 20.0, 13, False, 1.2, 0.7, 0, 0.1, 0.0, 1, False, POINTS)
READ = Pace(60.0, "read")


def outlook(**known: object) -> Outlook:
    """Of a study whose 181 answers by ten annotators know a difference to +-.22; 320 are planned."""
    usual = {"question": "summaries", "now": 181, "annotators": 10, "planned": 320, "most": 2496, "topics": 32}
    usual |= {"systems": 13, "ground": Ground(10, 9.0, 0.05, "kind"), "half": 0.22, "expected": OF_SUMMARIES}
    return Outlook(**{**usual, **known})


def said(own: Outlook, score: str = "win-rate", pace: Pace = READ, **asked: str) -> str:
    return show([StudyForecast(own, score, pace)], asked).verdict


studies = st.builds(
    lambda question, now, planned, half, topics, spread, effective, errors, share, item: outlook(
        question=question,
        now=now,
        planned=planned,
        most=None,
        half=half,
        topics=topics,
        ground=Ground(10, effective, spread, "kind"),
        errors=max(errors, quantile(share)),
        planned_share=share,
        expected={
            "summaries": replace(OF_SUMMARIES, topics=topics, item_variance=item),
            "sentences": replace(OF_SENTENCES, topics=topics),
        }[question],
    ),
    st.sampled_from(["summaries", "sentences"]),
    st.integers(20, 5000),
    st.integers(0, 5000),
    st.floats(0.001, 0.9),
    st.integers(1, 300),
    st.none() | st.floats(0, 0.5),
    st.floats(2.5, 30),
    st.floats(Z95, 12),
    st.none() | st.floats(0.01, 1),
    st.floats(0, 5),
)


@given(studies, st.floats(1, 50))
def test_the_curve_goes_through_today_and_nothing_more_ever_widens_it(own: Outlook, times: float) -> None:
    today = own.after(own.now)
    assert today == pytest.approx(own.half)
    more = own.after(times * own.now)
    assert 0 <= more <= today * (1 + 1e-9)
    assert own.after(2 * times * own.now) <= more * (1 + 1e-9)
    assert own.after(times * own.now, annotators=2.0) <= more * (1 + 1e-9)
    assert own.after(times * own.now, topics=2 * own.topics) <= more * (1 + 1e-9)
    assert own.after(own.now / 2) >= today * (1 - 1e-9)


@given(studies, st.floats(0.001, 1))
def test_what_is_said_of_a_difference_is_what_the_curve_says(own: Outlook, difference: float) -> None:
    answers = own.answers_to_tell(difference)
    if answers is None:
        assert not (own.told_apart(own.furthest) or math.inf) <= difference
    else:
        assert own.now <= answers <= own.furthest
        assert own.told_apart(answers) <= difference
        assert answers == own.now or not (own.told_apart(answers - 1) or math.inf) <= difference
    table = show([StudyForecast(own, "win-rate", READ)], {}).tables[0]
    for answers, _hours, _cost, margin, told in table.rows:
        assert (margin, told) == (own.after(answers), own.told_apart(answers))


@given(studies)
def test_nobody_is_asked_for_what_does_not_help_or_makes_no_sense(own: Outlook) -> None:
    for step in (own.more_answers, own.more_annotators, own.more_topics):
        if step is not None:
            assert step.half < own.half
            assert step.answers <= own.furthest
            assert own.annotators <= step.annotators <= 2 * own.annotators
    if own.more_annotators:
        assert own.more_annotators.answers >= 10 * own.more_annotators.annotators
    assert own.more_annotators is None or own.more_topics is None


def test_one_sentence_says_where_a_study_is_and_what_more_would_bring() -> None:
    text = said(outlook(ground=Ground(10, 9.0, 0.0, "kind")))
    assert text.startswith(
        "181 answers by 10 annotators: the difference of two systems is known to about ±22 percentage points. "
        "320 answers in all would bring ±17 (about 2 hours more)."
    )
    assert "annotators in all" not in text
    with_pay = said(outlook(), pay="12", currency="EUR")
    assert "(about 2 hours more, 28 EUR)" in with_pay
    assert "28 units of your pay" in said(outlook(), pay="12")
    many = outlook(now=9000, planned=9000, most=None, half=0.06, ground=Ground(10, 9.0, 0.0, "kind"))
    assert "More answers alone would hardly help." in said(many)
    assert "18,000 answers about 64 topics in place of 32 would bring ±4.2." in said(many)
    few = outlook(ground=Ground(10, 9.0, 0.3, "kind"))
    assert "320 answers by 20 annotators in all, about 16 each, would bring ±" in said(few)


def test_a_difference_that_will_not_show_says_what_would_show_it() -> None:
    assert "will hardly show with 32 topics: add topics" in said(
        outlook(ground=Ground(10, 9.0, 0.0, "kind"), most=None, now=3000, half=0.06), difference="4"
    )
    assert "will hardly show by 10 annotators: add annotators" in said(
        outlook(ground=Ground(10, 9.0, 0.3, "kind")), difference="10"
    )
    assert "answers in all (about" in said(outlook(), difference="40")
    told = "As many answers as there are tell two systems apart that differ by 60 percentage points, in 80% of studies."
    assert told in said(outlook(), difference="60")


@pytest.mark.parametrize(
    ("known", "begins"),
    [
        ({"now": 0, "annotators": 0, "half": None}, "No answer counts yet. In typical studies, 320 answers"),
        ({"now": 19}, "19 answers by 10 annotators: too early to go by. It takes 20 answers by 3 annotators who"),
        ({"annotators": 2}, "181 answers by 2 annotators: too early to go by"),
        ({"half": None}, "181 answers by 10 annotators, and no interval of a difference of two systems."),
    ],
)
def test_too_little_to_go_by_is_said_and_only_what_is_planned_is_forecast(
    known: dict[str, object], begins: str
) -> None:
    early = outlook(**known)
    assert said(early).startswith(begins)
    assert not early.is_anchored
    assert (early.more_answers, early.more_annotators, early.more_topics) == (None, None, None)
    assert needed(early, 2.0, 3) is None
    assert "today" not in str(show([StudyForecast(early, "win-rate", READ)], {}).tables[0].note)
    typical = replace(early, expected=replace(OF_SUMMARIES, learnt_from=0))
    assert "In typical studies, 320 answers" in said(typical)
    assert ("If others answer like these, 320 answers" in said(early)) == (early.now > 0)
    assert "bring" not in said(replace(early, expected=None))


def test_who_answered_is_called_what_they_are() -> None:
    simulated = Ground(10, 9.0, 0.05, "kind", are_simulated=True)
    assert said(outlook(ground=simulated)).startswith("181 simulated answers by 10 annotators:")
    assert said(outlook(annotators=0)).startswith("181 answers: the difference")
    assert "have all their answers: more take more topics" in said(outlook(most=181))
    assert "200 answers, all that the pairs take, will hardly show a difference of 9" in said(
        outlook(most=200), difference="9"
    )
    assert show([], {}).verdict == "Nothing can be asked, so there is nothing to expect."


def test_hours_say_what_they_rest_on() -> None:
    def note(pace: Pace) -> str:
        return show([StudyForecast(outlook(), "win-rate", pace)], {}).notes[0]

    assert "An answer took 20 seconds on average" in note(Pace(20.0, "taken"))
    assert "No times of people’s answers here are known: hours are by the words to read" in note(READ)
    assert "came faster than their texts can be read" in note(Pace(60.0, "too fast"))


def test_without_a_simulation_errors_fall_with_the_square_root_of_the_answers() -> None:
    own = outlook(question="sentences", expected=None, ground=Ground(10, 9.0, None, "these"))
    assert own.after(4 * 181) == pytest.approx(0.11)
    assert own.more_topics is None


def test_todays_interval_is_the_median_of_the_boards_and_knows_few_annotators_by_its_width() -> None:
    differences = [Difference("a", "b", 0.1, 0.1 - half, 0.1 + half, 0.5, False) for half in (0.2, 0.3, 0.7)]
    ranked = [SystemResult("a", 0.5, 0.1, 0.25, 0.75, 1, 1, 2, 3), SystemResult("b", 0.4, 0.1, 0.0, 0.9, 2, 1, 2, 3)]
    own = Outlook.of("summaries", 90, 5, halfwidth(differences), ranked, Ground(5, 5.0, 0.0, "kind"), topics=3)
    assert (own.half, own.errors, own.systems) == (pytest.approx(0.3), pytest.approx(2.5), 2)
    assert own.after(90, annotators=100) == pytest.approx(0.3 * Z95 / 2.5, rel=0.01)
    alone = Outlook.of("summaries", 90, 5, halfwidth([]), [], Ground(), topics=3)
    assert (alone.half, alone.is_anchored) == (None, False)


def test_the_boards_advice_lies_on_the_curve() -> None:
    own = outlook(ground=Ground(10, 9.0, 0.0, "kind"), expected=None, question="sentences")
    found = needed(own, 2.5, 45)
    assert (found.now, found.low, found.high) == (181, 181, 860)  # 181 (3.26 / 1.5)^2
    assert might_show(found) == (
        "If the difference is real, up to 860 judgments in all might show it; there are 181 now."
    )
    assert might_show(found, is_clearest=True).startswith("If the clearest difference, which is not yet certain, is")
    for hopeless in (0.9, 1.0, 1.3, math.inf):
        assert needed(own, hopeless, 45) is None
    limited = outlook(ground=Ground(10, 9.0, 0.35, "kind"))
    assert needed(limited, 2.5, 45) is None
    assert found.high <= FURTHEST * 320
