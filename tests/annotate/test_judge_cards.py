"""Machine judges on the website: the card of each beside people, with the library's figures, and never among people."""

from __future__ import annotations

import csv
import re
from html import unescape
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.urls import reverse

import preferendum as pf
from annotate import exports, judging, studies
from annotate.imports.restore import restore
from annotate.models import Annotator, Assignment, Judgment, Result, Study
from evaluation import tasks
from preferendum.formats.archive import study as study_archive
from preferendum.formats.judge import Judge
from preferendum.formats.records import Preference
from tests.annotate import making
from tests.annotate.everything import program, study_once
from tests.annotate.reading import address, rows_of, signed_in, text_of

pytestmark = pytest.mark.django_db

SYSTEMS, TOPICS = [f"s{k}" for k in range(5)], [f"T{k}" for k in range(8)]
LAST = "alternative-annotator test, annotators it wins (margin 0.2)"


def study_of_summaries(compares: str = "summaries") -> Study:
    study = making.study(compares=compares, judgments_per_pair=9, title="Weather")
    topics = [
        {
            "topic_id": topic,
            "documents": [{"id": "d", "text": f"It rained in {topic}."}],
            "summaries": [{"system": own, "text": f"{topic} {own} {'rain ' * n}"} for n, own in enumerate(SYSTEMS, 1)],
        }
        for topic in TOPICS
    ]
    making.store(study, making.lines(*topics), "topics.jsonl")
    for topic in study.topics.all():
        making.prepare(topic)
    return study


def answers(number: int, name: str, right: float = 0.85, seed: int = 0) -> list[Preference]:
    """About one pair after another, for the system with the lower number so often, sides by chance."""
    chance, given = Random(f"{name} {seed}"), []
    for topic, (better, worse) in [(topic, pair) for pair in combinations(SYSTEMS, 2) for topic in TOPICS][:number]:
        is_better, is_left = chance.random() < right, chance.random() < 0.5
        a, b = (better, worse) if is_left else (worse, better)
        winner = "a" if is_left == is_better else "b"
        given.append(Preference(topic, a, b, winner, annotator=name, seconds=30.0, of="summaries"))
    return given


def worked_out(study: Study) -> Study:
    assert tasks.catch_up(study.pk) == {}
    tasks.TASKS["make_judge_cards"](study.pk)
    return study


def judged(study: Study, number: int = 80) -> Study:
    for name in ("Ann", "Bob", "Cy"):
        judging.import_judgments(study, answers(number, name), "human")
    judging.import_judgments(study, answers(number, "gpt"), "machine")
    one = [Preference(own.topic, own.a, own.b, "a", annotator="first", of="summaries") for own in answers(60, "first")]
    turned = [Preference(own.topic, own.b, own.a, "a", annotator="first", of="summaries") for own in one]
    judging.import_judgments(study, [*one, *turned], "machine")
    known = Judge("GPT-4", "0613", "Which?", maker="<b>Us</b>", made=("s4", "elsewhere"), cost=0.002, currency="EUR")
    judging.describe(Annotator.objects.get(study=study, pseudonym="gpt"), known, making.owner(study))
    return worked_out(study)


def judged_study() -> Study:
    return judged(study_of_summaries())


made_study, study = study_once(judged_study)


def card(study: Study, judge: str) -> list[dict[str, str]]:
    return rows_of(signed_in(study), address(study, "judge-cards", "judge-card"), judge=judge)


def given(study: Study) -> list[dict[str, Any]]:
    """All judgments, as a file has them."""
    machines = exports.preferences(study, Judgment.objects.counted(kind="machine"))
    return [
        {"topic": own.topic, "a": own.a, "b": own.b, "winner": own.winner, "annotator": own.annotator, "of": own.of}
        | own.extra
        for own in (*exports.preferences(study), *machines)
    ]


def test_each_machine_has_a_card_with_the_figures_of_the_library(study: Study) -> None:
    texts = [
        {
            "topic_id": own.name,
            "summaries": [{"system": one.system.name, "text": one.text} for one in own.summaries.all()],
        }
        for own in study.topics.all()
    ]
    for judge in ("gpt", "first"):
        own = pf.judge_card(given(study), judge=judge, topics=texts)
        kept = Result.objects.get(study=study, analysis="judge-cards", choice__contains=judge).record
        assert [(row["what"], row["value"], row["low"], row["human"], row["n"]) for row in kept["rows"]] == [
            (row.what, row.value, row.low, row.human, row.n) for row in own.rows
        ]
        assert [row["value"] for row in kept["biases"]] == [row.value for row in own.biases]
        assert [row["system"] for row in kept["biases"] if row["by_maker"]] == (["s4"] if judge == "gpt" else [])


def test_its_archive_gives_the_same_card_and_board_in_python_and_in_another_study(study: Study, tmp_path: Path) -> None:
    with (archive := tmp_path / "study.zip").open("wb") as file:
        study_archive.write(exports.make_archive(study), file)
    own = pf.judge_card(archive, judge="gpt")
    kept = Result.objects.get(study=study, analysis="judge-cards", choice__contains="gpt").record
    assert [[row["value"], row["low"], row["human"], row["n"]] for row in kept["rows"]] == [
        [row.value, row.low, row.human, row.n] for row in own.rows
    ]
    board = pf.rank(archive, helped_by="gpt")
    (*_topics, kept_board) = Result.objects.filter(study=study, analysis="helped-boards", choice='["gpt"]')
    assert [(row["system"], row["score"]) for row in kept_board.record["systems"]] == [
        (row["system"], row["win_rate"]) for row in board.to_dicts()
    ]
    again = worked_out(restore(study_archive.read(archive), making.owner(study), title="Again"))
    for analysis in ("judge-cards", "helped-boards"):
        records = [{row.choice: row.record for row in Result.objects.of_study(own, analysis)} for own in (study, again)]
        assert records[0] == records[1]


def test_its_page_says_first_how_far_it_agrees_and_what_is_wrong_with_it(study: Study) -> None:
    client = signed_in(study)
    page = text_of(client, address_of_page(study), judge="gpt")
    assert "gpt agrees with people in" in page
    assert "people agree with each other in" in page
    assert "leans to the" not in page
    page = text_of(client, address_of_page(study), judge="first")
    assert "It leans to the first shown." in page
    assert "Rests on 120 answers by first and 240 by people about whole summaries." in page


def test_a_card_names_model_maker_and_cost_and_follows_what_is_known(study: Study) -> None:
    client, page = signed_in(study), address_of_page(study)
    gpt = Annotator.objects.get(study=study, pseudonym="gpt")
    digest = gpt.judge["prompt_sha256"][:12]
    text = client.get(page, {"judge": "gpt"}).content.decode()
    assert f"gpt: model GPT-4 0613; SHA-256 of the prompt {digest}…; made by &lt;b&gt;Us&lt;/b&gt;; of the same" in text
    assert "cost of an answer: 0.002 EUR." in text
    biases = rows_of(client, address(study, "judge-cards", "judge-bias"), judge="gpt")
    assert [row["system"] for row in biases if row["by_maker"] == "True"] == ["s4"]
    assert "first: " not in text_of(client, page, judge="first"), "nothing is known of it"
    judging.describe(gpt, Judge("GPT-4", "0613", cost=1.0), making.owner(study))
    worked_out(study)
    assert "gpt: model GPT-4 0613; cost of an answer: 1." in text_of(client, page, judge="gpt")
    late = Preference("T0", "s0", "s1", "a", "gpt", of="summaries", at="2026-03-01T09:00:00Z")
    judging.import_judgments(study, [late], "machine")
    worked_out(study)
    assert "judged on 2026-03-01" in text_of(client, page, judge="gpt")


def address_of_page(study: Study) -> str:
    return reverse("analysis", args=[study.pk, "judge-cards"])


def test_the_page_is_in_the_menu_once_a_machine_judged_summaries(study: Study) -> None:
    link = f'href="{address_of_page(study)}"'
    assert link in text_of(signed_in(study), reverse("leaderboard", args=[study.pk]))
    Annotator.objects.filter(kind="machine").update(excluded_at="2026-01-01T00:00Z")
    assert link not in text_of(signed_in(study), reverse("leaderboard", args=[study.pk]))


def test_both_orders_of_a_pair_are_kept_apart_and_a_repeated_one_counts_once(study: Study) -> None:
    turned = {row["what"]: row for row in card(study, "first")}["the same when the two are turned"]
    assert int(turned["n"]) > 0
    before = card(study, "gpt")
    judging.import_judgments(study, answers(20, "gpt"), "machine")
    worked_out(study)
    assert [row["value"] for row in card(study, "gpt")] == [row["value"] for row in before]


def test_few_pairs_are_too_early_and_the_page_says_how_few() -> None:
    study = judged(study_of_summaries(), 8)
    page = text_of(signed_in(study), address_of_page(study), judge="gpt")
    assert "Too early to compare gpt with people: both decided" in page
    assert "and it takes 30." in page


def test_a_machine_alone_has_no_card_and_the_page_says_what_it_takes() -> None:
    study = study_of_summaries()
    judging.import_judgments(study, answers(50, "gpt"), "machine")
    worked_out(study)
    page = text_of(signed_in(study), address_of_page(study))
    assert "This needs answers about whole summaries by a machine, and by people." in page


def test_an_excluded_machine_loses_its_card(study: Study) -> None:
    judging.exclude(Annotator.objects.get(pseudonym="gpt"), making.owner(study), "broken")
    worked_out(study)
    assert list(Result.objects.by_keys(study.pk, "judge-cards")) == [("first",)]


def test_the_api_and_files_for_papers_have_the_card(study: Study) -> None:
    client = program(making.owner(study))
    found = client.get(f"/api/v1/studies/{study.pk}/results/judge-cards/", {"judge": "first"}).json()
    assert "leans to the first shown" in found["verdict"]
    assert found["tables"][0]["rows"][-1]["what"] == LAST
    latex = text_of(signed_in(study), address(study, "judge-cards", "judge-card", "tex"), judge="first")
    assert "first beside people" in latex


def helped(study: Study, judge: str = "gpt", name: str = "leaderboard_csv", **asked: str) -> str:
    asked |= {"helped_by": judge} if judge else {}
    return text_of(signed_in(study), reverse(name, args=[study.pk]), scored_by="win-rate", **asked)


def test_the_board_shows_people_alone_until_a_judge_is_chosen_and_then_what_the_library_says(study: Study) -> None:
    page = helped(study, "", "leaderboard")
    assert re.search(r'helped-by-none"[^>]*aria-current="true">People alone', page)
    assert "As people would judge" not in page
    page = helped(study, "gpt", "leaderboard")
    assert re.search(r'aria-current="true">Helped by gpt', page)
    assert "no answer by a machine is counted" in page
    board = pf.rank(given(study), helped_by="gpt")
    assert board.tables[0].note.partition("As people would judge")[2].partition(". ")[0] in page
    rows = list(csv.DictReader(helped(study).splitlines()))
    assert [(row["system"], float(row["score"]), float(row["low"])) for row in rows] == [
        (row["system"], row["win_rate"], row["low"]) for row in board.to_dicts()
    ]
    assert {row["rests_on"] for row in rows} == {"240 by people (imported), helped by gpt"}
    assert "helped by gpt" in helped(study, "gpt", "leaderboard_tex")
    Assignment.objects.update(reason="random")
    assert "by people alone, who would take about 14 minutes more; no answer" in helped(study, "gpt", "leaderboard")


def test_the_api_has_the_helped_board_with_its_worth_and_refuses_a_judge_that_is_not_there(study: Study) -> None:
    client, path = program(making.owner(study)), f"/api/v1/studies/{study.pk}/leaderboard/"
    alone, own = client.get(path).json(), client.get(path, {"helped_by": "gpt"}).json()
    board = pf.rank(given(study), helped_by="gpt")
    assert (alone["helpers"], alone["helped"]) == (["first", "gpt"], None)
    assert own["helped"]["equivalent"] > own["helped"]["answers"] == 240
    assert [(row["better"], row["p"]) for row in own["differences"]] == [
        (row.better, row.p) for row in board.differences
    ]
    assert own["differences"] != alone["differences"]
    refused = client.get(path, {"helped_by": "gtp"})
    assert (refused.status_code, "expected one of first, gpt" in refused.content.decode()) == (400, True)
    page = signed_in(study).get(reverse("leaderboard", args=[study.pk]), {"helped_by": "gtp"})
    assert page.status_code == 404


def test_a_topic_has_its_order_of_summaries_with_help_too(study: Study) -> None:
    topic = study.topics.get(name="T3")
    url = reverse("topic_leaderboard_csv", args=[study.pk, topic.pk])
    client = signed_in(study)
    alone, own = (
        {row["system"]: float(row["score"]) for row in csv.DictReader(text_of(client, url, **asked).splitlines())}
        for asked in ({"scored_by": "win-rate"}, {"helped_by": "gpt"})
    )
    assert alone.keys() == own.keys()
    assert alone != own
    page = text_of(client, reverse("topic_leaderboard", args=[study.pk, topic.pk]), helped_by="gpt")
    assert "As people would judge, helped by gpt" in page
    assert "Systems are called different" not in page


def test_a_judge_that_tells_no_systems_apart_leaves_people_alone_and_the_board_says_why(study: Study) -> None:
    assert "People alone: nothing is borrowed from first, for the machine all systems are equal." in helped(
        study, "first", "leaderboard"
    )
    assert [row[:4] for row in csv.reader(helped(study, "first").splitlines())] == [
        row[:4] for row in csv.reader(helped(study, "").splitlines())
    ]


def test_a_board_of_both_questions_that_was_opened_empty_shows_win_rates_once_they_are_there() -> None:
    study = study_of_summaries(compares="both")
    client = signed_in(study)
    page = text_of(client, reverse("leaderboard", args=[study.pk]))
    poll = unescape(re.findall(r'id="news"\s+hx-get="([^"]*)"', page)[0])
    assert "HX-Refresh" not in client.get(poll).headers
    judging.import_judgments(study, answers(80, "Ann"), "human")
    worked_out(study)
    assert client.get(poll).headers["HX-Refresh"] == "true"


def test_where_machines_count_no_judge_helps_people(study: Study) -> None:
    studies.change_settings(study, making.owner(study), counted_kinds="people-and-machines")
    worked_out(study)
    assert "Helped by" not in helped(study, "", "leaderboard")


def test_people_are_counted_and_ranked_as_if_no_machine_had_judged(study: Study) -> None:
    alone = study_of_summaries()
    for name in ("Ann", "Bob", "Cy"):
        judging.import_judgments(alone, answers(80, name), "human")
    worked_out(alone)
    for url in ("leaderboard_csv",):
        tables = [text_of(signed_in(own), reverse(url, args=[own.pk])) for own in (study, alone)]
        assert tables[0] == tables[1]
