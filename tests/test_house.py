"""The rules of the house, held: who may know whom, who writes which table, what templates and addresses look like."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from django.apps import apps
from django.db import models
from django.urls import URLPattern, URLResolver, get_resolver

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("annotate", "evaluation", "preferendum")
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))

#: Methods of managers and querysets that write, and those that write one row.
WRITES = {
    "acreate",
    "aupdate",
    "bulk_create",
    "bulk_update",
    "create",
    "delete",
    "get_or_create",
    "raw_delete",
    "update",
    "update_or_create",
}
ROW_WRITES = {"save", "delete", "save_base"}


def modules() -> Iterator[tuple[str, Path]]:
    """Our modules by their dotted names; migrations are Django's."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if "migrations" not in parts:
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


# Who may know whom


def test_nobody_knows_more_rooms_than_they_should():
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "0 broken" in found.stdout


# Who writes which table


def tables() -> dict[str, str]:
    """By the name of each of our models, the module that alone may write it."""
    writers = {}
    for model in apps.get_app_config("annotate").get_models():
        said = f"{model.__doc__}\n{inspect.getdoc(sys.modules[model.__module__])}"
        found = re.search(r"Written by ([a-z_.]+[a-z_])", said)
        assert found, f"nobody is said to write {model.__name__}"
        writers[model.__name__] = found[1]
    return writers


def test_every_writer_is_there():
    there = dict(modules())
    assert set(tables().values()) <= there.keys()


def written(path: Path, names: set[str]) -> Iterator[tuple[int, str]]:
    """The lines of a module that write rows of one of these models, with the model's name.

    Followed are `Model.objects...write()`, a row that came from `Model(...)`, `Model.objects...get()` and the like and
    is saved or deleted under its variable's name, and relations of such rows.
    """
    for scope in [tree(path), *(node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef))]:
        held = dict(variables(scope, names))
        for node in own_nodes(scope):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                model = source_of(node.func.value, names, held)
                if model and node.func.attr in WRITES | ROW_WRITES:
                    yield node.lineno, model


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Everything in a scope but what is in a function inside it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from own_nodes(child)


def variables(scope: ast.AST, names: set[str]) -> Iterator[tuple[str, str]]:
    """What the scope's variables hold: arguments by their annotation, others by what is assigned."""
    if isinstance(scope, ast.FunctionDef):
        for argument in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs):
            annotation = argument.annotation
            for node in ast.walk(annotation) if annotation else ():
                if isinstance(node, ast.Name) and node.id in names:
                    yield argument.arg, node.id
    held: dict[str, str] = {}
    for node in own_nodes(scope):
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
        for target, value in pairs:
            if isinstance(target, ast.Name) and (model := source_of(value, names, held)):
                held[target.id] = model
                yield target.id, model


def source_of(node: ast.expr, names: set[str], held: dict[str, str]) -> str | None:
    """The model that a chain of attributes and calls begins with, or that its last relation leads to."""
    while True:
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "get_object_or_404" and node.args:
                node = node.args[0]
                continue
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Attribute):
            owner = source_of(node.value, names, held)
            if owner is None:
                return None
            return relations().get((owner, node.attr), owner if is_of_rows(owner, node.attr) else None)
        elif isinstance(node, ast.Name):
            return node.id if node.id in names else held.get(node.id)
        else:
            return None


@cache
def relations() -> dict[tuple[str, str], str]:
    """Where the attributes of rows lead to."""
    found = {}
    for model in apps.get_app_config("annotate").get_models():
        for relation in model._meta.get_fields(include_hidden=False):
            name = relation.get_accessor_name() if relation.auto_created and not relation.concrete else relation.name
            if relation.is_relation and relation.related_model and name:
                found[model.__name__, name] = relation.related_model.__name__
    return found


def is_of_rows(model: str, attribute: str) -> bool:
    """Whether an attribute of a model, its manager or its rows leads to rows of it again: not to a column's value."""
    columns = {one.name for one in apps.get_model("annotate", model)._meta.get_fields() if not one.is_relation}
    return attribute not in columns


def test_nobody_but_its_writer_writes_a_table():
    writers = tables()
    wrong = [
        f"{path.relative_to(ROOT)}:{line} writes {model}, which is for {writers[model]} to write"
        for name, path in modules()
        for line, model in written(path, set(writers))
        if model in writers and not f"{name}.".startswith(f"{writers[model]}.")
    ]
    assert wrong == []


def test_a_table_written_by_the_wrong_hand_is_seen(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        "from annotate.models import Study, Topic\n"
        "def one(study: Study) -> None:\n"
        "    study.save()\n"
        "def two() -> None:\n"
        "    for topic in Topic.objects.filter(pk=1):\n"
        "        topic.delete()\n"
        "def three(study: Study) -> None:\n"
        "    study.topics.filter(name='x').update(name='y')\n"
        "def four() -> None:\n"
        "    found = Topic.objects.select_for_update().get(pk=1)\n"
        "    found.study.delete()\n"
        "    found.extra.update({})\n"
        "def five(topics: dict[str, Topic]) -> None:\n"
        "    Topic.objects.bulk_create([])\n"
    )
    found = list(written(module, {"Study", "Topic"}))
    assert found == [(3, "Study"), (6, "Topic"), (8, "Topic"), (11, "Study"), (14, "Topic")]


def test_nobody_goes_round_the_models():
    """Raw SQL and signals would write, or cause writing, where nobody looks for it."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.attr}"
        for _name, path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in {"raw", "extra_where", "RawSQL", "post_save", "pre_save"}
    ]
    assert wrong == []


def test_an_archive_has_a_word_for_everything_that_a_row_may_hold():
    from annotate.models import Annotator, Assignment, Judgment, Questionnaire, ReportedPair
    from preferendum.formats import answers
    from preferendum.formats.archive import study_records
    from preferendum.formats.records import KINDS

    assert set(KINDS) == set(Annotator.Kind.values)
    assert set(get_args(study_records.State)) == set(Assignment.State.values)
    assert set(study_records.REASONS) == set(Assignment.Reason.values)
    assert set(study_records.SKIP_REASONS) == {"", *Assignment.SkipReason.values}
    assert {*answers.ANSWERS, answers.UNDONE} == dict(Judgment.ANSWERS).keys()
    assert set(get_args(study_records.Report)) == set(ReportedPair.Reason.values)
    places = get_type_hints(study_records.QuestionnaireRecord)["place"]
    assert set(get_args(places)) == set(Questionnaire.Place.values)


# Pages


class Tags(HTMLParser):
    """Every attribute of every tag, with template tags taken out."""

    def __init__(self) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str, str]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "style" or (tag == "script" and "src" not in dict(attrs)):
            self.scripts.append(tag)


def parsed(path: Path) -> Tags:
    tags = Tags()
    # What stands between template tags may hold quotes of its own.
    tags.feed(re.sub(r"\{%.*?%\}|\{#.*?#\}", " ", re.sub(r"\{\{.*?\}\}", "x", path.read_text()), flags=re.DOTALL))
    return tags


HTMX = {
    "hx-boost",
    "hx-confirm",
    "hx-delete",
    "hx-disable",
    "hx-disabled-elt",
    "hx-disinherit",
    "hx-encoding",
    "hx-ext",
    "hx-get",
    "hx-headers",
    "hx-history",
    "hx-history-elt",
    "hx-include",
    "hx-indicator",
    "hx-inherit",
    "hx-params",
    "hx-patch",
    "hx-post",
    "hx-preserve",
    "hx-prompt",
    "hx-push-url",
    "hx-put",
    "hx-replace-url",
    "hx-request",
    "hx-select",
    "hx-select-oob",
    "hx-swap",
    "hx-swap-oob",
    "hx-sync",
    "hx-target",
    "hx-trigger",
    "hx-validate",
    "hx-vals",
}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_a_template_lets_nothing_past_the_policy(path):
    tags = parsed(path)
    assert tags.scripts == [], "scripts and styles stand in files"
    for tag, name, value in tags.attributes:
        assert name != "style", f"<{tag} style>: use a class"
        assert not name.startswith("on"), f"<{tag} {name}>: use a script in static/"
        assert not name.startswith(("hx-on", "data-hx-on")), f"<{tag} {name}>: use a script in static/"
        assert not value.strip().lower().startswith("javascript:"), f"<{tag} {name}>"
        if name.startswith("hx-"):
            assert name in HTMX, f"<{tag} {name}> is nothing that htmx knows"
        if name in {"hx-swap", "data-hx-swap"}:
            assert "settle:0ms" in value, f"<{tag} {name}>: settling loses what is typed meanwhile"
        if name == "hx-vals":
            assert not value.startswith(("js:", "javascript:"))
        if name in {"src", "href", "action"} and tag != "a":
            assert "//" not in value, f"<{tag} {name}>: nothing is fetched from elsewhere"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_a_template_escapes_what_people_wrote(path):
    text = path.read_text()
    assert not re.search(r"\|\s*safe\b|\|\s*safeseq\b|autoescape\s+off", text)


def test_no_page_or_script_names_an_address_from_the_hosts_root():
    """The site may live below a path: addresses come from `url` and `static`, or from the page."""
    ours = [*TEMPLATES, *(ROOT / "templates").rglob("*.txt"), *(ROOT / "static").glob("*.js")]
    named = {path: re.findall(r"""(?:\w=|\(|: ?)["'`]/\w[^"'`]*""", path.read_text()) for path in ours}
    assert {name: found for name, found in named.items() if found} == {}


def test_no_code_marks_text_as_safe_but_what_cleans_markdown_or_draws():
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for name, path in modules()
        if name not in ("annotate.markdown", "annotate.docs", "annotate.reports.plots")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Name | ast.Attribute)
        and (node.id if isinstance(node, ast.Name) else node.attr) in {"mark_safe", "SafeString", "csrf_exempt"}
    ]
    assert wrong == []


def test_htmx_is_the_version_that_was_vendored():
    assert "2.0.11" in (ROOT / "static" / "vendor" / "README.md").read_text()
    assert '"2.0.11"' in (ROOT / "static" / "vendor" / "htmx.min.js").read_text()


# Addresses


def patterns(resolver: URLResolver | None = None) -> Iterator[URLPattern]:
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry)
        else:
            yield entry


def test_every_address_has_a_name_of_its_own():
    named = [pattern.name for pattern in patterns()]
    assert None not in named
    assert len(named) == len(set(named))


def test_every_view_of_the_api_says_who_may_call_it():
    from rest_framework.permissions import AllowAny
    from rest_framework.views import APIView

    from annotate.api.access import SignedIn
    from annotate.api.views.docs import Docs

    views = [
        pattern.callback.view_class
        for pattern in patterns()
        if issubclass(getattr(pattern.callback, "view_class", object), APIView)
    ]
    assert len(views) > 20
    for view in views:
        permissions = view.permission_classes
        if view is Docs:  # everybody may read how the API is called
            assert permissions == (AllowAny,)
            continue
        assert permissions, view
        assert all(issubclass(one, SignedIn) for one in permissions), view


def test_no_serializer_takes_whatever_there_is():
    found = [
        (path, node)
        for name, path in modules()
        if name.startswith("annotate.api.serializers")
        for meta in ast.walk(tree(path))
        if isinstance(meta, ast.ClassDef) and meta.name == "Meta"
        for node in meta.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "fields"
    ]
    assert len(found) > 10
    for path, node in found:
        assert isinstance(node.value, ast.List), f"{path}:{node.lineno}: every field is named"


# Code


def test_no_code_does_what_opens_doors():
    """Unpickling, evaluating, shells, and queries put together from what was sent."""
    calls = {"eval", "exec", "compile", "pickle.load", "pickle.loads", "marshal.loads", "os.system", "os.popen"}
    wrong = []
    for _name, path in modules():
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            sent = [word for word in node.keywords if word.arg is None and "request" in ast.unparse(word.value)]
            shell = [word for word in node.keywords if word.arg == "shell"]
            if called in calls or shell or (sent and called.endswith((".filter", ".exclude", ".get", ".order_by"))):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {called}")
    assert wrong == []


def test_no_view_looks_at_all_rows_of_a_table_that_belongs_to_somebody():
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for name, path in modules()
        if name.startswith(("annotate.views", "annotate.api"))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("objects.all")
    ]
    assert wrong == []


def test_no_room_holds_odds_and_ends():
    for name, _path in modules():
        assert not {"utils", "helpers", "misc"} & set(name.split(".")), name


def test_every_model_says_what_it_is():
    for model in apps.get_app_config("annotate").get_models():
        assert model.__doc__, model
        assert not model.__doc__.startswith(f"{model.__name__}("), model


def test_every_text_column_has_room_for_what_the_formats_take():
    from annotate.models import SourceDocument, System, Topic
    from preferendum.formats.checks import limits

    assert Topic._meta.get_field("name").max_length >= limits.NAME_CHARACTERS
    assert Topic._meta.get_field("title").max_length >= limits.TITLE_CHARACTERS
    assert Topic._meta.get_field("question").max_length >= limits.PROMPT_CHARACTERS
    assert System._meta.get_field("name").max_length >= limits.NAME_CHARACTERS
    assert SourceDocument._meta.get_field("name").max_length >= limits.NAME_CHARACTERS
    assert isinstance(SourceDocument._meta.get_field("text"), models.TextField)


def test_migrations_follow_one_another_in_the_order_of_their_names():
    """What deploys a next version, and what tries that, takes the last name for the newest."""
    files = sorted((ROOT / "annotate" / "migrations").glob("[0-9]*.py"))
    for before, file in pairwise(files):
        assert before.stem in file.read_text(), f"{file.name} does not depend on {before.name}"
