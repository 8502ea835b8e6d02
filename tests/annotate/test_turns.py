"""Outputs that are conversations: shown as turns, judged as what they are, given back as they came."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate import dataset, exports, imports, invitations, judging
from annotate.imports.restore import restore
from annotate.models import Assignment, Item, Study, Summary
from preferendum.formats.archive import study as study_archive
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import judged
from tests.annotate.making import lines

pytestmark = pytest.mark.django_db

ASKED = {"role": "user", "content": "How is it **done**?"}
CODE = "Like <b>this</b>:\n\n```python\nif x:\n    y()\n```\n![p](http://elsewhere.example/p.png) \\(a_1\\)\n    kept"
HOSTILE = "<script>alert(1)</script> [run](javascript:alert(1)) [there](https://elsewhere.example)"


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def record(large: list[dict[str, str]], small: list[dict[str, str]], **more: Any) -> dict[str, Any]:
    summaries = [{"system": "large", "turns": large}, {"system": "small", "turns": small}]
    return {"topic_id": "q17", "summaries": summaries, **more}


def study_of(*records: dict[str, Any]) -> Study:
    study = making.study(compares="summaries")
    making.store(study, lines(*records), "topics.jsonl")
    return study


def page_of_a_pair(client: Client, study: Study) -> str:
    here = client.post(invitations.invitation_path(invitations.invite(study, making.owner(study)))).url
    return client.get(here).content.decode()


def test_the_page_of_a_pair_shows_turns_and_what_both_were_asked_once(client: Client) -> None:
    study = study_of(record([ASKED, said(CODE)], [ASKED, said(HOSTILE)]))
    html = page_of_a_pair(client, study)
    assert html.count("How is it ") == html.count('class="turn user"') == 1
    assert "<strong><span>done</span></strong>" in html
    assert html.count('class="turn assistant"') == 2
    assert "<pre><code>if x:\n    y()\n</code></pre>" in html
    assert "Like &lt;b&gt;this&lt;/b&gt;:" in html
    assert "\\(a_1\\)\n    kept</span>" in html
    assert "<img" not in html
    assert "<script>alert" not in html
    assert 'href="javascript:' not in html
    assert 'href="https://elsewhere.example" target="_blank" rel="noopener noreferrer"' in html
    assert "q17" not in html


def test_a_question_that_stands_in_the_turns_is_not_shown_twice(client: Client) -> None:
    study = study_of(record([ASKED, said("One.")], [ASKED, said("Two.")], question=ASKED["content"]))
    html = page_of_a_pair(client, study)
    assert "**done**" not in html
    study.topics.update(question="Say more.")
    assert "Say more." in client.get(reverse("pair", args=[Assignment.objects.get().key])).content.decode()


def test_conversations_that_part_are_shown_whole_from_there_on(client: Client) -> None:
    first, second = [ASKED, said("One?"), {"role": "user", "content": "Yes"}, said("One.")], [ASKED, said("Two.")]
    html = page_of_a_pair(client, study_of(record(first, second)))
    assert html.count('class="turn user"') == 2
    assert html.count('class="turn assistant"') == 3


def test_a_conversation_beside_a_text_is_shown_whole(client: Client) -> None:
    given = record([ASKED, said("One.")], [])
    given["summaries"][1] = {"system": "small", "text": "Two *as it is*"}
    html = page_of_a_pair(client, study_of(given))
    assert html.count('class="turn user"') == 1
    assert "Two *as it is*" in html


@pytest.mark.parametrize("content", [">" * 20_000 + "deep", "[" * 20_000 + "deep", "- " * 100 + "deep", "x" * 100_000])
def test_what_no_markdown_is_shown_for_is_shown_as_it_is(client: Client, content: str) -> None:
    html = page_of_a_pair(client, study_of(record([ASKED, said(content)], [ASKED, said("Two.")])))
    assert html.count("deep") == content.count("deep")
    assert html.count("x" * 100) == len(content) // 100 * content.startswith("x")
    assert html.count("&gt;") >= content.count(">")


def test_the_summarys_page_shows_the_turns(client: Client) -> None:
    study = study_of(record([ASKED, said(CODE)], [ASKED, said("Two.")]))
    client.force_login(making.owner(study))
    html = client.get(
        reverse("summary", args=[study.pk, Summary.objects.get(system__name="large").pk])
    ).content.decode()
    assert "<span>How is it </span><strong>" in html
    assert "<pre><code>if x:\n    y()\n</code></pre>" in html


def test_only_what_the_system_wrote_is_its_text() -> None:
    study_of(record([ASKED, said("One."), {"role": "user", "content": "And?"}, said("b")], [ASKED, said("Two.")]))
    assert sorted(Item.objects.values_list("text", flat=True)) == ["One.\n\nb", "Two."]
    assert Summary.objects.get(system__name="large").whole == "One.\n\nb"


def test_an_exported_study_has_its_turns_again(tmp_path: Path) -> None:
    study = study_of(record([ASKED, said(CODE)], [ASKED, said("Two.")]))
    judged(judging.join(study))
    with (tmp_path / "study.zip").open("wb") as file:
        study_archive.write(exports.make_archive(study), file)
    again = restore(study_archive.read(tmp_path / "study.zip"), making.person())
    assert list(exports.topics(again)) == list(exports.topics(study))
    assert list(Item.objects.filter(item_set__study=again).values_list("turns", flat=True)) == [
        [ASKED, said(CODE)],
        [ASKED, said("Two.")],
    ]


def test_answers_about_a_conversation_stand_while_every_turn_stays() -> None:
    given = record([ASKED, said("One."), {"role": "user", "content": "And?"}, said("b")], [ASKED, said("Two.")])
    study = study_of(given)
    judged(judging.join(study))
    making.store(study, lines(given), "same.jsonl")
    assert Assignment.objects.get().item_set.removal is None
    given["summaries"][0]["turns"][2] = {"role": "user", "content": "Why?"}
    making.store(study, lines(given), "other.jsonl")
    assert Assignment.objects.get().item_set.removal is not None
    imports.restore_removed(Assignment.objects.get().item_set.removal, making.owner(study))
    assert Assignment.objects.get().item_set.removal is None
    assert Summary.objects.get(system__name="large").turns[2]["content"] == "And?"


def test_a_text_in_the_place_of_a_conversation_leaves_no_turns() -> None:
    study = study_of(record([ASKED, said("One.")], [ASKED, said("Two.")]))
    making.store(study, b"topic,system,text\nq17,large,One.\n", "summaries.csv")
    assert Summary.objects.get(system__name="large").turns is None
    assert Item.objects.get(item_set__removal=None, system="large").turns is None


def test_preferences_for_training_are_turns_with_their_prompt() -> None:
    study = study_of(record([ASKED, said("One.")], [ASKED, said("Two.")]))
    shown = judged(judging.join(study))
    (row,) = dataset.preferred(study)
    assert row["prompt"] == [ASKED]
    assert row["chosen"] == shown.left.turns[1:]
    (row,) = dataset.judgments(study)
    assert (row["prompt"], row["left"]) == (ASKED["content"], shown.left.text)
    file = io.BytesIO()
    dataset.write_preferred_jsonl(study, file)
    assert b'"role":"user"' in file.getvalue()


def test_programs_are_shown_the_turns() -> None:
    study = study_of(record([ASKED, said("One.")], [ASKED, said("Two.")]))
    api, here = program(making.owner(study)), f"/api/v1/studies/{study.pk}"
    annotator = api.post(f"{here}/annotators/", {"pseudonym": "m"}, format="json").json()
    pair = api.post(f"{here}/annotators/{annotator['key']}/draw/").json()
    assert pair["left_turns"] == [ASKED, said(pair["left"])]
    summaries = api.get(f"{here}/summaries/").json()["results"]
    assert [own["turns"][0] for own in summaries] == [ASKED, ASKED]
