"""The plug-in for research on metrics can be left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_website_worker_and_scores_work_without_the_plug_in(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.walk_without_plugin", str(tmp_path)]

    ran = subprocess.run(program, capture_output=True, text=True, cwd=ROOT, timeout=240)

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("walked\n")
