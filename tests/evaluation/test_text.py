"""Sentences become tokens and stems."""

from preferendum.text import SMART, stems, tokens


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
