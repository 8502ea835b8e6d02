"""The same figures about people for programs as on the pages."""

from __future__ import annotations

import pytest

from annotate.models import Study
from annotate.reports import annotators
from evaluation import tasks
from tests.annotate import making, scored
from tests.annotate.everything import program, study_once

COVERAGE = ("sentences", "judged", "pairs", "judgments", "parts", "strong_components")

pytestmark = pytest.mark.django_db


def examined_study() -> Study:
    made = scored.scored_study(judgments_per_pair=3, smooth="none")
    scored.judge(made, ("rain", "d1:0", "d1:1", "b"), ("rain", "d2:2", "d1:0", "a"), pseudonym="bob")
    assert tasks.catch_up(made.pk) == {}
    tasks.report_annotators(made.pk)
    for topic in made.topics.all():
        tasks.examine_topic(topic.pk)
    tasks.examine_study(made.pk)
    return made


made_study, study = study_once(examined_study)


def test_judges_agreement_and_examination_say_what_the_pages_say(study) -> None:
    api, here = program(making.owner(study)), f"/api/v1/studies/{study.pk}"
    listed = api.get(f"{here}/annotators/figures/").json()["results"]
    assert {one["annotator"]["pseudonym"]: one["judged"] for one in listed} == {
        one.annotator.pseudonym: one.judged for one in annotators.rows_of(study)
    }
    bob = next(one for one in listed if one["annotator"]["pseudonym"] == "bob")
    assert bob["left"] == {"k": 0, "n": 0, "value": None, "interval": None}, "files do not say what was left"
    assert bob["figures"]["fit"]["n"] == 2
    agreement = api.get(f"{here}/results/agreement-of-annotators/").json()
    assert agreement["tables"][0]["rows"][0]["pairs"] == 2
    influence = api.get(f"{here}/results/influence/").json()
    assert influence["tables"][0]["name"] == "systems"
    assert influence["tables"][-1]["rows"][0]["annotators"] == 2
    smallest = api.get(f"{here}/results/smallest-set/").json()
    assert (smallest["tables"], smallest["is_old"]) == ([], True)
    (covered,) = api.get(f"{here}/results/coverage/").json()["tables"]
    assert [row["topic"] for row in covered["rows"]] == ["rain", "snow"]
    assert covered["columns"] == ["topic", *COVERAGE]
    (misfits,) = api.get(f"{here}/results/misfits/").json()["tables"]
    assert misfits["rows"][0]["sentence"].count(":") == 1


def test_the_description_has_a_type_for_everything_that_the_worker_finds_out(client) -> None:
    said = client.get("/api/v1/schema/", headers={"accept": "application/vnd.oai.openapi+json"})
    components = said.json()["components"]["schemas"]
    assert components["Bounded"]["properties"]["low"] == {"type": "number", "format": "double", "nullable": True}
    for record in ("Figure", "WhatIf", "SystemResult", "Part"):
        assert components[record]["required"]


def test_a_program_asks_first_and_then_excludes_and_takes_back(study) -> None:
    api, here = program(making.owner(study)), f"/api/v1/studies/{study.pk}"
    asked = api.post(f"{here}/what-if/", {"annotators": ["bob"]}, format="json").json()
    assert (asked["state"], asked["annotators"]) == ("waiting", ["bob"])
    tasks.answer_what_if(study.whatifquestions.get().pk)
    ready = api.get(f"{here}/what-if/{asked['key']}/").json()
    assert ready["figures"]["after"]["judgments"] == ready["figures"]["before"]["judgments"] - 2
    sent = {"annotators": ["bob"], "reason": "A coin."}
    (bob,) = api.post(f"{here}/exclusions/", sent, format="json").json()
    assert bob["excluded_at"] is not None
    (bob,) = api.post(f"{here}/exclusions/", sent | {"leave_out": False}, format="json").json()
    assert bob["excluded_at"] is None
    acts = api.get(f"{here}/audit-log/").json()["results"]
    assert [one["action"] for one in acts][-2:] == ["exclude annotator", "take annotator back in"]
    assert acts[-1]["detail"]["reason"] == "A coin."


def test_a_name_that_nobody_has_changes_nothing(study) -> None:
    api, here = program(making.owner(study)), f"/api/v1/studies/{study.pk}"
    refused = api.post(f"{here}/exclusions/", {"annotators": ["bob", "eve"], "reason": "x"}, format="json")
    assert refused.status_code == 400
    assert "eve" in refused.json()["error"]["fields"]["annotators"][0]
    assert not study.annotators.filter(excluded_at__isnull=False).exists()
    assert api.post(f"{here}/exclusions/", {"annotators": ["bob"]}, format="json").status_code == 400
