"""Records as hypothesis makes them: anything that a reader would give, so that writing and reading must agree."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from formats.records import Preference, Summary, Text, Topic

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
def _summary(draw: st.DrawFn, name: str) -> Summary:
    text, sentences = draw(content(empty=True))
    human = draw(st.dictionaries(names, numbers, max_size=2))
    return Summary(name, text, sentences, draw(extras), human)


_some_names = st.lists(names, max_size=3, unique=True)


@st.composite
def topic(draw: st.DrawFn, topic_id: str) -> Topic:
    return Topic(
        topic_id,
        tuple(draw(_text(name)) for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))),
        tuple(draw(_text(name)) for name in draw(_some_names)),
        tuple(draw(_summary(name)) for name in draw(_some_names)),
        title=draw(st.just("") | visible_texts),
        question=draw(st.just("") | visible_texts),
        language=draw(st.sampled_from(["", "en", "de", "pt-BR"])),
        extra=draw(extras),
    )


@st.composite
def topics(draw: st.DrawFn) -> tuple[Topic, ...]:
    return tuple(draw(topic(name)) for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)))


moments = st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat()).filter(str.isascii)


@st.composite
def preference(draw: st.DrawFn, with_extra: bool = True) -> Preference:
    document, left, right = draw(names), draw(st.integers(0, 99)), draw(st.integers(0, 99))
    return Preference(
        draw(names),
        f"{document}:{left}",
        f"{document}:{right + 100}",
        draw(st.sampled_from(["a", "b", "tie"])),
        annotator=draw(st.just("") | names),
        seconds=draw(st.none() | st.floats(0, 1e6)),
        at=draw(st.just("") | moments),
        extra=draw(extras) if with_extra else {},
    )
