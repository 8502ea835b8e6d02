"""Data of an upload under existing names: what is the same stays, what differs is replaced.

The rows keep their keys, and so what rests on them: human scores stay with a summary whose text is corrected, judgments
with a sentence that is still in its topic (`recutting`). Scores by metrics that were computed elsewhere are deleted,
since they are of the earlier text. The earlier rows are kept for a day.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, islice, pairwise, takewhile
from typing import TYPE_CHECKING, Any

from django.core import serializers
from django.db.models import F, Model
from django.utils.translation import gettext_noop, ngettext

from annotate.audit_log import note
from annotate.imports import compared, recutting
from annotate.imports.recutting import Recut, Text, batches
from annotate.models import (
    Assignment,
    HumanScore,
    Item,
    ItemSet,
    MetricScore,
    Reference,
    Removal,
    SourceDocument,
    Study,
    Summary,
    Topic,
    Upload,
)
from annotate.models.metric import GIVEN
from annotate.refusal import Refusal
from preferendum import formats
from preferendum.formats.checks.complaints import shown
from preferendum.formats.readers.turns import turns_as_json
from preferendum.formats.records import Cut, Of
from preferendum.formats.sentences import cut_text

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: How many changes are shown before an upload is confirmed, each with how many characters.
MOST_SHOWN, LONGEST_SHOWN = 100, 2_000
#: An upload's values for a summary or a reference.
Columns = dict[str, Any]


class WouldLoseJudgments(Refusal):
    """Judged sentences would be removed; `number`: of judgments that would become history; `recuts`: as shown."""

    def __init__(self, number: int, recuts: list[dict[str, Any]]) -> None:
        message = ngettext(
            "%(n)d judgment is about sentences that would change. It would become history, which no score uses.",
            "%(n)d judgments are about sentences that would change. They would become history, which no score uses.",
            number,
        )
        super().__init__(message % {"n": number}, "judged")
        self.number, self.recuts = number, recuts


@dataclass(frozen=True)
class Change:
    """An existing row, and an upload's new values for its columns."""

    kind: str
    topic: str
    name: str
    row: Any
    columns: Mapping[str, Any]

    def as_shown(self) -> dict[str, str]:
        texts = _in_words(self.row), _in_words(type(self.row)(**self.columns))
        before, after = (text[:LONGEST_SHOWN] for text in texts)
        return {"kind": self.kind, "topic": self.topic, "name": self.name, "before": before, "after": after}


@dataclass
class Comparison:
    """An upload compared with the study: what differs, what is the same, and what is new."""

    changes: list[Change] = field(default_factory=list)
    recuts: list[Recut] = field(default_factory=list)
    compared: list[Recut] = field(default_factory=list)
    unchanged: Counter[str] = field(default_factory=Counter)
    summaries: list[tuple[int, formats.Summary]] = field(default_factory=list)
    references: list[tuple[int, formats.Text]] = field(default_factory=list)
    human_scores: list[formats.records.HumanScore] = field(default_factory=list)
    #: The stored human scores that the upload gives again.
    scored: set[int] = field(default_factory=set)

    def changed(self) -> Counter[str]:
        documents = sum(len(recut.changed_documents()) for recut in self.recuts)
        return Counter(change.kind for change in self.changes) + Counter(documents=documents)

    def preview(self) -> dict[str, Any]:
        documents = chain(*map(_documents_as_shown, self.recuts))
        changes = islice(chain(documents, (change.as_shown() for change in self.changes)), MOST_SHOWN)
        return {
            "replacements": list(changes),
            "replaced": dict(self.changed()),
            "unchanged": dict(self.unchanged),
            "recuts": list(map(_recut_as_shown, [*self.recuts, *self.compared])),
            "scores_of_old_texts": len(_scores_of_old_texts(self)),
        }

    def topics_of(self, kind: str) -> set[int]:
        """The keys of the topics where something of this kind differs."""
        return {
            change.row.pk if kind == "topics" else change.row.topic_id for change in self.changes if change.kind == kind
        }

    def changed_scores(self) -> Iterator[tuple[int, str, str, str, float]]:
        """Their topics, systems, dimensions, assessors, and new values."""
        for change in self.changes:
            if change.kind == "human_scores":
                summary = change.row.summary
                score = change.columns["score"]
                yield summary.topic_id, summary.system.name, change.row.dimension, change.row.assessor, score

    def refuse_more_than(self, lose: int) -> None:
        """Raises `WouldLoseJudgments` if more than `lose` judgments would become history."""
        lost = sum(recut.judgments[1] for recut in self.recuts)
        if lost > lose:
            raise WouldLoseJudgments(lost, list(map(_recut_as_shown, self.recuts)))

    def see(self, kind: str, topic: str, name: str, row: Model, columns: Columns) -> None:
        """Note an existing row and its new values."""
        if all(getattr(row, column) == value for column, value in columns.items()):
            self.unchanged[kind] += 1
        else:
            self.changes.append(Change(kind, topic, name, row, columns))


def _recut_as_shown(recut: Recut) -> dict[str, Any]:
    kept, lost = recut.judgments
    return {
        "topic": recut.topic.name,
        "kept": len(recut.kept),
        "gone": len(recut.gone),
        "new": len(recut.new),
        "judgments_kept": kept,
        "judgments_lost": lost,
    }


def _documents_as_shown(recut: Recut) -> Iterator[dict[str, str]]:
    """The removed and the new sentences of each changed document."""
    for name in recut.changed_documents():
        before, after = (_sentences_of(name, rows)[:LONGEST_SHOWN] for rows in (recut.gone, recut.new))
        yield {"kind": "documents", "topic": recut.topic.name, "name": name, "before": before, "after": after}


def _sentences_of(document: str, rows: Iterable[Item]) -> str:
    return "\n".join(row.text for row in rows if row.document is not None and row.document.name == document)


def compare(study: Study, bundle: formats.Bundle) -> Comparison:
    """Compare a bundle's data for existing topics with the study; the documents that differ are cut."""
    seen = Comparison()
    keys = dict(Topic.objects.filter(study=study).values_list("name", "pk"))
    _compare_topics(seen, study, bundle)
    changed = {record.topic_id: record for record in bundle.again if record.topic_id in bundle.cuts}
    topics = Topic.objects.filter(study=study, name__in=changed).select_related("study").order_by("position")
    seen.recuts = [_recut_of(topic, changed[topic.name], bundle.cuts[topic.name]) for topic in topics]
    _compare_references(seen, keys, bundle)
    _compare_summaries(seen, keys, bundle)
    seen.compared = compared.with_other_texts(_other_texts(seen))
    _compare_scores(seen, study, bundle)
    return seen


def _compare_topics(seen: Comparison, study: Study, bundle: formats.Bundle) -> None:
    """Compare titles and questions, where the file has any."""
    rows = {
        row.name: row
        for row in Topic.objects.filter(study=study, name__in=[record.topic_id for record in bundle.again])
    }
    for record in bundle.again:
        columns = {"title": record.title, "question": record.question}
        given = {name: value for name, value in columns.items() if value}
        seen.see("topics", record.topic_id, record.topic_id, rows[record.topic_id], given)


def _compare_references(seen: Comparison, keys: Mapping[str, int], bundle: formats.Bundle) -> None:
    for topic, references in bundle.references.items():
        rows = {row.name: row for row in Reference.objects.filter(topic=keys[topic])}
        for reference in references:
            if reference.name in rows:
                seen.see("references", topic, reference.name, rows[reference.name], _said(content_of(reference)))
            elif _text_of(reference) not in map(_text_of, rows.values()):
                seen.references.append((keys[topic], reference))


def _compare_summaries(seen: Comparison, keys: Mapping[str, int], bundle: formats.Bundle) -> None:
    for batch in batches(bundle.summaries):
        topics, systems = {keys[late.topic] for late in batch}, {late.summary.name for late in batch}
        summaries = Summary.objects.filter(topic__in=topics, system__name__in=systems).select_related("system")
        rows = {(row.topic_id, row.system.name): row for row in summaries}
        for late in batch:
            row = rows.get((keys[late.topic], late.summary.name))
            if row is None:
                seen.summaries.append((keys[late.topic], late.summary))
            else:
                seen.see("summaries", late.topic, late.summary.name, row, _said(columns_of(late.summary)))


def _other_texts(seen: Comparison) -> Mapping[int, dict[str, Text]]:
    """The new texts of summaries that differ, by topic and system."""
    texts: dict[int, dict[str, Text]] = defaultdict(dict)
    for change in seen.changes:
        if change.kind == "summaries":
            row = Summary(**change.columns)
            texts[change.row.topic_id][change.name] = Text(row.whole, row.has_text, row.turns)
    return texts


def _compare_scores(seen: Comparison, study: Study, bundle: formats.Bundle) -> None:
    scores = [*bundle.human_scores, *(score for late in bundle.summaries for score in _scores_of(late))]
    rows: dict[tuple[str, ...], HumanScore] = {}
    topics = Topic.objects.filter(study=study, name__in={score.topic for score in scores})
    if scores:
        stored = HumanScore.objects.filter(summary__topic__in=topics)
        for row in stored.select_related("summary__topic", "summary__system"):
            summary = row.summary
            rows[summary.topic.name, summary.system.name, row.dimension, row.assessor] = row
    for score in scores:
        row_of = rows.get((score.topic, score.system, score.dimension, score.assessor))
        if row_of is None:
            seen.human_scores.append(score)
        else:
            seen.scored.add(row_of.pk)
            name = " · ".join(filter(None, (score.system, score.dimension, score.assessor)))
            seen.see("human_scores", score.topic, name, row_of, {"score": score.score})


def _scores_of(late: formats.records.LateSummary) -> Iterator[formats.records.HumanScore]:
    for assessor, scores in [("", late.summary.human), *late.summary.ratings.items()]:
        for dimension, score in scores.items():
            yield formats.records.HumanScore(late.topic, late.summary.name, dimension, score, assessor)


def content_of(text: formats.Text) -> Columns:
    """The columns of a text."""
    sentences = None if text.sentences is None else list(text.sentences)
    return {"text": text.text or "", "sentences": sentences, "extra": dict(text.extra)}


def columns_of(summary: formats.Summary) -> Columns:
    """The columns of a summary."""
    turns = None if summary.turns is None else turns_as_json(summary.turns)
    own = {"person": summary.person, "reference": summary.reference or "", "turns": turns}
    has_text = summary.text is not None or summary.sentences is not None
    return {**own, "has_text": has_text, **content_of(summary)}


def _said(columns: Columns) -> Columns:
    """Leave out the columns that a file may lack: a table of summaries does not say who wrote them, and has no other
    keys.
    """
    return {name: value for name, value in columns.items() if name in ("text", "sentences", "turns") or value}


def _in_words(row: Any) -> str:
    if isinstance(row, HumanScore):
        return f"{row.score:g}"
    if isinstance(row, Topic):
        return "\n".join(filter(None, (row.title, row.question)))
    if isinstance(row, Summary) and row.turns is not None:
        return "\n\n".join(turn["content"] for turn in row.turns)
    return str(row.whole)


def _recut_of(topic: Topic, record: formats.Topic, cuts: Mapping[str, Sequence[Cut]]) -> Recut:
    """The change of a topic to the record's documents. Unchanged documents keep their cutting; in others, the words
    before and after all changes stay as a user cut them, and the rest is cut again."""
    rows = {row.name: row for row in SourceDocument.objects.filter(topic=topic)}
    documents: list[tuple[SourceDocument, Sequence[Cut]]] = []
    for text in record.documents:
        row = rows.get(text.name) or SourceDocument(topic=topic, name=text.name)
        if row.pk is not None and _is_same(row, text):
            documents.append((row, recutting.as_cut(row)))
        else:
            mended = None if row.mended is None else _mended_again(row.mended, [cut.text for cut in cuts[text.name]])
            for name, value in (_said(content_of(text)) | {"mended": mended}).items():
                setattr(row, name, value)
            own = cuts[text.name] if mended is None else cut_text(formats.Text(text.name, None, tuple(mended)))
            documents.append((row, own))
    return recutting.recut(topic, documents)


def _mended_again(mended: Sequence[str], cut: Sequence[str]) -> list[str] | None:
    """The sentences of a changed text: with the borders of `mended` in the words before and after all changes, and
    those of `cut` in between. None where that is the same as `cut`."""
    (before, borders), (words, ends) = _words_and_borders(mended), _words_and_borders(cut)
    same = in_common(before, words)
    same_at_the_end = in_common(before[same:][::-1], words[same:][::-1])
    more = len(words) - len(before)
    wanted = {border for border in borders if border <= same}
    wanted |= {border + more for border in borders if border >= len(before) - same_at_the_end}
    wanted |= {end for end in ends if same < end < len(words) - same_at_the_end}
    wanted.discard(0)
    if wanted == ends:
        return None
    return [" ".join(words[begin:end]) for begin, end in pairwise([0, *sorted(wanted)])]


def in_common(words: Sequence[str], others: Sequence[str]) -> int:
    """The length of the common beginning: in words, or of two texts in characters."""
    return sum(1 for _same in takewhile(lambda two: two[0] == two[1], zip(words, others, strict=False)))


def _words_and_borders(sentences: Sequence[str]) -> tuple[list[str], set[int]]:
    """All words, and the numbers of words after which a sentence ends."""
    words = [sentence.split() for sentence in sentences]
    return list(chain(*words)), set(accumulate(map(len, words)))


def replace(seen: Comparison, removal: Removal | None, upload: Upload | None = None) -> set[int]:
    """Store what differs, in the caller's transaction; returns the topics whose summaries changed.

    `removal`: of `keep_before`, None where earlier rows need not be kept.
    """
    MetricScore.objects.filter(pk__in=[row.pk for row in _outdated(seen)]).delete()
    for change in seen.changes:
        columns = dict(change.columns) | ({} if change.kind == "topics" else {"upload": upload})
        type(change.row)._base_manager.filter(pk=change.row.pk).update(**columns)
    for recut in seen.recuts:
        recut.apply(removal)
    others = seen.topics_of("references")
    others |= {change.row.summary.topic_id for change in seen.changes if change.kind == "human_scores"}
    Topic.objects.filter(pk__in=others).update(peers_version=F("peers_version") + 1)
    return seen.topics_of("summaries")


def keep_before(study: Study, user: User, seen: Comparison, name: str, **source: str) -> Removal | None:
    """Keep the rows that will be replaced, for a day; None where there are none: a topic had no documents so far.

    `source`: what replaces them, for the audit log.
    """
    rows = [*(change.row for change in seen.changes), *_outdated(seen), *_means_of(seen)]
    rows += chain(*(recut.before() for recut in seen.recuts))
    if not rows:
        return None
    counts = seen.changed() + sum((Counter(recut.counts()) for recut in seen.recuts), Counter())
    counts["judgments"] += sum(recut.judgments[1] for recut in seen.compared)
    counts = +counts
    removal = Removal.objects.create(
        study=study,
        user=user,
        kind=Removal.Kind.REPLACED,
        name=name,
        topic_name=source.get("topic", ""),
        counts=dict(counts),
        rows=str(serializers.serialize("json", rows)),
    )
    note(study, user, "replace data", removal=str(removal.key), **source, **counts)
    return removal


def drop_scores_of_old_texts(study: Study, user: User, seen: Comparison, name: str) -> None:
    """Remove the human scores of summaries that change; for a day they can be restored. `name`: of the upload."""
    rows, kind = _scores_of_old_texts(seen), Removal.Kind.HUMAN_SCORES
    ratings = sum(bool(row.assessor) for row in rows)
    counts = {"human_scores": len(rows) - ratings} | ({"ratings": ratings} if ratings else {})
    text = str(serializers.serialize("json", rows))
    removal = Removal.objects.create(study=study, user=user, kind=kind, name=name, counts=counts, rows=text)
    for batch in batches(rows):
        HumanScore.objects.filter(pk__in=[row.pk for row in batch]).delete()
    Topic.objects.filter(pk__in=seen.topics_of("summaries")).update(peers_version=F("peers_version") + 1)
    note(study, user, "remove data", removal=str(removal.key), kind=kind, name=name, **counts)


def _scores_of_old_texts(seen: Comparison) -> list[HumanScore]:
    """The human scores of summaries that change, without those that the upload gives again."""
    changed = [change.row.pk for change in seen.changes if change.kind == "summaries"]
    rows = (row for batch in batches(changed) for row in HumanScore.objects.filter(summary__in=batch))
    return [row for row in rows if row.pk not in seen.scored]


def _outdated(seen: Comparison) -> list[MetricScore]:
    """Scores by metrics from elsewhere, of summaries that change."""
    summaries = [change.row.pk for change in seen.changes if change.kind == "summaries"]
    return [
        row
        for batch in batches(summaries)
        for row in MetricScore.objects.filter(summary__in=batch, metric__startswith=GIVEN)
    ]


def _means_of(seen: Comparison) -> Iterator[HumanScore]:
    """The means of assessors' ratings of summaries, where a rating changes."""
    ratings = [change.row for change in seen.changes if change.kind == "human_scores" and change.row.assessor]
    changed = {change.row.pk for change in seen.changes if change.kind == "human_scores"}
    for batch in batches(ratings):
        means = HumanScore.objects.of_all().filter(summary__in={row.summary_id for row in batch})
        rated = {(row.summary_id, row.dimension) for row in batch}
        yield from (row for row in means if (row.summary_id, row.dimension) in rated and row.pk not in changed)


def refuse_again(study: Study, bundle: formats.Bundle, seen: Comparison) -> None:
    """Raises `formats.Refused` for judgments about changed documents or summaries, whose texts are not stored yet, and
    about topics with imported judgments: no judgment may count twice."""
    judged = {(preference.topic, preference.of) for preference in bundle.preferences}
    others = sorted(
        {
            change.topic
            for change in seen.changes
            if change.kind == "summaries" and _in_words(change.row) != _in_words(Summary(**change.columns))
        }
    )
    complaints = (
        *(
            _complaint(own.topic.name, *OTHER_DOCUMENTS)
            for own in seen.recuts
            if (own.topic.name, "sentences") in judged
        ),
        *(_complaint(name, *OTHER_SUMMARIES) for name in others if (name, "summaries") in judged),
        *(_complaint(name, *JUDGMENTS_AGAIN) for name in _with_judgments_again(study, bundle, judged)),
    )
    if complaints:
        raise formats.Refused(complaints[: formats.Refused.LIMIT])


OTHER_DOCUMENTS = (
    gettext_noop("preferences beside documents that differ from those of the study"),
    gettext_noop("the documents first, then the preferences in a file of their own"),
)
OTHER_SUMMARIES = (
    gettext_noop("preferences beside summaries that differ from those of the study"),
    gettext_noop("the summaries first, then the preferences in a file of their own"),
)
JUDGMENTS_AGAIN = (
    gettext_noop("preferences of a topic that is there with imported judgments"),
    gettext_noop("each judgment once: a file without them, or preferences that are new, in a file of their own"),
)


def _complaint(topic: str, actual: str, expected: str) -> formats.Complaint:
    return formats.Complaint(f"topic {shown(topic)}", 0, "preferences", actual, expected)


def with_other_documents(study: Study, bundle: formats.Bundle) -> Iterator[tuple[Topic, formats.Topic]]:
    """Existing topics whose documents have other texts in the bundle. Other names alone change nothing: a table's
    documents have ours."""
    records = {record.topic_id: record for record in bundle.again if record.documents}
    topics = Topic.objects.filter(study=study, name__in=records).select_related("study").order_by("position")
    for topic in topics.prefetch_related("documents"):
        stored = {row.name: row for row in topic.documents.all()}
        sent = {text.name: text for text in records[topic.name].documents}
        texts = Counter(map(_text_of, stored.values())), Counter(map(_text_of, sent.values()))
        is_named_alike = stored.keys() == sent.keys()
        if texts[0] != texts[1] or (
            is_named_alike and not all(_is_same(row, sent[name]) for name, row in stored.items())
        ):
            yield topic, records[topic.name]


def _text_of(text: SourceDocument | Reference | formats.Text) -> tuple[str, tuple[str, ...] | None]:
    return text.text or "", None if text.sentences is None else tuple(text.sentences)


def _is_same(row: SourceDocument, text: formats.Text) -> bool:
    columns = content_of(text)
    return bool(row.text == columns["text"] and row.sentences == columns["sentences"])


def _with_judgments_again(study: Study, bundle: formats.Bundle, judged: set[tuple[str, Of]]) -> list[str]:
    imported = Assignment.objects.arrived().filter(reason=Assignment.Reason.IMPORTED).order_by().values("item_set")
    names = {name for name, _of in ItemSet.objects.filter(study=study, pk__in=imported).by_name().keys() & judged}
    return [record.topic_id for record in bundle.again if record.topic_id in names]
