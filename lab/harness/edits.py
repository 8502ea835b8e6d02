"""Edits of the product's code that find their place by what the code is called and does, wherever it stands.

An edit of Python names a function, method, class or assigned name and a pattern of code inside it; it is made in the
syntax tree, so that neither the file nor the layout matters. In a pattern, names that begin with `ANY` stand for any
expression, `...` as a statement for any statements; both may be used in what comes instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

PACKAGES = ("annotate", "evaluation", "preferendum")
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
Holes = dict[str, Any]


class Gone(Exception):
    """What an edit would change is not in the code any more, or more than once."""


@dataclass
class Copy:
    """The files below `root` with the edits made so far, which `save` writes."""

    root: Path
    edited: dict[Path, str] = field(default_factory=dict)

    def files(self, pattern: str, *folders: str) -> Iterator[tuple[Path, str]]:
        for folder in folders:
            for path in sorted((self.root / folder).rglob(pattern)):
                yield path, self.edited.get(path) or path.read_text()

    def save(self) -> None:
        for path, text in self.edited.items():
            path.write_text(text)


class Edit(Protocol):
    def make(self, copy: Copy) -> None:
        """Raises `Gone` unless there is exactly one place for it."""


@dataclass(frozen=True)
class Replace:
    """Code inside what is called `inside` ("Class.method", "function", "NAME"; anywhere if empty)."""

    inside: str
    old: str
    new: str

    def make(self, copy: Copy) -> None:
        pattern, replacement = parsed(self.old), parsed(self.new)
        places = [
            (path, module, place)
            for path, module in _modules(copy, self.inside, _words(pattern))
            for scope in _scopes(module, self.inside)
            for place in _places(scope, pattern)
        ]
        path, module, place = _only(places, self)
        place.fill(replacement)
        copy.edited[path] = ast.unparse(ast.fix_missing_locations(module))


@dataclass(frozen=True)
class Begin:
    """Statements that a function does before anything else."""

    inside: str
    new: str

    def make(self, copy: Copy) -> None:
        path, module, scope = _only(_definitions(copy, self.inside), self)
        scope.body[1 if ast.get_docstring(scope) else 0 : 0] = ast.parse(self.new).body
        copy.edited[path] = ast.unparse(ast.fix_missing_locations(module))


@dataclass(frozen=True)
class Decorate:
    """A function without one of its decorators, or with one more around all others."""

    inside: str
    without: str = ""
    with_: str = ""

    def make(self, copy: Copy) -> None:
        path, module, scope = _only(_definitions(copy, self.inside), self)
        if self.without:
            left = [decorator for decorator in scope.decorator_list if ast.unparse(decorator) != self.without]
            if len(left) != len(scope.decorator_list) - 1:
                raise Gone(f"{self.inside} has no decorator {self.without}")
            scope.decorator_list = left
        if self.with_:
            scope.decorator_list.insert(0, ast.parse(self.with_, mode="eval").body)
        copy.edited[path] = ast.unparse(ast.fix_missing_locations(module))


@dataclass(frozen=True)
class DropConstraint:
    """A constraint of this name that the migrations make, and the database no longer keeps."""

    name: str

    def make(self, copy: Copy) -> None:
        always = f"models.CheckConstraint(condition=models.Q(('id__gte', 0)), name={self.name!r})"
        places = []
        for path, text in copy.files("*.py", "annotate/migrations"):
            if self.name in text:
                module = ast.parse(text)
                places += [(path, module, place) for place in _constraints(module, self.name)]
        path, module, place = _only(places, self)
        place.fill(parsed(always))
        copy.edited[path] = ast.unparse(ast.fix_missing_locations(module))


@dataclass(frozen=True)
class ReplaceInTemplate:
    """What a regular expression matches in one of the templates."""

    old: str
    new: str

    def make(self, copy: Copy) -> None:
        places = [
            (path, text, match)
            for path, text in copy.files("*.html", "templates")
            for match in re.finditer(self.old, text)
        ]
        path, text, match = _only(places, self)
        copy.edited[path] = text[: match.start()] + match.expand(self.new) + text[match.end() :]


def _only(places: Iterable[Any], edit: Edit) -> Any:
    matches = list(places)
    if len(matches) != 1:
        raise Gone(f"{len(matches)} places for {edit}")
    return matches[0]


def parsed(code: str) -> ast.expr | list[ast.stmt]:
    """An expression, or statements."""
    body = ast.parse(code).body
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else body


# Where


def _modules(copy: Copy, name: str, words: Iterable[str] = ()) -> Iterator[tuple[Path, ast.Module]]:
    """The files in which something of this name may be defined, and all these words stand."""
    last = name.rpartition(".")[2]
    defined = re.compile(rf"^\s*(async )?(def |class )?{last}\b" if last else "", re.MULTILINE)
    for path, text in copy.files("*.py", *PACKAGES):
        if defined.search(text) and all(word in text for word in words) and "migrations" not in path.parts:
            yield path, ast.parse(text)


def _words(pattern: ast.expr | list[ast.stmt]) -> set[str]:
    """The names that must stand where the pattern matches."""
    nodes = [node for part in (pattern if isinstance(pattern, list) else [pattern]) for node in ast.walk(part)]
    names = (getattr(node, "id", None) or getattr(node, "attr", None) for node in nodes)
    return {name for name in names if name and not name.startswith("ANY")}


def _scopes(module: ast.Module, name: str) -> list[ast.AST]:
    """What is called so in a module."""
    return [scope for qualified, scope in _named(module) if qualified == name] if name else [module]


def _named(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Scope]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + child.name, child
            yield from _named(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            for target in child.targets if isinstance(child, ast.Assign) else [child.target]:
                yield prefix + ast.unparse(target), child


def _definitions(copy: Copy, name: str) -> Iterator[tuple[Path, ast.Module, ast.FunctionDef]]:
    for path, module in _modules(copy, name):
        for scope in _scopes(module, name):
            if isinstance(scope, ast.FunctionDef):
                yield path, module, scope


# What


@dataclass
class Place:
    """Where a pattern matched: in `parent.field`, from `start` on as many nodes as `length` where that is a list."""

    parent: ast.AST
    field: str
    holes: Holes
    start: int | None = None
    length: int = 1

    def fill(self, new: ast.expr | list[ast.stmt]) -> None:
        nodes = [_Filling(self.holes).visit(node) for node in (new if isinstance(new, list) else [new])]
        if self.start is None:
            setattr(self.parent, self.field, nodes[0])
            return
        inside = getattr(self.parent, self.field)
        if isinstance(inside[self.start], ast.stmt):
            nodes = [ast.Expr(node) if isinstance(node, ast.expr) else node for node in _flat(nodes)] or [ast.Pass()]
        inside[self.start : self.start + self.length] = nodes


def _flat(nodes: Iterable[Any]) -> Iterator[Any]:
    for node in nodes:
        yield from node if isinstance(node, list) else [node]


class _Filling(ast.NodeTransformer):
    """Puts what the holes of the pattern matched where the replacement names them."""

    def __init__(self, holes: Holes) -> None:
        self.holes = holes

    def visit_Name(self, node: ast.Name) -> Any:
        return self.holes.get(node.id, node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self.holes["..."] if _is_dots(node) else self.generic_visit(node)


def _places(scope: ast.AST, pattern: ast.expr | list[ast.stmt]) -> Iterator[Place]:
    """Where the pattern matches below a node."""
    wanted = pattern if isinstance(pattern, list) else [pattern]
    for parent in ast.walk(scope):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                for start in range(len(value) - len(wanted) + 1):
                    if _same(wanted, value[start : start + len(wanted)], holes := {}):
                        yield Place(parent, name, holes, start, len(wanted))
            elif isinstance(pattern, ast.expr) and _same(pattern, value, holes := {}):
                yield Place(parent, name, holes)


def _constraints(module: ast.Module, name: str) -> Iterator[Place]:
    """Where a migration makes the constraint of this name."""
    for place in _places(module, parsed("ANY")):
        value = getattr(place.parent, place.field)
        call = value if place.start is None else value[place.start]
        if not (isinstance(call, ast.Call) and ast.unparse(call.func).startswith("models.")):
            continue
        if any(given.arg == "name" and ast.unparse(given.value) == repr(name) for given in call.keywords):
            yield place


def _same(pattern: Any, node: Any, holes: Holes) -> bool:
    """Whether a node is what the pattern says; `holes` gets what stands where the pattern leaves it open."""
    if isinstance(pattern, ast.Name) and pattern.id.startswith("ANY") and isinstance(node, ast.expr):
        return ast.dump(holes.setdefault(pattern.id, node)) == ast.dump(node)
    if isinstance(pattern, list):
        if len(pattern) == 1 and _is_dots(pattern[0]) and isinstance(node, list):
            holes["..."] = node
            return True
        return (
            isinstance(node, list) and len(pattern) == len(node) and all(map(_same, pattern, node, [holes] * len(node)))
        )
    if isinstance(pattern, ast.AST):
        return type(pattern) is type(node) and all(
            _same(getattr(pattern, name), getattr(node, name), holes) for name in pattern._fields if name != "ctx"
        )
    return bool(pattern == node)


def _is_dots(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...
