"""The offline command line's subcommands: a module with a `COMMAND` each, listed here or a `command` of the plug-in."""

from preferendum import plugin
from preferendum.cli import (
    agreement,
    background,
    baselines,
    card,
    convert,
    plan,
    rank,
    replay,
    score,
)
from preferendum.cli.common import Command

_CORE = (
    score.COMMAND,
    rank.COMMAND,
    agreement.COMMAND,
    card.COMMAND,
    convert.COMMAND,
    plan.COMMAND,
    replay.COMMAND,
    background.COMMAND,
    baselines.COMMAND,
)


def commands() -> tuple[Command, ...]:
    """All subcommands, those of the plug-in last."""
    methods = plugin.plugin()
    return (*_CORE, *(methods.commands() if methods else ()))
