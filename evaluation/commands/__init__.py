"""The offline command line's subcommands. Adding one is a module with a `COMMAND` and a line in `COMMANDS`."""

from evaluation.commands import agree, background, baselines, converge, score, sentences, sets

COMMANDS = (
    score.COMMAND,
    agree.COMMAND,
    converge.COMMAND,
    sentences.COMMAND,
    sets.COMMAND,
    background.COMMAND,
    baselines.COMMAND,
)
