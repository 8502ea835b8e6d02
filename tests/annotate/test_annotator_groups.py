"""Groups of annotators by what they said about themselves: what each says, and who is never shown alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from annotate import crowd, imports, judging
from annotate.access import abilities
from annotate.imports.compared import open_summaries
from annotate.models import Annotator, Study
from annotate.reports import analyses
from evaluation import tasks
from preferendum import formats
from preferendum.formats.questionnaire import Question, groups
from preferendum.show.analyses import of_study
from preferendum.show.shown import Shown
from tests.annotate import making, scored

pytestmark = pytest.mark.django_db

(ANALYSIS,) = (own for own in of_study() if own.name == "groups-of-annotators")
LANGUAGE = Question("Native language?", "one", ("English", "German", "Thai"))
PAIRS = list(combinations([f"d{document}:{k}" for document in (1, 2) for k in range(3)], 2))


@pytest.fixture
def study() -> Study:
    """Three English speakers prefer what stands first in the documents, three German ones what stands last."""
    made = making.study(judgments_per_pair=20)
    imports.store(made, formats.Bundle(topics=(scored.RAIN,)))
    crowd.set_questionnaire(made, making.owner(made), [LANGUAGE], "after")
    for k in range(3):
        someone(made, f"english-{k}", "English", "a")
        someone(made, f"german-{k}", "German", "b")
    return made


def someone(study: Study, pseudonym: str, language: str, preferred: str = "a") -> Annotator:
    """Who prefers the first or the second of every two sentences, and names their native language."""
    scored.judge(study, *(("rain", *pair, preferred) for pair in PAIRS), pseudonym=pseudonym)
    scored.said(study, pseudonym, {LANGUAGE.text: language})
    return study.annotators.get(pseudonym=pseudonym)


def shown(study: Study) -> Shown | None:
    """Once the worker has looked."""
    assert tasks.catch_up(study.pk) == {}
    scored.in_turns("compare_groups", study)
    return analyses.opened(study, ANALYSIS, {}, abilities(making.owner(study), study)).shown


def rows(study: Study, name: str) -> list[dict[str, Any]]:
    """Of the table of this name."""
    found = shown(study)
    return [row for table in found.tables if table.name == name for row in table.json()["rows"]] if found else []


def people(study: Study) -> dict[str, int]:
    """How many there are in each group."""
    return {row["group"]: row["annotators"] for row in rows(study, "agreement")}


def test_groups_with_opposite_preferences_have_opposite_boards(study: Study) -> None:
    found = shown(study)
    assert found is not None
    assert found.verdict == "English: lead & co_ leads =hat. German: =hat leads lead & co_."
    for row in rows(study, "agreement"):
        assert (row["annotators"], row["judgments"], row["ranking"]) == (3, 45, 45)
        assert (row["percent"], row["with_others"], row["comparisons_with_others"]) == (1.0, 0.0, 9 * len(PAIRS))
    systems = rows(study, "systems")
    english, german = ({row["system"]: row for row in systems if row["group"] == name} for name in people(study))
    for system in ("lead & co_", "=hat"):
        assert english[system]["score"] == pytest.approx(-german[system]["score"])
        assert english[system]["low"] == pytest.approx(-german[system]["high"])


def test_a_group_says_what_a_study_of_its_own_would(study: Study) -> None:
    alone = making.study(judgments_per_pair=20)
    imports.store(alone, formats.Bundle(topics=(scored.RAIN,)))
    for k in range(3):
        scored.judge(alone, *(("rain", *pair, "a") for pair in PAIRS), pseudonym=f"english-{k}")
    assert tasks.catch_up(alone.pk) == {}
    own = alone.rankings.get(scored_by="recommended").systems.order_by("rank")
    for row, expected in zip(rows(study, "systems")[:2], own, strict=True):
        assert (row["score"], row["low"], row["high"]) == pytest.approx((expected.score, expected.low, expected.high))


def test_whole_summaries_are_ranked_by_win_rates(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(compares="both")
    study.refresh_from_db()
    open_summaries(study, study.topics.values_list("pk", flat=True))
    said = [(f"{name}-{k}", winner) for name, winner in (("english", "a"), ("german", "b")) for k in range(3)]
    judging.import_judgments(
        study,
        [formats.Preference("rain", "lead & co_", "=hat", own, annotator=who, of="summaries") for who, own in said],
    )
    systems = rows(study, "systems")
    first = [(row["group"], row["system"]) for row in systems if row["rank"] == 1]
    assert first == [("English", "lead & co_"), ("German", "=hat")]
    assert all(0 <= row["low"] < row["score"] < row["high"] <= 1 for row in systems)


def test_two_people_are_never_shown_alone_nor_found_by_subtraction(study: Study) -> None:
    assert people(study) == {"English": 3, "German": 3}
    for k in range(2):
        someone(study, f"thai-{k}", "Thai")
    someone(study, "german-3", "German")
    assert people(study) == {"German": 4, "All others": 5}
    someone(study, "thai-2", "Thai")
    assert people(study) == {"English": 3, "German": 4, "Thai": 3}
    for k in range(2):
        scored.judge(study, ("rain", *PAIRS[0], "a"), pseudonym=f"silent-{k}")
    assert people(study)["All others"] == 5


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("AAABB", {}),  # without A, two would be left
        ("AAABBB", {"A": "AAA", "B": "BBB"}),
        ("AAABBBBC", {"B": "BBBB", "": "AAAC"}),
        ("AAABBBBCCC", {"A": "AAA", "B": "BBBB", "C": "CCC"}),
        ("AAA-", {}),
        ("AAA---", {"A": "AAA", "": "---"}),
    ],
)
def test_no_group_and_no_rest_is_smaller_than_three(answers: str, expected: dict[str, str]) -> None:
    question = Question("?", "one", ("A", "B", "C"))
    said = {key: {"?": answer} for key, answer in enumerate(answers) if answer != "-"}
    found = groups(question, said, frozenset(range(len(answers))))
    assert {name: "".join(answers[key] for key in sorted(own)) for name, own in found.items()} == expected


def test_who_chose_several_is_in_several_groups_and_numbers_make_none() -> None:
    said = {key: {"?": ["A", "B"] if key < 2 else ["A"] if key < 4 else ["B"]} for key in range(7)}
    found = groups(Question("?", "several", ("A", "B")), said, frozenset(range(7)))
    assert found == {"A": {0, 1, 2, 3}, "": {4, 5, 6}}  # two are outside B
    both = {key: {"?": ["A", "B"] if key < 2 else ["A"] if key < 5 else ["B"]} for key in range(8)}
    found = groups(Question("?", "several", ("A", "B")), both, frozenset(range(8)))
    assert found == {"A": {0, 1, 2, 3, 4}, "B": {0, 1, 5, 6, 7}}
    scale = groups(
        Question("?", "scale", ("low", "high")), {k: {"?": 1 + k % 2} for k in range(6)}, frozenset(range(6))
    )
    assert scale == {"low": {0, 2, 4}, "high": {1, 3, 5}}
    assert groups(Question("?", "number"), {k: {"?": 1} for k in range(6)}, frozenset(range(6))) == {}


def test_a_withdrawal_moves_the_person_out_and_every_change_is_noticed(study: Study) -> None:
    gone = someone(study, "german-3", "German")
    assert people(study) == {"English": 3, "German": 4}

    def is_noticed() -> bool:
        """Whether what there was is out of date; the worker then looks again."""
        stored = analyses.stored_for(study, ANALYSIS)
        assert all(read() for read in stored.records.values())
        shown(study)
        return stored.is_old and stored.version != analyses.stored_for(study, ANALYSIS).version

    assert not is_noticed()
    crowd.withdraw(gone, erase=False)
    assert not analyses.stored_for(study, ANALYSIS).records
    assert is_noticed()
    assert people(study) == {"German": 3, "All others": 4}
    crowd.withdraw(gone, erase=True)
    assert is_noticed()
    assert people(study) == {"English": 3, "German": 3}
    silent = judging.join(study)
    crowd.answer_questionnaire(silent, "1", {LANGUAGE.text: "Thai"})
    assert is_noticed()
    scored.judge(study, ("rain", *PAIRS[0], "a"), pseudonym="another")
    assert is_noticed()
    crowd.set_questionnaire(study, making.owner(study), [replace(LANGUAGE, options=("English", "Deutsch"))], "after")
    assert is_noticed()
    assert people(study) == {"English": 3, "All others": 4}
