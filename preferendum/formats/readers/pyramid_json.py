"""Pyramid annotations in JSON: the key `pyramid` of a topic, and what a study keeps of one.

    {"text": "...", "models": ["A", "B"], "borders": [0, 210], "assessor": "J",
     "scus": [{"uid": "1", "label": "...", "contributors": [{"model": "A", "parts": [part, ...]}]}],
     "peers": {system: {uid: [contributor, ...]}}, "unmatched": {system: [contributor, ...]}, "texts": {system: "..."}}

A part is a stretch of the annotated text, {"label": "...", "span": [start, end]}, or its words alone, which are then
looked for; a contributor of a peer is {"parts": [...]} or a single part. Only `scus` must be there. Without `text` the
models are the topic's references of these names, and without `texts` a peer's text is the system's summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from preferendum.formats.checks import limits, shapes
from preferendum.formats.checks.complaints import Complaints, Place, kind, shown
from preferendum.formats.pyramid import AnnotatedText, Annotation, Contributor, Part, Peer, Pyramid, Scu

Item = TypeVar("Item")

_KEYS = ("text", "models", "borders", "assessor", "scus", "peers", "unmatched", "texts")
_words = shapes.words(limits.ANNOTATED_CHARACTERS)
_short = shapes.words(limits.NAME_CHARACTERS)
_offset = shapes.whole(0, limits.ANNOTATED_CHARACTERS)


def annotation_as_json(annotation: Annotation) -> dict[str, Any]:
    """What `annotation_from` gives back as it is; other keys without a value than `text` are left out."""
    pyramid, peers = annotation.pyramid, annotation.peers
    values: dict[str, Any] = {
        "models": list(pyramid.models),
        "borders": list(pyramid.borders),
        "assessor": annotation.assessor,
        "unmatched": {name: _as_json(peer.unmatched) for name, peer in peers.items() if peer.unmatched},
        "texts": {name: peer.text for name, peer in peers.items()},
        "peers": {
            name: {uid: _as_json(contributors) for uid, contributors in peer.matched.items()}
            for name, peer in peers.items()
        },
    }
    scus = [
        {"uid": scu.uid, "label": scu.label, "contributors": _as_json(scu.contributors, pyramid.models)}
        for scu in pyramid.scus
    ]
    return {key: value for key, value in values.items() if value} | {"text": pyramid.text, "scus": scus}


def annotation_from(
    place: Place, given: Any, references: Mapping[str, str], summaries: Mapping[str, str]
) -> Annotation | None:
    """The annotation of one JSON object, or None and every complaint about it.

    `references`, `summaries`: the topic's texts by name and by system, for an annotation that does not repeat them.
    """
    before = len(place.complaints.collected)
    if not isinstance(given, dict):
        place.refuse("%(what)s", "a Pyramid: an object with the key scus", what=kind(given))
        return None
    _only(place, given, _KEYS)
    pyramid = _pyramid(place, given, references)
    peers = _peers(place, given, pyramid, summaries)
    annotation = Annotation(pyramid, peers, _optional(place, given, "assessor", _short))
    return annotation if len(place.complaints.collected) == before else None


def located(annotation: Annotation, references: Mapping[str, str], summaries: Mapping[str, str]) -> Annotation:
    """The annotation with its stretches located in the topic's texts, where it has no texts of its own."""
    if annotation.pyramid.text or any(peer.text for peer in annotation.peers.values()):
        return annotation
    given = _unsaid(
        {key: value for key, value in annotation_as_json(annotation).items() if key not in ("text", "texts")}
    )
    return annotation_from(Place(Complaints(), ""), given, references, summaries) or annotation


def _unsaid(given: Any) -> Any:
    """The annotation without the marks that a stretch has no place."""
    if isinstance(given, list):
        return [_unsaid(item) for item in given]
    if isinstance(given, dict):
        return {key: _unsaid(value) for key, value in given.items() if (key, value) != ("span", None)}
    return given


@dataclass(frozen=True, slots=True)
class _Models:
    """The texts of the models, each with where it begins; `whole` is all of them."""

    names: tuple[str, ...]
    texts: tuple[AnnotatedText, ...]
    starts: tuple[int, ...]
    whole: AnnotatedText

    def text_of(self, model: int | None) -> tuple[AnnotatedText, int]:
        return (self.texts[model], self.starts[model]) if model is not None and self.texts else (self.whole, 0)


def _pyramid(place: Place, given: Mapping[str, Any], references: Mapping[str, str]) -> Pyramid:
    models = _models(place, given, references)
    text = models.whole.text
    if not _ends_soon(place.key("scus"), given.get("scus"), len(text)):
        return Pyramid(text, ())
    scus = _items(place, given, "scus", lambda here, item: _scu(here, item, models))
    seen: set[str] = set()
    for number, scu in enumerate(scus):
        if not scu.uid or scu.uid in seen:
            place.key("scus").key(number).key("uid").refuse("%(uid)s", "a uid of its own", uid=shown(scu.uid))
        seen.add(scu.uid)
    if not scus:
        place.key("scus").refuse("no content unit", "at least one")
    return Pyramid(text, scus, models.names, models.starts)


def _models(place: Place, given: Mapping[str, Any], references: Mapping[str, str]) -> _Models:
    names = _items(place, given, "models", _short)
    if len(set(names)) < len(names) or "" in names:
        place.key("models").refuse("a model without a name of its own", "a different name for each")
    text, borders = _optional(place, given, "text", _words), _items(place, given, "borders", _offset)
    if "text" not in given and not borders and set(names) <= references.keys():
        text, borders = _joined({name: references[name] for name in names})
    rising = all(start < end for start, end in pairwise((*borders, len(text))))
    if borders and not (rising and len(borders) == len(names)):
        expected = "the characters of the text at which the models begin, in their order"
        place.key("borders").refuse("other borders", expected)
        borders = ()
    texts = [AnnotatedText(text[start:end]) for start, end in pairwise((*borders, len(text)))]
    return _Models(names, tuple(texts), borders, AnnotatedText(text))


def _joined(texts: Mapping[str, str]) -> tuple[str, tuple[int, ...]]:
    """All texts one after the other, each below a line with its name, as DUCView has them, and where each begins."""
    whole, starts = "", []
    for name, text in texts.items():
        starts.append(len(whole))
        whole += f"{name}\n{text}\n"
    return whole, tuple(starts)


def _scu(place: Place, given: Any, models: _Models) -> Scu:
    if not isinstance(given, dict):
        place.refuse("%(what)s", "an object in braces", what=kind(given))
        return Scu("?", "", ())
    _only(place, given, ("uid", "label", "contributors"))
    uid = _short(place.key("uid"), given.get("uid"))
    contributors = _items(place, given, "contributors", lambda here, item: _model_says(here, item, models))
    return Scu(uid, _optional(place, given, "label", _words), contributors)


def _model_says(place: Place, given: Any, models: _Models) -> Contributor:
    named = given.get("model") if isinstance(given, dict) else None
    model = models.names.index(named) if named in models.names else None
    if named is not None and model is None:
        place.key("model").refuse("%(what)s", "one of models", what=kind(named))
    return Contributor(_parts(place, given, *models.text_of(model), keys=("model", "parts")), model)


def _peers(place: Place, given: Mapping[str, Any], pyramid: Pyramid, summaries: Mapping[str, str]) -> dict[str, Peer]:
    matched, unmatched, texts = (_object(place, given, key) for key in ("peers", "unmatched", "texts"))
    for key, more in (("texts", texts), ("unmatched", unmatched)):
        for system in sorted(more.keys() - matched.keys()):
            place.key(key).refuse_unknown("system", system, matched, "systems that stand in peers")
    uids = {scu.uid for scu in pyramid.scus}
    peers: dict[str, Peer] = {}
    for system in sorted(matched):  # a database keeps another order
        here = place.key("peers").key(system)
        text = AnnotatedText(_words(place.key("texts").key(system), texts.get(system, summaries.get(system, ""))))
        units = _object(place.key("peers"), matched, system)
        if not _ends_soon(here, [units, unmatched.get(system)], len(text.text)):
            continue
        for uid in sorted(units.keys() - uids):
            here.key(uid).refuse("%(uid)s", "the uid of a content unit in scus", uid=shown(uid))
        peers[shapes.name(here, system)] = Peer(
            text.text,
            {uid: _peer_says(here, units, uid, text) for uid in sorted(units)},
            _peer_says(place.key("unmatched"), unmatched, system, text),
        )
    return peers


def _peer_says(place: Place, given: Mapping[str, Any], key: str, text: AnnotatedText) -> tuple[Contributor, ...]:
    def contributor(here: Place, item: Any) -> Contributor:
        if isinstance(item, dict) and "label" not in item:
            return Contributor(_parts(here, item, text, 0, keys=("parts",)))
        return Contributor((_part(here, item, text, 0),))

    return _items(place, given, key, contributor)


def _parts(place: Place, given: Any, text: AnnotatedText, start: int, *, keys: Sequence[str]) -> tuple[Part, ...]:
    if not isinstance(given, dict):
        place.refuse("%(what)s", "an object with the key parts", what=kind(given))
        return ()
    _only(place, given, keys)
    return _items(place, given, "parts", lambda here, item: _part(here, item, text, start))


def _part(place: Place, given: Any, text: AnnotatedText, start: int) -> Part:
    """`text` begins at the character `start` of all that was annotated."""
    if not isinstance(given, str | dict):
        place.refuse("%(what)s", "words of the text, or an object with label and span", what=kind(given))
        return Part("", None)
    values = {"label": given} if isinstance(given, str) else given
    _only(place, values, ("label", "span"))
    label = _words(place.key("label"), values.get("label"))
    if "span" not in values:
        return _sought(place, label, text, start)
    ends = _items(place, values, "span", _offset)
    if values["span"] is not None and (len(ends) != 2 or ends[0] >= ends[1]):
        place.key("span").refuse("%(what)s", "[start, end]", what=kind(values["span"]))
    return Part(label, (ends[0], ends[1]) if len(ends) == 2 else None)


def _sought(place: Place, label: str, text: AnnotatedText, start: int) -> Part:
    span = text.find(label, 0) if text.text else None
    if span is None and text.text:
        place.remark("not found in the text: %(label)s", label=shown(label))
    return Part(label, span and (span[0] + start, span[1] + start))


def _as_json(contributors: Iterable[Contributor], models: Sequence[str] = ()) -> list[dict[str, Any]]:
    return [
        {"parts": [{"label": part.label, "span": part.span and list(part.span)} for part in contributor.parts]}
        | ({} if contributor.model is None else {"model": models[contributor.model]})
        for contributor in contributors
    ]


def _ends_soon(place: Place, given: Any, characters: int) -> bool:
    """Whether looking for its stretches in so many characters does; a complaint where it may not."""
    stretches = _unplaced(given)
    if stretches * characters <= limits.ANNOTATED_SEARCHES:
        return True
    much = "%(parts)s parts to look for in a text of %(characters)s characters"
    place.refuse(much, "a span for each part", parts=stretches, characters=characters)
    return False


def _unplaced(given: Any) -> int:
    """How many stretches have no place, or a few more."""
    if isinstance(given, list):
        return sum(map(_unplaced, given))
    if isinstance(given, dict):
        return ("span" not in given) * ("label" in given) + sum(
            _unplaced(value) for value in given.values() if isinstance(value, list | dict)
        )
    return isinstance(given, str)


def _items(place: Place, given: Mapping[str, Any], key: str, read: Callable[[Place, Any], Item]) -> tuple[Item, ...]:
    """The list under `key`, each item read; empty where there is none."""
    here = place.key(key)
    items = [] if given.get(key) is None else shapes.items(here, given[key])
    return tuple(read(here.key(number), item) for number, item in enumerate(items))


def _object(place: Place, given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = given.get(key)
    if value is None or isinstance(value, dict):
        return value or {}
    place.key(key).refuse("%(what)s", "an object in braces", what=kind(value))
    return {}


def _optional(place: Place, given: Mapping[str, Any], key: str, check: shapes.Check) -> str:
    value = given.get(key)
    return "" if value is None else str(check(place.key(key), value))


def _only(place: Place, given: Mapping[str, Any], keys: Sequence[str]) -> None:
    for key in sorted(given.keys() - set(keys)):
        place.key(key).refuse("an unknown key", "only %(keys)s", keys=", ".join(keys))
