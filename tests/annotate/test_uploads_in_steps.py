"""An upload of judgments is stored in short transactions while others judge, and seen whole or not at all."""

from __future__ import annotations

import json

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate import exports, imports, judging, studies
from annotate.imports import kept, uploads
from annotate.models import (
    Annotator,
    Assignment,
    Judgment,
    Pair,
    SourceDocument,
    Study,
    System,
    Tally,
    Topic,
    Upload,
)
from annotate.reports import annotators as table
from annotate.reports.study import look_at
from evaluation import agenda, tasks
from preferendum.formats.records import Preference
from tests import studies as making
from tests.annotate.judging_study import assert_books_balance, joined, judged, ready_study

pytestmark = pytest.mark.django_db

OLD = [("T0", a, b, author) for a, b, author in ((0, 1, "w1"), (1, 2, "w1"), (0, 1, "w2"), (3, 4, "w2"), (0, 1, "w1"))]
#: Of eight sentences, each two of them in both orders.
PAIRS = [number for number in range(64) if number // 8 != number % 8]


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """One transaction stores two judgments, one turn of the worker has one transaction."""
    monkeypatch.setattr(uploads, "STEP", 2)
    monkeypatch.setattr(uploads, "TURN", -1.0)
    monkeypatch.setattr(uploads, "LEAST", -1.0)
    return ready_study(judgments_per_pair=2)


def lines(rows: list[tuple[str, int, int, str]], day: int = 1) -> bytes:
    keys = ("topic", "a", "b", "annotator")
    records = [
        dict(zip(keys, (topic, f"d1:{a}", f"d1:{b}", by), strict=True))
        | {
            "winner": "a",
            "at": f"2026-01-{day:02}T00:{second // 60:02}:{second % 60:02}Z",
        }  # else they stand there twice
        for second, (topic, a, b, by) in enumerate(rows)
    ]
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def confirmed(study: Study, content: bytes, name: str = "preferences.jsonl") -> Upload:
    upload = making.receive(study, content, name)
    imports.process(upload)
    assert upload.state == "ready", upload.complaints
    imports.confirm(upload, study.created_by)
    return upload


def new_topic_with_judgments(study: Study) -> Upload:
    """A folder with a topic of its own, judgments of that and of one which is there."""
    import io
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as folder:
        folder.writestr("topics/rain/documents/d1.txt", "It rained. Rivers rose. Schools closed.")
        folder.writestr("topics/rain/summaries/lead.txt", "It rained.")
        rows = ["rain,d1:0,d1:1,a,w1", "rain,d1:1,d1:2,a,w1", "rain,d1:0,d1:2,b,w2", "T0,d1:0,d1:1,a,w1"]
        folder.writestr("preferences.csv", "\n".join(["topic,a,b,winner,annotator", *rows]) + "\n")
    return confirmed(study, packed.getvalue(), "news.zip")


def seen_of(study: Study) -> tuple[object, ...]:
    """What anybody sees of a study: pages, exports, fits."""
    archive = exports.make_archive(study)
    return (
        [topic.topic_id for topic in exports.topics(study)],
        len(list(exports.preferences(study))),
        [len(part) for part in (archive.topics, archive.sentences, archive.annotators, archive.judgments)],
        len(archive.assignments),
        look_at(study),
        table.rows_of(study),
        Judgment.objects.counted().count(),
        Judgment.objects.standing().count(),
        list(Tally.objects.order_by("pk").values_list("data_version", flat=True)),
        [work.task for work in agenda.look().waiting if work.task != "process_upload"],
    )


def test_an_upload_is_seen_whole_or_not_at_all(study: Study) -> None:
    before = seen_of(study)
    upload = new_topic_with_judgments(study)
    stored = []
    while upload.state == "confirmed":
        imports.process(upload)
        stored.append(upload.judgments_stored)
        if upload.state == "confirmed":
            now = seen_of(study)
            assert now[:4] + now[5:] == before[:4] + before[5:]
            assert (now[4].topics, now[4].systems, now[4].annotators) == (before[4].topics, 0, 0)
    assert stored == [2, 4, None]
    assert Judgment.objects.counted().count() == 4
    assert [topic.name for topic in Topic.objects.all()] == ["T0", "rain"]
    assert dict(Annotator.objects.values_list("pseudonym", "judged")) == {"w1": 3, "w2": 1}
    assert list(Tally.objects.order_by("pk").values_list("data_version", "taken")) == [(1, 1), (1, 3)]
    assert_books_balance(study)
    assert tasks.catch_up(study.pk) == {}


def test_a_large_upload_asks_the_database_less_than_once_for_two_judgments(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite all else waits meanwhile: what is asked once a step is most of what a judgment costs."""
    monkeypatch.undo()
    monkeypatch.setattr(uploads, "PAUSE", 0)
    upload = confirmed(study, lines([("T0", *divmod(number, 8), f"w{number % 5}") for number in PAIRS] * 5))
    with CaptureQueriesContext(connection) as queries:
        imports.process(upload)
    assert (upload.state, Judgment.objects.count()) == ("stored", 5 * len(PAIRS))
    assert len(queries) < Judgment.objects.count() / 2
    assert_books_balance(study)


def test_whoever_judges_meanwhile_goes_on(study: Study) -> None:
    here = joined(study)
    upload = confirmed(study, lines(OLD))
    while upload.state == "confirmed":
        imports.process(upload)
        judged(here)
    assert_books_balance(study)
    assert {judgment.assignment.upload for judgment in Judgment.objects.counted()} == {None, upload}


def test_an_upload_that_was_interrupted_goes_on_where_it_was(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = confirmed(study, lines(OLD))
    imports.process(upload)
    monkeypatch.setattr(judging, "store_some", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        imports.process(upload)
    monkeypatch.undo()
    imports.process(Upload.objects.get())
    rows = Judgment.objects.counted().values_list("assignment__annotator__pseudonym", "assignment__occasion")
    assert sorted(rows) == [("w1", 0), ("w1", 0), ("w1", 1), ("w2", 0), ("w2", 0)]
    assert_books_balance(study)


def test_an_upload_that_takes_longer_than_a_task_may_is_not_given_up(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(*_: object) -> int:
        raise SoftTimeLimitExceeded

    upload = confirmed(study, lines(OLD))
    tasks.process_upload(upload.pk)
    with monkeypatch.context() as busy:
        busy.setattr(judging, "store_some", too_long)
        tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.judgments_stored) == ("confirmed", 2)


def test_a_worker_that_comes_back_from_the_dead_stores_nothing_twice(study: Study) -> None:
    upload = confirmed(study, lines(OLD))
    imports.process(upload)
    late = Upload.objects.get()
    bundle = kept.load(late)
    imports.process(upload)
    uploads._store(late, bundle, ends=0.0)
    assert Judgment.objects.count() == 4


@pytest.mark.parametrize("state", ["failed", "refused"])
def test_an_upload_that_is_given_up_midway_leaves_nothing(study: Study, state: str) -> None:
    here = joined(study)
    judged(here)
    before = Judgment.objects.count(), Pair.objects.count()
    upload = new_topic_with_judgments(study)
    imports.process(upload)
    assert SourceDocument.objects.count() == 2
    Upload.objects.update(state=state)
    for _turn in range(2):
        assert [work.task for work in agenda.look().waiting if work.task == "process_upload"]
        imports.process(upload)
        if Upload.objects.get().judgments_stored is None:
            break
    assert (Judgment.objects.count(), Pair.objects.count()) == before
    assert not Upload.waiting().exists()
    assert not Assignment.objects.exclude(upload=None).exists()
    assert Topic.with_unfinished.count() == SourceDocument.objects.count() == Annotator.objects.count() == 1
    assert not System.objects.exists()
    assert_books_balance(study)


def test_a_study_can_be_deleted_while_an_upload_is_being_stored(study: Study) -> None:
    upload = new_topic_with_judgments(study)
    imports.process(upload)
    bundle = kept.load(upload)
    late = Upload.objects.select_related("study").get()
    studies.delete_study(study, study.created_by)
    uploads._store(late, bundle, ends=0.0)
    assert not Judgment.objects.exists()
    assert not Topic.with_unfinished.exists()


def test_the_uploads_of_a_study_are_stored_one_after_another(study: Study) -> None:
    first, second = confirmed(study, lines(OLD)), confirmed(study, lines(OLD, day=2))
    imports.process(first)
    imports.process(second)
    assert second.judgments_stored is None
    while first.state == "confirmed":
        imports.process(first)
    while second.state == "confirmed":
        imports.process(second)
    assert dict(Annotator.objects.values_list("pseudonym", "judged")) == {"w1": 6, "w2": 4}
    assert sorted(Assignment.objects.filter(upload=second).values_list("occasion", flat=True)) == [1, 1, 1, 2, 3]
    assert_books_balance(study)


def test_what_a_command_stores_meanwhile_belongs_to_nobody_who_is_still_arriving(study: Study) -> None:
    upload = confirmed(study, lines(OLD))
    imports.process(upload)
    judging.import_judgments(study, [Preference("T0", "d1:5", "d1:6", "a", annotator="w1")])
    while upload.state == "confirmed":
        imports.process(upload)
    assert dict(Annotator.objects.values_list("pseudonym", "judged")) == {"w1": 3, "w2": 2, "w1 1": 1}
    assert_books_balance(study)


def test_an_annotator_who_is_excluded_while_more_of_theirs_arrives_takes_no_places(study: Study) -> None:
    judging.import_judgments(study, [Preference("T0", "d1:5", "d1:6", "a", annotator="w1")])
    upload = confirmed(study, lines(OLD))
    imports.process(upload)
    judging.exclude(Annotator.objects.get(pseudonym="w1"), study.created_by, "Clicks at random.")
    while upload.state == "confirmed":
        imports.process(upload)
    assert_books_balance(study)
    assert Judgment.objects.counted().count() == 2
