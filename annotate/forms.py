"""Forms of researchers. Verbs check again and decide; forms show errors next to the field."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate import accounts, crowd
from annotate.imports import baselines, simulated
from annotate.imports.replacing import in_common
from annotate.models import (
    GoldPair,
    Invitation,
    Item,
    ItemSet,
    Membership,
    Recruitment,
    SourceDocument,
    Study,
    Topic,
    Webhook,
)
from annotate.refusal import Refusal
from annotate.reports import finding
from annotate.reports.method import phrase
from preferendum.formats.settings import NAMES, SETTINGS, SHARES
from preferendum.metrics.names import listed_metrics, metrics, title_of
from preferendum.show.analyses.forecast import LONGEST_CURRENCY
from preferendum.show.checks import who_is_found
from preferendum.show.shown import percent

if TYPE_CHECKING:  # the class takes no parameter at run time
    StudyModelForm = forms.ModelForm[Study]
    InvitationModelForm = forms.ModelForm[Invitation]
    RecruitmentModelForm = forms.ModelForm[Recruitment]
    WebhookModelForm = forms.ModelForm[Webhook]
    SentenceChoiceField = forms.ModelChoiceField[Item]
else:
    SentenceChoiceField = forms.ModelChoiceField
    StudyModelForm = InvitationModelForm = RecruitmentModelForm = WebhookModelForm = forms.ModelForm

SHOWN = 60
#: The messages of values beyond a bound, by their codes.
BOUNDS = {"max_value": gettext_lazy("At most %(limit_value)s."), "min_value": gettext_lazy("At least %(limit_value)s.")}


def complain(form: forms.BaseForm, refusal: Refusal) -> None:
    """Show a verb's refusal at the fields that it names, or above the form."""
    for name, messages in refusal.fields.items():
        form.add_error(name if name in form.fields else None, list(messages))
    if not refusal.fields:
        form.add_error(None, refusal.message)
    focus_first_error(form)


def focus_first_error(form: forms.BaseForm) -> None:
    """Have the browser focus the first invalid field."""
    for name, field in form.fields.items():
        if name in form.errors:
            field.widget.attrs["autofocus"] = True
            return


class PercentField(forms.FloatField):
    """A share up to `high`, which people read and type in percent."""

    is_percent = True
    default_error_messages = {
        "max_value": gettext_lazy("At most %(limit_value)s%%."),
        "min_value": gettext_lazy("At least %(limit_value)s%%."),
    }

    def __init__(self, *, high: float = 1.0, **declared: Any) -> None:
        super().__init__(min_value=0, max_value=round(100 * high), **declared)

    def prepare_value(self, value: Any) -> Any:
        return percent(value).removesuffix("%") if isinstance(value, float) else value

    def clean(self, value: Any) -> Any:
        share = super().clean(value)
        return None if share is None else share / 100

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(None if initial is None else float(self.prepare_value(initial)), data)


class AnsweringForm(forms.BaseForm):
    """A long form: its first invalid field is focused (`parts/errors.html` lists them all), and bounds are short."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.error_messages = {**BOUNDS, **field.error_messages}

    def full_clean(self) -> None:
        super().full_clean()
        focus_first_error(self)


class OwnPasswordForm(forms.Form):
    """Requires the visitor's password, to protect a browser that was left signed in."""

    password = forms.CharField(
        label=gettext_lazy("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        if not accounts.is_own_password(self.user, self.cleaned_data["password"]):
            raise ValidationError(_("This is not your password."))
        return str(self.cleaned_data["password"])


class MarkdownWidget(forms.Textarea):
    """A text in Markdown, with a preview next to it (`parts/field.html`)."""

    is_markdown = True


class MetricsWidget(forms.CheckboxSelectMultiple):
    """A list with commas as boxes to tick; names with options are typed into a text field of the same name."""

    def format_value(self, value: Any) -> list[str]:
        return list(listed_metrics(value or ""))

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        sent = super().value_from_datadict(data, files, name) or ""
        return sent if isinstance(sent, str) else ",".join(listed_metrics(",".join(sent)))


#: The settings that a form shows first, in this order; all others are for experts.
FIRST = (
    *("title", "compares", "question", "summary_question", "guidelines"),
    *("judgments_per_topic", "pairs_per_annotator", "score"),
)
#: The scores that a form offers; a study has another one only from a file or a program.
OFFERED = ("importance", "published")
#: Settings that only a file or a program changes.
IN_FILES = ("smooth", "prior", "similarity", "seed", "judgments_per_hour")
EXPERT = [setting for setting in SETTINGS if setting.name not in (*FIRST, *IN_FILES)]
#: What each score means, shown next to its choice.
SCORES = {
    "importance": gettext_lazy(
        "What a summary says that people prefer, less what it says that they do not. Recommended: people decide."
    ),
    "combined": gettext_lazy(
        "Coverage plus four times importance. It is mostly coverage, so it changes little with the answers."
    ),
    "coverage": gettext_lazy("The share of the sources’ words that a summary has, whatever people say."),
    "published": gettext_lazy(
        "Equations 2 to 5, with the smoothing of the paper. It is always computed as well, and is in the leaderboard’s "
        "Download."
    ),
}


#: What each question costs and gives, shown next to its choice.
COMPARED = {
    "sentences": gettext_lazy(
        "Quick to read, some hundred answers a topic: they score every summary, also those that come later, and say "
        "what people want to know. It takes source documents."
    ),
    "summaries": gettext_lazy(
        "Longer to read, but over dozens of topics five to ten answers each, by two or more annotators, tell which "
        "system is better. They do not say why. It takes two or more systems, and no source documents."
    ),
    "both": gettext_lazy(
        "Recommended for two or more systems: which is better, and why. Where a topic has no source documents, or only "
        "one summary, annotators are asked the other question alone."
    ),
}


class StudyForm(AnsweringForm, StudyModelForm):
    """All settings of a study, each with its explanation: a few first, the others by group."""

    class Meta:
        model = Study
        fields = [name for name in NAMES if name not in IN_FILES]
        field_classes = {name: partial(PercentField, high=setting.high) for name, setting in SHARES.items()}
        widgets = {
            "guidelines": MarkdownWidget(attrs={"rows": 8, "dir": "auto"}),
            "score": forms.RadioSelect,
            "compares": forms.RadioSelect,
            "metric_names": MetricsWidget(choices=[(name, title_of(name)) for name in metrics()]),
        }

    #: The settings on which all scores depend.
    recomputing = [setting.name for setting in SETTINGS if setting.changes_fits]

    def first(self) -> list[forms.BoundField]:
        return [self[name] for name in FIRST]

    def groups(self) -> dict[str, list[forms.BoundField]]:
        """The settings for experts, group by group."""
        groups: dict[str, list[forms.BoundField]] = {}
        for setting in EXPERT:
            groups.setdefault(setting.group, []).append(self[setting.name])
        return groups

    def is_expert_wrong(self) -> bool:
        return any(setting.name in self.errors for setting in EXPERT)

    def expert_values(self) -> list[str]:
        """The settings that are not as recommended, in words, also those that only a program changes."""
        values = [(setting, getattr(self.instance, setting.name)) for setting in SETTINGS if setting.name not in FIRST]
        return [phrase(setting.name, value) for setting, value in values if value != setting.default]

    def scores(self) -> list[tuple[forms.boundfield.BoundWidget, str]]:
        """The choices of a score, each with its meaning."""
        offered = (*OFFERED, self.instance.score)
        choices = [(choice, choice.data["value"]) for choice in self["score"]]
        return [(choice, str(SCORES[value])) for choice, value in choices if value in offered]

    def compared(self) -> list[tuple[forms.boundfield.BoundWidget, str]]:
        """What annotators may compare, with what each costs and gives."""
        return [(choice, str(COMPARED[choice.data["value"]])) for choice in self["compares"]]

    def careless_found(self) -> str:
        """Whom the study's checks do not find, and what would find them."""
        return who_is_found(finding.of_study(self.instance))

    def other_metrics(self) -> str:
        """The metrics that have no box."""
        return ", ".join(name for name in listed_metrics(self["metric_names"].value() or "") if name not in metrics())


#: What a browser lets choose.
READABLE = {"accept": ".csv,.tsv,.txt,.xlsx,.ods,.json,.jsonl,.ndjson,.zip"}


class OnceForm(forms.Form):
    """A form with a token of its page: sent twice, it gets the first answer again."""

    form_token = forms.UUIDField(required=False, initial=uuid4, widget=forms.HiddenInput)

    @property
    def token(self) -> UUID | None:
        """The token; None if it is missing or not one of ours."""
        self.full_clean()
        return self.cleaned_data.get("form_token")


class NewStudyForm(AnsweringForm, StudyModelForm, OnceForm):
    """What a new study needs: a title, the language, and a file or the example, now or later; sent twice, it makes one
    study."""

    file = forms.FileField(
        label=gettext_lazy("Drop a file here, or choose one"), required=False, widget=forms.FileInput(attrs=READABLE)
    )
    example = forms.BooleanField(required=False)

    class Meta:
        model = Study
        fields = ("title", "language")


class WithdrawForm(forms.Form):
    """What becomes of the answers of an annotator who withdraws."""

    answers = forms.ChoiceField(choices=[("keep", "keep"), ("erase", "erase")])


class CopyStudyForm(OnceForm):
    """The title of a copy of a study, and whether it gets the topics."""

    title = forms.CharField(label=gettext_lazy("Title of the copy"), max_length=200)
    with_topics = forms.BooleanField(
        label=gettext_lazy("With topics: documents, references, summaries and human scores"),
        required=False,
        help_text=gettext_lazy(
            "They arrive in the copy like an upload: you see them before they are stored. Sentences stay as they are "
            "split here; what you left out by hand, you leave out again."
        ),
    )


class SentenceField(SentenceChoiceField):
    """A sentence or summary of a topic, found by its words: browsers offer those that match what is typed."""

    widget = forms.TextInput(attrs={"list": "sentences", "autocomplete": "off", "dir": "auto"})
    default_error_messages = {
        "invalid_choice": gettext_lazy(
            "There is no such sentence or summary in this topic. Type words of it, and choose one of those that appear."
        ),
    }

    def to_python(self, value: Any) -> Item | None:
        """Find the sentence by its name, with or without its text after it."""
        if value in self.empty_values:
            return None
        wanted = _in_one_line(str(value))
        for sentence in self.queryset or ():
            if wanted in (sentence.name, in_list(sentence)):
                return sentence
        raise forms.ValidationError(self.error_messages["invalid_choice"], code="invalid_choice")


def in_list(sentence: Item) -> str:
    """A sentence in a list of sentences: its public name and its text; for a summary, how it begins."""
    text = sentence.text[:SHOWN] if sentence.system else sentence.text
    return _in_one_line(f"{sentence.name} {text}")


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


class GoldPairForm(forms.Form):
    """Two sentences or summaries of a topic, the right one, the purpose of the pair, and the reason."""

    better = SentenceField(
        Item.objects.none(),
        label=gettext_lazy("The better one"),
        help_text=gettext_lazy(
            "Type words of it, and choose one of those that appear. A sentence’s name (d1:0) or a summary’s system "
            "works too."
        ),
    )
    worse = SentenceField(
        Item.objects.none(),
        label=gettext_lazy("The other one"),
        help_text=gettext_lazy(
            "Choose two that differ clearly: only somebody who did not read them should get the pair wrong."
        ),
    )
    use = forms.ChoiceField(label=gettext_lazy("Use"), choices=GoldPair.Use.choices)
    explanation = forms.CharField(
        label=gettext_lazy("Explanation"),
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=gettext_lazy("Shown after the answer in practice."),
    )

    def __init__(self, topic: Topic, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asked = ItemSet.objects.filter(topic=topic, of__in=topic.study.questions, tally__isnull=False)
        here = Item.objects.to_judge().filter(item_set__in=asked)
        sentences = here.select_related("document").order_by("item_set", "position")
        for name in ("better", "worse"):
            field = cast(SentenceField, self.fields[name])
            field.queryset = sentences
            field.widget.attrs["lang"] = topic.language or topic.study.language

    def sentences(self) -> list[str]:
        """The sentences to choose from, as written into the fields."""
        return [in_list(sentence) for sentence in cast(SentenceField, self.fields["better"]).queryset or ()]


class UploadForm(forms.Form):
    """One file in any format that is read."""

    file = forms.FileField(label=gettext_lazy("File"), widget=forms.FileInput(attrs=READABLE))


class BaselinesForm(forms.Form):
    """The length of the summaries of standard summarizers."""

    words = forms.IntegerField(
        label=gettext_lazy("Words per summary (at most)"),
        initial=100,
        min_value=baselines.WORDS[0],
        max_value=baselines.WORDS[1],
    )


class SimulationForm(forms.Form):
    """Which judgments shall be simulated."""

    source = forms.ChoiceField(
        label=gettext_lazy("Simulated from"),
        choices=[("references", gettext_lazy("the references")), ("pyramid", gettext_lazy("the Pyramids"))],
    )
    per_topic = forms.IntegerField(
        label=gettext_lazy("Judgments per topic"),
        initial=100,
        min_value=simulated.PER_TOPIC[0],
        max_value=simulated.PER_TOPIC[1],
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        initial=0,
        min_value=simulated.SEEDS[0],
        max_value=simulated.SEEDS[1],
        help_text=gettext_lazy("The same number draws the same pairs. Take another one to add more."),
    )


class InvitationForm(InvitationModelForm):
    """An invitation link."""

    class Meta:
        model = Invitation
        fields = ("role", "label", "max_uses", "expires_at")
        widgets = {"expires_at": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")}
        help_texts = {
            "label": gettext_lazy("A note for yourself, such as “class of May” or “pilot”."),
            "max_uses": gettext_lazy("Empty: any number of annotators, or one person in any other role."),
            "expires_at": gettext_lazy("In UTC. Empty: until you revoke it, or a week for any role but annotator."),
        }

    def __init__(self, *args: Any, roles: list[str], **kwargs: Any) -> None:
        """`roles`: those that the inviting user may give."""
        super().__init__(*args, **kwargs)
        labels = dict(Membership.Role.choices)
        self.fields["role"].choices = [(role, labels[role]) for role in roles]  # type: ignore[attr-defined]
        self.fields["role"].help_text = _("Annotators do not need an account. All others must sign in.")


class WebhookForm(WebhookModelForm):
    """A webhook."""

    class Meta:
        model = Webhook
        fields = ("address", "agreement_below")
        widgets = {"address": forms.URLInput(attrs={"dir": "ltr"})}


class RecruitmentForm(AnsweringForm, RecruitmentModelForm):
    """The platform, the consent text, and the completion codes."""

    class Meta:
        model = Recruitment
        fields = crowd.SETTINGS
        widgets = {
            "consent": MarkdownWidget(attrs={"rows": 10, "dir": "auto"}),
            "expected_ids": forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "dir": "ltr"}),
        }
        help_texts = {
            "consent": gettext_lazy(
                "What everybody agrees to before they begin, with an invitation or from a platform: who you are, "
                "what is stored and why, what they are paid. It is stored word for word with everybody who agrees. "
                "If empty, nobody is asked."
            ),
            "platform": gettext_lazy("If you choose a platform, a link for it appears above."),
            "person_parameter": gettext_lazy(
                "The parameter in the link with the platform’s ID of the participant. Each ID takes part once."
            ),
            "session_parameter": gettext_lazy("Stored with the ID, for payments."),
            "check_session": gettext_lazy(
                "An ID is let in only with the session that it came with first. On Prolific the session is the "
                "submission, the same on every device. Leave it off where every visit has a session of its own: people "
                "who change devices would be locked out. The browser in which somebody began always comes in."
            ),
            "expected_ids": gettext_lazy(
                "One per line. Whoever comes with another ID reads that this link does not know it; those who have "
                "begun stay. If empty, every ID may take part."
            ),
            "return_url": gettext_lazy(
                "Where participants go when they are done; {code} stands for their code. If empty, Prolific’s own "
                "page is used for Prolific, and participants of other platforms copy the code."
            ),
            "code_done": gettext_lazy(
                "Shown only to those who have judged everything. Except for Prolific you can leave it empty; then "
                "every participant gets a different code."
            ),
            "code_no_work": gettext_lazy("For those who could not finish because no pairs were left."),
            "code_screened_out": gettext_lazy("For those whose part in the study was ended."),
        }


class ForecastForm(forms.Form):
    """What a reader of a forecast wants to know."""

    difference = forms.FloatField(
        label=gettext_lazy("Difference of two systems"),
        required=False,
        min_value=1e-6,
        max_value=100,
        help_text=gettext_lazy(
            "In percentage points of a win rate, or points of importance. How many answers tell two systems apart that "
            "differ so much?"
        ),
    )
    pay = forms.FloatField(label=gettext_lazy("Pay an hour"), required=False, min_value=0, max_value=1_000_000)
    currency = forms.CharField(
        label=gettext_lazy("Currency"),
        required=False,
        max_length=LONGEST_CURRENCY,
        help_text=gettext_lazy("Such as EUR."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("difference", "pay"):
            self.fields[name].widget.attrs["step"] = "any"


class SimulateForm(forms.Form):
    """The forecast's assumption about annotators."""

    careless = PercentField(
        label=gettext_lazy("Careless answers"),
        required=False,
        help_text=gettext_lazy(
            "The share of answers that a coin might give. Empty: 10, or what the study’s judgments teach."
        ),
    )


class WorkbenchForm(forms.Form):
    """One change to the sentences of a document as the user saw them: in `version`, by their indices from 0.

    `split`: the index, and the character where the second sentence begins.
    """

    MOST = 2**31 - 1
    version = forms.IntegerField(min_value=0, max_value=MOST)
    join = forms.IntegerField(required=False, min_value=0, max_value=MOST)
    leave_out = forms.IntegerField(required=False, min_value=0, max_value=MOST)
    take_back = forms.IntegerField(required=False, min_value=0, max_value=MOST)
    split = forms.RegexField(r"^[0-9]{1,9}:[0-9]{1,9}\Z", required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        changes = [name for name in ("join", "leave_out", "take_back", "split") if cleaned.get(name) not in (None, "")]
        if not self.errors and len(changes) != 1:
            raise forms.ValidationError(_("Choose one change."))
        return cleaned


class MendForm(forms.Form):
    """A document's split: one sentence a line. Only borders may move, no letter."""

    sentences = forms.CharField(
        label=gettext_lazy("One sentence per line"),
        help_text=gettext_lazy(
            "Start a new line for each sentence; join lines that belong together. Empty lines are ignored."
        ),
        widget=forms.Textarea(attrs={"rows": 24, "class": "given sentence", "spellcheck": "false", "dir": "auto"}),
    )

    def __init__(self, document: SourceDocument, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.document = document

    def clean_sentences(self) -> list[str]:
        """The sentences. Refused, with the first place that differs, if words were changed."""
        lines = [" ".join(line.split()) for line in self.cleaned_data["sentences"].splitlines()]
        sentences = [line for line in lines if line]
        document = " ".join(self.document.sentences or [self.document.text])
        if _letters("".join(sentences)) != _letters(document):
            raise forms.ValidationError(_difference(sentences, document))
        return sentences


def _difference(sentences: list[str], document: str) -> str:
    """The first line that differs from the document, and from where on."""
    wanted = _letters(document)
    at = 0
    for number, sentence in enumerate(sentences, 1):
        letters = _letters(sentence)
        if not wanted.startswith(letters, at):
            same = in_common(letters, wanted[at:])
            return _(
                "Sentence %(number)d continues with “%(found)s”, but the document has “%(wanted)s”. You can join "
                "and split sentences, but not change the text: annotators and readers of your results must find it "
                "as it was uploaded."
            ) % {"number": number, "found": _from(sentence, same), "wanted": _from(document, at + same)}
        at += len(letters)
    left = len(wanted) - at
    return ngettext(
        "The last %(left)d letter of the document is missing. You can join and split sentences, but not leave"
        " anything out.",
        "The last %(left)d letters of the document are missing. You can join and split sentences, but not "
        "leave anything out.",
        left,
    ) % {"left": left}


def _letters(text: str) -> str:
    """Everything but white space."""
    return "".join(text.split())


def _from(text: str, letters: int) -> str:
    """The text after so many letters, cut short, with its white space."""
    for start, letter in enumerate(text):
        if not letter.isspace():
            if not letters:
                rest = " ".join(text[start : start + SHOWN + 1].split())
                return rest if len(rest) <= SHOWN else rest[: SHOWN - 1] + "…"
            letters -= 1
    return ""
