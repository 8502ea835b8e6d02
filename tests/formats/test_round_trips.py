"""What is written is read back as it was."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preferendum import formats
from preferendum.formats.checks import strict_json
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.checks.text import blank
from preferendum.formats.pyramid import Annotation, Pyramid, Scu
from preferendum.formats.readers.preferences import weight_of
from preferendum.formats.readers.tables import Columns, read_rows, tab_separated, write_rows
from preferendum.formats.readers.topics import EMPTY_SUMMARY, INVISIBLE_SUMMARY
from preferendum.formats.records import Bundle, HumanScore, Preference, Summary, Text, Topic
from tests.conftest import SHARED
from tests.formats import strategies

ROOT = Path(__file__).resolve().parents[2]
slow = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def written(write: object, records: object, path: Path, **options: object) -> Path:
    with path.open("wb") as file:
        write(records, file, **options)  # type: ignore[operator]
    return path


@slow
@given(topics=strategies.topics())
def test_topics_with_keys_of_other_people_come_back_exactly(tmp_path: Path, topics: tuple[Topic, ...]) -> None:
    path = written(formats.write_topics, topics, tmp_path / "topics.jsonl")

    bundle = formats.read(path)
    assert replace(bundle, remarks=()) == Bundle(topics=topics)
    wholes = [summary.text or "x" * len(summary.sentences or ()) for topic in topics for summary in topic.summaries]
    said = [INVISIBLE_SUMMARY if whole.strip() else EMPTY_SUMMARY for whole in wholes if blank(whole)]
    assert [remark.said for remark in bundle.remarks] == said


@slow
@given(preferences=st.lists(strategies.preference(), min_size=1, max_size=5, unique_by=repr))
def test_preferences_come_back_exactly_from_json_lines(tmp_path: Path, preferences: list[Preference]) -> None:
    path = written(formats.write_preferences, preferences, tmp_path / "preferences.jsonl")

    expected = tuple(replace(one, extra={"kind": "human"} | one.extra) for one in preferences)
    assert formats.read(path) == Bundle(preferences=expected)


@slow
@given(preferences=st.lists(strategies.preference(with_extra=False), min_size=1, max_size=5, unique_by=repr))
def test_preferences_come_back_from_csv_with_a_word_on_who_judged(
    tmp_path: Path, preferences: list[Preference]
) -> None:
    path = written(formats.write_preferences, preferences, tmp_path / "preferences.csv", form="csv", with_of=True)

    assert formats.read(path) == Bundle(preferences=tuple(replace(one, extra={"kind": "human"}) for one in preferences))


def test_every_line_has_every_key_whatever_is_known(tmp_path: Path) -> None:
    bare = Preference("T", "d:0", "d:1", "a")
    full = Preference("T", "x", "y", "b", "w", 2.5, "2026-01-31T16:53:19Z", of="summaries")
    full = replace(full, extra={"kind": "machine", "reason": "random", "design_weight": 0.5, "drawn_for": ["x", "y"]})
    full = replace(full, extra=dict(full.extra) | {"why": "accurate", "note": "so"})
    path = written(formats.write_preferences, [bare, full], tmp_path / "preferences.jsonl")
    first, second = map(json.loads, path.read_text().splitlines())
    assert first.keys() == second.keys()
    assert [first[key] for key in ("of", "kind", "seconds", "annotator", "drawn_for")] == [
        "sentences",
        "human",
        *[None] * 3,
    ]
    assert formats.read(path).preferences == (replace(bare, extra={"kind": "human"}), full)

    summary = Summary("x", "One.", human={"overall": 1.0}, person=True, metrics={"m": 1.0})
    full_topic = Topic("T", (Text("d", "One."),), (Text("A", "One."),), (summary, Summary("y", "Two.")), "title", "?")
    topics = [Topic("M", (Text("d", None, ("One.",)),)), full_topic]
    path = written(formats.write_topics, topics, tmp_path / "topics.jsonl")
    first, second = map(json.loads, path.read_text().splitlines())
    assert first.keys() == second.keys()
    assert first["documents"][0].keys() == second["documents"][0].keys()
    assert second["summaries"][0].keys() == second["summaries"][1].keys()
    assert formats.read(path).topics == tuple(topics)


def test_the_documented_calls_of_pandas_keep_identifiers_as_they_are(tmp_path: Path) -> None:
    documented = (ROOT / "docs" / "python.md").read_text()
    assert "pd.read_json(FILE, lines=True, dtype=False)" in documented
    assert "pd.read_csv(FILE, dtype=str, keep_default_na=False)" in documented
    names = ("01", "1", "NA", "null", "2026-01-31", "1e5")
    preferences = [Preference(own, own, "x", "a", own, 1.5, "2026-01-31T16:53:19Z", of="summaries") for own in names]
    path = written(formats.write_preferences, preferences, tmp_path / "p.jsonl")
    lines = pandas.read_json(path, lines=True, dtype=False)
    path = written(formats.write_preferences, preferences, tmp_path / "p.csv", form="csv", with_of=True)
    table = pandas.read_csv(path, dtype=str, keep_default_na=False)
    for frame in (lines, table):
        assert [[*frame[column]] for column in ("topic", "a", "annotator")] == [[*names]] * 3
        assert set(frame["at"]) == {"2026-01-31T16:53:19Z"}


def test_preferences_between_sentences_are_written_as_before_there_were_others() -> None:
    lines, table = io.BytesIO(), io.BytesIO()
    preferences = [Preference("T", "d:0", "d:1", "a", annotator="w1")]
    formats.write_preferences(preferences, lines)
    formats.write_preferences(preferences, table, "csv")

    assert lines.getvalue() == (
        b'{"a":"d:0","annotator":"w1","at":null,"b":"d:1","confidence":null,"design_weight":null,"drawn_for":null,'
        b'"judge":null,"kind":"human","note":null,"of":"sentences","reason":null,"seconds":null,"topic":"T","why":null,"winner":"a"}\n'
    )
    assert table.getvalue() == (
        b"topic,a,b,winner,annotator,seconds,at,kind,reason,design_weight,why,note,confidence\r\n"
        b"T,d:0,d:1,a,w1,,,human,,,,,\r\n"
    )


def test_preferences_between_summaries_name_systems_of_the_same_files_or_of_before(tmp_path: Path) -> None:
    zipped = tmp_path / "preferences.csv"
    zipped.write_text("topic,a,b,winner,of\nT,lead,b:0,a,summaries\nT,d:0,d:1,b,\nT,d:0,d:1,b,sentences\n")
    known = formats.Existing({"T": formats.ExistingTopic({"d": 2}, frozenset({"lead", "b:0"}))})

    assert [one.of for one in formats.read(zipped, existing=known).preferences] == ["summaries", *["sentences"] * 2]

    folder = tmp_path / "data"
    folder.mkdir()
    prompt = {
        "topic_id": "T",
        "question": "Why?",
        "summaries": [{"system": "x", "text": "So."}, {"system": "y", "text": ""}],
    }
    (folder / "topics.jsonl").write_text(json.dumps(prompt))
    (folder / "more.csv").write_text("topic,system,text\nT,late,No.\n")
    (folder / "preferences.csv").write_text("topic,a,b,winner,of\nT,x,late,a,summaries\nT,x,lat,a,summaries\n")
    with pytest.raises(formats.Refused) as refused:
        formats.read(folder)
    assert [formats.message(complaint) for complaint in refused.value.complaints] == [
        'preferences.csv:3: b: found "lat", which is unknown (most similar: "late"); '
        'expected a system that summarized topic "T"'
    ]


def test_design_weights_come_back_from_csv(tmp_path: Path) -> None:
    preferences = [Preference("T", "d:0", "d:1", "a", extra={"reason": "suggested", "design_weight": 0.375})]
    path = written(formats.write_preferences, preferences, tmp_path / "preferences.csv", form="csv")

    (back,) = formats.read(path).preferences
    assert back.extra == {"kind": "human", "reason": "suggested", "design_weight": 0.375}
    assert weight_of(back) == 0.375


def test_writing_the_same_topics_twice_gives_the_same_bytes() -> None:
    topic = Topic("T", (Text("d", "One."),), extra={"z": 1, "a": 2})
    first, second = io.BytesIO(), io.BytesIO()
    formats.write_topics([topic], first)
    formats.write_topics([topic], second)

    assert first.getvalue() == second.getvalue()
    assert first.getvalue().startswith(b'{"a":2,')


def test_characters_that_other_programs_take_for_line_ends_are_escaped() -> None:
    file = io.BytesIO()
    formats.write_topics([Topic("T", (Text("d", "One\u2028two\u2029three"),))], file)

    assert len(file.getvalue().decode().splitlines()) == 1
    assert json.loads(file.getvalue())["documents"][0]["text"] == "One\u2028two\u2029three"


def test_what_a_spreadsheet_would_run_gets_an_apostrophe() -> None:
    file = io.BytesIO()
    dangerous = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "\0", "＝1", "＋1", "－1", "＠x"]
    write_rows(file, ["text"], [[text] for text in dangerous])

    for line in file.getvalue().decode().split("\r\n")[1:-1]:
        assert line.lstrip('"').startswith("'"), line


NAMES_LIKE_FORMULAS = ("-baseline", "@model", "=x", "+1", "＝1", "'=x", "''-y", "'quoted'", "'", "plain")


def test_names_that_begin_like_formulas_come_back_from_every_table_of_ours(tmp_path: Path) -> None:
    names = NAMES_LIKE_FORMULAS
    preferences = [Preference(own, own, "other", "a", own, extra={"note": own}, of="summaries") for own in names]
    path = written(formats.write_preferences, preferences, tmp_path / "p.csv", form="csv", with_of=True)
    back = formats.read(path).preferences
    assert [(p.topic, p.a, p.annotator, p.extra["note"]) for p in back] == [(own,) * 4 for own in names]
    tables = {
        "summaries": ("topic", "system", "text"),
        "human_scores": ("topic", "system", "dimension", "score", "assessor"),
        "metric_scores": ("topic", "system", "metric", "score"),
    }
    for kind, columns in tables.items():
        path = tmp_path / f"{kind}.csv"
        with path.open("wb") as file:
            write_rows(file, columns, [[-0.5 if name == "score" else own for name in columns] for own in names])
        rows = getattr(formats.read(path), kind)
        systems = [row.summary.name if kind == "summaries" else row.system for row in rows]
        assert (systems, [row.topic for row in rows]) == ([*names], [*names])


@given(text=st.text(alphabet="'=+-@＝x \t", min_size=1, max_size=6))
def test_an_apostrophe_is_neither_lost_nor_won_on_the_way(text: str) -> None:
    file = io.BytesIO()
    write_rows(file, ["text"], [[text]])
    ((_place, row),) = read_rows(io.BytesIO(file.getvalue()), Place(Complaints(), "t.csv"), Columns(("text",)))
    assert row == {"text": text}


def test_a_negative_number_is_no_formula() -> None:
    file = io.BytesIO()
    write_rows(file, ["score", "se"], [[-1.5, None]])

    assert file.getvalue() == b"score,se\r\n-1.5,\r\n"


def test_a_folder_zip_gives_topics_scores_and_preferences(tmp_path: Path, zipped: object) -> None:
    path = zipped(  # type: ignore[operator]
        {
            "my data/topics/T1/documents/d10.txt": "Ten.",
            "my data/topics/T1/documents/d2.txt": "\ufeffTwo.\r\nTwo again.",
            "my data/topics/T1/references/A.txt": "A says.",
            "my data/topics/T1/summaries/lead.txt": "Lead.",
            "my data/human_scores.csv": "topic,system,dimension,score\nT1,lead,fluency,3.5\n",
            "my data/preferences.csv": "a,b,topic,winner\nd2:0,d10:0,T1,tie\n",
            "my data/README.md": "Hello",
            "__MACOSX/my data/._x": "debris",
            "my data/topics/T1/.DS_Store": "debris",
        }
    )

    bundle = formats.read(path, name="my.zip")

    documents = (Text("d2", "Two.\nTwo again."), Text("d10", "Ten."))
    summary = Summary("lead", "Lead.", human={"fluency": 3.5})
    assert bundle.topics == (Topic("T1", documents, (Text("A", "A says."),), (summary,)),)
    assert bundle.preferences == (Preference("T1", "d2:0", "d10:0", "tie"),)
    assert bundle.human_scores == ()
    assert {remark.file for remark in bundle.remarks} == {
        "my.zip/__MACOSX/my data/._x",
        "my.zip/my data/topics/T1/.DS_Store",
        "my.zip/my data/README.md",
    }


def test_a_folder_on_disk_reads_like_its_zip(tmp_path: Path, zipped: object) -> None:
    files = {
        "topics/T1/documents/d1.txt": "One.",
        "topics/T2/documents/d1.txt": "Two.",
        "summaries.csv": 'topic,system,text,year\nT1,lead,"One, ""quoted"",\nand more",2008\n',
    }
    for name, text in files.items():
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    bundle = formats.read(tmp_path / "folder")

    assert bundle == formats.read(zipped(files))  # type: ignore[operator]
    assert bundle.topics[0].summaries == (Summary("lead", 'One, "quoted",\nand more', extra={"year": "2008"}),)


def test_a_zip_may_hold_a_topics_file_and_tables(zipped: object) -> None:
    path = zipped(  # type: ignore[operator]
        {
            "topics.jsonl": '{"topic_id": "T", "documents": [{"id": "d", "sentences": ["a b", "c d"]}]}',
            "more/late.csv": "topic,system,text\nT,lead,Lead.\n",
            "scores.csv": "topic,system,dimension,score\nT,lead,fluency,-1e2\n",
            "judged.csv": "topic,a,b,winner,annotator,seconds,at,batch\nT,d:0,d:1,a,w1,7.2,2026-01-31T16:53:19Z,7\n",
        }
    )

    bundle = formats.read(path)

    assert bundle.topics[0].summaries == (Summary("lead", "Lead.", human={"fluency": -100.0}),)
    expected = Preference("T", "d:0", "d:1", "a", "w1", 7.2, "2026-01-31T16:53:19Z", {"batch": "7"})
    assert bundle.preferences == (expected,)


def test_tables_for_a_study_that_is_there_stay_by_themselves(tmp_path: Path) -> None:
    existing = formats.Existing({"T": formats.ExistingTopic({"d": 3}, frozenset(["lead"]))})
    path = tmp_path / "scores.csv"
    path.write_text("topic,system,dimension,score\nT,lead,fluency,3\n")

    assert formats.read(path, existing=existing).human_scores == (HumanScore("T", "lead", "fluency", 3.0),)


def test_a_table_alone_with_nothing_to_hold_it_against_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "preferences.csv"
    path.write_text("topic,a,b,winner\nT,d:0,d:1,a\n")

    assert formats.read(path).preferences == (Preference("T", "d:0", "d:1", "a"),)


def test_what_topics_make_known_can_be_held_against_later_files(tmp_path: Path) -> None:
    existing = formats.existing_from([Topic("T", (Text("d", "One. Two."),))])
    path = tmp_path / "preferences.csv"
    path.write_text("topic,a,b,winner\nT,d:0,d:2,a\n")

    with pytest.raises(formats.Refused) as refused:
        formats.read(path, existing=existing)
    assert formats.message(refused.value.complaints[0]) == (
        'preferences.csv:2: b: found "d:2": document "d" has 2 sentences; expected an index from 0 to 1'
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_line_ends_and_a_byte_order_mark_make_no_difference(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "preferences.csv"
    path.write_bytes(b"\xef\xbb\xbf" + ("topic,a,b,winner" + (ending or "\n") + "T,d:0,d:1,b" + ending).encode())

    assert formats.read(path).preferences == (Preference("T", "d:0", "d:1", "b"),)


def test_decomposed_text_is_composed_and_names_are_the_same_either_way(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text('{"topic_id": "caf\\u0065\\u0301", "documents": [{"id": "d", "text": "e\\u0301te\\u0301"}]}')

    assert formats.read(path).topics == (Topic("cafe\u0301".replace("e\u0301", "é"), (Text("d", "été"),)),)


def test_bidirectional_and_invisible_characters_are_kept_as_data(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text('{"topic_id": "T", "documents": [{"id": "d", "text": "a\\u202eb\\u200bc\\u00ad\\u2028d"}]}')

    assert formats.read(path).topics[0].documents[0].text == "a\u202eb\u200bc\u00ad\u2028d"


def test_quotes_that_windows_left_as_control_characters_are_mended_and_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text('{"topic_id": "T", "documents": [{"id": "d", "text": "it\\u0092s"}]}')

    bundle = formats.read(path)

    assert bundle.topics[0].documents[0].text == "it’s"
    assert (bundle.remarks[0].line, bundle.remarks[0].field) == (1, "documents[0].text")


def test_empty_sentences_are_passed_over_and_counted_once(tmp_path: Path) -> None:
    cut = {"sentences": ["One.", "", "Two.", " \n"]}
    topic = {
        "documents": [{"id": "d"} | cut],
        "summaries": [{"system": "lead"} | cut, {"system": "mute", "sentences": [""]}],
    }
    path = tmp_path / "topics.jsonl"
    path.write_text("\n".join(json.dumps(topic | {"topic_id": f"T{number}"}) for number in range(2)))

    bundle = formats.read(path)

    for read in bundle.topics:
        assert [text.sentences for text in (*read.documents, *read.summaries)] == [("One.", "Two.")] * 2 + [()]
    assert [formats.message(remark) for remark in bundle.remarks] == [
        "topics.jsonl:1: documents[0].sentences: 10 empty sentences were ignored (here and below); "
        "those after them are counted from there",
        *(f"topics.jsonl:{line}: summaries[1].sentences: an empty summary" for line in (1, 2)),
    ]


def test_topics_with_references_need_no_documents(tmp_path: Path, zipped: object) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text(json.dumps({"topic_id": "T", "references": [{"id": "A", "text": "One."}]}))
    topic = Topic("T", (), (Text("A", "One."),))

    assert formats.read(path).topics == (topic,)
    assert formats.read(zipped({"topics/T/references/A.txt": "One."})).topics == (topic,)  # type: ignore[operator]


def test_a_table_says_which_summaries_people_wrote(tmp_path: Path, zipped: object) -> None:
    files = {
        "topics/T/references/A.txt": "Lead.",
        "late.csv": "topic,system,text,person,reference\nT,ann,Lead.,true,A\nT,bob,Other.,TRUE,\nT,lead,Lead.,,\n",
    }

    assert formats.read(zipped(files)).topics[0].summaries == (  # type: ignore[operator]
        Summary("ann", "Lead.", person=True, reference="A"),
        Summary("bob", "Other.", person=True),
        Summary("lead", "Lead."),
    )
    existing = formats.Existing({"T": formats.ExistingTopic({}, frozenset(), frozenset(["B"]))})
    path = tmp_path / "late.csv"
    path.write_text("topic,system,text,person,reference\nT,ann,Lead.,maybe,\nT,bob,Lead.,true,A\n")
    with pytest.raises(formats.Refused) as refused:
        formats.read(path, existing=existing)
    assert formats.message(refused.value.complaints[0]) == (
        'late.csv:2: person: found "maybe"; expected true, false or nothing'
    )
    path.write_text("topic,system,text,person,reference\nT,bob,Lead.,true,A\n")
    with pytest.raises(formats.Refused, match="unknown"):
        formats.read(path, existing=existing)


def test_what_several_people_gave_comes_to_its_mean(tmp_path: Path, zipped: object) -> None:
    topic = {
        "topic_id": "T",
        "documents": [{"id": "d", "text": "One."}],
        "summaries": [
            {"system": "a", "text": "", "ratings": [{"assessor": "A", "r": 1, "f": 5}, {"assessor": "B", "r": 2}]},
            {"system": "b", "text": "", "human": {"r": 3}, "raters": [{"annotator": "A", "r": 4, "rank": 1}]},
            {"system": "c", "text": "", "raters": [{"annotator": "A", "comment": "good"}]},
        ],
    }
    rows = ["T,a,r,6,C", "T,b,r,2,B", "T,b,n,1,B", "T,b,n,2,A", "T,c,r,4,", "T,c,r,2,A"]
    files = {"topics.jsonl": json.dumps(topic), "s.csv": "\n".join(["topic,system,dimension,score,assessor", *rows])}

    alone = formats.read(zipped({"topics.jsonl": files["topics.jsonl"]}))  # type: ignore[operator]
    first, second, third = alone.topics[0].summaries
    assert (first.human, first.ratings) == ({"f": 5, "r": 1.5}, {"A": {"r": 1, "f": 5}, "B": {"r": 2}})
    assert (second.human, second.ratings) == ({"r": 3}, {"A": {"r": 4, "rank": 1}})
    assert (third.human, third.ratings) == ({}, {})
    assert third.extra == {"raters": [{"annotator": "A", "comment": "good"}]}

    first, second, third = formats.read(zipped(files)).topics[0].summaries  # type: ignore[operator]
    assert (first.human, first.ratings["C"]) == ({"f": 5, "r": 3}, {"r": 6})
    assert (second.human, second.ratings["B"]) == ({"r": 3, "n": 1.5}, {"r": 2, "n": 1})
    assert (third.human, third.ratings) == ({"r": 4}, {"A": {"r": 2}})

    twice = files | {"s.csv": files["s.csv"] + "\nT,a,r,1,A"}
    with pytest.raises(formats.Refused) as refused:
        formats.read(zipped(twice), name="z")  # type: ignore[operator]
    assert formats.message(refused.value.complaints[0]).startswith('z/s.csv:8: found a second score of "a" for "r"')


def test_a_summary_is_a_persons_by_the_name_that_collections_give_it(tmp_path: Path) -> None:
    authors = ({"is_human": True}, {"is_human": False}, {"is_human": "yes"}, {"person": False, "is_human": True})
    summaries = [{"system": str(k), "text": "", **author} for k, author in enumerate(authors)]
    topic = {"topic_id": "T", "documents": [{"id": "d", "text": "One."}], "summaries": summaries}
    path = tmp_path / "topics.jsonl"
    path.write_text(json.dumps(topic))
    read = formats.read(path).topics[0].summaries
    assert [summary.person for summary in read] == [True, False, False, False]
    assert [summary.extra for summary in read] == [{}, {}, {"is_human": "yes"}, {"is_human": True}]


def test_a_line_with_a_pyramid_alone_is_of_the_topic_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "pyramids.jsonl"
    line = {"topic_id": "T", "pyramid": {"scus": [{"uid": "1"}]}}
    path.write_text(json.dumps(line))
    existing = formats.Existing({"T": formats.ExistingTopic({"d": 3})})

    assert formats.read(path, existing=existing) == Bundle(pyramids={"T": Annotation(Pyramid("", (Scu("1", "", ()),)))})
    for more in (line, line | {"title": "x"}):
        path.write_text(json.dumps(line) + "\n" + json.dumps(more))
        with pytest.raises(formats.Refused):
            formats.read(path, existing=existing)


@pytest.mark.shared("wikinews", "summeval_op")
@pytest.mark.parametrize("data", ["wikinews", "summeval_op"])
def test_real_data_is_read_whole_and_comes_back_exactly(tmp_path: Path, data: str) -> None:
    bundle = formats.read(SHARED / data / "topics.jsonl")

    assert len(bundle.topics) == {"wikinews": 3, "summeval_op": 32}[data]
    path = written(formats.write_topics, bundle.topics, tmp_path / "again.jsonl")
    assert formats.read(path).topics == bundle.topics


def test_a_number_that_a_database_made_whole_is_read_back_as_it_was_given() -> None:
    given = {"a": 1e300, "b": [10**300, {"c": -(10**22)}], "d": 2**63 - 1, "e": "9" * 30}
    assert json.loads(strict_json.line(given)) == {
        "a": 1e300,
        "b": [1e300, {"c": -1e22}],
        "d": 2**63 - 1,
        "e": "9" * 30,
    }


@pytest.mark.parametrize("said", ["robot", "Human", 1, None, ["machine"]])
def test_a_preference_of_an_unknown_kind_of_annotator_is_refused(tmp_path: Path, said: object) -> None:
    path = tmp_path / "preferences.jsonl"
    row = {"topic": "T", "a": "d:0", "b": "d:1", "winner": "a", "kind": said}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(formats.Refused, match="human, machine, simulated"):
        formats.read(path, existing=formats.Existing({"T": {"d": 2}}))


def test_a_table_for_the_clipboard_has_one_line_a_row_and_no_formula() -> None:
    text = tab_separated(("a", "b"), [("=1+1", 0.5), ("two\tcells,\nno", None)])
    assert text == 'a\tb\n\'=1+1\t0.5\n"two cells, no"\t'
