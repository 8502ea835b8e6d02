"""Documents become sentences with names, places, similarity and pairs; files become evidence."""

import numpy as np
import pytest

from evaluation.prepare import cut_text, evidence, judgments, prepare, source_sentences
from evaluation.similarity import similarity
from formats.records import Preference, Summary, Text, Topic

DOCUMENTS = (
    Text("d1", text="Trump won the election. It rained in Ohio.\nVoters waited."),
    Text("d7", sentences=("Already cut. By you.", "As given, ")),
)


def test_sentences_are_named_by_document_and_index_in_document_order() -> None:
    sentences = source_sentences(DOCUMENTS)

    assert [(s.name, s.text, s.cut.paragraph) for s in sentences] == [
        ("d1:0", "Trump won the election.", 0),
        ("d1:1", "It rained in Ohio.", 0),
        ("d1:2", "Voters waited.", 1),
        ("d7:0", "Already cut. By you.", 0),
        ("d7:1", "As given, ", 1),
    ]


def test_what_was_given_cut_is_never_cut_again_and_stands_on_lines_of_its_own() -> None:
    lines = "\n".join(DOCUMENTS[1].sentences or ())

    assert [lines[c.start : c.end] for c in cut_text(DOCUMENTS[1])] == list(DOCUMENTS[1].sentences or ())


def test_the_language_decides_how_texts_are_cut() -> None:
    chinese = Text("d", text="你好。我是学生。")

    assert [c.text for c in cut_text(chinese, "zh")] == ["你好。", "我是学生。"]
    assert len(cut_text(chinese, "en")) == 1


def test_preparing_gives_sentences_their_similarity_and_pairs_to_ask() -> None:
    prepared = prepare(DOCUMENTS, pairs=4, seed=3)

    texts = [sentence.text for sentence in prepared.sentences]
    np.testing.assert_array_equal(prepared.similarity.matrix, similarity(texts).matrix)
    assert prepared.pairs.shape == (4, 2)
    assert prepared.pairs.tolist() == prepare(DOCUMENTS, pairs=4, seed=3).pairs.tolist()
    assert len(prepare(DOCUMENTS, pairs=1000, seed=3).pairs) == 10


def test_preparing_compares_sentences_by_the_similarity_that_was_asked_for() -> None:
    prepared = prepare(DOCUMENTS, similarity_name="jaccard", pairs=0, seed=0)

    texts = [sentence.text for sentence in prepared.sentences]
    np.testing.assert_array_equal(prepared.similarity.matrix, similarity(texts, "jaccard").matrix)


def test_documents_without_sentences_are_prepared_too() -> None:
    prepared = prepare([Text("d", text=" \n ")], pairs=3, seed=0)

    assert prepared.sentences == ()
    assert len(prepared.pairs) == 0


def test_evidence_takes_the_topics_own_preferences_and_no_others() -> None:
    topic = Topic(
        "M0",
        DOCUMENTS,
        references=(Text("A", text="Trump won. It rained."),),
        summaries=(Summary("lead", sentences=("Trump won. Ha.",), human={"responsiveness": 4.0}),),
        language="en",
    )
    found = evidence(
        topic,
        [
            Preference("M0", "d1:0", "d7:1", "a", annotator="w2"),
            Preference("M1", "d1:0", "d9:9", "a"),
            Preference("M0", "d1:2", "d1:0", "b", annotator="w1"),
            Preference("M0", "d1:2", "d1:1", "tie", annotator="w2"),
        ],
    )

    assert found.sentence_ids == ("d1:0", "d1:1", "d1:2", "d7:0", "d7:1")
    assert found.references == (("Trump won.", "It rained."),)
    assert found.summaries[0].sentences == ("Trump won. Ha.",)
    assert found.summaries[0].human == {"responsiveness": 4.0}
    assert found.judgments.a.tolist() == [0, 2, 2]
    assert found.judgments.b.tolist() == [4, 0, 1]
    assert found.judgments.outcome.tolist() == [1.0, 0.0, 0.5]
    assert found.judgments.weight.tolist() == [1.0, 1.0, 1.0]
    assert found.judgments.annotator.tolist() == [0, 1, 0]


def test_a_preference_about_an_unknown_sentence_is_an_error() -> None:
    with pytest.raises(KeyError, match="d1:9"):
        judgments([Preference("M0", "d1:9", "d1:0", "a")], ["d1:0"])


def test_no_preferences_are_no_judgments() -> None:
    assert len(judgments([], ["d1:0"])) == 0
