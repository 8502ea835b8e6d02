"""What the recipe of a metric says: studies can choose it, the worker scores with it, commands know it."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import ComputedScore
from preferendum.cli.__main__ import main
from tests.annotate import making, scored
from tests.annotate.everything import program

pytestmark = pytest.mark.django_db


def test_a_metric_can_be_chosen_in_the_settings_of_a_study_and_no_other_can():
    study = making.study()
    api, here = program(making.owner(study)), f"/api/v1/studies/{study.pk}/"
    assert api.patch(here, {"metric_names": "rouge-1,letters"}, format="json").status_code == 200
    assert api.patch(here, {"metric_names": "rouge-1,numbers"}, format="json").status_code == 400


def test_the_worker_scores_with_a_metric_and_the_page_calls_it_by_its_title(client: Client):
    study = scored.scored_study(metric_names="letters")
    scored.score_with_metrics(study)
    computed = ComputedScore.objects.get(metric="letters", summary__system__name="off")
    assert computed.score == len("Xylophones")
    client.force_login(making.owner(study))
    page = client.get(reverse("analysis", args=[study.pk, "scores-of-summaries"])).content.decode()
    assert "Size" in page


def test_a_metric_is_known_on_the_command_line(tmp_path, capsys: pytest.CaptureFixture[str]):
    topic = making.TOPIC | {"topic_id": "M0"}
    (tmp_path / "topics.jsonl").write_bytes(making.lines(topic, topic | {"topic_id": "M1"}))
    status = main(["agree", str(tmp_path / "topics.jsonl"), "--dimension", "all", "--metrics", "letters"])
    assert (status, "Size    letters" in capsys.readouterr().out) == (0, True)
