"""The demo: its people are told apart, and the board on the start page is its own."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotate import invitations, studies
from annotate.management.commands import demo
from annotate.models import AuditEntry, HumanScore, Judgment, Ranking, ScoredBy, Study
from annotate.reports import methods_section, study_facts
from evaluation import tasks

pytestmark = pytest.mark.django_db


def test_every_person_of_the_demo_has_links_of_their_own_that_stay_good() -> None:
    User.objects.create(username=demo.OWNER)  # with an empty password, as older versions left it
    people = [demo.account(name) for name in demo.ROLES.values()]
    assert len({person.get_session_auth_hash() for person in people}) == len(people)
    assert not any(person.has_usable_password() for person in people)
    link = invitations.sign_in_path(people[0])
    demo.account(people[0].username)
    assert invitations.read_sign_in(link.split("/")[2]) == (people[0], "/")


def test_the_board_on_the_start_page_is_the_leaderboard_of_the_demo(client: Client) -> None:
    demo.make_demo_study(lambda _line: None)
    study = Study.objects.get(title=demo.TITLE)
    assert tasks.catch_up(study.pk) == {}
    client.force_login(study.created_by)
    content = client.get(reverse("leaderboard_csv", args=[study.pk]), {"scored_by": "recommended"}).content.decode(
        "utf-8-sig"
    )
    made = list(csv.DictReader(io.StringIO(content)))
    with (studies.EXAMPLE.parent / "leaderboard.csv").open(encoding="utf-8-sig", newline="") as file:
        kept = list(csv.DictReader(file))
    assert made[0].keys() == kept[0].keys()
    assert len(made) == len(kept) == 10
    for row, shown in zip(made, kept, strict=True):
        numbers = ("score", "low", "high", "coverage")
        # Fits are right to some millionths: another machine may end them a step earlier.
        expected = pytest.approx([float(shown.pop(name)) for name in numbers], rel=1e-5)
        assert [float(row.pop(name)) for name in numbers] == expected
        assert row == shown
    win_rates = Ranking.objects.get(study=study, scored_by=ScoredBy.WIN_RATE)
    assert (win_rates.problem, win_rates.systems.count()) == ("", 10)
    assert Judgment.objects.counted().filter(assignment__item_set__of="summaries").count() == 90
    assert not AuditEntry.objects.filter(study=study).exists(), "nobody did anything yet"
    methods = methods_section.plain(study_facts.of_study(study))
    assert "After the first judgment" not in methods
    assert "10 simulated" in methods
    for address in (reverse("studies"), reverse("study", args=[study.pk])):
        page = client.get(address).content.decode()
        said = re.findall(r"(Sentences|Whole summaries): ([^<]*)</a>", page)
        assert said == [
            ("Sentences", f"{kept[0]['system']} leads all other systems."),
            ("Whole summaries", "So far the answers do not tell these systems apart."),
        ]


def test_the_second_study_has_peoples_ratings_and_preferences_and_says_whose_they_are() -> None:
    demo.make_rated_study(lambda _line: None)
    study = Study.objects.get(title=demo.RATED_TITLE)
    assert "CC BY 4.0" in study.title
    assert "Wang, Pang, Chen, Phang and Bowman" in study.guidelines
    assert HumanScore.objects.filter(summary__topic__study=study).exists()
    counted = Judgment.objects.counted().filter(assignment__item_set__study=study)
    rows = counted.values_list("assignment__annotator__kind", "assignment__item_set__of")
    kinds = Counter(rows)
    assert kinds == {("human", "summaries"): 540, ("simulated", "sentences"): 4 * demo.SIMULATED_OF_STORIES}
    demo.make_rated_study(lambda _line: None)  # again, after a start that broke off
    assert counted.count() == kinds.total()


def test_the_researcher_s_link_opens_a_board_on_which_people_s_answers_tell_systems_apart(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    demo.make_demo_study(lambda _line: None)
    demo.make_rated_study(lambda _line: None)
    study = Study.objects.get(title=demo.RATED_TITLE)
    tasks.rank_by_summaries(study.pk)
    demo.Command().welcome("")
    link = re.search(r"researcher (\S+)", capsys.readouterr().out)
    assert link is not None
    page = client.post(link[1], follow=True)
    assert page.redirect_chain[-1][0] == reverse("leaderboard", args=[study.pk])
    assert "bart-dpr leads bart." in page.content.decode()
    assert "4 people gave 540 judgments (imported), on 60 topics." in page.content.decode()
