"""Systems that nobody judged, predicted from the words of judged summaries; and what a study needs in answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.fit.effects import Variances
from preferendum.scoring import planning_summaries as planning
from preferendum.scoring.later_systems import Prediction, predict
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.win_rate import WinRates, win_rates
from tests.evaluation.test_win_rate import answers_of

COMMON = ["river", "bridge", "mayor", "storm", "repair", "school", "engine", "harvest"]
NOBODY = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))


def topic(name: str, of_common: dict[str, int]) -> Evidence:
    """Each system writes so many words that the others write, too, and one of its own."""
    summaries = tuple(
        SummaryText(system, (" ".join([*COMMON[:number], f"word{system}"]),)) for system, number in of_common.items()
    )
    return Evidence(name, ("d:0",), (" ".join(COMMON),), NOBODY, summaries)


def predicted(numbers: dict[str, int], seed: int = 0) -> tuple[WinRates, Prediction]:
    rates = win_rates(answers_of(6, 5, 2000, seed, ties=0.0))
    prediction = predict(rates, [topic(f"T{k:02}", numbers) for k in range(5)])
    assert prediction is not None
    return rates, prediction


def test_who_writes_what_good_systems_write_is_expected_to_be_good():
    """S00 is the best of those judged and S05 the last."""
    _, prediction = predicted({f"S{k:02}": 8 - k for k in range(6)} | {"rich": 8, "poor": 2})
    rich, poor = sorted(prediction.systems, key=lambda own: -own.win_rate)
    assert (rich.system, poor.system) == ("rich", "poor")
    assert rich.win_rate > 0.6 > 0.4 > poor.win_rate
    assert all(own["rich"] > own["poor"] for own in prediction.summaries.values())


def test_a_prediction_is_as_sure_as_it_hits_systems_left_out():
    ordered = {f"S{k:02}": 8 - k for k in range(6)}
    mixed = dict(zip(ordered, [5, 8, 3, 7, 4, 6], strict=True))
    sure, unsure = (predicted(numbers | {"new": 5})[1] for numbers in (ordered, mixed))
    assert sure.error < unsure.error
    width = [own.high - own.low for prediction in (sure, unsure) for own in prediction.systems]
    assert width[0] < width[1]


def test_texts_that_say_nothing_predict_the_mean_of_all():
    _, prediction = predicted({f"S{k:02}": 1 + k for k in range(6)} | {"new": 8})
    (new,) = prediction.systems
    assert prediction.feature is None
    assert new.low < 0.5 < new.high
    assert new.win_rate == pytest.approx(0.5, abs=0.05)


def test_nothing_is_predicted_from_three_systems_nor_where_all_are_judged():
    topics = [topic(f"T{k:02}", {f"S{k:02}": 8 - k for k in range(6)}) for k in range(5)]
    assert predict(win_rates(answers_of(6, 5, 500, 1)), topics) is None
    assert predict(win_rates(answers_of(3, 5, 500, 1)), topics) is None


@pytest.mark.parametrize("answers", [4, 40])
def test_a_plan_expects_the_errors_that_a_study_comes_to(answers):
    systems, topics, variances = 8, 20, Variances(1.0, 0.5)
    errors = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        theta = rng.normal(0, 1, systems) + rng.normal(0, np.sqrt(0.5), (topics, systems))
        given = answers_of(systems, topics, topics * answers, seed)
        chance = expit(theta[given.topic, given.first] - theta[given.topic, given.second])
        given = replace(
            given, outcome=(rng.random(len(given)) < chance).astype(float), annotator=given.annotator * 0 - 1
        )
        covariance = np.array(win_rates(given, variances=variances).standing.covariance)
        errors.append(np.sqrt(2 * np.trace(covariance) / (systems - 1)))
    (point,) = planning.forecast([answers], systems, topics, 0.0, variances).points
    assert point.se == pytest.approx(np.mean(errors), rel=0.15)


def test_a_new_system_with_few_answers_is_known_as_well_as_predicted():
    systems, topics, variances = 8, 20, Variances(1.0, 0.5)
    number = planning.answers_to_measure(0.1, variances)
    assert 5 < number < 60
    given = answers_of(systems, topics, 8000, 0, annotators=1, ties=0.0)
    rare = np.flatnonzero((given.first == 3) | (given.second == 3))[number:]
    kept = np.setdiff1d(np.arange(8000), rare)
    names = ("topic", "first", "second", "outcome", "weight", "annotator")
    rates = win_rates(replace(given, **{name: getattr(given, name)[kept] for name in names}), variances=variances)
    (own,) = [mean for mean in Comparison([rates.standing]).means() if mean.system == "S03"]
    assert own.se == pytest.approx(0.1, rel=0.3)
