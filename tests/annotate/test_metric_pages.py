"""The page that says how metrics agree with people, and its files: what a researcher reads and takes along."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.utils import timezone

from annotate import imports, judging
from annotate.models import HumanScore, Result, Study, Summary
from evaluation import claims
from preferendum import formats
from preferendum.methods.analyses.convergence import show as convergence
from preferendum.results import (
    Baseline,
    Bounded,
    Convergence,
    DimensionAgreement,
    PairCounts,
    Passing,
    StudyConvergence,
    from_json,
)
from preferendum.show.points import why_untested
from tests import kept
from tests.annotate import scored
from tests.annotate.everything import study_once
from tests.annotate.making import TOPIC, owner, study, take_in
from tests.annotate.reading import address, rows_of, signed_in, text_of
from tests.annotate.test_api import API, client_of

pytestmark = pytest.mark.django_db

GRADES = {"first & best": ("Heavy rain flooded three towns in Ohio.", 4.0), "=second": ("He wore a hat.", 1.0)}
GRADED_HAT = formats.Summary("=second", "A dog was happy.", human={"overall": 1.0})
GRADES |= {"third": ("It rained in Ohio. Schools in the towns were closed.", 3.0)}


def graded_study() -> Study:
    """Three topics, three systems, people's scores in two dimensions, judgments, and what the worker makes of them."""
    made = study(title="Rain")
    topics = tuple(
        formats.Topic(
            f"T{number}",
            documents=scored.RAIN.documents,
            references=scored.RAIN.references if number else (),
            summaries=tuple(
                formats.Summary(system, text, human={"overall": grade + number, "fluency_2": grade % 3})
                for system, (text, grade) in GRADES.items()
            ),
        )
        for number in range(3)
    )
    imports.store(made, formats.Bundle(topics=topics))
    scored.judge(made, *((f"T{number}", "d1:0", "d2:2", "a") for number in range(3)))
    assert scored.tasks.catch_up(made.pk) == {}
    scored.score_with_metrics(made)
    return made


made_study, graded = study_once(graded_study)


def judge_enough(made: Study) -> None:
    """A judgment a sentence in every topic, and what the worker makes of them."""
    pairs = [("d1:0", "d1:1"), ("d1:1", "d1:2"), ("d1:2", "d2:0"), ("d2:0", "d2:1"), ("d2:1", "d2:2")]
    scored.judge(made, *((f"T{number}", *pair, "a") for number in range(3) for pair in pairs))
    assert scored.tasks.catch_up(made.pk) == {}
    scored.score_with_metrics(made)


def test_the_page_compares_every_metric_with_people_overall_in_the_order_of_the_figure(graded: Study) -> None:
    text = text_of(signed_in(graded), address(graded, "metric-agreement"))
    drawn = re.findall(r'<g class="mark"><title>(.+?):? [\d.]+ \[', text.partition("narrow-plot")[0])
    listed = re.findall(r'<th scope="row"><bdi class="given">(.+?)</bdi>', text.partition("<tbody>")[2])
    assert drawn
    assert listed[: len(drawn)] == [name.removesuffix(" (2 of 3 topics)") for name in drawn]
    assert "ROUGE-1 (2 of 3 topics)" in drawn
    assert "Agreement with human overall" in text
    assert "Pyramid needs Pyramids. Topics without one: T0, T1, T2." in text
    assert "ROUGE-1 needs references. Topics without any: T0." in text


def test_another_dimension_can_be_chosen(graded: Study) -> None:
    client, page = signed_in(graded), address(graded, "metric-agreement")
    assert "Agreement with human fluency_2" in text_of(client, page, dimension="fluency_2")
    assert "Agreement with human overall" in text_of(client, page, dimension="nothing")


def test_an_open_page_hears_of_intervals_and_of_mixed_rows(graded: Study) -> None:
    client = signed_in(graded)
    for analysis in ("intervals", "mixtures"):
        (seen,) = re.findall(r"seen=([^\"&]*)", text_of(client, address(graded, "metric-agreement")))
        Result.objects.update_or_create(
            study=graded, analysis=analysis, choice="", defaults={"turns": 1_000, "computed_at": timezone.now()}
        )
        assert client.get(f"{address(graded, 'metric-agreement')}?seen={seen}").status_code == 200


def test_intervals_and_tests_are_of_the_figures_that_they_stand_beside(graded: Study) -> None:
    client = signed_in(graded)
    judge_enough(graded)
    text = text_of(client, address(graded, "metric-agreement"))
    assert "ahead by" in text
    assert re.search(r"other metrics, \d agree significantly better than Preferences: importance, \d worse", text)
    assert "are being worked out" not in text
    row = kept.rows("metrics", "machines", "overall").get()
    row.record["metrics"][0]["agreement"]["value"] = 0.125
    row.save()
    kept.heads("intervals").update(version=0)
    text = text_of(client, address(graded, "metric-agreement"))
    assert "Intervals and tests of the newest figures are being worked out." in text
    assert "ahead by" not in text
    assert "significantly" not in text.partition("correlation-system")[0]
    rows = {row["metric"]: row for row in rows_of(client, address(graded, "metric-agreement", "agreement"))}
    assert (rows["preferences:importance"]["agreement"], rows["preferences:importance"]["low"]) == ("0.125", "")
    assert rows["preferences:combined"]["low"] != ""
    assert {row["holm"] for row in rows.values()} == {""}


def test_the_answer_says_how_many_metrics_are_better_and_how_many_worse(graded: Study) -> None:
    judge_enough(graded)
    row = kept.rows("intervals", "machines", "overall").get()
    better, worse, *_others = row.record["differences"]
    for difference, ahead in ((better, -0.2), (worse, 0.1)):
        difference["agreement"] |= {"value": ahead, "holm": 0.01}
    row.save()
    text = text_of(signed_in(graded), address(graded, "metric-agreement"))
    n = len(row.record["differences"])
    assert f"Of {n} other metrics, 1 agree significantly better than Preferences: importance, 1 worse (Holm)." in text


def test_preferences_of_the_raters_themselves_are_no_evidence_of_agreement(graded: Study) -> None:
    judge_enough(graded)
    summary = Summary.objects.filter(topic__study=graded).earliest("pk")
    for annotator in graded.annotators.all():
        HumanScore.objects.create(summary=summary, dimension="overall", assessor=annotator.pseudonym, score=1.0)
    said = client_of(owner(graded)).get(f"{API}/studies/{graded.pk}/results/metric-agreement/").json()["verdict"]
    assert said.endswith("so agreement would only show that they agree with themselves.")
    assert said.count("Preferences") == 1


def test_fewer_judgments_than_sentences_or_topics_are_not_tested_and_every_output_says_so(graded: Study) -> None:
    client, page = signed_in(graded), address(graded, "metric-agreement")
    early = "Too early for tests of preferences: 3 judgments of 18 sentences, on 3 of 3 topics."
    for name in ("metric-agreement", "convergence"):
        text = text_of(client, address(graded, name))
        assert early in text
        assert "significantly from" not in text
        assert "agrees better" not in text
    assert early in text_of(client, address(graded, "metric-agreement", "agreement", "tex"))
    said = client_of(owner(graded)).get(f"{API}/studies/{graded.pk}/results/metric-agreement/").json()
    assert re.fullmatch(
        rf"Several, such as ROUGE-1, have the highest agreement .*{re.escape(early)}.*", said["verdict"]
    )
    for part, name in (("agreement", "p"), ("agreement", "holm"), ("topics", "pearson_p")):
        assert rows_of(client, address(graded, "metric-agreement", part))[0][name] == ""

    judge_enough(graded)
    assert "Too early" not in text_of(client, page)
    assert any(row["pearson_p"] for row in rows_of(client, address(graded, "metric-agreement", "topics")))

    imports.store(graded, formats.Bundle(topics=(replace(scored.SNOW, summaries=(GRADED_HAT,)),)))
    scored.score_with_metrics(graded)
    text = text_of(client, page)
    assert "18 judgments of 21 sentences, on 3 of 4 topics." in text
    assert "Preferences: importance (3 of 4 topics)" in text


def test_the_files_say_what_the_page_says(graded: Study) -> None:
    client = signed_in(graded)
    rows = rows_of(client, address(graded, "metric-agreement", "agreement"))
    assert {row["metric"] for row in rows} > {"preferences:importance", "preferences:combined"}
    text = text_of(client, address(graded, "metric-agreement"))
    for row in rows:
        assert f"{float(row['agreement']):.2f}" in text
    record = from_json(DimensionAgreement, kept.rows("intervals", "machines", "overall").get().record)
    for level, by_kind in record.metrics[0].correlations.items():
        first = rows_of(client, address(graded, "metric-agreement", f"correlation-{level}"))[0]
        assert not any(name.endswith("_p") for name in first), "the interval knows what items share, a p does not"
        for kind, own in by_kind.items():
            said = [first[kind], first[f"{kind}_low"], first[f"{kind}_high"]]
            assert said == ["" if figure is None else str(figure) for figure in (own.value, own.low, own.high)]
    differences = rows_of(client, address(graded, "metric-agreement", "differences"))
    assert [row["second"] for row in differences] == [metric.metric for metric in record.metrics[1:]]
    topics = rows_of(client, address(graded, "metric-agreement", "topics"))
    assert [row["agreement"] for row in topics] == [
        "" if topic.agreement is None else str(topic.agreement) for own in record.metrics for topic in own.topics
    ]
    svg = text_of(client, address(graded, "metric-agreement", "agreement", "svg"))
    assert "agreement with people" in svg
    assert "Preferences: importance" in svg


def test_the_latex_table_is_plain_latex(graded: Study) -> None:
    table = text_of(signed_in(graded), address(graded, "metric-agreement", "agreement", "tex"))
    lines = table.splitlines()
    assert lines[:4] == [
        r"\begin{table*}",
        r"\centering\small\setlength{\tabcolsep}{3pt}",
        r"\begin{tabular}{llrrr}",
        r"\toprule",
    ]
    assert r"95\% \\ interval" in table
    assert lines[-2].startswith(r"\caption{Agreement with human overall: 3 topics, 3 systems. ")
    assert lines[-2].endswith(" Preferences rest on: 3 by people (imported).}")
    table = text_of(signed_in(graded), address(graded, "metric-agreement", "correlation-system", "tex"))
    assert [name in table for name in (r"Pearson, \\ r", r"Spearman, \\ $\rho$", r"Kendall, \\ $\tau$")] == [True] * 3


def test_the_page_of_pairs_counts_what_people_and_metrics_tell_apart(graded: Study) -> None:
    client = signed_in(graded)
    early = text_of(client, address(graded, "pairs-of-systems")).partition("<tbody>")[2]
    assert "Preferences: importance" not in early
    judge_enough(graded)
    page = text_of(client, address(graded, "pairs-of-systems") + "?dimension=fluency_2")
    assert all(page.count(why_untested(score)) == 1 for score in ("combined", "coverage", "published"))
    text = page.partition("<tbody>")[2].partition("</tbody>")[0]
    assert not any(name in text for name in ("combined", "Coverage", "as published"))
    assert text.index("People: fluency_2") < text.index("Preferences: importance") < text.index("ROUGE-2")
    assert "People: overall" not in text
    assert "Benjamini" in text
    assert "Pyramid needs Pyramids" not in text, "the page of agreement says it"


def pair_counts(dimension: str) -> PairCounts:
    return from_json(PairCounts, kept.rows("pairs-of-systems", "machines", "people", dimension).get().record["counts"])


def test_the_file_of_pairs_says_what_the_record_says(graded: Study) -> None:
    first, *others = rows_of(signed_in(graded), address(graded, "pairs-of-systems", "pairs"))
    count = pair_counts("overall").counts[0]
    assert (first["scorer"], first["by"], first["corrected"], first["pairs"]) == ("people", "overall", "no", "3")
    assert {test: int(first[test]) for test in count.p} == count.p
    assert {row["scorer"] for row in others[2:]} == {"metric"}


def test_too_few_draws_for_so_many_pairs_are_a_dash_not_a_zero(graded: Study) -> None:
    row = kept.rows("pairs-of-systems", "machines", "people", "overall").get()
    row.record["counts"]["draws"] = 10
    row.save()
    text = text_of(signed_in(graded), address(graded, "pairs-of-systems"))
    assert "A dash:" in text
    rows = rows_of(signed_in(graded), address(graded, "pairs-of-systems", "pairs"))
    holm = str(pair_counts("overall").counts[0].holm["t"])
    assert [rows[1][test] for test in ("corrected", "t", "swap")] == ["Holm", holm, ""]


def test_simulated_judgments_with_people_ofs_are_in_files_alone(graded: Study) -> None:
    client = signed_in(graded)
    scored.mix(graded)
    assert "man+ref" not in text_of(client, address(graded, "metric-agreement"))
    rows = rows_of(client, address(graded, "metric-agreement", "mixtures"))
    assert "preferences:importance man+ref" in {row["metric"] for row in rows}
    assert "200 a topic that are simulated" in text_of(client, address(graded, "metric-agreement", "mixtures", "tex"))


def test_the_page_has_one_figure_of_each_metric_and_says_what_each_rests_on(graded: Study) -> None:
    text = text_of(signed_in(graded), address(graded, "metric-agreement"))
    table = text.partition('id="agreement-table"')[2].partition("</table>")[0]
    heads = re.findall(r'<th scope="col"[^>]*>(.+?)</th>', table)
    assert heads == ["Metric", "What it rests on", "Agreement", "95% interval", "Topics"]
    for metric, basis in (("importance", "answers about sentences"), ("ROUGE-1", "the references")):
        assert re.search(rf"{metric}</bdi>.*?{basis}", table, re.DOTALL)
    assert not [word for word in ("Pooled", "Accuracy", "% of topics", "Signature") if word in text]
    assert '<details class="fold">' in text.partition('id="correlation-system-table"')[0].rpartition("</table>")[2]


def test_the_page_says_how_long_judging_took(graded: Study) -> None:
    client = signed_in(graded)
    assert "minutes a topic" not in text_of(client, address(graded, "metric-agreement"))
    timed = formats.Preference("T0", "d1:0", "d1:1", "a", annotator="w1", seconds=90.0)
    judging.import_judgments(graded, [timed])
    text = text_of(client, address(graded, "metric-agreement"))
    assert "Judging took 1.5 minutes a topic on average, over 1 topic whose time is known." in text
    assert text_of(client, address(graded, "metric-agreement", "minutes")).split() == ["topic,minutes", "T0,1.5"]


def curves_of(dimension: str) -> Convergence:
    return from_json(StudyConvergence, kept.rows("convergence", "machines", dimension).get().record).curves


def test_the_page_of_curves_says_from_how_many_judgments_on_preferences_are_ahead(graded: Study) -> None:
    client = signed_in(graded)
    text = text_of(client, address(graded, "convergence") + "?dimension=fluency_2")
    assert "Agreement with human fluency_2 by number of judgments" in text
    assert "The curves rest on: 3 by people (computed" in " ".join(text.split())
    assert "judgments a topic" in text
    assert "first &amp; best" not in text
    judge_enough(graded)
    assert "no difference in agreement is shown" in text_of(client, address(graded, "convergence"))
    assert address(graded, "convergence") in text_of(client, address(graded, "metric-agreement"))


@pytest.mark.parametrize(
    ("passing", "said", "shortly"),
    [
        (Passing("preferences:importance", "rouge-2", 50, Bounded(0.1, 0.02, 0.18)), "From 50 judg", "from 50"),
        (Passing("preferences:importance", "rouge-2", None), "no difference in agreement is shown", "not shown"),
        (
            Passing("preferences:importance", "rouge-2", None, Bounded(0.035, -0.02, 0.09)),
            "is shown between “Preferences: importance” and ROUGE-2: +0.04 (95% [-0.02, 0.09]).",
            "not shown",
        ),
        (
            Passing("preferences:importance", "rouge-2", None, Bounded(-0.1, -0.18, -0.02)),
            "agrees less well than ROUGE-2: -0.10 (95% [-0.18, -0.02]).",
            "less well",
        ),
    ],
)
def test_words_say_what_is_passed_and_what_is_still_needed(passing: Passing, said: str, shortly: str) -> None:
    assert said in convergence.words(passing, 300)
    assert convergence.shortly(passing) == shortly


def test_the_first_sentence_of_curves_names_each_metric_that_agrees_better() -> None:
    ahead = {"rouge-2": Bounded(0.0, -0.1, 0.1), "js": Bounded(-0.2, -0.3, -0.1), "rouge-1": Bounded(-0.2, -0.4, 0.1)}
    passings = tuple(Passing("preferences:importance", name, None, own) for name, own in ahead.items())
    flat = tuple(Baseline(name, "", 0.6, {}) for name in ahead)
    found = StudyConvergence(Convergence("overall", 1, 0, (150,), (), flat, passings), {}, 0)
    verdict = convergence.show(convergence.Curves(found, ""), {}).verdict
    assert "between “Preferences: importance” and ROUGE-2" in verdict
    assert verdict.endswith("It agrees less well than: JS divergence.")


def test_older_curves_stay_with_what_they_rest_on_while_newer_ones_are_worked_out(graded: Study) -> None:
    scored.judge(graded, ("T1", "d1:1", "d2:2", "b"))
    assert scored.tasks.catch_up(graded.pk) == {}
    scored.tasks.TASKS["compare_metrics"](graded.pk)
    client = signed_in(graded)
    text = " ".join(text_of(client, address(graded, "convergence")).split())
    assert "Newer data are being worked in." in text
    assert "The curves rest on: 3 by people (computed" in text
    said = client_of(owner(graded)).get(f"{API}/studies/{graded.pk}/results/convergence/").json()
    assert said["is_old"]
    assert said["rests_on"].startswith("The curves rest on: 3 by people (computed")
    kept.heads("convergence").update(record={"sampled": 1, "to_sample": 3})
    claims.give_sign_of_life("worker")
    assert "1 of 3 topics are worked out" in text_of(client, address(graded, "convergence"))


def test_an_open_page_of_curves_hears_of_progress_alone(graded: Study) -> None:
    client = signed_in(graded)
    for sampled in (0, 1):
        (seen,) = re.findall(r"seen=([^\"&]*)", text_of(client, address(graded, "convergence")))
        assert client.get(f"{address(graded, 'convergence')}?seen={seen}").status_code == 204
        kept.heads("convergence").update(version=0, record={"sampled": sampled, "to_sample": 3})
        assert client.get(f"{address(graded, 'convergence')}?seen={seen}").status_code == 200


def test_the_files_of_curves_say_what_the_record_says(graded: Study) -> None:
    client = signed_in(graded)
    record = curves_of("overall")
    rows = rows_of(client, address(graded, "convergence", "samples"))
    whole = [row for row in rows if not row["topic"]]
    assert float(whole[0]["agreement"]) == record.metrics[0].points[0].agreement
    assert [row["metric"] for row in whole if not row["judgments"]] == [own.metric for own in record.baselines]
    svg = text_of(client, address(graded, "convergence", "curves", "svg"))
    assert svg.count("<polyline") == len(record.metrics) + sum(own.agreement is not None for own in record.baselines)
    assert "3 by people" in svg
    for part, expected in (("agreement", record.sizes), ("metrics", record.metrics + record.baselines)):
        table = text_of(client, address(graded, "convergence", part, "tex"))
        rows = [line for line in table.splitlines() if line.endswith(r"\\")]
        assert len(rows) == table.count(r"\toprule") + len(expected)
        assert "3 by people" in table
    points = rows_of(client, address(graded, "convergence", "agreement"))
    assert [row["judgments"] for row in points] == [str(size) for size in record.sizes]
    for metric in record.metrics:
        assert [float(row[metric.metric]) for row in points] == [point.agreement for point in metric.points]
    said = {
        (row["metric"], row["than"], row["judgments"], row["ahead"])
        for row in rows_of(client, address(graded, "convergence", "passings"))
    }
    assert said == {
        tuple("" if cell is None else str(cell) for cell in (own.metric, own.baseline, own.judgments, own.ahead.value))
        for own in record.passings
    }


def test_of_metrics_that_agree_alike_none_has_the_highest_agreement() -> None:
    alike = [{"system": name, "text": f"{name} fell.", "human": {"quality": n}} for n, name in enumerate(("A", "B"))]
    made = study()
    take_in(made, TOPIC | {"summaries": alike, "references": []})
    scored.score_with_metrics(made)
    said = client_of(owner(made)).get(f"{API}/studies/{made.pk}/results/metric-agreement/").json()["verdict"]
    assert re.match("Several, such as .*, have the highest agreement with human quality", said)
