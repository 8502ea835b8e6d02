"""ROUGE: the official program's printed scores, and a slow calculation straight from the definitions."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.methods.metrics.rouge.scores import MEASURES, Measure, Score, scores, signature
from preferendum.methods.metrics.rouge.units import RougeOptions
from preferendum.vocabulary.porter import martins_stem, stem, suffix_stripped

OFFICIAL = json.loads((Path(__file__).parents[1] / "data" / "rouge_official.json").read_text(encoding="utf-8"))

PLAIN = RougeOptions(stem=False)
Lines = list[str]


def settings_of(options: str) -> RougeOptions:
    given = options.split()
    return RougeOptions(
        stem="-m" in given,
        remove_stop_words="-s" in given,
        words=int(given[given.index("-l") + 1]) if "-l" in given else None,
        bytes=int(given[given.index("-b") + 1]) if "-b" in given else None,
        references="best" if "B" in given else "pooled",
        alpha=float(given[given.index("-p") + 1]) if "-p" in given else 0.5,
        skip=None if "-1" in given else int(given[given.index("-2") + 1]) if "-2" in given else 4,
        weight=float(given[given.index("-w") + 1]) if "-w" in given else 1.2,
    )


@pytest.mark.parametrize(
    ("options", "case"),
    [
        pytest.param(options, case, id=f"{case['id']}{options}")
        for options, expected in OFFICIAL["expected"].items()
        for case in OFFICIAL["cases"]
        if case["id"] in expected
    ],
)
def test_every_score_is_the_official_programs(options: str, case: dict[str, object]) -> None:
    settings = settings_of(options)
    found = scores([case["peer"]], case["models"], settings=settings)

    by_name = {signature(measure, settings).split()[1]: list(found[measure][0]) for measure in MEASURES}
    expected = OFFICIAL["expected"][options][case["id"]]
    assert {name: by_name[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [  # the examples of Porter's paper, step by step, as the whole algorithm leaves them
        ("caresses", "caress"), ("ponies", "poni"), ("caress", "caress"), ("cats", "cat"), ("feed", "feed"),
        ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled"), ("motoring", "motor"), ("sing", "sing"),
        ("conflated", "conflat"), ("troubled", "troubl"), ("sized", "size"), ("hopping", "hop"), ("tanned", "tan"),
        ("falling", "fall"), ("hissing", "hiss"), ("fizzed", "fizz"), ("failing", "fail"), ("filing", "file"),
        ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("conditional", "condit"),
        ("digitizer", "digit"), ("radically", "radic"), ("vietnamization", "vietnam"), ("operator", "oper"),
        ("feudalism", "feudal"), ("hopefulness", "hope"), ("formality", "formal"), ("sensibility", "sensibl"),
        ("triplicate", "triplic"), ("electrical", "electr"), ("goodness", "good"), ("revival", "reviv"),
        ("inference", "infer"), ("adjustable", "adjust"), ("replacement", "replac"), ("adoption", "adopt"),
        ("probate", "probat"), ("rate", "rate"), ("cease", "ceas"), ("controll", "control"), ("roll", "roll"),
        ("possibly", "possibl"), ("archaeology", "archaeolog"), ("yearly", "yearli"), ("sayings", "sai"),
    ],
)  # fmt: skip
def test_words_lose_their_suffixes_as_porter_says(word: str, expected: str) -> None:
    assert suffix_stripped(word) == expected


def test_agreement_is_stemmed_as_lin_changed_it() -> None:
    assert [suffix_stripped(word) for word in ("agreement", "argument", "settlement", "parent")] == [
        "agreem",
        "argum",
        "settlem",
        "parent",
    ]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *[("possibly", "possibl"), ("ably", "abli"), ("geology", "geologi"), ("archaeological", "archaeolog")],
        *[("as", "as"), ("us", "us"), ("y", "y"), ("was", "wa"), ("sky", "sky"), ("happy", "happi")],
        *[("agreement", "agreement"), ("replacement", "replac"), ("adjustment", "adjust"), ("dependent", "depend")],
        *[("adoption", "adopt"), ("onion", "onion"), ("controlling", "control"), ("3rd", "3rd"), ("geese", "gees")],
    ],
)
def test_martins_program_stems_as_he_wrote_it(word: str, expected: str) -> None:
    """As the implementation of his extensions in NLTK 3.10 gives them; over 31,000 words of news and fiction, too."""
    assert martins_stem(word) == expected


def test_irregular_words_have_the_stems_of_wordnet_and_short_ones_none() -> None:
    assert [stem(word) for word in ("geese", "bought", "worst", "was", "wolves", "aba")] == [
        "goose",
        "buy",
        "bad",
        "was",
        "wolf",
        "aba",
    ]


def slow_tokens(line: str) -> list[str]:
    lowered = re.sub("[A-Z]", lambda letter: letter[0].lower(), line)
    return re.findall("[a-z0-9]+", lowered)


def slow_hits(mine: Counter[tuple[str, ...]], theirs: Counter[tuple[str, ...]]) -> int:
    return (mine & theirs).total()


def slow_units(text: Sequence[str], measure: Measure) -> Counter[tuple[str, ...]]:
    words = [token for line in text for token in slow_tokens(line)]
    if measure in ("rouge-s4", "rouge-su4"):
        units = [(a, b) for (i, a), (j, b) in combinations(enumerate(words), 2) if j - i <= 5]
        return Counter(units + [(word,) for word in words[:-1] if measure == "rouge-su4"])
    n = int(measure[-1])
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def slow_marks(reference: list[str], sentence: list[str]) -> set[int]:
    """The program's table and its way back: a match first, then one reference word less, then one of the summary."""
    table = [[0] * (len(sentence) + 1) for _ in range(len(reference) + 1)]
    for i, a in enumerate(reference):
        for j, b in enumerate(sentence):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    marks = set()
    i, j = len(reference), len(sentence)
    while i and j:
        if reference[i - 1] == sentence[j - 1]:
            i, j = i - 1, j - 1
            marks.add(i)
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return marks


def slow_lcs_hits(summary: Sequence[str], reference: Sequence[str]) -> int:
    left = slow_units(summary, "rouge-1")
    hits = 0
    for line in map(slow_tokens, reference):
        marks = set().union(*(slow_marks(line, slow_tokens(sentence)) for sentence in summary))
        for i in sorted(marks):
            if left[line[i],]:
                left[line[i],] -= 1
                hits += 1
    return hits


def slow_score(summary: Sequence[str], references: Sequence[Sequence[str]], measure: Measure) -> Score:
    unit: Measure = "rouge-1" if measure == "rouge-l" else measure
    own = slow_units(summary, unit)
    counts = [slow_units(reference, unit) for reference in references]
    if measure == "rouge-l":
        hits = sum(slow_lcs_hits(summary, reference) for reference in references)
    else:
        hits = sum(slow_hits(own, count) for count in counts)
    in_references, in_summary = sum(count.total() for count in counts), own.total() * len(references)
    recall = round(hits / in_references, 5) if in_references else 0.0
    precision = round(hits / in_summary, 5) if in_summary else 0.0
    return Score(recall, precision, round(2 * recall * precision / (recall + precision), 5) if hits else 0.0)


words = st.sampled_from(["a", "b", "c", "d", "Ab", "x-y", "é", "", "..."])
lines = st.lists(words, max_size=12).map(" ".join)
texts = st.lists(lines, max_size=4)


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, min_size=1, max_size=3))
def test_all_summaries_at_once_score_as_the_definitions_say(summaries: list[Lines], references: list[Lines]) -> None:
    found = scores(summaries, references, settings=PLAIN)

    for measure in found.keys() - {"rouge-w"}:
        for score, summary in zip(found[measure], summaries, strict=True):
            assert score == pytest.approx(slow_score(summary, references, measure), abs=1.1e-5)


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_scores_lie_between_0_and_1_and_l_never_exceeds_1(summary: Lines, references: list[Lines]) -> None:
    found = scores([summary], references)

    assert all(0 <= value <= 1 for measure in MEASURES for value in found[measure][0])
    assert found["rouge-l"][0].recall <= found["rouge-1"][0].recall


@given(texts, texts)
def test_recall_one_way_is_precision_the_other_way_round(one: Lines, other: Lines) -> None:
    there = scores([one], [other], ["rouge-1", "rouge-2", "rouge-su4"])
    back = scores([other], [one], ["rouge-1", "rouge-2", "rouge-su4"])

    for measure in there:
        assert there[measure][0].recall == back[measure][0].precision
        assert there[measure][0].f == back[measure][0].f


def test_the_order_of_references_changes_nothing() -> None:
    references = [["the cat sat on the mat"], ["a dog ran"], ["the dog sat"]]
    summary = ["the dog sat on a mat"]

    for mode in ("pooled", "best"):
        settings = RougeOptions(references=mode)
        assert scores([summary], references, settings=settings) == scores(
            [summary], references[::-1], settings=settings
        )


def test_a_jackknifed_score_is_the_mean_without_each_reference_in_turn() -> None:
    summary = ["police killed the gunman"]
    references = [["the gunman was killed by police"], ["police shot a man"], ["a gunman died"]]

    jackknifed = scores([summary], references, ["rouge-1"], RougeOptions(jackknife=True))["rouge-1"][0]

    parts = [scores([summary], references[:i] + references[i + 1 :], ["rouge-1"])["rouge-1"][0] for i in range(3)]
    assert jackknifed.recall == pytest.approx(sum(part.recall for part in parts) / 3, abs=1e-5)
    assert jackknifed != scores([summary], references, ["rouge-1"])["rouge-1"][0]


def test_with_one_reference_there_is_nothing_to_leave_out() -> None:
    summary, references = ["police killed the gunman"], [["the gunman killed police"]]

    assert scores([summary], references, settings=RougeOptions(jackknife=True)) == scores([summary], references)


def test_no_reference_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one reference"):
        scores([["a"]], [])


@pytest.mark.parametrize("limit", [{"words": 0}, {"bytes": 0}, {"words": -1}, {"words": 5, "bytes": 5}])
def test_a_limit_that_makes_no_sense_is_an_error(limit: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="limit"):
        RougeOptions(**limit)


@given(st.permutations("abcdef"), st.permutations("abcdef"), st.integers(1, 6))
def test_with_weight_1_w_is_l_where_no_word_is_there_twice(mine: str, theirs: str, length: int) -> None:
    summary, references = [" ".join(mine[:length])], [[" ".join(theirs)]]

    plain = scores([summary], references, ["rouge-l", "rouge-w"], RougeOptions(weight=1.0))

    assert plain["rouge-w"] == plain["rouge-l"]


@pytest.mark.parametrize("senseless", [{"alpha": 1.5}, {"skip": -2}, {"weight": 0.5}, {"weight": math.inf}])
def test_an_option_that_makes_no_sense_is_an_error(senseless: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(senseless))):
        RougeOptions(**senseless)


def test_a_sentence_of_a_thousand_words_has_a_common_subsequence_too() -> None:
    long = " ".join(f"w{i}" for i in range(1000))

    assert scores([[long]], [[long], [long[::2]]], ["rouge-l"])["rouge-l"][0].recall > 0.5
    assert scores([[long]], [[long]], ["rouge-l"])["rouge-l"][0] == (1, 1, 1)


def test_a_signature_says_how_to_get_the_same_score() -> None:
    settings = RougeOptions(remove_stop_words=True, words=100, references="best", jackknife=True)

    assert signature("rouge-2", RougeOptions()) == "ROUGE-1.5.5 ROUGE-2 -n 2 -m -f A"
    assert signature("rouge-w", RougeOptions(alpha=0.8)) == "ROUGE-1.5.5 ROUGE-W-1.2 -w 1.2 -m -f A -p 0.8"
    assert signature("rouge-s4", RougeOptions(skip=None)) == "ROUGE-1.5.5 ROUGE-S* -2 -1 -m -f A"
    assert signature("rouge-su4", settings) == (
        "ROUGE-1.5.5 ROUGE-SU4 -2 4 -u -m -s -l 100 -f B (SMART stop words, 596) (jackknife)"
    )
