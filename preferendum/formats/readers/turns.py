"""Conversations: lists of turns, each with its role and what was said, as programs that talk with models keep them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place, kind, shown
from preferendum.formats.checks.text import blank, clean, without_c1
from preferendum.formats.records import Role, Turn

T = TypeVar("T")

_ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "prompter"), "user"),
    **dict.fromkeys(("assistant", "gpt", "model", "bot"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
}
_TEXT = ("text", "input_text", "output_text")
_TEXT_ONLY = "text: pictures, sound and tools are not shown to annotators"
#: Keys of a turn without which its words cannot be judged.
_NOT_TEXT = ("tool_calls", "function_call", "tool_call_id", "audio", "images", "image", "attachments")
_KEYS = {"role", "from", "content", "value"}


def is_conversation(value: Any) -> bool:
    """Whether a value in the place of a text is a list of turns."""
    return isinstance(value, list) and any(isinstance(turn, dict) for turn in value)


def turns_from(place: Place, given: Any) -> tuple[Turn, ...]:
    """The turns of a list of {role, content}, or {from, value}; where one is refused there is a complaint."""
    if not isinstance(given, list):
        place.refuse("%(what)s", 'a list of turns such as {"role": "user", "content": "…"}', what=kind(given))
        return ()
    if len(given) > limits.TURNS:
        place.refuse("%(count)s turns", "at most %(limit)s", count=len(given), limit=limits.TURNS)
        return ()
    turns = tuple(_turn(place.key(number), turn) for number, turn in enumerate(given))
    if sum(len(turn.content) for turn in turns) > limits.TEXT:
        place.refuse("a text larger than %(limit)s MB", "shorter texts", limit=limits.TEXT // limits.MEGABYTE)
    if not any(turn.role == "assistant" for turn in turns):
        place.refuse("no turn of the assistant", "a conversation with what the system wrote")
    return turns


def role_of(turn: Mapping[str, Any]) -> Role | None:
    """Who speaks in a turn, by its `role` or `from`; None for nobody whom we know."""
    name = turn.get("role" if "role" in turn or "from" not in turn else "from")
    return _ROLES.get(name.strip().lower()) if isinstance(name, str) else None


def asked_in(value: list[Any]) -> str:
    """What the user says first in a list of turns, or else anybody; empty where there is no text."""
    turns = sorted((turn for turn in value if isinstance(turn, dict)), key=lambda turn: role_of(turn) != "user")
    contents = (turn.get("content", turn.get("value")) for turn in turns)
    parts = (part for content in contents for part in (content if isinstance(content, list) else [content]))
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def answering(prompt: Any, answer: Any) -> list[Any]:
    """The turns of an answer, which is a text, a turn or a list of them, after those of its prompt that it lacks."""
    own = answer if isinstance(answer, list) else [answer]
    own = [{"role": "assistant", "content": turn} if isinstance(turn, str) else turn for turn in own]
    asked = prompt if isinstance(prompt, list) and own and _is_of_assistant(own[0]) else []
    while asked and _is_of_assistant(asked[-1]):
        asked = asked[:-1]
    return [*asked, *own]


def written(turns: Iterable[Turn]) -> str:
    """What the system wrote: the turns of the assistant."""
    return "\n\n".join(turn.content for turn in turns if turn.role == "assistant")


def turns_as_json(turns: Iterable[Turn]) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in turns]


def apart(left: Sequence[T], right: Sequence[T]) -> tuple[Sequence[T], Sequence[T], Sequence[T]]:
    """The turns with which two conversations begin alike, and what follows in each, which is never nothing."""
    most = max(min(len(left), len(right)) - 1, 0)
    n = next((n for n in range(most) if left[n] != right[n]), most)
    return left[:n], left[n:], right[n:]


def _is_of_assistant(turn: Any) -> bool:
    return isinstance(turn, dict) and role_of(turn) == "assistant"


def _turn(place: Place, given: Any) -> Turn:
    if not isinstance(given, dict):
        place.refuse("%(what)s", 'a turn such as {"role": "user", "content": "…"}', what=kind(given))
        return Turn("user", "")
    for key in _NOT_TEXT:
        if given.get(key):
            place.key(key).refuse("%(what)s", _TEXT_ONLY, what=kind(given[key]))
    if others := [key for key, value in given.items() if key not in (*_KEYS, *_NOT_TEXT) and value is not None]:
        left_out = "%(count)s keys of turns other than role and content were left out, such as %(first)s"
        place.remark_counted(left_out, len(others), first=shown(others[0]))
    role = _role(place, given)
    key = "content" if "content" in given or "value" not in given else "value"
    return Turn(role, _content(place.key(key), given.get(key), may_be_empty=role == "assistant"))


def _role(place: Place, given: Mapping[str, Any]) -> Role:
    role = role_of(given)
    if role is None:
        key = "role" if "role" in given or "from" not in given else "from"
        place.key(key).refuse("%(what)s", "user, assistant or system", what=kind(given.get(key)))
    return role or "user"


def _content(place: Place, given: Any, *, may_be_empty: bool) -> str:
    """What was said: a text, or a list of parts, each {type: text, text}."""
    parts = given if isinstance(given, list) else [given]
    before = len(place.complaints.collected)
    texts: list[str] = []
    for number, part in enumerate(parts):
        here = place.key(number) if isinstance(given, list) else place
        if isinstance(part, dict) and part.get("type", "text") not in _TEXT:
            here.refuse("a part of type %(what)s", _TEXT_ONLY, what=shown(part["type"]))
            continue
        text = part.get("text") if isinstance(part, dict) else part
        if not isinstance(text, str):
            here.refuse("%(what)s", "text in double quotes", what=kind(text))
        else:
            texts.append(clean(here, without_c1(here, text)) or "")
    content = "\n\n".join(texts)
    if blank(content) and not may_be_empty and len(place.complaints.collected) == before:
        place.refuse("only invisible characters" if content.strip() else "an empty text", "some text")
    return content
