"""Standard summarizers: each by hand or against a second way, what all of them keep to, and pools made of them."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.formats import read
from preferendum.formats.readers.word_counts import WordCounts
from preferendum.methods.metrics.divergence.scores import jensen_shannon
from preferendum.metrics.registry import UnknownMetric, metric, prepared
from preferendum.summarizers import (
    SMOOTHING,
    SUMMARIZERS,
    TOO_SIMILAR,
    TOPIC_WORDS,
    WORDS,
    sentences_of,
    standard_summaries,
)
from tests.evaluation.conftest import Run

NONE = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
BACKGROUND = WordCounts(100, {"rain": 500, "aid": 500}, {"rain": 90, "aid": 90})
DOCUMENTS = (
    ("Quakes hit Chile.", "Aid reached Chile late.", "The of and."),
    ("Rain fell.", "Quakes hit Chile hard.", "Quakes, quakes, quakes and storms."),
)
WORDS_OF_A_LANGUAGE = ["quake", "storm", "rain", "aid", "chile", "peru", "the", "of", "ohio"]


def topic(*documents: tuple[str, ...], name: str = "t") -> Evidence:
    sentences = [(f"d{k}:{i}", text) for k, document in enumerate(documents) for i, text in enumerate(document)]
    return Evidence(name, tuple(key for key, _ in sentences), tuple(text for _, text in sentences), NONE)


def counts_of(texts: list[list[str]]) -> np.ndarray:
    column = sorted({word for text in texts for word in text})
    return np.array([[text.count(word) for word in column] for text in texts], dtype=float)


def best(name: str, *documents: tuple[str, ...], words: int) -> tuple[str, ...]:
    return standard_summaries(topic(*documents), BACKGROUND, words)[name]


texts = st.lists(st.sampled_from(WORDS_OF_A_LANGUAGE), min_size=1, max_size=8).map(" ".join)
documents = st.lists(st.lists(texts, min_size=1, max_size=5).map(tuple), min_size=1, max_size=3)


@given(documents, st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_every_summary_keeps_to_the_rules(given: list[tuple[str, ...]], words: int) -> None:
    texts = topic(*given)

    made = standard_summaries(texts, BACKGROUND, words)

    assert made == standard_summaries(texts, BACKGROUND, words)
    assert set(made) in (set(), set(SUMMARIZERS))
    for name, summary in made.items():
        assert 0 < sum(len(sentence.split()) for sentence in summary) <= words, name
        rows = [[word for word in sentence.split() if word not in ("the", "of")] for sentence in summary]
        assert all(rows) or len(rows) == 1
        unit = [row / max(np.linalg.norm(row), 1) for row in counts_of(rows)]
        cosines = [unit[i] @ unit[j] for i in range(len(unit)) for j in range(i)]
        assert all(cosine < TOO_SIMILAR + 1e-9 for cosine in cosines), name
        in_order = iter(texts.sentences)
        assert len(summary) == 1 or all(sentence in in_order for sentence in summary), name


def test_the_documents_order_and_the_seed_alone_are_arbitrary() -> None:
    texts = topic(*DOCUMENTS)

    assert TOPIC_WORDS not in standard_summaries(texts)
    assert len({standard_summaries(texts, None, 4, seed)["random"] for seed in range(20)}) > 1
    assert len({standard_summaries(replace(texts, topic_id=str(k)), None, 4)["random"] for k in range(20)}) > 1
    assert standard_summaries(topic(("The of and.",))) == {}
    assert standard_summaries(topic()) == {}


def test_lead_takes_the_documents_in_turn() -> None:
    assert best("lead", *DOCUMENTS, words=5) == ("Quakes hit Chile.", "Rain fell.")
    # The fourth is too like the first: the third sentence of the second document follows.
    assert best("lead", *DOCUMENTS, words=14) == ("Quakes hit Chile.", "Aid reached Chile late.", "Rain fell.")


def test_a_sentence_that_alone_is_too_long_is_cut() -> None:
    for summary in standard_summaries(topic(("Quakes hit   Chile hard.",)), None, 2).values():
        assert summary == ("Quakes hit",)


def test_sumbasic_squares_the_words_that_it_used() -> None:
    """p: quake 3/8, storm 2/8, rain 2/8, aid 1/8. After quake's sentence storm and rain are the likeliest."""
    given = ("quake quake quake", "storm rain", "storm rain aid")

    assert best("sumbasic", given, words=5) == ("quake quake quake", "storm rain")
    # The likeliest word is asked for: quake, though the mean of the second sentence is larger.
    assert best("sumbasic", ("quake aid peru", "storm storm", "quake ohio aid quake"), words=2) == ("storm storm",)
    assert best("sumbasic", ("quake aid peru", "storm storm", "quake ohio rain quake"), words=3) == ("quake aid peru",)


@given(documents)
@settings(max_examples=60, deadline=None)
def test_klsum_takes_the_sentence_that_leaves_the_least_divergence(given: list[tuple[str, ...]]) -> None:
    sentences = [sentence for document in given for sentence in document]
    rows = [[word for word in sentence.split() if word not in ("the", "of")] for sentence in sentences]
    if not any(rows):
        return
    counts = counts_of(rows)
    p = counts.sum(axis=0) / counts.sum()
    q = (counts + SMOOTHING) / (counts + SMOOTHING).sum(axis=1, keepdims=True)
    scores = scores_of("klsum", *given)

    assert -scores == pytest.approx((p * np.log(p / q)).sum(axis=1), abs=1e-9)


def scores_of(name: str, *given: tuple[str, ...]) -> np.ndarray:
    """Of the sentences, while none is chosen."""
    return SUMMARIZERS[name](sentences_of(topic(*given), BACKGROUND, 0))([])


def test_lexrank_and_textrank_are_where_a_random_walk_ends() -> None:
    """Three sentences in a row: the middle one shares a word with either, these none with each other."""
    row = ("quake storm", "storm rain", "rain aid")
    walk = {
        # LexRank: idf of quake and aid ln 3, of storm and rain ln 1.5; cosine .22 > .1; each is like itself.
        "lexrank": np.array([[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1 / 2, 1 / 2]]),
        "textrank": np.array([[0, 1, 0], [1 / 2, 0, 1 / 2], [0, 1, 0]]),
    }
    for name, steps in walk.items():
        expected = np.full(3, 1 / 3)
        for _ in range(500):
            expected = 0.15 / 3 + 0.85 * expected @ steps

        scores = scores_of(name, row)

        assert scores == pytest.approx(expected, abs=1e-9)
        assert best(name, row, words=2) == ("storm rain",)


def test_a_sentence_that_is_like_none_is_left_anywhere() -> None:
    scores = scores_of("textrank", *[("quake storm", "storm quake", "aid rain")])

    assert scores.sum() == pytest.approx(1)
    assert scores[0] == scores[1] > scores[2]


def test_the_centroid_is_most_like_what_all_say() -> None:
    """idf: quake ln 4/3, others ln 4. Centroid: 3 ln 4/3 of quake, ln 4 of storm, aid, rain, peru each."""
    given = ("quake storm", "quake", "quake aid", "rain peru")
    quake, other = math.log(4 / 3), math.log(4)

    scores = scores_of("centroid", given)

    both = (3 * quake**2 + other**2) / math.hypot(quake, other)
    assert scores == pytest.approx([both, 3 * quake, both, 2 * other**2 / math.hypot(other, other)])


@given(documents)
@settings(max_examples=60, deadline=None)
def test_latent_semantic_analysis_is_numpys(given: list[tuple[str, ...]]) -> None:
    sentences = sentences_of(topic(*given), None, 0)
    if not sentences.counts.nnz:
        return
    left, values, _ = np.linalg.svd(sentences.counts.toarray(), full_matrices=False)
    if np.any(np.abs(values / values[0] - 0.5) < 1e-9):
        return  # on the border, rounding decides
    kept = values > values[0] / 2

    scores = SUMMARIZERS["lsa"](sentences)([])

    assert scores == pytest.approx(np.sqrt((left[:, kept] ** 2 * values[kept] ** 2).sum(axis=1)), abs=1e-7)


def test_topic_words_are_what_others_do_not_have() -> None:
    given = (*["quake chile"] * 8, "rain aid rain aid", "quake chile aid")

    assert best(TOPIC_WORDS, given, words=4) == ("quake chile",)
    scores = scores_of(TOPIC_WORDS, given)
    assert scores.tolist() == [2] * 8 + [0, 2]


# Pools


def summarized(*summaries: str, documents: tuple[tuple[str, ...], ...] = DOCUMENTS) -> Evidence:
    systems = tuple(SummaryText(chr(97 + k), (text,)) for k, text in enumerate(summaries))
    return replace(topic(*documents), summaries=systems)


def test_a_pool_and_the_summary_itself() -> None:
    """Pool of a and b: quake 2, chile 1, rain 1. c joins it; a is in it already."""
    given = summarized("quake chile", "quake rain", "storm quake")

    scores = metric("js-pool:systems=a+b").score(given)

    pool, c = np.array([2.0, 1, 1, 0]), np.array([1.0, 0, 0, 1])
    expected = [jensen_shannon(pool, np.array([1.0, 1, 0, 0])), jensen_shannon(pool, np.array([1.0, 0, 1, 0]))]
    assert -scores == pytest.approx([*map(float, expected), float(jensen_shannon(pool + c, c))], abs=1e-12)


def test_a_pool_of_identical_summaries_diverges_from_none_of_them() -> None:
    assert metric("js-pool:systems=a+b").score(summarized(*["quake chile"] * 4)) == pytest.approx([0] * 4, abs=1e-12)


def test_the_standard_pool_takes_no_other_system() -> None:
    """Of these documents every summarizer takes the same sentence, all but that by topic words."""
    given = summarized("quake chile", "storm", documents=(("Quake Chile.",),))

    scores = metric("js-pool").score(given)

    assert scores[0] == pytest.approx(0, abs=1e-12)
    assert -scores[1] == pytest.approx(jensen_shannon(np.array([8.0, 8, 1]), np.array([0.0, 0, 1])), abs=1e-12)
    assert scores[0] == metric("js-pool").score(replace(given, summaries=given.summaries[:1]))[0]


def test_a_pool_names_its_systems() -> None:
    given = summarized("quake", "rain")
    study = [replace(given, topic_id=str(k), sentences=(f"Own{k}.", *given.sentences[1:])) for k in range(6)]

    assert (
        "pool: lead, random, sumbasic, klsum, centroid, lexrank, textrank, lsa, 100 words"
        in metric("js-pool").signature
    )
    assert "lsa, topic-words, 100 words" in prepared([metric("js-pool")], study)[0].signature
    assert "lsa, 100 words" in prepared([metric("js-pool")], study[:2])[0].signature
    assert "pool: a, b;" in metric("js-pool:systems=a+b").signature
    with pytest.raises(UnknownMetric, match="no system called 'z' among those compared"):
        prepared([metric("js-pool:systems=a+z")], study)
    assert np.isnan(metric("js-pool:systems=z").score(given)).all()
    assert metric("js-pool:systems=a").needs == frozenset()


# The command line


@pytest.fixture
def path(tmp_path: Path) -> str:
    lines = [
        {
            "topic_id": f"T{k}",
            "documents": [
                {"id": f"d{i}", "sentences": [*document, f"Own{k} own{k} own{k} own{k} own{k} own{k} words."]}
                for i, document in enumerate(DOCUMENTS)
            ],
            "summaries": [{"system": "mine", "text": "Quakes hit Chile.", "human": {"overall": 3}}],
        }
        for k in range(7)
    ]
    lines.append({"topic_id": "bare", "documents": [], "references": [{"id": "A", "text": "Quakes."}]})
    file = tmp_path / "topics.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


def test_baselines_are_topics_that_can_be_read_back(path: str, tmp_path: Path, run: Run) -> None:
    output = tmp_path / "with baselines.jsonl"

    status, _out, told = run("baselines", path, "--output", str(output))
    assert status == 0
    assert "topic bare: no documents, so no summaries" in told
    before, after = read(Path(path)).topics, read(output).topics
    assert [replace(topic, summaries=topic.summaries[:1]) for topic in after] == list(before)
    systems = [summary.name for summary in after[0].summaries]
    assert systems == ["mine", *(f"baseline-{name}" for name in SUMMARIZERS)]
    assert after[-1].summaries == ()
    for summary in after[0].summaries[1:]:
        assert summary.sentences
        assert sum(len(sentence.split()) for sentence in summary.sentences) <= WORDS
    assert "topic T0 has a summary by baseline-centroid already" in run.refused("baselines", str(output))


def test_baselines_by_few_words_and_topic_words_of_a_file(path: str, tmp_path: Path, run: Run) -> None:
    counts = tmp_path / "counts.txt"
    counts.write_text("9\nquakes 900 9\nchile 900 9\nrain 900 9\n")

    topics = [
        json.loads(line)
        for line in run.out("baselines", path, "--words", "7", "--seed", "3", "--background", str(counts)).splitlines()
    ]
    summaries = {summary["system"]: summary["sentences"] for summary in topics[0]["summaries"][1:]}
    assert all(len(" ".join(sentences).split()) <= 7 for sentences in summaries.values())
    assert summaries["baseline-topic-words"] == ["Own0 own0 own0 own0 own0 own0 words."]

    assert "background=none.txt: No such file" in run.refused("baselines", path, "--background", "none.txt")


def test_agree_with_a_pool_of_baselines(path: str, tmp_path: Path, run: Run) -> None:
    output = tmp_path / "more.jsonl"
    run.out("baselines", path, "--output", output)
    names = "js-pool,js-pool:systems=baseline-lead+baseline-lsa,rouge-1"
    asked = ["agree", output, "--dimension", "overall", "--draws", "100", "--metrics"]

    # The last topic has no documents, and no scores; the others have no references.
    assert "rouge-1 needs references" in run.refused(*asked, names)
    rows = run.json(*asked, names.removesuffix(",rouge-1"))["dimensions"][0]["metrics"]
    assert "topic-words, 100 words" in rows[0]["signature"]
    assert run(*asked, "js-pool:systems=nobody")[0] == 2
