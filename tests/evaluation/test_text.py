"""Texts become tokens, in any script, and stems."""

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.formats.tokens import pieces, placed_tokens
from preferendum.text import SMART, stems, tokens


def test_tokens_are_lower_cased_runs_of_word_characters() -> None:
    assert tokens("Don't PANIC: 3.5 Übergrößen, x_1!") == ["don", "t", "panic", "3", "5", "übergrößen", "x_1"]
    assert tokens("?! ...") == []


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF, exclude_categories=["Mn", "Cf", "No", "Lo"]), max_size=80))
def test_latin_text_has_the_tokens_that_it_always_had(text: str) -> None:
    text = unicodedata.normalize("NFKC", text).replace("İ", "I").replace("ŉ", "n")
    assert tokens(text) == re.findall(r"\w+", text.lower())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("राजा और राजू", ["राजा", "और", "राजू"]),
        ("ক্ষমা করো", ["ক্ষমা", "করো"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("తెలుగు భాష", ["తెలుగు", "భాష"]),
        ("بِسْمِ", ["بِسْمِ"]),
        ("שָׁלוֹם", [unicodedata.normalize("NFKC", "שָׁלוֹם")]),
        ("мо́ре", ["мо́ре"]),
        ("می\u200cرود", ["میرود"]),
        ("İSTANBUL", ["istanbul"]),
        ("ﬁne Ｈｅｌｌｏ Dampf\u00adschiff", ["fine", "hello", "dampfschiff"]),
        ("བོད་སྐད་", ["བོད", "སྐད"]),
        ("한국어를 배운다", ["한국어를", "배운다"]),
        ("ســلام ـــ", ["سلام"]),
        ("١٢ ۱۲ १२ ১২ 12", ["12"] * 5),
    ],
)
def test_words_between_spaces_keep_their_marks(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.parametrize(
    ("text", "bigrams"),
    [
        ("我们买iPhone手机2024年。", ["我们", "们买", "iphone", "手机", "2024", "年"]),
        ("東京へ行く", ["東京", "京へ", "へ行", "行く"]),
        ("ｶﾞｽ", ["ガス"]),
        ("葛\U000e0100飾区", ["葛飾", "飾区"]),
        ("ประเทศไทย", ["ประ", "ระเท", "เทศ", "ศไท", "ไทย"]),
        ("ປະເທດລາວ", ["ປະເທ", "ເທດ", "ດລາ", "ລາວ"]),
        ("ភាសាខ្មែរ", ["ភាសា", "សាខ្មែ", "ខ្មែរ"]),
        ("မြန်မာ", ["မြန်", "န်မာ"]),
        ("๑๒ คน", ["12", "คน"]),
    ],
)
def test_scripts_without_spaces_give_bigrams_of_their_characters(text: str, bigrams: list[str]) -> None:
    assert tokens(text) == [unicodedata.normalize("NFKC", bigram) for bigram in bigrams]


def test_a_zero_width_space_that_some_write_between_words_changes_no_token() -> None:
    assert tokens("ខ្ញុំ\u200bចូលចិត្ត") == tokens("ខ្ញុំចូលចិត្ត")


@given(st.text(max_size=60))
def test_pieces_are_the_text_and_tokens_stand_where_they_say(text: str) -> None:
    assert "".join(piece for piece, _token in pieces(text, lambda token: len(token.text) % 2 == 0)) == text
    starts = [token.start for token in placed_tokens(text)]
    assert starts == sorted(starts)
    assert tokens(text) == [token.text for token in placed_tokens(text)]


@pytest.mark.parametrize("unit", ["กา", "เ", "中\u200b", "a\u200b", "é\u00ad", "ក្", "\u17d2", "क\u0301", "中a"])
def test_half_a_million_hostile_characters_take_seconds(unit: str) -> None:
    begun = time.perf_counter()
    tokens(unit * (500_000 // len(unit)))
    assert time.perf_counter() - begun < 10


def test_no_stemmer_takes_the_vowels_of_hindi_and_nepali_for_endings_or_arabic_apart() -> None:
    for language, words in {"hi": ["माला", "माली"], "ne": ["नदी"], "ar": ["مدرسة", "مدارس"]}.items():
        assert stems(words, language) == words


def test_stems_are_porters_for_english_and_unknown_languages_keep_their_words() -> None:
    assert stems(["generously", "running"]) == ["gener", "run"]  # Porter's second algorithm leaves "generous"
    assert stems(["häuser"], "de") == ["haus"]
    assert stems(["häuser"], "de-AT") == ["haus"]
    assert stems(["running"], "xx") == ["running"]


def test_the_smart_list_has_its_596_words() -> None:
    assert len(SMART) == 596
    assert {"a's", "reuters", "zero"} <= SMART
    assert "#" not in "".join(SMART)
