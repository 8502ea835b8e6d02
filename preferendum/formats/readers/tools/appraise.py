"""System scores exported from Appraise, a table without names of columns: ExportSystemScoresToCSV."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.sources import Source
from preferendum.formats.readers.tables import records
from preferendum.formats.readers.tools.catalogue import NO_SCORE, Judged, Reader, Row

#: What an item is: a system's text, or one of those that check the annotator.
_TYPES = ("TGT", "CHK", "BAD", "REF")
_TIME = re.compile(r"1\d{9}(?:\.\d+)?")
_NONE = ("", "None", "-1")


def _recognises(row: Row) -> bool:
    return bool({*_TYPES} & {key.upper() for key in row}) and any(map(_TIME.fullmatch, row))


def _rows(sources: Sequence[Source], place: Place, _draft: Draft) -> Iterator[tuple[Place, Row]]:
    """The rows with names. What an item is follows its annotator, system and segment; two languages and the score come
    next, then perhaps the name of a document and whether all of it was scored."""
    languages = ""
    for source in sources:
        with source.open() as file:
            for here, cells in records(file, Place(place.complaints, source.label)):
                at = next((at for at, cell in enumerate(cells[:6]) if cell in _TYPES), 0)
                if at < 3 or len(cells) < at + 4:
                    here.refuse("%(what)s", "user, system, segment, TGT, two languages, score", what=shown(cells))
                    continue
                pair = f"{cells[at + 1]}-{cells[at + 2]}"
                languages = languages or pair
                if pair != languages:
                    expected = "one pair of languages in a file: %(languages)s"
                    here.refuse("%(pair)s", expected, pair=shown(pair), languages=shown(languages))
                has_document = cells[at + 5 : at + 6] in (["True"], ["False"])
                yield (
                    here,
                    {
                        "user": cells[0],
                        "system": cells[at - 2],
                        "segment": f"{cells[at + 4]}:{cells[at - 1]}" if has_document else cells[at - 1],
                        "type": cells[at],
                        "score": cells[at + 3],
                        "is_document": has_document and cells[at + 5] == "True",
                    },
                )


def _judgments(_here: Place, row: Row, _columns: Mapping[str, str]) -> Iterator[Judged]:
    if row["type"] != "TGT":
        yield "to check the annotator"
    elif row["score"] in _NONE:
        yield NO_SCORE
    elif row["is_document"]:
        yield "of a whole document"
    else:
        scored = {"topic": row["segment"], "system": row["system"], "dimension": "score"}
        yield scored | {"score": row["score"], "assessor": row["user"]}


READER = Reader(
    name="Appraise",
    about="each annotator's score of each system's segment, in the dimension `score`. A topic is named by the segment, "
    "in campaigns with documents DOCUMENT:SEGMENT; its texts must be in the study. Rows that check annotators (CHK, "
    "BAD, REF), scores of whole documents and -1 are left out and counted; one pair of languages a file",
    keys="no names; in order user, system, segment, TGT, source and target language, score; document, whether "
    "complete, errors; start, end",
    source="Appraise (612e4b0), ExportSystemScoresToCSV",
    what="score",
    recognises=_recognises,
    judgments=_judgments,
    rows=_rows,
    example=(
        "deu01,large,7,TGT,eng,deu,85,news.1,False,[],1700000000.5,1700000010.25\n"
        'deu01,small,7,TGT,eng,deu,40,news.1,False,"[{""severity"": ""minor""}]",1700000010.5,1700000020.25\n'
        "deu01,small,7,CHK,eng,deu,45,news.1,False,[],1700000020.5,1700000030.25\n"
        "deu01,small,8,BAD,eng,deu,5,news.1,False,[],1700000030.5,1700000040.25\n"
        "deu02,large,7,TGT,eng,deu,-1,news.1,False,[],1700000050.5,1700000060.25\n"
        "deu02,large,8,TGT,eng,deu,70,news.1,True,[],1700000060.5,1700000070.25\n"
        "deu02,small,7,TGT,eng,deu,60,news.1,False,[],1700000070.5,1700000080.25\n"
    ),
)
