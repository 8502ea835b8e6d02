"""The door of the library: judgments in any form, systems in order, agreement; the same figures as everywhere else."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import preferendum as pf
from preferendum import __main__ as command
from preferendum import agreed, boards, card, reading
from preferendum.cli import commands
from preferendum.results.statistics import wilson
from tests.conftest import ROOT
from tests.evaluation.conftest import Run

SQUALITY = ROOT / "annotate" / "demo" / "squality"
TOPICS, VOTES = SQUALITY / "topics.jsonl", SQUALITY / "preferences.csv"


def judgments(a: str, b: str, won: int, lost: int, **more: Any) -> list[dict[str, Any]]:
    """So many judgments for a and for b."""
    return [
        {"a": a, "b": b, "winner": winner} | more for winner, times in (("a", won), ("b", lost)) for _ in range(times)
    ]


@pytest.fixture(scope="module")
def board() -> boards.Board:
    return pf.rank(VOTES)


class Polars:
    """What a DataFrame of polars can do that we use."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def iter_rows(self, *, named: bool) -> Iterator[dict[str, Any]]:
        assert named
        return iter(self.rows)

    def to_dict(self, *, as_series: bool = True) -> None:
        raise AssertionError("columns, not rows")


# What is there


def test_the_public_names_are_those_that_dir_shows() -> None:
    names = [
        "ApiError",
        "Refused",
        "Study",
        "__version__",
        "agreement",
        "evaluate",
        "judge_card",
        "rank",
        "read",
        "score",
    ]
    assert dir(pf) == names
    assert all(getattr(pf, name) for name in names)
    with pytest.raises(AttributeError, match="has no attribute 'ranks'"):
        pf.ranks  # noqa: B018


def test_an_import_loads_neither_the_website_nor_the_mathematics_and_reading_no_mathematics() -> None:
    program = (
        "import sys, preferendum as pf; dir(pf); pf.__version__\n"
        "assert not {'django', 'celery', 'numpy', 'scipy', 'nupunkt', 'argparse'} & set(sys.modules)\n"
        "pf.read([{'a': 'x', 'b': 'y', 'winner': 'a'}])\n"
        "assert not {'django', 'celery', 'numpy', 'scipy'} & set(sys.modules)\n"
        "pf.rank([{'a': 'x', 'b': 'y', 'winner': 'a'}])\n"
        "assert not {'django', 'celery', 'preferendum.cli'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", [reading, boards, agreed, card], ids=lambda module: module.__name__)
def test_the_examples_of_docstrings_are_true(module: Any) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 2
    assert found.failed == 0


def test_what_the_documentation_shows_of_the_library_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "preferences.csv").write_bytes(VOTES.read_bytes())
    monkeypatch.chdir(tmp_path)
    text, _, _server = (ROOT / "docs" / "python.md").read_text().partition("## A study on a server")
    test = doctest.DocTestParser().get_doctest(text, {}, "python.md", None, 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner().run(test).failed == 0


# The same figures


def test_a_rank_without_topics_is_that_of_the_command_with_topics_to_the_last_digit(board: boards.Board) -> None:
    found = pf.evaluate("score", TOPICS, "--preferences", VOTES)["win_rates"]
    rows = board.to_dicts()
    assert [{key: row[key] for key in found["systems"][0]} for row in rows] == found["systems"]
    assert [row["better_than"] for row in rows] == [["bart", "bart-dpr"], ["bart"], []]
    assert pf.evaluate("rank", VOTES)["systems"] == rows
    assert pf.evaluate("rank", VOTES)["differences"] == found["differences"]


def test_files_dataframes_and_rows_of_the_same_judgments_give_the_same_board(board: boards.Board) -> None:
    table = pd.read_csv(VOTES, dtype=str, keep_default_na=False)
    rows = table.to_dict("records")
    lacking = table.assign(seconds=float("nan"), at=pd.NaT, why=pd.array([pd.NA] * len(table), dtype="string"))
    for source in (str(VOTES), table, lacking, Polars(rows), rows, iter(rows), pf.read(table)):
        assert pf.rank(source).to_dicts() == board.to_dicts()


def test_scores_are_those_of_the_command(run: Run, tmp_path: Path) -> None:
    documents = [{"id": "d", "sentences": ["The storm broke the dam.", "Rain fell.", "A cat slept.", "Trees fell."]}]
    summaries = [{"system": "lead", "text": "The storm broke the dam."}, {"system": "cat", "text": "A cat slept."}]
    topics = [{"topic_id": name, "documents": documents, "summaries": summaries} for name in ("M1", "M2")]
    given = [
        {"topic": name, "a": "d:0", "b": f"d:{other}", "winner": "a", "annotator": who}
        for name in ("M1", "M2")
        for other in (1, 2, 3)
        for who in ("Ann", "Bob", "Cem", "Dia", "Eve")
    ]
    files = [tmp_path / "topics.jsonl", tmp_path / "judgments.jsonl"]
    for file, rows in zip(files, (topics, given), strict=True):
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for options, asked in (
        ([], {}),
        (["--score", "published"], {"score": "published"}),
        (["--score", "coverage"], {"score": "coverage"}),
        (["--over", "topics"], {"over": "topics"}),
        (["--smooth", "none", "--prior", "0.5"], {"smooth": "none", "prior": 0.5}),
    ):
        found = run.json("score", files[0], "--preferences", files[1], *options)
        for texts, said in (
            (topics, given),
            (files[0], pf.read(files[1])),
            (pd.DataFrame(topics), pd.DataFrame(given)),
        ):
            board = pf.score(texts, said, **asked)
            keys = ["system", "score", "low", "high", "rank"]
            assert [[row[key] for key in keys] for row in board.to_dicts()] == [
                [row[key] for key in keys] for row in found["systems"]
            ]
    assert "One point is" in repr(pf.score(topics, given))


def test_agreement_is_that_of_the_command(run: Run) -> None:
    agreed = pf.agreement(VOTES)
    found = run.json("agreement", VOTES)
    assert found["study"]["percent"] == {
        "value": agreed.share.value,
        "low": agreed.share.low,
        "high": agreed.share.high,
    }
    assert (found["study"]["alpha"]["value"], found["study"]["pairs"]) == (agreed.alpha.value, agreed.n)
    assert agreed.to_dicts() == found["topics"]
    assert "Annotators agree in 86.7% [82.2, 90.4] of 540 comparisons" in repr(agreed)
    assert "60 more rows are in files." in " ".join(repr(agreed).split())
    same = [{"topic": "T", "a": "x", "b": "y", "winner": "a", "annotator": name} for name in "pq"]
    assert "1 more row is in files." in " ".join(repr(pf.agreement(same)).split())


# What may be said


def test_judgments_that_name_no_topics_are_fitted_by_the_plain_model_and_the_board_says_so() -> None:
    board = pf.rank(judgments("x", "y", 75, 25))
    first, second = board.to_dicts()
    assert first["strength"] / second["strength"] == pytest.approx(3, rel=0.02)
    assert (first["low"], first["high"]) == pytest.approx(wilson(75, 100), abs=0.02)
    words = " ".join(repr(board).split())
    assert "The answers do not say what they are about, so intervals leave out how topics differ." in words
    assert "Not all answers say who gave them, so intervals leave out how annotators differ" in words
    assert "x leads y." in words
    named = pf.rank(
        [
            judgment | {"topic": f"t{n}", "annotator": f"p{n % 5}"}
            for n, judgment in enumerate(judgments("x", "y", 75, 25))
        ]
    )
    assert "do not say" not in repr(named)


def test_answers_by_a_coin_tell_nothing_apart_and_few_answers_say_nothing() -> None:
    rng = np.random.default_rng(3)
    coin = [
        {"a": f"s{rng.integers(0, 3)}", "b": f"s{rng.integers(3, 6)}", "winner": rng.choice(["a", "b"])}
        for _ in range(300)
    ]
    assert not any(row["better_than"] for row in pf.rank(coin).to_dicts())
    few = pf.rank(judgments("x", "y", 19, 0))
    assert "It is too early to tell systems apart: that takes 20 judgments or more." in " ".join(repr(few).split())
    assert {difference.significant for difference in few.differences} == {None}


def test_below_ten_shared_pairs_there_is_no_coefficient() -> None:
    said = [
        judgment | {"topic": f"t{n}", "annotator": who}
        for who in "pq"
        for n, judgment in enumerate(judgments("x", "y", 9, 0))
    ]
    agreed = pf.agreement(said)
    assert (agreed.n, agreed.share.value, agreed.alpha.value, agreed.kappa.value) == (9, 1.0, None, None)
    assert "agreement needs ten" in " ".join(repr(agreed).split())
    assert pf.agreement(said + [judgment | {"topic": "t9"} for judgment in said[::9]]).alpha.value == 1


def test_agreement_takes_the_first_vote_of_an_annotator_on_a_pair_whichever_side_was_left() -> None:
    said = [
        judgment | {"topic": f"t{n}", "annotator": who}
        for who in "pq"
        for n, judgment in enumerate(judgments("x", "y", 12, 0))
    ]
    again = [judgment | {"a": judgment["b"], "b": judgment["a"], "winner": "a"} for judgment in said[:5]]
    turned = [
        *said[:12],
        *(judgment | {"a": judgment["b"], "b": judgment["a"], "winner": "b"} for judgment in said[12:]),
    ]
    agreed = pf.agreement([*turned, *again, judgments("x", "y", 1, 0, topic="t0")[0]])
    assert agreed.record == pf.agreement(said).record
    words = " ".join(repr(agreed).split())
    assert "Left out: 5 of annotators who had judged the same pair before." in words
    assert "Left out: 1 without an annotator." in words


def test_equal_rows_without_a_topic_are_judgments_of_their_own_and_no_agreement_comes_of_them() -> None:
    by_ann = judgments("x", "y", 30, 10, annotator="Ann")
    board = pf.rank(by_ann)
    assert board.to_dicts()[0]["answers"] == 40
    assert "All answers are from one annotator: results hold for them alone." in " ".join(repr(board).split())
    twice = pf.rank(2 * judgments("x", "y", 1, 0, annotator="Ann", topic="t"))
    assert twice.to_dicts()[0]["answers"] == 1
    assert "rows: rows that stand here twice, counted once: 1." in " ".join(repr(twice).split())
    with pytest.raises(pf.Refused, match="rows: topic: found no judgment that says what it is about; expected"):
        pf.agreement([*by_ann, *judgments("x", "y", 3, 1, annotator="Bob")])
    with pytest.raises(pf.Refused, match="rows: annotator: found no judgment that says who gave it; expected"):
        pf.agreement(judgments("x", "y", 3, 1, topic="t"))


def test_machines_count_only_if_they_are_asked_for() -> None:
    people, machines = judgments("x", "y", 30, 5), judgments("x", "y", 0, 40, kind="machine")
    board = pf.rank([*people, *machines])
    assert board.to_dicts() == pf.rank(people).to_dicts()
    assert (
        "Judgments left out, as their kind does not count: 40 by machines (counted_kinds says which do)."
        in " ".join(repr(board).split())
    )
    assert pf.rank([*people, *machines], counted_kinds="machines").to_dicts()[0]["system"] == "y"
    with pytest.raises(pf.Refused, match="found judgments of the kind machine alone; expected judgments that count"):
        pf.rank(machines)


# What is refused


@pytest.mark.parametrize(
    ("source", "where", "found"),
    [
        ([{"a": "x", "b": "y", "winner": "x"}], "rows:1: winner", 'found the text "x"; expected a, b, tie or neither'),
        ([{"a": "x", "winner": "a"}], "rows:1: b", "found no such key"),
        ([{"a": 1, "b": "y", "winner": "a"}], "rows:1: a", "found the number 1; expected a name"),
        ([*judgments("x", "y", 2, 0), {"a": "x", "b": "x", "winner": "a"}], "rows:3: b", "on both sides"),
        (
            [*judgments("x", "y", 1, 0), *judgments("x", "y", 1, 0, topic="t")],
            "rows:2: topic",
            "a topic in every row, or in none",
        ),
        (
            [*judgments("x", "y", 1, 0, topic="t"), *judgments("x", "y", 1, 0)],
            "rows:2: topic",
            "a topic in every row, or in none",
        ),
        ([("x", "y", "a")], "rows:1", "found tuple"),
        ([{"a": object(), "b": "y", "winner": "a"}], "rows:1", "a value of type object"),
        (judgments("d:1", "d:2", 3, 0), "rows: of", "judgments about sentences"),
        ([], "rows", "an empty file"),
        (pd.Series(["a"]), "rows:1", "found str; expected a dict"),
        (3, "rows", "found int; expected a file, a DataFrame or a list of dicts"),
        ("no/such.csv", "such.csv", "no such file"),
        (TOPICS, "topics.jsonl", "found no judgments"),
    ],
)
def test_what_cannot_be_ranked_is_refused_with_place_and_what_was_expected(source: Any, where: str, found: str) -> None:
    with pytest.raises(pf.Refused) as refused:
        pf.rank(source)
    assert str(refused.value).startswith(where)
    assert found in str(refused.value)
    assert "; expected " in str(refused.value)


def test_judgments_that_do_not_fit_the_topics_are_refused_with_their_rows() -> None:
    topics = [{"topic_id": "M", "documents": [{"id": "d", "sentences": ["One.", "Two."]}], "summaries": []}]
    with pytest.raises(pf.Refused, match=r"rows:2: b: found \"d:7\": document \"d\" has 2 sentences"):
        pf.score(topics, [*judgments("d:0", "d:1", 1, 0, topic="M"), *judgments("d:0", "d:7", 1, 0, topic="M")])
    with pytest.raises(pf.Refused, match=r"preferendum\.rank"):
        pf.score(TOPICS, VOTES)
    with pytest.raises(pf.Refused, match="found no topics"):
        pf.score(VOTES)
    for wrong in ({"score": "best"}, {"smoothing": "none"}, {"smooth": "papr"}, {"prior": 2.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            pf.score(topics, judgments("d:0", "d:1", 1, 0, topic="M"), **wrong)  # type: ignore[arg-type]


# What it looks like


def test_a_notebook_shows_tables_and_the_plot_and_nothing_of_names_runs() -> None:
    html = pf.rank(judgments("<script>alert()</script>", "y & z", 30, 10))._repr_html_()
    assert html.count("<table>") == html.count("<svg ") == 1
    assert "<script" not in html
    assert "y &amp; z" in html


def test_a_board_is_written_for_papers_and_drawn_to_a_file(board: boards.Board, tmp_path: Path) -> None:
    latex = board.to_latex()
    assert latex.startswith("\\begin{table*}")
    assert "bart-dpr & 34.0 &" in latex
    assert board.plot(tmp_path / "board.svg") == tmp_path / "board.svg"
    drawn = (tmp_path / "board.svg").read_text()
    assert drawn.startswith("<svg ")
    assert drawn.count("stroke-dasharray") == 1, "50% is the average of win rates"
    with pytest.raises(ValueError, match=r"ends in \.svg"):
        board.plot(tmp_path / "board.png")


def test_what_was_read_says_what_it_holds() -> None:
    assert repr(pf.read(VOTES)) == "preferences.csv: 540 judgments, 60 topics, 4 annotators"


# The terminal


def called(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "preferendum", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_command_of_the_library_is_called_by_its_name_alone(run: Run) -> None:
    assert set(command.LIBRARY) == {own.name for own in commands()}
    done = called("rank", VOTES)
    assert (done.returncode, done.stdout) == (0, run.out("rank", VOTES))
    assert done.stdout == repr(pf.rank(VOTES)) + "\n"


def test_alone_it_lists_the_librarys_commands_first_then_the_websites(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["preferendum"])
    command.main()
    listed = capsys.readouterr().out
    places = [listed.index(f"  {name} ") for name in ("score", "rank", "agreement")]
    assert places == sorted(places)
    assert places[-1] < listed.index("The website") < listed.index("import_study, ")
