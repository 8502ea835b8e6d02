"""The checks under the names that other projects give them: they are there, and run what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands
from ruamel.yaml import YAML

from annotate.management.commands.check_code import CHECKS
from tests.conftest import ROOT

TOOLS = Path(sys.executable).parent
WORKFLOW = ROOT / ".github" / "workflows" / "checks.yml"


def test_the_workflow_of_a_code_host_is_valid_and_runs_what_a_commit_must_pass() -> None:
    command = [str(TOOLS / "check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    (job,) = YAML(typ="safe").load(WORKFLOW.read_text())["jobs"].values()
    assert job["steps"][-1]["run"] == ".ci/run"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_the_hooks_are_local_and_run_tools_of_check_code_and_tests_that_are_there() -> None:
    (own,) = YAML(typ="safe").load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert own["repo"] == "local"
    *hooks, last = [hook["entry"].removeprefix(".venv/bin/").split() for hook in own["hooks"]]
    known = [command[:2] if command[0] == "ruff" else command[:1] for command in CHECKS.values()]
    assert all(hook[:2] in known or hook[:1] in known for hook in hooks), hooks
    assert all((ROOT / word).is_file() for word in last if word.startswith("tests/"))


@pytest.mark.parametrize("name", ["justfile", "README.md", "CONTRIBUTING.md"])
def test_every_command_that_newcomers_are_told_to_type_is_there(name: str) -> None:
    text = (ROOT / name).read_text()
    commands = set(re.findall(r"python3 manage\.py (\w+)", text))
    assert commands
    assert commands <= {*get_commands(), "evaluate"}
    assert all((TOOLS / tool).exists() for tool in re.findall(r"\.venv/bin/(\w+)", text))


def test_a_template_with_a_line_of_a_thousand_characters_does_not_pass(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    for name in (".djlint_rules.yaml", "pyproject.toml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    page = tmp_path / "templates" / "long.html"
    tool, *rest = CHECKS["templates"]
    for words, passes in ((10, True), (500, False)):
        page.write_text(f"<p>{'a ' * words}</p>\n")
        done = subprocess.run([str(TOOLS / tool), *rest], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == passes, done.stdout
