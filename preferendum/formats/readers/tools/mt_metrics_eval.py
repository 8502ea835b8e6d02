"""Scores of segments as mt-metrics-eval has them: standalone files of ratings, or the folder of an evaluation set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from preferendum.formats.checks import strict_json
from preferendum.formats.checks.complaints import Place, kind, shown
from preferendum.formats.readers.draft import Draft, weight
from preferendum.formats.readers.lines import read_lines
from preferendum.formats.readers.sources import Source
from preferendum.formats.readers.tools.catalogue import NO_SCORE, Judged, Reader, Row, rows_of_all, text_of, topic_of

_KEYS = ("source", "hypothesis", "errors", "system_id", "segment_id", "rater_id")
#: What an error costs, as the tool's own script has it: what is most specific counts.
_COSTS = {
    "major": 5.0,
    "minor": 1.0,
    "neutral": 0.0,
    "no-error": 0.0,
    "major/non-translation!": 25.0,
    "minor/fluency/punctuation": 0.1,
}


def _recognises(row: Row) -> bool:
    return {"source", "hypothesis", "errors", "system_id"} <= row.keys()


def _folder(sources: Sequence[Source], _draft: Draft) -> Sequence[Source]:
    """The human scores of segments in an evaluation set, with its texts."""
    own = [source for source in sources if _part(source)[0]]
    return own if any(_part(source)[0] == "human-scores" for source in own) else ()


def _part(source: Source) -> tuple[str, str, str]:
    """The folder of an evaluation set in which a file stands, its pair of languages and its name; "" for others."""
    folder = source.parts[-2] if len(source.parts) > 1 else ""
    if source.parts[-3:-2] == ("system-outputs",) and source.name.endswith(".txt"):
        return "system-outputs", folder, source.stem
    pair, _dot, name = source.name.partition(".")
    if folder == "human-scores" and name.endswith((".seg.score", ".seg.rating")):
        return folder, pair, name
    is_text = folder in ("sources", "references") and name.endswith("txt")
    return (folder, pair, name.removesuffix("txt").rstrip(".")) if is_text else ("", "", "")


def _rows(sources: Sequence[Source], place: Place, draft: Draft) -> Iterator[tuple[Place, Row]]:
    """The rows of standalone files; of a set, one for each line of its scores, with the texts of the segment."""
    parts = {source: _part(source) for source in sources}
    if not all(folder for folder, _pair, _name in parts.values()):
        for here, row in rows_of_all(sources, place, draft):
            yield here, {key: row[key] for key in _KEYS if key in row}
        return
    if len(pairs := {pair for _folder, pair, _name in parts.values()}) > 1:
        place.refuse("%(pairs)s", "one pair of languages", pairs=shown(", ".join(sorted(pairs)), 200))
        return
    texts: dict[tuple[str, str], list[str]] = {}
    for source, (folder, _pair, name) in parts.items():
        if folder != "human-scores":
            texts[folder, name] = [line for _here, line in _lines(source, place)]
            draft.memory += weight(texts[folder, name])
            if not draft.has_room(place):
                return
    references = [name for folder, name in texts if folder == "references"]
    for source, (folder, _pair, name) in parts.items():
        segments: Counter[str] = Counter()
        for here, line in _lines(source, place) if folder == "human-scores" else ():
            system, value = [*line.split(maxsplit=1), "", ""][:2]
            places = {"source": ("sources", ""), "hypothesis": ("system-outputs", system)}
            places |= {"reference": ("references", references[0])} if references else {}
            at = slice(segments[system], segments[system] + 1)
            yield (
                here,
                {
                    **{key: "".join(texts.get(own, [])[at]) for key, own in places.items()},
                    **_given(here, name, value.strip()),
                    "system_id": system,
                    "segment_id": segments[system],
                    "person": "true" if system in references else "",
                },
            )
            segments[system] += 1


def _lines(source: Source, place: Place) -> Iterator[tuple[Place, str]]:
    here = Place(place.complaints, source.label)
    with source.open() as file:
        for number, line in read_lines(file, here):
            yield here.at(number), line or ""


def _given(here: Place, name: str, value: str) -> dict[str, Any]:
    """What a line says of a segment: a score, or a rating as standalone files have it."""
    *method, _seg, form = name.split(".")
    if form == "score":
        return {"dimension": ".".join(method), "score": "" if value == "None" else value}
    rating, _tab, rater = value.partition("\t")
    errors = None if rating == "None" else (strict_json.parse_object(here, rating) or {}).get("errors")
    return {"score": ""} if errors is None else {"errors": errors, "rater_id": rater or method[-1]}


def _judgments(here: Place, row: Row, _columns: Mapping[str, str]) -> Iterator[Judged]:
    system, source, text = text_of(row.get("system_id")), row.get("source"), row.get("hypothesis")
    errors = row.get("errors", [])
    if row.get("score") == "":
        yield NO_SCORE
    elif not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        here.key("errors").refuse("%(what)s", "a list of objects with a severity", what=kind(errors))
    elif not isinstance(source, str) or not isinstance(text, str):
        here.refuse("no texts", "`source` and `hypothesis`")
    elif not isinstance(system, str) or not system:
        yield "by a system that is not named"
    else:
        topic = topic_of(here, row.get("segment_id")) or topic_of(here, source)
        own = {"topic": str(topic), "system": system}
        texts = {"text": text, "document": source, "reference_text": row.get("reference", "")}
        yield own | texts | {"person": row.get("person", "")}
        costs = [_cost(error) for error in errors]
        if "score" in row:
            yield own | {"dimension": row["dimension"], "score": row["score"]}
        elif None in costs:
            yield "with a severity other than major, minor and neutral"
        else:
            score = -sum(cost or 0 for cost in costs)
            assessor = str(text_of(row.get("rater_id")) or "")
            yield own | {"dimension": "mqm", "score": repr(score + 0.0), "assessor": assessor}


def _cost(error: Mapping[str, Any]) -> float | None:
    """What an error costs; None for a severity that has no cost."""
    parts = [str(error.get("severity")).lower(), *str(error.get("category") or "").lower().split("/")]
    for length in range(len(parts), 0, -1):
        if (name := "/".join(parts[:length])) in _COSTS:
            return _COSTS[name]
    return None


READER = Reader(
    name="mt-metrics-eval",
    about="each rater's MQM score of each segment: minus the sum over its errors (major 5, minor 1, non-translation "
    "25, punctuation 0.1), so that higher is better. `source` becomes the topic's document, `hypothesis` the summary. "
    "Of an evaluation set, a folder or ZIP file with one pair of languages, the human scores of segments are read, in "
    "the dimension that the file's name says, with sources, outputs and the first reference",
    keys="`source`, `hypothesis`, `errors` (`severity`, `category`), `system_id`; `segment_id`, `rater_id`; or "
    "`human-scores/PAIR.NAME.seg.score`, `….seg.rating`, `sources/`, `references/`, `system-outputs/PAIR/`",
    source="mt-metrics-eval (68a481a), standalone_ratings",
    what="score",
    recognises=_recognises,
    judgments=_judgments,
    rows=_rows,
    folder=_folder,
    fields={"topic": "segment_id", "system": "system_id", "text": "hypothesis", "assessor": "rater_id"},
    example=(
        '{"source": "It rained.", "hypothesis": "Es regnete.", "errors": [], "document_id": "d1", "segment_id": 0, '
        '"system_id": "large", "rater_id": "rater1", "src_lang": "en", "tgt_lang": "de"}\n'
        '{"source": "It rained.", "hypothesis": "Regen.", "errors": [{"start": 0, "end": 5, "category": '
        '"Accuracy/Omission", "severity": "Major", "score": null, "is_source_error": false}, {"start": 5, "end": 6, '
        '"category": "Fluency/Punctuation", "severity": "minor"}], "document_id": "d1", "segment_id": 0, '
        '"system_id": "small", "rater_id": "rater1"}\n'
        '{"source": "It rained.", "hypothesis": "Regen.", "errors": [{"start": 0, "end": 5, "category": "Other", '
        '"severity": "critical"}], "document_id": "d1", "segment_id": 0, "system_id": "small", "rater_id": "rater2"}\n'
    ),
)
