"""Which metrics a study's summaries are scored with: chosen on the form, by the API, at import; what is there stays."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotate import studies
from annotate.models import ComputedScore, Study, Topic
from annotate.refusal import Refusal
from evaluation import tasks
from preferendum.methods.metrics.rouge.scores import Rouge
from tests.annotate import scored
from tests.annotate.making import TOPIC, lines, owner
from tests.annotate.reading import signed_in, text_of
from tests.annotate.test_api import API, client_of
from tests.annotate.test_metric_pages import graded_study
from tests.annotate.visitors import filled

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded() -> Study:
    return graded_study()


def choose(study: Study, names: str) -> None:
    studies.change_settings(study, owner(study), metric_names=names)


def scored_by(study: Study) -> set[str]:
    return set(ComputedScore.objects.filter(summary__topic__study=study).values_list("metric", flat=True))


def test_only_what_is_new_is_worked_out(graded: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    score = Rouge.score
    monkeypatch.setattr(Rouge, "score", lambda self, topic: asked.append(self.name) or score(self, topic))
    before = dict(ComputedScore.objects.values_list("pk", "score"))
    choose(graded, "rouge-2, rouge-3,js,rouge-2")
    assert not Topic.objects.behind().filter(study=graded).exists()
    scored.score_with_metrics(graded)
    assert set(asked) == {"rouge-3"}
    assert scored_by(graded) == {"rouge-2", "rouge-3", "js"}
    kept = dict(ComputedScore.objects.filter(metric__in=("rouge-2", "js")).values_list("pk", "score"))
    assert kept.items() <= before.items()
    page = text_of(signed_in(graded), reverse("analysis", args=[graded.pk, "metric-agreement"]))
    text = page.partition("<tbody>")[2]
    assert all(f">{name}<" in text for name in ("ROUGE-2", "ROUGE-3", "JS divergence"))
    assert "ROUGE-SU4" not in text


def test_new_texts_are_scored_anew(graded: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = Topic.objects.get(study=graded, name="T1")
    asked: list[Any] = []
    score = Rouge.score
    monkeypatch.setattr(Rouge, "score", lambda self, texts: asked.append(self.name) or score(self, texts))
    Topic.objects.filter(pk=topic.pk).score_anew()
    tasks.score_with_metrics(topic.pk)
    assert asked == []
    topic.references.update(text="It rained. Nobody was hurt.", sentences=None)
    Topic.objects.filter(pk=topic.pk).score_anew()
    tasks.score_with_metrics(topic.pk)
    assert set(asked) == {"rouge-1", "rouge-2", "rouge-su4"}


def test_a_study_may_have_its_own_scores_alone(graded: Study) -> None:
    choose(graded, "")
    scored.score_with_metrics(graded)
    assert scored_by(graded) == set()


def test_a_metric_that_nobody_knows_is_named(graded: Study) -> None:
    with pytest.raises(Refusal) as refused:
        choose(graded, "rouge-1,rouge-9")
    assert refused.value.fields["metric_names"][0].startswith(
        "There is no metric called “rouge-9”. There are: rouge-1, "
    )
    client, address = signed_in(graded), reverse("study_settings", args=[graded.pk])
    form = client.get(address).context["form"]
    text = client.post(address, filled(form) | {"metric_names": "bleu"}).content.decode()
    assert "There is no metric called “bleu”." in text
    api, here = client_of(owner(graded)), f"{API}/studies/{graded.pk}/"
    assert "bleu" in str(api.patch(here, {"metric_names": "bleu"}, format="json").json())
    assert api.patch(here, {"metric_names": "kl"}, format="json").json()["metric_names"] == "kl"


def test_a_study_is_imported_with_its_metrics(tmp_path: Any) -> None:
    user = owner(graded_study())
    path = tmp_path / "topics.jsonl"
    path.write_bytes(lines(TOPIC))
    call_command("import_study", str(path), owner=user.username, title="Few", metric_names="js")
    assert Study.objects.get(title="Few").metric_names == "js"
    with pytest.raises(CommandError, match="There is no metric called “bleu”"):
        call_command("import_study", str(path), owner=user.username, title="None", metric_names="bleu")
