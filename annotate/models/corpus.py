"""What is summarized and what was made of it, and the uploads that brought it. Written by annotate.imports."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models.functions import Length
from django.utils.translation import gettext_lazy as _

from annotate.models.job import Job
from annotate.models.study import Study
from formats.records import Of
from formats.results.planning import CHARACTERS_A_WORD, SECONDS, seconds_of


def of_what(summaries_of: int | None) -> Of:
    """What people compare in a topic whose texts are the summaries of another one, or not."""
    return "sentences" if summaries_of is None else "summaries"


class TopicQuerySet(models.QuerySet["Topic"]):
    def present(self) -> Self:
        """Not those that were removed, nor those of an upload that is still being stored."""
        return self.filter(removal=None).exclude(upload__in=Upload.unfinished())

    def by_name(self) -> dict[tuple[str, Of], int]:
        """Their keys by their names and by what is compared there."""
        return {(name, of_what(own)): pk for name, own, pk in self.values_list("name", "summaries_of", "pk")}

    def uncut(self) -> Self:
        """Those whose texts are not cut as they stand now."""
        return self.filter(UNCUT)

    def cut(self) -> Self:
        """Those whose sentences are of their texts as they stand now."""
        return self.exclude(UNCUT)

    def unfitted(self) -> Self:
        """Those with judgments or texts that are newer than their scores."""
        return self.filter(UNFITTED)

    def without_documents(self) -> Self:
        """Those about which nobody is asked: what they have is for metrics."""
        return self.filter(NEEDS_DOCUMENTS)

    def score_anew(self) -> None:
        """Say that what metrics rest on, other than documents, has changed in them."""
        self.update(peers_version=models.F("peers_version") + 1)

    def unscored(self) -> Self:
        """Those whose summaries are to be scored by metrics: cut, and changed since. Adds the `wanted` version."""
        topics = self.cut().annotate(wanted=models.F("text_version") + models.F("peers_version"))
        is_behind = models.Q(metrics__isnull=True) | models.Q(metrics__version__lt=models.F("wanted"))
        return topics.filter(is_behind, models.Exists(Summary.objects.filter(topic=models.OuterRef("pk"))))

    def behind(self) -> Self:
        """Those that are not cut or not fitted as they stand now, whatever the reason."""
        return self.filter(UNCUT | UNFITTED)


TopicManagerBase = models.Manager.from_queryset(TopicQuerySet)


class AskedManager(TopicManagerBase["Topic"]):
    """What people may be asked about: topics, and beside each of them the summaries that are compared there."""

    def get_queryset(self) -> TopicQuerySet:
        return TopicQuerySet(self.model, using=self._db).present()


class TopicManager(TopicManagerBase["Topic"]):
    """The topics that are there."""

    def get_queryset(self) -> TopicQuerySet:
        return TopicQuerySet(self.model, using=self._db).present().filter(summaries_of=None)


UNCUT = models.Q(cut_version__lt=models.F("text_version"))
# What has no progress was never fitted, which is as it should be until there is something to fit.
UNFITTED = models.Q(progress__fitted_version__lt=models.F("tally__data_version")) | models.Q(
    progress__isnull=True, tally__data_version__gt=0
)

# Nobody is asked about the sentences of a topic without documents: it has no tally.
NEEDS_DOCUMENTS = models.Q(tally__isnull=True)


class Topic(models.Model):
    """What one set of source documents is about.

    `text_version` rises whenever its texts or their cutting change; `cut_version` is that of which its sentences are.
    `base`: the name of the topic with the earlier documents, if this one is its update.
    `peers_version` rises with everything else that metrics rest on: summaries and what people said of them.
    While `upload`, which brings it, is being stored, nobody sees it: `objects` leaves it out, `with_unfinished` has it.
    So it is while it is removed (`removal`): then it has documents, sentences and judgments that are void, no tally.

    To all that serves and stores judgments, the summaries of a topic are a topic of their own: `summaries_of` is the
    topic, each of its documents is the summary of the system of this name, in one sentence, and it stands in no list
    (`asked` has it, `objects` leaves it out). See `annotate.imports.compared`.
    """

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
    created_at = models.DateTimeField(auto_now_add=True)
    extra = models.JSONField(default=dict, blank=True)
    upload = models.ForeignKey("Upload", on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    removal = models.ForeignKey("Removal", on_delete=models.CASCADE, null=True, blank=True, related_name="topics")
    summaries_of = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="+")

    objects = TopicManager()
    asked = AskedManager()
    with_unfinished = TopicQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "name"],
                name="topic_once_a_study",
                condition=models.Q(removal=None, summaries_of=None),
            ),
            models.UniqueConstraint(
                fields=["summaries_of"], name="topic_compared_once", condition=models.Q(removal=None)
            ),
            models.UniqueConstraint(fields=["study", "position"], name="topic_one_a_position"),
        ]

    def __str__(self) -> str:
        return self.title or self.name

    @property
    def compares_summaries(self) -> bool:
        """Whether its texts are the summaries of a topic, to be compared whole."""
        return self.summaries_of_id is not None

    @property
    def of(self) -> Of:
        """What its texts are, as files say it."""
        return of_what(self.summaries_of_id)

    def sources(self) -> models.QuerySet[SourceDocument]:
        """The source documents of what is compared here."""
        return SourceDocument.objects.filter(topic=self.summaries_of_id or self.pk)

    @property
    def prompt(self) -> str:
        """What summaries answer that have no source documents, to be shown above them; empty where they have some."""
        return "" if self.sources().exists() else self.question or self.title or self.name

    @property
    def is_cut(self) -> bool:
        """Whether its sentences are of its texts as they stand now."""
        return self.cut_version >= self.text_version

    @property
    def is_fitted(self) -> bool:
        """Whether its scores rest on all that it has: one without documents has no scores to come."""
        progress, tally = getattr(self, "progress", None), getattr(self, "tally", None)
        return tally is None or (progress.fitted_version if progress else 0) >= tally.data_version

    @property
    def needs_documents(self) -> bool:
        """Whether nobody is asked about its sentences because it has no documents."""
        return not hasattr(self, "tally")


class Uploaded(models.Model):
    """What an upload brought; unknown of what is older than this column, or came by another way."""

    upload = models.ForeignKey(
        "Upload", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )

    class Meta:
        abstract = True


class StoredText(models.Model):
    """A text: whole (`text`), or as its provider (or a person mending our cutting) cut it (`sentences`)."""

    text = models.TextField(blank=True)
    sentences = models.JSONField(null=True, blank=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        abstract = True

    @property
    def whole(self) -> str:
        """The text; one that came in sentences has each on a line."""
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


class SentenceQuerySet(models.QuerySet["Sentence"]):
    def to_judge(self) -> Self:
        """Those that people are asked about."""
        return self.filter(not_judged="")

    def of_sources(self, study: Study) -> Self:
        """Those of the source documents of a study, whatever else people compare there."""
        return self.filter(topic__study=study, topic__removal=None, topic__summaries_of=None)

    def paces(self, study: Study) -> dict[bool, float]:
        """Seconds that a pair of the study's is expected to take, by the words to be read: of sentences (False), and of
        whole summaries (True)."""
        lengths = (
            self.to_judge()
            .filter(topic__study=study, topic__removal=None)
            .aggregate(
                of_sources=models.Avg(Length("text"), filter=models.Q(topic__summaries_of=None)),
                of_summaries=models.Avg(Length("text"), filter=models.Q(topic__summaries_of__isnull=False)),
            )
        )
        by_kind = {False: lengths["of_sources"], True: lengths["of_summaries"]}
        return {kind: seconds_of(2 * length / CHARACTERS_A_WORD) for kind, length in by_kind.items() if length}

    def pace(self, study: Study) -> float:
        """The same of the study's pairs on average, as often as it asks about each kind."""
        shares = {False: 1.0, True: 0.0} if study.compares == "sentences" else {False: 0.0, True: 1.0}
        if study.compares == "both":
            shares = {False: 1 - study.summary_share, True: study.summary_share}
        paces = {kind: pace for kind, pace in self.paces(study).items() if shares[kind]}
        weight = sum(shares[kind] for kind in paces)
        return sum(shares[kind] * pace for kind, pace in paces.items()) / weight if weight else SECONDS

    def names(self) -> dict[int, str]:
        """Their public names by their keys."""
        rows = self.order_by().values_list("pk", "document__name", "index", "topic__summaries_of")
        return {pk: f"{name}:{index}" if summaries_of is None else name for pk, name, index, summaries_of in rows}


class Sentence(models.Model):
    """A sentence of a source document; `<document>:<index>` is its public name, `position` its place in the topic. Or a
    whole summary, which is called as its system is.

    `not_judged`: why nobody is asked about it: the rule by which it looks like no sentence (`formats.not_judged`), or
    that a researcher said so; empty where people are asked.
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

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="sentences")
    document = models.ForeignKey(SourceDocument, on_delete=models.CASCADE, related_name="cut_sentences")
    index = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    paragraph = models.PositiveIntegerField(default=0)
    text = models.TextField()
    not_judged = models.CharField(max_length=20, choices=NotJudged.choices, blank=True, default="")

    objects = SentenceQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["document", "index"], name="sentence_once_an_index"),
            models.UniqueConstraint(fields=["topic", "position"], name="sentence_once_a_position"),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        return self.document.name if self.topic.compares_summaries else f"{self.document.name}:{self.index}"

    @property
    def utility(self) -> Any:
        """What the recommended fit says of it; None where nothing has been computed."""
        return _scored_by("recommended", self.utilities.all())

    @property
    def published_utility(self) -> Any:
        """What the fit as published says of it."""
        return _scored_by("published", self.utilities.all())


class Reference(TopicText, Uploaded):
    """A summary written by a person, as a model of what to say."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="references")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["topic", "name"], name="reference_once_a_topic")]


class PyramidAnnotation(Uploaded):
    """What people found the references and the summaries of a topic to say; `data` as `pyramid_json` reads it."""

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
    """What one system wrote for one topic, or a person: then `reference` may name the reference that it is itself."""

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="summaries")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="summaries")
    person = models.BooleanField(_("written by a person"), default=False)
    reference = models.CharField(_("is the reference"), max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "summaries"
        ordering = ["topic__position", "system__name"]
        constraints = [models.UniqueConstraint(fields=["topic", "system"], name="summary_once_a_topic_and_system")]

    def __str__(self) -> str:
        return f"{self.system} · {self.topic}"

    @classmethod
    def keys_of(cls, topics: Collection[int]) -> dict[tuple[int, str], int]:
        """The key of each summary of these topics, by the topic's key and the system's name."""
        rows = cls.objects.filter(topic__in=topics).values_list("pk", "topic_id", "system__name")
        return {(topic_id, system): pk for pk, topic_id, system in rows}

    @property
    def recommended(self) -> Any:
        """Its recommended score; None where nothing has been computed."""
        return _scored_by("recommended", self.scores.all())

    @property
    def published(self) -> Any:
        """Its score as published."""
        return _scored_by("published", self.scores.all())


class HumanScoreQuerySet(models.QuerySet["HumanScore"]):
    def of_all(self) -> Self:
        """What all people together gave: the mean, where assessors rated."""
        return self.filter(assessor="")

    def ratings(self) -> Self:
        """What single assessors gave."""
        return self.exclude(assessor="")


class HumanScore(Uploaded):
    """What people thought of one summary in one dimension, higher is better: all of them, or one, the `assessor`."""

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
    """A random name: what the visitor called the file is data, never a path."""
    return f"uploads/{upload.key}"


class Upload(Job):
    """A file on its way into a study: read by the worker, looked at by a person, then stored whole or not at all.

    `preview`: {"topics": [{"name", "title", "documents", "sentences", "not_judged", "references", "summaries", and of
    its Pyramid "content_units", "annotated": numbers}], "cuts": [{"topic", "document", "sentences": [[text, rule by
    which it is not to be judged]], and where a person changed these "changed", "mended" (borders): true}] of the first
    documents, "changes": how often, "systems": [names], "persons": number of all summaries
    that people wrote, "metrics": [{"name", "scores"}], "assessors", "ratings": numbers of all who rated and of what
    they gave, "summaries", "human_scores", "pyramids", "preferences": numbers of those for topics that the study has
    already or (preferences) of all, "replacements": [{"kind", "topic", "name", "before", "after"}] of what is there and
    differs, "replaced", "unchanged": {kind: number} of all that is there, "recuts": [{"topic", "kept", "gone", "new":
    numbers of sentences, "judgments_kept", "judgments_lost"}] of topics whose documents are replaced, "asks_again":
    true where that is no longer what was confirmed, "preferences_by_kind": {kind of annotators: number}, "remarks":
    [{"file", "said", "params"}]}.
    `complaints`: [{"file", "line", "field", "found", "expected", "params"}], as in `formats.records.Complaint`.
    `judgments_stored`: how many of its judgments are stored, from when it is begun until all is; None before and after.
    Nobody sees anything of it meanwhile. `baseline_words`: how long summaries by standard summarizers are to be, which
    the worker is to write into the file first; None for what somebody sent, and once they are written. Until then
    `preview` is {"written", "of": numbers of topics}. `simulation`: the same for judgments to be simulated, {"source":
    "references" or "pyramid", "per_topic", "seed"}. `copied_from`: the same for the topics of
    another study.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be read")
        READY = "ready", _("waiting for your confirmation")
        REFUSED = "refused", _("refused")
        CONFIRMED = "confirmed", _("being stored")
        STORED = "stored", _("stored")
        DISCARDED = "discarded", _("discarded")
        FAILED = "failed", _("failed")

    WAITING = ("waiting", "confirmed")

    user: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    file = models.FileField(upload_to=upload_path, max_length=200)
    filename = models.CharField(max_length=300)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    preview = models.JSONField(default=dict)
    complaints = models.JSONField(default=list)
    baseline_words = models.PositiveSmallIntegerField(null=True, editable=False)
    simulation = models.JSONField(null=True, editable=False)
    copied_from = models.ForeignKey(Study, on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    judgments_stored = models.PositiveIntegerField(null=True, editable=False)

    class Meta:
        indexes = [
            models.Index(
                fields=["id"],
                name="upload_waiting",
                condition=models.Q(state__in=["waiting", "confirmed"]),
            ),
            models.Index(fields=["id"], name="upload_unfinished", condition=models.Q(judgments_stored__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.filename

    @property
    def contents(self) -> dict[str, int]:
        """How many of what its file has; empty before it is read."""
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
        """Those of which a part is stored: all that they bring is to be left out."""
        return cls.objects.filter(judgments_stored__isnull=False)

    @classmethod
    def waiting(cls) -> models.QuerySet[Upload]:
        """Those to read or to store, and those of which a part is stored and must go again."""
        return super().waiting() | cls.unfinished()
