"""Tables are read whatever their columns are called and whatever program wrote them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import preferendum as pf
from preferendum import formats
from preferendum.cli.__main__ import main
from preferendum.formats.records import Existing, ExistingTopic, Seen

LONG = "The council met on Monday and decided to repair the bridge before winter comes."
ROWS = [(doc, system, f"{system} says of {doc}: {LONG}") for doc in ("001", "002") for system in ("gpt-4", "lead")]
PLAIN = "urn:x"


def csv(header: str, rows: list[tuple[str, ...]], separator: str = ",") -> str:
    lines = [header.split(","), *rows]
    return "".join(separator.join(f'"{cell}"' for cell in line) + "\n" for line in lines)


def read(path: Path, **options: object) -> formats.Bundle:
    return formats.read(path, existing=Existing({}), **options)  # type: ignore[arg-type]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def written(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


Write = Callable[[str, str | bytes], Path]


def systems(bundle: formats.Bundle) -> dict[str, list[str]]:
    return {topic.topic_id: [summary.name for summary in topic.summaries] for topic in bundle.topics}


def cell(value: str, column: int, row: int) -> str:
    name = f"{chr(65 + column)}{row}"
    if value.startswith("<c r="):
        return value
    if value.startswith("<"):
        return value.replace("<c", f'<c r="{name}"', 1)
    return f'<c r="{name}" t="inlineStr"><is><t>{value}</t></is></c>'


def xlsx(rows: list[tuple[str, ...]], more: Mapping[str, str] | None = None) -> dict[str, str]:
    """A spreadsheet; a value that begins with < is the cell itself."""
    body = "".join(
        f'<row r="{row}">' + "".join(cell(value, column, row) for column, value in enumerate(cells)) + "</row>"
        for row, cells in enumerate(rows, 1)
    )
    styles = '<xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="14"/>'
    return {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook xmlns:r="{PLAIN}"><sheets><sheet name="S" r:id="a"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<R><Relationship Id="a" Target="worksheets/s.xml"/></R>',
        "xl/styles.xml": f"<styleSheet><cellXfs>{styles}</cellXfs></styleSheet>",
        "xl/worksheets/s.xml": f"<worksheet><sheetData>{body}</sheetData></worksheet>",
        **(more or {}),
    }


def ods(body: str) -> dict[str, str]:
    names = f'xmlns:office="{PLAIN}o" xmlns:table="{PLAIN}t" xmlns:text="{PLAIN}x"'
    return {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": f"<office:document-content {names}><table:table>{body}</table:table></office:document-content>",
    }


def ods_row(*cells: str, times: int = 1) -> str:
    held = "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in cells)
    return f'<table:table-row table:number-rows-repeated="{times}">{held}</table:table-row>'


Zipped = Callable[[Mapping[str, str | bytes]], Path]
EXPECTED = {"001": ["gpt-4", "lead"], "002": ["gpt-4", "lead"]}


@pytest.mark.parametrize(
    "header", ["doc,system,summary", "Doc ID,Model,Output Text", "DOCUMENT,modèle,Zusammenfassung", "题目,系统,摘要"]
)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_columns_are_known_by_their_names(write: Write, header: str, separator: str) -> None:
    assert systems(read(write("t.csv", csv(header, ROWS, separator)))) == EXPECTED


def test_a_spreadsheet_is_read_alone_and_in_a_zip(write: Write, zipped: Zipped, tmp_path: Path) -> None:
    path = zipped(xlsx([("doc", "system", "summary"), *ROWS]))
    assert systems(read(path)) == EXPECTED
    content = path.read_bytes()
    assert systems(read(zipped({"mine.xlsx": content, "README.txt": "About."}))) == EXPECTED


def test_an_open_document_is_read_with_its_spaces_and_without_its_comments(zipped: Zipped) -> None:
    marked = "a<text:s text:c='2'/><text:span>b</text:span><text:tab/>c"
    rows = [
        ods_row("doc", "system", "summary"),
        ods_row("1", "x", marked),
        ods_row("1", "y", "d"),
        ods_row(times=10**9),
    ]
    (topic,) = read(zipped(ods("".join(rows)))).topics
    assert [summary.text for summary in topic.summaries] == ["a  b\tc", "d"]


def test_objects_of_texts_are_a_table(write: Write) -> None:
    rows = [dict(zip(("item", "model", "output"), row, strict=True)) for row in ROWS]
    for whole in (rows, {"data": rows}, {"name": "mine", "size": 4, "rows": rows}):
        assert systems(read(write("t.json", json.dumps(whole, indent=1)))) == EXPECTED
        assert systems(read(write("t.json", json.dumps(whole)))) == EXPECTED
    assert systems(read(write("t.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))) == EXPECTED


def test_an_object_that_says_itself_what_its_list_is_about_is_no_table(write: Write) -> None:
    rows = [dict(zip(("item", "output"), row[::2], strict=True)) for row in ROWS]
    with pytest.raises(formats.Refused, match='"outputs" holds several values'):
        read(write("t.json", json.dumps({"model": "large", "outputs": rows})))


def test_topics_as_a_list_are_topics(write: Write) -> None:
    topic = {"topic_id": "T", "documents": [{"id": "d", "text": "One."}]}
    for whole in ([topic], topic, {"made": "2026-11-29", "topics": [topic]}):
        assert [own.topic_id for own in read(write("t.json", json.dumps(whole, indent=1))).topics] == ["T"]


def test_one_column_a_system_becomes_rows(write: Write) -> None:
    table = csv("doc,gpt-4,lead,short", [("1", LONG, LONG + " So.", LONG), ("2", LONG, LONG + " No.", "")])
    assert systems(read(write("t.csv", table))) == {"1": ["gpt-4", "lead", "short"], "2": ["gpt-4", "lead"]}


def test_documents_and_references_come_in_columns(write: Write) -> None:
    rows = [(LONG, "Gold: " + LONG, system, f"By {system}.") for system in ("x", "y")]
    (topic,) = read(write("t.csv", csv("article,highlights,model,summary", rows))).topics
    assert [len(texts) for texts in (topic.documents, topic.references, topic.summaries)] == [1, 1, 2]
    assert topic.topic_id.startswith("The council met on Monday")


def test_documents_alone_begin_topics(write: Write) -> None:
    bundle = read(write("t.csv", csv("id,article", [("1", LONG), ("2", LONG + " So.")])))
    assert [(topic.topic_id, len(topic.documents)) for topic in bundle.topics] == [("1", 1), ("2", 1)]


def test_columns_that_say_nothing_are_asked_about_with_a_guess(write: Write) -> None:
    path, tables = write("t.csv", csv("foo,bar,baz", ROWS)), list[Seen]()
    with pytest.raises(formats.Refused, match=r"columns that do not say what they hold.*--columns topic=COLUMN"):
        read(path, look=tables.append)
    assert dict(tables[0].roles) == {"foo": "topic", "bar": "system", "baz": "text"}
    assert len(tables[0].rows) == 3
    assert systems(read(path, columns={"topic": "foo", "system": "bar", "text": "baz"})) == EXPECTED


def test_a_column_that_no_table_has_is_refused(write: Write) -> None:
    with pytest.raises(formats.Refused, match='no column "nobody"'):
        read(write("t.csv", csv("doc,system,summary", ROWS)), columns={"topic": "nobody"})


def test_votes_are_read_by_the_columns_that_hold_them(write: Write) -> None:
    path = write("v.csv", "item;left_system;right_system;pick\n1;x;y;x\n1;x;y;right\n1;x;y;tie\n")
    votes = pf.read(path, columns={"winner": "pick"}).preferences
    assert [(vote.a, vote.b, vote.winner, vote.of) for vote in votes] == [
        ("x", "y", winner, "summaries") for winner in ("a", "b", "tie")
    ]


VOTES = [("d1", "gpt-4", "lead", "a", "p1"), ("d1", "gpt-4", "lead", "a", "p2"), ("d2", "lead", "gpt-4", "tie", "p1")]


@pytest.mark.parametrize(
    "header",
    [
        "topic,a,b,winner,annotator",
        "topic,a,b,choice,annotator",
        "doc,left,right,preferred,worker_id",
        "Item ID,System 1,System 2,Which is better?,Participant",
        "doc,system1,system2,preference,rater",
        "item,summary_a,summary_b,better_summary,evaluator",
        "question_id,model_a,model_b,winner,annotator",
        "item,candidateA,candidateB,verdict,coder",
        "Dokument,Modell A,Modell B,Gewinner,Annotatorin",
        "documento,sistema_1,sistema_2,ganador,evaluador",
        "文档,系统A,系统B,选择,标注员",
    ],
)
@pytest.mark.parametrize(
    ("first", "tie"),
    [("a", "tie"), ("A", "Tie"), ("1", "equal"), ("left", "same"), ("System A", "A=B"), ("gpt-4", "draw")],
)
def test_votes_are_known_by_the_usual_names(write: Write, header: str, first: str, tie: str) -> None:
    rows = [(*vote[:3], {"a": first, "tie": tie}[vote[3]], vote[4]) for vote in VOTES]
    found = pf.read(write("v.csv", csv(header, rows))).preferences
    assert [(vote.topic, vote.a, vote.b, vote.winner, vote.annotator) for vote in found] == VOTES


@pytest.mark.parametrize("header", ["topic,a,b,choice,annotator", "doc,left,right,preferred,worker"])
def test_votes_as_objects_are_known_as_well(header: str) -> None:
    found = pf.read([dict(zip(header.split(","), vote, strict=True)) for vote in VOTES]).preferences
    assert [(vote.topic, vote.a, vote.b, vote.winner, vote.annotator) for vote in found] == VOTES


def test_a_topic_may_be_named_by_its_text(write: Write) -> None:
    rows = [(LONG, "x", "y", "x", "p1"), (LONG + " So.", "x", "y", "y", "p1")]
    found = pf.read(write("v.csv", csv("prompt,system_1,system_2,choice,user", rows))).preferences
    assert len({vote.topic for vote in found}) == 2
    assert all(vote.topic.startswith("The council met on Monday") for vote in found)


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        ("doc,left,right,choice", ("d", "b", "a", "a"), 'found "a", which is a side and the system on the other'),
        ("doc,system_a,system_b,score,better", ("d", "x", "y", "3", "-1"), 'better: found the text "-1"'),
        ("doc,system_a,system_b,better", ("d", "x", "y", "0"), 'better: found the text "0"'),
        ("doc,model_1,model_2,model_3,choice", ("d", "x", "y", "z", "x"), "no column a, b among"),
        ("doc,system_a,system_b,outcome_of_test", ("d", "x", "y", "x"), "no column winner among .* for preferences"),
        ("prompt,response_a,response_b,choice", (LONG, LONG + "1", LONG + "2", "a"), "no column a, b among"),
    ],
)
def test_votes_that_are_not_clear_are_refused(write: Write, header: str, row: tuple[str, ...], said: str) -> None:
    with pytest.raises(formats.Refused, match=said):
        pf.read(write("v.csv", csv(header, [row])))


def test_a_table_in_another_encoding_says_so(write: Write) -> None:
    table = csv("文档,系统A,系统B,选择", [("甲", "x", "y", "x")]).encode("gb18030")
    with pytest.raises(formats.Refused, match="not UTF-8"):
        pf.read(write("v.csv", table))


def test_other_columns_stay_whatever_they_are_called(write: Write) -> None:
    path = write("v.csv", "item,left,right,pick,note,score\n1,x,y,x,Fine.,3\n")
    (vote,) = pf.read(path, columns={"winner": "pick"}).preferences
    assert (vote.extra["note"], vote.extra["score"]) == ("Fine.", "3")
    bundle = read(write("t.csv", csv("doc,system,summary,worker", [(*row, "w1") for row in ROWS])))
    assert bundle.topics[0].summaries[0].extra == {"worker": "w1"}


def test_our_own_table_with_its_names_in_capitals_is_the_same(write: Write) -> None:
    row = {"topic": "T", "of": "summaries", "a": "x", "b": "y", "winner": "a", "annotator": "m", "kind": "machine"}
    row |= {"seconds": "2.5", "at": "2026-01-31T16:53:19Z", "confidence": "0.9", "note": "Shorter."}
    (small,), (large,) = (
        pf.read(write("p.csv", csv(header, [tuple(row.values())]))).preferences
        for header in (",".join(row), ",".join(row).upper())
    )
    assert large == small
    assert (large.extra["kind"], large.seconds, large.at) == ("machine", 2.5, row["at"])


def test_a_preference_set_without_names_of_systems_says_which_columns_to_name(write: Write) -> None:
    row = {"prompt": LONG, "chosen": LONG + " Yes.", "rejected": LONG + " No."}
    with pytest.raises(formats.Refused, match=r"--columns a=COLUMN,b=COLUMN"):
        read(write("p.jsonl", json.dumps(row)))


def test_topics_with_one_summary_alone_begin_no_study(write: Write) -> None:
    with pytest.raises(formats.Refused, match='one summary alone of topics: "U"'):
        read(write("t.csv", "topic,system,text\nT,x,a\nT,y,b\nU,x,c\n"))


def test_one_cause_is_said_once(write: Write) -> None:
    rows = [(f"amazon-{n % 6:02}", f"s{n}", "x") for n in range(78)]
    with pytest.raises(formats.Refused) as refused:
        formats.read(write("t.csv", csv("topic,system,text", rows)), existing=Existing({"T": ExistingTopic({"d": 1})}))
    (complaint,) = refused.value.complaints
    assert '6 topics that are unknown: "amazon-00", "amazon-01"' in str(complaint)
    assert "(78 rows)" in str(complaint)
    with pytest.raises(formats.Refused, match=r'found the text "x" \(9 rows\)'):
        formats.read(write("p.csv", csv("topic,a,b,winner", [("T", "d:0", "d:1", "x")] * 9)))


def test_cells_keep_their_types_and_what_is_odd_is_said(zipped: Zipped) -> None:
    rows = [("doc", "system", "summary"), ("001", "x", "<c><v>3</v></c>"), ("001", "y", "z" * 32_767)]
    rows += [("<c s='2'><v>46053</v></c>", "x", "<c s='1'><v>0.5</v></c>"), ("<c s='2'><v>46053</v></c>", "y", "b")]
    bundle = read(zipped(xlsx(rows)))
    assert systems(bundle) == {"001": ["x", "y"], "2026-01-31": ["x", "y"]}
    assert bundle.topics[0].summaries[0].text == "3"
    remarks = " ".join(remark.said % remark.params for remark in bundle.remarks)
    assert "1 texts of exactly 32,767" in remarks
    assert "2 cells are dates" in remarks
    assert "1 cells are percentages, read as numbers: 50% as 0.5" in remarks


HEADER = ("doc", "system", "summary")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (xlsx([HEADER, ("<c><v>1234567890123456789</v></c>", "x", "a")]), "more than 15 digits"),
        (xlsx([HEADER, ("1", "x", "<c><f>HYPERLINK(1)</f><v>2</v></c>")]), "a formula in column 3"),
        (xlsx([HEADER, ("1", "x", "<c t='e'><v>#REF!</v></c>")]), "the error"),
        (xlsx([HEADER], {"xl/externalLinks/externalLink1.xml": "<x/>"}), "links to other files"),
        (xlsx([HEADER, ("1", "x", "<c><v>1e999</v></c>")]), "cannot be read"),
        (xlsx([HEADER, ("1", "x", "<c>" + "<d>" * 10_000 + "</d>" * 10_000 + "</c>")]), "cannot be read"),
        (xlsx([HEADER], {"xl/styles.xml": "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"}), "cannot be read"),
        (xlsx([HEADER, ("1", "x", "<c r='XFD1048576'><v>1</v></c>")]), "more than 100 columns"),
        (ods(ods_row("topic", "system", "text") + ods_row("1", "x", "a", times=10**9)), "more than 200000"),
        (
            ods(ods_row(*HEADER) + "<table:table-row><table:table-cell table:formula='=1'/></table:table-row>"),
            "a formula",
        ),
        ({"[Content_Types].xml": "<x/>", "word/document.xml": "<x/>"}, "an Office document"),
    ],
)
def test_hostile_spreadsheets_are_refused(zipped: Zipped, files: Mapping[str, str], said: str) -> None:
    path = zipped(files)
    with pytest.raises(formats.Refused, match=said):
        read(path)


def test_a_zip_of_bombs_in_spreadsheets_is_refused(zipped: Zipped, tmp_path: Path) -> None:
    bomb = xlsx([HEADER], {"xl/sharedStrings.xml": "<sst>" + "<si/>" * 4_000_000 + "</sst>"})
    content = zipped(bomb).read_bytes()
    with pytest.raises(formats.Refused):
        read(zipped({f"{number}.xlsx": content for number in range(20)}))


def test_the_archive_is_still_checked(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in xlsx([HEADER, *ROWS]).items():
            file.writestr(name, content)
        file.writestr("../outside.xml", "x")
    with pytest.raises(formats.Refused, match="a path that leads out"):
        read(path)


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("doc,left,right,pick", "topic=page,text=said,a=left,b=right,winner=pick"),
        ("item,one,two,pick", "topic=page,text=said,topic=item,a=one,b=two,winner=pick"),
        ("thing,one,two,pick", "topic=thing,a=one,b=two,winner=pick"),
    ],
)
def test_judgments_beside_topics_have_columns_of_their_own(
    header: str, columns: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    page, said = ("page", "said") if "page" in columns else ("topic", "summary")
    topics = write("t.csv", csv(f"{page},system,{said}", ROWS))
    votes = write("v.csv", csv(header, [("001", "gpt-4", "lead", "gpt-4"), ("002", "gpt-4", "lead", "lead")]))
    assert main(["score", str(topics), "--preferences", str(votes), "--columns", columns]) == 0
    assert "gpt-4" in capsys.readouterr().out


def test_named_columns_of_one_table_make_no_other_certain(zipped: Zipped) -> None:
    files = {
        "one.csv": csv("thing,who,said", ROWS),
        "two.csv": csv("about,by,wrote", [(*row[:1], "long", row[2]) for row in ROWS[::2]]),
    }
    named = {"topic": "thing", "system": "who", "text": "said"}
    with pytest.raises(formats.Refused, match=r"two\.csv:1: found no column system"):
        read(zipped(files), columns=named)
    both = {"topic": ["thing", "about"], "system": ["who", "by"], "text": ["said", "wrote"]}
    assert systems(read(zipped(files), columns=both))["001"] == ["gpt-4", "lead", "long"]


@pytest.mark.parametrize("kind", ["ods", "xlsx"])
def test_sheets_that_are_not_read_are_named(kind: str, zipped: Zipped) -> None:
    first = [("doc", "system", "summary"), *ROWS]
    files = xlsx(first) if kind == "xlsx" else ods("".join(ods_row(*row) for row in first))
    book, second = ("xl/workbook.xml", '<sheet name="Votes"/></sheets>') if kind == "xlsx" else ("content.xml", "")
    more = '</table:table><table:table table:name="Votes"></table:table></office'
    files[book] = files[book].replace("</sheets>", second).replace("</table:table></office", more)
    assert 'the first of 2 sheets was read, not "Votes"' in str(read(zipped(files)).remarks[0])
