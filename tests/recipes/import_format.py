"""What the recipe of an import format says: files are read wherever files are read."""

import pytest
from django.core.management import call_command

from annotate.models import HumanScore
from preferendum import formats
from tests.annotate import making
from tests.annotate.everything import program

pytestmark = pytest.mark.django_db
STARS = b"topic,system,stars\nM000,lead,4\n"


def test_a_format_is_read_by_the_library_and_a_fault_is_named_by_line_and_field(tmp_path):
    (tmp_path / "stars.csv").write_bytes(STARS + b"M000,lead,many\n")
    (tmp_path / "topics.jsonl").write_bytes(making.lines(making.TOPIC | {"topic_id": "M000"}))
    with pytest.raises(formats.Refused) as refused:
        formats.read(tmp_path)
    (complaint,) = refused.value.complaints
    assert (complaint.file, complaint.line, complaint.field) == ("stars.csv", 3, "stars")


def test_a_format_can_be_uploaded_on_the_website_and_through_the_api():
    study = making.study()
    making.take_in(study, making.TOPIC | {"topic_id": "M000"})
    making.store(study, STARS, "stars.csv")
    assert HumanScore.objects.filter(dimension="stars").values_list("score", flat=True).get() == 4.0
    answer = program(making.owner(study)).generic(
        "POST", f"/api/v1/studies/{study.pk}/uploads/?filename=stars.csv", STARS, content_type="text/csv"
    )
    assert answer.status_code == 202


def test_a_format_is_read_on_the_command_line_in_a_folder_with_others(tmp_path):
    (tmp_path / "stars.csv").write_bytes(STARS)
    (tmp_path / "topics.jsonl").write_bytes(making.lines(making.TOPIC | {"topic_id": "M000"}))
    call_command("import_study", tmp_path, owner=making.person().username, title="Stars")
    assert HumanScore.objects.filter(dimension="stars").count() == 1


def test_a_file_near_the_new_format_is_told_of_it(tmp_path):
    (tmp_path / "none.csv").write_bytes(b"topic,stars\nT,2\n")
    with pytest.raises(formats.Refused, match=r"no column system among.*topic,system,stars for stars"):
        formats.read(tmp_path / "none.csv")
