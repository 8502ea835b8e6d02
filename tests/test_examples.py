"""The notebooks in examples/ run as they stand, and say what is stored in them."""

from __future__ import annotations

import gc
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from annotate import accounts
from annotate.management.commands import demo
from annotate.models import Judgment, Study
from tests.annotate import making
from tests.conftest import ROOT, Web

#: Those that need a server.
SERVED = {"running-study", "judge-a-study"}
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def said(notebook: Any) -> list[str]:
    """The text that its cells put out; figures are compared by eye."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.get("text") or output["data"]["text/plain"] for output in outputs]


def executed(path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The notebook with the outputs of now; its kernel finds the packages of this tree."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, 4)
    folder = {"metadata": {"path": str(ROOT / "examples")}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=folder, record_timing=False).execute()
    gc.collect()
    return notebook


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the client of the kernel leaves sockets to the collector
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem not in SERVED], ids=lambda path: path.stem)
def test_a_notebook_without_a_server_says_what_it_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(executed(path, monkeypatch)) == said(nbformat.read(path, 4))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_notebook_of_a_running_study_runs_on_one(web: Web, worker: object, monkeypatch: pytest.MonkeyPatch) -> None:
    demo.make_demo_study(lambda text: None)
    study = Study.objects.get()
    _token, secret = accounts.create_token(making.owner(study), "notebook")
    monkeypatch.setenv("PREFERENDUM_STUDY", f"{web.url}/studies/{study.pk}/")
    monkeypatch.setenv("PREFERENDUM_TOKEN", secret)
    first, *_rest = said(executed(ROOT / "examples" / "running-study.ipynb", monkeypatch))
    assert all(f"\n{system}" in first for system in study.systems.values_list("name", flat=True))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_notebook_of_a_machine_judge_runs_and_its_function_stays_apart_from_people(
    web: Web, worker: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    _token, secret = accounts.create_token(making.person(is_superuser=True), "notebook")
    monkeypatch.setenv("PREFERENDUM_SERVER", web.url)
    monkeypatch.setenv("PREFERENDUM_TOKEN", secret)
    path = ROOT / "examples" / "judge-a-study.ipynb"
    now, before = executed(path, monkeypatch), nbformat.read(path, 4)
    assert said(now)[0] == said(before)[0]  # which text stands on the left is drawn by lot
    judged = Judgment.objects.counted(kind="machine").values_list("assignment__pair", "assignment__swapped")
    assert len(judged) == len(set(judged)) == 240
    assert set(Judgment.objects.counted().values_list("assignment__annotator__kind", flat=True)) == {"human"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_readable_anywhere(path: Path) -> None:
    text = path.read_text()
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert said(notebook), "it has its outputs"
    assert not re.search(r"/(home|root|Users|work|tmp)/", text), "no path of a machine"
    assert "Traceback" not in text
    assert len(text) < 200_000
