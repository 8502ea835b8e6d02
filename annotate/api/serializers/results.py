"""What was computed: sentences, summaries, systems; and the judgments that it rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotate.api.serializers.records import serializer_of
from annotate.api.serializers.strict import Shown
from annotate.models import Annotator, Assignment, Item, Judgment, ScoredBy, Summary
from annotate.reports.scores import parts_of, with_names, word_terms
from preferendum.formats.records import Of
from preferendum.results import Difference, Ground, LeaderboardRow, Part, WordTerm, to_json
from preferendum.results.helped import Help
from preferendum.results.length import ByLength
from preferendum.results.scores import PredictedSystem
from preferendum.results.statement import RestsOn, Statement


def computed(source: str) -> serializers.FloatField:
    """A figure of the worker's; null before it has computed one."""
    return serializers.FloatField(source=source, default=None, allow_null=True, read_only=True)


class SentenceSerializer(Shown[Item]):
    """A source sentence with its utility and the judgments that it rests on; null if nothing has been computed yet.

    `value`: what it adds to a summary: its chance of being preferred, adjusted for its length. `published_…`: as in
    Zopf (2018). `not_judged`: why it is not judged, the name of a rule or `by-hand`; empty if it is.
    """

    document = serializers.CharField(source="document.name", read_only=True)
    strength = computed("utility.strength")
    utility = computed("utility.utility")
    se = computed("utility.se")
    low = computed("utility.low")
    high = computed("utility.high")
    wins = computed("utility.wins")
    judgments = serializers.IntegerField(source="utility.judgments", default=None, allow_null=True, read_only=True)
    value = computed("utility.value")
    published_strength = computed("published_utility.strength")
    published_utility = computed("published_utility.utility")

    class Meta:
        model = Item
        fields = ["id", "name", "document", "index", "position", "paragraph", "text", "not_judged"]
        fields += ["strength", "utility", "se", "low", "high", "wins", "judgments", "value"]
        fields += ["published_strength", "published_utility"]


class SummarySerializer(Shown[Summary]):
    """A system's summary with its recommended score, its score as published, and its human scores.

    Null if nothing has been computed yet, or if the summary shares no word with its sources: then it has no importance.
    `coverage`: the share of the sources' words that it has, independent of judgments. `ratings`: each assessor's, by
    dimension. `turns`: the conversation that it was given as, [{"role", "content"}], if any; then `text` is what the
    assistant says there.
    """

    system = serializers.CharField(source="system.name", read_only=True)
    topic_name = serializers.CharField(source="topic.name", read_only=True)
    human = serializers.SerializerMethodField()
    ratings = serializers.SerializerMethodField()
    score = computed("recommended.score")
    se = computed("recommended.se")
    low = computed("recommended.low")
    high = computed("recommended.high")
    coverage = computed("recommended.coverage")
    published_score = computed("published.score")

    class Meta:
        model = Summary
        fields = ["id", "topic", "topic_name", "system", "text", "sentences", "turns"]
        fields += ["person", "reference", "extra", "human", "ratings"]
        fields += ["score", "se", "low", "high", "coverage", "published_score"]

    @extend_schema_field(serializers.DictField(child=serializers.FloatField()))
    def get_human(self, summary: Summary) -> dict[str, float]:
        return {score.dimension: score.score for score in summary.human_scores.all() if not score.assessor}

    @extend_schema_field(serializers.DictField(child=serializers.DictField(child=serializers.FloatField())))
    def get_ratings(self, summary: Summary) -> dict[str, dict[str, float]]:
        ratings: dict[str, dict[str, float]] = {}
        for score in sorted(summary.human_scores.all(), key=lambda score: (score.assessor, score.dimension)):
            if score.assessor:
                ratings.setdefault(score.assessor, {})[score.dimension] = score.score
        return ratings


class SourcesSerializer(serializers.Serializer[Any]):
    """All words of a topic's sources: the sum of occurrences x idf, and their mean value, with these weights."""

    total = serializers.FloatField()
    mean = serializers.FloatField()


class SummaryDetailSerializer(SummarySerializer):
    """A summary with the terms of its scores, which can be checked to the last digit.

    `words`: of the recommended score, occurrences x idf x factor / total each, with factor value - mean for importance,
    1 + 4 (value - mean) for combined and 1 for coverage; `sources`: total and mean. `parts`: of the score as published.
    """

    sources = serializers.SerializerMethodField()
    words = serializers.SerializerMethodField()
    parts = serializers.SerializerMethodField()

    class Meta(SummarySerializer.Meta):
        fields = [*SummarySerializer.Meta.fields, "sources", "words", "parts"]

    @extend_schema_field(serializer_of(WordTerm)(many=True))
    def get_words(self, summary: Summary) -> list[Any]:
        named = with_names(word_terms(summary.recommended))
        return [
            to_json(replace(term, sentences=tuple((row.name, times) for row, times in of_word)))
            for term, of_word in named
        ]

    @extend_schema_field(SourcesSerializer(allow_null=True))
    def get_sources(self, summary: Summary) -> dict[str, float] | None:
        words = summary.recommended.fit.source_words if summary.recommended else None
        return None if words is None else {"total": words.total, "mean": words.mean}

    @extend_schema_field(serializer_of(Part)(many=True))
    def get_parts(self, summary: Summary) -> list[Any]:
        terms = parts_of(summary.published)
        return [to_json(replace(part, nearest=nearest.name if nearest else None)) for part, nearest in terms]


class FailureSerializer(serializers.Serializer[Any]):
    """A topic that could not be scored, and why."""

    topic = serializers.CharField(source="topic.name")
    problem = serializers.CharField()


class LeaderboardSerializer(serializers.Serializer[Any]):
    """A leaderboard, and the judgments that it rests on.

    `scored_by`: "recommended" or "published"; `score`: what the systems are ranked by. `human_written`: people's
    summaries, ranked among themselves. `unranked`: systems whose summaries share no word with their sources.
    `predicted`: unjudged systems by win rate, with so many `answers` that would tell as much; they have no rank.
    `helpers`: the machine judges that can help people (`helped_by`); `helped`: what the one does that helps here.
    `behind`: topics whose judgments or texts are newer than their scores;
    `failures`: those that could not be scored, and why. `is_old`: topics have newer scores, not yet ranked by.
    `is_outdated`: the scores are those of earlier settings. `added_prior`: how many topics, as published, needed a
    prior that the paper does not have. `without_documents`: how many topics are not in these scores because they have
    no questions. `version` changes whenever anything here may have. `rests_on`: how many judgments of people, machines
    and simulated annotators count, and how many do not. `ground`: the population that differences and intervals hold
    for. `by_length`: how much of the differences the length of sentences explains. `headline`: what the page says
    first; `statement`: the record of it, with who judged; none of a topic, nor of another score than the study's.
    """

    scored_by = serializers.ChoiceField(choices=ScoredBy.choices)
    score = serializers.CharField()
    unranked = serializers.ListField(child=serializers.CharField())
    failures = FailureSerializer(many=True)
    is_outdated = serializers.BooleanField()
    added_prior = serializers.IntegerField()
    without_documents = serializers.IntegerField()
    systems = serializer_of(LeaderboardRow)(many=True, source="rows")
    human_written = serializer_of(LeaderboardRow)(many=True)
    differences = serializer_of(Difference)(many=True)
    predicted = serializer_of(PredictedSystem)(many=True)
    helpers = serializers.ListField(child=serializers.CharField())
    helped = serializer_of(Help)(allow_null=True)
    ground = serializer_of(Ground)()
    topics = serializers.IntegerField()
    judgments = serializers.IntegerField()
    headline = serializers.CharField(source="answer")
    statement = serializer_of(Statement)(allow_null=True)
    rests_on = serializer_of(RestsOn)()
    by_length = serializer_of(ByLength)(allow_null=True)
    fitted_at = serializers.DateTimeField(allow_null=True)
    settings = serializers.DictField()
    program_version = serializers.CharField()
    behind = serializers.IntegerField()
    is_old = serializers.BooleanField()
    problem = serializers.CharField()
    has_worker = serializers.BooleanField()
    version = serializers.CharField()


class JudgmentSerializer(Shown[Judgment]):
    """One revision of one answer, under a pseudonym. `counted`: it counts towards scores. `why`: the reasons that were
    tapped, with commas between them; `note`: the reason in the annotator's own words; `confidence`: how sure a machine
    was, from 0 to 1.

    `of`: what the two are: sentences, or summaries, which are named after their systems. `reason`: why the pair was
    shown; `expected`: the expected side of a practice or gold pair.
    """

    assignment = serializers.UUIDField(source="assignment.key", read_only=True)
    topic = serializers.CharField(source="item_set.topic.name", read_only=True)
    of = serializers.ChoiceField(source="assignment.item_set.of", choices=get_args(Of), read_only=True)
    left = serializers.CharField(source="assignment.left.name", read_only=True)
    right = serializers.CharField(source="assignment.right.name", read_only=True)
    question = serializers.CharField(source="assignment.question", read_only=True)
    left_text = serializers.CharField(source="assignment.left.text", read_only=True)
    right_text = serializers.CharField(source="assignment.right.text", read_only=True)
    design_weight = serializers.FloatField(source="assignment.design_weight", read_only=True)
    annotator = serializers.CharField(source="assignment.annotator.pseudonym", read_only=True)
    kind = serializers.ChoiceField(source="assignment.annotator.kind", choices=Annotator.Kind.choices, read_only=True)
    reason = serializers.ChoiceField(source="assignment.reason", choices=Assignment.Reason.choices, read_only=True)
    expected = serializers.CharField(source="assignment.expected", read_only=True)
    counted = serializers.SerializerMethodField()

    class Meta:
        model = Judgment
        fields = ["id", "assignment", "revision", "topic", "of", "question", "left", "right", "left_text", "right_text"]
        fields += ["answer", "annotator", "kind", "seconds", "why", "note", "confidence", "at"]
        fields += ["reason", "design_weight", "expected", "counted"]

    def get_counted(self, judgment: Judgment) -> bool:
        return judgment.pk in self.context["counted"]
