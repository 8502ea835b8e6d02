"""Judgments with their texts, preferences to train on, and the card: as others load them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import warnings
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotate import exports, judging
from annotate.models import Annotator, Judgment, Study
from preferendum.formats.records import Preference
from tests.annotate import making
from tests.annotate.everything import study_once
from tests.annotate.judging_study import joined, judged
from tests.annotate.test_comparing_summaries import record, study_of
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db

PARTS = ("judgments-with-texts.jsonl", "judgments-with-texts.csv", "chosen-rejected.jsonl", "README.md")
HOSTILE = '=HYPERLINK("rain") is what the engineer wrote, and she sent it to the town.'
#: As people load them, in a process of its own: the library would reach for the Hub to count its users.
LOAD = """
import json, sys, pandas, datasets
judgments, table, preferred, folder = sys.argv[1:]
frame = pandas.read_json(judgments, lines=True)
sheet = pandas.read_csv(table)
rows = datasets.load_dataset("json", data_files=judgments, split="train", cache_dir="cache")
pairs = datasets.load_dataset("json", data_files=preferred, split="train", cache_dir="cache")
named = {
    name: datasets.load_dataset(folder, *asked, split="train", cache_dir="cache")
    for name, asked in {"judgments": (), "preferences": ("preferences",)}.items()
}
print(json.dumps({
    "frame": list(frame.columns), "rows": [len(frame), len(sheet), len(rows), len(pairs)],
    "equal": frame["left"].tolist() == rows["left"], "sheet": set(sheet) == set(frame),
    "types": {name: str(kind) for name, kind in rows.features.items()},
    "named": {name: len(one) for name, one in named.items()},
}))
"""


@dataclass(frozen=True)
class Described:
    """What mlcroissant says of a description, and reads with it: texts by column, of each set of records."""

    errors: list[str]
    warnings: list[str]
    records: dict[str, list[dict[str, str]]]


def described(file: Path) -> Described:
    with warnings.catch_warnings():  # of pandas and pyparsing, about how mlcroissant calls them
        warnings.simplefilter("ignore")
        import mlcroissant

        data = mlcroissant.Dataset(jsonld=file)
        assert data.metadata.ctx.conforms_to.value == "http://mlcommons.org/croissant/1.1"
        records = {
            one.name: [
                {key: value.decode() if isinstance(value, bytes) else str(value) for key, value in row.items()}
                for row in data.records(one.id)
            ]
            for one in data.metadata.record_sets
        }
    issues = data.metadata.ctx.issues
    return Described(sorted(issues.errors), sorted(issues.warnings), records)


def folder_of(study: Study, folder: Path, **asked: str) -> dict[str, bytes]:
    """What is published, unzipped into a folder."""
    client = APIClient()
    client.force_authenticate(making.owner(study))
    answer = client.get(reverse("api_dataset", args=[study.pk]), asked)
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as files:
        files.extractall(folder)
        return {name: files.read(name) for name in files.namelist()}


def judged_study() -> Study:
    """Of both questions, judged by people and a machine, with every answer, an undone one and texts of every kind."""
    study = study_of(
        record() | {"question": "Which tells more?", "title": "Rain"}, record("M2"), compares="both",
        judgments_per_pair=5, pairs_per_annotator=50, summary_share=0.5, ties_allowed=True,
        neither_allowed=True, counted_kinds="all",
    )  # fmt: skip
    for kind in ("human", "machine"):
        annotator = joined(study, kind=kind)
        for number in range(24):
            judged(annotator, ("left", "right", "tie", "neither")[number % 4])
    judging.undo(Judgment.objects.latest("pk").assignment)
    return study


made_study, study = study_once(judged_study)


def fetched(study: Study, part: str) -> bytes:
    client = Client()
    client.force_login(making.owner(study))
    response = client.get(reverse("study_export", args=[study.pk]) + part)
    return b"".join(response.streaming_content)


def test_every_judgment_that_counts_is_there_as_it_was_shown(study):
    rows = [json.loads(line) for line in fetched(study, PARTS[0]).splitlines()]
    preferences = list(exports.preferences(study))
    counted = Judgment.objects.counted().filter(assignment__item_set__study=study)
    assert len(rows) == len(preferences) == counted.count() == 47
    by_id = {row.pk: row for row in counted.select_related("assignment__pair__first", "assignment__pair__second")}
    shown = {(row.at, row.assignment.left.text, row.assignment.right.text) for row in by_id.values()}
    assert {(datetime.fromisoformat(row["at"]), row["left"], row["right"]) for row in rows} == shown
    assert {row["of"] for row in rows} == {"sentences", "summaries"}
    assert {row["question"] for row in rows if row["topic"] == "M1" and row["of"] == "sentences"} == {
        "Which tells more?"
    }
    assert {row["question"] for row in rows if row["of"] == "summaries"} == {study.summary_question}
    assert {row["kind"] for row in rows} == {"human", "machine"}
    assert {row["answer"] for row in rows} == {"left", "right", "tie", "neither"}
    assert len({tuple(row) for row in rows}) == 1, "every row has the same keys"


def test_preferences_to_train_on_have_the_documents_as_their_prompt_and_no_ties(study):
    rows = [json.loads(line) for line in fetched(study, PARTS[2]).splitlines()]
    about = [one for one in exports.preferences(study) if one.of == "summaries"]
    decided = [one for one in about if one.winner in "ab"]
    assert [(row["chosen_system"], row["rejected_system"]) for row in rows] == [
        (one.a, one.b) if one.winner == "a" else (one.b, one.a) for one in decided
    ]
    summaries = {(s.topic.name, s.system.name): s.whole for topic in study.topics.all() for s in topic.summaries.all()}
    assert all(row["chosen"] == summaries[row["topic"], row["chosen_system"]] for row in rows)
    document = study.topics.get(name="M1").documents.first().whole
    assert all(document in row["prompt"] for row in rows if row["topic"] == "M1")
    card = fetched(study, "README.md").decode()
    assert f"{len(rows)} rows about whole summaries" in card
    assert f"left out: {len(about) - len(decided)}" in card


def test_a_prompt_without_documents_is_the_prompt(study):
    outputs = [{"system": name, "text": f"{name} answers."} for name in ("ann", "bob")]
    study = study_of({"topic_id": "P1", "question": "Why does it rain?", "summaries": outputs}, compares="summaries")
    judged(joined(study))
    (row,) = (json.loads(line) for line in fetched(study, PARTS[2]).splitlines())
    assert row["prompt"] == "Why does it rain?"
    assert json.loads(fetched(study, PARTS[0]))["prompt"] == "Why does it rain?"


def test_all_of_it_loads_into_pandas_and_hugging_face_datasets_as_it_is(study, tmp_path):
    for part in PARTS:
        name = part if part == "README.md" else f"rain-{part}"
        (tmp_path / name).write_bytes(fetched(study, part))
    files = [str(tmp_path / f"rain-{part}") for part in PARTS[:3]]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *files, str(tmp_path)],
        cwd=tmp_path, env=environment | {"PYTHONPATH": f"{ROOT}:{environment.get('PYTHONPATH', '')}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout.splitlines()[-1])
    judgments = len(Path(files[0]).read_bytes().splitlines())
    preferred = len(Path(files[2]).read_bytes().splitlines())
    assert loaded["rows"] == [judgments, judgments, judgments, preferred]
    assert loaded["named"] == {"judgments": judgments, "preferences": preferred}
    assert loaded["equal"]
    assert loaded["sheet"]
    assert "float64" in loaded["types"]["seconds"]
    assert "float64" in loaded["types"]["design_weight"]


def test_a_description_in_croissant_says_what_the_files_hold(study, tmp_path):
    for part in (PARTS[0], PARTS[2]):
        (tmp_path / f"rain-{part}").write_bytes(fetched(study, part))
    (tmp_path / "rain-croissant.json").write_bytes(fetched(study, "croissant.json"))
    found = described(tmp_path / "rain-croissant.json")
    assert found.errors == []
    assert ["license" in one for one in found.warnings] == [True], "it is for whoever publishes to choose"
    for records, part in (("judgments", PARTS[0]), ("preferences", PARTS[2])):
        rows = [json.loads(line) for line in fetched(study, part).splitlines()]
        read = found.records[records]
        assert [row[f"{records}/annotator"] for row in read] == [row["annotator"] for row in rows]
        assert {key.partition("/")[2] for row in read for key in row} == set(rows[0])
    shown = [row["judgments/left"] for row in found.records["judgments"]]
    assert shown == [json.loads(line)["left"] for line in fetched(study, PARTS[0]).splitlines()]


def test_the_whole_folder_is_of_one_moment_and_loads_by_its_description(study, tmp_path):
    files = folder_of(study, tmp_path)
    assert sorted(files) == ["README.md", "croissant.json", f"rain-{PARTS[2]}", f"rain-{PARTS[0]}"]
    assert all(files[f"rain-{part}"] == fetched(study, part) for part in (PARTS[0], PARTS[2]))
    assert files["README.md"] == fetched(study, "README.md")
    assert json.loads(files["croissant.json"]) == json.loads(fetched(study, "croissant.json"))
    assert len(described(tmp_path / "croissant.json").records["judgments"]) == 47


def test_without_texts_it_says_what_was_preferred_to_what_and_shows_none(study, tmp_path):
    files = folder_of(study, tmp_path, texts="false")
    assert sorted(files) == ["README.md", "croissant.json", "rain-judgments.jsonl"]
    full = [json.loads(line) for line in fetched(study, PARTS[0]).splitlines()]
    rows = [json.loads(line) for line in files["rain-judgments.jsonl"].splitlines()]
    assert rows == [{key: row[key] for key in row if key not in ("prompt", "left", "right")} for row in full]
    texts = {row[side] for row in full for side in ("left", "right")}
    assert not [name for name, content in files.items() for text in texts if text.encode() in content]
    assert b"The texts are left out" in files["README.md"]
    assert described(tmp_path / "croissant.json").records.keys() == {"judgments"}
    client = Client()
    client.force_login(making.owner(study))
    assert client.get(reverse("api_dataset", args=[study.pk]), {"texts": "maybe"}).status_code == 400


def test_nobody_is_named_but_by_a_pseudonym(study, tmp_path):
    named = Annotator.objects.filter(study=study, kind="human").get()
    User.objects.filter(pk=making.owner(study).pk).update(username="ada.lovelace", email="ada@example.org")
    Annotator.objects.filter(pk=named.pk).update(user=making.owner(study))
    everything = b"".join(folder_of(study, tmp_path).values())
    assert named.pseudonym.encode() in everything
    assert b"lovelace" not in everything
    assert b"ada@" not in everything
    Annotator.objects.filter(pk=named.pk).update(is_unnamed=True)
    assert named.pseudonym.encode() not in b"".join(folder_of(study, tmp_path).values())


def test_conversations_are_described_as_far_as_croissant_has_types(tmp_path):
    turns = [{"role": "user", "content": "Why does it rain?"}]
    outputs = [
        {"system": name, "turns": [*turns, {"role": "assistant", "content": f"{name} answers."}]} for name in "ab"
    ]
    study = study_of({"topic_id": "P1", "summaries": outputs}, compares="summaries")
    judged(joined(study))
    folder_of(study, tmp_path)
    (row,) = described(tmp_path / "croissant.json").records["preferences"]
    assert row["preferences/chosen_system"] in "ab"
    assert "preferences/prompt" not in row


def test_a_spreadsheet_runs_nothing_of_it():
    sentences = [HOSTILE, "It rains in the whole valley today."]
    study = study_of({"topic_id": "M1", "documents": [{"id": "d", "sentences": sentences}]}, compares="sentences")
    judged(joined(study))
    table = fetched(study, PARTS[1]).decode()
    assert "'=HYPERLINK" in table
    assert not [line for line in table.splitlines() if line.startswith("=")]


def test_a_large_file_that_begins_with_imported_judgments_loads_too(tmp_path):
    """What imports lack, or say in their own way, must not decide what the rest is taken for."""
    sentences = [f"It rained for {number} days in the valley. " + "So they said. " * 200 for number in range(9)]
    topic = {"topic_id": "M1", "documents": [{"id": "d", "sentences": sentences}]}
    study = study_of(topic, compares="sentences", judgments_per_topic=100_000)
    given = [
        Preference(
            "M1", "d:0", f"d:{1 + number % 8}", "a", f"w{number}", None, "2026-01-31T16:53:19Z", {"reason": ["odd"]}
        )
        for number in range(4_000)
    ]
    judging.import_judgments(study, given, Annotator.Kind.HUMAN)
    judged(joined(study))
    content = fetched(study, PARTS[0])
    assert len(content) > 16 << 20, "more than is read at once"
    (tmp_path / "judgments.jsonl").write_bytes(content)
    load = (
        "from datasets import load_dataset;"
        "rows = load_dataset('json', data_files='judgments.jsonl', split='train', cache_dir='c');"
        "print(len(rows), sum(one is not None for one in rows['seconds']), set(rows['reason']))"
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(
        [sys.executable, "-c", load], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4001 1 ")
    assert "odd" not in done.stdout
