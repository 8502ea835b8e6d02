import csv
import hashlib
import io
import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import accounts, crowd, exports, imports, judging, members, studies
from annotate.database import append_only
from annotate.database.snapshot import snapshot
from annotate.imports.restore import restore
from annotate.models import Annotator, Assignment, AuditEntry, Export, Judgment, Removal, Score, Study
from annotate.refusal import Refusal
from preferendum import formats
from preferendum.formats.archive import study as study_archive
from preferendum.formats.judge import Judge
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """A study in which two people and a machine have judged, taken back and skipped."""
    study = making.study(seed=7, judgments_per_pair=2, ties_allowed=True, weigh_annotators=True, counted_kinds="all")
    for topic in making.take_in(
        study, making.TOPIC, making.TOPIC | making.PEOPLE | {"topic_id": "M2", "base": "M1", "pyramid": making.PYRAMID}
    ):
        making.prepare(topic)
    for kind, answers in (("human", "lrt"), ("human", "rl"), ("machine", "ll")):
        judge = judging.join(study, kind=kind)
        for letter in answers:
            answer = {"l": "left", "r": "right", "t": "tie"}[letter]
            sure = 0.75 if kind == "machine" else None
            judging.record_judgment(judging.draw(judge), 1, answer, 1.5, confidence=sure)
    judging.describe(
        judge, Judge(model="m", prompt="Which?\n", temperature=0.5, cost=0.1, made=("s",)), study.created_by
    )
    judging.undo(Assignment.objects.filter(state="judged").first())
    judging.skip(judging.draw(judge), "unclear")
    judging.draw(judge)
    Annotator.objects.filter(pk=judge.pk).update(excluded_at=judge.joined_at)
    with append_only.erasing():
        Judgment.objects.filter(revision=1).update(extra={"gold": True})
    return study


def packed(study: Study) -> bytes:
    file = io.BytesIO()
    study_archive.write(exports.make_archive(study), file)
    return file.getvalue()


def test_the_archive_holds_every_revision_and_every_pair_as_it_was_shown(study):
    archive = exports.make_archive(study)
    assert archive.settings.seed == 7
    assert [topic.topic_id for topic in archive.topics] == ["M1", "M2"]
    assert len(archive.sentences) == 10
    assert len(archive.assignments) == Assignment.objects.count()
    assert len(archive.judgments) == Judgment.objects.count() == 8
    shown = Assignment.objects.select_related("pair__first__document", "pair__second__document")
    for record, row in zip(archive.assignments, shown.order_by("pk"), strict=True):
        assert record.left == f"{row.left.document.name}:{row.left.index}"
        assert record.right == f"{row.right.document.name}:{row.right.index}"


def test_a_study_of_more_systems_than_sqlite_has_room_for_in_a_condition_is_exported():
    study = making.study()
    summaries = [{"system": f"s{k}", "text": f"It rained {k} times."} for k in range(1_100)]
    (topic,) = making.take_in(study, making.TOPIC | {"summaries": summaries})
    fit = making.fit(topic)
    Score.objects.bulk_create(Score(fit=fit, summary=summary, score=0.5) for summary in topic.summaries.all())
    archive = exports.make_archive(study)
    assert len(archive.topics[0].summaries) == len(archive.fits[0].scores) == 1_100


def test_all_sentences_are_read_once(study):
    with CaptureQueriesContext(connection) as asked:
        exports.make_archive(study)
    assert sum('FROM "annotate_item"' in query["sql"] for query in asked.captured_queries) == 1


def test_equal_studies_give_equal_bytes(study):
    assert packed(study) == packed(study)


def test_what_is_written_is_read_back_whole(study, tmp_path):
    (tmp_path / "study.zip").write_bytes(packed(study))
    archive = study_archive.read(tmp_path / "study.zip")
    assert archive == exports.make_archive(study)


def test_a_study_taken_back_gives_the_same_archive(study, tmp_path):
    archive = exports.make_archive(study)
    studies.delete_study(study, study.created_by)
    restored = restore(archive, making.person())
    assert exports.make_archive(restored) == archive


def test_what_became_history_goes_along_and_counts_nowhere(study, tmp_path, client):
    changed = making.TOPIC["documents"][0] | {"sentences": ["It rained.", "Rivers rose again.", "Roads closed."]}
    documents = [changed, *making.TOPIC["documents"][1:]]
    making.store(study, making.lines({"topic_id": "M1", "documents": documents}), "corrected.jsonl")
    imports.remove(study, making.owner(study), "topic", str(study.topics.get(name="M2").pk))
    judged = dict(Annotator.objects.values_list("pseudonym", "judged"))
    (tmp_path / "study.zip").write_bytes(packed(study))
    archive = study_archive.read(tmp_path / "study.zip")
    assert archive == exports.make_archive(study)
    of_removed = Judgment.objects.filter(assignment__item_set__topic__name="M2").count()
    assert sum(len(record.answers) for record in archive.history if record.topic == "M2") == of_removed
    assert len(archive.judgments) + sum(len(record.answers) for record in archive.history) == 8
    assert [(upload.filename, upload.by) for upload in archive.uploads] == [
        ("topics.jsonl", 1),
        ("corrected.jsonl", 1),
    ]
    assert archive.uploads[0].contents["topics"] == 2
    assert archive.uploads[1].contents == {"documents": 1}
    assert [(removal.kind, removal.name) for removal in archive.removals] == [
        ("replaced", "corrected.jsonl"),
        ("topic", "M2"),
    ]
    counted = len(list(exports.preferences(study)))
    studies.delete_study(study, study.created_by)
    restored = restore(archive, making.person())
    assert exports.make_archive(restored) == archive
    assert Judgment.objects.count() == 8
    assert len(list(exports.preferences(restored))) == counted
    assert dict(Annotator.objects.values_list("pseudonym", "judged")) == judged
    assert_books_balance(restored)
    client.force_login(making.owner(restored))
    shown = client.get(reverse("study_data", args=[restored.pk])).content.decode()
    assert "Before the study was imported" in shown
    assert "corrected.jsonl" in shown
    (removal,) = Removal.objects.all()
    assert (removal.kind, removal.restorable_until) == ("archived", None)
    with pytest.raises(Refusal):
        imports.restore_removed(removal, making.owner(restored))


def test_a_study_may_be_taken_back_under_another_title(study):
    restored = restore(exports.make_archive(study), making.person(), title="Again")
    assert restored.title == "Again"


def test_sentences_mended_before_anybody_judged_stay_mended():
    study = making.study()
    (topic,) = making.take_in(study)
    imports.mend(topic.documents.get(name="d2"), ["Schools", "closed. Nobody was hurt."], making.owner(study))
    making.prepare(topic)
    restored = restore(exports.make_archive(study), making.person())
    (again,) = restored.topics.all()
    assert again.documents.get(name="d2").mended == ["Schools", "closed. Nobody was hurt."]
    assert again.documents.get(name="d1").mended is None


def test_preferences_are_the_judgments_that_count(study):
    found = list(exports.preferences(study))
    counted = list(Judgment.objects.counted().filter(item_set__study=study).order_by("item_set__topic__position", "pk"))
    assert len(found) == len(counted) == 4
    for preference, judgment in zip(found, counted, strict=True):
        shown = judgment.assignment
        sides = [f"{side.document.name}:{side.index}" for side in (shown.left, shown.right)]
        assert [preference.a, preference.b] == sides
        assert preference.winner == {"left": "a", "right": "b", "tie": "tie"}[judgment.answer]
        assert preference.annotator == shown.annotator.pseudonym
        assert preference.at.endswith("Z")
    assert {tuple(one.extra) for one in found} == {("gold", "reason")}


def test_a_table_of_judgments_says_who_judged_and_why_the_pair_was_shown(study):
    Annotator.objects.update(excluded_at=None)
    file = io.BytesIO()
    formats.write_preferences(exports.preferences(study), file, "csv")
    rows = list(csv.DictReader(io.StringIO(file.getvalue().decode())))
    assert sorted(row["kind"] for row in rows) == ["human"] * 4 + ["machine"] * 2
    assert {row["reason"] for row in rows} == {"random"}


def test_preferences_say_what_no_person_judged(study):
    Annotator.objects.update(excluded_at=None)
    kinds = [one.extra.get("kind") for one in exports.preferences(study)]
    assert sorted(kinds, key=str) == [None] * 4 + ["machine"] * 2


def test_preferences_that_were_brought_are_given_back_exactly():
    study = making.study()
    for topic in making.take_in(study):
        making.prepare(topic)
    given = [
        formats.Preference("M1", "d1:0", "d2:1", "a", "w1", 2.5, "2026-01-31T16:53:19Z", {"gold": True}),
        formats.Preference("M1", "d2:1", "d1:2", "tie", "w2", None, "2026-01-31T16:54:00Z"),
    ]
    judging.import_judgments(study, given)
    assert list(exports.preferences(study)) == given


def test_what_is_known_of_a_machine_comes_back_with_its_judgments(study, tmp_path):
    """In its first line; sent again, the same judgments are known."""
    Annotator.objects.update(excluded_at=None)
    machine = Annotator.objects.get(kind="machine")
    assert machine.judge["prompt_sha256"] == hashlib.sha256(b"Which?\n").hexdigest()
    file = io.BytesIO()
    formats.write_preferences(exports.preferences(study), file)
    rows = [json.loads(line) for line in file.getvalue().splitlines()]
    assert [row["judge"] for row in rows if row["judge"]] == [machine.judge]
    assert {(row["kind"], row["confidence"]) for row in rows} == {("human", None), ("machine", 0.75)}
    other = making.study(counted_kinds="all")
    for topic in making.take_in(other, making.TOPIC, making.TOPIC | {"topic_id": "M2"}):
        making.prepare(topic)
    assert making.store(other, file.getvalue(), "preferences.jsonl").contents["judgments"] == len(rows)
    assert Annotator.objects.get(study=other, kind="machine").judge == machine.judge
    assert AuditEntry.objects.get(study=other, action="describe judge").detail["judge"]["model"] == "m"
    assert [own.extra for own in exports.preferences(other)] == [own.extra for own in exports.preferences(study)]
    judging.describe(Annotator.objects.get(study=other, kind="machine"), Judge(model="m", cost=2.0), None)
    two = [rows[0] | {"kind": "machine", "annotator": "g", "judge": {"temperature": k}, "at": None} for k in (0, 1)]
    refused = making.receive(other, making.lines(*two), "two.jsonl")
    imports.process(refused)
    assert [(own["line"], own["field"]) for own in refused.complaints] == [(2, "judge")]
    assert "already" in str(making.store(other, file.getvalue(), "again.jsonl").preview["remarks"])
    assert Judgment.objects.filter(assignment__item_set__study=other).count() == len(rows)


def test_nobody_is_named_but_by_pseudonym(study):
    user = making.person("recognizable", email="recognizable@example.org")
    judging.join(study, user=user)
    studies.change_settings(study, making.owner(study), guidelines="Read.")
    written = packed(study)
    archive = exports.make_archive(study)
    assert b"recognizable" not in written
    assert "recognizable" not in repr(archive)


def test_an_export_is_asked_for_once_and_written_whole(study):
    owner = making.owner(study)
    export = exports.request_export(study, owner)
    assert exports.request_export(study, owner) == export
    assert exports.request_export(study, making.person()) != export
    exports.write_export(export)
    assert export.state == Export.State.READY
    with export.file.open() as file:
        content = file.read()
    assert hashlib.sha256(content).hexdigest() == export.sha256
    assert content == packed(study)
    assert AuditEntry.objects.filter(action="request export", actor=owner).count() == 1
    assert exports.request_export(study, owner) != export


def test_an_export_that_is_written_is_not_written_again(study):
    export = exports.request_export(study, making.owner(study))
    twin = Export.objects.get()
    exports.write_export(export)
    exports.write_export(twin)
    assert len(default_storage.listdir("exports")[1]) == 1
    assert Export.objects.get().file.name == export.file.name


@pytest.mark.parametrize(("role", "status"), [("", 404), ("admin", 403)], ids=["sent away", "less than before"])
def test_whoever_loses_their_role_while_an_export_is_written_never_gets_it(role, status, study, client, monkeypatch):
    owner, member = making.owner(study), making.member(study, "researcher")
    _token, secret = accounts.create_token(member, "a program", study=study)
    export = exports.request_export(study, member)
    write = study_archive.write

    def change_meanwhile(*given):
        if role:
            members.set_role(study, owner, member, role)
        else:
            members.remove_member(study, owner, member)
        write(*given)

    monkeypatch.setattr(formats.archive.study, "write", change_meanwhile)
    exports.write_export(export)
    assert export.state == "ready"
    page, file = reverse("study_export", args=[study.pk]), reverse("export_file", args=[study.pk, export.key])
    here = f"/api/v1/studies/{study.pk}/exports/"
    program = {"headers": {"Authorization": f"Bearer {secret}"}}
    for address in (here, f"{here}{export.key}/", f"{here}{export.key}/file/"):
        assert client.get(address, **program).status_code == (status if role else 401)
    client.force_login(member)
    for address in (page, file):
        assert client.get(address).status_code == status
    client.force_login(owner)
    shown, size = client.get(page).content.decode(), export.file.size
    assert re.search(rf">{export.filename}</a>\s+<strong\s+class=\"number\">{size / 1024:.1f}\xa0KB</strong>", shown)
    assert b"".join(client.get(file).streaming_content)
    export.file.storage.delete(export.file.name)
    assert (client.get(page).status_code, client.get(file).status_code) == (200, 404), "the file is gone"


def test_a_persons_oldest_exports_make_room_for_new_ones(study, django_capture_on_commit_callbacks):
    owner, other = making.owner(study), making.member(study, making.Role.RESEARCHER)
    exports.write_export(exports.request_export(study, other))
    for _ in range(exports.KEPT + 2):
        with django_capture_on_commit_callbacks(execute=True):
            export = exports.request_export(study, owner)
        exports.write_export(export)
    assert Export.objects.filter(user=owner).count() == exports.KEPT
    assert Export.objects.filter(user=other).count() == 1
    assert len(default_storage.listdir("exports")[1]) == exports.KEPT + 1


def test_what_a_person_erased_leaves_the_exports_that_were_written(study, django_capture_on_commit_callbacks):
    export = exports.request_export(study, study.created_by)
    exports.write_export(export)
    first, gone = export.file.name, Annotator.objects.filter(kind="human").first()
    with django_capture_on_commit_callbacks(execute=True):
        crowd.withdraw(gone, erase=True)
    assert not default_storage.exists(first)
    export.refresh_from_db()
    assert export.state == Export.State.WAITING
    exports.write_export(export)
    archive = study_archive.read(export.file.path)
    assert gone.pseudonym not in {annotator.pseudonym for annotator in archive.annotators}
    assert len(archive.annotators) == 2


def test_an_export_that_fails_says_why(study):
    export = exports.request_export(study, making.owner(study))
    export.give_up("No room.")
    assert (export.state, export.problem) == (Export.State.FAILED, "No room.")


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_stands_still_and_holds_up_nobody():
    study = making.study()
    judging.join(study)
    with snapshot():
        assert Annotator.objects.count() == 1

        def join() -> uuid.UUID:
            try:
                return judging.join(study).key
            finally:
                connection.close()

        with ThreadPoolExecutor() as pool:
            pool.submit(join).result(60)
        assert Annotator.objects.count() == 1
    assert Annotator.objects.count() == 2
