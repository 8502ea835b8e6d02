"""The offline command line's subcommands. Adding one is a module with a `COMMAND` and a line in `COMMANDS`."""

from preferendum.cli import (
    agree,
    apply,
    assessors,
    background,
    baselines,
    converge,
    plan,
    prefscore,
    replay,
    score,
    sentences,
    sets,
    train,
)

COMMANDS = (
    score.COMMAND,
    agree.COMMAND,
    converge.COMMAND,
    plan.COMMAND,
    replay.COMMAND,
    sentences.COMMAND,
    sets.COMMAND,
    assessors.COMMAND,
    train.COMMAND,
    apply.COMMAND,
    background.COMMAND,
    baselines.COMMAND,
    prefscore.COMMAND,
    prefscore.TRAINING,
)
