"""How much of our own code an answer passes through, from the request to the row and the next pair on the page; and how
much an upload, from what was read to its rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from django.test import Client
from django.urls import reverse

from annotate import imports, invitations
from annotate.models import Assignment, Judgment, Pair, Study
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
#: What wraps every request: middleware, sessions, logs, the loader of templates; and the database's backend.
AROUND = ("annotate/server/", "annotate/database/")


@contextmanager
def passed_through() -> Iterator[set[tuple[str, str]]]:
    """The functions of ours that are called meanwhile, as (file, name); comprehensions belong to their functions."""
    called: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        name = code.co_filename.removeprefix(f"{ROOT}/")
        ours = name.startswith(("annotate/", "preferendum/")) and not name.startswith(AROUND)
        if event == "call" and ours and (not code.co_name.startswith("<") or code.co_name == "<lambda>"):
            called.add((name, code.co_qualname))

    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("shared", [1e-9, 1.0])
def test_an_answer_passes_few_functions_in_few_files(shared):
    study = ready_study(sentences=30, random_share=0.0)  # it looks for what the worker suggests, and draws by chance
    other = joined(study)
    for _ in range(5):
        judged(other)
    Study.objects.update(repeat_share=1e-9, shared_share=shared)  # due never, or each time
    client = Client()
    here = client.post(invitations.invitation_path(invitations.invite(study, making.owner(study)))).url
    script = {"HX-Request": "true", "Judge-Showing": ""}
    client.post(f"{here}ahead/", headers=script)
    shown = reverse("pair", args=[Assignment.objects.latest("pk").key])
    sent = {"answer": "left", "revision": 1, "seconds": 5.0}
    for warm in (True, False):  # templates are compiled the first time
        with passed_through() as called:
            result = client.post(here, sent, headers=script | {"Judge-Showing": shown}).json()
        assert (result["here"], result["part"], bool(result["ahead"])) == (shown, "", True)
        if warm:
            here, shown = shown, reverse("pair", args=[Assignment.objects.latest("pk").key])
    assert Judgment.objects.count() == 7
    assert (max(Pair.objects.values_list("taken", flat=True)) == 2) is (shared == 1.0)
    assert_few(called, functions=35, files=6)


def test_an_upload_of_three_topics_is_stored_by_few_functions_in_few_files():
    topics = [making.TOPIC | {"topic_id": name} for name in ("M1", "M2", "M3")]
    for _warm in range(2):  # readers of records are made the first time
        study = making.study()
        upload = making.receive(study, making.lines(*topics))
        imports.process(upload)
        imports.confirm(upload, making.owner(study))
        with passed_through() as called:
            imports.process(upload)
        assert (upload.state, study.topics.count()) == ("stored", 3)
    assert_few(called, functions=70, files=15)


def assert_few(called: set[tuple[str, str]], functions: int, files: int) -> None:
    listed = "\n".join(sorted(f"{file} {name}" for file, name in called))
    assert len({file for file, _name in called}) <= files, listed
    assert len(called) <= functions, listed
