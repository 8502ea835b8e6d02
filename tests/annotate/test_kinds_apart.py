"""What machines and simulated annotators judge moves no figure of a study that counts people."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from annotate import judging
from annotate.judging import what_if
from annotate.models import Annotator, Item, Study, Summary
from annotate.reports import rests_on
from evaluation import tasks
from preferendum import formats
from tests.annotate import making, scored
from tests.annotate.everything import study_once
from tests.annotate.reading import signed_in

pytestmark = pytest.mark.django_db

API = "/api/v1/studies"
AT = "2026-01-31T16:53:19Z"
#: What changes with everybody who judges.
VERSIONS = {"version", "not_counted", "count"}
SENTENCES = [("rain", f"d1:{n}") for n in range(3)] + [("rain", f"d2:{n}") for n in range(3)]
PAIRS = [(a, b) for number, (_topic, a) in enumerate(SENTENCES) for _other, b in SENTENCES[number + 1 :]]


def judge(study: Study, kind: str, wins: float) -> None:
    """A hundred answers by ten annotators of a kind; the earlier sentence is preferred so often."""
    rng = random.Random(kind)
    for number in range(10):
        preferences = [
            formats.Preference(
                "rain", a, b, "a" if rng.random() < wins else "b", f"{kind} {number}", rng.uniform(2, 9), AT
            )
            for a, b in rng.sample(PAIRS, 8)
        ]
        preferences += [
            formats.Preference("snow", a, b, "a" if rng.random() < wins else "b", f"{kind} {number}", 4.0, AT)
            for a, b in (("s1:0", "s1:1"), ("s1:1", "s1:2"))
        ]
        judging.import_judgments(study, preferences, kind)


def settle(study: Study) -> None:
    """Everything that the worker works out, anew."""
    assert tasks.catch_up(study.pk) == {}
    tasks.report_annotators(study.pk)
    for topic in study.topics.all():
        tasks.examine_topic(topic.pk)
    tasks.examine_study(study.pk)


def without_versions(value: Any) -> Any:
    """Rows of annotators that are no people left out, too."""
    if isinstance(value, dict):
        return {key: without_versions(one) for key, one in value.items() if key not in VERSIONS}
    if isinstance(value, list):
        return [without_versions(one) for one in value if not (isinstance(one, dict) and is_of_others(one))]
    return value


def is_of_others(row: dict[str, Any]) -> bool:
    annotator = row.get("annotator")
    return isinstance(annotator, dict) and annotator["kind"] != "human"


def seen(study: Study) -> dict[str, Any]:
    """What the API and the pages say of a study's figures."""
    owner = Client()
    owner.force_login(making.owner(study))
    topics, sentences = study.topics.all(), Item.objects.filter(item_set__study=study)
    summaries, people = Summary.objects.filter(topic__study=study), study.annotators.filter(kind="human")
    calls = ["", "leaderboard/", "summaries/", "annotators/figures/?page_size=200"]
    calls += [f"results/{name}/" for name in OF_ANNOTATORS]
    calls += [f"topics/{topic.pk}/{part}" for topic in topics for part in ("", "sentences/", "leaderboard/")]
    calls += [f"summaries/{summary.pk}/" for summary in summaries]
    pages = [
        *(reverse(name, args=[study.pk]) for name in OF_STUDY),
        reverse("analysis", args=[study.pk, "agreement-of-annotators"]),
        *(reverse(name, args=[study.pk, topic.pk]) for name in OF_TOPIC for topic in topics),
        *(reverse("sentence", args=[study.pk, one.pk]) for one in sentences),
        *(reverse("summary", args=[study.pk, one.pk]) for one in summaries),
        *(reverse("study_annotator", args=[study.pk, one.pk]) for one in people),
    ]
    answers = {call: without_versions(owner.get(f"{API}/{study.pk}/{call}").json()) for call in calls}
    return answers | {page: text(owner, page) for page in pages}


OF_STUDY = (
    *("study", "study_topics", "leaderboard", "leaderboard_csv", "leaderboard_tex", "leaderboard_svg"),
    *("leaderboard_ranks_svg", "disputed"),
    *("judgments_jsonl", "judgments_csv"),
)
OF_ANNOTATORS = ("agreement-of-annotators", "influence", "coverage", "misfits")
OF_TOPIC = ("topic", "topic_leaderboard", "topic_leaderboard_csv", "topic_leaderboard_tex", "topic_leaderboard_svg")


def text(client: Client, page: str) -> str:
    """What a page or file says, but for what it says that it does not count and links to, and which version it is."""
    response = client.get(page)
    assert response.status_code == 200, page
    content = b"".join(response) if response.streaming else response.content  # type: ignore[arg-type]
    said = " ".join(re.sub(r"<[^>]*>", " ", content.decode()).split())
    return re.sub(r" ?\(not counted: [^)]*\)| ?Compare with the (machines’|simulated) judgments", "", said)


def judged_by_people() -> Study:
    """Judged by people alone, a hundred times."""
    made = scored.scored_study(
        judgments_per_pair=30, judgments_per_topic=500, weigh_annotators=True, counted_kinds="people"
    )
    made.annotators.filter(kind="simulated").update(excluded_at=made.created_at)
    judge(made, "human", 0.8)
    return made


made_study, study = study_once(judged_by_people)


def test_no_figure_of_people_moves_when_machines_and_simulations_judge(study):
    with time_machine.travel("2026-03-01 12:00", tick=False):
        settle(study)
        before = seen(study)
        judge(study, "machine", 0.1)
        judge(study, "simulated", 0.5)
        settle(study)
        after = seen(study)
    for where in before:
        assert after[where] == before[where], where
    basis = rests_on.of_study(study)
    assert basis.counted == rests_on.Judged(human=104, imported=104)
    assert basis.not_counted == rests_on.Judged(machine=100, simulated=100)


def test_what_if_somebody_had_not_judged_is_answered_from_people_alone(study):
    def figures() -> dict[str, Any]:
        question = what_if.ask(study, making.owner(study), study.annotators.filter(pseudonym="human 3"))
        tasks.answer_what_if(question.pk)
        question.refresh_from_db()
        return question.figures

    settle(study)
    before = figures()
    judge(study, "machine", 0.1)
    settle(study)
    assert figures() == before


def test_a_kind_that_counts_with_people_moves_the_scores_and_no_figure_about_them(study):
    settle(study)
    before = seen(study)
    judge(study, "machine", 0.1)
    Study.objects.filter(pk=study.pk).update(counted_kinds="people-and-machines")
    study.refresh_from_db()
    settle(study)
    after = seen(study)
    assert after["leaderboard/"]["systems"] != before["leaderboard/"]["systems"]
    said = text(signed_in(study), reverse("analysis", args=[study.pk, "agreement-of-annotators"]))
    assert "never compared with people. Rests on: 104 by people" in said
    assert "100 by machines" not in said
    agreement = "results/agreement-of-annotators/"
    assert after[agreement]["tables"] == before[agreement]["tables"]
    assert after["leaderboard/"]["rests_on"]["counted"] == {
        "human": 104,
        "imported": 104,
        "machine": 100,
        "simulated": 0,
    }
    rows = {
        row["annotator"]["pseudonym"]: row["figures"] for row in before["annotators/figures/?page_size=200"]["results"]
    }
    assert rows == {
        row["annotator"]["pseudonym"]: row["figures"] for row in after["annotators/figures/?page_size=200"]["results"]
    }
    examined = Annotator.objects.filter(study=study, kind="human", judged__gt=0).count()
    assert after["results/influence/"]["tables"][-1]["rows"][0]["annotators"] == examined
