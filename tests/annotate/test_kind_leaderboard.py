"""What one kind of annotators would say of the systems, beside what the study says."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotate import judging
from annotate.models import Study, WhatIfQuestion
from annotate.reports import rests_on
from evaluation import tasks
from evaluation.records.statement import state
from tests.annotate import making, scored
from tests.annotate.everything import study_once

pytestmark = pytest.mark.django_db


def judged_by_both() -> Study:
    """People judged both topics, machines one of them."""
    made = scored.scored_study(counted_kinds="people")
    scored.judge(made, ("snow", "s1:0", "s1:1", "b"), pseudonym="ann")
    scored.judge(made, *scored.JUDGED[:2], kind="machine", pseudonym="a model of ours")
    assert tasks.catch_up(made.pk) == {}
    return made


made_study, study = study_once(judged_by_both)


def signed_in(study: Study, role: str = "researcher") -> Client:
    client = Client()
    client.force_login(making.member(study, role))
    return client


def address(study: Study, kind: str = "machine") -> str:
    return reverse("kind_leaderboard", args=[study.pk, kind])


def links(study: Study) -> list[str]:
    """The kinds that the study's leaderboard offers to look at."""
    text = signed_in(study).get(reverse("leaderboard", args=[study.pk])).content.decode()
    return [kind for kind in ("human", "machine", "simulated") if f'href="{address(study, kind)}"' in text]


def test_a_reader_comes_from_the_leaderboard_to_both_boards_and_learns_no_name(study) -> None:
    client = signed_in(study)
    assert links(study) == ["machine", "simulated"]
    assert "Compare</button>" in client.get(address(study)).content.decode()
    assert client.post(address(study))["Location"] == address(study)
    waiting = client.get(address(study))
    assert 'hx-trigger="every 1s"' in waiting.content.decode()
    seen = f"{address(study)}?seen={waiting.context['version']}"
    assert client.get(seen).status_code == 204
    tasks.answer_what_if(WhatIfQuestion.objects.get().pk)
    news = client.get(seen).content.decode()
    assert "<html" not in news
    whole = client.get(address(study)).content.decode()
    for text in (news, whole):
        words = " ".join(text.split())
        assert "5 judgments on 2 topics" in words
        assert "2 judgments on 1 topic </span>" in words
        assert "These judgments cover 1 topic, the study’s own 2." in words
        assert "Kendall’s tau-b" in words
        assert "a model of ours" not in words
        assert "Compare" not in words.partition('id="state"')[2]


def test_simulated_judgments_alone_have_a_board_at_once_which_one_button_counts() -> None:
    study = scored.scored_study(counted_kinds="people")
    study.annotators.filter(kind="human").update(kind="simulated")
    state(study)
    client = signed_in(study)
    board = reverse("leaderboard", args=[study.pk])
    assert client.get(board)["Location"] == address(study, "simulated")
    assert "Count them" in client.get(address(study, "simulated")).content.decode()
    assert "Count them" not in signed_in(study, "admin").get(address(study, "simulated")).content.decode()
    assert signed_in(study, "admin").post(address(study, "simulated"), {"count": "on"}).status_code == 403
    assert client.post(address(study, "simulated"), {"count": "on"})["Location"] == board
    study.refresh_from_db()
    assert study.counted_kinds == "people-and-simulated"


def test_a_board_that_is_out_of_date_says_so_and_is_asked_for_again(study) -> None:
    client = signed_in(study)
    client.post(address(study))
    client.post(address(study))
    tasks.answer_what_if(WhatIfQuestion.objects.get().pk)
    scored.judge(study, scored.JUDGED[4], kind="machine", pseudonym="a model of ours")
    assert "Compare again" in client.get(address(study)).content.decode()
    client.post(address(study))
    assert [question.state for question in WhatIfQuestion.objects.order_by("pk")] == ["ready", "waiting"]


def test_only_kinds_that_would_give_another_board_are_offered(study) -> None:
    for kinds, offered in (
        ("people-and-simulated", ["human", "machine", "simulated"]),
        ("machines", ["human", "simulated"]),
    ):
        Study.objects.filter(pk=study.pk).update(counted_kinds=kinds)
        state(Study.objects.get(pk=study.pk))
        assert links(study) == offered
    for one in study.annotators.exclude(kind="human"):
        judging.exclude(one, making.owner(study), "A trial.")
    Study.objects.filter(pk=study.pk).update(counted_kinds="all")
    study.refresh_from_db()
    state(study)
    assert rests_on.of_study(study).kinds_beside == ()
    assert links(study) == []
    for kind in ("human", "machine", "simulated", "nobody"):
        assert signed_in(study).get(address(study, kind)).status_code == 404
        assert signed_in(study).post(address(study, kind)).status_code == 404


def test_a_question_about_a_kind_is_none_about_annotators(study) -> None:
    client = signed_in(study, "owner")
    client.post(address(study))
    key = WhatIfQuestion.objects.get().key
    assert client.get(reverse("what_if", args=[study.pk, key])).status_code == 404
    assert client.post(reverse("what_if_do", args=[study.pk, key]), {"reason": "x"}).status_code == 404
