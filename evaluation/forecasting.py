"""A forecast of how many judgments a study needs, simulated in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from annotate import forecasts
from annotate.models import Forecast
from evaluation.records.evidence import Split
from evaluation.records.forecasts import StudyToForecast, load_to_forecast
from preferendum.evidence import Evidence, Settings
from preferendum.results import from_json, to_json
from preferendum.scoring import planning
from preferendum.scoring.planning import TYPICAL, TYPICAL_TIES, Assumed, Errors, Prepared, Step, StudyToSimulate

#: Computes what rests on a topic's texts alone; the worker caches it.
Prepare = Callable[[Evidence, Settings], Prepared]


class NoSentences(Exception):
    """The topics to simulate were removed."""

    def __init__(self) -> None:
        super().__init__("No topic has two sentences to judge any more.")


@dataclass(frozen=True, slots=True)
class Parts:
    """The results so far, by run and topic, for this version of the texts."""

    version: str
    assumed: Assumed
    errors: Mapping[str, Errors]


def simulate(asked: Forecast, split: Split, prepare: Prepare) -> Iterator[None]:
    """Simulate a run of a topic at a time; start over if texts have changed meanwhile."""
    loaded = load_to_forecast(asked, split)
    if loaded is None:
        raise NoSentences
    parts = from_json(Parts, asked.parts) if asked.parts else None
    if parts is None or parts.version != loaded.version:
        parts = Parts(loaded.version, _assumed(loaded, asked, prepare), {})
    study = _to_simulate(loaded, parts.assumed, prepare)
    for step in study.steps:
        if _name(step) not in parts.errors:
            parts = replace(parts, errors={**parts.errors, _name(step): study.simulate(step)})
            is_wanted = forecasts.note_progress(asked, to_json(parts), len(parts.errors), len(study.steps))
            if not is_wanted:
                return
            yield
    figures = study.forecast({step: parts.errors[_name(step)] for step in study.steps})
    forecasts.finish(asked, to_json(figures))


def _name(step: Step) -> str:
    run, place = step
    return f"{run}:{place}"


def _assumed(loaded: StudyToForecast, asked: Forecast, prepare: Prepare) -> Assumed:
    """Values estimated from the study's judgments, or the usual ones; carelessness as in the request, if given."""
    fits = []
    for topic in loaded.topics:
        prepared = prepare(topic.evidence, topic.settings)
        fitted = prepared.fit(topic.evidence.judgments, topic.settings)
        if fitted is not None:
            fits.append((fitted, topic.evidence.judgments, len(topic.evidence.sentences)))
    usual = replace(TYPICAL, ties=TYPICAL_TIES if loaded.ties_allowed else 0.0)
    assumed = replace(
        planning.learnt(fits) or usual, judgments_per_pair=loaded.judgments_per_pair, random_share=loaded.random_share
    )
    return assumed if asked.careless is None else replace(assumed, careless=asked.careless)


def _to_simulate(loaded: StudyToForecast, assumed: Assumed, prepare: Prepare) -> StudyToSimulate:
    settings = loaded.topics[0].settings
    topics = [topic.evidence for topic in loaded.topics]
    summarized, are_standard = planning.with_systems(topics, topics)
    return StudyToSimulate(
        topics=[prepare(topic, settings) for topic in summarized],
        lengths=loaded.lengths,
        settings=settings,
        sizes=loaded.sizes,
        assumed=assumed,
        are_standard=are_standard,
        stop_rule=loaded.stop_rule,
    )
