"""The judgments of a study as a dataset: with texts, as preferences for training, and with a card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from tempfile import SpooledTemporaryFile
from typing import Any

from django.db.models import Count, Q
from django.template.loader import render_to_string
from django.utils.text import slugify

from annotate import exports
from annotate.models import Item, ItemSet, Judgment, Study
from annotate.models.judging import question_about
from annotate.reports import methods_section, study_facts
from preferendum.formats.answers import ANSWERS, LETTERS, PREFERENCES
from preferendum.formats.checks import strict_json
from preferendum.formats.readers.lines import Sink
from preferendum.formats.readers.preferences import kind_of
from preferendum.formats.readers.tables import write_rows
from preferendum.formats.records import Preference
from preferendum.show import citations

#: Bytes of lines that are buffered in memory.
HELD = 1 << 22
#: Why a pair was shown, if its answer counts; the first if unknown.
REASONS = ("imported", "random", "suggested")
#: The columns of the judgments with texts, and their meaning.
COLUMNS: Mapping[str, str] = {
    "topic": "the topic",
    "of": "what was compared: `sentences` of the source documents, or whole `summaries`",
    "question": "what annotators are asked about the pair, as the study words it now",
    "prompt": "what the summaries answer, where they have no source documents",
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


def judgments(study: Study) -> Iterator[dict[str, Any]]:
    """The judgments that count, each with all of `COLUMNS`; in the order of `exports.preferences`."""
    for item_set, texts, preferences in _by_set(study):
        prompt = item_set.topic.prompt if item_set.of == "summaries" else ""
        for given in preferences:
            yield {
                "topic": given.topic,
                "of": given.of,
                "question": question_about(item_set, study),
                "prompt": prompt,
                "left": texts[given.a],
                "right": texts[given.b],
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

    `prompt`: what the summaries answer; for those with source documents, the topic's title and the documents.
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
            chosen, rejected = (given.a, given.b) if answer.share else (given.b, given.a)
            yield {
                "prompt": prompt,
                "chosen": texts[chosen],
                "rejected": texts[rejected],
                "topic": given.topic,
                "chosen_system": chosen,
                "rejected_system": rejected,
                "annotator": given.annotator,
                "kind": kind_of(given),
            }


def _by_set(study: Study) -> Iterator[tuple[ItemSet, dict[str, str], Iterator[Preference]]]:
    """The judged item sets, each with its texts by name and its judgments that count."""
    for (name, of), preferences in groupby(exports.preferences(study), attrgetter("topic", "of")):
        item_set = ItemSet.objects.select_related("topic").get(study=study, topic__name=name, of=of)
        texts = Item.objects.filter(item_set=item_set).select_related("document")
        yield item_set, {text.name: text.text for text in texts}, preferences


def write_judgments_jsonl(study: Study, file: Sink) -> None:
    """One line a judgment. The first has seconds, if any has, since readers infer a column's type from it."""
    lines = ((row["seconds"] is not None, strict_json.line(row).encode() + b"\n") for row in judgments(study))
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
    facts, of_summaries = study_facts.of_study(study), Q(assignment__item_set__of="summaries")
    is_preference = Q(answer__in=PREFERENCES)
    number = (
        Judgment.objects.counted()
        .filter(assignment__item_set__in=ItemSet.objects.filter(study=study))
        .aggregate(
            judgments=Count("pk"),
            preferred=Count("pk", filter=of_summaries & is_preference),
            ties=Count("pk", filter=of_summaries & ~is_preference),
        )
    )
    shown = {
        "facts": facts,
        "pretty_name": json.dumps(study.title, ensure_ascii=False),
        "number": number,
        "columns": COLUMNS,
        "name": slugify(study.title) or "study",
        "methods": methods_section.plain(facts),
        "cite": citations.bibtex([citations.ZOPF], facts.program_version),
    }
    file.writelines([render_to_string("research/studies/dataset_card.md", shown).encode()])
