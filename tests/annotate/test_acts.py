"""The log of administrative acts: nobody changes it unseen, and the database lets nobody try."""

from __future__ import annotations

import json
import threading

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from annotate import acts, crowd, only_added, studies
from annotate.acts import note
from annotate.models import Act, Judgment, Study
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study

pytestmark = pytest.mark.django_db


def broken(heads: dict[str, acts.Head] | None = None) -> list[tuple[int | None, int]]:
    return [(one.study, one.number) for one in acts.verify(heads)]


@pytest.fixture
def study() -> Study:
    """A study with five acts in its log, and one in the installation's."""
    found = making.study(making.person("owner"))
    user = found.created_by
    note(None, user, "sign in")
    while Act.objects.filter(study=found).count() < 5:
        note(found, user, "set state", before="draft", after="open", share=0.25, large=1e22, many=[1, None, "é"])
    return found


def test_a_log_that_nobody_touched_is_whole(study):
    assert broken() == []
    numbers = list(Act.objects.filter(study=study).order_by("number").values_list("number", flat=True))
    assert numbers == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("act", "x"),
        ("detail", {"after": "closed"}),
        ("actor_id", None),
        ("at", "2020-01-01T00:00:00Z"),
        ("digest", "0"),
    ],
)
def test_whatever_is_changed_is_found(study, column, value):
    with only_added.erasing():
        Act.objects.filter(study=study, number=3).update(**{column: value})
    assert broken() == [(study.pk, 3)]


def test_an_act_that_was_taken_out_is_found_even_if_the_rest_was_numbered_anew(study):
    with only_added.erasing():
        Act.objects.filter(study=study, number=3).delete()
        assert broken() == [(study.pk, 3)]
        for number in (4, 5):
            Act.objects.filter(study=study, number=number).update(number=number - 1)
    assert broken() == [(study.pk, 3)]


def test_two_acts_that_changed_places_are_found(study):
    with only_added.erasing():
        for before, after in ((2, 99), (3, 2), (99, 3)):
            Act.objects.filter(study=study, number=before).update(number=after)
    assert broken() == [(study.pk, 2)]


def test_an_act_that_was_moved_to_another_study_is_found(study):
    other = making.study(making.person("other"))
    with only_added.erasing():
        Act.objects.filter(study=other).delete()
        Act.objects.filter(study=study, number=1).update(study=other)
    assert set(broken()) == {(study.pk, 1), (other.pk, 1)}


def test_acts_cut_off_at_the_end_are_found_by_whoever_kept_the_head(study, tmp_path, capsys):
    call_command("verify_log", "--heads")
    heads = tmp_path / "heads.json"
    heads.write_text(capsys.readouterr().out)
    note(study, None, "later")
    call_command("verify_log", against=heads, verbosity=0)
    with only_added.erasing():
        Act.objects.filter(study=study, number__gte=5).delete()
    assert broken() == []
    with pytest.raises(SystemExit):
        call_command("verify_log", against=heads)
    assert "acts 5 to 5 are missing at the end" in capsys.readouterr().err
    note(study, None, "another")
    assert broken({name: acts.Head(**head) for name, head in json.loads(heads.read_text()).items()}) == [(study.pk, 5)]


def test_the_command_says_where_the_log_breaks(study, capsys):
    call_command("verify_log")
    assert "acts in 2 logs are as they were written" in capsys.readouterr().out
    with only_added.erasing():
        Act.objects.filter(study=study, number=2).update(act="nothing")
    with pytest.raises(SystemExit):
        call_command("verify_log")
    assert f"The log of study {study.pk} breaks: act 2 (nothing)" in capsys.readouterr().err


def test_the_command_says_that_the_database_would_let_anybody_in(study, capsys):
    with connection.cursor() as cursor:
        where = " ON annotate_judgment" if connection.vendor == "postgresql" else ""
        cursor.execute(f"DROP TRIGGER annotate_judgment_no_delete{where}")
    with pytest.raises(SystemExit):
        call_command("verify_log")
    assert "would let anybody delete annotate_judgment" in capsys.readouterr().err
    only_added.put_up(connection)
    call_command("verify_log", verbosity=0)


@pytest.mark.parametrize("model", [Act, Judgment])
@pytest.mark.parametrize("action", ["update", "delete"])
def test_the_database_refuses_to_change_or_delete(study, model, action):
    judged(joined(ready_study()))
    rows = model.objects.all()
    before = list(rows.order_by("pk").values())
    assert before
    with pytest.raises(DatabaseError, match="only ever added"), transaction.atomic():
        rows.update(at=before[0]["at"]) if action == "update" else rows._raw_delete(rows.db)
    assert list(rows.order_by("pk").values()) == before


def test_whoever_leaves_may_still_be_erased_and_a_study_deleted_with_its_log_kept():
    study = ready_study()
    annotator = joined(study)
    judged(annotator)
    crowd.withdraw(annotator, erase=True)
    assert not Judgment.objects.filter(topic__study=study).exists()
    judged(joined(study))
    key, written = study.pk, Act.objects.filter(study=study).count()
    studies.delete_study(study, study.created_by)
    assert not Study.objects.filter(pk=key).exists()
    assert Act.objects.filter(study=key).count() == written > 1
    assert broken() == []


def test_the_log_holds_no_long_texts(study):
    act = note(study, None, "change settings", changes={"guidelines": ["", "secret " * 100]})
    assert "secret" not in json.dumps(act.detail)
    assert act.detail["changes"]["guidelines"][1].startswith("700 characters, SHA-256 ")


@pytest.mark.django_db(transaction=True)
def test_acts_of_many_at_once_follow_one_another():
    study = making.study(making.person("owner"))
    before = Act.objects.filter(study=study).count()
    start = threading.Barrier(4)

    def write() -> None:
        start.wait()
        try:
            for _ in range(5):
                note(study, None, "act")
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Act.objects.filter(study=study).count() == before + 20
    assert broken() == []
