"""What every analysis does alike: its page, its files, the API's answer, and what each says of what is not there."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape
from django.utils.text import slugify

from annotate import crowd, forecasts, imports, judging
from annotate.access import abilities
from annotate.imports.compared import open_summaries
from annotate.models import (
    ComputedScore,
    HumanScore,
    MetricScore,
    Ranking,
    Result,
    Score,
    Study,
    Topic,
    TopicMetrics,
)
from annotate.reports import analyses
from annotate.reports.analyses import Opened
from annotate.reports.figure_files import FIGURES
from annotate.views.research import analyses as pages
from preferendum import formats
from preferendum.formats.questionnaire import Question
from preferendum.show.analyses import Analysis, of_study, of_topic
from preferendum.show.shown import Figure, Shown, Table
from tests.annotate import making, scored
from tests.annotate.making import Role, owner
from tests.annotate.reading import address, signed_in, text_of
from tests.annotate.test_api import API, client_of

pytestmark = pytest.mark.django_db
ANALYSES = (*of_study(), *of_topic())
EVERY = pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.name)
#: The others are lines of other pages, files, and in the API.
WITH_PAGE = [own for own in ANALYSES if own.page]
EVERY_PAGE = pytest.mark.parametrize("analysis", WITH_PAGE, ids=lambda analysis: analysis.name)
#: What annotators say about themselves is counted when it is read; the worker works out all else.
WORKED_OUT = [own for own in ANALYSES if own.name != "about-annotators"]
#: These also read what the study's board says, or how far three kinds of work are.
QUERIES = {"two-systems": 28, "forecast": 23, "scores-by-topic": 26, "both-questions": 40, "metric-agreement": 22}
#: A name that is no good citizen of an address, of a page, of a table or of a spreadsheet.
ODD = '="Ada" & <b>_\\'


@pytest.fixture(scope="module")
def everything(django_db_setup: None, django_db_blocker: Any) -> Iterator[Study]:
    """A study of which every analysis has something to say, made once: each test takes back what it changes."""
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]  # so that judging may insist on a transaction of its own
    with django_db_blocker.unblock(), block:
        yield analysed_study()
        transaction.set_rollback(True)


def analysed_study() -> Study:
    """Three topics, three systems, two assessors, two annotators of the same pairs, and all that the worker makes."""
    made = making.study(title="Rain & <sun>", judgments_per_pair=3, smooth="none")
    texts = ("Heavy rain flooded three towns in Ohio.", "It rained in Ohio.", "It rained in Ohio.")
    topics = tuple(
        replace(
            scored.RAIN,
            topic_id=f"T{number}",
            summaries=tuple(rated(f"system {k}", text, float((k + number) % 4)) for k, text in enumerate(texts)),
        )
        for number in range(3)
    )
    imports.store(made, formats.Bundle(topics=topics))
    for name, last, of in ((ODD, "a", topics), ("bob", "b", topics[:2])):
        judged = [("d1:0", "d2:2", "a"), ("d1:0", "d1:1", "a"), ("d2:2", "d1:1", last)]
        scored.judge(made, *((topic.topic_id, *pair) for topic in of for pair in judged), pseudonym=name)
    said = [("T0", "system 0", "system 1", "a"), ("T1", "system 0", "system 2", "b")]
    open_summaries(made, made.topics.values_list("pk", flat=True))
    judging.import_judgments(made, [formats.Preference(*own, annotator="bob", of="summaries") for own in said])
    by_machine = [formats.Preference(*own, annotator=ODD + "2", of="summaries") for own in said]
    judging.import_judgments(made, by_machine, "machine")
    say_what_they_are(made)
    assert scored.tasks.catch_up(made.pk) == {}
    scored.score_with_metrics(made)
    examine(made, "T0", "T1", "T2")
    scored.tasks.find_smallest_set(made.pk)
    scored.tasks.make_judge_cards(made.pk)
    making.forecast(made)
    return made


def say_what_they_are(made: Study) -> None:
    """Two groups of three annotators, of whom four gave one answer, by each of two questions."""
    for k in range(4):
        scored.judge(made, ("T2", "d1:0", "d2:2" if k % 2 else "d1:1", "a"), pseudonym=f"ann {k}")
    asked = [Question("Skill?", "scale", ("none", "some")), Question("Native language?", "one", ("German", ODD))]
    crowd.set_questionnaire(made, owner(made), asked, "after")
    for k, annotator in enumerate(made.annotators.order_by("pk")):
        answers = {"Skill?": 1 + k % 2, "Native language?": "German" if k < 3 else ODD}
        scored.said(made, annotator.pseudonym, answers)


def rated(system: str, text: str, grade: float) -> formats.Summary:
    given = {ODD: {"overall": grade}, "Bob": {"overall": 3 - grade / 2, "style": grade}}
    return formats.Summary(system, text, human=formats.readers.ratings.means(given), ratings=given)


def examine(made: Study, *names: str) -> None:
    """What the worker says of annotators, and of what scores rest on."""
    scored.tasks.report_annotators(made.pk)
    scored.in_turns("compare_groups", made)
    for name in names:
        scored.tasks.examine_topic(scored.topic(made, name).pk)
    scored.tasks.find_smallest_set(made.pk)
    scored.tasks.examine_study(made.pk)


def more_is_judged(made: Study, is_fitted: bool = True) -> None:
    scored.judge(made, *((f"T{k}", "d1:1", "d2:0", "a") for k in range(3)))
    of_summaries = formats.Preference("T2", "system 0", "system 1", "a", annotator="bob", of="summaries")
    judging.import_judgments(made, [of_summaries])
    if is_fitted:
        assert scored.tasks.catch_up(made.pk) == {}


def of(study: Study, analysis: Analysis) -> Study | Topic:
    return study if analysis.of == "study" else scored.topic(study, "T1")


def opened(study: Study, analysis: Analysis, **asked: str) -> Opened:
    return analyses.opened(of(study, analysis), analysis, asked, abilities(owner(study), study))


def shown(study: Study, analysis: Analysis) -> Shown:
    found = opened(study, analysis).shown
    assert found is not None
    return found


def files(study: Study, analysis: Analysis) -> list[tuple[str, str]]:
    """Each part that it shows, with the forms in which it can be had."""
    return [(part.name, form) for part in shown(study, analysis).parts for form in forms(part)]


def forms(part: Table | Figure) -> tuple[str, ...]:
    return tuple(FIGURES) if isinstance(part, Figure) else ("csv", "tex") if part.read else ("csv",)


def call(study: Study, analysis: Analysis, client: Client, **asked: str) -> Any:
    place = f"{API}/studies/{study.pk}/" + ("" if analysis.of == "study" else f"topics/{of(study, analysis).pk}/")
    return client.get(f"{place}results/{analysis.name}/", asked)


@EVERY_PAGE
def test_the_page_has_the_verdict_before_every_table_and_figure(everything: Study, analysis: Analysis) -> None:
    client, found = signed_in(everything), shown(everything, analysis)
    text = text_of(client, address(of(everything, analysis), analysis.name))
    assert escape(analysis.question) in text
    rest = text.partition(f"<strong>{escape(found.verdict)}</strong>")[2]
    for part in found.parts:
        assert (isinstance(part, Table) and part.folded) or escape(part.title) in rest
    assert ODD not in text


def test_what_is_a_line_of_another_page_has_no_page_of_its_own(everything: Study) -> None:
    client = signed_in(everything)
    lines = [own for own in ANALYSES if not own.page]
    assert [own.name for own in lines] == ["both-questions", "influence", "smallest-set", "coverage", "misfits"]
    said = text_of(client, reverse("leaderboard", args=[everything.pk])) + text_of(
        client, reverse("study_topics", args=[everything.pk])
    )
    for analysis in lines:
        assert client.get(address(everything, analysis.name)).status_code == 404
        assert escape(shown(everything, analysis).verdict) in said


def test_metrics_lead_to_method_research_once_there_are_human_scores(everything: Study) -> None:
    client, menu = signed_in(everything), "Method research"
    metrics, *research = (address(everything, own.name) for own in of_study() if own.page == "metrics")
    board = text_of(client, reverse("leaderboard", args=[everything.pk]))
    assert f'href="{metrics}"' in board
    assert menu not in board
    text = text_of(client, metrics)
    assert all(f'href="{below}?' in text for below in research)
    in_topic = text_of(client, reverse("topic", args=[everything.pk, scored.topic(everything, "T1").pk]))
    assert "Sentence ranking" in in_topic
    assert all(menu in text_of(client, below) for below in research)
    Result.objects.filter(analysis="assessors").delete()
    assert address(everything, "assessors") not in text_of(client, metrics)
    HumanScore.objects.all().delete()
    board = text_of(client, reverse("leaderboard", args=[everything.pk]))
    assert "Metrics" not in board
    assert [client.get(below).status_code for below in (metrics, *research)] == [404] * (1 + len(research))
    in_topic = text_of(client, reverse("topic", args=[everything.pk, scored.topic(everything, "T1").pk]))
    assert "Sentence ranking" not in in_topic
    assert "Metrics" not in in_topic


@EVERY
def test_every_part_is_a_file_in_its_forms_under_a_name_of_its_own_in_few_queries(
    everything: Study, analysis: Analysis, django_assert_max_num_queries: Any
) -> None:
    client, names, most = signed_in(everything), set(), QUERIES.get(analysis.name, 20)
    for part, form in files(everything, analysis):
        with django_assert_max_num_queries(most):
            response = client.get(address(of(everything, analysis), analysis.name, part, form))
        assert response.status_code == 200
        assert f'.{form}"' in response["Content-Disposition"]
        names.add(response["Content-Disposition"])
        if form in ("pdf", "png"):
            assert response.content[1:4] in (b"PDF", b"PNG")
        elif form == "svg":
            ElementTree.fromstring(response.content)  # our own
            assert b"<a " not in response.content
        elif form == "tex":
            lines = response.content.decode().splitlines()
            assert lines[0] in (r"\begin{table}", r"\begin{table*}")
            assert lines[-2].startswith(r"\caption{")
            assert set("".join(lines)) <= {*map(chr, range(128)), *"·±"}
            for table in "\n".join(lines).split(r"\toprule")[1:]:
                assert len({line.count(" & ") for line in table.splitlines() if line.endswith(r"\\")}) == 1
    assert len(names) == len(files(everything, analysis))
    assert client.get(address(of(everything, analysis), analysis.name, "nothing")).status_code == 404
    with django_assert_max_num_queries(most):
        client.get(address(of(everything, analysis), analysis.name))


@EVERY
def test_csv_files_have_the_rows_of_the_api(everything: Study, analysis: Analysis) -> None:
    answer = call(everything, analysis, client_of(owner(everything))).json()
    assert answer["verdict"] == shown(everything, analysis).verdict
    assert (answer["is_old"], answer["is_left_out"], answer["problem"]) == (False, False, "")
    assert any(table["rows"] for table in answer["tables"])
    for table in answer["tables"]:
        file = io.BytesIO()
        formats.write_rows(file, table["columns"], [row.values() for row in table["rows"]])
        url = address(of(everything, analysis), analysis.name, table["name"])
        assert text_of(signed_in(everything), url).encode() == file.getvalue()


@EVERY
def test_every_choice_can_be_made_and_one_that_there_is_not_is_refused(everything: Study, analysis: Analysis) -> None:
    program, client = client_of(owner(everything)), signed_in(everything)
    page, choices = address(of(everything, analysis), analysis.name), opened(everything, analysis).choices
    part = files(everything, analysis)[-1]
    for choice in choices:
        # No system is ahead of itself.
        taken = {own.chosen for own in choices if choice.name in ("first", "second") and own is not choice}
        for value, label in [option for option in choice.options if option[0] not in taken][:4]:
            found = call(everything, analysis, program, **{choice.name: value}).json()["choices"]
            assert {own["name"]: own["chosen"] for own in found}[choice.name] == value
            offered = f'<option value="{escape(value)}" selected>{escape(label)}</option>'
            if analysis.page:
                assert (offered in text_of(client, page, **{choice.name: value})) == (len(choice.options) > 1)
            file = client.get(address(of(everything, analysis), analysis.name, *part), {choice.name: value})
            assert slugify(value) in file["Content-Disposition"]
        assert call(everything, analysis, program, **{choice.name: "nothing"}).status_code == 404
        if analysis.page:
            assert escape(shown(everything, analysis).verdict) in text_of(client, page, **{choice.name: "nothing"})


@EVERY_PAGE
def test_pages_have_some_rows_and_say_how_many_more_files_have(
    everything: Study, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_ROWS", 1)
    text = text_of(signed_in(everything), address(of(everything, analysis), analysis.name))
    for table in shown(everything, analysis).tables:
        if not table.folded and len(table.rows) > 1:
            assert re.search(rf"\b{len(table.rows) - 1} more rows? (is|are) in the files", text)


@EVERY
def test_it_is_for_those_who_may_see_what_it_says(everything: Study, analysis: Analysis) -> None:
    refused = 403 if analysis.ability == "annotators" else 200
    for role, expected in ((Role.RESEARCHER, refused), (Role.ADMIN, 200), (Role.ANNOTATOR, 404)):
        client, program = signed_in(everything, role), client_of(making.member(everything, role))
        page = address(of(everything, analysis), analysis.name)
        assert client.get(page).status_code == (expected if analysis.page or expected == 403 else 404)
        seen = {part.name for part in shown(everything, analysis).for_reader({"see"}).parts}
        for part, form in files(everything, analysis)[:3]:
            is_hidden = role == Role.RESEARCHER and part not in seen and expected == 200
            file = client.get(address(of(everything, analysis), analysis.name, part, form))
            assert file.status_code == (404 if is_hidden else expected)
        assert call(everything, analysis, program).status_code == expected
    assert signed_in(making.study()).get(page).status_code == 404
    other = replace(analysis, of="study" if analysis.of == "topic" else "topic")
    assert call(everything, other, client_of(owner(everything))).status_code == 404


@pytest.mark.parametrize("several", [of_study(), of_topic()], ids=["study", "topic"])
def test_a_list_names_what_a_member_may_see(everything: Study, several: tuple[Analysis, ...]) -> None:
    for role, hidden in ((Role.RESEARCHER, "annotators"), (Role.ADMIN, None)):
        program = client_of(making.member(everything, role))
        url = re.sub(r"[^/]+/$", "", call(everything, several[0], program).wsgi_request.path)
        found = [own["name"] for own in program.get(url).json()]
        assert sorted(found) == sorted(own.name for own in several if own.ability != hidden)


def test_an_open_page_hears_nothing_until_there_is_something_newer(everything: Study) -> None:
    client, program = signed_in(everything), client_of(owner(everything))
    seen = {}
    for analysis in WITH_PAGE:
        page = address(of(everything, analysis), analysis.name)
        (version,) = set(re.findall(r"seen=([^\"&]*)", text := text_of(client, page)))
        assert "Newer data are being worked in." not in text
        assert client.get(f"{page}?seen={version}").status_code == 204
        seen[analysis.name] = f"{page}?seen={version}"
    more_is_judged(everything)
    scored.tasks.TASKS["compare_metrics"](everything.pk)
    examine(everything, "T0", "T1", "T2")
    for name in ("T0", "T1"):
        more_is_judged(everything)
        examine(everything, name)
    more_is_judged(everything)
    scored.tasks.examine_topic(scored.topic(everything, "T0").pk)
    more_is_judged(everything, is_fitted=False)
    Topic.objects.filter(study=everything).update(peers_version=F("peers_version") + 1)
    forecasts.ask(everything, owner(everything))
    for analysis in [own for own in WORKED_OUT if own.page]:
        text = text_of(client, seen[analysis.name])
        assert 'hx-select="#analysis"' in text
        assert call(everything, analysis, program).json()["is_old"], analysis.name
        is_simulated = analysis.name == "forecast"
        assert ("Newer data are being worked in." in text) == (not is_simulated), analysis.name
        assert ("The study is being simulated." in text) == is_simulated, analysis.name


def test_asking_for_news_reads_no_record_under_keys(everything: Study) -> None:
    """Of a large study these are megabytes, and an open page asks every two seconds."""
    with CaptureQueriesContext(connection) as asked:
        for analysis in ANALYSES:
            assert analyses.stored_for(of(everything, analysis), analysis).records
    selected = [query["sql"].partition(" FROM ") for query in asked]
    under_keys = """NOT ("annotate_result"."choice" = ''"""
    with_keys = [columns for columns, _from, rows in selected if under_keys in rows]
    assert len(with_keys) >= 5
    assert not any('"record"' in columns for columns in with_keys)


def says_why_not(study: Study, analysis: Analysis, why: str, parts: list[tuple[str, str]]) -> None:
    """Its page says why there is nothing, there is no file, and the API has neither verdict nor tables.

    Metrics have no page before there are human scores.
    """
    client = signed_in(study)
    if analysis.page and (analysis.page != "metrics" or HumanScore.objects.filter(summary__topic__study=study)):
        assert why in text_of(client, address(of(study, analysis), analysis.name))
    assert {client.get(address(of(study, analysis), analysis.name, *part)).status_code for part in parts} == {404}
    answer = call(study, analysis, client_of(owner(study))).json()
    assert (answer["tables"], answer["verdict"]) == ([], None)


@pytest.mark.parametrize("analysis", WORKED_OUT, ids=lambda own: own.name)
def test_before_the_worker_has_looked_it_says_that_it_is_to_come(everything: Study, analysis: Analysis) -> None:
    parts = files(everything, analysis)
    for model in (Ranking, Result, ComputedScore, Score, TopicMetrics):
        model.objects.all().delete()
    if analysis.of == "topic":
        HumanScore.objects.filter(summary__topic=of(everything, analysis)).delete()
    forecasts.ask(everything, owner(everything))
    if analysis.name == "scores-of-summaries":
        assert "Newer data are being worked in." in text_of(signed_in(everything), address(everything, analysis.name))
    else:
        says_why_not(everything, analysis, "Being worked out", parts)


@EVERY
def test_without_what_it_needs_it_says_what_that_is(everything: Study, analysis: Analysis) -> None:
    empty, parts = making.study(), files(everything, analysis)
    imports.store(empty, formats.Bundle(topics=(formats.Topic("T1", scored.RAIN.documents),)))
    says_why_not(empty, analysis, escape(analysis.needs), parts)
    assert call(empty, analysis, client_of(owner(empty))).json()["needs"] == analysis.needs


@pytest.mark.parametrize("analysis", [own for own in ANALYSES if own.left_out], ids=lambda own: own.name)
def test_what_the_worker_leaves_out_is_not_said_to_come(everything: Study, analysis: Analysis) -> None:
    parts = files(everything, analysis)
    Result.objects.exclude(choice="").delete()
    Result.objects.filter(analysis="sentence-ranking").update(record={"seed": 0, "reports": []})
    if analysis.name == "metrics":
        for model in (ComputedScore, MetricScore, Score, HumanScore):
            model.objects.filter(summary__topic=of(everything, analysis)).delete()
    says_why_not(everything, analysis, f"Not worked out here</h3>\n<p>{escape(analysis.left_out)}", parts)
    assert call(everything, analysis, client_of(owner(everything))).json()["is_left_out"]
