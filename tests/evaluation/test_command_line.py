"""`manage.py evaluate`: the formats that docs/formats.md promises, its exit statuses, and errors that help."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import preferendum
from preferendum.cli import __main__ as command_line
from preferendum.cli.tables import Table, as_latex, as_text
from tests.evaluation.conftest import Run

ROOT = Path(__file__).parents[2]
EXAMPLE = json.loads((ROOT / "tests" / "data" / "model_example.json").read_text())


def write_jsonl(path: Path, *objects: object) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return str(path)


def topic(topic_id: str = "M0", **changes: object) -> dict[str, object]:
    return {
        "topic_id": topic_id,
        "documents": [{"id": "d1", "sentences": EXAMPLE["sentences"]}],
        "references": [{"id": "A", "text": "Trump won the election on Tuesday. It rained."}],
        "summaries": [{"system": system, "sentences": text} for system, text in EXAMPLE["summaries"].items()],
    } | changes


def preferences(topic_id: str = "M0") -> list[dict[str, str]]:
    """The example's judgments, the second one with its sides swapped."""
    sides = [(winner, loser, "a") for winner, loser in EXAMPLE["judgments"]]
    sides[1] = (sides[1][1], sides[1][0], "b")
    return [{"topic": topic_id, "a": f"d1:{a}", "b": f"d1:{b}", "winner": winner} for a, b, winner in sides]


def in_one_line(text: str) -> str:
    """Notes as sentences, wherever their lines end."""
    return " ".join(text.split())


@pytest.fixture
def topics(tmp_path: Path) -> str:
    return write_jsonl(tmp_path / "topics.jsonl", topic())


@pytest.fixture
def judged(topics: str, tmp_path: Path) -> list[str]:
    return ["score", topics, "--preferences", write_jsonl(tmp_path / "preferences.jsonl", *preferences())]


def test_the_worked_example_is_reproduced(run: Run, judged: list[str]) -> None:
    status, out, err = run(*judged, "--as-published", "--prior", "0.1", "--format", "json")
    found = json.loads(out)

    assert (status, err) == (0, "")
    (one,) = found["topics"]
    assert [s["strength"] for s in one["sentences"]] == pytest.approx(EXAMPLE["strengths_prior_0_1"], abs=1e-9)
    assert {s["system"]: s["score"] for s in one["summaries"]} == pytest.approx(EXAMPLE["scores"], abs=1e-9)
    _, out, _ = run(*judged, "--as-published", "--prior", "0.1", "--format", "json", "--no-redundancy")
    without = {s["system"]: s["score"] for s in json.loads(out)["topics"][0]["summaries"]}
    assert without == pytest.approx(EXAMPLE["scores_without_redundancy"], abs=1e-9)


def test_json_has_the_shape_that_was_promised(run: Run, judged: list[str]) -> None:
    _, out, _ = run(*judged, "--format", "json")
    found = json.loads(out)
    one = found["topics"][0]

    assert {"topics", "systems"} <= found.keys()
    assert {"topic_id", "sentences", "judgments", "iterations", "residual", "summaries"} <= one.keys()
    assert {"id", "text", "wins", "strength", "utility", "se"} == one["sentences"][0].keys()
    assert {"system", "score", "se", "low", "high", "coverage", "human"} == one["summaries"][0].keys()
    assert {"system", "score", "low", "high", "rank"} <= found["systems"][0].keys()
    assert (one["topic_id"], one["judgments"], one["sentences"][0]["id"]) == ("M0", 3, "d1:0")
    assert [s["rank"] for s in found["systems"]] == [1, 2, 3]
    assert [s["score"] for s in one["summaries"]].count(None) == 1  # it shares no word with the sources
    assert found["simulated"] is None


def test_the_table_shows_scores_with_intervals_and_human_scores(run: Run, tmp_path: Path) -> None:
    summaries = [{"system": "lead & co", "text": "Trump won.", "human": {"responsiveness": 4.5}}]
    file = write_jsonl(tmp_path / "t.jsonl", topic(summaries=summaries))
    given = write_jsonl(tmp_path / "p.jsonl", *preferences())
    status, out, _ = run("score", file, "--preferences", given, "--topics")
    board, _, of_topics = out.partition("\n\n")

    assert status == 0
    assert of_topics.startswith("Topic M0\n  system")
    assert of_topics.endswith("\n4 sentences, 3 judgments\n"), "the table comes before what is said of it"
    assert "One point is " in board
    heads = ["system", "importance", "(points)", "low", "high", "coverage", "responsiveness"]
    assert of_topics.splitlines()[1].split() == heads
    assert "4.500" in of_topics.splitlines()[2]
    assert board.splitlines()[1].startswith("  rank  ranks  system")
    assert run.out("score", file, "--preferences", given) == board + "\n"
    assert "rank  system" in run("score", file, "--preferences", given, "--as-published")[1], (
        "untested differences leave all ranks open"
    )


def test_a_board_says_how_much_the_length_of_sentences_explains(run: Run, tmp_path: Path) -> None:
    texts = ("Trump won.", "Voters queued in the rain for hours.", "It rained.", "Trump won in the rain.", "Voters.")
    summaries = [{"system": f"s{k}", "text": text} for k, text in enumerate(texts)]
    file = write_jsonl(tmp_path / "t.jsonl", topic(summaries=summaries))
    judged = write_jsonl(tmp_path / "p.jsonl", *preferences())
    assert "The length of sentences explains " in in_one_line(run.out("score", file, "--preferences", judged))
    two = write_jsonl(tmp_path / "two.jsonl", topic(summaries=summaries[:2]))
    assert "The length" not in in_one_line(run.out("score", two, "--preferences", judged))


def test_csv_has_a_row_for_each_summary_and_system_with_every_digit(run: Run, judged: list[str]) -> None:
    _, out, _ = run(*judged, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    _, out, _ = run(*judged, "--format", "json")
    found = json.loads(out)

    assert [(r["topic"], r["system"]) for r in rows[:4]] == [
        ("M0", s["system"]) for s in found["topics"][0]["summaries"]
    ]
    scores = [s["score"] for s in found["topics"][0]["summaries"]]
    assert [float(r["score"]) if r["score"] else None for r in rows[:4]] == scores
    assert [(r["topic"], r["system"], r["rank"]) for r in rows[4:]] == [
        ("", s["system"], str(s["rank"])) for s in found["systems"]
    ]


def test_latex_escapes_names_and_uses_booktabs() -> None:
    table = Table(("system", "score"), (("a_b & 50%-1", -0.25), ("{~}", None)), title="Topic #1", notes=("From 2-3.",))

    assert as_latex([table]) == (
        "\\begin{table}\n\\centering\n"
        "\\begin{tabular}{lr}\n\\toprule\nsystem & score \\\\\n\\midrule\n"
        "a\\_b \\& 50\\%-1 & $-$0.2500 \\\\\n\\{\\textasciitilde{}\\} & -- \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
        "\\caption{Topic \\#1. From 2-3.}\n\\end{table}\n"
    )


def test_a_line_break_in_a_name_cannot_break_out_of_a_table() -> None:
    table = Table(("system",), (("two\nlines",),), title="one\n\\end{document}")

    assert "two lines" in as_text([table])
    assert r"\caption{one \textbackslash{}end\{document\}.}" in as_latex([table])


def test_columns_line_up_whatever_the_script() -> None:
    table = Table(("system", "score"), (("日本", 1.0), ("e\u0301te", 0.5)))

    assert as_text([table]) == "  system  score\n  日本    1.000\n  e\u0301te     0.500\n"


def test_small_numbers_keep_their_significant_digits() -> None:
    assert "0.001234" in as_text([Table(("score",), ((0.0012341,), (0.0,)))])
    assert "1234" in as_text([Table(("score",), ((1234.4,),))])


def test_output_goes_to_a_file(run: Run, judged: list[str], tmp_path: Path) -> None:
    file = tmp_path / "scores.json"
    status, out, _ = run(*judged, "--format", "json", "--output", str(file))

    assert (status, out) == (0, "")
    assert json.loads(file.read_text())["topics"][0]["topic_id"] == "M0"


def test_simulated_judgments_are_labelled_and_repeatable(run: Run, topics: str) -> None:
    simulate = ["score", topics, "--simulate", "references", "--pairs", "30", "--format", "json"]
    first, again, other = (run(*simulate, "--seed", seed)[1] for seed in ("7", "7", "8"))

    assert first == again
    assert first != other
    assert json.loads(first)["topics"][0]["judgments"] == 30
    assert json.loads(first)["simulated"] == "simulated from references, seed 7"
    assert "(simulated from references, seed 0)" in run("score", topics, "--simulate", "references")[1]


def test_a_topics_simulated_judgments_do_not_depend_on_the_other_topics(run: Run, topics: str, tmp_path: Path) -> None:
    both = write_jsonl(tmp_path / "both.jsonl", topic("M1"), topic("M0"))
    alone, together = (
        json.loads(run("score", file, "--simulate", "references", "--format", "json")[1])["topics"]
        for file in (topics, both)
    )

    assert together[1] == alone[0]
    assert together[0]["sentences"] != alone[0]["sentences"]


def test_preferences_may_come_with_the_topics(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "study" / "topics" / "M0"
    for name, text in (("documents/d1.txt", "\n".join(EXAMPLE["sentences"])), ("summaries/lead.txt", "It rained.")):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
    (tmp_path / "study" / "preferences.csv").write_text("topic,a,b,winner\nM0,d1:0,d1:1,a\nM0,d1:2,d1:1,tie\n")
    status, out, _ = run("score", str(tmp_path / "study"), "--format", "json")

    assert status == 0
    assert [s["wins"] for s in json.loads(out)["topics"][0]["sentences"]] == [1.0, 0.5, 0.5, 0.0]


def test_options_become_settings(run: Run, judged: list[str]) -> None:
    def settings(*options: str) -> dict[str, object]:
        return json.loads(run(*judged, "--format", "json", *options)[1])["settings"]

    base = settings()
    assert settings("--score", "combined", "--smooth", "none") == base | {"score": "combined", "smooth": "none"}
    assert settings("--similarity", "jaccard") == base | {"similarity": "jaccard"}
    published = base | {"score": "published", "smooth": "paper", "prior": 0.0}
    assert settings("--as-published") == settings("--score", "published") == published
    changed = published | {"prior": 0.2, "redundancy": False}
    assert settings("--as-published", "--prior", "0.2", "--no-redundancy") == changed


def test_who_answers_against_everybody_else_weighs_less_if_asked_for(run: Run, topics: str, tmp_path: Path) -> None:
    in_order = [{"topic": "M0", "a": f"d1:{i}", "b": f"d1:{j}"} for i in range(4) for j in range(i + 1, 4)]
    said = [pair | {"winner": "a", "annotator": who} for pair in in_order for who in ("Ann", "Bob", "Cem", "Dia")]
    against = [pair | {"winner": "b", "annotator": "Eve"} for pair in in_order]
    asked = (
        "score",
        topics,
        "--preferences",
        write_jsonl(tmp_path / "said.jsonl", *said, *against),
        "--format",
        "json",
    )

    def utilities(*options: str) -> list[float]:
        found = json.loads(run(*asked, *options)[1])
        assert found["settings"]["weigh_annotators"] == bool(options)
        return [sentence["utility"] for sentence in found["topics"][0]["sentences"]]

    plain, weighed = utilities(), utilities("--weigh-annotators")
    assert weighed[0] - weighed[3] > plain[0] - plain[3]


def test_intervals_over_topics_are_wider_or_unknown(run: Run, judged: list[str], tmp_path: Path) -> None:
    _, out, _ = run(*judged, "--over", "topics", "--format", "json")
    assert json.loads(out)["systems"][0]["low"] is None

    two = write_jsonl(tmp_path / "two.jsonl", topic("M0"), topic("M1"))
    given = write_jsonl(tmp_path / "p2.jsonl", *preferences("M0"), *preferences("M1"))
    widths = {}
    for over in ("judgments", "topics"):
        _, out, _ = run("score", two, "--preferences", given, "--over", over, "--format", "json")
        best = json.loads(out)["systems"][0]
        widths[over] = best["high"] - best["low"]
    assert widths["topics"] > widths["judgments"]


def test_as_published_a_topic_without_a_maximum_gets_a_small_prior_and_says_so(run: Run, judged: list[str]) -> None:
    status, out, _ = run(*judged, "--as-published", "--topics")

    assert status == 0
    assert "4 sentences, 3 judgments, fitted with prior 0.1" in out
    assert run(*judged, "--score", "published", "--topics") == (0, out, "")


def test_without_a_prior_topics_without_a_maximum_are_named_and_a_prior(run: Run, judged: list[str]) -> None:
    status, out, err = run(*judged, "--smooth", "none", "--prior", "0")

    assert (status, out) == (2, "")
    assert "M0" in err
    assert "d1:0" in err
    assert "--prior 0.1" in err


def test_a_refused_file_is_refused_with_file_line_and_field(run: Run, topics: str, tmp_path: Path) -> None:
    wrong = preferences()
    wrong[1]["b"] = "d1:44"
    wrong[2]["winner"] = "c"
    given = write_jsonl(tmp_path / "wrong.jsonl", *wrong)
    status, out, err = run("score", topics, "--preferences", given)

    assert (status, out) == (2, "")
    assert "wrong.jsonl:3" in err
    assert "winner" in err
    assert err.splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--preferences FILE, or --simulate references"),
        (["--pairs", "5"], "--simulate"),
        (["--simulate", "references", "--no-redundancy"], "--score published"),
        (["--simulate", "references", "--as-published", "--score", "combined"], "--score combined is asked for, too"),
        (["--simulate", "references", "--preferences", "x"], "not allowed with"),
        (["--smooth", "papr"], "'paper'"),
        (["--prior", "-1"], "from 0 to 1000"),
        (["--prior", "nan"], "from 0 to 1000"),
        (["--simulate", "references", "--prior", "5"], "--prior says nothing here"),
        (["--seed", "x"], "whole number"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_can(run: Run, topics: str, options: list[str], said: str) -> None:
    status, out, err = run("score", topics, *options)

    assert (status, out) == (2, "")
    assert said in err


def test_a_file_without_the_wanted_things_is_refused(run: Run, topics: str, tmp_path: Path) -> None:
    only = write_jsonl(tmp_path / "p.jsonl", *preferences())
    none = write_jsonl(tmp_path / "t.jsonl", topic(references=[]))

    assert run("score", only)[::2] == (2, f"error: {only}: contains no topics, only tables about topics\n")
    assert "M0" in run("score", none, "--simulate", "references")[2]
    assert run("score", str(tmp_path / "nothing.jsonl"))[0] == 2
    status, _, err = run("score", topics, "--preferences", topics)
    assert status == 2
    assert err


def test_topics_without_summaries_still_have_utilities(run: Run, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "t.jsonl", topic(summaries=[]))
    given = write_jsonl(tmp_path / "p.jsonl", *preferences())
    status, out, err = run("score", file, "--preferences", given, "--format", "json")

    assert status == 0
    assert len(json.loads(out)["topics"][0]["sentences"]) == 4
    assert "no summaries" in err


def test_a_topic_without_judgments_is_marked(run: Run, judged: list[str], tmp_path: Path) -> None:
    both = write_jsonl(tmp_path / "both.jsonl", topic("M0"), topic("M1"))
    _, out, _ = run("score", both, *judged[2:], "--topics")

    assert "\n4 sentences, no judgments, so the scores say nothing yet" in out.partition("Topic M1\n")[2]
    assert "mean over 1 topic," in out


def test_where_the_output_cannot_go_nothing_is_computed(
    run: Run, judged: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("computed in vain")

    monkeypatch.setattr("preferendum.cli.score.evaluate", never)
    status, _, err = run(*judged, "--output", str(tmp_path / "no" / "such.txt"))
    assert (status, err) == (1, f"error: {tmp_path / 'no'}: there is no such folder to write to\n")
    assert run(*judged, "--output", str(tmp_path))[0] == 1


def test_a_failure_of_the_program_is_one_line_unless_more_is_asked_for(
    run: Run, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("an accident")

    monkeypatch.setattr("preferendum.cli.score.evaluate", broken)
    status, _, err = run(*judged)
    assert (status, err) == (1, "error: the program failed: ZeroDivisionError: an accident; --debug shows where\n")
    assert "Traceback" in run(*judged, "--debug")[2]


def test_an_interruption_is_no_success(run: Run, judged: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("preferendum.cli.score.evaluate", stopped)
    assert run(*judged)[::2] == (1, "error: interrupted\n")


def test_progress_is_shown_to_somebody_who_looks_and_to_nobody_else(
    run: Run, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(*judged)[2] == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert "scoring: topic 1 of 1" in run(*judged)[2]


def test_help_names_every_option_of_the_model(run: Run) -> None:
    status, out, _ = run("score", "--help")

    assert status == 0
    for option in ("score", "prior", "smooth", "redundancy", "as-published", "similarity"):
        assert f"--{option}" in out
    assert "%%" not in out
    status, out, _ = run("--help")
    assert status == 0
    assert "exit status" in out


def test_the_version_is_the_projects(run: Run) -> None:
    assert run("--version")[1] == f"Preferendum {preferendum.__version__}\n"


def test_it_runs_as_a_module_without_django_and_the_slow_parts_of_scipy(judged: list[str]) -> None:
    program = (
        "import sys; from preferendum.cli.__main__ import main; status = main(sys.argv[1:]);"
        "assert not {'django', 'celery', 'scipy.stats', 'scipy.optimize', 'scipy.spatial'} & set(sys.modules);"
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", program, *judged], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")

    module = subprocess.run(
        [sys.executable, "-m", "preferendum.cli", *judged], cwd=ROOT, capture_output=True, check=False
    )
    assert module.stdout == done.stdout

    # what README shows; without making the environment first
    program = "import manage, sys; manage.LOCKS.clear(); sys.argv[1:1] = ['evaluate']; manage.main()"
    managed = subprocess.run([sys.executable, "-c", program, *judged], cwd=ROOT, capture_output=True, check=False)
    assert (managed.returncode, managed.stdout) == (0, done.stdout)


def test_a_reader_that_stops_reading_is_no_accident(judged: list[str]) -> None:
    program = "import sys; from preferendum.cli.__main__ import main; sys.exit(main(sys.argv[1:]))"
    piped = subprocess.Popen(
        [sys.executable, "-c", program, *judged], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert piped.stdout is not None
    assert piped.stderr is not None
    piped.stdout.close()
    with piped:
        assert piped.stderr.read() == b""
    assert piped.returncode == 1


def test_no_file_that_is_read_is_written_over(run: Run, judged: list[str], tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("a,b,winner\nX,Y,a\n")
    files = [path for path in map(Path, judged) if path.is_file()]
    before = {path: path.read_bytes() for path in [*files, votes]}
    for command, over in [(["convert", str(votes)], votes), *((judged, path) for path in files)]:
        status, _, err = run(*command, "--output", str(over))
        assert status == 2
        assert "this file is read" in err
    assert {path: path.read_bytes() for path in before} == before
    assert len(before) == 3


def test_every_command_has_the_same_output_options(run: Run) -> None:
    for command in command_line.all_commands():
        _, out, _ = run(command.name, "--help")
        assert ("--format" in out) is not command.makes_file
        assert "--output" in out


@pytest.fixture
def of_both_kinds(topics: str, tmp_path: Path) -> list[str]:
    people = [row | {"annotator": "w1"} for row in preferences()]
    against = {"a": "b", "b": "a"}
    machines = [row | {"kind": "machine", "winner": against[row["winner"]]} for row in people[:2]]
    simulated = [row | {"kind": "simulated"} for row in people[:1]]
    file = write_jsonl(tmp_path / "both.jsonl", *people, *machines, *simulated)
    return [topics, "--preferences", file]


def test_people_alone_count_unless_others_are_asked_for(
    run: Run, judged: list[str], of_both_kinds: list[str], tmp_path: Path
) -> None:
    alone = run.json(*judged)
    found = run.json("score", *of_both_kinds)
    assert found["systems"] == alone["systems"]
    assert (found["left_out"], alone["left_out"]) == ({"machine": 2, "simulated": 1}, {})
    asked = run.json("score", *of_both_kinds, "--counted-kinds", "people-and-machines")
    assert (asked["topics"][0]["judgments"], asked["left_out"]) == (5, {"simulated": 1})
    assert asked["systems"] != alone["systems"]
    assert run.json("score", *of_both_kinds, "--counted-kinds", "all")["left_out"] == {}


@pytest.mark.parametrize("form", ["table", "csv", "latex"])
def test_every_format_says_which_judgments_were_left_out(run: Run, of_both_kinds: list[str], form: str) -> None:
    status, out, err = run("score", *of_both_kinds, "--format", form)
    assert status == 0
    assert "2 by machines, 1 simulated" in out
    assert "2 by machines, 1 simulated" in err
    assert "by machines" not in run.out("score", *of_both_kinds, "--counted-kinds", "all", "--format", form)


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "--runs", "2"),
        ("plan", "--runs", "2", "--at", "5"),
        ("sentences", "--against", "references", "--pairs", "10"),
    ],
)
def test_every_command_on_judgments_counts_peoples_alone(
    run: Run, judged: list[str], of_both_kinds: list[str], command: tuple[str, ...]
) -> None:
    name, *options = command
    found, alone = run.json(name, *of_both_kinds, *options), run.json(name, *judged[1:], *options)
    assert found.pop("left_out") == {"machine": 2, "simulated": 1}
    assert found == {key: value for key, value in alone.items() if key != "left_out"}


def test_commands_on_human_scores_count_peoples_judgments_alone(
    run: Run, of_both_kinds: list[str], judged: list[str], tmp_path: Path
) -> None:
    summaries = [
        {"system": system, "sentences": text, "human": {"overall": float(n)}}
        for n, (system, text) in enumerate(EXAMPLE["summaries"].items())
    ]
    scored = write_jsonl(tmp_path / "scored.jsonl", topic(summaries=summaries))
    for name, *options in (("agree",), ("converge", "--at", "2,all", "--runs", "2")):
        more = ["--dimension", "overall", "--metrics", "preferences", *options]
        found = run.json(name, scored, *of_both_kinds[1:], *more)
        alone = run.json(name, scored, *judged[2:], *more)
        assert found.pop("left_out") == {"machine": 2, "simulated": 1}
        assert found == {key: value for key, value in alone.items() if key != "left_out"}


def test_where_no_kind_counts_the_file_is_refused_with_the_option(run: Run, topics: str, tmp_path: Path) -> None:
    of_machines = [row | {"kind": "machine"} for row in preferences()]
    file = write_jsonl(tmp_path / "machines.jsonl", *of_machines)
    assert "--counted-kinds" in run.refused("score", topics, "--preferences", file)
    asked = run.json("score", topics, "--preferences", file, "--counted-kinds", "machines")
    assert asked["topics"][0]["judgments"] == 3


def test_a_machine_is_not_the_person_of_its_name(run: Run, topics: str, tmp_path: Path) -> None:
    rows = [row | {"of": "summaries", "annotator": "w1", "a": "A", "b": "B"} for row in preferences()]
    named = write_jsonl(
        tmp_path / "t.jsonl", topic(summaries=[{"system": "A", "text": "Trump won."}, {"system": "B", "text": "Rain."}])
    )
    alike = write_jsonl(tmp_path / "p.jsonl", *rows, *(row | {"kind": "machine"} for row in rows))
    apart = write_jsonl(tmp_path / "q.jsonl", *rows, *(row | {"kind": "machine", "annotator": "m"} for row in rows))
    found = [run.json("score", named, "--preferences", given, "--counted-kinds", "all") for given in (alike, apart)]
    assert found[0] == found[1]
