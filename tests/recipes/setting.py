"""What the recipe of a setting says: it is in a form, in the API, in archives and in the audit log."""

import re

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate.models import AuditEntry, Study
from tests.annotate import making
from tests.annotate.everything import program

pytestmark = pytest.mark.django_db


def test_no_migration_is_missing_after_a_setting():
    call_command("makemigrations", "--check", "--dry-run")


def test_a_setting_is_asked_for_on_the_page_of_settings_with_its_words_and_bounds(client: Client):
    study = making.study()
    client.force_login(making.owner(study))
    page = client.get(reverse("study_settings", args=[study.pk])).content.decode()
    assert "Shortest sentence" in page
    assert "In words. Shorter sentences are not judged." in page
    (field,) = re.findall(r"<input[^>]*shortest_sentence[^>]*>", page)
    assert {'type="number"', 'value="3"', 'min="0"'} <= {*field.rstrip(">").split()}


def test_a_setting_is_read_and_changed_by_the_api_and_its_change_is_in_the_audit_log():
    study = making.study()
    api, here = program(making.owner(study)), f"/api/v1/studies/{study.pk}/"
    assert api.get(here).json()["shortest_sentence"] == 3
    assert api.patch(here, {"shortest_sentence": 100}, format="json").status_code == 400
    assert api.patch(here, {"shortest_sentence": 5}, format="json").json()["shortest_sentence"] == 5
    assert AuditEntry.objects.get(study=study, action="change settings").detail["changes"] == {
        "shortest_sentence": [3, 5]
    }


def test_a_setting_comes_back_with_the_archive_of_a_study(tmp_path):
    study = making.study(shortest_sentence=7)
    making.prepare(*making.take_in(study))
    call_command("export_study", study.pk, output=tmp_path / "study.zip", verbosity=0)
    call_command("import_study", tmp_path / "study.zip", owner=making.owner(study).username)
    assert list(Study.objects.values_list("shortest_sentence", flat=True)) == [7, 7]
