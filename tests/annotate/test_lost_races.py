"""What somebody asks for goes while they are at it: they are told so, and meet no 500."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

import annotate
from annotate import access, crowd, exports, invitations, judging, studies
from annotate.models import Annotator, Assignment, Study
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import ready_study

pytestmark = pytest.mark.django_db

Act = Callable[[], Any]
#: Tables of which a row is locked with its key: nothing refers to them by it, or its study is deleted.
WITH_KEY = {
    ("annotate/exports.py", "Export"),
    ("annotate/crowd/leaving.py", "Participation"),
    ("annotate/crowd/recruiting.py", "Recruitment"),
    ("annotate/judging/drawing.py", "leases"),
    ("annotate/judging/tallies.py", "Tally"),
    ("annotate/models/judging.py", "self"),
    ("annotate/studies.py", "Study"),
    ("annotate/studies.py", "Topic"),
    ("annotate/studies.py", "ItemSet"),
}


def once_before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, act: Act) -> None:
    """Let something happen the first time that a function is called, as if another request had done it."""
    acts, function = [act], getattr(module, name)

    def act_first(*args: Any, **kwargs: Any) -> Any:
        if acts:
            acts.pop()()
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, act_first)


def deletes(study: Study) -> Act:
    return lambda: studies.delete_study(Study.objects.get(pk=study.pk), making.owner(study))


def test_a_second_deletion_at_once_finds_no_study(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_program in (False, True):
        study = ready_study()
        client = Client()
        client.force_login(owner := making.owner(study))
        by_program = program(owner)
        once_before(monkeypatch, studies, "delete_study", deletes(study))
        if is_program:
            answer = by_program.delete(f"/api/v1/studies/{study.pk}/", {"title": study.title}, format="json")
        else:
            answer = client.post(reverse("study_delete", args=[study.pk]), {"title": study.title})
        assert answer.status_code == 404
        assert not Study.objects.filter(pk=study.pk).exists()


def test_a_study_that_is_deleted_while_an_export_is_asked_for_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    study = ready_study()
    by_program = program(making.owner(study))
    once_before(monkeypatch, exports, "request_export", deletes(study))
    answer = by_program.post(f"/api/v1/studies/{study.pk}/exports/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("what", ["draw", "pair", "ahead", "progress", "answer"])
def test_whoever_judges_in_a_study_that_is_deleted_meets_no_error(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = ready_study()
    client = Client()
    here = client.post(invitations.invitation_path(invitations.invite(study, making.owner(study)))).url
    home = reverse("progress", args=[Annotator.objects.get(study=study).key])
    once_before(monkeypatch, access, "is_annotator", deletes(study))
    match what:
        case "draw":
            answer = client.post(f"{home}draw/")
        case "pair":
            answer = client.get(here)
        case "ahead":
            answer = client.post(f"{here}ahead/", headers={"HX-Request": "true"})
        case "progress":
            answer = client.get(home)
        case _:
            answer = client.post(here, {"answer": "left", "revision": 1, "seconds": 5.0})
    assert answer.status_code in (200, 302, 404)  # 200: all that the page shows was read before
    assert client.get(home).status_code == 404


def test_a_program_that_judges_in_a_study_that_is_deleted_finds_no_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    study = ready_study()
    annotator = judging.join(study, user=making.owner(study), kind=Annotator.Kind.MACHINE, pseudonym="m")
    assignment = judging.draw(annotator)
    assert isinstance(assignment, Assignment)
    by_program = program(making.owner(study))
    once_before(monkeypatch, judging, "record_judgment", deletes(study))
    answer = by_program.post(
        f"/api/v1/assignments/{assignment.key}/judgment/", {"answer": "left", "revision": 1}, format="json"
    )
    assert answer.status_code == 404


@pytest.mark.django_db(transaction=True)
def test_whoever_joins_a_study_that_is_deleted_finds_no_invitation(monkeypatch: pytest.MonkeyPatch) -> None:
    study = ready_study()
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    once_before(monkeypatch, crowd, "recruitment_of", deletes(study))
    assert Client().post(link).status_code == 404
    assert not Annotator.objects.exists()


def test_who_may_not_do_something_may_not_do_it_at_a_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction of the permissions is lost: they are looked at again, before anything is done."""
    study = ready_study()
    stranger = program(making.person())

    def lose() -> None:
        raise Study.DoesNotExist

    once_before(monkeypatch, access, "visible_studies", lose)
    answer = stranger.delete(f"/api/v1/studies/{study.pk}/", {"title": study.title}, format="json")
    assert answer.status_code == 404
    assert Study.objects.filter(pk=study.pk).exists()


def test_rows_are_locked_without_their_keys() -> None:
    """A row that is locked with its key keeps whoever refers to it waiting at COMMIT, with all the locks they hold."""
    found = set()
    root = Path(annotate.__file__).parents[1]
    for file in sorted([*root.glob("annotate/**/*.py"), *root.glob("evaluation/**/*.py")]):
        for table, options in re.findall(r"(\w+)(?:\.\w+)?\.select_for_update\((.*?)\)", file.read_text()):
            if "no_key=True" not in options:
                found.add((str(file.relative_to(root)), table))
    assert found == WITH_KEY
