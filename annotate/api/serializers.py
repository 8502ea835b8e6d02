"""What goes in and out as JSON, every field by name. What comes in may hold no key that is not known here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

import formats
from annotate import access, links
from annotate.models import (
    Annotator,
    Assignment,
    Export,
    Invitation,
    Judgment,
    Membership,
    Sentence,
    Study,
    Summary,
    Token,
    Topic,
    Upload,
)
from annotate.studies import SETTINGS

Row = TypeVar("Row")


class Strict(serializers.Serializer[Row]):
    """For what comes in: a key that is not known is a mistake, and is said to be one."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({name: [_("There is no such field.")] for name in unknown})
        return super().to_internal_value(data)


# Studies


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study with its settings; `role` is what you are in it."""

    role = serializers.SerializerMethodField()
    topics = serializers.IntegerField(source="topic_count", read_only=True)

    class Meta:
        model = Study
        fields = ["id", *SETTINGS, "state", "created_at", "role", "topics"]
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=Membership.Role.choices, allow_null=True))
    def get_role(self, study: Study) -> str | None:
        user = cast(Request, self.context["request"]).user
        return next((one.role for one in study.memberships.all() if one.user_id == user.pk), None)


class NewStudySerializer(Strict[Study], serializers.ModelSerializer[Study]):
    """The settings of a new study; only the title is needed."""

    class Meta:
        model = Study
        fields = [*SETTINGS]


class StudyChangesSerializer(Strict[Study], serializers.ModelSerializer[Study]):
    """Settings to change, and the state: only open studies hand out pairs."""

    class Meta:
        model = Study
        fields = [*SETTINGS, "state"]


class StudyDeletionSerializer(Strict[Any]):
    """The title, typed once more, so that no study is deleted by a slip."""

    title = serializers.CharField(max_length=200)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        model = Membership
        fields = ["user", "username", "role", "created_at"]
        read_only_fields = fields


class MemberRoleSerializer(Strict[Any]):
    role = serializers.ChoiceField(choices=Membership.Role.choices)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """A link that lets people in; `link` is the whole address."""

    link = serializers.SerializerMethodField()

    class Meta:
        model = Invitation
        fields = ["id", "role", "label", "expires_at", "max_uses", "uses", "revoked_at", "created_at", "link"]
        read_only_fields = fields

    @extend_schema_field(serializers.URLField())
    def get_link(self, invitation: Invitation) -> str:
        return f"{settings.ORIGIN}{links.invitation_path(invitation)}"


class NewInvitationSerializer(Strict[Invitation], serializers.ModelSerializer[Invitation]):
    class Meta:
        model = Invitation
        fields = ["role", "label", "expires_at", "max_uses"]


# Texts


class TopicSerializer(serializers.ModelSerializer[Topic]):
    """A topic and how far the worker has come with it.

    `cut`: its sentences are there. `up_to_date`: its scores rest on all that was judged. `judgments`: how many they
    rest on. `problem`: why the worker could not, in plain words.
    """

    cut = serializers.SerializerMethodField()
    up_to_date = serializers.SerializerMethodField()
    problem = serializers.CharField(source="progress.problem", default="", read_only=True)
    sentences = serializers.IntegerField(source="sentence_count", read_only=True)
    judgments = serializers.IntegerField(source="judgment_count", read_only=True)

    class Meta:
        model = Topic
        fields = [
            "id",
            "name",
            "title",
            "question",
            "language",
            "position",
            "extra",
            "cut",
            "up_to_date",
            "problem",
            "sentences",
            "judgments",
        ]
        read_only_fields = fields

    def get_cut(self, topic: Topic) -> bool:
        progress = getattr(topic, "progress", None)
        return progress is not None and progress.prepared_version >= topic.text_version

    def get_up_to_date(self, topic: Topic) -> bool:
        progress, tally = getattr(topic, "progress", None), getattr(topic, "tally", None)
        return (
            progress is not None
            and tally is not None
            and self.get_cut(topic)
            and progress.fitted_version >= tally.data_version
        )


class TextSerializer(serializers.Serializer[Any]):
    """A text as it was uploaded: whole, or in `sentences` that its provider had cut."""

    name = serializers.CharField()
    text = serializers.CharField()
    sentences = serializers.ListField(child=serializers.CharField(), allow_null=True)
    extra = serializers.DictField()


class DocumentSerializer(TextSerializer):
    """A source document as it was uploaded; `mended`: how a person cut it instead."""

    id = serializers.IntegerField()
    mended = serializers.ListField(child=serializers.CharField(), allow_null=True)


class MendingSerializer(Strict[Any]):
    """How a document is to be cut; null for our own cutting. Only borders move: no word is added, lost or changed."""

    sentences = serializers.ListField(
        child=serializers.CharField(max_length=1_000_000, allow_blank=True, trim_whitespace=False),
        allow_null=True,
        max_length=100_000,
    )


class SentenceSerializer(serializers.ModelSerializer[Sentence]):
    """A source sentence, what it is worth and what that rests on; null where nothing was computed yet."""

    name = serializers.SerializerMethodField()
    document = serializers.CharField(source="document.name", read_only=True)
    strength = serializers.FloatField(source="utility.strength", default=None, allow_null=True, read_only=True)
    utility = serializers.FloatField(source="utility.utility", default=None, allow_null=True, read_only=True)
    se = serializers.FloatField(source="utility.se", default=None, allow_null=True, read_only=True)
    low = serializers.FloatField(source="utility.low", default=None, allow_null=True, read_only=True)
    high = serializers.FloatField(source="utility.high", default=None, allow_null=True, read_only=True)
    wins = serializers.FloatField(source="utility.wins", default=None, allow_null=True, read_only=True)
    judgments = serializers.IntegerField(source="utility.judgments", default=None, allow_null=True, read_only=True)

    class Meta:
        model = Sentence
        fields = [
            "id",
            "name",
            "document",
            "index",
            "position",
            "paragraph",
            "text",
            "strength",
            "utility",
            "se",
            "low",
            "high",
            "wins",
            "judgments",
        ]
        read_only_fields = fields

    def get_name(self, sentence: Sentence) -> str:
        return f"{sentence.document.name}:{sentence.index}"


class SummarySerializer(serializers.ModelSerializer[Summary]):
    """A system's summary with its score (null where nothing was computed yet) and what people thought of it."""

    system = serializers.CharField(source="system.name", read_only=True)
    topic_name = serializers.CharField(source="topic.name", read_only=True)
    human = serializers.SerializerMethodField()
    score = serializers.FloatField(source="score.score", default=None, allow_null=True, read_only=True)
    se = serializers.FloatField(source="score.se", default=None, allow_null=True, read_only=True)
    low = serializers.FloatField(source="score.low", default=None, allow_null=True, read_only=True)
    high = serializers.FloatField(source="score.high", default=None, allow_null=True, read_only=True)

    class Meta:
        model = Summary
        fields = [
            "id",
            "topic",
            "topic_name",
            "system",
            "text",
            "sentences",
            "extra",
            "human",
            "score",
            "se",
            "low",
            "high",
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.DictField(child=serializers.FloatField()))
    def get_human(self, summary: Summary) -> dict[str, float]:
        return {score.dimension: score.score for score in summary.human_scores.all()}


class PartSerializer(serializers.Serializer[Any]):
    """One sentence of a summary: the source sentence it was matched with, and what it adds to the score.

    It adds weight x value x factor; `nearest` is a sentence's name, or null where nothing is alike.
    """

    text = serializers.CharField()
    nearest = serializers.CharField(allow_null=True)
    similarity = serializers.FloatField()
    value = serializers.FloatField()
    factor = serializers.FloatField()
    weight = serializers.FloatField()


class SummaryDetailSerializer(SummarySerializer):
    """A summary with the parts that its score was put together from."""

    parts = serializers.SerializerMethodField()

    class Meta(SummarySerializer.Meta):
        fields = [*SummarySerializer.Meta.fields, "parts"]
        read_only_fields = fields

    @extend_schema_field(PartSerializer(many=True))
    def get_parts(self, summary: Summary) -> list[dict[str, Any]]:
        score = getattr(summary, "score", None)
        parts: list[dict[str, Any]] = score.parts if score is not None else []
        nearest = [part["nearest"] for part in parts if part.get("nearest") is not None]
        names = {
            sentence.pk: f"{sentence.document.name}:{sentence.index}"
            for sentence in Sentence.objects.filter(pk__in=nearest).select_related("document")
        }
        return [
            {name: part.get(name) for name in ("text", "similarity", "value", "factor", "weight")}
            | {"nearest": names.get(part.get("nearest") or 0)}
            for part in parts
        ]


# Results


class PlaceSerializer(serializers.Serializer[Any]):
    """A system's place. `low` to `high`: 95% interval of the score; `rank_low` to `rank_high`: ranks it may have."""

    rank = serializers.IntegerField()
    system = serializers.CharField(source="system.name")
    score = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    rank_low = serializers.IntegerField()
    rank_high = serializers.IntegerField()
    topics = serializers.IntegerField()
    better_than = serializers.ListField(child=serializers.CharField())
    summary = serializers.IntegerField(source="summary_id", allow_null=True)


class DifferenceSerializer(serializers.Serializer[Any]):
    """Two systems over the topics that both summarized; `p` is two-sided and adjusted for how many pairs were tried."""

    better = serializers.CharField()
    worse = serializers.CharField()
    difference = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    significant = serializers.BooleanField()


class LeaderboardSerializer(serializers.Serializer[Any]):
    """Systems in order, and what that rests on.

    `behind`: topics whose judgments or texts are newer than their scores. `version` changes whenever anything here may
    have. `simulated`: how many of the judgments were simulated.
    """

    systems = PlaceSerializer(many=True, source="rows")
    differences = DifferenceSerializer(many=True)
    topics = serializers.IntegerField()
    judgments = serializers.IntegerField()
    simulated = serializers.IntegerField()
    fitted_at = serializers.DateTimeField(allow_null=True)
    settings = serializers.DictField()
    program_version = serializers.CharField()
    behind = serializers.IntegerField()
    problem = serializers.CharField()
    has_worker = serializers.BooleanField()
    version = serializers.CharField()


class JudgmentSerializer(serializers.ModelSerializer[Judgment]):
    """One revision of one answer, under a pseudonym. `counted`: scores rest on it."""

    assignment = serializers.UUIDField(source="assignment.key", read_only=True)
    topic = serializers.CharField(source="topic.name", read_only=True)
    left = serializers.SerializerMethodField()
    right = serializers.SerializerMethodField()
    annotator = serializers.CharField(source="assignment.annotator.pseudonym", read_only=True)
    kind = serializers.ChoiceField(source="assignment.annotator.kind", choices=Annotator.Kind.choices, read_only=True)
    counted = serializers.SerializerMethodField()

    class Meta:
        model = Judgment
        fields = [
            "id",
            "assignment",
            "revision",
            "topic",
            "left",
            "right",
            "answer",
            "annotator",
            "kind",
            "seconds",
            "at",
            "counted",
        ]
        read_only_fields = fields

    def get_left(self, judgment: Judgment) -> str:
        sentence = judgment.assignment.left
        return f"{sentence.document.name}:{sentence.index}"

    def get_right(self, judgment: Judgment) -> str:
        sentence = judgment.assignment.right
        return f"{sentence.document.name}:{sentence.index}"

    def get_counted(self, judgment: Judgment) -> bool:
        return judgment.pk in self.context["counted"]


# Uploads and exports


class ComplaintSerializer(serializers.Serializer[Any]):
    """Why a file cannot be taken; `message` is all of it in one line."""

    file = serializers.CharField()
    line = serializers.IntegerField()
    field = serializers.CharField()
    message = serializers.SerializerMethodField()

    def get_message(self, found: Mapping[str, Any]) -> str:
        complaint = formats.Complaint(**found)
        return formats.message(complaint) if complaint.expected else complaint.found % complaint.params


class PreviewTextSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    sentences = serializers.IntegerField()
    given_cut = serializers.BooleanField()


class PreviewTopicSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    documents = serializers.IntegerField()
    sentences = serializers.IntegerField()
    references = serializers.IntegerField()
    summaries = serializers.IntegerField()
    texts = PreviewTextSerializer(many=True)


class PreviewDimensionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    scores = serializers.IntegerField()


class RemarkSerializer(serializers.Serializer[Any]):
    """What was passed over or mended; `message` says it in words."""

    file = serializers.CharField()
    line = serializers.IntegerField()
    field = serializers.CharField()
    message = serializers.SerializerMethodField()

    def get_message(self, remark: Mapping[str, Any]) -> str:
        return str(remark["said"] % remark["params"])


class PreviewSerializer(serializers.Serializer[Any]):
    """What was found in a file: new topics, and numbers of what belongs to topics that are there already."""

    topics = PreviewTopicSerializer(many=True)
    systems = serializers.ListField(child=serializers.CharField())
    dimensions = PreviewDimensionSerializer(many=True)
    summaries = serializers.IntegerField()
    human_scores = serializers.IntegerField()
    preferences = serializers.IntegerField()
    remarks = RemarkSerializer(many=True)


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """A file on its way: `preview` once it was read, `complaints` where it was refused."""

    preview = serializers.SerializerMethodField()
    complaints = ComplaintSerializer(many=True, read_only=True)

    class Meta:
        model = Upload
        fields = ["key", "filename", "size", "sha256", "state", "preview", "complaints", "created_at", "changed_at"]
        read_only_fields = fields

    @extend_schema_field(PreviewSerializer(allow_null=True))
    def get_preview(self, upload: Upload) -> Any:
        return PreviewSerializer(upload.preview).data if upload.preview else None


class FileSerializer(serializers.Serializer[Any]):
    """A file as browsers send one."""

    file = serializers.FileField(use_url=False)


class ExportSerializer(serializers.ModelSerializer[Export]):
    """A study asked for as a file; fetch it once it is ready."""

    class Meta:
        model = Export
        fields = ["key", "state", "sha256", "problem", "created_at"]
        read_only_fields = fields


# Judging


class AnnotatorSerializer(serializers.ModelSerializer[Annotator]):
    """Who judges, under a pseudonym."""

    class Meta:
        model = Annotator
        fields = ["pseudonym", "kind", "judged", "seconds", "quota", "joined_at", "finished_at", "excluded_at"]
        read_only_fields = fields


class OwnAnnotatorSerializer(AnnotatorSerializer):
    """A machine judge of yours, with the key by which it draws."""

    class Meta(AnnotatorSerializer.Meta):
        fields = ["key", *AnnotatorSerializer.Meta.fields]
        read_only_fields = fields


class JoiningSerializer(Strict[Any]):
    """What to call a machine judge. Joining again under the same name gives the same one."""

    pseudonym = serializers.CharField(max_length=200)


class ProgressSerializer(serializers.Serializer[Any]):
    judged = serializers.IntegerField()
    quota = serializers.IntegerField()


class PairSerializer(serializers.Serializer[Any]):
    """Two sentences to compare, and nothing that tells where they come from. Judge them by `key` and `revision`."""

    key = serializers.UUIDField()
    question = serializers.CharField()
    left = serializers.CharField()
    right = serializers.CharField()
    ties_allowed = serializers.BooleanField()
    revision = serializers.IntegerField()
    progress = ProgressSerializer()


class AnswerSerializer(Strict[Any]):
    """What was preferred. The revision is the one that drawing the pair gave: sending it twice stores it once."""

    revision = serializers.IntegerField(min_value=1, max_value=32_767)
    answer = serializers.ChoiceField(choices=["left", "right", "tie"])
    seconds = serializers.FloatField(min_value=0, max_value=86_400, required=False, allow_null=True)

    def validate_seconds(self, seconds: float | None) -> float | None:
        if seconds is not None and seconds != seconds:
            raise serializers.ValidationError(_("Enter a number."))
        return seconds


class RecordedSerializer(serializers.Serializer[Any]):
    """The answer that stands. `counted`: it takes one of the places that the study wants filled."""

    key = serializers.UUIDField()
    revision = serializers.IntegerField()
    answer = serializers.ChoiceField(choices=["left", "right", "tie"])
    counted = serializers.BooleanField()


class SkippingSerializer(Strict[Any]):
    reason = serializers.ChoiceField(choices=Assignment.SkipReason.choices)


class UndoingSerializer(Strict[Any]):
    """`revision`: the one that taking it back shall have, so that doing it twice takes back nothing more."""

    revision = serializers.IntegerField(min_value=2, max_value=32_767, required=False, allow_null=True)


# Accounts


class TokenSerializer(serializers.ModelSerializer[Token]):
    class Meta:
        model = Token
        fields = ["id", "name", "study", "read_only", "created_at", "last_used_at"]
        read_only_fields = fields


class NewTokenSerializer(Strict[Any]):
    """A token to make; `study` narrows it to that one."""

    name = serializers.CharField(max_length=100)
    study = serializers.IntegerField(required=False, allow_null=True, max_value=2**63 - 1)
    read_only = serializers.BooleanField(default=False)  # type: ignore[assignment]  # DRF has an attribute so called


class ShownTokenSerializer(TokenSerializer):
    """A new token with its secret, which is shown this once."""

    secret = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "secret"]
        read_only_fields = fields


class MeSerializer(serializers.Serializer[Any]):
    """Who you are here, and what your token may do (null in a browser)."""

    username = serializers.CharField()
    may_create_studies = serializers.SerializerMethodField()
    token = serializers.SerializerMethodField()

    def get_may_create_studies(self, user: User) -> bool:
        return access.may_create_studies(user)

    @extend_schema_field(TokenSerializer(allow_null=True))
    def get_token(self, user: User) -> Any:
        token = cast(Request, self.context["request"]).auth
        return TokenSerializer(token).data if isinstance(token, Token) else None


class ErrorDetailSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    fields = serializers.DictField(  # type: ignore[assignment]  # a key of ours that DRF has a property for
        child=serializers.ListField(child=serializers.CharField())
    )


class ErrorSerializer(serializers.Serializer[Any]):
    """`code` is for programs, `message` for people; `fields` says what is wrong with which value."""

    error = ErrorDetailSerializer()
