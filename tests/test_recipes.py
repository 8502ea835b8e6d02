"""The recipes of CONTRIBUTING.md, followed: in a copy of the product, with no other files than those that they list.

Each recipe adds something to one copy. Tests that are written into the copy then look for it wherever the recipe says
that it is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT

COPIED = ("annotate", "docs", "evaluation", "lab", "preferendum", "static", "templates", "tests")
LEFT_OUT = shutil.ignore_patterns("browser", "images")
#: The tests that run in the copy, whose names say what a recipe adds where.
CHECKS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests" / "recipes").glob("*.py"))]
TESTS = re.findall(r"^def (test_\w+)", "".join((ROOT / path).read_text() for path in CHECKS), re.MULTILINE)


class Copy:
    """A copy of the product in a folder, and what a recipe changed in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.touched: set[str] = set()

    def write(self, path: str, text: str) -> None:
        """Add a file."""
        assert not (self.folder / path).exists(), path
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)
        self.touched.add(path)

    def insert(self, path: str, before: str, text: str) -> None:
        """Put text before what stands in a file once."""
        content = (self.folder / path).read_text()
        assert content.count(before) == 1, (path, before)
        (self.folder / path).write_text(content.replace(before, text + before))
        self.touched.add(path)

    def run(self, *command: str) -> str:
        """Run Python in the copy. Raises `AssertionError` with what it printed if it fails."""
        done = subprocess.run([sys.executable, *command], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def metric(copy: Copy) -> None:
    """Add the metric `letters`: how many letters a summary has."""
    copy.write(
        "preferendum/methods/metrics/NAME.py",
        '''"""How many letters a summary has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import Family, register

if TYPE_CHECKING:
    from preferendum.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Letters:
    """The metric."""

    name: str
    signature: str = "letters"
    needs: frozenset[Any] = frozenset()

    def score(self, topic: Evidence) -> Any:
        """The number of letters of each summary."""
        import numpy as np

        return np.array([float(sum(map(str.isalpha, "".join(one.sentences)))) for one in topic.summaries])


TITLES = {"letters": gettext_noop("Size")}
register(Family(("letters",), {}, lambda asked, _options, _settings: Letters(asked), titles=TITLES))
''',
    )


def analysis(copy: Copy) -> None:
    """Add the analysis `counted-scores`: how many scores each metric gave."""
    folder = "preferendum/methods/analyses/NAME"
    copy.write(
        f"{folder}/__init__.py",
        '''"""How many scores did each metric give?"""

from preferendum import work
from preferendum.formats.words import gettext_noop
from preferendum.methods.analyses.NAME import show
from preferendum.show.analyses.registry import Analysis, register
from preferendum.work import Work

register(
    Analysis(
        name="counted-scores",
        place=65,
        record=show.Counted,
        title=gettext_noop("Counts"),
        asks=gettext_noop("How many scores did each metric give?"),
        keys=("peers",),
        show=show.show,
        needs=gettext_noop("Upload summaries."),
    )
)
work.register(Work("counted-scores", "compared", work.later(f"{__name__}.compute")))
''',
    )
    copy.write(
        f"{folder}/compute.py",
        '''"""How many scores each metric gave."""

from collections.abc import Iterator

import numpy as np

from preferendum.methods.analyses.NAME.show import Counted
from preferendum.work import AtWork


def compute(study: AtWork) -> Iterator[None]:
    """Publish one record, of machines."""
    metrics = study.scores.metrics
    study.publish({("machines",): Counted({name: int(np.isfinite(own).sum()) for name, own in metrics.items()})})
    yield
''',
    )
    copy.write(
        f"{folder}/show.py",
        '''"""The counts of scores as a table."""

from collections.abc import Mapping
from dataclasses import dataclass

from preferendum.formats.words import gettext as _
from preferendum.show.shown import Column, Shown, Table, as_text


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of scores by the name of the metric."""

    scores: Mapping[str, int]


def show(record: Counted, _asked: Mapping[str, str]) -> Shown:
    """Show a row a metric."""
    columns = (Column("metric", _("Metric"), as_text), Column("scores", _("Scores")))
    table = Table("counts", _("Scores by metric"), columns, tuple(sorted(record.scores.items())))
    return Shown(_("There are %(n)s metrics.") % {"n": len(record.scores)}, [table])
''',
    )


def setting(copy: Copy) -> None:
    """Add the setting `shortest_sentence`, a number."""
    copy.insert(
        "preferendum/formats/settings.py",
        "    skips_in_a_row: Annotated[",
        "    shortest_sentence: Annotated[int, _quality(low=0, high=99)] = 3\n",
    )
    copy.insert(
        "annotate/models/study.py",
        "    skips_in_a_row = models.",
        "    shortest_sentence = models.PositiveIntegerField(\n"
        '        _("shortest sentence"),\n'
        "        default=3,\n"
        "        validators=[MaxValueValidator(99)],\n"
        '        help_text=_("In words. Shorter sentences are not judged."),\n'
        "    )\n",
    )
    migrations = copy.folder / "annotate" / "migrations"
    before = set(migrations.glob("*.py"))
    copy.run("manage.py", "makemigrations", "annotate", "--name", "NAME")
    copy.touched |= {path.relative_to(copy.folder).as_posix() for path in set(migrations.glob("*.py")) - before}


def import_format(copy: Copy) -> None:
    """Add tables of stars: a person's one to five stars for a summary, in a column of that name."""
    copy.write(
        "preferendum/formats/readers/NAME.py",
        '''"""Stars that people gave to summaries, as CSV."""

from collections.abc import Iterable

from preferendum.formats.checks.complaints import Place
from preferendum.formats.checks.text import name
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.tables import Columns, Row, number
from preferendum.formats.records import HumanScore

COLUMNS = Columns(("topic", "system", "stars"))


def read_stars(rows: Iterable[tuple[Place, Row]], draft: Draft) -> None:
    """Read each row as a human score of the dimension stars."""
    for here, row in rows:
        topic, system = name(here.key("topic"), row["topic"]), name(here.key("system"), row["system"])
        stars = number(here.key("stars"), row["stars"])
        if topic and system and stars is not None:
            if not draft.add_row(draft.human_scores, HumanScore(topic, system, "stars", stars, ""), here):
                return
''',
    )
    path = "preferendum/formats/readers/columns.py"
    copy.insert(path, "from preferendum.formats.readers.draft", "from preferendum.formats.readers import NAME\n")
    copy.insert(path, '    Kind("summaries", late.', '    Kind("stars", NAME.COLUMNS, NAME.read_stars),\n')
    copy.insert("preferendum/formats/readers/reading.py", '"scores by metrics with', '"of stars, "\n    ')
    copy.insert("docs/formats.md", "## Folder or ZIP file", "## Stars\n\n    topic,system,stars\n    rain,lead,4\n\n")


def page(copy: Copy) -> None:
    """Add a page below the tab of texts that counts the topics of a study."""
    copy.write(
        "annotate/views/research/NAME.py",
        '''"""A page that counts."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.models import Study
from annotate.views.research.pages import STUDY, page


@in_study("see")
@require_safe
def counted(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how many topics there are."""
    return page(request, study, "research/texts/NAME.html", here="counted", topics=study.topics.count())


urlpatterns = [path(f"{STUDY}counted/", counted, name="counted")]
''',
    )
    copy.insert("annotate/views/research/__init__.py", "    analyses,\n", "    NAME,\n")
    copy.insert("annotate/views/research/__init__.py", "    *studies.urlpatterns,\n", "    *NAME.urlpatterns,\n")
    in_menu = '        Page("counted", _("Counted"), "counted"),\n'
    copy.insert("annotate/views/research/menu.py", '        Page("reported", ', in_menu)
    copy.write(
        "templates/research/texts/NAME.html",
        '{% extends "research/tab.html" %}{% load i18n %}\n'
        '{% block page_title %}{% translate "Counted" %}{% endblock %}\n'
        "{% block tab %}<p>{{ topics }}</p>{% endblock %}\n",
    )
    copy.insert(
        "tests/annotate/test_page_access.py",
        "GET    L   L   L   L   L   L 404 404 404 200 200 200 200  leaderboard topic_leaderboard",
        "GET    L   L   L   L   L   L 404 404 404 200 200 200 200  counted\n",
    )


RECIPES: dict[str, Callable[[Copy], None]] = {
    "A metric": metric,
    "An analysis": analysis,
    "An import format": import_format,
    "A setting": setting,
    "A page": page,
}


def listed(recipe: str) -> set[str]:
    """The files that a recipe lists, each at the beginning of a line with its number."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (section,) = re.findall(rf"^### {recipe}\n(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE)
    return set(re.findall(r"^\d\. `([^`]+)`", section, re.MULTILINE))


@dataclass(frozen=True)
class Followed:
    """The files that each recipe touched, and what each test in the copy failed with ("" if it passed)."""

    touched: dict[str, set[str]]
    failures: dict[str, str]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    folder = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    for name in ("manage.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    touched = {}
    for name, follow in RECIPES.items():
        copy = Copy(folder)
        follow(copy)
        touched[name] = {re.sub(r"/\d{4}_NAME", "/NNNN_NAME", path) for path in copy.touched}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=told.xml", *CHECKS]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (folder / "told.xml").exists(), done.stdout + done.stderr
    cases = ElementTree.parse(folder / "told.xml").getroot().iter("testcase")
    failures = {one.attrib["name"]: "".join(bad.attrib["message"] for bad in one) for one in cases}
    return Followed(touched, failures)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_lists_every_file_that_it_touches(followed: Followed, recipe: str) -> None:
    assert followed.touched[recipe] == listed(recipe)


@pytest.mark.parametrize("test", TESTS)
def test_what_a_recipe_adds_is_wherever_it_says(followed: Followed, test: str) -> None:
    assert followed.failures[test] == ""


def test_every_recipe_is_followed() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Recipes")[2].partition("\n## ")[0]
    assert re.findall(r"^### (.*)", text, re.MULTILINE) == list(RECIPES)
