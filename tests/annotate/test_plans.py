"""A plan that is frozen stays as it was, and the study tells how it differs from it."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
from django.urls import reverse

import formats.study
from annotate import exports, judging, plans, studies
from annotate.imports.restore import restore
from annotate.models import Annotator, AuditEntry, Plan, Study, System
from annotate.refusal import Refusal
from annotate.reports.plan import deviations
from tests.annotate import scored
from tests.annotate.making import owner
from tests.annotate.test_api import API, client_of
from tests.annotate.test_monitor import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return scored.scored_study(judgments_per_pair=3)


def frozen(study: Study, **fields: object) -> Plan:
    plans.save(study, owner(study), hypotheses="lead wins", exclusions="too fast", **fields)
    return plans.freeze(study, owner(study))


def known(study: Study) -> str:
    return "\n".join(deviations(plans.plan_of(Study.objects.get(pk=study.pk))))


def test_a_frozen_plan_cannot_be_changed_nor_frozen_again(study: Study) -> None:
    plan = frozen(study, judgments=100)
    for act in (lambda: plans.save(study, owner(study), hypotheses="x"), lambda: plans.freeze(study, owner(study))):
        with pytest.raises(Refusal, match="frozen"):
            act()
    stored = Plan.objects.get(study=study)
    assert (stored.hypotheses, stored.digest) == ("lead wins", plan.digest)
    assert plans.digest_of(stored) == stored.digest
    entry = AuditEntry.objects.get(study=study, action="freeze plan")
    assert entry.detail["digest"] == plan.digest


def test_a_plan_without_hypotheses_is_not_frozen_and_one_that_is_not_frozen_has_no_deviations(study: Study) -> None:
    with pytest.raises(Refusal):
        plans.freeze(study, owner(study))
    with pytest.raises(Refusal):
        plans.deviate(study, owner(study), "It rained.")
    assert known(study) == ""


def test_the_digest_tells_when_a_plan_was_changed_behind_our_back(study: Study) -> None:
    frozen(study)
    assert "digest is another one" not in signed_in(study).get(reverse("study_plan", args=[study.pk])).content.decode()
    Plan.objects.filter(study=study).update(hypotheses="lead loses")
    assert "digest is another one" in signed_in(study).get(reverse("study_plan", args=[study.pk])).content.decode()


def test_the_study_tells_how_it_differs_from_its_plan(study: Study) -> None:
    judgments = exports.make_archive(study).judgments
    plan = frozen(study, judgments=len(judgments), annotators=40)
    assert "were given before the plan was frozen" in known(study)
    assert "(planned: 40)" in known(study)
    assert f"{len(judgments)} judgments count (planned" not in known(study)
    assert "A setting was changed" not in known(study)
    studies.change_settings(study, owner(study), judgments_per_topic=7)
    System.objects.create(study=study, name="late")
    judging.exclude(Annotator.objects.filter(study=study).first(), owner(study), "too fast")
    text = known(study)
    before = plan.snapshot["settings"]["judgments_per_topic"]
    assert f"judgments per topic: 7 (planned: judgments per topic: {before})" in text
    assert "Systems that were added: late." in text
    assert "1 annotator is excluded" in text


def test_the_page_goes_from_a_form_to_a_frozen_plan_with_its_deviations(study: Study) -> None:
    client, here = signed_in(study), reverse("study_plan", args=[study.pk])
    save, deviate = (reverse(name, args=[study.pk]) for name in ("plan_save", "plan_deviation"))
    assert client.post(save, {"freeze": "1"}).status_code == 422
    client.post(save, {"hypotheses": "lead wins", "judgments": "12"})
    assert 'value="12"' in client.get(here).content.decode()
    client.post(save, {"hypotheses": "lead wins", "judgments": "13", "freeze": "1"})
    page = client.get(here).content.decode()
    assert Plan.objects.get(study=study).digest in page
    assert "Save and freeze" not in page
    assert "The plan is frozen" in client.post(save, {"hypotheses": "x"}, follow=True).content.decode()
    client.post(deviate, {"text": "It <rained>."})
    assert "It &lt;rained&gt;." in client.get(here).content.decode()
    assert client.post(deviate, {"text": " "}).status_code == 422


def test_programs_write_freeze_and_read_the_plan(study: Study) -> None:
    client, here = client_of(owner(study)), f"{API}/studies/{study.pk}/plan/"
    assert client.get(here).json()["frozen_at"] is None
    assert client.put(here, {"hypotheses": "lead wins", "annotators": 3}, format="json").status_code == 200
    frozen_plan = client.post(f"{here}freeze/").json()
    assert frozen_plan["snapshot"]["settings"]["title"] == study.title
    assert client.put(here, {"hypotheses": "x"}, format="json").status_code == 409
    assert client.post(f"{here}deviations/", {"text": "It rained."}, format="json").status_code == 201
    plan = client.get(here).json()
    assert [row["text"] for row in plan["noted"]] == ["It rained."]
    assert any("(planned: 3)" in deviation for deviation in plan["deviations"])


def test_an_archive_carries_the_plan_and_one_without_is_read(study: Study) -> None:
    plan = frozen(study, judgments=5)
    plans.deviate(study, owner(study), "It rained.")
    written = io.BytesIO()
    formats.study.write(exports.make_archive(study), written)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.zip"
        file.write_bytes(written.getvalue())
        again = restore(formats.study.read(file), owner(study), title="Again")
    taken = Plan.objects.get(study=again)
    assert (taken.digest, plans.digest_of(taken), taken.frozen_at) == (plan.digest, plan.digest, plan.frozen_at)
    assert [row.text for row in taken.deviations.all()] == ["It rained."]
