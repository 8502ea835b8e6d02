"""DUC and TAC directories, small ones of their shape with text of our own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from preferendum import formats
from preferendum.formats.records import Bundle, Summary, Text

STORY = """<DOC id="APW_ENG_20041006.0256" type="story" >
<HEADLINE>
Ferry &amp; bridge
</HEADLINE>
<TEXT>
<P>
The ferry stopped
at noon.
</P>
<P>
Nobody was hurt &MD; the &quot;bridge&quot; held.
</P>
</TEXT>
</DOC>
"""
WITHOUT_P = """<DOC>
<DOCNO> APW19981016.0240 </DOCNO>
<BODY><TEXT>
   The council met on
Friday.
   It voted 5 < 6, as <ANNOTATION>planned</ANNOTATION>.

A new paragraph.
</TEXT></BODY>
</DOC>
"""
TOPICS = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>
<tac><topic id = "D0801A" category="1"><title> Ferry </title>
<narrative>
What happened
to the ferry? &b;
</narrative><docsetA id="D0801A-A"/></topic></tac>
"""
PYRAMID = """<?xml version="1.0"?><pyramid><text><line>The ferry stopped.</line></text>
<scu uid="1" label="it stopped"><contributor label="The ferry stopped">
<part label="The ferry stopped" start="0" end="17"/></contributor></scu></pyramid>"""
PAN = (
    "<peerAnnotation>"
    + PYRAMID.partition("?>")[2]
    + """<annotation><text><line>Ferry stopped</line></text>
<peerscu uid="1" label="(1) it stopped"><contributor label="Ferry stopped">
<part label="Ferry stopped" start="0" end="13"/></contributor></peerscu>
<peerscu uid="0" label="All non-matching SCUs go here"/></annotation></peerAnnotation>"""
)

OTHER = "ignored: by its name and folder no document, topic, summary, score or Pyramid"
TAC_2008 = {
    "docs/D0801A/D0801A-A/APW_ENG_20041006.0256": STORY,
    "docs/D0801A/D0801A-B/APW_ENG_20041007.0001": STORY,
    "UpdateSumm08_test_topics.xml": TOPICS,
    "eval/ROUGE/models/D0801-A.M.100.A.C": "A ferry stopped.\nNobody was hurt.\n",
    "eval/ROUGE/peers/D0801-A.M.100.A.C": "A ferry stopped.\nNobody was hurt.\n",
    "eval/ROUGE/peers/D0801-A.M.100.A.12": "Ferry stopped\n",
    "eval/ROUGE/peers/D0801-A.M.100.A.7": "",
    "eval/BE/peers/D0801-A.M.100.A.12": "ferry|stop|subj",
    "eval/ROUGE/rouge.m.out": "numbers",
    "eval/manual/manual.peer": "D0801-A 12 0.286 5 0 A 0.276 4 2\nD0801-A 7 0 0 0 A 0 1 1\nD0801-A 99 0 0 0 A 0 1 1\n",
    "eval/manual/manual.model": "D0801-A C 16 A 0.905 5 5\n",
    "eval/manual/pyramids/D0801-A.pyr": PYRAMID,
    "eval/manual/peers/D0801-A.M.100.A.12": PAN,
}
DUC_2005 = {
    "docs/d301i/APW19981016.0240": WITHOUT_P,
    "docs/d301i/FT911-3.txt": "Plain text.\n\nOf two\nparagraphs.",
    "duc2005_topics.sgml": "<topic>\n<num> d301i </num>\n<title> Council </title>\n"
    "<narr>\nWhat was\nvoted?\n</narr>\n</topic>",
    "results/ROUGE/models/D301.M.250.I.A": "The council voted.",
    "results/ROUGE/peers/D301.M.250.I.4": '<html><body><a name="1">[1]</a> <a href="#1" id=1>It voted</a>\n'
    '<a name="2">[2]</a> <a href="#2" id=2>5 &lt; 6.</a></body></html>',
    "results/responsiveness/responsiveness.table": "Responsiveness\n\n a\n b\n topic x x who score\n ------\n"
    "D301 I A A 5\nD301 I A 4 2\nD301 I B 4 3\n",
    "results/linguistic_quality/linguistic_quality.table": "h\nh\nh\nh\nh\nh\nh\nD301 I A 4 1 5\nD301 I A 4 2 3\n",
    "pyramid/processed_pans.txt": "301 4 0.5 0.25 9 1\n",
}


def on_disk(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def said(bundle: Bundle) -> list[tuple[str, str]]:
    return [(remark.file, remark.said % remark.params) for remark in bundle.remarks]


def test_a_tac_directory_gives_topics_summaries_scores_and_pyramids(tmp_path: Path) -> None:
    bundle = formats.read(on_disk(tmp_path, TAC_2008))

    first, second = bundle.topics
    assert (first.topic_id, first.title, first.question, first.language) == (
        "D0801-A", "Ferry", "What happened to the ferry? &b;", "en",
    )  # fmt: skip
    assert (second.topic_id, second.base, first.base) == ("D0801-B", "D0801-A", "")
    text = 'The ferry stopped at noon.\nNobody was hurt – the "bridge" held.'
    assert first.documents == (Text("APW_ENG_20041006.0256", text, extra={"headline": "Ferry & bridge"}),)
    human = {"modified_pyramid_jackknifed": 0.905, "linguistic_quality": 5.0, "responsiveness": 5.0}
    assert first.references == (Text("C", "A ferry stopped.\nNobody was hurt."),)
    scores = {"modified_pyramid": 0.286, "modified_pyramid_jackknifed": 0.276}
    scores |= {"linguistic_quality": 4.0, "responsiveness": 2.0}
    none = {"modified_pyramid": 0.0, "modified_pyramid_jackknifed": 0.0, "linguistic_quality": 1, "responsiveness": 1}
    assert first.summaries == (
        Summary("7", "", human=none, ratings={"A": none}),
        Summary("12", "Ferry stopped", human=scores, ratings={"A": scores}),
        Summary(
            "C",
            "A ferry stopped.\nNobody was hurt.",
            human=human,
            person=True,
            reference="C",
            ratings={"A": human},
        ),
    )
    assert first.pyramid is not None
    assert first.pyramid.pyramid.weights == {"1": 1}
    assert list(first.pyramid.peers["12"].matched) == ["1"]
    assert first.pyramid.assessor == "A"
    assert said(bundle) == [
        ("eval/ROUGE/peers/D0801-A.M.100.A.7", "an empty summary"),
        (
            "eval/manual/pyramids/D0801-A.pyr",
            "the model summaries are not separated; each contributor counts as one model",
        ),
        ("eval/BE/peers/D0801-A.M.100.A.12", OTHER),
        ("eval/ROUGE/rouge.m.out", OTHER),
        (tmp_path.name, "ignored: scores of 99 in topic D0801-A, which has no summary by it"),
    ]


def test_a_duc_directory_gives_topics_summaries_and_scores(tmp_path: Path) -> None:
    bundle = formats.read(on_disk(tmp_path, DUC_2005))

    (topic,) = bundle.topics
    assert (topic.topic_id, topic.title, topic.question) == ("D301", "Council", "What was voted?")
    assert [(text.name, text.text) for text in topic.documents] == [
        ("APW19981016.0240", "The council met on Friday.\nIt voted 5 < 6, as planned.\nA new paragraph."),
        ("FT911-3.txt", "Plain text.\nOf two paragraphs."),
    ]
    assert topic.references == (Text("A", "The council voted."),)
    human = {
        "responsiveness": 2.5,
        "linguistic_quality_1": 5.0,
        "linguistic_quality_2": 3.0,
        "pyramid": 0.5,
        "modified_pyramid": 0.25,
    }
    assert topic.summaries == (
        Summary(
            "4",
            sentences=("It voted", "5 < 6."),
            human=human,
            ratings={
                "A": {"responsiveness": 2.0, "linguistic_quality_1": 5.0, "linguistic_quality_2": 3.0},
                "B": {"responsiveness": 3.0},
            },
        ),
        Summary(
            "A",
            "The council voted.",
            human={"responsiveness": 5.0},
            person=True,
            reference="A",
            ratings={"A": {"responsiveness": 5.0}},
        ),
    )
    assert said(bundle) == []


def test_later_tac_tables_have_a_second_assessor(tmp_path: Path) -> None:
    files = {
        "D1001A/D1001A-A/x": STORY,
        "ROUGE/peers/D1001-A.M.100.A.1": "Ferry stopped",
        "ROUGE/models/D1001-A.M.100.A.A": "It stopped",
        "manual/manual.peer.A": "D1001-A 1 0.286 5 0 A B 0.276 4 2\nD1001-A 1 NA\n",
        "manual/manual.model.A": "D1001-A A 16 A A 0.905 5 5\n",
    }
    bundle = formats.read(on_disk(tmp_path, files))

    assert bundle.topics[0].summaries[0].human == {
        "modified_pyramid": 0.286,
        "modified_pyramid_jackknifed": 0.276,
        "linguistic_quality": 4.0,
        "responsiveness": 2.0,
    }
    human = {"modified_pyramid_jackknifed": 0.905, "linguistic_quality": 5.0, "responsiveness": 5.0}
    assert bundle.topics[0].summaries[0].ratings == {
        "A": {"modified_pyramid": 0.286, "modified_pyramid_jackknifed": 0.276},
        "B": {"linguistic_quality": 4.0, "responsiveness": 2.0},
    }
    assert bundle.topics[0].summaries[1].human == human
    assert said(bundle) == [("manual/manual.peer.A", "ignored: a row without the columns of this table")]
    assert bundle.remarks[0].line == 2


def test_in_tac_2009_what_people_made_is_no_system(tmp_path: Path) -> None:
    files = {"D0901A/D0901A-A/x": STORY} | {f"ROUGE/peers/D0901-A.M.100.A.{n}": "It stopped" for n in (1, 2, 3, 4)}
    bundle = formats.read(on_disk(tmp_path, files))

    assert [summary.name for summary in bundle.topics[0].summaries] == ["1", "4"]
    assert len(bundle.remarks) == 2


def test_duc_2004_asks_its_questions_in_a_table(tmp_path: Path) -> None:
    files = {
        "docs/d31001a/x": STORY,
        "duc2004.task5.topicsets": "h\n" * 7 + "d31001a\tWho stopped the ferry?\n",
        "ROUGE/peers/D31001.M.100.A.1": "It stopped",
    }
    bundle = formats.read(on_disk(tmp_path, files))

    assert (bundle.topics[0].topic_id, bundle.topics[0].question) == ("D31001", "Who stopped the ferry?")


def test_text_marked_as_character_data_is_text(tmp_path: Path) -> None:
    files = {"docs/d301i/x": "<DOC><TEXT><![CDATA[It stopped & held.]]></TEXT></DOC>"}

    assert formats.read(on_disk(tmp_path, files)).topics[0].documents == (Text("x", "It stopped & held."),)


def test_a_pyramid_is_read_from_an_annotated_summary_where_it_has_no_file_of_its_own(tmp_path: Path) -> None:
    files = {name: content for name, content in TAC_2008.items() if not name.endswith(".pyr")}
    bundle = formats.read(on_disk(tmp_path, {**files, "eval/manual/peers/D0801-A.M.100.A.11": "<peerAnnotation/>"}))
    pyramid = bundle.topics[0].pyramid

    assert pyramid is not None
    assert (pyramid.pyramid.weights, list(pyramid.peers)) == ({"1": 1}, ["12"])
    notes = said(bundle)
    assert ("eval/manual/peers/D0801-A.M.100.A.11", "ignored: no annotated summary in it") in notes
    own = "topic D0801-A has no .pyr file: its Pyramid is from this one"
    assert ("eval/manual/peers/D0801-A.M.100.A.12", own) in notes


@pytest.mark.parametrize("declared", ["", "utf-8", "iso-8859-1", "windows-1252"])
def test_windows_quotes_cost_no_annotation(tmp_path: Path, declared: str) -> None:
    said_so = PAN.replace("Ferry stopped", "The mayor’s ferry").encode("cp1252")
    pan = (f'<?xml version="1.0" encoding="{declared}"?>' if declared else "").encode() + said_so
    summary = {"eval/ROUGE/peers/D0801-A.M.100.A.12": "The mayor’s ferry\n".encode("cp1252")}
    bundle = formats.read(on_disk(tmp_path, {**TAC_2008, **summary, "eval/manual/peers/D0801-A.M.100.A.12": pan}))
    topic = bundle.topics[0]

    assert topic.pyramid is not None
    assert topic.pyramid.peers["12"].text == "The mayor’s ferry"
    assert next(own.text for own in topic.summaries if own.name == "12") == "The mayor’s ferry"


@pytest.mark.parametrize("odd", ["\x0c", "\x1a", "&", "&nbsp", "\r"])
def test_an_odd_character_costs_no_annotation(tmp_path: Path, odd: str) -> None:
    pan = PAN.replace("Ferry stopped", f"Ferry {odd} stopped")
    bundle = formats.read(on_disk(tmp_path, {**TAC_2008, "eval/manual/peers/D0801-A.M.100.A.12": pan}))
    pyramid = bundle.topics[0].pyramid
    assert pyramid is not None
    assert pyramid.peers["12"].text.split() == ["Ferry", *([odd] if odd[0] == "&" else []), "stopped"]
    notes = [text for name, text in said(bundle) if name == "eval/manual/peers/D0801-A.M.100.A.12"]
    assert notes == (["3 control characters were replaced by spaces"] if odd in "\x0c\x1a" else [])


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Output was < 5 percent.\nIt fell.", "Output was < 5 percent. It fell."),
        (
            "If x<y and y>z, stop.\n\nMail <joe@example.com> or AT&amp;T.",
            "If x<y and y>z, stop.\nMail <joe@example.com> or AT&T.",
        ),
        ("<5 percent said so.", "<5 percent said so."),
    ],
)
def test_a_plain_document_may_have_a_less_than_sign(tmp_path: Path, text: str, read: str) -> None:
    bundle = formats.read(on_disk(tmp_path, {"docs/d301i/x": text}))

    assert bundle.topics[0].documents == (Text("x", read),)
    assert not bundle.remarks


def test_the_entities_of_newswire_and_of_the_federal_register_are_read(tmp_path: Path) -> None:
    given = "co&hyph;op&blank;of &UR; &AMP; &ql;P&ntilde;&pacute;&racute; 5&MD;6 &lt;b&gt; &sect; 3"
    bundle = formats.read(on_disk(tmp_path, {"docs/d301i/x": f"<DOC><TEXT>{given}</TEXT></DOC>"}))

    assert bundle.topics[0].documents[0].text == "co-op of & Pñṕŕ 5 – 6 <b> § 3"
    assert not bundle.remarks


def test_however_many_files_are_not_read_each_is_named(tmp_path: Path) -> None:
    others = {f"other/{n}.out": "x" for n in range(300)}
    scores = {"manual/manual.peer": "D301 4 0.5 5 0 A 0.5 4 2\n" + "D301 4\n" * 300}
    bundle = formats.read(on_disk(tmp_path, {"docs/d301i/x": STORY, **others, **scores}))

    assert others.keys() <= {file for file, _said in said(bundle)}
    assert said(bundle)[-1] == (tmp_path.name, "101 more notes of this kind")


def test_a_narrative_too_long_for_a_question_is_kept_beside_it(tmp_path: Path) -> None:
    long = "Why? " * 100
    files = {"docs/d301i/x": STORY, "t_topics.sgml": f"<topic><num>D301I</num><narr>{long}</narr></topic>"}
    bundle = formats.read(on_disk(tmp_path, files))

    assert bundle.topics[0].question == ""
    assert bundle.topics[0].extra == {"narrative": long.strip()}


def test_a_zip_of_a_corpus_reads_like_its_directory(
    tmp_path: Path, zipped: Callable[[Mapping[str, str | bytes]], Path]
) -> None:
    directory = formats.read(on_disk(tmp_path / "directory", TAC_2008))

    assert (
        formats.read(zipped({f"TAC 2008/{name}": text for name, text in TAC_2008.items()})).topics == directory.topics
    )


def test_one_document_set_alone_is_a_topic(zipped: Callable[[Mapping[str, str | bytes]], Path]) -> None:
    bundle = formats.read(zipped({"D0901A-A/one": STORY, "D0901A-A/two": STORY}))

    assert [topic.topic_id for topic in bundle.topics] == ["D0901-A"]


def test_a_folder_named_like_a_document_set_may_hold_other_forms(
    zipped: Callable[[Mapping[str, str | bytes]], Path],
) -> None:
    topic = '{"topic_id": "T", "documents": [{"id": "d", "text": "One."}]}'

    assert formats.read(zipped({"d2024/topics.jsonl": topic})).topics[0].topic_id == "T"
    assert formats.read(zipped({"topics/d301i/documents/d1.txt": "One."})).topics[0].topic_id == "d301i"


@pytest.mark.parametrize(
    ("name", "content", "remark"),
    [
        ("docs/d301i/bad", b"<DOC><TEXT>caf\xe9 \x1a</TEXT></DOC>", "1 bytes that are not UTF-8, read as Windows-1252"),
        ("docs/d301i/bad", b"<DOC>\n<TEXT>se\xf1or</TEXT></DOC>", "ignored: found the byte 0xF1 at byte 9 of the line"),
        ("docs/d301i/bad", "<DOC>雨が降った</DOC>".encode("shift-jis"), "ignored: found the byte 0x89"),
        ("docs/d301i/bad", "Rain.".encode("utf-16"), "ignored: found UTF-16 text"),
        ("docs/d301i/bad", b"<DOC><TEXT>a &frob; b &frob;</TEXT></DOC>", "2 entities of unknown meaning stay"),
        ("x_topics.sgml", b"nothing", "ignored: no topic in it"),
        ("manual/manual.peer", b"nothing", "ignored: no row of scores in it"),
        ("allpans/D302.M.250.I.4.pan", b"<peerAnnotation/>", "ignored: no pyramid in it"),
        ("manual/manual.peer", b"D302 4 0.5 5 0 A 0.5 4 2\n", "ignored: scores of 1 summaries of topics that are not"),
        ("docs/d301i/bad", b"<DOC><TEXT>form\x0cfeed</TEXT></DOC>", "1 control characters were replaced by spaces"),
        ("docs/d301i/bad", b"<DOC><BODY>no text</BODY></DOC>", "ignored: no text in it"),
        ("docs/d301i/bad", b"", "ignored: found an empty text; expected some text"),
        ("docs/d301i/bad", b"<DOC><TEXT>" + b"<P>" * 100_000, "ignored: no text in it"),
        ("docs/d301i/bad", b"<DOC><TEXT>" + b"x" * 1_000_001, "ignored: larger than 1 MB"),
        ("docs/d301i/bad", "<DOC><TEXT>z" + "\u0301" * 40, "ignored: found more than 30 combining marks"),
        ("ROUGE/models/D301.M.250.I.B", b"", "ignored: found an empty text; expected some text"),
        ("ROUGE/models/D301.M.250.I.B", "\u2800", "ignored: found only invisible characters; expected some text"),
        ("ROUGE/peers/D302.M.250.I.1", b"x", "ignored: topic D302 has summaries but no documents"),
        ("x_topics.sgml", b"<topic><num>seven</num></topic>", "ignored: a topic without a name"),
        ("x_topics.sgml", b"<topic" * 100_000, "ignored: a topic without a name"),
        ("pyramids/D301.pyr", b"<pyramid>", "ignored: not well-formed XML"),
        ("pyramids/D301.pyr", b"<!DOCTYPE x [<!ENTITY a 'b'>]><pyramid/>", "ignored: not well-formed XML"),
        ("pyramids/D301.pyr", b"<a>" * 100_000, "ignored: not well-formed XML"),
        ("pyramids/D301.b.pyr", b"<a>" * 100_000 + b"</a>" * 100_000, "ignored: no pyramid in it"),
        ("pyramids/x.pyr", PYRAMID.encode(), "ignored: its name does not begin with a topic"),
        ("pyramids/D301.second.pyr", PYRAMID.encode(), "ignored: topic D301 already has a pyramid"),
        ("allpans/D301.M.250.I.4.pan", b"<a><b></a>", "ignored: not well-formed XML"),
        ("manual/manual.peer", b"D301 4 0.5 5 0 A 0.5 4 2\nD301 4\n", "ignored: a row without the columns"),
    ],
)
def test_a_faulty_file_is_survived_and_it_is_said(tmp_path: Path, name: str, content: bytes | str, remark: str) -> None:
    files = {**DUC_2005, "pyramids/D301.a.pyr": PYRAMID, name: content}
    bundle = formats.read(on_disk(tmp_path, files))

    assert [topic.topic_id for topic in bundle.topics] == ["D301"]
    assert {"APW19981016.0240", "FT911-3.txt"} <= {text.name for text in bundle.topics[0].documents}
    assert any(said.startswith(remark) for _, said in said(bundle)), said(bundle)


@pytest.mark.parametrize(
    "content",
    [
        "<a id=" * 150_000,
        "<topic><title" * 70_000,
        "<DOC " * 190_000,
        "<TEXT>" * 150_000,
        "<" * 900_000,
        " \n" * 450_000,
    ],
    ids=range(6),
)
def test_files_made_to_be_slow_are_survived_too(tmp_path: Path, content: str) -> None:
    files = {
        **DUC_2005,
        "docs/d301i/slow": content,
        "slow_topics.sgml": content,
        "ROUGE/peers/D301.M.250.I.9": "<html>" + content,
    }

    assert formats.read(on_disk(tmp_path, files)).topics[0].topic_id == "D301"


def test_summaries_without_any_documents_are_refused(tmp_path: Path) -> None:
    with pytest.raises(formats.Refused, match="summaries but no documents"):
        formats.read(on_disk(tmp_path, {"ROUGE/peers/D301.M.250.I.1": "x"}))


def test_topics_with_references_or_a_pyramid_need_no_documents(tmp_path: Path) -> None:
    files = {
        name: content for name, content in TAC_2008.items() if not name.startswith("docs/") and "D0801-B" not in name
    }
    bundle = formats.read(on_disk(tmp_path, files | {"pyramids/D0802-A.pyr": PYRAMID}))

    assert [(topic.topic_id, len(topic.references), len(topic.summaries)) for topic in bundle.topics] == [
        ("D0801-A", 1, 3),
        ("D0802-A", 0, 0),
    ]
    assert all(topic.pyramid and not topic.documents for topic in bundle.topics)


def test_what_a_corpus_gives_can_be_written_and_read_again(tmp_path: Path) -> None:
    bundle = formats.read(on_disk(tmp_path / "corpus", TAC_2008))
    with (tmp_path / "topics.jsonl").open("wb") as file:
        formats.write_topics(bundle.topics, file)

    assert formats.read(tmp_path / "topics.jsonl").topics == bundle.topics
