"""Studies and their settings. Written by annotate.studies."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest
from django.utils.translation import gettext_lazy as _

from preferendum.formats.answers import ANSWERS, PREFERENCES, Answer
from preferendum.formats.readers.topics import LANGUAGE
from preferendum.formats.reasons import listed
from preferendum.formats.settings import (
    KINDS_COUNTED,
    QUESTION,
    SCORING,
    SUMMARY_QUESTION,
    Compares,
    CountedKinds,
    StudySettings,
)
from preferendum.metrics.names import metrics, unknown_metrics


def finite(value: float) -> None:
    """Refuse NaN and infinity: other validators let NaN pass, since its comparisons are false."""
    if not math.isfinite(value):
        raise ValidationError(_("Enter a number."))


def metrics_there_are(names: str) -> None:
    """Refuse a list with an unknown metric."""
    if unknown := unknown_metrics(names):
        params = {"name": unknown[0], "names": ", ".join(metrics())}
        raise ValidationError(_("There is no metric called “%(name)s”. There are: %(names)s."), params=params)


SHARE: list[Callable[[Any], None]] = [finite, MinValueValidator(0.0), MaxValueValidator(1.0)]
HALF: list[Callable[[Any], None]] = [finite, MinValueValidator(0.0), MaxValueValidator(0.5)]


def new_link_key() -> str:
    """128 random bits, which a link signs instead of its row's number."""
    return secrets.token_hex(16)


#: The versions that are summed up over a study's item sets or topics, and the column there that keeps each while its
#: row is deleted.
LAST = {
    "tally__data_version": ("ItemSet", "last_data_version"),
    "progress__fitted_version": ("ItemSet", "last_data_version"),
    "metrics__version": ("Topic", "last_scored_version"),
}


def total_of_topics(version: str) -> Combinable:
    """The sum of a version over a study's item sets or topics, for each study of a query; None without any."""
    table, last = LAST[version]
    rows = apps.get_model("annotate", table)._base_manager.filter(study=models.OuterRef("pk"))
    total = models.Sum(Greatest(Coalesce(models.F(version), 0), models.F(last)))
    return models.Subquery(rows.order_by().values("study").annotate(total=total).values("total"))


def sum_of_topics(version: str) -> Combinable:
    """A version of the study that never falls: the sum of a version over its topics, and that of removals."""
    return total_of_topics(version) + models.F("removed_version")


class Study(models.Model):
    """A campaign: topics, the questions about them, and how answers become scores."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    # The settings, as preferendum.formats.settings declares them, with labels and choices for forms and pages, and help
    # texts for forms.
    title = models.CharField(
        _("title"), max_length=200, help_text=_("For you and your colleagues. Annotators see it too.")
    )
    compares: models.CharField[Compares, Compares] = models.CharField(
        _("what annotators compare"),
        max_length=10,
        default="sentences",
        choices=[
            ("sentences", _("sentences of the source documents")),
            ("summaries", _("whole summaries")),
            ("both", _("both")),
        ],
        help_text=_("You can change this at any time; every answer is kept."),
    )
    question = models.CharField(
        _("question"),
        max_length=300,
        default=QUESTION,
        help_text=_("Shown above every pair of sentences. Keep it short. A topic can have its own question."),
    )
    summary_question = models.CharField(
        _("question about summaries"),
        max_length=300,
        default=SUMMARY_QUESTION,
        help_text=_("Shown above every pair of summaries. Keep it short."),
    )
    language = models.CharField(
        _("language of the texts"),
        max_length=35,
        default="en",
        validators=[RegexValidator(rf"\A(?:{LANGUAGE.pattern})\Z", _("Enter a language tag such as en, de or pt-BR."))],
        help_text=_(
            "A tag such as en, de or zh-Hans. It decides how texts are split into sentences and how a screen "
            "reader pronounces them."
        ),
    )
    guidelines = models.TextField(
        _("guidelines"),
        blank=True,
        max_length=20_000,
        help_text=_(
            "What counts as important in this study, with an example or two. Annotators can read this before they "
            "begin, and beside every pair."
        ),
    )
    guidelines_first = models.BooleanField(
        _("guidelines must be read first"),
        default=False,
        help_text=_("Annotators see the guidelines on a page of their own before the first pair."),
    )

    ties_allowed = models.BooleanField(
        _("“equally important” is an answer"),
        default=False,
        help_text=_("A tie counts as half a win for each side. Otherwise annotators must choose one of the two."),
    )
    neither_allowed = models.BooleanField(
        _("“neither is important” is an answer (of summaries: “both are bad”)"),
        default=False,
        help_text=_(
            "It counts as half a win for each side, like a tie, and reports count it by itself. It says that a topic’s "
            "texts are bad, which no comparison can."
        ),
    )
    reason_words = models.CharField(
        _("reasons to tap"),
        max_length=200,
        blank=True,
        default="",
        help_text=_(
            "A few words with commas between them, such as: clearer, more complete, wrong facts. Annotators may tap "
            "some of them before they answer, and need not. Scores do not rest on them."
        ),
    )
    reason_note = models.BooleanField(
        _("reasons in annotators’ own words"),
        default=False,
        help_text=_("Offers a line beside every pair. It may be left empty."),
    )
    show_progress = models.BooleanField(
        _("show annotators their progress"),
        default=True,
        help_text=_("For example “pair 13 of 30”, and about how many minutes are left."),
    )
    judgments_per_topic = models.PositiveIntegerField(
        _("judgments per topic"),
        default=300,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
        help_text=_(
            "How many answers to collect for each topic. Unless you say otherwise, your first topics set it to about "
            "five a sentence. The leaderboard shows how wide the intervals are, and you can ask for more at any time."
        ),
    )
    summary_judgments_per_topic = models.PositiveIntegerField(
        _("judgments per topic about summaries"),
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
        help_text=_("Five tell more than any automatic metric; more than twenty to fifty add little."),
    )
    summary_share = models.FloatField(
        _("share of pairs about summaries"),
        default=0.5,
        validators=SHARE,
        help_text=_("Where annotators compare both: how often they are asked about whole summaries."),
    )
    judgments_per_pair = models.PositiveSmallIntegerField(
        _("judgments per pair"),
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text=_(
            "How many annotators judge the same pair. With 1, judgments cover the most pairs; with 2 or more, "
            "agreement is known better."
        ),
    )
    pairs_per_annotator = models.PositiveIntegerField(
        _("pairs per annotator"),
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(100_000)],
        help_text=_("After this number of pairs, an annotator is done."),
    )
    random_share = models.FloatField(
        _("share of random pairs"),
        default=StudySettings().random_share,
        validators=SHARE,
        help_text=_(
            "This share of the pairs is drawn at random. The others are drawn because they tell systems apart, which "
            "needs fewer answers for the same certainty. 100%: all at random, as in the paper. 0: in topics without "
            "systems, the pairs that tell most of the order of sentences."
        ),
    )
    seed = models.PositiveBigIntegerField(
        _("seed"),
        default=0,
        help_text=_("Makes the random parts of the computation repeatable."),
    )
    counted_kinds: models.CharField[CountedKinds, CountedKinds] = models.CharField(
        _("whose judgments count"),
        max_length=20,
        default="people",
        choices=[
            ("people", _("people’s")),
            ("people-and-machines", _("people’s and machines’")),
            ("people-and-simulated", _("people’s and simulated ones")),
            ("machines", _("machines’ only")),
            ("simulated", _("simulated ones only")),
            ("all", _("everyone’s: people’s, machines’ and simulated ones")),
        ],
        help_text=_(
            "Scores rest on these judgments alone; all others are kept. People’s judgments include imported ones. "
            "Machines and simulated annotators never take a pair from people."
        ),
    )

    # Limits of judging, and its checks: these change no score of the judgments there are.
    training = models.BooleanField(
        _("start with practice pairs"),
        default=False,
        help_text=_(
            "Annotators first judge your practice pairs and see the expected answer and your explanation after "
            "each. Practice never counts. Without practice pairs, this has no effect."
        ),
    )
    training_threshold = models.FloatField(
        _("share of practice answers that must match"),
        default=0.6,
        validators=SHARE,
        help_text=_(
            "With fewer, an annotator is thanked and leaves with the code for “screened out”. With 2 practice pairs, "
            "60% means that both must match. 0 lets everybody continue."
        ),
    )
    gold_share = models.FloatField(
        _("share of gold pairs"),
        default=0.0,
        validators=HALF,
        help_text=_(
            "10% is one pair in ten. Your gold pairs are hidden among the others. They are part of an annotator’s "
            "work, but never count towards scores."
        ),
    )
    shared_share = models.FloatField(
        _("share of pairs judged by two annotators"),
        default=StudySettings().shared_share,
        validators=HALF,
        help_text=_(
            "Where pairs have one judgment otherwise. A pair that one annotator has judged is shown to another one, "
            "and both answers count. This shows how well annotators agree."
        ),
    )
    repeat_share = models.FloatField(
        _("share of repeats"),
        default=StudySettings().repeat_share,
        validators=HALF,
        help_text=_(
            "An annotator’s earlier pair is shown again, at least five pairs later, with its sides swapped. This shows "
            "how consistent they are, and never counts twice."
        ),
    )
    reading_speed = models.PositiveIntegerField(
        _("reading speed limit (characters per second)"),
        default=100,
        validators=[MaxValueValidator(10_000)],
        help_text=_(
            "Whoever answers faster is asked kindly to read both sentences; the answer still counts. People read "
            "about 25 characters per second. 0 means no limit."
        ),
    )
    skips_in_a_row = models.PositiveSmallIntegerField(
        _("skips in a row that end participation"),
        default=10,
        validators=[MaxValueValidator(1_000)],
        help_text=_(
            "After half as many, the page asks kindly whether something is wrong. After this number, the "
            "annotator is thanked and leaves with the code for “screened out”. 0 means no limit."
        ),
    )
    person_cap = models.FloatField(
        _("maximum share of a topic per annotator"),
        default=0.05,
        validators=SHARE,
        help_text=_(
            "An annotator gives at most this share of a topic’s judgments while other topics need some. After that it "
            "may be three times an even share among all who joined, or an even spread of their own pairs over the "
            "topics, if that is more. 100% means no limit."
        ),
    )
    judgments_per_hour = models.PositiveIntegerField(
        _("judgments per annotator and hour"),
        default=0,
        validators=[MaxValueValidator(100_000)],
        help_text=_("Whoever reaches the limit is asked to continue later. 0 means no limit."),
    )
    pilot = models.BooleanField(
        _("members of the study may judge (a pilot)"),
        default=False,
        help_text=_(
            "Owners, researchers, admins and whoever uploaded texts normally cannot judge, because they see the "
            "results. Turn this on to try things out. Their judgments then count like all others."
        ),
    )

    stop_rule = models.BooleanField(
        _("verdicts that hold at every look"),
        default=False,
        help_text=_(
            "Looking at the leaderboard again and again finds differences that are not there. With this, the "
            "probability is 5% that any two systems are ever called different that are not, however often you look "
            "until all planned judgments are in. Decide before judging begins, and do not raise the planned number "
            "because of what you see."
        ),
    )
    equal_within = models.FloatField(
        _("scores that differ by less are equal"),
        default=0.0,
        validators=SHARE,
        help_text=_(
            "Two systems are called equal once their difference is surely smaller than this. 0: never. 0.01 is one "
            "point of importance."
        ),
    )
    closes_when_decided = models.BooleanField(
        _("close the study when all systems are decided"),
        default=False,
        help_text=_(
            "With verdicts that hold at every look: once every two systems are apart, or equal, nobody is asked any "
            "more."
        ),
    )

    score = models.CharField(
        _("score"),
        max_length=12,
        default="importance",
        choices=[
            ("importance", _("importance: of the judgments alone")),
            ("combined", _("combined: importance and coverage in one")),
            ("coverage", _("coverage: of the words alone")),
            ("published", _("as in the paper (Zopf 2018)")),
        ],
        help_text=_(
            "What the leaderboard ranks by. Importance is what a summary says that people prefer, less what it says "
            "that they do not. Coverage is the share of the sources’ words that it has, whatever people say. Combined "
            "is coverage plus four times importance, and still mostly coverage. The paper’s score is always computed "
            "as well, as a file."
        ),
    )
    smooth = models.CharField(
        _("smoothing"),
        max_length=12,
        default="kernel",
        choices=[
            ("kernel", _("kernel prior")),
            ("paper", _("as in the paper")),
            ("none", _("none")),
        ],
        help_text=_(
            "How the recommended score spreads a judgment to similar sentences. The kernel prior expects similar "
            "sentences to have similar utilities, and learns from the judgments how alike and how far apart. The "
            "paper’s smoothing helps with few judgments and blurs with many; “none” uses judgments alone. The paper’s "
            "own score always has the paper’s smoothing."
        ),
    )
    prior = models.FloatField(
        _("prior"),
        default=1.0,
        validators=[finite, MinValueValidator(0.0), MaxValueValidator(1000.0)],
        help_text=_(
            "For the recommended score: every sentence gets this many virtual wins and losses against an average "
            "sentence, which keeps utilities finite. 0 needs wins that connect every sentence with every other; topics "
            "without them cannot be scored. The kernel prior replaces this setting."
        ),
    )
    similarity = models.CharField(
        _("similarity"),
        max_length=40,
        default="tfidf-jaccard",
        choices=[
            ("tfidf-jaccard", _("mean of TF-IDF cosine and Jaccard index (as in the paper)")),
            ("tfidf", _("TF-IDF cosine")),
            ("jaccard", _("Jaccard index")),
        ],
        help_text=_("How the recommended score measures the similarity of two sentences, for its smoothing."),
    )
    weigh_annotators = models.BooleanField(
        _("annotators weighted by reliability"),
        default=False,
        help_text=_(
            "Judgments of annotators who agree more with the others on the topic count more. This helps if some "
            "people click at random, and costs almost nothing if nobody does."
        ),
    )

    metric_names = models.CharField(
        _("metrics"),
        max_length=500,
        blank=True,
        default=StudySettings().metric_names,
        validators=[metrics_there_are],
        help_text=_(
            "Summaries are scored with these, beside the study’s own scores. Options stand behind colons, names are "
            "separated by commas: rouge-2:f is the F-measure, rouge-su4:models=1:pseudo=3 takes one reference and the "
            "three best systems’ summaries. A metric is left out where a topic lacks what it needs, and pages say so."
        ),
    )

    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN)
    #: The token of the form that made it: a form that is sent twice makes one study.
    form_token = models.UUIDField(unique=True, null=True, editable=False)
    #: Uploads and removals in its archive, from before its import: {"uploads", "removals": [records]}.
    earlier = models.JSONField(default=dict, editable=False)
    #: Rises with every removal and by the last versions of topics that are deleted: sums of versions never fall.
    removed_version = models.PositiveBigIntegerField(default=0, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(judgments_per_pair__gte=1, judgments_per_topic__gte=1, pairs_per_annotator__gte=1),
                name="study_asks_for_something",
            ),
            models.CheckConstraint(condition=models.Q(prior__gte=0), name="study_prior_not_negative"),
        ]

    def __str__(self) -> str:
        return self.title

    def count_removed(self, versions: int) -> None:
        """Raise the sums of versions by this much, for something that is removed; in the caller's transaction."""
        row = type(self)._default_manager.filter(pk=self.pk)
        row.update(removed_version=models.F("removed_version") + versions)

    @property
    def recommended_settings(self) -> dict[str, Any]:
        """The settings of its recommended scores, whichever scores its leaderboard shows first."""
        settings = {setting.name: getattr(self, setting.name) for setting in SCORING}
        return settings | {"score": "importance"} if self.score == "published" else settings

    @property
    def questions(self) -> dict[str, str]:
        """The questions that annotators answer: about sentences, summaries, or both."""
        asked = {"sentences": self.question, "summaries": self.summary_question}
        return {about: question for about, question in asked.items() if self.compares in (about, "both")}

    @property
    def answers(self) -> Mapping[str, Answer]:
        """The allowed answers, by key."""
        return {key: answer for key, answer in ANSWERS.items() if not answer.setting or getattr(self, answer.setting)}

    @property
    def offered_reasons(self) -> list[str]:
        """The words that annotators may tap."""
        return listed(self.reason_words)

    @property
    def most_per_pair(self) -> int:
        """How many annotators of a kind may judge the same pair."""
        return max(self.judgments_per_pair, 1 + (self.shared_share > 0))

    @property
    def must_prefer(self) -> bool:
        """Whether every answer prefers one of the two."""
        return len(self.answers) == len(PREFERENCES)

    @property
    def leading_kind(self) -> str:
        """The kind of annotators that the study's judgments and agreement are about."""
        return KINDS_COUNTED[self.counted_kinds][0]
