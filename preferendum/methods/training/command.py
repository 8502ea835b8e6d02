"""`train` and `apply`."""

from preferendum.methods.training import apply, train

COMMANDS = (train.COMMAND, apply.COMMAND)
