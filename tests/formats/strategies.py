"""Records as hypothesis makes them: anything that a reader would give, so that writing and reading must agree."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from hypothesis import strategies as st

from preferendum.formats.pyramid import Annotation, Contributor, Part, Peer, Pyramid, Scu
from preferendum.formats.records import Of, Preference, Summary, Text, Topic

_characters = st.characters(
    codec="utf-8",
    exclude_categories=("Cc", "Cs", "Mn", "Me", "Mc"),
    exclude_characters="".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
    + "".join(map(chr, range(0xFDD0, 0xFDF0))),
    include_characters="\n\t\u0301\u0323",
)


def _stored(text: str) -> bool:
    return text == unicodedata.normalize("NFC", text)


texts = st.text(_characters, max_size=40).map(lambda text: unicodedata.normalize("NFC", text)).filter(_stored)
visible_texts = texts.map(lambda text: text + "x").filter(_stored)
names = (
    st.text(_characters, max_size=12)
    .map(lambda text: unicodedata.normalize("NFC", "n" + text.replace("\n", "").replace("\t", "") + "n"))
    .filter(lambda text: _stored(text) and text == text.strip())
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
extras = st.dictionaries(texts.map(lambda text: "x_" + text).filter(_stored), values, max_size=3)


@st.composite
def content(draw: st.DrawFn, empty: bool) -> tuple[str | None, tuple[str, ...] | None]:
    if draw(st.booleans()):
        return draw(texts if empty else visible_texts), None
    return None, tuple(draw(st.lists(visible_texts, min_size=0 if empty else 1, max_size=4)))


@st.composite
def _text(draw: st.DrawFn, name: str) -> Text:
    text, sentences = draw(content(empty=False))
    return Text(name, text, sentences, draw(extras))


@st.composite
def _summary(draw: st.DrawFn, name: str, references: Sequence[str]) -> Summary:
    text, sentences = draw(content(empty=True))
    human = draw(st.dictionaries(names, numbers, max_size=2))
    reference = st.none() | st.sampled_from(references) if references else st.none()
    metrics = draw(st.dictionaries(names.filter({":", ","}.isdisjoint), numbers, max_size=2))
    scores = st.dictionaries(names, st.floats(-1e15, 1e15), min_size=1, max_size=2)
    ratings = draw(st.dictionaries(names, scores, max_size=2))
    return Summary(name, text, sentences, draw(extras), human, draw(st.booleans()), draw(reference), ratings, metrics)


@st.composite
def _contributors(draw: st.DrawFn, models: int = 0) -> tuple[Contributor, ...]:
    span = st.none() | st.integers(0, 99).map(lambda start: (start, start + 1))
    parts = st.lists(st.builds(Part, texts, span), max_size=2).map(tuple)
    model = st.none() | st.integers(0, models - 1) if models else st.none()
    return tuple(draw(st.lists(st.builds(Contributor, parts, model), max_size=2)))


@st.composite
def annotations(draw: st.DrawFn) -> Annotation:
    """Pyramids with annotated summaries, as a reader gives them: in the order of their names."""
    names_of_models = draw(st.lists(names, max_size=2, unique=True))
    text = draw(texts)
    borders = tuple(range(len(names_of_models))) if len(text) > 2 and draw(st.booleans()) else ()
    uids = sorted(draw(st.lists(names, min_size=1, max_size=3, unique=True)))
    scus = tuple(Scu(uid, draw(texts), draw(_contributors(len(names_of_models)))) for uid in uids)
    peers = {
        system: Peer(draw(texts), {uid: draw(_contributors()) for uid in uids[:2]}, draw(_contributors()))
        for system in sorted(draw(st.lists(names, max_size=2, unique=True)))
    }
    return Annotation(Pyramid(text, scus, tuple(names_of_models), borders), peers, draw(st.just("") | names))


_some_names = st.lists(names, max_size=3, unique=True)


@st.composite
def topic(draw: st.DrawFn, topic_id: str) -> Topic:
    references = draw(_some_names)
    return Topic(
        topic_id,
        tuple(draw(_text(name)) for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))),
        tuple(draw(_text(name)) for name in references),
        tuple(draw(_summary(name, references)) for name in draw(_some_names)),
        title=draw(st.just("") | visible_texts),
        question=draw(st.just("") | visible_texts),
        language=draw(st.sampled_from(["", "en", "de", "pt-BR"])),
        pyramid=draw(st.none() | annotations()),
        extra=draw(extras),
    )


@st.composite
def topics(draw: st.DrawFn) -> tuple[Topic, ...]:
    first, *others = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    base = draw(st.sampled_from(["", first]))
    return (draw(topic(first)), *(replace(draw(topic(name)), base=base) for name in others))


moments = st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat()).filter(str.isascii)


@st.composite
def preference(draw: st.DrawFn, with_extra: bool = True) -> Preference:
    document, left, right = draw(names), draw(st.integers(0, 99)), draw(st.integers(0, 99))
    sentences = (f"{document}:{left}", f"{document}:{right + 100}")
    of = draw(st.sampled_from(get_args(Of)))
    a, b = sentences if of == "sentences" else draw(st.lists(names, min_size=2, max_size=2, unique=True))
    return Preference(
        draw(names),
        a,
        b,
        draw(st.sampled_from(["a", "b", "tie"])),
        annotator=draw(st.just("") | names),
        seconds=draw(st.none() | st.floats(0, 1e6)),
        at=draw(st.just("") | moments),
        extra=draw(extras) if with_extra else {},
        of=of,
    )
