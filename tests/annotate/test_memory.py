"""A topic that the worker has too little memory for is refused in words, and what it takes is less than we say."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.core.management import call_command

from annotate import imports
from annotate.imports import memory
from annotate.models import Study, Topic, Upload
from preferendum import formats
from tests import studies
from tests.annotate.making import lines
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db


def wide(sentences: int) -> formats.Topic:
    return formats.Topic("wide", documents=(formats.Text("d", sentences=tuple(f"s {k}" for k in range(sentences))),))


def record(sentences: int) -> bytes:
    documents = [{"id": "d", "sentences": [f"s {k}" for k in range(sentences)]}]
    return lines({"topic_id": "wide", "documents": documents})


def uploaded(sentences: int) -> Upload:
    upload = studies.receive(studies.study(), record(sentences))
    imports.process(upload)
    return upload


@pytest.fixture
def room_for_100(settings) -> None:
    settings.WORKER_MEMORY = memory.needed(100)


@pytest.mark.usefixtures("room_for_100")
def test_an_upload_of_too_many_sentences_is_refused_with_what_it_needs_and_what_helps():
    upload = uploaded(5000)
    (complaint,) = upload.complaints
    assert upload.state == Upload.State.REFUSED
    assert formats.message(formats.Complaint(**complaint)) == (
        'topic "wide": sentences: found 5000, for which the worker needs 1126 MB of memory; it has 576 MB; expected at '
        "most 100; divide the topic into several, or ask the operator of this site to raise PREFERENDUM_WORKER_MEMORY"
    )


@pytest.mark.usefixtures("room_for_100")
def test_an_upload_of_as_many_sentences_as_there_is_memory_for_is_ready():
    assert uploaded(100).state == Upload.State.READY


@pytest.mark.usefixtures("room_for_100")
def test_nothing_of_a_topic_that_is_too_large_is_stored_on_any_way():
    with pytest.raises(formats.Refused):
        imports.store(studies.study(), formats.Bundle(topics=(wide(101),)))
    assert not Topic.objects.exists()


@pytest.mark.usefixtures("room_for_100")
def test_the_command_line_says_it_too(tmp_path, capsys):
    owner = studies.study().created_by
    (tmp_path / "topics.jsonl").write_bytes(record(101))
    with pytest.raises(SystemExit):
        call_command("import_study", tmp_path / "topics.jsonl", owner=owner.username, title="wide")
    assert "for which the worker needs" in capsys.readouterr().err
    assert Study.objects.count() == 1


@pytest.mark.parametrize("most", [10, 500, 3999, 4000, 4001, 9000, 20_000])
def test_as_many_sentences_as_we_say_fit_and_no_more(most, settings):
    settings.WORKER_MEMORY = memory.needed(most)
    assert memory.needed(memory.most_sentences()) <= settings.WORKER_MEMORY < memory.needed(memory.most_sentences() + 1)


FIT = """
import resource
from benchmarks.archive.memory import topic
from preferendum.scoring.evaluate import evaluate
resource.setrlimit(resource.RLIMIT_DATA, ({limit}, {limit}))
evaluate(topic(1500, {judgments}, 5)).errors.errors()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody counts a process's data")
@pytest.mark.parametrize("judgments", [200, 2500])
def test_a_fit_takes_no_more_memory_than_we_say(judgments):
    code = FIT.format(limit=memory.needed(1500) - memory.KEPT, judgments=judgments)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
