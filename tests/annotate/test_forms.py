"""Mending by hand: any border may move, no letter may."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotate.forms import MendForm
from annotate.models import SourceDocument

words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
texts = st.lists(words, min_size=1, max_size=12)


def form(document: str, written: str) -> MendForm:
    return MendForm(SourceDocument(text=document), {"sentences": written})


@given(texts, st.randoms())
def test_every_cutting_of_the_same_words_is_taken(found: list[str], random) -> None:  # type: ignore[no-untyped-def]
    written = "".join(word + random.choice([" ", "\n", "\r\n", "\n\n", "  ", "\t"]) for word in found)
    filled = form(" ".join(found), written)
    assert filled.is_valid(), filled.errors
    assert "".join("".join(filled.cleaned_data["sentences"]).split()) == "".join(found)
    assert all(sentence == " ".join(sentence.split()) != "" for sentence in filled.cleaned_data["sentences"])


@given(texts, words, st.integers(0, 11))
def test_no_cutting_of_other_words_is_taken(found: list[str], other: str, at: int) -> None:
    changed = [*found[:at], other, *found[at:]]
    assert not form(" ".join(found), "\n".join(changed)).is_valid()
    assert not form(" ".join(changed), "\n".join(found)).is_valid()


def test_a_document_that_came_cut_is_mended_like_any_other() -> None:
    document = SourceDocument(sentences=["One two.", "Three."])
    assert MendForm(document, {"sentences": "One\ntwo. Three."}).is_valid()
