"""The offline command line, `preferendum COMMAND`; it needs no database and no server.

Exit status 0 for done, 2 for input that is refused (the reasons on standard error), 1 for anything else.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from preferendum.about import COMMAND, __version__
from preferendum.cli import commands as all_commands
from preferendum.cli import tables
from preferendum.cli.common import InputError, Output, with_left_out
from preferendum.fit.threads import on_one_thread
from preferendum.formats import Refused, message

DONE, FAILED, REFUSED = 0, 1, 2
PROGRAM = f"{COMMAND} evaluate"

EXAMPLES = """\
examples:
  {program} rank preferences.csv
  {program} score topics.jsonl --preferences preferences.csv
  {program} score study.zip --format latex --output table.tex
  {program} score topics.jsonl --simulate references --pairs 1000 --seed 0
  {program} COMMAND --help     every option of a command

exit status: 0 done; 2 input refused, with the reasons on standard error; 1 anything else
"""


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> int:
    """Run one command; the exit status. `program`: how it is called."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser(program, *given[:1]).parse_args(given)
    try:
        _check_writable(options)
        output = _run(options)
        _write(output if isinstance(output, str) else _rendered(output, options.format), options.output)
    except Refused as refused:
        for complaint in refused.complaints:
            print(message(complaint), file=sys.stderr)
        return _complain("the input was refused, for the reasons above", REFUSED)
    except InputError as error:
        return _complain(str(error), REFUSED)
    except BrokenPipeError:
        # The reader closed our output; Python must not try to flush it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _complain(f"{error.filename or 'output'}: {error.strerror or error}", FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", FAILED)
    except Exception as error:
        if options.debug:
            traceback.print_exc()
        hint = "" if options.debug else "; --debug shows where"
        return _complain(f"the program failed: {type(error).__name__}: {error}{hint}", FAILED)
    return DONE


def evaluate(*arguments: str | os.PathLike[str]) -> Any:
    """What a command says with `--format json`, as lists and dictionaries; of one that makes a file, its text.

    `evaluate("score", "topics.jsonl", "--preferences", "preferences.csv")`. Raises `Refused` and `InputError` for
    input that is refused, `SystemExit` for arguments that the command does not know.
    """
    given = [os.fspath(argument) for argument in arguments]
    output = _run(_parser(PROGRAM, *given[:1]).parse_args(given))
    return output if isinstance(output, str) else output.data


@on_one_thread  # as in the worker, so that the last digits are the same
def _run(options: argparse.Namespace) -> Output | str:
    options.left_out = Counter()
    output: Output | str = options.run(options)
    if isinstance(output, str) or not hasattr(options, "counted_kinds"):
        return output
    return with_left_out(output, options.left_out)


def _parser(program: str, asked: str | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description="Scores summaries by people's preferences: the mathematics of Preferendum without its website.",
        epilog=EXAMPLES.format(program=program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"Preferendum {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in all_commands(asked):
        usage = f"{program} {command.name} {command.takes} [options]"
        sub = commands.add_parser(
            command.name, usage=usage, help=command.help, description=command.description, allow_abbrev=False
        )
        command.add_arguments(sub)
        group = sub.add_argument_group("output")
        if not command.makes_file:
            group.add_argument(
                "--format",
                choices=["table", "json", "csv", "latex"],
                metavar="table|json|csv|latex",
                default="table",
                help="output format (default: table)",
            )
        group.add_argument("--output", metavar="FILE", type=Path, help="write to FILE instead of standard output")
        group.add_argument("--debug", action="store_true", help="if the program fails, show where")
        sub.set_defaults(run=command.run)
    return parser


def _rendered(output: Output, form: str) -> str:
    if form == "json":
        return json.dumps(output.data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    if form == "csv":
        return tables.as_csv(output.rows)
    return tables.as_latex(output.tables) if form == "latex" else tables.as_text(output.tables)


def _check_writable(options: argparse.Namespace) -> None:
    """Fail before the work is done rather than after it, and rather than write over what is read."""
    output = options.output
    if output is None:
        return
    if not output.parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder to write to", str(output.parent))
    if output.is_dir():
        raise IsADirectoryError(21, "a folder, where a file is to be written", str(output))
    for name, value in vars(options).items():
        for own in map(str, value if isinstance(value, list) else [value]):
            if name != "output" and os.path.isfile(own) and output.exists() and output.samefile(own):
                raise InputError(f"{output}: this file is read; write to another one")


def _write(text: str, output: Path | None) -> None:
    if output is not None:
        output.write_bytes(text.encode())
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def _complain(text: str, status: int) -> int:
    print(f"error: {text}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
