"""Rules for what looks like no sentence: they find what a stranger would, and leave real sentences alone."""

import json
import time
from pathlib import Path

import pytest

from preferendum.formats.not_judged import RULES, not_judged
from preferendum.formats.records import Cut
from preferendum.formats.sentences import cut
from tests.formats.test_sentences import HOSTILE

DEMO = Path(__file__).parents[2] / "annotate" / "demo" / "wikinews.jsonl"

NEWS = """London bombing suspects are all British nationals
Thursday, July 14, 2005
By Jane Doe and JOHN SMITH
LONDON, England (Reuters) -
The police named four men on Wednesday. They searched houses in Leeds.
The four alleged suicide bombers
File photo: Tavistock Square after the explosion.
An anonymous survivor, writing on a website, says:
"You can't put a price on that, but apparently the government can."
- "Pauline"
* India - more than 7,700
[3]
Read more
https://example.org/news/1
© 2005 The Example Times. All rights reserved.
The police named four men on Wednesday.
Nobody has been charged. The search goes on."""
OF_NEWS = {
    "London bombing suspects are all British nationals": "heading",
    "Thursday, July 14, 2005": "dateline",
    "By Jane Doe and JOHN SMITH": "byline",
    "LONDON, England (Reuters) -": "dateline",
    "The four alleged suicide bombers": "heading",
    "File photo: Tavistock Square after the explosion.": "caption",
    "An anonymous survivor, writing on a website, says:": "fragment",
    '- "Pauline"': "attribution",
    "* India - more than 7,700": "list-item",
    "[3]": "no-letters",
    "Read more": "notice",
    "https://example.org/news/1": "link",
}

OTHER_LANGUAGES = {
    "Von Jörg Müller": "byline",
    "Par Hélène Dubois": "byline",
    "12. Juli 2005": "dateline",
    "12 de julio de 2005": "dateline",
    "2005年7月12日": "dateline",
    "Foto: Der Reichstag bei Nacht.": "caption",
    "Alle Rechte vorbehalten.": "notice",
}

SENTENCES = [
    "Be careful!",
    "Both were speedos.",
    "Nice colors!",
    "I'm sure they will stretch a bit after a few wears",
    "By Tuesday the army had left.",
    "On July 12, 2005 four bombs exploded.",
    "Photos looked good.",
    "Picture quality is fine.",
    "– Oui, dit-il en souriant.",
    "Click here and nothing happens, which is why I sent the phone back.",
    "In 2005 it was 12 degrees.",
    "Norway increased its donation to 180 million USD",
    "警察は四人を逮捕した。",
]


def rules_of(*documents: str) -> dict[str, str]:
    cuts = [cut(document) for document in documents]
    pairs = zip(cuts, not_judged(cuts), strict=True)
    return {sentence.text: rule for own, rules in pairs for sentence, rule in zip(own, rules, strict=True)}


def given_cut(*sentences: str) -> list[str]:
    return not_judged([[Cut(text, 0, len(text), line) for line, text in enumerate(sentences)]])[0]


def test_what_looks_like_no_sentence_is_named_by_its_rule() -> None:
    texts = cut(NEWS)
    named = dict(zip((sentence.text for sentence in texts), not_judged([texts])[0], strict=True))
    assert {text: rule for text, rule in named.items() if text in OF_NEWS} == OF_NEWS
    assert named["All rights reserved."] == "notice"
    assert not named["They searched houses in Leeds."]


@pytest.mark.parametrize(("text", "rule"), OTHER_LANGUAGES.items())
def test_rules_know_other_languages(text: str, rule: str) -> None:
    assert given_cut(text, *SENTENCES)[0] == rule


def test_sentences_of_people_are_left_alone() -> None:
    assert given_cut(*SENTENCES) == [""] * len(SENTENCES)
    assert not any(given_cut("great price nice style", "love it", "would buy again"))  # nobody there uses marks


def test_a_copy_in_another_document_is_not_asked_about_again() -> None:
    cuts = [cut("It rained. The river rose."), cut("The  river rose. People left.")]
    assert not_judged(cuts) == [["", ""], ["duplicate", ""]]


@pytest.mark.parametrize("between", ["\u00a0", "\u3000", "\t", "\u200b ", "", "\u00ad"])
def test_a_copy_with_other_white_space_is_not_asked_about_again(between: str) -> None:
    assert not_judged([given("Rain fell."), given(f"Rain{between}fell."), given("It rose.")]) == [
        [""],
        ["duplicate"],
        [""],
    ]


def test_a_topic_never_loses_its_last_pair() -> None:
    assert given_cut("Friday, July 7, 2006", "By Jane Doe", "It rained.") == ["", "", ""]


def test_the_demo_has_sentences_only() -> None:
    for line in DEMO.read_text(encoding="utf-8").splitlines():
        documents = [cut(document["text"]) for document in json.loads(line)["documents"]]
        assert not any(map(any, not_judged(documents)))


def test_every_rule_has_an_example() -> None:
    named = {*OF_NEWS.values(), *OTHER_LANGUAGES.values(), "duplicate"}
    assert named == set(RULES)


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_take_no_time(hostile: str) -> None:
    began = time.perf_counter()
    not_judged([cut(hostile), given(hostile)])
    assert time.perf_counter() - began < 2


def given(text: str) -> list[Cut]:
    """As if it came cut: one sentence, however long."""
    return [Cut(text, 0, len(text), 0)] if text else []
