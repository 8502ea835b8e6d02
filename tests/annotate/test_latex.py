"""The tables for papers, as they are downloaded, put through a real TeX."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import pytest
from django.urls import reverse

from annotate import imports
from annotate.access import abilities
from annotate.models import Study
from annotate.reports import analyses
from preferendum import formats
from preferendum.show.latex import write_latex
from tests.annotate import scored
from tests.annotate.everything import study_once
from tests.annotate.making import owner
from tests.annotate.reading import signed_in, text_of
from tests.annotate.test_metric_pages import graded_study
from tests.annotate.visitors import pages
from tests.conftest import MUST_RUN

pytestmark = pytest.mark.django_db

NAMES = ("[best]", "*", "a < b > c | d", r"\input{x} & 100% #1 $2 ~ ^ _x", "“quoted”", "f(x) = -1; --x `y` 'z' \"w\"")


def with_odd_metrics() -> Study:
    """A study with scores by metrics whose names mean something to LaTeX."""
    made = graded_study()
    file = io.BytesIO()
    rows = [("T1", system, name, number) for number, name in enumerate(NAMES) for system in ("third", "first & best")]
    formats.write_rows(file, ("topic", "system", "metric", "score"), rows)
    file.seek(0)
    imports.put_metric_scores(made, owner(made), file, "the body")
    scored.score_with_metrics(made)
    return made


made_study, graded = study_once(with_odd_metrics)


def typeset(table: str, folder: Path, options: str = "") -> str:
    """What pdflatex says of a document with nothing but this table; skips where there is none."""
    program = shutil.which("pdflatex")
    if program is None:
        assert "latex" not in MUST_RUN
        pytest.skip("no LaTeX here (Debian: apt-get install texlive-latex-recommended)")
    lines = (
        rf"\documentclass[{options}]{{article}}",
        r"\usepackage{booktabs}",
        r"\begin{document}",
        table,
        r"\end{document}",
    )
    (folder / "paper.tex").write_text("\n".join(lines))
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
    assert (folder / "paper.pdf").stat().st_size > 0
    return done.stdout


def test_every_table_for_papers_compiles(graded: Study, tmp_path: Path) -> None:
    scored.tasks.report_annotators(graded.pk)
    client, topic = signed_in(graded), scored.topic(graded, "T1")
    named = [(name, holes) for name, _address, holes in pages() if name.endswith("_tex")]
    assert {"analysis_tex", "leaderboard_tex"} <= {name for name, _holes in named}
    there = {"study_id": graded.pk, "topic_id": topic.pk}
    addresses = [
        reverse(name, kwargs={hole: there[hole] for hole in holes}) for name, holes in named if "part" not in holes
    ]
    opened = list(analyses.all_opened(graded, abilities(owner(graded), graded)))
    addresses += [
        reverse("analysis_tex", args=[graded.pk, one.analysis.name, table.name])
        for one in opened
        for table in (one.shown.tables if one.shown else ())
        if table.read
    ]
    assert {"agreement.tex", "tests.tex"} <= {address.rpartition("/")[2] for address in addresses}
    for address in addresses:
        assert "Missing character" not in typeset(text_of(client, address), tmp_path), address


def test_what_a_name_may_hold_means_nothing_to_latex(graded: Study, tmp_path: Path) -> None:
    table = text_of(signed_in(graded), reverse("analysis_tex", args=[graded.pk, "metric-agreement", "agreement"]))
    assert "\n{}[best] & " in table
    assert "a $<$ b $>$ c $|$ d" in table
    assert r"\textbackslash{}input\{x\} \& 100\% \#1 \$2 \textasciitilde{} \textasciicircum{} \_x" in table
    assert r"3--4 & [$-$1.0, $-$.5] \\" in write_latex(["Ranks", "Interval"], "rr", [["3–4", "[-1.0, -.5]"]], "")
    rows = write_latex(["Name"], "l", [[name] for name in NAMES], " ".join(NAMES))
    assert "Missing character" not in typeset(rows, tmp_path)


@pytest.mark.parametrize("systems", [3, 60])
@pytest.mark.parametrize("topics", [0, 40])
def test_a_table_fits_the_columns_of_an_article_and_cuts_no_label(systems: int, topics: int, tmp_path: Path) -> None:
    names = [f"an-instruct-model-with-a-very-long-name-{k} (12 of 32 topics)" for k in range(systems)]
    heads = ["System", "Largest score change of all", "95% interval", *(f"Topic number {k}" for k in range(topics))]
    rows = [[name, "-12.5", "[-20.1, -4.9]", *["-12.3"] * topics] for name in names]
    table = write_latex(heads, "l" + "r" * (len(heads) - 1), rows, "What it says, " * 30)
    said = typeset(table, tmp_path, "twocolumn")
    assert "Overfull" not in said
    assert "too large" not in said
    assert all(table.count(name) for name in names)
    assert table.count("[$-$20.1, $-$4.9]") == systems
    assert table.count(r"Continued.") == table.count(r"\begin{table") - 1
