"""Sentences, tokens and stems: what a reader would cut, and what no hostile text may break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import text
from evaluation.text import SMART, cut, split_sentences, stems, tokens

HOSTILE = {
    "ten thousand parentheses": "(" * 10_000,
    "a title without end": "Mr. " * 2_500,
    "nothing": "",
    "only spaces": " " * 10_000,
    "only line breaks": "\n" * 10_000,
    "combining marks": "a" + "\u0301\u0327" * 50_000,
    "dots": "." * 10_000,
    "quotation marks": '"' * 10_000,
    "opened and never closed": "„Ja. " * 2_500,
    "abbreviations": "U.S. " * 2_500,
    "one word": "a" * 100_000,
    "NUL": "\0 A. \0 B.",
    "lone surrogates": "\ud800 Eins. Zwei \udfff.",
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("language", ["en", "de", "zh", "xx"])
def test_no_text_breaks_the_cutting(hostile: str, language: str) -> None:
    sentences = cut(hostile, language)

    kept = "".join("".join(s.text for s in sentences).split())
    assert kept == ("".join(hostile.split()) if tokens(hostile) else "")


@pytest.mark.parametrize("hostile", ["(", "Mr. ", "a. B ", '"Hi." ', "\n", "a\u0301", "„Ja. "])
@pytest.mark.parametrize("language", ["en", "de"])
def test_half_a_million_hostile_characters_are_cut_like_ten_thousand(hostile: str, language: str) -> None:
    """Whatever takes quadratic time never comes back from this."""
    few, many = (hostile * (size // len(hostile)) for size in (10_000, 500_000))

    assert len(cut(many, language)) == pytest.approx(50 * len(cut(few, language)), rel=0.02, abs=50)


@given(st.text(max_size=300), st.sampled_from(["en", "de", "fr", "ar", "ja", ""]))
def test_every_sentence_stands_where_it_says_and_no_word_is_lost(text_: str, language: str) -> None:
    sentences = cut(text_, language)

    end = 0
    for sentence in sentences:
        assert text_[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip()
        assert tokens(sentence.text)
        assert not tokens(text_[end : sentence.start])
        end = sentence.end
    assert not tokens(text_[end:])
    assert split_sentences(text_, language) == [sentence.text for sentence in sentences]


@given(st.lists(st.text(max_size=60), max_size=5))
def test_line_breaks_are_hard_borders(lines: list[str]) -> None:
    whole = split_sentences("\n".join(lines))

    assert whole == [sentence for line in lines for sentence in split_sentences(line)]


def test_english_is_cut_as_a_reader_would() -> None:
    assert split_sentences(
        '2005/01/08 Tsunami aid\nThe U.S. Army paid approx. $3.5 million to Mr. Smith. "Is it true?" he asked. Yes!'
    ) == [
        "2005/01/08 Tsunami aid",
        "The U.S. Army paid approx. $3.5 million to Mr. Smith.",
        '"Is it true?" he asked.',
        "Yes!",
    ]


def test_a_piece_that_begins_in_lower_case_goes_back_to_the_one_before_it() -> None:
    assert split_sentences("Was it Yahoo! or another one? nobody knew. The end.") == [
        "Was it Yahoo! or another one? nobody knew.",
        "The end.",
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_holds_no_word_is_no_sentence(language: str) -> None:
    assert split_sentences('Er kam. "…" Und ging.\n* * *\n– Nein!', language)[-1] == "– Nein!"
    assert all(tokens(s) for s in split_sentences('Er kam. "…" Und ging.\n* * *\n– Nein!', language))
    assert split_sentences("---\n...", language) == []


def test_a_stray_quotation_mark_stays_with_the_sentence_that_it_closes() -> None:
    assert split_sentences('He said: "They came. They saw. ". Then he left.') == [
        'He said: "They came.',
        'They saw. ".',
        "Then he left.",
    ]


def test_other_languages_are_cut_by_their_own_rules() -> None:
    assert split_sentences("Das ist z. B. gut. Dr. Müller kam am 3. Mai.", "de-AT") == [
        "Das ist z. B. gut.",
        "Dr. Müller kam am 3. Mai.",
    ]
    assert split_sentences("你好。我是学生。", "zh-Hans") == ["你好。", "我是学生。"]


def test_a_line_longer_than_a_window_is_cut_as_if_there_were_none() -> None:
    sentence = "Dies ist ein Satz über Politik und über Geld."
    many = 3 * text.WINDOW // len(sentence)
    word = "Haus" * (text.WINDOW // 2 + 2)

    assert split_sentences(" ".join([sentence] * many), "de") == [sentence] * many
    assert split_sentences(f"{word}. Ende.", "de") == [f"{word}.", "Ende."]


def test_a_short_quotation_stays_whole_and_a_long_one_is_cut_inside() -> None:
    sentence = "Dies ist ein Satz über Politik und über Geld."
    short = f"Sie sagte: „{sentence} {sentence}“ Dann ging sie."
    long = f"Sie sagte: „{' '.join([sentence] * 6)}“ Dann ging sie. „Gut.“"

    assert split_sentences(short, "de") == [f"Sie sagte: „{sentence} {sentence}“", "Dann ging sie."]
    assert split_sentences(long, "de") == [
        f"Sie sagte: „{sentence}",
        *[sentence] * 4,
        f"{sentence}“",
        "Dann ging sie.",
        "„Gut.“",
    ]


def test_paragraphs_are_counted_over_lines_that_hold_something() -> None:
    assert [(s.text, s.paragraph) for s in cut("One. Two.\n\n   \nThree.")] == [("One.", 0), ("Two.", 0), ("Three.", 1)]


def test_an_empty_language_is_english() -> None:
    assert split_sentences("Mr. Smith came. He left.", "") == split_sentences("Mr. Smith came. He left.", "en-GB")


def test_tokens_are_lower_cased_runs_of_word_characters() -> None:
    assert tokens("Don't PANIC: 3.5 Übergrößen, x_1!") == ["don", "t", "panic", "3", "5", "übergrößen", "x_1"]
    assert tokens("?! ...") == []


def test_stems_are_porters_for_english_and_unknown_languages_keep_their_words() -> None:
    assert stems(["generously", "running"]) == ["gener", "run"]  # Porter's second algorithm leaves "generous"
    assert stems(["häuser"], "de") == ["haus"]
    assert stems(["häuser"], "de-AT") == ["haus"]
    assert stems(["running"], "xx") == ["running"]


def test_the_smart_list_has_its_596_words() -> None:
    assert len(SMART) == 596
    assert {"a's", "reuters", "zero"} <= SMART
    assert "#" not in "".join(SMART)
