"""The audit log: nobody changes it unseen, and the database lets nobody try."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from annotate import audit_log, crowd, judging, studies
from annotate.audit_log import note
from annotate.database import append_only
from annotate.models import Annotator, AuditEntry, Judgment, Study
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study
from tests.annotate.test_judging_together import at_once

pytestmark = pytest.mark.django_db


def broken(heads: dict[str, audit_log.Head] | None = None) -> list[tuple[int | None, int]]:
    return [(one.study, one.number) for one in audit_log.verify(heads)]


@pytest.fixture
def study() -> Study:
    """A study with five entries in its log, and one in the installation's."""
    found = making.study(making.person("owner"))
    user = found.created_by
    note(None, user, "sign in")
    while AuditEntry.objects.filter(study=found).count() < 5:
        note(found, user, "set state", before="draft", after="open", share=0.25, large=1e22, many=[1, None, "é"])
    return found


def test_a_log_that_nobody_touched_is_whole(study):
    assert broken() == []
    numbers = list(AuditEntry.objects.filter(study=study).order_by("number").values_list("number", flat=True))
    assert numbers == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("action", "x"),
        ("detail", {"after": "closed"}),
        ("actor_id", None),
        ("at", "2020-01-01T00:00:00Z"),
        ("digest", "0"),
    ],
)
def test_whatever_is_changed_is_found(study, column, value):
    with append_only.erasing():
        AuditEntry.objects.filter(study=study, number=3).update(**{column: value})
    assert broken() == [(study.pk, 3)]


def test_an_entry_that_was_taken_out_is_found_even_if_the_rest_was_numbered_anew(study):
    with append_only.erasing():
        AuditEntry.objects.filter(study=study, number=3).delete()
        assert broken() == [(study.pk, 3)]
        for number in (4, 5):
            AuditEntry.objects.filter(study=study, number=number).update(number=number - 1)
    assert broken() == [(study.pk, 3)]


def test_two_entries_that_changed_places_are_found(study):
    with append_only.erasing():
        for before, after in ((2, 99), (3, 2), (99, 3)):
            AuditEntry.objects.filter(study=study, number=before).update(number=after)
    assert broken() == [(study.pk, 2)]


def test_an_entry_that_was_moved_to_another_study_is_found(study):
    other = making.study(making.person("other"))
    with append_only.erasing():
        AuditEntry.objects.filter(study=other).delete()
        AuditEntry.objects.filter(study=study, number=1).update(study=other)
    assert set(broken()) == {(study.pk, 1), (other.pk, 1)}


def test_entries_cut_off_at_the_end_are_found_by_whoever_kept_the_head(study, tmp_path, capsys):
    call_command("verify_log", "--heads")
    heads = tmp_path / "heads.json"
    heads.write_text(capsys.readouterr().out)
    note(study, None, "later")
    call_command("verify_log", against=heads, verbosity=0)
    with append_only.erasing():
        AuditEntry.objects.filter(study=study, number__gte=5).delete()
    assert broken() == []
    with pytest.raises(SystemExit):
        call_command("verify_log", against=heads)
    assert "entries 5 to 5 are missing at the end" in capsys.readouterr().err
    note(study, None, "another")
    assert broken({name: audit_log.Head(**head) for name, head in json.loads(heads.read_text()).items()}) == [
        (study.pk, 5)
    ]


def test_the_command_says_where_the_log_breaks(study, capsys):
    call_command("verify_log")
    assert "entries in 2 logs are as they were written" in capsys.readouterr().out
    with append_only.erasing():
        AuditEntry.objects.filter(study=study, number=2).update(action="nothing")
    with pytest.raises(SystemExit):
        call_command("verify_log")
    assert f"The log of study {study.pk} breaks: entry 2 (nothing)" in capsys.readouterr().err


def test_the_command_says_that_the_database_would_let_anybody_in(study, capsys):
    with connection.cursor() as cursor:
        where = " ON annotate_judgment" if connection.vendor == "postgresql" else ""
        cursor.execute(f"DROP TRIGGER annotate_judgment_no_delete{where}")
    with pytest.raises(SystemExit):
        call_command("verify_log")
    assert "would let anybody delete annotate_judgment" in capsys.readouterr().err
    append_only.create_triggers(connection)
    call_command("verify_log", verbosity=0)


@pytest.mark.parametrize("model", [AuditEntry, Judgment])
@pytest.mark.parametrize("action", ["update", "delete"])
def test_the_database_refuses_to_change_or_delete(study, model, action):
    judged(joined(ready_study()))
    rows = model.objects.all()
    before = list(rows.order_by("pk").values())
    assert before
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        rows.update(at=before[0]["at"]) if action == "update" else rows._raw_delete(rows.db)
    assert list(rows.order_by("pk").values()) == before


def test_a_person_s_erasure_empties_what_the_log_says_of_them_and_the_chain_still_holds(study):
    annotator = joined(study)
    judging.exclude(annotator, making.owner(study), f"{annotator.pseudonym} clicks at random")
    number = AuditEntry.objects.get(study=study, action="exclude annotator").number
    crowd.withdraw(annotator, erase=True)
    texts = "".join(str(detail) for detail in AuditEntry.objects.values_list("detail", flat=True))
    assert annotator.pseudonym not in texts
    assert str(annotator.key) not in texts
    assert "at random" not in texts
    assert AuditEntry.objects.get(study=study, action="erase annotator").detail["entries"] == [number]
    assert broken() == []


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="the file is SQLite's")
@pytest.mark.django_db(transaction=True)
def test_who_was_erased_is_not_in_the_pages_of_the_file_that_became_free() -> None:
    study = ready_study()
    for number in range(40):
        annotator = joined(study)
        Annotator.objects.filter(pk=annotator.pk).update(pseudonym=f"Eulalia-{number}-{'x' * 60}")
    written = partial(Path(connection.settings_dict["NAME"]).read_bytes)

    def settle() -> None:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    settle()
    assert b"Eulalia-" in written()
    for annotator in Annotator.objects.filter(pseudonym__startswith="Eulalia"):
        judging.erase(annotator)
    settle()
    assert b"Eulalia-" not in written()
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA secure_delete").fetchone() == (1,), "whatever SQLite was built with"


def test_details_that_were_emptied_without_an_erasure_are_found(study):
    with append_only.erasing():
        AuditEntry.objects.filter(study=study, number=2).update(detail=audit_log.ERASED)
    assert broken() == [(study.pk, 2)]


def test_entries_that_are_older_than_digests_of_details_still_hold(study):
    with append_only.erasing():
        before = audit_log.BEGINNING
        for entry in AuditEntry.objects.filter(study=study).order_by("number"):
            entry.detail_digest = ""
            before = entry.digest = audit_log.digest_of(before, entry)
            entry.save()
    assert broken() == []


def test_whoever_leaves_may_still_be_erased_and_a_study_deleted_with_its_log_kept():
    study = ready_study()
    annotator = joined(study)
    judged(annotator)
    crowd.withdraw(annotator, erase=True)
    assert not Judgment.objects.filter(item_set__study=study).exists()
    judged(joined(study))
    key, written = study.pk, AuditEntry.objects.filter(study=study).count()
    studies.delete_study(study, study.created_by)
    assert not Study.objects.filter(pk=key).exists()
    assert AuditEntry.objects.filter(study=key).count() == written > 1
    assert broken() == []


def test_an_entry_binds_what_it_always_bound(study):
    """Digests that were written must come out again for ever, whatever the columns are called."""
    entry = AuditEntry(
        study_id=7,
        number=3,
        actor_id=2,
        action="set state",
        detail={"after": "open", "share": 2.0, "many": [1, None, "é"]},
    )
    entry.at = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert audit_log.digest_of("0" * 64, entry) == "42f23b13d41c754a39cac9bf32e85d57c1d54a9f58994d2f01f50a3ea81d4836"


def test_the_log_holds_no_long_texts(study):
    entry = note(study, None, "change settings", changes={"guidelines": ["", "secret " * 100]})
    assert "secret" not in json.dumps(entry.detail)
    assert entry.detail["changes"]["guidelines"][1].startswith("700 characters, SHA-256 ")


@pytest.mark.django_db(transaction=True)
def test_entries_of_many_at_once_follow_one_another():
    study = making.study(making.person("owner"))
    before = AuditEntry.objects.filter(study=study).count()

    def write() -> None:
        for _ in range(5):
            note(study, None, "pause")

    at_once(*[write] * 4)
    assert AuditEntry.objects.filter(study=study).count() == before + 20
    assert broken() == []
