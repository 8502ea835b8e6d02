"""The judgments of a study as a dataset: with texts, as preferences for training, and with a card."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count, groupby
from operator import attrgetter
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.template.loader import render_to_string
from django.utils.text import slugify

from annotate import croissant, exports
from annotate.croissant import DataFile, Digest
from annotate.models import Item, ItemSet, Study, Summary, Topic
from annotate.models.judging import question_about
from annotate.reports import methods_section, rests_on, study_facts
from annotate.reports.study_facts import StudyFacts
from preferendum.formats.answers import ANSWERS, LETTERS, PREFERENCES
from preferendum.formats.checks import strict_json
from preferendum.formats.readers.lines import Sink
from preferendum.formats.readers.preferences import kind_of
from preferendum.formats.readers.tables import write_rows
from preferendum.formats.readers.turns import apart
from preferendum.formats.records import Preference
from preferendum.formats.settings import KINDS_COUNTED
from preferendum.show import citations

#: Of so many item sets the texts are in memory at once.
SETS = 125
#: Bytes of lines that are buffered in memory.
HELD = 1 << 22
#: Why a pair was shown, if its answer counts; the first if unknown.
REASONS = ("imported", "random", "suggested")
#: The columns of the judgments with texts, and their meaning.
COLUMNS: Mapping[str, str] = {
    "topic": "the topic",
    "of": "what was compared: `sentences` of the source documents, or whole `summaries`",
    "question": "what annotators are asked about the pair, as the study words it now",
    "prompt": "what the summaries answer, where they have no source documents or are conversations that begin alike",
    "left": "the text on the left (above, on a phone)",
    "right": "the text on the right",
    "left_id": "the sentence, as `<document>:<index from 0>`, or the system that wrote the summary",
    "right_id": "the same of the right one",
    "answer": ", ".join(f"`{key}`" for key in ANSWERS),
    "why": "the reasons that the annotator tapped, with commas between them, of those that the study offers",
    "note": "the reason in the annotator's own words",
    "seconds": "how long the annotator took, where that is known",
    "annotator": "a pseudonym",
    "kind": "who judged: `human`, `machine` or `simulated`",
    "reason": "why the pair was shown: `random`, `suggested` (chosen because it tells more) or `imported`",
    "at": "when (ISO 8601), where that is known",
    "design_weight": "how many times likelier the pair was drawn than by lot; 0 if it was not drawn by lot",
}
#: Those with texts, which a licence may forbid to publish.
TEXTS = frozenset({"prompt", "left", "right"})
#: The columns of preferences to train on. Some may be lists of turns, for which Croissant has no type.
PREFERRED: Mapping[str, str] = {
    "prompt": "what the summaries answer, or else the title and the source documents of the topic",
    "chosen": "the summary that was preferred",
    "rejected": "the other summary",
    "topic": COLUMNS["topic"],
    "chosen_system": "the system that wrote the one that was preferred",
    "rejected_system": "the system that wrote the other one",
    "annotator": COLUMNS["annotator"],
    "kind": COLUMNS["kind"],
}
MAY_BE_TURNS = frozenset({"prompt", "chosen", "rejected"})


def judgments(study: Study) -> Iterator[dict[str, Any]]:
    """The judgments that count, each with all of `COLUMNS`; in the order of `exports.preferences`."""
    for item_set, texts, preferences in _by_set(study):
        prompt = item_set.topic.prompt if item_set.of == "summaries" else ""
        for given in preferences:
            shared = _apart(item_set.topic, texts[given.a], texts[given.b])[0]
            yield {
                "topic": given.topic,
                "of": given.of,
                "question": question_about(item_set, study),
                "prompt": "\n\n".join(turn["content"] for turn in shared) or prompt,
                "left": texts[given.a].text,
                "right": texts[given.b].text,
                "left_id": given.a,
                "right_id": given.b,
                "answer": LETTERS[given.winner],
                "why": given.extra.get("why", ""),
                "note": given.extra.get("note", ""),
                "seconds": given.seconds,
                "annotator": given.annotator,
                "kind": kind_of(given),
                "reason": reason if (reason := given.extra.get("reason")) in REASONS else REASONS[0],
                "at": _to_the_microsecond(given.at) or None,
                "design_weight": float(given.extra.get("design_weight", 1.0)),
            }


def _to_the_microsecond(at: str) -> str:
    return at if "." in at else at.replace("Z", ".000000Z")


def preferred(study: Study) -> Iterator[dict[str, Any]]:
    """Preferences between summaries for training reward models and DPO, without ties.

    `prompt`: what the summaries answer; for those with source documents, the topic's title and the documents. Two
    conversations that begin alike are given as turns, {"role", "content"}: `prompt` has those with which both begin.
    """
    for item_set, texts, preferences in _by_set(study):
        if item_set.of != "summaries":
            continue
        topic = item_set.topic
        parts = [topic.title, *(document.whole for document in topic.documents.all())]
        prompt = topic.prompt or "\n\n".join(filter(None, parts))
        for given in preferences:
            if (answer := PREFERENCES.get(LETTERS[given.winner])) is None:
                continue
            if not (texts[given.a] and texts[given.b]):  # only the answer is here
                continue
            chosen, rejected = (given.a, given.b) if answer.share else (given.b, given.a)
            turns = _apart(topic, texts[chosen], texts[rejected])
            asked, better, worse = turns if turns[0] else (prompt, texts[chosen].text, texts[rejected].text)
            yield {
                "prompt": asked,
                "chosen": better,
                "rejected": worse,
                "topic": given.topic,
                "chosen_system": chosen,
                "rejected_system": rejected,
                "annotator": given.annotator,
                "kind": kind_of(given),
            }


def _apart(topic: Topic, left: Item, right: Item) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """The turns with which two conversations begin alike, and what follows in each. The topic's question is the first
    where an answer to it is."""
    begins = [turns[0]["role"] == "assistant" for turns in (left.turns, right.turns) if turns]
    asked = [{"role": "user", "content": topic.question}] if topic.question and begins == [True, True] else []
    return apart([*asked, *(left.turns or ())], [*asked, *(right.turns or ())])


def _by_set(study: Study) -> Iterator[tuple[ItemSet, dict[str, Item], Iterator[Preference]]]:
    """The judged item sets, each with its texts by name and its judgments that count."""
    sets = _texts(study)
    for judged, preferences in groupby(exports.preferences(study), attrgetter("topic", "of")):
        item_set, texts = next(own for own in sets if (own[0].topic.name, own[0].of) == judged)
        yield item_set, texts, preferences


def _texts(study: Study) -> Iterator[tuple[ItemSet, dict[str, Item]]]:
    """The item sets in the order of their judgments, each with its texts by name."""
    rows_of_sets = exports.item_sets(study).prefetch_related("topic__documents")
    for start in count(0, SETS):
        item_sets = rows_of_sets[start : start + SETS]
        if not item_sets:
            return
        texts: dict[int, dict[str, Item]] = {item_set.pk: {} for item_set in item_sets}
        rows = Item.objects.filter(item_set__in=texts).select_related("document")
        for text in rows.defer("document__text", "document__sentences", "document__mended", "document__extra"):
            texts[text.item_set_id][text.name] = text
        yield from ((item_set, texts[item_set.pk]) for item_set in item_sets)


def write_judgments_jsonl(study: Study, file: Sink, columns: Mapping[str, str] = COLUMNS) -> None:
    """One line a judgment. The first has seconds, if any has, since readers infer a column's type from it."""
    rows = ({column: row[column] for column in columns} for row in judgments(study))
    lines = ((row["seconds"] is not None, strict_json.line(row).encode() + b"\n") for row in rows)
    with SpooledTemporaryFile(HELD) as without_seconds:
        for has_seconds, line in lines:
            if has_seconds:
                file.writelines([line])
                break
            without_seconds.write(line)
        without_seconds.seek(0)
        file.writelines(without_seconds)
    file.writelines(line for _has_seconds, line in lines)


def write_judgments_csv(study: Study, file: Sink) -> None:
    """The judgments as CSV; formulas are defused for spreadsheets."""
    write_rows(file, tuple(COLUMNS), (tuple(row.values()) for row in judgments(study)))


def write_preferred_jsonl(study: Study, file: Sink) -> None:
    file.writelines(strict_json.line(row).encode() + b"\n" for row in preferred(study))


def write_card(study: Study, file: Sink) -> None:
    """The README of the dataset in Markdown, beginning with the metadata that the Hub reads."""
    _write_card(study_facts.of_study(study), _numbers(study), file, with_texts=True)


def _write_card(facts: StudyFacts, number: Counter[str], file: Sink, with_texts: bool) -> None:
    shown = {
        "facts": facts,
        "pretty_name": json.dumps(facts.study.title, ensure_ascii=False),
        "number": number,
        "files": {data.records: data for data in _files(facts.study, number, with_texts)},
        "with_texts": with_texts,
        "methods": methods_section.plain(facts),
        "cite": citations.bibtex([citations.ZOPF], facts.program_version),
    }
    file.writelines([render_to_string("research/studies/dataset_card.md", shown).encode()])


def write_croissant(study: Study, file: Sink) -> None:
    """The description of the files in Croissant, as they are at this moment."""
    described = [(data, Digest()) for data in _files(study, _numbers(study), with_texts=True)]
    for data, digest in described:
        data.write(digest)
    _describe(study, described, file)


def write_zip(study: Study, file: IO[bytes], with_texts: bool = True) -> None:
    """The folder that is published, as a ZIP file: the data of one moment, the card, and the description."""
    facts, number, described = study_facts.of_study(study), _numbers(study), []
    with ZipFile(file, "w", ZIP_DEFLATED) as folder:
        for data in _files(study, number, with_texts):
            with folder.open(data.name, "w", force_zip64=True) as entry:
                described.append((data, Digest(entry)))
                data.write(described[-1][1])
        with folder.open("README.md", "w") as entry:
            _write_card(facts, number, entry, with_texts)
        with folder.open("croissant.json", "w") as entry:
            _describe(study, described, entry)


def _files(study: Study, number: Counter[str], with_texts: bool) -> list[DataFile]:
    """The data files: the judgments, and the preferences to train on if there are any."""
    name = slugify(study.title) or "study"
    if not with_texts:
        columns = {column: meaning for column, meaning in COLUMNS.items() if column not in TEXTS}
        write = partial(write_judgments_jsonl, study, columns=columns)
        return [DataFile(f"{name}-judgments.jsonl", "judgments", columns, write)]
    write = partial(write_judgments_jsonl, study)
    given = [DataFile(f"{name}-judgments-with-texts.jsonl", "judgments", COLUMNS, write)]
    if number["preferred"]:
        are_turns = Summary.objects.filter(topic__study=study, turns__isnull=False).exists()
        columns = {key: meaning for key, meaning in PREFERRED.items() if not (are_turns and key in MAY_BE_TURNS)}
        given.append(
            DataFile(f"{name}-chosen-rejected.jsonl", "preferences", columns, partial(write_preferred_jsonl, study))
        )
    return given


def _numbers(study: Study) -> Counter[str]:
    """How many judgments count, and of those about summaries, how many prefer one and how many are ties."""
    number = Counter[str]()
    for own in rests_on.judged_in(ItemSet.objects.filter(study=study)):
        for kind, _reason, has_place, judgments, _last, undecided in own.groups:
            if has_place and kind in KINDS_COUNTED[study.counted_kinds]:
                number["judgments"] += judgments
                number["ties"] += undecided if own.of == "summaries" else 0
                number["preferred"] += judgments - undecided if own.of == "summaries" else 0
    return number


def _describe(study: Study, described: Sequence[tuple[DataFile, Digest]], file: Sink) -> None:
    text = json.dumps(croissant.describe(study, described), ensure_ascii=False, indent=1)
    file.writelines([text.encode() + b"\n"])
