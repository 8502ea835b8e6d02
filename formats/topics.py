"""Topics as JSON Lines: one topic a line, with its documents, references and summaries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO, TypeVar

from formats import limits, strict_json
from formats.complaints import Place, kind, shown
from formats.draft import Draft
from formats.lines import Sink, read_lines
from formats.records import Summary, Text, Topic
from formats.text import blank, clean, name, without_c1

Part = TypeVar("Part", bound=Text)

_TOPIC_KEYS = frozenset(("topic_id", "title", "question", "language", "documents", "references", "summaries"))
_TEXT_KEYS = frozenset(("id", "text", "sentences"))
_SUMMARY_KEYS = frozenset(("system", "text", "sentences", "human"))
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}")


def read_topics(file: BinaryIO, place: Place, draft: Draft) -> None:
    for number, line in read_lines(file, place):
        if line is None or not line.strip():
            continue
        here = place.at(number)
        found = strict_json.parse_object(here, line)
        if found is None:
            if len(line.strip()) == 1:
                return  # a pretty-printed file or an array: every line would be complained of
            continue
        topic = topic_from(here, found)
        if topic is not None and not draft.add_topic(topic, here):
            return


def write_topics(topics: Iterable[Topic], file: Sink) -> None:
    """One topic a line, exactly: reading it back gives equal topics."""
    file.writelines(strict_json.line(topic_as_json(topic)).encode() + b"\n" for topic in topics)


def topic_from(place: Place, found: dict[str, Any]) -> Topic | None:
    """The topic of one JSON object, or None and every complaint about it."""
    before = len(place.complaints.collected)
    topic = Topic(
        topic_id=named(place, found, "topic_id"),
        documents=_parts(place, found, "documents", lambda here, item: _text(here, item, empty=False)),
        references=_parts(place, found, "references", lambda here, item: _text(here, item, empty=False)),
        summaries=_parts(place, found, "summaries", _summary),
        title=optional_text(place, found, "title", limits.TITLE_CHARACTERS),
        question=optional_text(place, found, "question", limits.QUESTION_CHARACTERS),
        language=_language(place, found),
        extra=strict_json.extras(place, found, _TOPIC_KEYS),
    )
    if not topic.documents and len(place.complaints.collected) == before:
        place.key("documents").refuse("no documents", "at least one document: people judge their sentences")
    return topic if len(place.complaints.collected) == before else None


def topic_as_json(topic: Topic) -> dict[str, Any]:
    """The topic as an object of JSON; keys without a value are left out."""
    found: dict[str, Any] = dict(topic.extra)
    found["topic_id"] = topic.topic_id
    found |= {key: value for key in ("title", "question", "language") if (value := getattr(topic, key))}
    found["documents"] = [_text_as_json(text, "id") for text in topic.documents]
    if topic.references:
        found["references"] = [_text_as_json(text, "id") for text in topic.references]
    if topic.summaries:
        found["summaries"] = [
            _text_as_json(summary, "system") | ({"human": dict(summary.human)} if summary.human else {})
            for summary in topic.summaries
        ]
    return found


def named(place: Place, found: Mapping[str, Any], key: str) -> str:
    """The name under `key`; empty where there is none, which was complained of."""
    value = found.get(key)
    here = place.key(key)
    if isinstance(value, str):
        return name(here, value) or ""
    if value is None:
        here.refuse("no such key" if key not in found else "null", "a name in double quotes")
    else:
        here.refuse("%(what)s", "a name in double quotes", what=kind(value))
    return ""


def optional_text(place: Place, found: Mapping[str, Any], key: str, characters: int) -> str:
    """The text under `key`, empty where there is none."""
    value = found.get(key)
    here = place.key(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        here.refuse("%(what)s", "text in double quotes", what=kind(value))
        return ""
    if len(value) > characters:
        here.refuse("%(count)s characters", "at most %(limit)s", count=len(value), limit=characters)
        return ""
    cleaned = clean(here, value) or ""
    if cleaned.strip() and blank(cleaned):
        here.refuse("only invisible characters", "some text, or no such key")
    return cleaned


def checked_text(place: Place, text: str, *, empty: bool) -> str | None:
    """A document, reference or summary whole, cleaned; None and a complaint where it cannot be taken."""
    if len(text) > limits.TEXT or (not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > limits.TEXT):
        place.refuse("a text larger than %(limit)s MB", "shorter texts", limit=limits.TEXT // limits.MEGABYTE)
        return None
    cleaned = clean(place, without_c1(place, text))
    if cleaned is not None and not empty and blank(cleaned):
        place.refuse("an empty text" if not cleaned.strip() else "only invisible characters", "some text")
        return None
    return cleaned


def _language(place: Place, found: Mapping[str, Any]) -> str:
    language = optional_text(place, found, "language", 50)
    if language and not LANGUAGE.fullmatch(language):
        place.key("language").refuse("%(what)s", "a language tag such as en, de or pt-BR", what=shown(language))
    return language


def _parts(
    place: Place, found: Mapping[str, Any], key: str, read: Callable[[Place, dict[str, Any]], Part]
) -> tuple[Part, ...]:
    """The list of objects under `key`, each of another name."""
    items = found.get(key)
    here = place.key(key)
    if items is None:
        if key == "documents":
            here.refuse("no such key" if key not in found else "null", "a list of documents")
        return ()
    if not isinstance(items, list):
        here.refuse("%(what)s", "a list in square brackets", what=kind(items))
        return ()
    parts: dict[str, Part] = {}
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            here.key(number).refuse("%(what)s", "an object in braces", what=kind(item))
            continue
        part = read(here.key(number), item)
        if part.name and part.name in parts:
            label = "system" if isinstance(part, Summary) else "id"
            here.key(number).key(label).refuse(
                "%(name)s for the second time", "a different name for each", name=shown(part.name)
            )
        parts[part.name] = part
    return tuple(parts.values())


def _text(place: Place, found: dict[str, Any], *, empty: bool) -> Text:
    text, sentences = _content(place, found, empty=empty)
    return Text(named(place, found, "id"), text, sentences, strict_json.extras(place, found, _TEXT_KEYS))


def _summary(place: Place, found: dict[str, Any]) -> Summary:
    # A system that says nothing is scored 0; it is not a fault of the file.
    text, sentences = _content(place, found, empty=True)
    extra = strict_json.extras(place, found, _SUMMARY_KEYS)
    return Summary(named(place, found, "system"), text, sentences, extra, _human(place, found))


def _content(place: Place, found: Mapping[str, Any], *, empty: bool) -> tuple[str | None, tuple[str, ...] | None]:
    """`text` or `sentences`, whichever is there."""
    text, sentences = found.get("text"), found.get("sentences")
    if text is not None and sentences is not None:
        place.refuse("both text and sentences", "one of them: sentences are not split again")
    elif text is not None:
        if isinstance(text, str):
            return checked_text(place.key("text"), text, empty=empty), None
        place.key("text").refuse("%(what)s", "text in double quotes", what=kind(text))
    elif sentences is not None:
        return None, _sentences(place.key("sentences"), sentences, empty=empty)
    else:
        place.key("text").refuse("no such key", "text, or a list of sentences")
    return None, None


def _sentences(place: Place, found: Any, *, empty: bool) -> tuple[str, ...] | None:
    if not isinstance(found, list):
        place.refuse("%(what)s", "a list of sentences", what=kind(found))
        return None
    if not found and not empty:
        place.refuse("an empty list", "at least one sentence")
    sentences = []
    for number, sentence in enumerate(found):
        here = place.key(number)
        if isinstance(sentence, str):
            sentences.append(checked_text(here, sentence, empty=False) or "")
        else:
            here.refuse("%(what)s", "a sentence in double quotes", what=kind(sentence))
    if sum(map(len, sentences)) > limits.TEXT:
        place.refuse("a text larger than %(limit)s MB", "shorter texts", limit=limits.TEXT // limits.MEGABYTE)
    return tuple(sentences)


def _human(place: Place, found: Mapping[str, Any]) -> dict[str, float]:
    scores = found.get("human")
    here = place.key("human")
    if scores is None:
        return {}
    if not isinstance(scores, dict):
        here.refuse("%(what)s", 'scores by dimension: {"responsiveness": 4.0}', what=kind(scores))
        return {}
    human = {}
    for dimension, score in scores.items():
        at = here.key(dimension)
        cleaned = name(at, dimension, limits.DIMENSION_CHARACTERS)
        if isinstance(score, bool) or not isinstance(score, int | float):
            at.refuse("%(what)s", "a number", what=kind(score))
        elif cleaned:
            human[cleaned] = float(score)
    return human


def _text_as_json(text: Text, label: str) -> dict[str, Any]:
    found = dict(text.extra) | {label: text.name}
    if text.sentences is not None:
        return found | {"sentences": list(text.sentences)}
    return found | {"text": text.text}
