"""Judgments that a study has already, so that a file that is uploaded again counts once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotate import exports
from annotate.judging.importing import moment
from annotate.models import Judgment, Study
from preferendum.formats.answers import UNDONE
from preferendum.formats.readers.preferences import is_recognisable, kind_of
from preferendum.formats.records import Bundle, Preference, Remark

STORED = "rows that the study has already, which are not counted again: %(count)s"
Key = tuple[object, ...]


def without_stored(study: Study, bundle: Bundle, filename: str) -> Bundle:
    """The bundle without judgments that the study has, and a remark on how many these are.

    Answers that were changed or taken back since are known, too. A judgment that our CSV leaves keys out of is known by
    those that it has.
    """
    if not any(map(is_recognisable, bundle.preferences)):
        return bundle
    stored: dict[Key, list[Mapping[str, Any]]] = defaultdict(list)
    for preference in exports.preferences(study, Judgment.objects.arrived().exclude(answer=UNDONE)):
        for name in _names(preference):
            stored[_key(preference, name)].append(_more(preference))
    new = tuple(own for own in bundle.preferences if not (is_recognisable(own) and _is_among(own, stored)))
    if (repeated := len(bundle.preferences) - len(new)) == 0:
        return bundle
    remark = Remark(filename, 0, "", STORED, {"count": repeated})
    return replace(bundle, preferences=new, remarks=(remark, *bundle.remarks))


def _is_among(preference: Preference, stored: Mapping[Key, list[Mapping[str, Any]]]) -> bool:
    given = _more(preference)
    given.pop("judge", None)  # what is known of a machine may change
    if preference.at and preference.seconds is None:
        del given["seconds"]
    return any(
        all(key in extra and extra[key] == value for key, value in given.items())
        for extra in stored.get(_key(preference, preference.annotator), ())
    )


def _more(preference: Preference) -> dict[str, Any]:
    """What a row may leave out."""
    return {"kind": kind_of(preference), **preference.extra, "seconds": preference.seconds}


def _names(preference: Preference) -> Iterator[str]:
    """What a file may call its annotator: nothing, or their name without the number that sets them apart from a
    namesake, where the time leaves no doubt."""
    yield preference.annotator
    if preference.at:
        yield ""
        called, _space, number = preference.annotator.rpartition(" ")
        if number.isdecimal():
            yield called


def _key(preference: Preference, name: str) -> Key:
    pair = preference.topic, preference.of, preference.a, preference.b
    return (*pair, preference.winner, name, moment(preference.at, None))
