"""Runs the processes named on the command line under the product's own supervisor, only more impatient than `serve`.

Run in the product's environment, with the product's checkout on the path. `serve` waits up to half a minute before it
starts again what keeps dying; here things are killed every few seconds on purpose, a hundred times.
"""

from __future__ import annotations

import json
import os
import sys

from annotate import supervisor
from annotate.management.commands.serve import WEB, WORKER

supervisor.LONGEST_PAUSE = 0.2

if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    commands = {
        "web": [*WEB[:-1], wanted["wsgi"]],
        "worker": [wanted["app"] if part == "evaluation.worker" else part for part in WORKER],
    }
    programs = []
    for name in wanted["programs"]:
        kind = name.rstrip("0123456789")
        command = ["with_clock", kind, *commands[kind]] if wanted["clocks"] else commands[kind]
        programs.append(supervisor.Program(name, command))
    supervisor.Supervisor(programs, os.environ, lambda line: print(line, flush=True)).run(lambda: None)
