"""Whether the tables are those of this program."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from preferendum.about import COMMAND


def missing_migrations() -> list[str]:
    """The names of those that were not run here."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def why_a_command_failed() -> str:
    """What an operator has to do first if a command met an error of the database; "" if it was none of theirs."""
    try:
        missing = missing_migrations()
    except DatabaseError as away:
        return f"The database cannot be used: {str(away).strip().partition(chr(10))[0]}"
    if not missing:
        return ""
    return f"The tables are not made yet, or old ({len(missing)} migrations are missing): run {COMMAND} migrate first."
