"""Metrics by name: what is asked for, what is missing, and how little a new one takes."""

import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from preferendum.evidence import AS_PUBLISHED, Evidence, Judgments, Settings, SummaryText
from preferendum.methods.metrics.preferences.scores import Preferences
from preferendum.methods.metrics.rouge.scores import Rouge, scores
from preferendum.metrics import registry
from preferendum.metrics.registry import (
    Family,
    MissingEvidence,
    Need,
    UnknownMetric,
    check,
    families,
    metric,
    register,
)
from preferendum.scoring.evaluate import UndeterminedTopic, evaluate

EMPTY = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
SENTENCES = ("Quakes hit Chile.", "It rained in Ohio.", "Chile was hit by quakes.", "Aid came.")
WHOLE = Evidence(
    "t1",
    ("d:0", "d:1", "d:2", "d:3"),
    SENTENCES,
    Judgments(np.array([0, 2]), np.array([1, 1]), np.ones(2), np.ones(2), np.zeros(2, dtype=np.int64)),
    (SummaryText("good", ("Quakes hit Chile.",)), SummaryText("bad", ("It rained in Ohio.",))),
    (("Chile was hit by quakes.",),),
)


@dataclass(frozen=True)
class Length:
    """What somebody might write: the number of characters."""

    name: str

    signature = "characters"
    needs = frozenset({Need.DOCUMENTS})

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        return np.array([float(sum(map(len, summary.sentences))) for summary in topic.summaries])


@pytest.fixture
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    families()
    monkeypatch.setattr(registry, "_families", dict(registry._families))


@pytest.mark.usefixtures("_apart")
def test_a_new_metric_is_a_class_and_a_call() -> None:
    register(Family(("length",), {}, lambda asked, options, settings: Length(asked)))

    assert metric("length").score(WHOLE).tolist() == [17, 18]


def test_names_options_and_titles_of_all_metrics_are_known_without_numpy() -> None:
    program = (
        "import sys; from preferendum.metrics.names import metrics, title_of, unknown_metrics;"
        "print(title_of('js'), unknown_metrics('rouge-2:f,bleu'), len(metrics()) > 20, 'numpy' in sys.modules)"
    )

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said == "JS divergence ['bleu'] True False\n"


@pytest.mark.usefixtures("_apart")
def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(ValueError, match="rouge-1 already"):
        register(Family(("rouge-1",), {}, lambda asked, options, settings: Length(asked)))


def test_every_metric_says_what_it_needs_and_how_to_get_its_numbers() -> None:
    for family in families():
        if family.takes:
            with pytest.raises(UnknownMetric, match=f"as in {family.names[0]}:{family.takes}"):
                metric(family.names[0])
            continue
        for name in family.names:
            one = metric(name)
            assert one.name == name
            assert one.signature
            assert one.needs <= set(Need)
            for option in family.options:
                assert metric(f"{name}:{option}=1", Settings(smooth="none")).name.startswith(name)


@pytest.mark.parametrize(
    "name", ["rouge-1", "rouge-l:f", "js", "kl", "js-consensus", "preferences", "preferences:published"]
)
def test_metrics_prefer_what_resembles_the_references_the_sources_and_the_preferences(name: str) -> None:
    found = metric(name).score(WHOLE)

    assert found.shape == (2,)
    assert found[0] >= found[1] if name.startswith(("js", "kl")) else found[0] > found[1]


def test_options_behind_a_name_are_the_metrics_own() -> None:
    asked = metric("rouge-2:f:stop:words=100:best:jackknife")

    assert isinstance(asked, Rouge)
    assert asked.signature == ("ROUGE-1.5.5 ROUGE-2 -n 2 -m -s -l 100 -f B (SMART stop words, 596) (jackknife) f")
    assert metric("rouge-su4:skip=any:alpha=0.8").signature == "ROUGE-1.5.5 ROUGE-SU* -2 -1 -u -m -f A -p 0.8 f"
    assert metric("rouge-w:weight=2").signature == "ROUGE-1.5.5 ROUGE-W-2 -w 2 -m -f A recall"


@pytest.mark.parametrize(("option", "value"), [("recall", "recall"), ("p", "precision"), ("f", "f")])
def test_rouge_gives_the_value_that_was_asked_for(option: str, value: str) -> None:
    name = "rouge-1" if option == "recall" else f"rouge-1:{option}"

    found = metric(name).score(WHOLE)

    expected = scores([summary.sentences for summary in WHOLE.summaries], WHOLE.references, ["rouge-1"])["rouge-1"]
    assert found.tolist() == [getattr(score, value) for score in expected]


def test_settings_of_the_command_line_reach_the_preferences_and_options_change_them() -> None:
    settings = Settings(score="combined", prior=0.5)

    plain, changed = metric("preferences", settings), metric("preferences:importance:prior=2:unsmoothed", settings)
    published = metric("preferences:published:no-redundancy", settings)

    assert isinstance(plain, Preferences)
    assert isinstance(changed, Preferences)
    assert plain.settings == settings
    assert changed.settings == replace(settings, score="importance", prior=2.0, smooth="none")
    assert isinstance(published, Preferences)
    assert published.settings == replace(AS_PUBLISHED, redundancy=False)
    assert plain.signature.startswith("preferences: score combined, smooth kernel, similarity tfidf-jaccard, ")
    assert "weigh-annotators off" in plain.signature


def test_a_metric_weighs_annotators_where_it_is_asked_to() -> None:
    in_order = [(0, 1), (2, 1), (2, 3), (0, 3)]
    pairs = [pair for pair in in_order for _ in range(4)] + [(b, a) for a, b in in_order]
    a, b = np.array(pairs, dtype=np.int64).T
    annotator = np.array([0, 1, 2, 3] * len(in_order) + [4] * len(in_order))
    judged = replace(WHOLE, judgments=Judgments(a, b, np.ones(len(a)), np.ones(len(a)), annotator))

    plain, weighed = (metric(f"preferences:unsmoothed{more}").score(judged) for more in ("", ":weigh-annotators"))

    assert np.ptp(weighed) > np.ptp(plain) + 0.001


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("rouge1", "there is no metric called 'rouge1' (did you mean rouge-1?); there are: autosummeng, "),
        ("", "there is no metric called ''; there are: autosummeng, "),
        ("rouge-1:g", "rouge-1 has no option 'g'; its options are: f, p, "),
        ("js:f", "js has no options, so not 'f'"),
        ("rouge-1:words=0", "rouge-1:words=0: a limit must be at least 1"),
        ("rouge-1:words=ten", "rouge-1:words=ten: words must be a whole number, such as words=100"),
        ("rouge-1:models=0", "rouge-1:models=0: a number of models must be at least 1"),
        ("rouge-1:pseudo=0", "rouge-1:pseudo=0: a number of models"),
        ("rouge-1:pseudo=two", "rouge-1:pseudo=two: pseudo must be a whole number"),
        ("rouge-1:local:global", "rouge-1:local:global: pseudomodels are either global or local"),
        ("topic-share:cutoff=0", "topic-share:cutoff=0: cutoff must be a number above 0, such as cutoff=10"),
        ("topic-share:cutoff=x", "topic-share:cutoff=x: cutoff must be"),
        ("unigram:natural", "unigram has no options"),
        ("cosine:cutoff=3", "cosine has no option 'cutoff'"),
        ("preferences:prior=2", "preferences:prior=2: prior says nothing here: virtual wins"),
        ("preferences:prior=x", "preferences:prior=x: 'x' is not a number from 0 to 1000"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(asked: str, said: str) -> None:
    with pytest.raises(UnknownMetric) as refused:
        metric(asked)

    assert str(refused.value).startswith(said)


def test_a_metric_without_its_evidence_names_the_topics() -> None:
    bare = [Evidence(f"t{i}", (), (), EMPTY) for i in range(2, 15)]
    asked = [metric("rouge-1"), metric("js"), metric("preferences"), metric("pyramid"), metric("js-consensus")]

    with pytest.raises(MissingEvidence) as missing:
        check(asked, [WHOLE, *bare])

    assert str(missing.value).split("\n") == [
        f"{name} needs {need}, and there are none for {which}"
        for name, need, which in (
            ("rouge-1", "references", "topics t2, t3, t4, t5, t6, t7, t8, t9, t10, t11 and 3 more"),
            ("js", "documents", "topics t2, t3, t4, t5, t6, t7, t8, t9, t10, t11 and 3 more"),
            ("preferences", "documents", "topics t2, t3, t4, t5, t6, t7, t8, t9, t10, t11 and 3 more"),
            ("preferences", "judgments", "topics t2, t3, t4, t5, t6, t7, t8, t9, t10, t11 and 3 more"),
            ("pyramid", "pyramids", "any topic (t1, t2, t3, t4, t5, t6, t7, t8, t9, t10 and 4 more)"),
        )
    ]
    check(asked[:3], [WHOLE])


def test_one_topic_that_lacks_something_is_called_a_topic() -> None:
    with pytest.raises(MissingEvidence, match=r"none for topic t2$"):
        check([metric("rouge-1")], [WHOLE, replace(WHOLE, topic_id="t2", references=())])


def test_preferences_that_determine_nothing_name_the_topic() -> None:
    with pytest.raises(UndeterminedTopic, match="topic t1"):
        metric("preferences:unsmoothed:prior=0").score(WHOLE)


def test_the_metric_gives_the_scores_of_the_whole_journey() -> None:
    for settings in (Settings(), Settings(score="combined"), AS_PUBLISHED):
        expected = [summary.score for summary in evaluate(WHOLE, settings).summaries]

        assert metric("preferences", settings).score(WHOLE) == pytest.approx(expected, abs=1e-12)


CHINESE = replace(
    WHOLE,
    summaries=(SummaryText("flood", ("2008年洪水淹没了城市。",)), SummaryText("other", ("2008年奥运会在北京举行。",))),
    references=(("2008年的地震袭击了四川。",),),
)
RUSSIAN = replace(
    WHOLE, references=(("В 2008 году землетрясение.",),), summaries=(SummaryText("a", ("В 2008 году BBC.",)),)
)


@pytest.mark.parametrize("topic", [CHINESE, RUSSIAN])
@pytest.mark.parametrize("asked", ["rouge-1", "rouge-l:f", "rouge-su4:pseudo=1:local"])
def test_rouge_says_nothing_of_texts_in_scripts_that_it_does_not_read(topic: Evidence, asked: str) -> None:
    with pytest.raises(MissingEvidence, match="needs texts in Latin letters, and there are none for any topic"):
        check([metric(asked)], [topic])


@pytest.mark.parametrize(
    "text", ["Émile naît à l’Île.", "Żółw śpi.", "Hà Nội rất đẹp.", "2008", "The 北京 Olympics began."]
)
def test_rouge_reads_whatever_is_mostly_latin(text: str) -> None:
    check([metric("rouge-1")], [replace(WHOLE, references=((text,),), summaries=(SummaryText("a", (text,)),))])
