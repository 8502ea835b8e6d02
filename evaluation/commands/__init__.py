"""The offline command line's subcommands. Adding one is a module with a `COMMAND` and a line in `COMMANDS`."""

from evaluation.commands import agree, score

COMMANDS = (score.COMMAND, agree.COMMAND)
