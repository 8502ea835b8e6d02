#!/usr/bin/env python3
"""Runs the project's commands; before those that stand in `LOCKS` it makes their environment.

Nothing but Python 3.11 is needed: the first of them puts the locked dependencies into `.venv` and starts
itself again there. This file itself keeps to what old Pythons can read, so that it can tell them what is needed.
"""

import hashlib
import importlib.util
import os
import runpy
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(HERE, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "preferendum-lock")
LOCKS = {
    "setup": "run",
    "demo": "run",
    "serve": "run",
    "evaluate": "run",
    "rank": "run",
    "agreement": "run",
    "score": "run",
    "test": "test",
    "check_code": "test",
    "faults": "test",
    "bench": "bench",
}
SIZES = ["run", "test", "bench"]  # each holds the one before


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    require_python()
    if command in LOCKS and not outside_environment():
        prepare(LOCKS[command])
    if command == "setup":
        return
    if os.path.exists(PYTHON) and os.path.realpath(sys.prefix) != os.path.realpath(VENV) and not outside_environment():
        os.execv(PYTHON, [PYTHON, os.path.abspath(__file__)] + sys.argv[1:])
    runpy.run_module("preferendum", run_name="__main__", alter_sys=True)


def require_python():
    if sys.version_info >= (3, 11):
        return
    for name in ("python3.11", "python3.12", "python3.13"):
        newer = shutil.which(name)
        if newer:
            os.execv(newer, [newer, os.path.abspath(__file__)] + sys.argv[1:])
    sys.exit("Preferendum needs Python 3.11 or newer; this is Python %d.%d." % sys.version_info[:2])


def outside_environment():
    """Whether somebody else (an image, another environment) has already installed what is needed."""
    if os.path.realpath(sys.prefix) == os.path.realpath(VENV):
        return False
    return bool(os.environ.get("PREFERENDUM_NO_VENV")) and importlib.util.find_spec("django") is not None


def prepare(lock):
    have, digest = stamp()
    wanted = max(lock, have, key=SIZES.index) if have else lock
    if digest == digest_of(wanted):
        return
    say("Setting up the environment in .venv (once; a minute or two)")
    if not os.path.exists(PYTHON):
        run([sys.executable, "-m", "venv", VENV])
    requirements = os.path.join(HERE, "requirements", wanted + ".txt")
    uv = shutil.which("uv")
    if uv:
        run([uv, "pip", "install", "--python", PYTHON, "--require-hashes", "-r", requirements])
    else:
        quiet = ["--disable-pip-version-check", "--progress-bar", "off"]
        run([PYTHON, "-m", "pip", "install", *quiet, "--require-hashes", "-r", requirements], shorten=True)
    with open(STAMP, "w") as file:
        file.write(wanted + " " + digest_of(wanted))
    say("The environment is ready")


def stamp():
    try:
        with open(STAMP) as file:
            have, digest = file.read().split()
    except (OSError, ValueError):
        return None, None
    return (have, digest) if have in SIZES else (None, None)


def digest_of(lock):
    with open(os.path.join(HERE, "requirements", lock + ".txt"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def run(command, shorten=False):
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE if shorten else None, stderr=subprocess.STDOUT if shorten else None, text=True
    )
    tail = []
    for line in process.stdout or ():
        tail = tail[-20:] + [line]
        if line.startswith("Collecting "):
            say("  " + line.split()[1].split("==")[0])
    if process.wait():
        sys.exit("".join(tail) + "This step failed: " + " ".join(command))


def say(text):
    print(text, flush=True)


if __name__ == "__main__":
    main()
