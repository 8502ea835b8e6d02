"""A table is read whatever its columns are called; what is not certain is asked on one page."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.test import Client
from django.urls import reverse

from annotate import imports
from annotate.models import Study, Summary, Topic, Upload
from annotate.refusal import Refusal
from tests.annotate import making
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db

TABLE = b"doc;system;summary\n1;lead;Rain fell.\n1;last;It was dry.\n2;lead;Snow fell.\n2;last;Ice.\n"
UNCLEAR = b"thing;who;said\n1;lead;Rain fell.\n1;last;It was dry.\n2;lead;Snow fell.\n2;last;Ice.\n"


@pytest.fixture
def study() -> Study:
    return making.study()


def read(study: Study, content: bytes, name: str = "mine.csv") -> Upload:
    upload = making.receive(study, content, name)
    imports.process(upload)
    return upload


def test_a_study_begins_with_a_table_of_summaries_whose_columns_have_other_names(study: Study) -> None:
    making.store(study, TABLE, "mine.csv")

    assert {*Topic.objects.values_list("name", flat=True)} == {"1", "2"}
    assert Summary.objects.count() == 4


def test_columns_that_are_not_certain_are_asked_about_and_nothing_is_stored(study: Study) -> None:
    upload = read(study, UNCLEAR)

    assert upload.state == Upload.State.ASKED
    page = signed_in(making.owner(study)).get(reverse("upload", args=(study.pk, upload.key))).content.decode()
    assert page.count("<select") == 3
    assert "It was dry." in page
    assert "Snow fell." in page
    assert "Ice." not in page
    assert not Topic.objects.exists()


def test_chosen_columns_are_read_and_proposed_for_the_next_file_of_the_same_header(study: Study) -> None:
    upload, visitor = read(study, UNCLEAR), signed_in(making.owner(study))
    visitor.post(
        reverse("upload_columns", args=(study.pk, upload.key)),
        {"column-0": "topic", "column-1": "system", "column-2": "text"},
    )
    imports.process(upload)
    again = read(study, UNCLEAR.replace(b"1", b"7"))

    assert upload.state == Upload.State.READY
    assert len(upload.preview["topics"]) == 2
    assert again.state == Upload.State.ASKED
    assert again.table
    assert again.table["roles"] == {"thing": "topic", "who": "system", "said": "text"}


def test_columns_that_make_no_table_of_ours_are_refused(study: Study) -> None:
    upload, visitor = read(study, UNCLEAR), signed_in(making.owner(study))
    answer = visitor.post(
        reverse("upload_columns", args=(study.pk, upload.key)), {"column-0": "topic", "column-1": "topic"}, follow=True
    )

    upload.refresh_from_db()
    assert upload.state == Upload.State.ASKED
    assert "Say at least which columns" in answer.content.decode()


def test_a_role_that_columns_do_not_have_is_refused(study: Study) -> None:
    with pytest.raises(Refusal, match="nonsense is none of"):
        imports.choose_columns(read(study, UNCLEAR), making.owner(study), {"nonsense": ["who"]})


def test_the_columns_of_a_table_that_was_read_can_be_chosen_anew(study: Study) -> None:
    upload = read(
        study, b"doc,lead,last,gossip\n" + b"1,%s,%s,%s\n" % ((b"Rain fell on the hills of the north. " * 2,) * 3)
    )
    assert upload.state == Upload.State.READY
    assert upload.preview["systems"] == ["gossip", "last", "lead"]

    columns = {"topic": ["doc"], "systems": ["lead", "last"], "": ["gossip"]}
    imports.choose_columns(upload, making.owner(study), columns)
    imports.process(upload)
    assert upload.state == Upload.State.READY
    assert upload.preview["systems"] == ["last", "lead"]


def test_unknown_topics_are_said_once(study: Study) -> None:
    making.take_in(study)
    upload = read(study, TABLE)

    assert upload.state == Upload.State.REFUSED
    assert len(upload.complaints) == 1
    assert upload.complaints[0]["params"]["rows"] == 4
    assert upload.complaints[0]["params"]["count"] == 2


def begin(visitor: Client, content: bytes, name: str) -> str:
    from django.core.files.uploadedfile import SimpleUploadedFile

    file = SimpleUploadedFile(name, content)
    sent = {"title": "Mine", "language": "en", "file": file}
    return visitor.post(reverse("study_new"), sent, follow=True).content.decode()


def test_a_first_file_that_is_refused_leaves_no_study() -> None:
    visitor = signed_in(making.person(is_superuser=True))
    page = begin(visitor, b"%PDF-1.7 words", "words.pdf")

    assert "a PDF" in page
    assert 'accept=".csv' in page
    assert not Study.objects.exists()
    assert not Upload.objects.exists()


def test_a_first_file_whose_columns_are_to_be_chosen_begins_a_study() -> None:
    visitor = signed_in(making.person(is_superuser=True))
    begin(visitor, UNCLEAR, "mine.csv")

    imports.process(Upload.objects.get())
    assert Upload.objects.get().state == Upload.State.ASKED


def test_a_program_sends_columns_as_json(study: Study) -> None:
    visitor = signed_in(making.owner(study))
    columns = json.dumps({"topic": "thing", "system": "who", "text": "said"})
    path = reverse("api_uploads", args=(study.pk,))
    answer = visitor.post(f"{path}?filename=mine.csv&columns={columns}", UNCLEAR, "application/octet-stream")
    assert answer.status_code == 202, answer.content
    upload = Upload.objects.get()
    imports.process(upload)
    assert upload.state == Upload.State.READY

    wrong = visitor.post(f"{path}?filename=mine.csv&columns=[3]", UNCLEAR, "application/octet-stream")
    assert wrong.status_code == 400
    assert "columns" in wrong.content.decode()


def test_two_tables_of_a_zip_file_are_asked_about_one_after_the_other(study: Study) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("one.csv", UNCLEAR)
        archive.writestr("two.csv", b"about;by;wrote\n1;long;Much rain fell.\n2;long;Much snow fell.\n")
    upload, visitor = read(study, packed.getvalue(), "both.zip"), signed_in(making.owner(study))
    for name in ("one.csv", "two.csv"):
        assert upload.state == Upload.State.ASKED
        assert f"both.zip/{name}" in visitor.get(reverse("upload", args=(study.pk, upload.key))).content.decode()
        roles = {"column-0": "topic", "column-1": "system", "column-2": "text"}
        visitor.post(reverse("upload_columns", args=(study.pk, upload.key)), roles)
        imports.process(upload)
    assert upload.state == Upload.State.READY
    assert [topic["summaries"] for topic in upload.preview["topics"]] == [3, 3]
