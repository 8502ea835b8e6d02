"""Runs the processes named on the command line under the product's own supervisor, only more impatient than `serve`.

Run in the product's environment, with the product's checkout on the path. `serve` waits up to half a minute before it
starts again what keeps dying; here things are killed every few seconds on purpose, a hundred times. The file
FAULTS_TREES may name other trees whose code a program shall run from its next start on.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from annotate.management.commands.serve import WEB, WORKER
from annotate.server import supervisor

supervisor.LONGEST_PAUSE = 0.2

HERE = Path.cwd()


class Program(supervisor.Program):
    """A program that may be of another version each time it starts."""

    def start(self, environment: Mapping[str, str]) -> None:
        """Start it in its tree, which Python looks into first."""
        trees = Path(environment["FAULTS_TREES"])
        tree = json.loads(trees.read_text()).get(self.name, HERE) if trees.exists() else HERE
        os.chdir(tree)
        _here, *others = environment["PYTHONPATH"].split(os.pathsep)
        super().start({**environment, "PYTHONPATH": os.pathsep.join([str(tree), *others])})


if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    commands = {
        "web": [*WEB[:-1], wanted["wsgi"]],
        "worker": [wanted["app"] if part == "evaluation.app" else part for part in WORKER],
    }
    programs: list[supervisor.Program] = []
    for name in wanted["programs"]:
        kind = name.rstrip("0123456789")
        command = ["with_clock", kind, *commands[kind]] if wanted["clocks"] else commands[kind]
        programs.append(Program(name, command))
    supervisor.Supervisor(programs, os.environ, lambda line: print(line, flush=True)).run(lambda: None)
