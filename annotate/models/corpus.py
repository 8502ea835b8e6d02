"""Source documents, their summaries, and uploads. Written by annotate.imports."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models.functions import Length
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.database.keys import KeyIs
from annotate.models.job import Job
from annotate.models.study import Study
from preferendum.formats.records import Of
from preferendum.results.planning import CHARACTERS_A_WORD, seconds_of


class TopicQuerySet(models.QuerySet["Topic"]):
    def present(self) -> Self:
        """Topics that are not removed, and not of an upload that is still being stored."""
        return self.filter(removal=None).exclude(upload__in=Upload.unfinished())

    def uncut(self) -> Self:
        """Topics whose current texts are not cut yet."""
        return self.filter(UNCUT)

    def cut(self) -> Self:
        """Topics whose sentences are of their current texts."""
        return self.exclude(UNCUT)

    def unfitted(self) -> Self:
        """Topics with newer data than scores."""
        return self.filter(UNFITTED)

    def without_documents(self) -> Self:
        """Topics that nobody judges: their data are for metrics."""
        return self.filter(NEEDS_DOCUMENTS)

    def score_anew(self) -> None:
        """Note that the topics' data for metrics, other than documents, have changed."""
        self.update(peers_version=models.F("peers_version") + 1)

    def unscored(self) -> Self:
        """Cut topics with summaries that changed since metrics scored them. Adds the `wanted` version."""
        topics = self.cut().annotate(wanted=models.F("text_version") + models.F("peers_version"))
        is_behind = models.Q(metrics__isnull=True) | models.Q(metrics__version__lt=models.F("wanted"))
        own = Summary.objects.filter(topic=models.OuterRef("pk"), has_text=True)
        return topics.filter(is_behind, models.Exists(own))

    def behind(self) -> Self:
        """Topics with newer data than sentences or scores, whatever the reason."""
        return self.filter(UNCUT | UNFITTED)


TopicManagerBase = models.Manager.from_queryset(TopicQuerySet)


class TopicManager(TopicManagerBase["Topic"]):
    """Present topics."""

    def get_queryset(self) -> TopicQuerySet:
        return TopicQuerySet(self.model, using=self._db).present()


def unfitted(item_set: str = "") -> models.Q:
    """A condition: the item set at this lookup path has newer data than scores.

    One without progress was never fitted, which is right until there is something to fit.
    """
    progress, tally = f"{item_set}progress", f"{item_set}tally__data_version"
    is_old = models.Q(**{f"{progress}__fitted_version__lt": models.F(tally)})
    return is_old | models.Q(**{f"{progress}__isnull": True, f"{tally}__gt": 0})


UNCUT = models.Q(cut_version__lt=models.F("text_version"))
UNFITTED = unfitted("sentence_set__")

# A topic without documents has no sentences to judge, and so no tally.
NEEDS_DOCUMENTS = models.Q(sentence_set__tally__isnull=True)


class Topic(models.Model):
    """What one set of source documents is about.

    One without a name stands for imported answers that do not say what they are about.

    `text_version` rises whenever its texts or their cutting change; `cut_version` is the one that its sentences are of.
    `base`: the name of the topic with the earlier documents, if this one is its update.
    `peers_version` rises with everything else that metrics rest on: summaries, references and human scores.
    While its `upload` is being stored, nobody sees it: `objects` leaves it out, `with_unfinished` has it. The same
    holds while it is removed (`removal`): then it has documents, sentences and void judgments, but no tally.
    `last_scored_version`: that of its metrics' scores when they were last deleted. Later ones are higher, and until
    then sums of versions have this.

    `sentence_set`: its sentences, which annotators judge; its key is the topic's. They may judge its summaries, too
    (`annotate.imports.compared`): these are another one of its `item_sets`.
    """

    sentence_set = models.OneToOneField(
        "ItemSet", on_delete=models.CASCADE, primary_key=True, db_column="id", related_name="+"
    )
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="topics")
    name = models.CharField(_("topic id"), max_length=200)
    title = models.CharField(_("title"), max_length=1000, blank=True)
    question = models.TextField(_("question"), max_length=10_000, blank=True)
    language = models.CharField(_("language"), max_length=60, blank=True)
    base = models.CharField(_("update of"), max_length=200, blank=True)
    position = models.PositiveIntegerField()
    text_version = models.PositiveIntegerField(default=1)
    cut_version = models.PositiveIntegerField(default=0)
    peers_version = models.PositiveIntegerField(default=1)
    last_scored_version = models.PositiveBigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    extra = models.JSONField(default=dict, blank=True)
    upload = models.ForeignKey("Upload", on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    removal = models.ForeignKey("Removal", on_delete=models.CASCADE, null=True, blank=True, related_name="topics")

    objects = TopicManager()
    with_unfinished = TopicQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "name"], name="topic_once_a_study", condition=models.Q(removal=None)
            ),
            models.UniqueConstraint(fields=["study", "position"], name="topic_one_a_position"),
        ]

    def __str__(self) -> str:
        return self.title or self.name or gettext("Answers that name no topic")

    @property
    def prompt(self) -> str:
        """The heading above summaries without source documents; empty if there are documents."""
        return "" if self.documents.exists() else self.question or self.title or self.name

    @property
    def is_cut(self) -> bool:
        """Whether its sentences are of its current texts."""
        return self.cut_version >= self.text_version

    @property
    def is_fitted(self) -> bool:
        """Whether its scores rest on all judgments of its sentences; always true without documents."""
        return self.sentence_set.is_fitted

    @property
    def needs_documents(self) -> bool:
        """Whether its sentences cannot be judged because it has no documents."""
        return not hasattr(self.sentence_set, "tally")


Topic._meta.get_field("sentence_set").register_lookup(KeyIs)


class ItemSetQuerySet(models.QuerySet["ItemSet"]):
    def present(self) -> Self:
        """Item sets that are not removed, and not of an upload that is still being stored."""
        return self.filter(removal=None).exclude(topic__upload__in=Upload.unfinished())

    def by_name(self) -> dict[tuple[str, Of], int]:
        """Keys by the topic's name and by what is compared."""
        return {(name, of): pk for name, of, pk in self.values_list("topic__name", "of", "pk")}


ItemSetManagerBase = models.Manager.from_queryset(ItemSetQuerySet)


class ItemSetManager(ItemSetManagerBase["ItemSet"]):
    """Present item sets."""

    def get_queryset(self) -> ItemSetQuerySet:
        return ItemSetQuerySet(self.model, using=self._db).present()


class ItemSet(models.Model):
    """What annotators judge of one topic: the sentences of its documents, or its summaries.

    Pairs, judgments and fits are of an item set. Those of removed summaries stay as history (`removal`), as those of a
    removed topic do. `last_data_version`: that of its tally when results were last deleted. Later ones are
    higher, and until then sums of versions have this.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="item_sets")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="item_sets")
    of: models.CharField[Of, Of] = models.CharField(max_length=9)
    removal = models.ForeignKey("Removal", on_delete=models.CASCADE, null=True, blank=True, related_name="item_sets")
    last_data_version = models.PositiveBigIntegerField(default=0, editable=False)

    objects = ItemSetManager()
    with_unfinished = ItemSetQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["topic"],
                name="item_set_of_summaries_once_a_topic",
                condition=models.Q(removal=None, of="summaries"),
            ),
            models.CheckConstraint(
                condition=models.Q(of__in=["sentences", "summaries"]), name="item_set_of_sentences_or_summaries"
            ),
        ]

    def __str__(self) -> str:
        return str(self.topic)

    @property
    def is_fitted(self) -> bool:
        """Whether its scores rest on all its judgments; always true without a tally."""
        progress, tally = getattr(self, "progress", None), getattr(self, "tally", None)
        return tally is None or (progress.fitted_version if progress else 0) >= tally.data_version


class Uploaded(models.Model):
    """Rows of an upload; None for rows that are older than this column, or of another origin."""

    upload = models.ForeignKey(
        "Upload", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )

    class Meta:
        abstract = True


class StoredText(models.Model):
    """A text: whole (`text`), or as its provider cut it (`sentences`)."""

    text = models.TextField(blank=True)
    sentences = models.JSONField(null=True, blank=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        abstract = True

    @property
    def whole(self) -> str:
        """The text; given sentences are on a line each."""
        return self.text if self.sentences is None else "\n".join(self.sentences)


class TopicText(StoredText):
    """A text of a topic, in its place."""

    name = models.CharField(max_length=300)
    position = models.PositiveIntegerField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class SourceDocument(TopicText):
    """One of the texts that are summarized. `mended` (if any) is how a person cut it, instead of our cutting."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="documents")
    mended = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["topic", "name"], name="document_once_a_topic")]

    def spaced(self, last: int | None = None) -> list[tuple[str, Item]]:
        """Its sentences, up to the index `last`, each with the white space and marks that stand before it."""
        rows = self.cut_sentences.order_by("index")
        end, pieces = 0, list[tuple[str, Item]]()
        for row in rows if last is None else rows.filter(index__lte=last):
            start = self.whole.find(row.text, end)
            between = self.whole[end : max(start, end)]
            if start < 0 or any(map(str.isalnum, between)):  # a person joined or split it, with other white space
                between = "\n" if pieces and pieces[-1][1].paragraph != row.paragraph else " "
            else:
                end = start + len(row.text)
            pieces.append((between, row))
        return pieces


#: The lengths of the texts of so many topics tell how long a pair of their study takes.
TOPICS_READ = 50


class ItemQuerySet(models.QuerySet["Item"]):
    def to_judge(self) -> Self:
        """Sentences that may be judged."""
        return self.filter(not_judged="")

    def of_sources(self, study: Study) -> Self:
        """The sentences of a study's source documents."""
        return self.filter(item_set__study=study, item_set__removal=None, item_set__of="sentences")

    def paces(self, study: Study) -> dict[bool, float]:
        """The expected seconds for a pair of the study, by the words to read: of sentences (False), and of whole
        summaries (True). The first topics tell: no page reads all texts of a large study."""
        sets = ItemSet.with_unfinished.filter(study=study, removal=None).order_by("pk").values("pk")
        first = [models.Q(item_set__in=sets.filter(of=of)[:TOPICS_READ]) for of in ("sentences", "summaries")]
        means = [models.Avg(Length("text"), filter=own) for own in first]
        lengths = self.to_judge().filter(first[0] | first[1]).aggregate(sentences=means[0], summaries=means[1])
        return {
            of == "summaries": seconds_of(2 * length / CHARACTERS_A_WORD) for of, length in lengths.items() if length
        }

    def names(self) -> dict[int, str]:
        """Public names by key."""
        rows = self.order_by().values_list("pk", "system", "document__name", "index")
        return {pk: system or f"{document}:{index}" for pk, system, document, index in rows}


class Item(models.Model):
    """What is judged: a sentence of a source document (`document`), or the whole summary of a `system`, by name.

    `<document>:<index>` is a sentence's public name, that of its system a summary's. `position`: its place in the set.

    `turns`: the conversation that a summary was given as, if any; its `text` is then what the assistant says.
    `not_judged`: why it is not judged: the rule by which it looks like no sentence (`preferendum.formats.not_judged`),
    or by a researcher's decision; empty if it is judged.
    """

    class NotJudged(models.TextChoices):
        BY_HAND = "by-hand", _("left out by a researcher")
        NO_LETTERS = "no-letters", _("has no letters")
        LINK = "link", _("is a link or an address")
        DATELINE = "dateline", _("is a date or a place by itself")
        BYLINE = "byline", _("says who wrote it")
        CAPTION = "caption", _("is the caption of a picture")
        ATTRIBUTION = "attribution", _("says whom a quotation is from")
        NOTICE = "notice", _("is a notice, not a part of the text")
        LIST_ITEM = "list-item", _("is an item of a list, not a sentence")
        HEADING = "heading", _("is a heading")
        FRAGMENT = "fragment", _("is a fragment of a sentence")
        DUPLICATE = "duplicate", _("repeats an earlier sentence of the topic")
        NO_TEXT = "no-text", _("has no text here")

    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="items")
    document = models.ForeignKey(
        SourceDocument, on_delete=models.CASCADE, null=True, blank=True, related_name="cut_sentences"
    )
    system = models.CharField(max_length=200, blank=True, default="")
    index = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    paragraph = models.PositiveIntegerField(default=0)
    text = models.TextField()
    turns = models.JSONField(null=True, blank=True)
    not_judged = models.CharField(max_length=20, choices=NotJudged.choices, blank=True, default="")

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["document", "index"], name="item_once_an_index"),
            models.UniqueConstraint(fields=["item_set", "position"], name="item_once_a_position"),
            models.UniqueConstraint(
                fields=["item_set", "system", "index"], name="item_once_a_system", condition=~models.Q(system="")
            ),
            models.CheckConstraint(
                condition=models.Q(document__isnull=True) ^ models.Q(system=""), name="item_of_document_or_system"
            ),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        return self.system if self.document is None else f"{self.document.name}:{self.index}"

    @property
    def utility(self) -> Any:
        """Its utility in the recommended fit; None if nothing is computed yet."""
        return _scored_by("recommended", self.utilities.all())

    @property
    def published_utility(self) -> Any:
        """Its utility in the fit as published."""
        return _scored_by("published", self.utilities.all())


class Reference(TopicText, Uploaded):
    """A summary by a person, as a model."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="references")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["topic", "name"], name="reference_once_a_topic")]


class PyramidAnnotation(Uploaded):
    """The content units that people found in a topic's references and summaries; `data` as `pyramid_json` reads it."""

    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, related_name="pyramid")
    data = models.JSONField()
    assessor = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"Pyramid of {self.topic}"


class System(models.Model):
    """A summarizer."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(_("system"), max_length=200)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="system_once_a_study")]

    def __str__(self) -> str:
        return self.name


class Summary(StoredText, Uploaded):
    """One system's summary of one topic. A person's may be a reference, too: then `reference` names it.

    Without `has_text` only answers about it are known, as of votes whose file has no texts: nobody can judge it here.
    `turns`: the conversation that it was given as, if any: [{"role", "content"}]. Its `text` is then what the assistant
    says.
    """

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="summaries")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="summaries")
    has_text = models.BooleanField(default=True, editable=False)
    person = models.BooleanField(_("written by a person"), default=False)
    reference = models.CharField(_("is the reference"), max_length=200, blank=True)
    turns = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "summaries"
        ordering = ["topic__position", "system__name"]
        constraints = [models.UniqueConstraint(fields=["topic", "system"], name="summary_once_a_topic_and_system")]
        indexes = [
            models.Index(fields=["system"], name="summary_by_person", condition=models.Q(person=True)),
            models.Index(fields=["topic"], name="summary_without_text", condition=models.Q(has_text=False)),
        ]

    def __str__(self) -> str:
        return f"{self.system} · {self.topic}"

    @classmethod
    def keys_of(cls, topics: Collection[int]) -> dict[tuple[int, str], int]:
        """The key of each summary of these topics, by the topic's key and the system's name."""
        rows = cls.objects.filter(topic__in=topics).values_list("pk", "topic_id", "system__name")
        return {(topic_id, system): pk for pk, topic_id, system in rows}

    @classmethod
    def human_authors(cls, study: int) -> set[str]:
        """The names of the people among a study's systems."""
        written = cls.objects.filter(topic__study=study, person=True)
        return set(written.order_by().values_list("system__name", flat=True))

    @property
    def recommended(self) -> Any:
        """Its recommended score; None if nothing is computed yet."""
        return _scored_by("recommended", self.scores.all())

    @property
    def published(self) -> Any:
        """Its score as published."""
        return _scored_by("published", self.scores.all())


class HumanScoreQuerySet(models.QuerySet["HumanScore"]):
    def of_all(self) -> Self:
        """Scores by all people together: the mean, if assessors rated."""
        return self.filter(assessor="")

    def ratings(self) -> Self:
        """Scores by single assessors."""
        return self.exclude(assessor="")


class HumanScore(Uploaded):
    """A score of one summary in one dimension, higher is better, by all people together or by one `assessor`."""

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="human_scores")
    dimension = models.CharField(max_length=200)
    assessor = models.CharField(max_length=200, blank=True, default="")
    score = models.FloatField()

    objects = HumanScoreQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["summary", "dimension", "assessor"], name="human_score_once_an_assessor")
        ]

    def __str__(self) -> str:
        return f"{self.dimension} {self.score}"


def _scored_by(scored_by: str, rows: Iterable[Any]) -> Any:
    """The one of a few rows that are fetched already."""
    return next((row for row in rows if row.scored_by == scored_by), None)


def upload_path(upload: Upload, filename: str) -> str:
    """A random name: the visitor's file name is data, never a path."""
    return f"uploads/{upload.key}"


class Upload(Job):
    """A file for a study: read by the worker, confirmed by a person, then stored whole or not at all.

    `preview`: {"topics": [{"name", "title", "documents", "sentences", "not_judged", "references", "summaries",
    "without_text" (of these), and of its Pyramid "content_units", "annotated": numbers}], "cuts": [{"topic",
    "document", "sentences": [[text, rule by which it is not to be judged]], and where a person changed these "changed",
    "mended" (borders): true}] of the first documents, "changes": how often, "systems": [names], "persons": number of
    all summaries that people wrote, "metrics": [{"name", "scores"}], "assessors", "ratings": numbers of all who rated
    and of what they gave, "summaries", "human_scores", "pyramids", "preferences": numbers of those for topics that the
    study has already or (preferences) of all, "replacements": [{"kind", "topic", "name", "before", "after"}] of what
    exists and differs, "replaced", "unchanged": {kind: number} of all that exists, "recuts": [{"topic", "kept", "gone",
    "new": numbers of sentences, "judgments_kept", "judgments_lost"}] of topics whose documents are replaced,
    "asks_again": true where that is no longer what was confirmed, "version", "removals": of the study's data when the
    file was read, "scores_of_old_texts": number of human scores of summaries that are replaced, "drops_scores": whether
    these are removed, "preferences_by_kind": {kind of annotators: number}, "remarks": [{"file", "said", "params"}]}.
    `table`: of a file that is one, {"header", "rows": the first three, "roles": {column: role}, "is_certain"};
    `columns`: {role: [columns]} as a person chose them. While it is not certain which column is what, the file is
    `asked` about. `complaints`: [{"file", "line", "field", "found", "expected", "params"}], as in
    `preferendum.formats.records.Complaint`. `judgments_stored`: how many of its judgments are stored, while storing;
    None before and after. Meanwhile nobody sees anything of it. `baseline_words`: the length of the summaries by
    standard summarizers that the worker has to write into the file first; None for files that users sent, and once they
    are written. Until then `preview` is {"written", "of": numbers of topics}. `simulation`: the same for judgments to
    be simulated, {"source": "references" or "pyramid", "per_topic", "seed"}. `copied_from`: the same for the topics of
    another study.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be read")
        ASKED = "asked", _("waiting for your choice of columns")
        READY = "ready", _("waiting for your confirmation")
        REFUSED = "refused", _("refused")
        CONFIRMED = "confirmed", _("being stored")
        STORED = "stored", _("stored")
        DISCARDED = "discarded", _("discarded")
        FAILED = "failed", _("failed")

    WAITING = ("waiting", "confirmed")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    file = models.FileField(upload_to=upload_path, max_length=200)
    filename = models.CharField(max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    table = models.JSONField(null=True, editable=False)
    columns = models.JSONField(null=True, editable=False)
    preview = models.JSONField(default=dict)
    complaints = models.JSONField(default=list)
    baseline_words = models.PositiveSmallIntegerField(null=True, editable=False)
    simulation = models.JSONField(null=True, editable=False)
    copied_from = models.ForeignKey(Study, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    judgments_stored = models.PositiveIntegerField(null=True, editable=False)

    class Meta:
        indexes = [
            models.Index(fields=["id"], name="upload_waiting", condition=models.Q(state__in=["waiting", "confirmed"])),
            models.Index(fields=["id"], name="upload_unfinished", condition=models.Q(judgments_stored__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.filename

    @property
    def contents(self) -> dict[str, int]:
        """The numbers of what its file has; empty before it is read."""
        preview = self.preview
        if "topics" not in preview:
            return {}
        topics = preview["topics"]
        return {
            "topics": len(topics),
            "documents": sum(topic["documents"] for topic in topics) + preview.get("replaced", {}).get("documents", 0),
            "references": sum(topic["references"] for topic in topics),
            "summaries": preview.get("summaries", 0) + sum(topic["summaries"] for topic in topics),
            "human_scores": sum(dimension["scores"] for dimension in preview.get("dimensions", ())),
            "metric_scores": sum(metric["scores"] for metric in preview.get("metrics", ())),
            "pyramids": preview.get("pyramids", 0) + sum(bool(topic.get("content_units")) for topic in topics),
            "judgments": preview.get("preferences", 0),
        }

    @classmethod
    def unfinished(cls) -> models.QuerySet[Upload]:
        """Uploads that are stored in part: everything of them has to be left out."""
        return cls.objects.filter(judgments_stored__isnull=False)

    @classmethod
    def waiting(cls) -> models.QuerySet[Upload]:
        """Uploads to read or to store, and those that are stored in part and must be removed."""
        return super().waiting() | cls.unfinished()
