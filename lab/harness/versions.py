"""A next version of the product: a copy of a tree whose tables have grown, with the migration that makes them grow."""

from __future__ import annotations

import shutil
from pathlib import Path

#: What a running installation needs of a tree.
PARTS = (
    "annotate",
    "evaluation",
    "preferendum",
    "templates",
    "static",
    "deploy",
    "manage.py",
    "pyproject.toml",
)
#: Who wrote a row: the new version says so, the old one does not know the column.
WRITTEN_BY = "SELECT COUNT(*) FROM annotate_judgment WHERE written_by = 'the next version'"

#: One migration a table, since each holds its locks to its end: one that changes two tables which the same request
#: reads or writes may meet that request the other way round, and PostgreSQL then ends one of the two.
MIGRATIONS = {
    "remark": """
        migrations.CreateModel(
            name="Remark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(blank=True)),
                ("assignment", models.ForeignKey("annotate.assignment", models.CASCADE, related_name="+")),
            ],
        ),
    """,
    "written_by": """
        migrations.AddField("judgment", "written_by", models.CharField(max_length=20, null=True, db_index=True)),
        # Rows that are there stay as they are: the default is the new program's alone.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    "judgment",
                    "written_by",
                    models.CharField(max_length=20, null=True, db_index=True, default="the next version"),
                )
            ]
        ),
    """,
    "colour": """
        migrations.AddField("annotator", "colour", models.CharField(max_length=9, db_default="grey")),
    """,
}
MIGRATION = """from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "{before}")]

    operations = [{operations}]
"""
MODELS = """

class Remark(models.Model):
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="+")
    text = models.TextField(blank=True)


Judgment.add_to_class(
    "written_by", models.CharField(max_length=20, null=True, db_index=True, default="the next version")
)
Annotator.add_to_class("colour", models.CharField(max_length=9, db_default="grey"))
"""

#: How a click stores a judgment, and how the next version does.
JUDGE = "confidence, at)\nVALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id"
JUDGE_AND_SIGN = JUDGE.replace("at)", "at, written_by)").replace(") RETURNING", ", 'the next version') RETURNING")

#: What the next version adds to a stylesheet and a script, so that its pages name other files than the one before.
STATIC = {"preferendum.css": "\n.remark { color: grey }\n", "judge-keys.js": "\n// The next version's.\n"}


def next_version(tree: Path, room: Path) -> Path:
    """Copy the tree into a new folder, with tables that have grown as a release may let them grow (docs/operators.md).

    A new table points at assignments; judgments get a column that may be null, with an index; annotators one that may
    not, with a default in the database, for which SQLite copies the whole table. The pages on which people judge name
    another stylesheet and another script.
    """
    room.mkdir()
    for part in PARTS:
        if (tree / part).is_dir():
            shutil.copytree(tree / part, room / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(tree / part, room / part)
    migrations = room / "annotate" / "migrations"
    before = max(file.stem for file in migrations.glob("[0-9]*.py"))
    for name, operations in MIGRATIONS.items():
        after = f"{int(before[:4]) + 1:04}_{name}"
        (migrations / f"{after}.py").write_text(MIGRATION.format(before=before, operations=operations))
        before = after
    with (room / "annotate" / "models" / "judging.py").open("a") as models:
        models.write(MODELS)
    statements = room / "annotate" / "database" / "statements.py"
    text = statements.read_text()
    assert JUDGE in text, "judgments are stored in another way"
    statements.write_text(text.replace(JUDGE, JUDGE_AND_SIGN))
    for name, more in STATIC.items():
        with (room / "static" / name).open("a") as file:
            file.write(more)
    return room
