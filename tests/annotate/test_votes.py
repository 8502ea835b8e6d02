"""Files of votes that bring their topics along: with texts a study of outputs, without them a board alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

import preferendum as pf
from annotate import dataset, exports, imports, invitations, judging, studies
from annotate.imports.restore import restore
from annotate.judging.no_pair import NoPair
from annotate.models import HumanScore, Judgment, Result, Study, Summary, SystemScore, Topic, Upload
from annotate.reports import statement
from evaluation import tasks
from evaluation.records.win_rates import studies_with_later_systems
from preferendum.formats.archive import study as study_archive
from preferendum.formats.readers.tools.catalogue import Reader, readers
from preferendum.results import StudyAgreement
from tests.annotate import making
from tests.annotate.making import lines
from tests.annotate.visitors import signed_in
from tests.formats.test_tools import COLUMNS, POTATO, packed

pytestmark = pytest.mark.django_db

SYSTEMS = ("ant", "bee", "cat", "dog")
PROMPT = [{"role": "user", "content": "How deep is it?"}]


def votes(number: int, topics: int = 0, seed: int = 1) -> list[dict[str, Any]]:
    """Made votes as of Chatbot Arena; systems late in the alphabet win more often."""
    lot = random.Random(seed)
    rows = []
    for k in range(number):
        a, b = lot.sample(SYSTEMS, 2)
        winner = lot.choices(["model_a", "model_b", "tie"], [1 + 2 * (a > b), 1 + 2 * (a < b), 0.5])[0]
        row = {"model_a": a, "model_b": b, "winner": winner, "judge": f"judge_of_{k % 7}", "tstamp": 1.7e9 + k}
        rows.append(row | ({"question_id": f"q{k % topics}"} if topics else {}))
    return rows


def with_texts(row: dict[str, Any]) -> dict[str, Any]:
    return row | {
        f"conversation_{side}": [*PROMPT, {"role": "assistant", "content": f"{row[f'model_{side}']} says so."}]
        for side in "ab"
    }


def standings(study: Study) -> dict[str, list[Any]]:
    rows = SystemScore.objects.filter(ranking__study=study, ranking__scored_by="win-rate")
    columns = ("system__name", "score", "low", "high", "rank", "rank_low", "rank_high")
    return {name: own for name, *own in rows.values_list(*columns)}


@pytest.mark.parametrize("topics", [0, 30])
def test_the_board_of_outcomes_is_that_of_the_library_to_the_last_digit(tmp_path: Path, topics: int) -> None:
    study = making.study(compares="both")
    path = tmp_path / "arena.jsonl"
    path.write_bytes(lines(*votes(400, topics)))
    upload = making.store(study, path.read_bytes(), "arena.jsonl")
    tasks.catch_up(study.pk)
    board = pf.rank(str(path)).to_dicts()
    assert standings(study) == {
        row["system"]: [row[key] for key in ("win_rate", "low", "high", "rank", "rank_low", "rank_high")]
        for row in board
    }
    assert "400 rows: 400 votes" in str(upload.preview["remarks"])


def test_nobody_is_asked_about_outcomes() -> None:
    study = making.study(compares="both")
    making.store(study, lines(*votes(60)), "arena.jsonl")
    assert judging.draw(judging.join(study)) is NoPair.NO_WORK
    assert judging.newcomer(study).progress.wanted == 0
    assert Summary.objects.filter(has_text=True).count() == 0
    tasks.catch_up(study.pk)
    assert tasks.catch_up(study.pk) == {}


@pytest.mark.parametrize("topics", [0, 3])
def test_outcomes_are_exported_and_taken_back(tmp_path: Path, topics: int) -> None:
    study = making.study(compares="both")
    making.store(study, lines(*votes(60, topics)), "arena.jsonl")
    tasks.catch_up(study.pk)
    archive = exports.make_archive(study)
    with (tmp_path / "study.zip").open("wb") as file:
        study_archive.write(archive, file)
    read = study_archive.read(tmp_path / "study.zip")
    again = restore(read, making.person())
    assert exports.make_archive(again).topics == archive.topics
    answers, before = (exports.make_archive(own).judgments for own in (again, study))
    assert [own.answer for own in answers] == [own.answer for own in before]
    tasks.catch_up(again.pk)
    assert standings(again) == standings(study)
    assert [row["win_rate"] for row in pf.rank(str(tmp_path / "study.zip")).to_dicts()] == sorted(
        (own[0] for own in standings(study).values()), reverse=True
    )


def test_votes_with_texts_become_a_study_of_outputs() -> None:
    study = making.study(compares="both", summary_judgments_per_topic=100, judgments_per_pair=50)
    upload = making.store(study, lines(*map(with_texts, votes(60, 3))), "arena.jsonl")
    topic = Topic.objects.get(study=study, name="q0")
    assert (Topic.objects.filter(study=study).count(), topic.question) == (3, "How deep is it?")
    assert dict(topic.summaries.values_list("system__name", "text")) == {name: f"{name} says so." for name in SYSTEMS}
    assert Judgment.objects.counted().count() == 60
    assert not isinstance(judging.draw(judging.join(study)), NoPair)
    assert "60 rows: 60 votes" in str(upload.preview["remarks"])


SAID, MORE = {"role": "assistant", "content": "`1` m"}, {"role": "user", "content": "And now?"}
ANSWER = {"from": "gpt", "value": "2 m"}
READ = {"role": "assistant", "content": "2 m"}
SEEN = [{"type": "text", "text": "How deep is it?"}, {"type": "image_url", "image_url": "x"}]


@pytest.mark.parametrize(
    ("texts", "question", "turns"),
    [
        ({"conversation_a": [*PROMPT, SAID, MORE, SAID]}, "How deep is it?", [SAID, MORE, SAID]),
        ({"conversation_a": [*PROMPT, SAID], "prompt": " Other"}, " Other", [*PROMPT, SAID]),
        ({"conversation_a": [{"role": "system", "content": "Be kind."}, *PROMPT, SAID]}, "", None),
        ({"prompt": PROMPT, "conversation_a": ANSWER}, "How deep is it?", [READ]),
        ({"prompt": [*PROMPT, SAID, MORE], "response_a": "2 m"}, "How deep is it?", [SAID, MORE, READ]),
        ({"prompt": [*PROMPT, SAID], "conversation_a": [*PROMPT, ANSWER]}, "How deep is it?", [READ]),
        ({"conversation_a": [{"role": "user", "content": SEEN}, SAID]}, "", []),
    ],
)
def test_what_follows_the_prompt_of_a_vote_is_kept_as_turns(
    texts: dict[str, Any], question: str, turns: list[dict[str, str]] | None
) -> None:
    study = making.study(compares="both")
    row = {"question_id": "q", "model_a": "ant", "model_b": "bee", "winner": "tie", "response_b": "No."}
    upload = making.store(study, lines(row | texts), "arena.jsonl")
    topic, ant = Topic.objects.get(study=study), Summary.objects.get(system__name="ant")
    assert topic.question == question
    assert (ant.turns or []) == (texts["conversation_a"] if turns is None else turns)
    assert ant.has_text == (turns != [])
    assert ("conversations that annotators could not be shown" in str(upload.preview)) == (turns == [])
    assert Judgment.objects.counted().count() == 1


def test_the_turns_of_votes_are_shown_and_come_with_their_prompt(client: Client) -> None:
    study = making.study(compares="both", summary_judgments_per_topic=9, judgments_per_pair=9)
    row = {"question_id": "q", "model_a": "ant", "model_b": "bee", "winner": "model_b"}
    said = {"conversation_a": [*PROMPT, SAID, MORE, SAID], "conversation_b": [*PROMPT, SAID, MORE, READ]}
    making.store(study, lines(row | said), "arena.jsonl")
    (given,) = dataset.preferred(study)
    assert given["prompt"] == [*PROMPT, SAID, MORE]
    assert (given["chosen"], given["rejected"]) == ([READ], [SAID])
    client.post(invitations.invitation_path(invitations.invite(study, making.owner(study))))
    pair = judging.draw(study.annotators.get(imported=False))
    html = client.get(reverse("pair", args=[pair.key])).content.decode()  # type: ignore[union-attr]
    assert html.count("How deep is it?") == html.count("And now?") == 1
    assert "<code>1</code>" in html


def test_a_vote_about_another_text_of_a_system_is_left_out_and_counted() -> None:
    study = making.study(compares="both")
    first, second = (
        {"question_id": "q", "model_a": "ant", "model_b": "bee", "winner": "tie", "conversation_a": said}
        for said in ("one", "two")
    )
    upload = making.store(study, lines(first, first, second), "arena.jsonl")
    assert "3 rows: 2 votes, 1 about another text of the same model and prompt" in str(upload.preview["remarks"])


def test_more_topics_than_a_study_has_are_read_as_none_with_a_note(tmp_path: Path) -> None:
    study = making.study(compares="both")
    rows = [row | {"question_id": f"q{k}"} for k, row in enumerate(votes(2_100))]
    upload = making.store(study, lines(*rows), "arena.jsonl")
    assert "2,100 topics, more than the 2,000 that a study has" in str(upload.preview["remarks"])
    assert list(Topic.objects.filter(study=study).values_list("name", flat=True)) == [""]
    assert Judgment.objects.counted().count() == 2_100


def test_our_own_votes_begin_a_study_and_later_ones_must_name_its_topics() -> None:
    study = making.study(compares="both")
    making.store(study, b"topic,a,b,winner\nT1,ant,bee,a\nT1,ant,cat,b\n", "votes.csv")
    assert set(Summary.objects.values_list("system__name", flat=True)) == {"ant", "bee", "cat"}
    later = making.receive(study, b"topic,a,b,winner,of\nT2,ant,bee,a,summaries\n", "votes.csv")
    imports.process(later)
    assert later.state == Upload.State.REFUSED


@pytest.mark.parametrize("reader", readers(), ids=lambda own: own.name)
def test_every_example_of_the_catalogue_is_taken_or_refused_with_what_to_name(reader: Reader) -> None:
    study = making.study(compares="both")
    upload = making.receive(study, reader.example.encode(), "from_elsewhere")
    imports.process(upload)
    if upload.state == Upload.State.ASKED:
        imports.choose_columns(
            upload, making.owner(study), {side: [name] for side, name in COLUMNS[reader.name].items()}
        )
        imports.process(upload)
    if upload.state == Upload.State.REFUSED:
        assert "topic of the study" in str(upload.complaints)
        assert not Topic.objects.filter(study=study).exists()
    else:
        imports.confirm(upload, making.owner(study))
        imports.process(upload)
        assert upload.state == Upload.State.STORED, upload.complaints
        judgments = Judgment.objects.filter(assignment__item_set__study=study)
        assert (judgments if reader.what == "vote" else HumanScore.objects.exclude(assessor="")).exists()


def test_a_preference_set_without_systems_is_refused_with_the_columns_to_name() -> None:
    study = making.study(compares="both")
    upload = making.receive(study, lines({"prompt": "Why?", "chosen": "So.", "rejected": "No."}), "set.jsonl")
    imports.process(upload)
    assert upload.state == Upload.State.ASKED
    assert (
        "whose texts"
        in signed_in(making.owner(study)).get(f"/studies/{study.pk}/uploads/{upload.key}/").content.decode()
    )
    said = json.dumps(upload.complaints)
    assert "prompt, chosen, rejected" in said
    assert "chosen_model and rejected_model" in said
    assert not Topic.objects.filter(study=study).exists()


def test_three_ranked_at_once_are_refused_with_the_reason() -> None:
    ranked = [{"value": name, "rank": place} for place, name in enumerate(SYSTEMS[:3], 1)]
    record = {"id": "r", "fields": {"p": "x"}, "responses": {"best": [{"value": ranked, "user_id": "u"}]}}
    study = making.study(compares="both")
    upload = making.receive(study, lines(record), "argilla.jsonl")
    imports.process(upload)
    assert upload.state == Upload.State.REFUSED
    assert "not independent" in str(upload.complaints)


@pytest.mark.parametrize("topics", [0, 3])
def test_pages_of_outcomes_say_so_and_offer_nothing_that_cannot_work(topics: int) -> None:
    study = making.study(compares="both")
    upload = making.store(study, lines(*votes(120, topics)), "arena.jsonl")
    studies.plan_judgments(study)  # as the worker does
    tasks.catch_up(study.pk)
    study.refresh_from_db()
    assert study.compares == "summaries"
    client, here = signed_in(making.owner(study)), f"/studies/{study.pk}/"
    topic = Topic.objects.filter(study=study).first()
    assert topic is not None
    for page, words, untrue in (
        ("", "There are no texts here to judge", 'id="invite"'),
        (f"uploads/{upload.key}/", "nobody can judge here", 'id="invite"'),
        ("topics/", "answers only", "needs documents"),
        (f"topics/{topic.pk}/", "Only answers are here", "needs documents"),
        (f"topics/{topic.pk}/documents/", "Only answers are here", "that people will judge"),
        ("leaderboard/", "7 people gave", "on 1 topic"),
        ("members/", "Annotators who follow a link get no pairs", ""),
        ("recruitment/", "Annotators who follow a link get no pairs", ""),
        ("results/forecast/", "the difference of two systems is known to about", "Simulate the study"),
        ("results/forecast/", "Neither times nor texts are known", "by the words to read"),
        ("methods/", "The texts that these are about", "Annotators saw"),
        ("methods/", "", "settings were changed"),
        ("try/", "There is nothing to judge here", "Begin the trial"),
    ):
        shown = " ".join(client.get(here + page).content.decode().split())
        assert words in shown, page
        assert not untrue or untrue not in shown, page
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    assert "There is nothing to judge here" in Client().get(link).content.decode()


def test_answers_that_name_no_topic_are_about_none() -> None:
    study = making.study(compares="both")
    making.store(study, lines(*votes(120)), "arena.jsonl")
    tasks.catch_up(study.pk)
    record = statement.of_study(study)
    assert record is not None
    assert record.answers.topics == 0
    assert "without saying on which topics: intervals leave out how topics differ" in record.answers.words
    tasks.report_annotators(study.pk)
    agreement = Result.objects.head(study, "annotators").read(StudyAgreement)
    assert agreement is not None
    assert not agreement.study.pairs


def test_a_machines_votes_alone_are_kept_and_said_not_to_count() -> None:
    study = making.study(compares="both")
    rows = [row | {"judge": ["gpt-4", "pair-v2"]} for row in votes(60)]
    making.store(study, lines(*rows), "mt_bench.jsonl")
    tasks.catch_up(study.pk)
    assert not studies_with_later_systems().exists()
    shown = signed_in(making.owner(study)).get(f"/studies/{study.pk}/").content.decode()
    assert "60 by machines" in " ".join(shown.split())


def test_the_items_of_potato_say_which_fields_may_be_chosen(tmp_path: Path) -> None:
    study = making.study(compares="both")
    upload = making.receive(study, packed(tmp_path / "project.zip", POTATO).read_bytes(), "project.zip")
    imports.process(upload)
    assert upload.state == Upload.State.ASKED
    assert upload.table
    assert upload.table["header"] == ["id", "prompt", "one", "two"]
    visitor = signed_in(making.owner(study))
    visitor.post(reverse("upload_columns", args=(study.pk, upload.key)), {"column-2": "a", "column-3": "b"})
    imports.process(upload)
    assert upload.state == Upload.State.READY
    assert [topic["summaries"] for topic in upload.preview["topics"]] == [2, 2]
