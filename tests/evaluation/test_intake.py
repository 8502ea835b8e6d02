"""Studies come in whole or not at all, and go out and come back as the same study."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotate import exports, imports, judging
from annotate import studies as verbs
from annotate.imports import kept, uploads
from annotate.imports.restore import restore
from annotate.models import (
    Annotator,
    Assignment,
    Fit,
    Item,
    Judgment,
    Pair,
    Score,
    SourceDocument,
    Study,
    SystemScore,
    Topic,
    Upload,
    Utility,
)
from evaluation import tasks
from preferendum import formats
from preferendum.cli import __main__ as command_line
from preferendum.formats.archive import study as study_archive
from preferendum.formats.records import Preference
from tests import studies

pytestmark = pytest.mark.django_db


def leaderboard(made: Study) -> list[tuple[object, ...]]:
    rows = SystemScore.objects.filter(ranking__study=made).order_by("ranking__scored_by", "rank", "system__name")
    return list(rows.values_list("system__name", "score", "low", "high", "rank", "rank_low", "rank_high", "topics"))


def utilities(made: Study) -> list[tuple[object, ...]]:
    rows = Utility.objects.filter(sentence__item_set__study=made).order_by(
        "scored_by", "sentence__item_set__topic__position", "sentence__position"
    )
    return list(
        rows.values_list(
            "sentence__item_set__topic__name", "sentence__document__name", "sentence__index", "utility", "strength"
        )
    )


def scores(made: Study) -> list[tuple[object, ...]]:
    rows = Score.objects.filter(summary__topic__study=made).order_by(
        "scored_by", "summary__topic__position", "summary__system__name"
    )
    return list(rows.values_list("summary__topic__name", "summary__system__name", "score"))


def judged_study() -> Study:
    """A study of two topics with everything that judging leaves behind: skips, undone answers, ties, a late answer."""
    made = studies.study(ties_allowed=True, neither_allowed=True, judgments_per_pair=2, prior=0.5)
    studies.wide_topic(made, 15, "wide")
    imports.store(made, studies.example_bundle())
    for number in range(4):
        annotator = judging.join(made)
        for turn in range(8):
            assignment = studies.judge(annotator, ("left", "right", "tie", "neither")[(number + turn) % 4])
            if turn == 3:
                judging.undo(assignment)
        judging.skip(judging.draw(annotator), "unclear")
    tasks.catch_up(made.pk)
    return made


def test_a_bundle_comes_in_with_sentences_and_judgments() -> None:
    made = studies.study()
    (topic,) = imports.store(made, studies.example_bundle())
    assert list(Item.objects.filter(item_set=topic.pk).values_list("text", flat=True)) == studies.EXAMPLE["sentences"]
    assert Judgment.objects.counted().filter(assignment__item_set=topic.pk).count() == 3
    assert topic.is_cut


def test_paragraphs_are_counted_where_a_text_was_cut_by_us() -> None:
    made = studies.study()
    text = formats.Text("d", "It rained. Rivers rose.\n\nSchools closed.")
    imports.store(made, formats.Bundle(topics=(formats.Topic("t", (text,)),)))
    assert list(Item.objects.values_list("text", "paragraph", "index", "position")) == [
        ("It rained.", 0, 0, 0),
        ("Rivers rose.", 0, 1, 1),
        ("Schools closed.", 1, 2, 2),
    ]


def test_a_topic_is_cut_in_its_own_language_or_the_study_s() -> None:
    made = studies.study(language="ja")
    text = formats.Text("d", "雨が降った。川が増水した。")
    topics = (formats.Topic("own", (text,), language="ja"), formats.Topic("study", (text,)))
    imports.store(made, formats.Bundle(topics=topics))
    assert (
        Item.objects.filter(item_set__topic__name="own").count()
        == Item.objects.filter(item_set__topic__name="study").count()
        == 2
    )


def test_what_is_wrong_at_the_end_leaves_nothing_of_the_beginning() -> None:
    made = studies.study()
    bundle = studies.example_bundle()
    wrong = Preference("ohio", "d1:0", "d1:99", "a")
    with pytest.raises(judging.importing.UnknownSentence):
        imports.store(made, replace(bundle, preferences=(*bundle.preferences, wrong)))
    assert not Topic.objects.exists()
    assert not Judgment.objects.exists()


def test_judgments_may_come_after_the_topics_they_are_about() -> None:
    made = studies.study()
    bundle = studies.example_bundle()
    imports.store(made, replace(bundle, preferences=()))
    imports.store(made, formats.Bundle(preferences=bundle.preferences))
    assert Judgment.objects.count() == 3


def test_what_was_simulated_stays_simulated() -> None:
    made = studies.study(counted_kinds="all")
    bundle = studies.example_bundle()
    marked = (replace(bundle.preferences[0], extra={"kind": "simulated", "note": "x"}), *bundle.preferences[1:])
    imports.store(made, replace(bundle, preferences=marked))
    kinds = Judgment.objects.order_by("pk").values_list("assignment__annotator__kind", flat=True)
    assert sorted(kinds) == ["human", "human", "simulated"]
    assert [one.extra for one in exports.preferences(made) if one.extra] == [{"kind": "simulated", "note": "x"}]


def test_an_upload_is_stored_once_however_many_workers_try() -> None:
    made = studies.study()
    content = b'{"topic_id": "M1", "documents": [{"id": "d1", "text": "It rained."}]}\n'
    upload = studies.receive(made, content)
    imports.process(upload)
    imports.confirm(upload, made.created_by)
    late = Upload.objects.get(pk=upload.pk)
    bundle = kept.load(late)
    imports.process(upload)
    uploads._store(late, replace(bundle, topics=(replace(bundle.topics[0], topic_id="M2"),)), ends=0.0)
    assert Topic.objects.count() == 1


def test_a_study_that_was_exported_and_taken_back_gives_the_identical_leaderboard(tmp_path: Path) -> None:
    made = judged_study()
    assert len(leaderboard(made)) == 7 + 6  # as published, and without the one that has no importance
    before = leaderboard(made), utilities(made), scores(made)
    answers = list(Judgment.objects.order_by("pk").values_list("revision", "answer", "seconds", "at"))
    call_command("export_study", made.pk, output=tmp_path / "study.zip", verbosity=0, stdout=io.StringIO())
    verbs.delete_study(made, made.created_by)
    assert not Topic.objects.exists()
    owner = studies.person()
    call_command("import_study", tmp_path / "study.zip", owner=owner.username, stdout=io.StringIO())
    back = Study.objects.get()
    assert (leaderboard(back), utilities(back), scores(back)) == before
    assert list(Judgment.objects.order_by("pk").values_list("revision", "answer", "seconds", "at")) == answers
    assert Assignment.objects.filter(state="skipped").count() == 4


def test_a_study_may_be_taken_back_beside_itself(tmp_path: Path) -> None:
    made = judged_study()
    output = tmp_path / "study.zip"
    call_command("export_study", made.pk, output=output, stdout=io.StringIO())
    copy = restore(study_archive.read(output), studies.person(), title="Again")
    tasks.catch_up(copy.pk)
    assert copy.title == "Again"
    assert leaderboard(copy) == leaderboard(made)
    assert utilities(copy) == utilities(made)


def test_sentences_come_back_as_they_were_cut_and_not_as_we_would_cut_them(tmp_path: Path) -> None:
    made = studies.study()
    text = formats.Text("d", "It rained. Rivers rose. Schools closed.")
    imports.store(made, formats.Bundle(topics=(formats.Topic("t", (text,)),)))
    document = SourceDocument.objects.get()
    imports.mend(document, ["It rained. Rivers rose.", "Schools closed."], made.created_by)
    tasks.catch_up(made.pk)
    call_command("export_study", made.pk, output=tmp_path / "study.zip", stdout=io.StringIO())
    back = restore(study_archive.read(tmp_path / "study.zip"), studies.person())
    tasks.catch_up(back.pk)
    texts = Item.objects.filter(item_set__study=back).values_list("text", flat=True)
    assert list(texts) == ["It rained. Rivers rose.", "Schools closed."]


# The commands


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = tmp_path / "news" / "topics" / "rain" / "documents"
    documents.mkdir(parents=True)
    (documents / "d1.txt").write_text("It rained in Ohio. Rivers rose. Schools closed.")
    summaries = tmp_path / "news" / "topics" / "rain" / "summaries"
    summaries.mkdir()
    (summaries / "lead.txt").write_text("It rained in Ohio.")
    (tmp_path / "news" / "preferences.csv").write_text("topic,a,b,winner\nrain,d1:0,d1:1,a\n")
    return tmp_path / "news"


def run(*arguments: object, **options: object) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_a_folder_becomes_a_study_with_its_leaderboard(folder: Path) -> None:
    owner = studies.person()
    out, err = run("import_study", folder, "--title", "Weather", "--owner", owner.username)
    made = Study.objects.get(title="Weather")
    assert made.memberships.get().user == owner
    assert "1 topics, 1 summaries, 1 judgments" in out
    assert "1. lead" in out
    assert err == ""
    assert Fit.objects.get(scored_by="recommended").judgments == 1
    assert Pair.objects.count() == 1


def test_whoever_made_the_judgments_can_be_said(folder: Path) -> None:
    run("import_study", folder, "--title", "W", "--owner", studies.person().username, "--kind", "simulated")
    assert Annotator.objects.get().kind == "simulated"
    assert (Study.objects.get().counted_kinds, Fit.objects.get(scored_by="recommended").judgments) == ("people", 0)


def test_whose_judgments_count_can_be_said(folder: Path) -> None:
    owner = studies.person().username
    options = ("--kind", "simulated", "--counted-kinds", "people-and-simulated")
    run("import_study", folder, "--title", "W", "--owner", owner, *options)
    assert Fit.objects.get(scored_by="recommended").judgments == 1


def test_an_exported_study_says_itself_whose_judgments_count(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    owner, archive = studies.person().username, folder / "study.zip"
    options = ("--kind", "simulated", "--counted-kinds", "people-and-simulated")
    run("import_study", folder, "--title", "W", "--owner", owner, *options)
    run("export_study", Study.objects.get().pk, output=archive)
    found = command_line.evaluate("score", archive)
    assert (found["topics"][0]["judgments"], found["left_out"]) == (1, {})
    assert command_line.main(["score", str(archive), "--counted-kinds", "people"]) == 2
    assert "whose settings say which kinds count" in capsys.readouterr().err


def test_outputs_of_prompts_become_a_study_with_its_win_rates_and_go_out_and_come_back(tmp_path: Path) -> None:
    data, owner = tmp_path / "arena", studies.person().username
    data.mkdir()
    summaries = [{"system": system, "text": f"{system} says so."} for system in ("x", "y", "z")]
    prompts = [{"topic_id": f"T{number}", "question": "Why?", "summaries": summaries} for number in range(9)]
    (data / "topics.jsonl").write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    rows = [f"T{number},{pair},a,p{number % 3},summaries\n" for number in range(9) for pair in ("x,y", "y,z", "x,z")]
    (data / "preferences.csv").write_text("topic,a,b,winner,annotator,of\n" + "".join(rows))
    out, err = run("import_study", data, "--title", "Arena", "--owner", owner, "--compares", "summaries")
    assert "9 topics, 27 summaries, 27 judgments" in out
    assert [line.split()[1] for line in out.splitlines() if "%" in line or "percentage" in line] == ["x", "y", "z"]
    made = Study.objects.get()
    before = leaderboard(made), scores(made)
    assert len(before[0]) == 3
    run("export_study", made.pk, output=tmp_path / "study.zip")
    verbs.delete_study(made, made.created_by)
    run("import_study", tmp_path / "study.zip", "--owner", owner)
    back = Study.objects.get()
    assert (leaderboard(back), scores(back)) == before
    assert (back.compares, err) == ("summaries", "")


def test_a_file_that_is_refused_leaves_nothing_and_says_where_it_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text('{"topic_id": "a", "documents": [{"id": "d", "text": "x"}]}\n{"topic_id": "a", "documents": 5}\n')
    err = io.StringIO()
    with pytest.raises(SystemExit) as stopped:
        call_command("import_study", str(path), title="T", owner=studies.person().username, stderr=err)
    assert stopped.value.code == 2
    assert "topics.jsonl" in err.getvalue()
    assert "2" in err.getvalue()
    assert not Study.objects.exists()


def test_what_was_replaced_is_told_and_refused_where_nothing_may_be(folder: Path) -> None:
    (folder / "topics" / "rain" / "documents" / "d2.txt").write_text("Snow\x8d fell.")
    begin = ("import_study", folder, "--owner", studies.person().username, "--title")
    with pytest.raises(CommandError, match="--strict") as refused:
        run(*begin, "Strict", "--strict")
    assert refused.value.returncode == 2
    assert not Study.objects.exists()
    _out, err = run(*begin, "Weather")
    assert "d2.txt: 1 control characters" in err
    assert Study.objects.get().title == "Weather"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"owner": "nobody", "title": "T"}, "no user called nobody"),
        ({"owner": "ann"}, "--title"),
    ],
)
def test_what_is_missing_is_said(folder: Path, options: dict[str, str], said: str) -> None:
    User.objects.create_user("ann")
    with pytest.raises(CommandError, match=said) as refused:
        call_command("import_study", str(folder), **options)
    assert refused.value.returncode == 2


def test_a_study_that_is_not_there_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no study 99"):
        call_command("export_study", 99, output=tmp_path / "x.zip")
    assert not list(tmp_path.iterdir())


def test_an_export_that_breaks_off_leaves_no_half_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = studies.example_study()

    def full(_: object, file: io.BytesIO) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(formats.archive.study, "write", full)
    with pytest.raises(CommandError, match="No space left"):
        call_command("export_study", made.pk, output=tmp_path / "study.zip")
    assert not list(tmp_path.iterdir())


def test_judgments_leave_as_preferences_and_come_back_as_the_same_scores(tmp_path: Path) -> None:
    made, _ = studies.example_study()
    tasks.catch_up(made.pk)
    lines = [
        json.dumps({"topic": one.topic, "a": one.a, "b": one.b, "winner": one.winner})
        for one in exports.preferences(made)
    ]
    path = tmp_path / "preferences.jsonl"
    path.write_text("\n".join(lines) + "\n")
    other = studies.study(**studies.PAPER)
    imports.store(other, replace(studies.example_bundle(), preferences=()))
    existing = uploads.existing_of(other)
    imports.store(other, formats.read(path, existing=existing))
    tasks.catch_up(other.pk)
    assert scores(other) == scores(made)


def test_new_topics_that_nobody_judged_ask_for_no_work() -> None:
    made = studies.study()
    imports.store(made, replace(studies.example_bundle(), preferences=()))
    assert studies.to_do() == []
    studies.judge(judging.join(made))
    assert [task for task, _ in studies.to_do()] == ["refit_topic"]


def test_storing_a_thousand_topics_asks_little_more_of_the_database_than_ten(
    django_assert_max_num_queries: Callable[..., AbstractContextManager[object]],
) -> None:
    text = formats.Text("d", "It rained. Rivers rose.")
    topics = tuple(formats.Topic(f"T{number}", (text,)) for number in range(1000))
    with django_assert_max_num_queries(100):
        imports.store(studies.study(), formats.Bundle(topics=topics))
    assert Item.objects.count() == 2000
