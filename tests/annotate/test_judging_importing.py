import re
import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from annotate import crowd, judging, studies
from annotate.audit_log import note
from annotate.judging import importing
from annotate.judging.importing import UnknownSentence
from annotate.models import Annotator, Assignment, Judgment, Pair, Study, Tally
from preferendum.formats.archive.study_records import AnnotatorRecord, AssignmentRecord, JudgmentRecord, StudyArchive
from preferendum.formats.records import Preference
from preferendum.formats.settings import StudySettings
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, ready_study
from tests.annotate.test_judging_together import until_another_waits

pytestmark = pytest.mark.django_db


def preference(a: int, b: int, winner: str = "a", **fields) -> Preference:
    return Preference("T0", f"d1:{a}", f"d1:{b}", winner, **fields)


@pytest.fixture
def study() -> Study:
    return ready_study()


def test_preferences_become_judgments_as_they_were_shown(study):
    at = "2026-01-31T16:53:19+01:00"
    said = [
        preference(0, 1, "a", annotator="w01", seconds=7.2, at=at, extra={"batch": 3}),
        preference(3, 2, "b", annotator="w02"),
        preference(4, 5, "neither", annotator="w01"),
    ]
    assert judging.import_judgments(study, said) == 3
    rows = Judgment.objects.select_related("assignment__pair", "assignment__annotator").order_by("pk")
    shown = [
        (r.assignment.left.index, r.assignment.right.index, r.answer, r.assignment.annotator.pseudonym) for r in rows
    ]
    assert shown == [(0, 1, "left", "w01"), (3, 2, "right", "w02"), (4, 5, "neither", "w01")]
    assert (rows[0].seconds, rows[0].at, rows[0].extra) == (
        7.2,
        datetime(2026, 1, 31, 15, 53, 19, tzinfo=UTC),
        {"batch": 3},
    )
    assert rows[1].extra is None
    assert Judgment.objects.counted().count() == 3
    assert Tally.objects.get().data_version == 1
    assert_books_balance(study)


def test_the_same_pair_may_come_again_from_the_same_annotator(study):
    judging.import_judgments(study, [preference(0, 1, annotator="w"), preference(1, 0, annotator="w")])
    judging.import_judgments(study, [preference(0, 1, annotator="w")])
    assert list(Assignment.objects.order_by("pk").values_list("occasion", flat=True)) == [0, 1, 2]
    assert Annotator.objects.get().judged == 3
    assert Pair.objects.get().need == 3
    assert_books_balance(study)


def test_judgments_without_an_annotator_get_one_for_their_import(study):
    judging.import_judgments(study, [preference(0, 1), preference(1, 2)])
    judging.import_judgments(study, [preference(2, 3)])
    assert list(Annotator.objects.order_by("pk").values_list("judged", flat=True)) == [2, 1]


def test_somebody_who_joined_is_never_taken_for_an_import(study):
    here = judging.join(study, user=making.person(), pseudonym="w01")
    judging.import_judgments(study, [preference(0, 1, annotator="w01")])
    here.refresh_from_db()
    assert here.judged == 0
    assert Annotator.objects.get(pseudonym="w01 1").judged == 1


@pytest.mark.parametrize("leaves", [False, True])
def test_judgments_imported_under_the_pseudonym_of_somebody_who_came_from_a_platform_are_not_theirs(study, leaves):
    crowd.recruit(study, making.owner(study), platform="generic")
    here = crowd.enter(study, "p1")
    if leaves:
        crowd.withdraw(here, erase=False)
    judging.import_judgments(study, [preference(0, 1, annotator=here.pseudonym)])
    here.refresh_from_db()
    assert here.judged == 0
    assert Annotator.objects.get(pseudonym=f"{here.pseudonym} 1").imported


def test_an_import_locks_the_audit_log_last(study):
    """As an exclusion does: two transactions that lock both in another order would wait for each other for ever."""
    human = preference(0, 1)
    simulated = replace(human, extra={"kind": "simulated"})
    with CaptureQueriesContext(connection) as queries:
        judging.import_judgments(study, [human, simulated])
    tables = [re.search(r'"annotate_(tally|auditentry)"', query["sql"]) for query in queries]
    order = [table[1] for table in tables if table]
    assert order == sorted(order, reverse=True)
    assert set(order) == {"tally", "auditentry"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer")
def test_an_import_and_an_exclusion_that_meet_both_end(monkeypatch):
    """The import stops after it wrote to the log, with all its locks, until the exclusion waits for one of them."""
    study = ready_study()
    annotator = joined(study)
    judged(annotator)
    has_noted = threading.Event()

    def note_and_wait(*arguments, **detail):
        entry = note(*arguments, **detail)
        has_noted.set()
        until_another_waits()
        return entry

    monkeypatch.setattr(importing, "note", note_and_wait)
    outcomes: dict[str, str] = {}

    def run(name, work):
        try:
            work()
            outcomes[name] = "done"
        except DatabaseError as error:
            outcomes[name] = str(error)
        finally:
            connection.close()

    steps = {
        "import": lambda: judging.import_judgments(study, [preference(0, 1)]),
        "exclusion": lambda: judging.exclude(annotator, making.owner(study), "Clicks."),
    }
    threads = [threading.Thread(target=run, args=step) for step in steps.items()]
    threads[0].start()
    assert has_noted.wait(20)
    threads[1].start()
    for thread in threads:
        thread.join(40)
    assert outcomes == {"import": "done", "exclusion": "done"}


def test_what_was_simulated_is_never_taken_for_a_person(study):
    simulated = Annotator.Kind.SIMULATED
    judging.import_judgments(study, [preference(0, 1, annotator="w")])
    judging.import_judgments(study, [preference(0, 1, annotator="w")], simulated)
    assert sorted(Annotator.objects.filter(pseudonym__startswith="w").values_list("pseudonym", "kind")) == [
        ("w", "human"),
        ("w 1", "simulated"),
    ]


def test_judged_elsewhere_is_judged_and_not_asked_again():
    study = ready_study(sentences=3, judgments_per_topic=3)
    judging.import_judgments(study, [preference(0, 1), preference(1, 2)])
    annotator = joined(study)
    last = judged(annotator)
    assert {last.pair.first.index, last.pair.second.index} == {0, 2}
    assert isinstance(judging.draw(annotator), judging.NoPair)
    assert_books_balance(study)


def test_simulated_judgments_take_no_places_from_people():
    study = ready_study(sentences=3, judgments_per_topic=3, counted_kinds="people-and-simulated")
    everything = [preference(0, 1), preference(1, 2), preference(0, 2)] * 2
    judging.import_judgments(study, everything, Annotator.Kind.SIMULATED)
    assert Tally.objects.get().taken == 0
    annotator = joined(study)
    assert len({judged(annotator).pair_id for _ in range(3)}) == 3
    assert Judgment.objects.counted().count() == 9
    assert_books_balance(study)


@pytest.mark.parametrize(
    "unknown", [preference(0, 99), preference(0, 0), Preference("T9", "d1:0", "d1:1", "a"), preference(-1, 0)]
)
def test_a_sentence_that_is_not_there_stores_nothing(study, unknown):
    with pytest.raises(UnknownSentence):
        judging.import_judgments(study, [preference(0, 1), unknown])
    assert not Judgment.objects.exists()
    assert not Annotator.objects.exists()
    assert Tally.objects.get().data_version == 0


def archive_of(study: Study) -> StudyArchive:
    """What an export says about who judged what."""
    return StudyArchive(
        settings=StudySettings(title=study.title, question=study.question),
        program_version="test",
        annotators=[
            AnnotatorRecord(one.pseudonym, one.kind, one.joined_at.isoformat())
            for one in Annotator.objects.filter(study=study).order_by("pk")
        ],
        assignments=[
            AssignmentRecord(
                key=str(one.key),
                topic=one.item_set.topic.name,
                annotator=one.annotator.pseudonym,
                left=f"d1:{one.left.index}",
                right=f"d1:{one.right.index}",
                occasion=one.occasion,
                reason_shown=one.reason,
                state=one.state,
                skip_reason=one.skip_reason,
                holds_place=one.holds_place,
                created_at=one.created_at.isoformat(),
                closed_at=one.closed_at.isoformat() if one.closed_at else None,
            )
            for one in Assignment.objects.filter(item_set__study=study).order_by("pk")
        ],
        judgments=[
            JudgmentRecord(
                str(one.assignment.key), one.revision, one.answer, one.seconds, one.at and one.at.isoformat()
            )
            for one in Judgment.objects.filter(item_set__study=study).order_by("pk")
        ],
    )


def a_lived_in_study() -> Study:
    study = ready_study(sentences=6, topics=2, judgments_per_pair=2)
    judging.import_judgments(study, [preference(0, 1)] * 2, Annotator.Kind.SIMULATED, "simulated")
    one, other = joined(study), joined(study)
    for annotator in (one, other):
        judged(annotator)
        judging.undo(judged(annotator, "right"))
        judging.record_judgment(drawn(annotator), 3, "tie")
        judging.skip(drawn(annotator), "unclear")
    drawn(one)
    return study


def without_keys(archive: StudyArchive) -> StudyArchive:
    numbers = {one.key: str(number) for number, one in enumerate(archive.assignments)}
    return StudyArchive(
        settings=archive.settings,
        program_version=archive.program_version,
        annotators=archive.annotators,
        assignments=[_renamed(one, key=numbers[one.key]) for one in archive.assignments],
        judgments=[_renamed(one, assignment=numbers[one.assignment]) for one in archive.judgments],
    )


def _renamed(record, **fields):
    return type(record)(**({name: getattr(record, name) for name in record.__slots__} | fields))


def test_a_study_is_restored_as_it_was():
    archive = archive_of(a_lived_in_study())
    restored = ready_study(sentences=6, topics=2, judgments_per_pair=2)
    judging.restore(restored, archive, {})
    assert without_keys(archive_of(restored)) == without_keys(archive)
    assert_books_balance(restored)


def test_restored_into_another_installation_even_the_keys_are_the_same():
    study = a_lived_in_study()
    archive = archive_of(study)
    studies.delete_study(study, study.created_by)
    restored = ready_study(sentences=6, topics=2, judgments_per_pair=2)
    judging.restore(restored, archive, {})
    assert archive_of(restored) == archive
    assert_books_balance(restored)


def test_a_restored_study_can_be_judged_on():
    archive = archive_of(a_lived_in_study())
    restored = ready_study(sentences=6, topics=2, judgments_per_pair=2)
    judging.restore(restored, archive, {})
    annotator = joined(restored)
    for _ in range(5):
        judged(annotator)
    assert_books_balance(restored)
