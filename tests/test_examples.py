"""The notebooks in examples/ run as they stand, and say what is stored in them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from annotate import accounts
from annotate.management.commands import demo
from annotate.models import Study
from tests.annotate import making
from tests.conftest import ROOT, Web

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
    return notebook


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the client of the kernel leaves sockets to the collector
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if "study" not in path.stem], ids=lambda path: path.stem)
def test_a_notebook_without_a_server_says_what_it_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(executed(path, monkeypatch)) == said(nbformat.read(path, 4))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_notebook_of_a_running_study_runs_on_one(web: Web, worker: object, monkeypatch: pytest.MonkeyPatch) -> None:
    demo.make_demo_study(lambda text: None)
    study = Study.objects.get()
    _token, secret = accounts.create_token(making.owner(study), "notebook")
    monkeypatch.setenv("PREFERENDUM_STUDY", f"{web.url}/studies/{study.pk}/")
    monkeypatch.setenv("PREFERENDUM_TOKEN", secret)
    [path] = [path for path in NOTEBOOKS if "study" in path.stem]
    first, *_rest = said(executed(path, monkeypatch))
    assert all(f"\n{system}" in first for system in study.systems.values_list("name", flat=True))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_readable_anywhere(path: Path) -> None:
    text = path.read_text()
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert said(notebook), "it has its outputs"
    assert not re.search(r"/(home|root|Users|work|tmp)/", text), "no path of a machine"
    assert "Traceback" not in text
    assert len(text) < 200_000
