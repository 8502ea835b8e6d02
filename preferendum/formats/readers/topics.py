"""Topics as JSON Lines: one topic a line, with its documents, references and summaries."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, BinaryIO, TypeVar

from preferendum.formats.checks import limits, shapes, strict_json
from preferendum.formats.checks.complaints import Place, kind, shown
from preferendum.formats.checks.text import blank, clean, name, without_c1
from preferendum.formats.pyramid import Annotation
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.lines import Sink, read_objects
from preferendum.formats.readers.pyramid_json import annotation_as_json, annotation_from
from preferendum.formats.readers.ratings import means, raters_from, ratings_as_json, ratings_from
from preferendum.formats.readers.turns import is_conversation, turns_as_json, turns_from, written
from preferendum.formats.readers.wrapped import joined
from preferendum.formats.records import Summary, Text, Topic, Turn

Part = TypeVar("Part", bound=Text)

_TOPIC_KEYS = frozenset(
    ("topic_id", "title", "question", "language", "documents", "references", "summaries", "pyramid", "base")
)
_TEXT_KEYS = frozenset(("id", "text", "sentences"))
_SUMMARY_KEYS = frozenset(
    ("system", "text", "sentences", "turns", "human", "person", "reference", "ratings", "metrics")
)
_PLAIN_KEYS = frozenset(("system", "text"))
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}")

EMPTY_SUMMARY = "an empty summary"
INVISIBLE_SUMMARY = "a summary of invisible characters only"
#: What a topic without any of these would be for.
NO_DOCUMENTS = (
    "no documents",
    "documents (people judge their sentences), or references or a Pyramid for metrics, or two summaries to compare",
)


def read_topics(file: BinaryIO, place: Place, draft: Draft, *, as_stored: bool = False) -> None:
    """One topic a line. `as_stored`: texts keep their line ends, as they do where a Pyramid names places in them."""
    for here, given in read_objects(file, place):
        if not add_topic(here, given, draft, as_stored=as_stored):
            return


def add_topic(here: Place, given: dict[str, Any], draft: Draft, *, as_stored: bool = False) -> bool:
    """Add the topic of an object; False where there is too much."""
    topic = topic_from(here, given)
    if topic is not None and not as_stored and topic.pyramid is None:
        topic = _with_joined_lines(here, topic)
    return topic is None or draft.add_topic(topic, here)


def write_topics(topics: Iterable[Topic], file: Sink) -> None:
    """One topic a line, exactly: reading it back gives equal topics."""
    file.writelines(strict_json.line(topic_as_json(topic)).encode() + b"\n" for topic in topics)


def topic_from(place: Place, given: dict[str, Any]) -> Topic | None:
    """The topic of one JSON object, or None and every complaint about it."""
    before = len(place.complaints.collected)
    topic = Topic(
        topic_id="" if _is_nameless(given) else named(place, given, "topic_id"),
        documents=_parts(place, given, "documents", lambda here, item: _text(here, item, empty=False)),
        references=_parts(place, given, "references", lambda here, item: _text(here, item, empty=False)),
        summaries=_parts(place, given, "summaries", _summary),
        title=optional_text(place, given, "title", limits.TITLE_CHARACTERS),
        question=optional_text(place, given, "question", limits.PROMPT_CHARACTERS),
        language=_language(place, given),
        base="" if given.get("base") is None else shapes.name(place.key("base"), given["base"]),
        extra=strict_json.extras(place, given, _TOPIC_KEYS),
    )
    topic = replace(topic, pyramid=_pyramid(place, given, topic))
    for number, summary in enumerate(topic.summaries):
        check_reference(place.key("summaries").key(number), summary, [text.name for text in topic.references])
    is_of_use = topic.documents or topic.references or topic.pyramid or len(topic.summaries) > 1
    if not is_of_use and len(place.complaints.collected) == before:
        place.key("documents").refuse(*NO_DOCUMENTS)
    return topic if len(place.complaints.collected) == before else None


def topic_as_json(topic: Topic) -> dict[str, Any]:
    """The topic as an object of JSON with every key, since some programs take the keys of the first lines for those of
    all; null where there is no value."""
    given: dict[str, Any] = dict(topic.extra)
    given["topic_id"] = topic.topic_id
    given |= {key: getattr(topic, key) or None for key in ("title", "question", "language", "base")}
    given["documents"] = [_text_as_json(text, "id") for text in topic.documents]
    given["references"] = [_text_as_json(text, "id") for text in topic.references]
    given["summaries"] = [
        _text_as_json(summary, "system")
        | {
            "human": dict(summary.human) if summary.human or summary.ratings else None,
            "ratings": ratings_as_json(summary.ratings) if summary.ratings else None,
            "metrics": dict(summary.metrics) or None,
            "person": summary.person,
            "reference": summary.reference,
        }
        | ({"turns": None} if summary.turns is None else {"text": None, "turns": turns_as_json(summary.turns)})
        for summary in topic.summaries
    ]
    given["pyramid"] = annotation_as_json(topic.pyramid) if topic.pyramid else None
    return given


def named(place: Place, given: Mapping[str, Any], key: str) -> str:
    """The name under `key`; empty where there is none, which was complained of."""
    value = given.get(key)
    here = place.key(key)
    if isinstance(value, str):
        return name(here, value) or ""
    if value is None:
        here.refuse("no such key" if key not in given else "null", "a name in double quotes")
    else:
        here.refuse("%(what)s", "a name in double quotes", what=kind(value))
    return ""


def optional_text(place: Place, given: Mapping[str, Any], key: str, characters: int) -> str:
    """The text under `key`, empty where there is none."""
    value = given.get(key)
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
    """A document, reference or summary whole, cleaned; None and a complaint where it is refused.

    `empty`: it may be empty, such as the summary of a system that wrote nothing; that gets a remark.
    """
    if len(text) > limits.TEXT or (not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > limits.TEXT):
        place.refuse("a text larger than %(limit)s MB", "shorter texts", limit=limits.TEXT // limits.MEGABYTE)
        return None
    cleaned = clean(place, without_c1(place, text))
    if cleaned is None or not blank(cleaned):
        return cleaned
    if empty:
        place.remark(INVISIBLE_SUMMARY if cleaned.strip() else EMPTY_SUMMARY)
        return cleaned
    place.refuse("only invisible characters" if cleaned.strip() else "an empty text", "some text")
    return None


def joined_text(place: Place, text: str, *, empty: bool) -> str | None:
    """Check a text like `checked_text`, and join the lines that an editor broke."""
    checked = checked_text(place, text, empty=empty)
    return None if checked is None else joined(place, checked)


def _with_joined_lines(place: Place, topic: Topic) -> Topic:
    def of(texts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(
            text if _is_as_written(text) else replace(text, text=joined(place, text.text or "")) for text in texts
        )

    return replace(topic, documents=of(topic.documents), references=of(topic.references), summaries=of(topic.summaries))


def _is_as_written(text: Text) -> bool:
    return "\n" not in (text.text or "") or (isinstance(text, Summary) and text.turns is not None)


def _pyramid(place: Place, given: Mapping[str, Any], topic: Topic) -> Annotation | None:
    if (pyramid := given.get("pyramid")) is None:
        return None
    references, summaries = (
        {text.name: whole(text) for text in texts} for texts in (topic.references, topic.summaries)
    )
    return annotation_from(place.key("pyramid"), pyramid, references, summaries)


def whole(text: Text) -> str:
    """All of a text, its sentences on lines of their own."""
    return text.text or "" if text.sentences is None else "\n".join(text.sentences)


def metric_name(place: Place, text: str) -> str | None:
    """The name of a metric as it stands after `given:`, or None and a complaint."""
    called = name(place, text, limits.DIMENSION_CHARACTERS)
    if called and not {":", ","}.isdisjoint(called):
        place.refuse("%(what)s", "a name without colons and commas, which separate metrics", what=shown(called))
        return None
    return called


def _dimension(place: Place, text: str) -> str | None:
    return name(place, text, limits.DIMENSION_CHARACTERS)


def _language(place: Place, given: Mapping[str, Any]) -> str:
    language = optional_text(place, given, "language", 50)
    if language and not LANGUAGE.fullmatch(language):
        place.key("language").refuse("%(what)s", "a language tag such as en, de or pt-BR", what=shown(language))
    return language


def _parts(
    place: Place, given: Mapping[str, Any], key: str, read: Callable[[Place, dict[str, Any]], Part]
) -> tuple[Part, ...]:
    """The list of objects under `key`, each of another name."""
    here = place.key(key)
    items = [] if given.get(key) is None else shapes.items(here, given[key])
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


def _text(place: Place, given: dict[str, Any], *, empty: bool) -> Text:
    text, sentences = _content(place, given, empty=empty)
    return Text(named(place, given, "id"), text, sentences, strict_json.extras(place, given, _TEXT_KEYS))


def _summary(place: Place, given: dict[str, Any]) -> Summary:
    if given.keys() == _PLAIN_KEYS and isinstance(given["text"], str):  # nearly all of large files
        text = checked_text(place.key("text"), given["text"], empty=True)
        return Summary(named(place, given, "system"), text)
    turns = _turns(place, given)
    # A system that says nothing is scored 0; it is not a fault of the file.
    text, sentences = _content(place, given, empty=True) if turns is None else (written(turns), None)
    raters = raters_from(given)
    ratings = ratings_from(place, given) if raters is None else raters
    author = "is_human" if "person" not in given and isinstance(given.get("is_human"), bool) else "person"
    keys = _SUMMARY_KEYS | {author} | (set() if raters is None else {"raters"})
    extra = strict_json.extras(place, given, keys)
    person, reference = shapes.maybe(shapes.flag), shapes.maybe(shapes.name)
    return Summary(
        named(place, given, "system"),
        text,
        sentences,
        extra,
        means(ratings) if given.get("human") is None else _scores(place, given, "human", _dimension),
        bool(person(place.key(author), given.get(author))),
        reference(place.key("reference"), given.get("reference")),
        ratings,
        _scores(place, given, "metrics", metric_name),
        turns,
    )


def _turns(place: Place, given: Mapping[str, Any]) -> tuple[Turn, ...] | None:
    """The conversation that a summary is given as, in `turns` or in place of its `text`; None where it is a text."""
    key = "text" if is_conversation(given.get("text")) else "turns"
    if given.get(key) is None:
        return None
    if also := [other for other in ("text", "sentences", "turns") if other != key and given.get(other) is not None]:
        place.refuse("both turns and %(other)s", "one of them: the text is what the assistant says", other=also[0])
    turns = turns_from(place.key(key), given[key])
    if turns and blank(written(turns)):
        place.key(key).remark(EMPTY_SUMMARY)
    return turns


def check_reference(place: Place, summary: Summary, references: Collection[str]) -> None:
    """Refuse a summary that says it is a reference which the topic does not have."""
    if summary.reference is not None and summary.reference not in references:
        here = place.key("reference")
        here.refuse_unknown("reference", summary.reference, references, "the id of a reference of the topic")


def _content(place: Place, given: Mapping[str, Any], *, empty: bool) -> tuple[str | None, tuple[str, ...] | None]:
    """Either `text` or `sentences`."""
    text, sentences = given.get("text"), given.get("sentences")
    if text is not None and sentences is not None:
        place.refuse("both text and sentences", "one of them: sentences are not split again")
    elif text is not None:
        if isinstance(text, str):
            return checked_text(place.key("text"), text, empty=empty), None
        place.key("text").refuse("%(what)s", "text in double quotes", what=kind(text))
    elif sentences is not None:
        return None, _sentences(place.key("sentences"), sentences, empty=empty)
    elif not (empty and {"text", "sentences"} <= given.keys()):  # both null: a summary whose text is not known
        place.key("text").refuse("no such key", "text, or a list of sentences")
    return None, None


def _is_nameless(given: Mapping[str, Any]) -> bool:
    """Whether it stands for answers that do not say what they are about: it has neither a name nor a text."""
    summaries = given.get("summaries")
    return (
        given.get("topic_id") == ""
        and not any(given.get(key) for key in ("documents", "references", "pyramid"))
        and isinstance(summaries, list)
        and all(isinstance(own, dict) and own.get("text") is own.get("sentences") is None for own in summaries)
    )


def _sentences(place: Place, given: Any, *, empty: bool) -> tuple[str, ...] | None:
    if not isinstance(given, list):
        place.refuse("%(what)s", "a list of sentences", what=kind(given))
        return None
    if not given and not empty:
        place.refuse("an empty list", "at least one sentence")
    sentences = []
    for number, sentence in enumerate(given):
        here = place.key(number)
        if isinstance(sentence, str) and sentence.strip():
            sentences.append(checked_text(here, sentence, empty=False) or "")
        elif not isinstance(sentence, str):
            here.refuse("%(what)s", "a sentence in double quotes", what=kind(sentence))
    if passed_over := len(given) - len(sentences):
        remark = "%(count)s empty sentences were ignored (here and below); those after them are counted from there"
        place.remark_counted(remark, passed_over)
    if empty and not sentences:
        place.remark(EMPTY_SUMMARY)
    elif given and not sentences:
        place.refuse("only empty sentences", "at least one sentence")
    if sum(map(len, sentences)) > limits.TEXT:
        place.refuse("a text larger than %(limit)s MB", "shorter texts", limit=limits.TEXT // limits.MEGABYTE)
    return tuple(sentences)


def _scores(
    place: Place, given: Mapping[str, Any], key: str, named: Callable[[Place, str], str | None]
) -> dict[str, float]:
    """The numbers under `key`, by what `named` takes for a name."""
    scores = given.get(key)
    here = place.key(key)
    if scores is None:
        return {}
    if not isinstance(scores, dict):
        here.refuse("%(what)s", 'scores by dimension or metric: {"responsiveness": 4.0}', what=kind(scores))
        return {}
    by_name = {}
    for label, score in scores.items():
        at = here.key(label)
        cleaned = named(at, label)
        if isinstance(score, bool) or not isinstance(score, int | float):
            at.refuse("%(what)s", "a number", what=kind(score))
        elif cleaned:
            by_name[cleaned] = float(score)
    return by_name


def _text_as_json(text: Text, label: str) -> dict[str, Any]:
    sentences = None if text.sentences is None else list(text.sentences)
    return {**text.extra, label: text.name, "text": text.text if sentences is None else None, "sentences": sentences}
