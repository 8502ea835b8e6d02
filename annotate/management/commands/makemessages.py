"""`manage.py makemessages`: Django's own, and the texts of `formats`, which knows no gettext and marks none."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from django.core.management.base import CommandParser
from django.core.management.commands import makemessages

#: Calls that make a complaint about a file, whatever their arguments.
SAYING = {"refuse", "remark"}


def texts_of(source: str) -> list[tuple[int, str]]:
    """Texts for people in a module that knows no gettext, with their lines: complaints, and every text of two words.

    Some of two words are none (a pattern, the header of a table). Translators leave those as they are.
    """
    nodes = list(ast.walk(ast.parse(source)))
    silent = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    silent |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    arguments = {id(argument) for call in calls if getattr(call.func, "attr", "") in SAYING for argument in call.args}
    return sorted(
        (node.lineno, node.value)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent
        if " " in node.value.strip() or id(node) in arguments
    )


class BuildFile(makemessages.BuildFile):
    """A file for gettext; for a module of `formats` that marks no texts, a copy with every text marked."""

    @property
    def marks_nothing(self) -> bool:
        path = Path(self.path)
        return path.parts[0] == "formats" and "from formats.words import" not in path.read_text()

    @property
    def is_templatized(self) -> bool:
        return self.marks_nothing or super().is_templatized

    def preprocess(self) -> None:
        if not self.marks_nothing:
            super().preprocess()
            return
        source = Path(self.path).read_text()
        lines = [""] * (source.count("\n") + 1)
        for number, text in texts_of(source):
            lines[number - 1] += f"_({json.dumps(text, ensure_ascii=False)}); "
        Path(self.work_path).write_text("\n".join(lines))


class Command(makemessages.Command):
    build_file_class = BuildFile

    def add_arguments(self, parser: CommandParser) -> None:
        """Treat Markdown as templates, too: the datasheet is one."""
        super().add_arguments(parser)
        parser.set_defaults(extensions=["html,txt,py,md"])
