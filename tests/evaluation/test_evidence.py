"""Topics and preferences, as they are exchanged, become evidence."""

import pytest

from preferendum.evidence import evidence, judgments
from preferendum.formats.records import Preference, Summary, Text, Topic

DOCUMENTS = (
    Text("d1", text="Trump won the election. It rained in Ohio.\nVoters waited."),
    Text("d7", sentences=("Already cut. By you.", "As given, ")),
)


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
            Preference("M0", "d1:2", "d1:1", "neither", annotator="w2"),
        ],
    )

    assert found.sentence_ids == ("d1:0", "d1:1", "d1:2", "d7:0", "d7:1")
    assert found.references == (("Trump won.", "It rained."),)
    assert found.summaries[0].sentences == ("Trump won. Ha.",)
    assert found.summaries[0].human == {"responsiveness": 4.0}
    assert found.judgments.a.tolist() == [0, 2, 2, 2]
    assert found.judgments.b.tolist() == [4, 0, 1, 1]
    assert found.judgments.outcome.tolist() == [1.0, 0.0, 0.5, 0.5]
    assert found.judgments.weight.tolist() == [1.0] * 4
    assert found.judgments.annotator.tolist() == [0, 1, 0, 0]


def test_a_file_says_how_likely_pairs_were_and_which_were_not_drawn_by_lot() -> None:
    extras = {"reason": "suggested"}, {}, {"reason": ""}, {"reason": "suggested", "design_weight": 0.4}
    given = [Preference("M0", "d1:0", "d1:1", "a", extra=extra) for extra in extras]
    assert judgments(given, {"d1:0": 0, "d1:1": 1}).design.tolist() == [0.0, 1.0, 1.0, 0.4]


def test_a_preference_about_an_unknown_sentence_is_an_error() -> None:
    with pytest.raises(KeyError, match="d1:9"):
        judgments([Preference("M0", "d1:9", "d1:0", "a")], {"d1:0": 0})


def test_no_preferences_are_no_judgments() -> None:
    assert len(judgments([], {})) == 0


def test_a_persons_summary_is_the_reference_that_it_names_or_that_has_its_text() -> None:
    topic = Topic(
        "M0",
        DOCUMENTS,
        references=(Text("A", text="Trump won.\nIt rained."), Text("B", text="Rain in Ohio.")),
        summaries=(
            Summary("named", text="Another text.", person=True, reference="B"),
            Summary("equal", sentences=("Trump won. ", "It rained."), person=True),
            Summary("lead", text="Trump won. It rained."),
            Summary("empty", text="", person=True),
        ),
    )

    found = evidence(topic)

    assert found.reference_names == ("A", "B")
    assert [(summary.person, summary.reference) for summary in found.summaries] == [
        (True, "B"),
        (True, "A"),
        (False, None),
        (True, None),
    ]
