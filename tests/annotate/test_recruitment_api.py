"""What a program learns of a study's recruitment, so that nobody copies codes and IDs."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate import crowd, invitations, judging
from annotate.models import AuditEntry
from tests.annotate import making
from tests.annotate.judging_study import judged, prepare_pairs, report_annotators
from tests.annotate.test_crowd import P1, P2, crowd_study, finished
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db


def test_a_program_gets_the_link_and_the_codes_of_the_page() -> None:
    study = crowd_study()
    visitor = signed_in(making.owner(study))
    answer = visitor.get(reverse("api_recruitment", args=[study.pk])).json()
    codes = {"code_done": "DONE1", "code_no_work": "NOWORK1", "code_screened_out": "OUT1"}
    assert answer == {"platform": "prolific", "link": answer["link"]} | codes
    assert answer["link"].endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}")
    page = visitor.get(reverse("study_recruitment", args=[study.pk]))
    path = invitations.crowd_path(study.recruitment)
    assert path in answer["link"]
    assert page.context["entry"].partition(path)[2] == answer["link"].partition(path)[2]


def test_a_study_that_recruits_nowhere_has_no_link() -> None:
    study = making.study()
    answer = signed_in(making.owner(study)).get(reverse("api_recruitment", args=[study.pk])).json()
    assert (answer["platform"], answer["link"]) == ("none", "")


def test_participants_come_with_what_a_payment_depends_on_and_without_pseudonym() -> None:
    study = crowd_study(sentences=12, gold_share=0.5)
    prepare_pairs(study, "gold", 3)
    finished(study, P1)
    second = crowd.enter(study, P2, "s2")
    judged(second)
    judging.exclude(second, making.owner(study), "Clicked through.")
    report_annotators(study)
    answer = signed_in(making.owner(study)).get(reverse("api_participants", args=[study.pk]))
    one, two = answer.json()["results"]
    assert (one["person"], one["outcome"], one["code"], one["excluded_at"]) == (P1, "done", "DONE1", None)
    assert one["judged"] == 3
    assert one["finished_at"]
    assert 0 < one["gold"]["n"] <= 3
    assert (two["session"], two["outcome"], two["judged"], two["finished_at"]) == ("s2", "working", 1, None)
    assert two["excluded_at"]
    assert second.pseudonym not in answer.content.decode()
    entry = AuditEntry.objects.filter(study=study, action="download participants").get()
    assert entry.detail == {"people": 2}


def test_who_withdrew_is_no_participant_any_more() -> None:
    study = crowd_study()
    crowd.withdraw(crowd.enter(study, P1), erase=True)
    crowd.withdraw(crowd.enter(study, P2), erase=False)
    answer = signed_in(making.owner(study)).get(reverse("api_participants", args=[study.pk]))
    assert answer.json()["results"] == []
