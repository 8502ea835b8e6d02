"""Votes that bring their topics along: what was compared becomes the summaries of new topics, with texts or without."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.checks.text import blank
from preferendum.formats.readers.draft import Draft, Voted, weight
from preferendum.formats.readers.topics import checked_text
from preferendum.formats.readers.turns import answering, turns_from, written
from preferendum.formats.records import Existing, Preference, Refused, Summary, Topic, Turn

MANY_TOPICS = (
    "%(count)s topics, more than the %(limit)s that a study has: the votes are read as naming none, so intervals leave "
    "out how topics differ, and agreement is unknown"
)
NOT_SHOWN = "conversations that annotators could not be shown, so these votes have no texts: %(count)s"
SHORTENED = "prompts that were cut after %(limit)s characters: %(count)s"


def keep_texts(draft: Draft, vote: Preference, texts: Mapping[str, Any], place: Place) -> bool:
    """Keep the prompt and the two texts of a vote, or their turns, as a file has them: `prompt`, `a` and `b`.

    False, and nothing kept, where one of its systems has another text in this topic already.
    """
    voted = draft.voted
    if voted is None:
        return True
    prompt, asked = texts.get("prompt"), voted.prompts.get(vote.topic, "")
    if not asked and isinstance(prompt, str) and not blank(prompt):
        asked = checked_text(place, prompt, empty=False) or ""
    own: dict[tuple[str, str], str | tuple[Turn, ...]] = {}
    for system, given in {vote.a: texts.get("a"), vote.b: texts.get("b")}.items():
        if not isinstance(given, str | list | dict):
            continue
        text = _said(place, prompt, given)
        if text is None:
            return True
        if isinstance(text, tuple) and text and text[0].role == "user" and asked in ("", text[0].content):
            # One that is too long for a topic stays among the turns.
            is_short = len(text[0].content) <= limits.PROMPT_CHARACTERS
            asked, text = (text[0].content, text[1:]) if is_short else ("", text)
        if voted.texts.get((vote.topic, system), text) != text:
            return False
        own[vote.topic, system] = text
    if own and not vote.topic:
        place.key("topic").refuse("texts without a prompt or the name of one", "a prompt, or its id, in each row")
        return True
    draft.memory += sum(weight(text) for key, text in own.items() if key not in voted.texts)
    voted.texts |= own
    if own and asked and vote.topic not in voted.prompts:
        voted.prompts[vote.topic] = asked
        draft.memory += weight(asked)
    return True


def _said(place: Place, prompt: Any, given: Any) -> str | tuple[Turn, ...] | None:
    """A text, or the turns of a conversation, none where it cannot be shown; None for a text that is refused."""
    if isinstance(given, str) and not isinstance(prompt, list):
        return checked_text(place, given, empty=True)
    apart = Complaints(remarks=place.complaints.remarks)
    with suppress(Refused):
        turns = turns_from(place._replace(complaints=apart), answering(prompt, given))
    if not apart.collected:
        return turns
    place.remark_counted(NOT_SHOWN, 1)
    return ()


def add_topics(draft: Draft, voted: Voted, existing: Existing, place: Place) -> None:
    """Add the topics that votes about summaries name and nothing else has, each with the systems that votes compare."""
    existing_topics = {placed.record.topic_id for placed in draft.topics}.union(existing.topics)
    systems: dict[str, dict[str, None]] = {}
    for placed in draft.preferences:
        vote = placed.record
        if placed.place.file in voted.files and vote.of == "summaries" and vote.topic not in existing_topics:
            systems.setdefault(vote.topic, {}).update({vote.a: None, vote.b: None})
    if len(systems) > limits.TOPICS and not existing_topics and not voted.texts:
        place.remark("%(what)s", what=MANY_TOPICS % {"count": f"{len(systems):,}", "limit": f"{limits.TOPICS:,}"})
        systems = {"": {system: None for own in systems.values() for system in own}}
        draft.preferences[:] = [replace(own, record=_without_topic(own.record)) for own in draft.preferences]
    elif "" in systems.keys() | existing_topics and len(systems.keys() | existing_topics) > 1:
        place.key("topic").refuse("votes that name no topic beside others that do", "a topic in each vote, or in none")
        return
    if len(systems) > limits.TOPICS:
        actual, expected = "%(count)s topics with texts", "at most %(limit)s in a study"
        place.key("topic").refuse(actual, expected, count=f"{len(systems):,}", limit=f"{limits.TOPICS:,}")
        return
    shortened = 0
    for name, own in systems.items():
        prompt = voted.prompts.get(name, "")
        shortened += len(prompt) > limits.PROMPT_CHARACTERS
        topic = Topic(
            name,
            (),
            summaries=tuple(_summary(system, voted.texts.get((name, system), ())) for system in own),
            question=prompt[: limits.PROMPT_CHARACTERS],
        )
        if not draft.add_topic(topic, place):
            return
    if shortened:
        place.remark(SHORTENED, count=shortened, limit=limits.PROMPT_CHARACTERS)


def _summary(system: str, content: str | tuple[Turn, ...]) -> Summary:
    if isinstance(content, str):
        return Summary(system, content)
    return Summary(system, written(content), turns=content) if content else Summary(system)


def _without_topic(vote: Preference) -> Preference:
    return replace(vote, topic="", extra={**vote.extra, "about": vote.topic})
