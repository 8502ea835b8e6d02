"""`manage.py evaluate agree`: the figures, their forms, and what is said when something is missing."""

import csv
import io
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.methods.analyses.metric_agreement.report import Sampling, dimension_agreement
from preferendum.methods.meta.agreement import agreement
from preferendum.methods.meta.peers import judged_among
from preferendum.methods.meta.resampling import Resamples
from preferendum.methods.meta.scores import NoHumanScores, Scores, collect, judged_topics
from preferendum.metrics.registry import metric
from preferendum.results import AgreementReport, from_json
from tests.evaluation.conftest import Run

DOCUMENT = ["Quakes hit Chile.", "Ten people died in Chile.", "It rained in Ohio.", "Aid reached Chile late."]
SUMMARIES = {
    "good": ("Quakes hit Chile. Ten people died.", 5.0),
    "fair": ("Quakes hit Chile. It rained.", 3.0),
    "poor": ("It rained in Ohio.", 1.0),
    "people": ("Ten people died when quakes hit Chile.", 5.0),
}
JUDGED = [(0, 2), (1, 2), (0, 3), (1, 3), (3, 2)]


def _overall(number: int, system: str) -> float:
    """On the second topic people liked the poor summary better than the fair one."""
    return SUMMARIES[{"fair": "poor", "poor": "fair"}.get(system, system) if number == 1 else system][1]


def topic(number: int, **changes: object) -> dict[str, Any]:
    return {
        "topic_id": f"T{number}",
        "documents": [{"id": "d", "sentences": DOCUMENT}],
        "references": [{"id": "A", "text": "Quakes hit Chile. Ten people died."}],
        "summaries": [
            {"system": system, "text": text, "human": {"overall": _overall(number, system), "style": 2.0}}
            for system, (text, _) in SUMMARIES.items()
        ],
    } | changes


def written(path: Path, *lines: object) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def topics(tmp_path: Path) -> str:
    return written(tmp_path / "topics.jsonl", *(topic(number) for number in range(3)))


@pytest.fixture
def preferences(tmp_path: Path) -> str:
    judged = [
        {"topic": f"T{number}", "a": f"d:{a}", "b": f"d:{b}", "winner": "a"} for number in range(3) for a, b in JUDGED
    ]
    return written(tmp_path / "preferences.jsonl", *judged)


@pytest.fixture
def agree(run: Run) -> Run:
    return lambda *arguments: run("agree", *arguments, "--draws", "100")


def test_json_has_the_shape_that_was_promised(agree: Run, topics: str, preferences: str) -> None:
    asked = ["--dimension", "overall", "--preferences", preferences, "--metrics", "preferences,rouge-1,js"]

    status, out, _ = agree(topics, *asked, "--format", "json")

    data = json.loads(out)
    assert status == 0
    (dimension,) = data["dimensions"]
    assert (dimension["dimension"], dimension["topics"], dimension["systems"]) == ("overall", 3, 4)
    assert [metric["metric"] for metric in dimension["metrics"]] == ["preferences", "rouge-1", "js"]
    for measured in dimension["metrics"]:
        figures = [measured["agreement"], measured["agreement_pooled"], *measured["correlations"]["system"].values()]
        assert all(figure["low"] <= figure["value"] <= figure["high"] for figure in figures)
        assert set(measured["correlations"]) == {"summary", "system", "global"}
        assert [topic["topic"] for topic in measured["topics"]] == ["T0", "T1", "T2"]
        assert measured["signature"]
    assert dimension["metrics"][1]["agreement"]["value"] == pytest.approx((1 + 4 / 5 + 1) / 3)


def test_the_table_of_all_dimensions_and_the_json_are_one_record(agree: Run, topics: str) -> None:
    asked = [topics, "--dimension", "all", "--metrics", "rouge-1,js", "--compare", "--also", topics]

    data = json.loads(agree(*asked, "--format", "json")[1])
    table = agree(*asked)[1]

    report = from_json(AgreementReport, {field.name: data[field.name] for field in fields(AgreementReport)})
    assert [dimension.dimension for dimension in report.dimensions] == ["overall", "style"]
    measured, again = (side["dimensions"][0]["metrics"] for side in (data, data["also"]))
    assert measured == again
    assert "Correlation of systems: of their means over topics, all dimensions" in table
    assert report.dimensions[0].differences[0].first == "rouge-1"
    assert "topics.jsonl and topics.jsonl" in table


def test_simulated_judgments_are_added_to_peoples(agree: Run, topics: str, tmp_path: Path) -> None:
    timed = written(
        tmp_path / "timed.jsonl",
        *(
            {"topic": f"T{number}", "a": f"d:{a}", "b": f"d:{b}", "winner": "a", "seconds": 12.0}
            for number in range(2)
            for a, b in JUDGED
        ),
        {"topic": "T2", "a": "d:0", "b": "d:1", "winner": "a"},
    )
    asked = [topics, "--dimension", "overall", "--preferences", timed, "--metrics", "preferences,js"]

    status, out, _ = agree(*asked, "--add", "references=30", "--format", "json")
    alone = json.loads(agree(*asked, "--format", "json")[1])["dimensions"][0]["metrics"]
    table = agree(*asked, "--add", "references=30")[1]

    data = json.loads(out)
    metrics = data["dimensions"][0]["metrics"]
    assert status == 0
    assert [metric["metric"] for metric in metrics] == ["preferences man", "preferences man+ref", "js"]
    assert metrics[0]["topics"] == alone[0]["topics"]
    assert metrics[1]["signature"].endswith("with 30 judgments a topic simulated from references, seed 0")
    assert (data["minutes"], data["added"]) == ({"T0": 1.0, "T1": 1.0}, {"references": 30})
    assert "Judging took 1.0 minutes a topic on average, over 2 topics whose time is known." in " ".join(table.split())


def test_the_same_seed_gives_the_same_output_and_another_one_other_intervals(agree: Run, topics: str) -> None:
    asked = [
        topics,
        "--dimension",
        "overall",
        "--metrics",
        "js,kl",
        "--compare",
        "--pairs-of-systems",
        "--format",
        "json",
    ]

    first, again, other = (agree(*asked, "--seed", seed)[1] for seed in ("1", "1", "2"))

    assert first == again
    here, elsewhere = (json.loads(out)["dimensions"][0]["metrics"][0]["agreement"] for out in (first, other))
    assert here["low"] != elsewhere["low"]
    assert here["value"] == elsewhere["value"]


def test_the_table_says_what_the_figures_rest_on(agree: Run, topics: str) -> None:
    status, out, _ = agree(
        topics, "--dimension", "overall", "--simulate", "references", "--pairs", "30", "--compare", "--pairs-of-systems"
    )

    assert status == 0
    assert "Agreement with human overall: 3 topics, 4 systems" in out
    assert re.search("ROUGE-2 +ROUGE-1.5.5 ROUGE-2 -n 2 -m -f A recall", out)
    assert "Judgments simulated from references, seed 0." in " ".join(out.split())
    assert "Differences between metrics" in out
    assert "Pairs of systems that differ" in out


def test_csv_has_a_row_for_each_metric_and_figure(agree: Run, topics: str) -> None:
    _, out, _ = agree(topics, "--dimension", "overall", "--metrics", "js,rouge-l:f", "--format", "csv")

    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["metric"] for row in rows} == {"js", "rouge-l:f"}
    assert len(rows) == 2 * (2 + 9 + 3 + 2)
    pearson = [row for row in rows if (row["figure"], row["level"]) == ("pearson", "system")]
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in pearson)


def test_latex_is_a_table_for_a_paper(agree: Run, topics: str) -> None:
    _, out, _ = agree(topics, "--dimension", "overall", "--metrics", "js", "--format", "latex")

    assert out.count(r"\toprule") == 5
    assert r"\toprule" in out


def test_systems_can_be_left_out(agree: Run, topics: str) -> None:
    _, out, _ = agree(
        topics, "--dimension", "overall", "--metrics", "js", "--without", "people,fair", "--format", "json"
    )

    assert json.loads(out)["dimensions"][0]["systems"] == 2


def test_usual_metrics_that_lack_something_are_left_out_with_a_note(agree: Run, tmp_path: Path) -> None:
    bare = written(tmp_path / "bare.jsonl", *(topic(number, references=[]) for number in range(2)))

    status, out, err = agree(bare, "--dimension", "overall", "--format", "json")

    assert status == 0
    assert [metric["metric"] for metric in json.loads(out)["dimensions"][0]["metrics"]] == ["js"]
    assert "note: left out: rouge-1 needs references, and there are none for any topic (T0, T1)" in err


def test_topics_without_human_scores_are_left_out_with_a_note(agree: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "some.jsonl", topic(0), topic(1, summaries=[{"system": "good", "text": "A."}]))

    status, out, err = agree(path, "--dimension", "overall", "--metrics", "js", "--format", "json")

    assert (status, json.loads(out)["dimensions"][0]["topics"]) == (0, 1)
    assert "note: 1 of 2 topics have no human overall; left out" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dimension", "beauty"], "no summary has a human score for 'beauty'; the dimensions are: overall, style"),
        (
            ["--dimension", "overall", "--metrics", "rouge1"],
            "--metrics: there is no metric called 'rouge1' (did you mean",
        ),
        (["--dimension", "overall", "--add", "papers=3"], "'papers' is none of references, pyramid"),
        (["--dimension", "overall", "--add", "pyramid=3", "--simulate", "references"], "give one of them"),
        (["--dimension", "overall", "--draws", "99"], "an interval takes at least 100, or 0 for none"),
        (["--dimension", "overall", "--metrics", ","], "--metrics: name at least one, such as preferences,rouge-1"),
        (
            ["--dimension", "overall", "--metrics", "pyramid"],
            "pyramid needs pyramids, and there are none for any topic",
        ),
        (["--dimension", "overall", "--metrics", "preferences"], "give --preferences FILE or --simulate references"),
        (
            ["--dimension", "overall", "--simulate", "pyramid"],
            "--simulate pyramid needs Pyramid annotations, and there",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_can(agree: Run, topics: str, arguments: list[str], said: str) -> None:
    status, out, err = agree(topics, *arguments)

    assert (status, out) == (2, "")
    assert said in err


def test_a_model_without_a_maximum_names_the_topic(agree: Run, topics: str, preferences: str) -> None:
    asked = ["--dimension", "overall", "--preferences", preferences, "--metrics", "preferences"]

    status, _, err = agree(topics, *asked, "--smooth", "none", "--prior", "0")

    assert status == 2
    assert "topic T0" in err
    assert "a small prior such as 0.1" in err


def test_undefined_figures_are_null_and_dashes(agree: Run, topics: str) -> None:
    """People gave every summary the same style."""
    asked = [topics, "--dimension", "style", "--metrics", "js"]

    (measured,) = json.loads(agree(*asked, "--format", "json")[1])["dimensions"][0]["metrics"]
    table = agree(*asked)[1]

    assert (measured["agreement"]["value"], measured["undefined_topics"]) == (None, 3)
    assert measured["correlations"]["summary"]["kendall"] == {
        "value": None,
        "low": None,
        "high": None,
        "n": 0,
    } | dict.fromkeys(("fisher_low", "fisher_high"))
    assert measured["significant"]["kendall"]["topics"] == 0
    assert "–" in table
    assert "Topics where it is undefined, left out of the mean: JS divergence 3." in table


def test_a_summary_without_a_word_of_its_sources_is_missing_and_counted(
    agree: Run, tmp_path: Path, preferences: str
) -> None:
    """As on the board, where it is not ranked."""
    one = topic(0)
    foreign = {"system": "foreign", "text": "Zebras graze.", "human": {"overall": 4.0, "style": 2.0}}
    topics = written(tmp_path / "foreign.jsonl", one | {"summaries": [*one["summaries"], foreign]}, topic(1), topic(2))
    asked = [topics, "--dimension", "overall", "--preferences", preferences, "--metrics", "preferences,js"]

    own, js = json.loads(agree(*asked, "--format", "json")[1])["dimensions"][0]["metrics"]

    assert [own["topics"][0]["summaries"], js["topics"][0]["summaries"]] == [4, 5]
    assert re.search(r"Summaries that others score, and it does not: [^.]* 1\.", " ".join(agree(*asked)[1].split()))


def test_scores_are_laid_out_by_system_and_topic_with_gaps() -> None:
    nothing = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))

    def one(name: str, *summaries: SummaryText) -> Evidence:
        return Evidence(name, ("d:0",), ("Quakes hit Chile.",), nothing, summaries)

    first = one("a", SummaryText("x", ("Quakes.",), {"overall": 2.0}), SummaryText("y", ("Rain.",), {"overall": 1.0}))
    second = one("b", SummaryText("z", ("Chile.",), {"overall": 3.0}), SummaryText("x", ("Quakes hit.",)))

    scores = collect([first, second], ["overall"], [metric("js")])

    assert (scores.systems, scores.topics) == (("x", "y", "z"), ("a", "b"))
    human = scores.human["overall"]
    np.testing.assert_array_equal(human, [[2, np.nan], [1, np.nan], [np.nan, 3]])
    np.testing.assert_array_equal(np.isnan(scores.metrics["js"]), [[False, False], [False, True], [True, False]])
    assert agreement(human, scores.metrics["js"], Resamples.whole(3, 2)).mean[0] == 1
    with pytest.raises(NoHumanScores, match="the dimensions are: overall"):
        judged_topics([first, second], ["style"])
    assert len(judged_topics([first, second], ["overall"], {"z"})) == 1


PYRAMID = """<pyramid><text><line>The ferry stopped. Nobody was hurt.</line></text>
<scu uid="1" label="it stopped">
<contributor label="x"><part label="The ferry stopped" start="0" end="17"/></contributor>
<contributor label="x"><part label="ferry stopped" start="4" end="17"/></contributor></scu>
<scu uid="2" label="nobody">
<contributor label="x"><part label="Nobody was hurt" start="19" end="34"/></contributor></scu>
</pyramid>"""


def annotated(text: str, uid: str) -> str:
    part = f'<part label="{text}" start="0" end="{len(text)}"/>'
    scu = f'<peerscu uid="{uid}" label="x"><contributor label="x">{part}</contributor></peerscu>'
    return f"<peerAnnotation>{PYRAMID}<annotation><text><line>{text}</line></text>{scu}</annotation></peerAnnotation>"


def test_a_tac_directory_is_evaluated_with_its_pyramids(agree: Run, tmp_path: Path) -> None:
    story = "<DOC><TEXT><P>The ferry stopped at noon.</P><P>Nobody was hurt on it.</P><P>Gulls cried.</P></TEXT></DOC>"
    for name, text in {
        "docs/D0801A/D0801A-A/APW_ENG_20041006.0256": story,
        "UpdateSumm08_test_topics.xml": '<tac><topic id="D0801A"><docsetA id="D0801A-A"/></topic></tac>',
        "eval/ROUGE/models/D0801-A.M.100.A.C": "The ferry stopped. Nobody was hurt.",
        "eval/ROUGE/peers/D0801-A.M.100.A.12": "The ferry stopped",
        "eval/ROUGE/peers/D0801-A.M.100.A.13": "Gulls cried",
        "eval/ROUGE/peers/D0801-A.M.100.A.14": "Nobody was hurt",
        "eval/manual/manual.peer": "D0801-A 12 1 1 0 A 1 4 5\nD0801-A 13 0 0 0 A 0 3 1\nD0801-A 14 .5 1 0 A .5 4 3\n",
        "eval/manual/pyramids/D0801-A.pyr": PYRAMID,
        "eval/manual/peers/D0801-A.M.100.A.12": annotated("The ferry stopped", "1"),
        "eval/manual/peers/D0801-A.M.100.A.13": annotated("Gulls cried", "0"),
        "eval/manual/peers/D0801-A.M.100.A.14": annotated("Nobody was hurt", "2"),
    }.items():
        path = tmp_path / "tac" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    asked = ["--dimension", "responsiveness", "--metrics", "pyramid,pyramid-original,preferences,rouge-1"]

    status, out, err = agree(
        str(tmp_path / "tac"), *asked, "--simulate", "pyramid", "--pairs", "50", "--format", "json"
    )

    assert status == 0, err
    data = json.loads(out)
    (dimension,) = data["dimensions"]
    assert (dimension["topics"], dimension["systems"]) == (1, 3)
    assert data["simulated"] == "simulated from pyramid, seed 0"
    assert [metric["agreement"]["value"] for metric in dimension["metrics"][:3]] == [1, 1, 1]


def test_systems_that_people_never_scored_change_no_figure() -> None:
    rng = np.random.default_rng(0)
    human, metric = rng.normal(size=(5, 6)), rng.normal(size=(5, 6))
    scores = Scores(tuple("abcde"), tuple("uvwxyz"), {"d": human}, {"m": metric}, {"m": ""}, (True,) * 5)
    late = np.vstack([metric, rng.normal(size=(2, 6))])
    unscored = np.vstack([human, np.full((2, 6), np.nan)])
    more = Scores(tuple("abcdefg"), scores.topics, {"d": unscored}, {"m": late}, {"m": ""}, (True,) * 7)
    sampling = Sampling(draws=200)
    assert dimension_agreement(more, "d", sampling) == dimension_agreement(scores, "d", sampling)
    assert [own.systems for _peers, own in judged_among(more)] == [scores.systems]
