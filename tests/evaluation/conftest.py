"""What tests of the command line share."""

from __future__ import annotations

import json
from typing import Any

import pytest

from preferendum.cli.__main__ import main


class Run:
    """Runs a command."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        """Its exit status, what it prints, and what it says on the side."""
        try:
            status = main(list(map(str, arguments)))
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = self.capsys.readouterr()
        return status, out, err

    def out(self, *arguments: object) -> str:
        """What it prints where all is well."""
        status, out, err = self(*arguments)
        assert status == 0, err
        return out

    def json(self, *arguments: object) -> Any:
        return json.loads(self.out(*arguments, "--format", "json"))

    def refused(self, *arguments: object) -> str:
        """What it says where it refuses."""
        status, out, err = self(*arguments)
        assert (status, out) == (2, "")
        return err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(capsys)
