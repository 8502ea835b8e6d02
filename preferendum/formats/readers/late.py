"""Later uploads, as CSV: summaries of further systems, and scores of summaries by people and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from preferendum.formats.checks import limits, strict_json
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.checks.text import name
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.ratings import HIGHEST
from preferendum.formats.readers.tables import Columns, Row, number
from preferendum.formats.readers.topics import joined_text, metric_name
from preferendum.formats.records import HumanScore, LateSummary, MetricScore, Summary, Text, Topic

Rows = Iterator[tuple[Place, Row]]

SUMMARIES = Columns(("topic", "system", "text"), ("person", "reference"), others=True)
HUMAN_SCORES = Columns(("topic", "system", "dimension", "score"), ("assessor",))
#: What the names of systems begin with whose summaries standard summarizers wrote.
BASELINE = "baseline-"
METRIC_SCORES = Columns(("topic", "system", "metric", "score"))
#: What a row of texts may hold that belongs to its topic.
OF_TOPIC = ("document", "reference_text")


def read_texts(rows: Iterable[tuple[Place, Row]], draft: Draft) -> None:
    """Add rows of texts: each has a `topic`, and a `system` with its `text` or what belongs to the topic."""
    topics: dict[str, dict[str, dict[str, Place]]] = {}
    read_summaries(_summaries(rows, topics), draft)
    for topic, texts in topics.items():
        documents, references = (
            tuple(Text(f"{role[0]}{number}", text) for number, text in enumerate(texts[role], 1)) for role in OF_TOPIC
        )
        here = next(iter((*texts["document"].values(), *texts["reference_text"].values())))
        if not draft.add_topic(Topic(topic, documents, references), here):
            return


def _summaries(rows: Iterable[tuple[Place, Row]], topics: dict[str, dict[str, dict[str, Place]]]) -> Rows:
    """The summaries among the rows; what belongs to topics is kept in `topics`, once each."""
    for here, row in rows:
        for role in OF_TOPIC:
            given = row.get(role) or ""
            text = joined_text(here.key(role), given, empty=False) if given.strip() else None
            if row["topic"] and text:
                topics.setdefault(row["topic"], {own: {} for own in OF_TOPIC})[role].setdefault(text, here)
        if "system" in row:
            yield here, {key: value for key, value in row.items() if key not in OF_TOPIC}


def read_summaries(rows: Iterable[tuple[Place, Row]], draft: Draft) -> None:
    for here, row in rows:
        topic, system = name(here.key("topic"), row["topic"]), name(here.key("system"), row["system"])
        text = joined_text(here.key("text"), row["text"], empty=True)
        extra = strict_json.extras(here, dict(row), frozenset(SUMMARIES.needed + SUMMARIES.optional))
        person, reference = _flag(here.key("person"), row.get("person", "")), row.get("reference") or None
        if reference is not None:
            reference = name(here.key("reference"), reference)
        if topic and system and text is not None:
            summary = LateSummary(topic, Summary(system, text, extra=extra, person=person, reference=reference))
            if not draft.add_row(draft.summaries, summary, here, text, extra):
                return


def _flag(place: Place, cell: str) -> bool:
    if cell.lower() not in ("", "true", "false"):
        place.refuse("%(what)s", "true, false or nothing", what=shown(cell))
    return cell.lower() == "true"


def read_human_scores(rows: Iterable[tuple[Place, Row]], draft: Draft) -> None:
    for here, row in rows:
        topic, system = name(here.key("topic"), row["topic"]), name(here.key("system"), row["system"])
        dimension = name(here.key("dimension"), row["dimension"], limits.DIMENSION_CHARACTERS)
        score = number(here.key("score"), row["score"])
        assessor = name(here.key("assessor"), row["assessor"]) if row.get("assessor") else ""
        if assessor and score is not None and abs(score) > HIGHEST:
            here.key("score").refuse("%(what)s", "a score of at most 15 digits", what=shown(row["score"]))
        if not (topic and system and dimension) or score is None or assessor is None:
            continue
        if not draft.add_row(draft.human_scores, HumanScore(topic, system, dimension, score, assessor), here):
            return


def read_metric_scores(rows: Iterable[tuple[Place, Row]], draft: Draft) -> None:
    for here, row in rows:
        topic, system = name(here.key("topic"), row["topic"]), name(here.key("system"), row["system"])
        metric, score = metric_name(here.key("metric"), row["metric"]), number(here.key("score"), row["score"])
        if not (topic and system and metric) or score is None:
            continue
        if not draft.add_row(draft.metric_scores, MetricScore(topic, system, metric, score), here):
            return
