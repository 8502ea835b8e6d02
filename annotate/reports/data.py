"""What a study has and its origin: uploads, systems, human scores, and what was removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import starmap
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Min, Q
from django.utils.translation import ngettext

from annotate.models import HumanScore, Removal, Study, Summary, Upload
from annotate.reports.answers_between import counted_between

if TYPE_CHECKING:
    from django.db.models import QuerySet


@dataclass(frozen=True)
class SystemLine:
    """A system and its summaries; `human_written`: by people; `uploads`: the names of their files, if known. `answers`:
    those that count about its summaries."""

    id: int
    name: str
    summaries: int
    human_written: int
    first_at: datetime
    uploads: tuple[str, ...]
    answers: int


@dataclass(frozen=True)
class DimensionLine:
    """Human scores in one dimension; `ratings`: by single assessors; `uploads`: the names of their files, if known."""

    name: str
    scores: int
    ratings: int
    assessors: int
    uploads: tuple[str, ...]


def uploads_of(study: Study) -> QuerySet[Upload]:
    """All uploads ever sent, the newest first."""
    return Upload.objects.filter(study=study).select_related("user").order_by("-pk")


def removals_of(study: Study) -> QuerySet[Removal]:
    """All removals ever made, the newest first."""
    return Removal.objects.filter(study=study).select_related("user").defer("rows").order_by("-pk")


def systems_of(study: Study) -> list[SystemLine]:
    """The systems with summaries, by name."""
    summaries = Summary.objects.filter(topic__in=study.topics.all()).order_by()
    rows = summaries.values_list("system", "system__name").annotate(
        number=Count("pk"), human_written=Count("pk", filter=Q(person=True)), first=Min("created_at")
    )
    files = _files(summaries, "system")
    answers = Counter[str]()
    for _topic, first, second, _answer, times in counted_between(study.topics.all()):
        answers.update({first: times, second: times})
    lines: list[tuple[Any, ...]] = [(*row, files.get(row[0], ()), answers[row[1]]) for row in rows]
    return sorted(starmap(SystemLine, lines), key=lambda line: line.name)


def dimensions_of(study: Study) -> list[DimensionLine]:
    """The dimensions of human scores, by name."""
    scores = HumanScore.objects.filter(summary__topic__in=study.topics.all()).order_by()
    by_one = ~Q(assessor="")
    rows = scores.values_list("dimension").annotate(
        number=Count("pk", filter=~by_one),
        ratings=Count("pk", filter=by_one),
        assessors=Count("assessor", filter=by_one, distinct=True),
    )
    files = _files(scores, "dimension")
    lines: list[tuple[Any, ...]] = [(*row, files.get(row[0], ())) for row in rows]
    return sorted(starmap(DimensionLine, lines), key=lambda line: line.name)


def _files(rows: QuerySet[Any], by: str) -> dict[Any, tuple[str, ...]]:
    """The names of the files of these rows, in the order of upload."""
    names: dict[Any, tuple[str, ...]] = {}
    brought = rows.exclude(upload=None).values_list(by, "upload__filename").distinct()
    for key, filename in brought.order_by("upload"):
        if filename not in names.get(key, ()):
            names[key] = (*names.get(key, ()), filename)
    return names


def earlier_in(study: Study, show: str) -> list[dict[str, Any]]:
    """For an imported study: its archive's uploads or removals, in words."""
    table, counted = {"uploads": ("uploads", "contents"), "removed": ("removals", "counts")}.get(show, ("", ""))
    rows = reversed(study.earlier.get(table, []))
    return [row | {"words": in_words(row[counted]), "at": datetime.fromisoformat(row["at"])} for row in rows]


def in_words(counts: Mapping[str, int]) -> list[str]:
    """Counts of things, each in words, without those that are 0."""
    return [words % {"n": counts[name]} for name, words in _words(counts) if counts.get(name)]


def _words(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    def n(name: str) -> int:
        return counts.get(name, 0)

    yield "topics", ngettext("%(n)d topic", "%(n)d topics", n("topics"))
    yield "documents", ngettext("%(n)d document", "%(n)d documents", n("documents"))
    yield "sentences", ngettext("%(n)d sentence", "%(n)d sentences", n("sentences"))
    yield "references", ngettext("%(n)d reference", "%(n)d references", n("references"))
    yield "pyramids", ngettext("%(n)d Pyramid", "%(n)d Pyramids", n("pyramids"))
    yield "summaries", ngettext("%(n)d summary", "%(n)d summaries", n("summaries"))
    yield "human_scores", ngettext("%(n)d human score", "%(n)d human scores", n("human_scores"))
    yield "ratings", ngettext("%(n)d rating by an assessor", "%(n)d ratings by assessors", n("ratings"))
    yield "metric_scores", ngettext("%(n)d score by metrics", "%(n)d scores by metrics", n("metric_scores"))
    yield "gold_pairs", ngettext("%(n)d gold pair", "%(n)d gold pairs", n("gold_pairs"))
    yield "judgments", ngettext("%(n)d judgment", "%(n)d judgments", n("judgments"))
