"""The words of the project, held: one word for one thing, in names of code, pages and addresses; plain docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.test_house import ROOT, patterns, tree
from tests.test_house import modules as product

ROOMS = ("annotate", "evaluation", "preferendum", "lab", "benchmarks")

#: A word (or two, with _ between them) that no name may have, and what we say instead. An s at the end changes nothing.
INSTEAD = {
    "judges": "annotators",  # "to judge" is what they do
    "people": "annotators, or members of a study",
    "person": "annotator",
    "somebody": "annotator",
    "whoever": "annotator",
    "vote": "judgment",
    "project": "study",
    "cluster": "topic",
    "article": "source document",
    "model_summary": "reference",
    "known_pair": "gold pair (or practice pair)",
    "same_again": "repeat",
    "act": "entry of the audit log",
    "only_added": "append only",
    "closer": "diagnostics",
    "concord": "agreement",
    "taker": "influence",
    "steadiness": "influence",
    "bring": "import",
    "bringing": "importing judgments",
    "duel": "comparisons",
    "circuit": "strongly connected component",
    "middle": "median",
    "desk": "locked topic",
    "worth": "importance, coverage or value",
    "skill": "strength or utility",
    "proceeding": "what it does",
}
#: What says nothing of what is held: no name is one of these alone.
EMPTY = {"found", "one", "said", "there", "known", "nothing"}

#: Words of riddles, which no docstring of the product has, except in `names` of code.
RIDDLES = re.compile(r"\b(whoever|anew|somebody|of which|goes|comes|told|asked|beside|behind)\b", re.IGNORECASE)

#: What is code in a docstring: names between backticks, and those of parameters, which have a line of their own.
CODE = re.compile(r"`[^`]*`|^\w+(?= : |$)", re.MULTILINE)

#: Beginnings of docstrings that can only be read after the function's name or its neighbour's docstring.
HALVES = re.compile(r"(The same|Of|By|Those|With|Without|As)\b")

#: Names that stay, each with the reason.
STAY = {
    "field StudySettings.person_cap": "a setting: archives and the API carry its name",
    "field Study.person_cap": "a setting: archives and the API carry its name",
    "field Complaint.found": "the API carries it",
    "field Participation.person": "a platform's name for a person, who may take part in many studies",
    "field Recruitment.person_parameter": "of a platform's link",
    "field Remark.said": "previews of uploads are stored with it",
    "module benchmarks.archive.people_decide": "whether people decide a leaderboard: people are meant",
    "heading Next: invite people to judge": "a sentence for newcomers",
    "heading People alone": "a choice on the board: machines may help them",
    "heading Whose summaries are better? Ask people one easy question.": "a sentence for newcomers",
    "field Summary.person": "of a summary's author: a person, not an annotator",
    "field PreviewSerializer.persons": "of summaries' authors: people, not annotators",
    "field LeaderboardRow.person": "of a summary's author: a person, not an annotator",
    "field SummaryScores.person": "of a summary's author: a person, not an annotator",
    "field SummaryText.person": "of a summary's author: a person, not an annotator",
    "module benchmarks.judges": "machine judges: each is held against people",
    "function preferendum.methods.corpora.nist.is_person": "of a summary's author in NIST's files",
}


def words(name: str) -> set[str]:
    """The words of a name, and every two that stand together; a plural stands for its singular, too."""
    single = [word for word in re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()) if word]
    joined = [*single, *map("_".join, pairwise(single))]
    return {form for word in joined for form in (word, word.removesuffix("s"))}


def modules() -> Iterator[tuple[str, Path]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if "migrations" not in parts:
                yield ".".join(part for part in parts if part != "__init__"), path


def names_of_code() -> Iterator[tuple[str, str]]:
    """Modules, classes, functions, fields and constants: what a name is called in the lists above, and the name."""
    for module, path in modules():
        yield f"module {module}", module.rsplit(".", 1)[-1]
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef):
                yield f"function {module}.{node.name}", node.name
            elif isinstance(node, ast.ClassDef):
                yield f"class {module}.{node.name}", node.name
                yield from ((f"field {node.name}.{name}", name) for name in assigned(node))
            elif isinstance(node, ast.Module):
                yield from ((f"constant {module}.{name}", name) for name in assigned(node))


def assigned(scope: ast.ClassDef | ast.Module) -> Iterator[str]:
    for node in scope.body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def variables() -> Iterator[tuple[str, str]]:
    """Modules, and the names of what they assign, loop over and take as arguments."""
    for module, path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.arg):
                yield module, node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield module, node.id


def names_of_pages() -> Iterator[tuple[str, str]]:
    """Templates, headings, titles, and the names and parts of addresses."""
    for path in sorted((ROOT / "templates").rglob("*.*")):
        yield f"template {path.relative_to(ROOT / 'templates')}", path.stem
        text = path.read_text()
        headings = re.findall(
            r"<h[1-6][^>]*>(.*?)</h[1-6]>|<nav[^>]*>(.*?)</nav>|page_title %}(.*?){%\s*endblock", text, re.DOTALL
        )
        for translated in re.findall(r"translate ['\"](.*?)['\"] %}", " ".join(map("".join, headings))):
            yield f"heading {translated}", translated
    for pattern in patterns():
        yield f"url {pattern.name}", pattern.name or ""
        for part in re.sub(r"<[^>]*>", "", str(pattern.pattern)).split("/"):
            yield f"path {part}", part


def offends(name: str) -> set[str]:
    return (words(name) & INSTEAD.keys()) | ({name.lower()} & EMPTY)


def test_every_name_uses_the_words_of_the_project():
    offending = {where: offends(name) for where, name in [*names_of_code(), *names_of_pages()] if offends(name)}
    new = {where: [INSTEAD.get(word, "what it is") for word in bad] for where, bad in offending.items()}
    assert not {where: say for where, say in new.items() if where not in STAY}


def test_no_exception_outlives_its_name():
    offending = {where for where, name in [*names_of_code(), *names_of_pages()] if offends(name)}
    assert STAY.keys() <= offending


def test_variables_say_what_they_hold():
    empty = {f"{module}.{name}" for module, name in variables() if name in EMPTY}
    assert empty == {"preferendum.formats.records.found", "preferendum.formats.records.said"}  # the fields that stay


def test_docstrings_are_plain():
    riddles = [
        f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}: {word.lower()}"
        for _module, path in product()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for word in RIDDLES.findall(" ".join(CODE.sub("", ast.get_docstring(node) or "").split()))
    ]
    assert not riddles


def test_a_docstring_of_a_function_can_be_read_without_its_neighbour():
    halves = [
        f"{path.relative_to(ROOT)}: {node.name}: {docstring.splitlines()[0]}"
        for _module, path in product()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and HALVES.match(docstring := ast.get_docstring(node) or "")
    ]
    assert not halves


def test_public_functions_of_the_mathematics_name_each_of_many_parameters_with_its_meaning():
    """Hold that five parameters or more stand in a section of numpydoc's form, in their order."""
    wrong = {}
    for room in ("annotators", "fit", "scoring"):
        for path in sorted((ROOT / "preferendum" / room).glob("*.py")):
            for node in tree(path).body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    names = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
                    section = (ast.get_docstring(node) or "").partition("Parameters\n----------\n")[2].split("\n\n")[0]
                    described = re.findall(r"^(\w+(?:, \w+)*)(?: : .*)?$", section, re.MULTILINE)
                    if len(names) >= 5 and names != [name for line in described for name in line.split(", ")]:
                        wrong[f"{room}.{path.stem}.{node.name}"] = names
    assert not wrong
