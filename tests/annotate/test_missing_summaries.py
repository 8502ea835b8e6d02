"""Systems that lack summaries: compared over the same topics, and said so wherever their scores are read."""

from __future__ import annotations

import csv

import pytest
from django.db.models import Avg
from django.test import Client
from django.urls import reverse

from annotate import imports
from annotate.models import Score, Study
from preferendum import formats
from tests.annotate import making, scored

pytestmark = pytest.mark.django_db

SENTENCES = tuple(f"The {word} was talked about." for word in ("rain", "flood", "road", "school", "law", "vote"))


@pytest.fixture
def study() -> Study:
    """`late` has summaries of the two topics where the words of any summary cover most."""
    topics = []
    for k in range(4):
        is_easy = k < 2
        taken = {"first": 3, "second": 2, **({"late": 2} if is_easy else {})}
        count = 4 if is_easy else 6
        summaries = tuple(formats.Summary(name, " ".join(SENTENCES[-n:])) for name, n in taken.items())
        own = tuple(f"{text} {k}" for text in SENTENCES[6 - count :])
        topics.append(formats.Topic(f"T{k}", documents=(formats.Text("d", sentences=own),), summaries=summaries))
    study = making.study(title="Gaps", score="combined")
    imports.store(study, formats.Bundle(topics=tuple(topics)))
    judged = [(f"T{k}", f"d:{a}", f"d:{b}", "b") for k in range(4) for b in range(4) for a in range(b)]
    scored.judge(study, *judged)
    assert scored.tasks.catch_up(study.pk) == {}
    return study


@pytest.mark.parametrize("scored_by", ["recommended", "published"])
def test_a_system_gains_nothing_by_topics_where_all_score_high(client: Client, scored_by: str, study: Study) -> None:
    client.force_login(making.owner(study))
    rows = client.get(f"/api/v1/studies/{study.pk}/leaderboard/", {"scored_by": scored_by}).json()["systems"]
    by_name = {row["system"]: row for row in rows}
    plain = Score.objects.filter(scored_by=scored_by, summary__system__name="late").aggregate(
        score=Avg("score"), coverage=Avg("coverage")
    )

    assert by_name["late"]["score"] < plain["score"] - 0.01
    if scored_by == "recommended":
        assert by_name["late"]["coverage"] < plain["coverage"] - 0.01
    assert {name: (row["topics"], row["lacking"]) for name, row in by_name.items()} == {
        "first": (4, 0),
        "second": (4, 0),
        "late": (2, 2),
    }


def test_page_files_and_latex_say_how_many_topics_a_system_has(client: Client, study: Study) -> None:
    client.force_login(making.owner(study))
    address = reverse("leaderboard_csv", args=[study.pk])
    lines = csv.DictReader(client.get(address).content.decode("utf-8-sig").splitlines())
    assert {row["system"]: row["lacking"] for row in lines} == {"first": "0", "second": "0", "late": "2"}
    page = client.get(reverse("leaderboard", args=[study.pk])).content.decode()
    assert page.count("(2 of 4 topics)") == 1
    assert "system + topic (least squares)" in page
    latex = client.get(reverse("leaderboard_tex", args=[study.pk])).content.decode()
    assert "late (2 of 4 topics)" in latex
    assert "system + topic (least squares)" in latex
