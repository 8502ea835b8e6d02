"""The offline command line's subcommands: a module with a `COMMAND` each, listed here or a `command` of the plug-in."""

from importlib import import_module

from preferendum import plugin
from preferendum.cli.common import Command

_CORE = (
    *("score", "rank", "agreement", "card", "convert", "push", "prolific", "plan", "replay"),
    *("background", "baselines"),
)


def commands(asked: str | None = None) -> tuple[Command, ...]:
    """All subcommands, those of the plug-in last; the one `asked` for alone, if it is none of theirs."""
    names = (asked,) if asked in _CORE else _CORE
    methods = None if asked in _CORE else plugin.plugin()
    core = (import_module(f"{__name__}.{name}").COMMAND for name in names)
    return (*core, *(methods.commands() if methods else ()))
