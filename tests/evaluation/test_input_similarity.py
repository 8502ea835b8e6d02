"""Words of summaries beside those of their sources: by hand, against scipy and scikit-learn, and at their limits."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression

from preferendum.cli.__main__ import main
from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.formats import Refused, message
from preferendum.formats.readers.word_counts import WordCounts, written_word_counts
from preferendum.methods.metrics.simetrix_regression.scores import Regression
from preferendum.metrics.registry import MissingEvidence, UnknownMetric, metric, prepared
from preferendum.vocabulary.background import counted, read_background
from preferendum.vocabulary.topic_words import log_likelihood_ratio
from tests.evaluation.conftest import Run

NONE = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
KINDS = ["cosine", "cosine-topic", "topic-share", "topic-fraction", "unigram", "multinomial"]
# c: quake 2, chile 3, storm 1, hit 1, aid 1, reach 1; N = 9.
DOCUMENTS = ("Quakes quake Chile.", "Storms hit Chile.", "Aid reached Chile.")
# B = 91 words in D = 8 documents.
BACKGROUND = "8\nrain 60 8\nhit 10 8\nstorms 9 4\naid 9 4\nchile 1 1\nquakes 1 2\nquake 1 1\nthe 900 8\n"
LETTERS = "abcdefghij"


def topic(name: str, documents: Sequence[str], *summaries: Sequence[str], scores: Sequence[float] = ()) -> Evidence:
    systems = tuple(
        SummaryText(str(k), tuple(summary), {"overall": scores[k]} if scores else {})
        for k, summary in enumerate(summaries)
    )
    ids = tuple(f"d{k // 2}:{k % 2}" for k in range(len(documents)))
    return Evidence(name, ids, tuple(documents), NONE, systems)


@pytest.fixture
def counts(tmp_path: Path) -> str:
    path = tmp_path / "counts.txt"
    path.write_text(BACKGROUND)
    return str(path)


def likelihood_ratio(c: int, n: int, b: int, total: int) -> Fraction:
    def likelihood(k: int, of: int, p: Fraction) -> Fraction:
        return p**k * (1 - p) ** (of - k)

    joint, alone = Fraction(c + b, n + total), (Fraction(c, n), Fraction(b, total))
    together = likelihood(c, n, joint) * likelihood(b, total, joint)
    return together / (likelihood(c, n, alone[0]) * likelihood(b, total, alone[1]))


def test_three_sentences_by_fractions(counts: str) -> None:
    """idf in units of ln 2: chile 3 (1 of 8), quake 2 (2 of 8), storm and aid 1, hit and rain 0, reach 3 (unknown)."""
    quakes = topic("t", DOCUMENTS, ["Quakes hit Chile.", "Rain!"])
    given = f"background={counts}"

    found = {kind: metric(kind).score(quakes)[0] for kind in ("unigram", "multinomial")}
    found["cosine"] = metric(f"cosine:{given}").score(quakes)[0]
    for kind in ("cosine-topic", "topic-share", "topic-fraction"):
        found[kind] = metric(f"{kind}:{given}:cutoff=2").score(quakes)[0]

    over_2 = {"chile": (3, 1), "quake": (2, 2), "reach": (1, 0), "storm": (1, 9), "aid": (1, 9), "hit": (1, 10)}
    ratios = {word: -2 * math.log10(likelihood_ratio(c, 9, b, 91)) for word, (c, b) in over_2.items()}
    assert {word for word, ratio in ratios.items() if ratio > 2} == {"chile", "quake", "reach"}
    assert found == pytest.approx(
        {
            "cosine": Fraction(4 * 2 + 9 * 3) / math.sqrt((16 + 81 + 1 + 1 + 9) * (4 + 9)),
            "cosine-topic": 35 / math.sqrt((16 + 81 + 9) * (4 + 9)),
            "topic-share": Fraction(2, 4),
            "topic-fraction": Fraction(2, 3),
            "unigram": math.log10(Fraction(2 * 1 * 3, 9**3)),
            "multinomial": math.log10(math.factorial(4) * Fraction(6, 9**3)),
        },
        abs=1e-12,
    )


def test_cutoffs_and_logarithms_decide_what_a_topic_word_is(counts: str) -> None:
    """chile: -2 ln Lambda is 11.1, so 4.8 to base 10."""
    quakes = topic("t", DOCUMENTS, ["Chile."], ["Quakes."])

    def fraction(options: str) -> list[float]:
        return metric(f"topic-fraction:background={counts}{options}").score(quakes).tolist()

    ratio = -2 * math.log(likelihood_ratio(3, 9, 1, 91))
    assert 10.83 < ratio < 11.2
    assert np.isnan(fraction("")).all()
    assert fraction(":natural") == fraction(":cutoff=4") == fraction(f":natural:cutoff={ratio - 1e-6}") == [1, 0]
    assert np.isnan(fraction(f":natural:cutoff={ratio + 1e-6}")).all()


@given(st.integers(0, 30), st.integers(0, 70), st.integers(0, 300), st.integers(0, 700))
def test_the_likelihood_ratio_is_scipys(c: int, others: int, b: int, background: int) -> None:
    n, total = c + others, b + background
    if not (n and total and c + b and others + background):
        return
    table = [[c, others], [b, background]]
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic

    (ratio,) = log_likelihood_ratio(np.array([float(c)]), n, np.array([float(b)]), total)

    assert ratio == pytest.approx(expected, abs=1e-8)
    swapped = log_likelihood_ratio(np.array([float(b)]), total, np.array([float(c)]), n)
    assert ratio == pytest.approx(swapped[0], abs=1e-8)


@given(st.lists(st.sampled_from(LETTERS), min_size=1), st.lists(st.sampled_from(LETTERS), min_size=1))
def test_the_multinomial_probability_is_scipys(source: list[str], drawn: list[str]) -> None:
    letters = topic("t", [" ".join(f"z{letter}" for letter in source)], [" ".join(f"z{letter}" for letter in drawn)])
    c, d = (np.array([letters.count(letter) for letter in LETTERS]) for letters in (source, drawn))
    if (d[c == 0] > 0).any():
        return

    assert metric("multinomial").score(letters)[0] == pytest.approx(
        stats.multinomial.logpmf(d, d.sum(), c / c.sum()) / math.log(10), abs=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_words_alone_count_and_other_summaries_make_no_difference(kind: str, counts: str) -> None:
    given = ":".join([kind, f"background={counts}"] if kind == "cosine" else [kind])
    given = f"{kind}:background={counts}:cutoff=2" if "topic" in kind else given
    summary, other = ["Aid reached Chile.", "Quakes!"], ["Stocks fell on Monday."]

    alone = metric(given).score(topic("t", DOCUMENTS, summary))
    beside = metric(given).score(topic("t", DOCUMENTS[::-1], ["quake", "CHILE: aid reaches"], other))

    assert alone[0] == pytest.approx(beside[0], abs=1e-12)


def test_the_source_itself_is_most_alike_and_nothing_like_nothing(counts: str) -> None:
    texts = topic("t", DOCUMENTS, DOCUMENTS, ["Stocks fell."], [], ["the of and"])

    cosine = metric(f"cosine:background={counts}").score(texts)
    share, fraction = (
        metric(f"topic-{kind}:background={counts}:cutoff=2").score(texts) for kind in ("share", "fraction")
    )

    assert cosine == pytest.approx([1, 0, 0, 0])
    assert share.tolist() == pytest.approx([6 / 9, 0, 0, 0])
    assert fraction.tolist() == [1, 0, 0, 0]
    for kind in ("unigram", "multinomial"):
        assert np.isnan(metric(kind).score(texts)).tolist() == [False, False, True, True]
    assert metric("unigram").score(texts)[1] == 0
    assert np.isnan(metric("unigram").score(topic("t", ["the"], ["Chile"]))).all()


def study(number: int = 6) -> list[Evidence]:
    places = ["Chile", "Peru", "Ohio", "Rome", "Oslo", "Bonn", "Lima"]
    return [
        topic(place, [f"Quakes hit {place} hard.", f"{place} waits.", "Aid came."], [f"Quakes hit {place}."])
        for place in places[:number]
    ]


def test_the_background_of_a_topic_is_all_others() -> None:
    topics = study()
    (cosine,) = prepared([metric("cosine")], topics)
    elsewhere = counted([topic.sentences[k : k + 2] for topic in topics[1:] for k in (0, 2)], "en")

    # quake, hit: 5 of 10 documents elsewhere; chile: none.
    assert (elsewhere.documents, elsewhere.counts["quakes"], elsewhere.document_counts["quakes"]) == (10, 5, 5)
    once, never = math.log(2) ** 2, math.log(10) ** 2
    source = {"quak": once, "hit": once, "hard": once, "chile": 4 * never, "wait": once, "aid": once}
    dot, norms = 2 * once + 2 * never, sum(source.values()) * (2 * once + never)
    assert cosine.score(topics[0])[0] == pytest.approx(dot / math.sqrt(norms))
    assert cosine.score(topics[0]) == pytest.approx(prepared([cosine], topics[::-1])[0].score(topics[0]))
    assert "background: the documents of the other topics" in cosine.signature


def test_a_topic_with_the_same_documents_is_no_background() -> None:
    topics = study()
    again = replace(topics[0], topic_id="again")

    plain, doubled = (prepared([metric("cosine")], some)[0] for some in (topics, [*topics, again]))

    assert plain.score(topics[0]) == pytest.approx(doubled.score(topics[0]))
    with pytest.raises(MissingEvidence, match="5 other topics or more, and there are 5 with documents of their own"):
        prepared([metric("cosine")], [*study(5), again])
    with pytest.raises(MissingEvidence, match="cosine is to be prepared with all topics first"):
        metric("cosine").score(topics[0])


def test_a_background_is_read_back_and_its_stems_are_in_as_many_documents_as_there_are(tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(written_word_counts(counted([["The quake."], ["Quakes.", "Quakes, quaking!"], ["Aid."]], "en")))

    assert path.read_text() == "3\nquakes 2 2\naid 1 1\nquake 1 2\nquaking 1 2\n"
    stems = read_background(str(path), "en")
    assert (stems.documents, stems.counts, stems.document_counts) == (3, {"quak": 4, "aid": 1}, {"quak": 2, "aid": 1})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "counts.txt: found no words"),
        ("quake 1 1\n", 'counts.txt:1: found "quake 1 1"; expected the number of documents alone on the first line'),
        ("3\nquake\n", 'counts.txt:2: found "quake"; expected a word and how often it occurs'),
        ("3\nquake 1 x\n", 'counts.txt:2: found "quake 1 x"; expected a word'),
        ("3\nquake -1\n", 'counts.txt:2: found "quake -1"; expected a word'),
        ("3\nquake 9 4\n", "counts.txt:2: found a word in 4 documents; expected at most 3"),
        ("3\nquake 9 2\naid 1\n", "counts.txt: found words without the number of documents"),
    ],
)
def test_counts_that_are_none_are_refused(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(text)

    with pytest.raises(Refused) as refused:
        metric(f"topic-share:background={path}").score(study()[0])

    assert complaint in message(refused.value.complaints[0])


def test_cosines_need_to_know_how_many_documents_have_a_word(tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(written_word_counts(WordCounts(3, {"quake": 2}, {})))

    with pytest.raises(UnknownMetric, match="does not tell how many documents have each word"):
        metric(f"cosine:background={path}").score(study()[0])
    assert metric(f"topic-share:background={path}:cutoff=1").score(study()[0]).shape == (1,)


# Regression


def scored_study(number: int = 8, seed: int = 0) -> list[Evidence]:
    """Topics of random words, whose summaries' scores are random, too."""
    rng = np.random.default_rng(seed)
    words = [f"w{first}{second}" for first, second in pairwise("abcdefghijklmnopqrstuvwxyz")]

    def text(size: int) -> str:
        return " ".join(rng.choice(words, size))

    return [
        topic(
            f"t{k}",
            [*(text(12) for _ in range(6)), f"own{k} own{k} own{k} own{k} own{k} own{k} own{k} own{k}"],
            *([f"{text(size)} own{k}"] for size in (3, 6, 9, 12)),
            scores=rng.normal(size=4).tolist(),
        )
        for k in range(number)
    ]


def test_the_regression_is_least_squares_on_the_other_topics() -> None:
    topics = scored_study()
    (regression,) = prepared([metric("simetrix-regression")], topics)
    assert isinstance(regression, Regression)

    features = regression.features.values
    others = topics[1:]
    learnt = LinearRegression().fit(
        np.vstack([features(topic) for topic in others]),
        [summary.human["overall"] for topic in others for summary in topic.summaries],
    )

    assert len(regression.features.metrics) == 10
    assert regression.score(topics[0]) == pytest.approx(learnt.predict(features(topics[0])), abs=1e-8)
    assert regression.signature.startswith("human overall by least squares on js, ")


def test_a_topics_own_scores_never_reach_its_prediction() -> None:
    topics = scored_study()
    praised = replace(
        topics[0], summaries=tuple(replace(summary, human={"overall": 99.0}) for summary in topics[0].summaries)
    )
    twin = replace(praised, topic_id="twin")

    (plain,), (changed,) = (
        prepared([metric("simetrix-regression")], [*some, *topics[1:]]) for some in ([topics[0]], [praised, twin])
    )

    assert changed.score(praised) == pytest.approx(plain.score(topics[0]), abs=1e-9)


def test_what_people_wrote_teaches_nothing() -> None:
    topics = scored_study()
    person = SummaryText("person", topics[1].sentences, {"overall": 1000.0}, person=True)
    among = [*topics[:1], replace(topics[1], summaries=(*topics[1].summaries, person)), *topics[2:]]

    (plain,), (beside,) = (prepared([metric("simetrix-regression")], some) for some in (topics, among))

    assert beside.score(topics[0]) == pytest.approx(plain.score(topics[0]), abs=1e-9)
    assert np.isfinite(beside.score(among[1])).all()


def test_the_regression_says_what_it_lacks() -> None:
    topics = scored_study()
    two = [
        replace(topic, summaries=tuple(replace(s, human={**s.human, "style": 1.0}) for s in topic.summaries))
        for topic in topics
    ]
    few = [topics[0], topics[1], *(replace(topic, summaries=()) for topic in topics[2:])]

    with pytest.raises(UnknownMetric, match=r"as in dimension=overall; there are: overall, style"):
        prepared([metric("simetrix-regression")], two)
    with pytest.raises(UnknownMetric, match="there are: overall"):
        prepared([metric("simetrix-regression:dimension=style")], topics)
    with pytest.raises(MissingEvidence, match="12 summaries of other topics or more, and for topic t0 there are 4"):
        prepared([metric("simetrix-regression")], few)[0].score(topics[0])
    assert "overall" in prepared([metric("simetrix-regression:dimension=overall")], two)[0].signature


# The command line


def written(path: Path, topics: Sequence[Evidence]) -> str:
    lines = [
        {
            "topic_id": topic.topic_id,
            "documents": [
                {"id": f"d{k}", "sentences": topic.sentences[2 * k : 2 * k + 2]}
                for k in range((len(topic.sentences) + 1) // 2)
            ],
            "summaries": [
                {"system": summary.system, "sentences": summary.sentences, "human": dict(summary.human)}
                for summary in topic.summaries
            ],
        }
        for topic in topics
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


AGREE = ("agree", "--dimension", "overall", "--draws", "100")


def test_agree_prepares_metrics_with_all_topics(tmp_path: Path, run: Run) -> None:
    topics = scored_study()
    # The last has no human scores: it is left out, and still background.
    silent = replace(topics[-1], summaries=tuple(replace(s, human={}) for s in topics[-1].summaries))
    path, other = (
        written(tmp_path / "a.jsonl", [*topics[:-1], silent]),
        written(tmp_path / "b.jsonl", scored_study(7, 1)),
    )
    asked = [path, "--metrics", f"cosine,simetrix-regression,simetrix-regression:train={other}", "--also", other]

    data = run.json(*AGREE, *asked)

    (cosine,) = prepared([metric("cosine")], [*topics[:-1], silent])
    report = data["dimensions"][0]["metrics"]
    assert [row["metric"] for row in report] == ["cosine", "simetrix-regression", f"simetrix-regression:train={other}"]
    assert len(report[0]["topics"]) == 7
    expected = stats.pearsonr(cosine.score(topics[0]), [s.human["overall"] for s in topics[0].summaries]).statistic
    assert report[0]["topics"][0]["values"]["pearson"] == pytest.approx(expected)
    assert "learnt from machines' summaries of the topics of" in report[2]["signature"]


def test_agree_says_what_is_missing(tmp_path: Path, run: Run) -> None:
    path = written(tmp_path / "a.jsonl", scored_study(3))

    for metrics, complaint in (
        ("cosine", "cosine: the background of a topic is 5 other topics or more, and there are 3"),
        ("cosine:background=none.txt", "background=none.txt: No such file or directory"),
        ("simetrix-regression:dimension=style", "there are: overall"),
        ("simetrix-regression:background=none.txt", "background=none.txt: No such file or directory"),
    ):
        assert complaint in run.refused(*AGREE, path, "--metrics", metrics)


def test_background_counts_a_folder(tmp_path: Path, run: Run) -> None:
    (tmp_path / "texts" / "deep").mkdir(parents=True)
    (tmp_path / "texts" / "one.txt").write_text("The quakes hit Chile.\nQuakes!")
    (tmp_path / "texts" / "deep" / "two.txt").write_text("A quake. Ça va.")
    asked = ["background", str(tmp_path / "texts")]

    assert run.out(*asked) == "2\nquakes 2 2\nchile 1 1\nhit 1 1\nquake 1 2\nva 1 1\n"
    assert main([*asked, "--language", "fr", "--output", str(tmp_path / "counts.txt")]) == 0
    assert "\nça 1 1\n" in (tmp_path / "counts.txt").read_text()

    path = written(tmp_path / "a.jsonl", scored_study(2))
    run.out(*AGREE, path, "--metrics", f"cosine:background={tmp_path / 'counts.txt'}")


def test_background_refuses_what_is_no_text(tmp_path: Path, run: Run) -> None:
    assert "there is no .txt file in it" in run.refused("background", str(tmp_path))
    (tmp_path / "empty.txt").write_text("the of")
    assert "there are no words in it" in run.refused("background", str(tmp_path))
    (tmp_path / "latin.txt").write_bytes(b"na\xefve")
    assert "latin.txt:1: found the byte 0xEF" in run.refused("background", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["background", str(tmp_path), "--language", "no language"])
