"""What researchers fill in. Verbs check again and have the last word; forms say it beside the field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotate import crowd
from annotate.models import (
    Invitation,
    KnownPair,
    Membership,
    Recruitment,
    Sentence,
    SourceDocument,
    Study,
    Topic,
)
from annotate.refusal import Refusal
from annotate.studies import SETTINGS

if TYPE_CHECKING:  # the class takes no parameter when it runs
    StudyModelForm = forms.ModelForm[Study]
    InvitationModelForm = forms.ModelForm[Invitation]
    RecruitmentModelForm = forms.ModelForm[Recruitment]
else:
    StudyModelForm = InvitationModelForm = RecruitmentModelForm = forms.ModelForm

SHOWN = 60


def complain(form: forms.BaseForm, refusal: Refusal) -> None:
    """Show a verb's refusal at the fields that it names, or above the form."""
    for name, found in refusal.fields.items():
        form.add_error(name if name in form.fields else None, list(found))
    if not refusal.fields:
        form.add_error(None, refusal.message)


class StudyForm(StudyModelForm):
    """Everything that a researcher may set, each explained where it is set."""

    ASKED = ("title", "question", "language", "guidelines")
    JUDGING = (
        "ties_allowed",
        "show_progress",
        "judgments_per_topic",
        "judgments_per_pair",
        "pairs_per_annotator",
        "random_share",
        "seed",
    )
    QUALITY = (
        "training",
        "training_threshold",
        "gold_share",
        "repeat_share",
        "reading_speed",
        "skips_in_a_row",
        "person_cap",
        "judgments_per_hour",
        "pilot",
    )
    SCORING = ("smooth", "prior", "similarity", "value", "match", "normalize", "redundancy", "weigh_annotators")

    class Meta:
        model = Study
        fields = SETTINGS
        widgets = {"guidelines": forms.Textarea(attrs={"rows": 8})}
        help_texts = {
            "title": gettext_lazy("For you and your colleagues. Annotators see it too."),
            "question": gettext_lazy("Stands above every pair of sentences. Keep it short; a topic may bring its own."),
            "language": gettext_lazy(
                "As a tag such as en, de or zh-Hans. It decides how texts are cut into sentences and how a screen "
                "reader pronounces them."
            ),
            "guidelines": gettext_lazy(
                "What counts as important here, with an example or two. Annotators read this before they begin and can "
                "open it beside every pair."
            ),
            "ties_allowed": gettext_lazy(
                "A tie counts as half a win for each side. Without it people must choose between the two."
            ),
            "show_progress": gettext_lazy("Such as “pair 13 of 30” and about how many minutes are left."),
            "judgments_per_topic": gettext_lazy(
                "How many answers to collect for each topic. A few hundred are a good start; the leaderboard shows how "
                "far the intervals have narrowed, and you can ask for more at any time."
            ),
            "judgments_per_pair": gettext_lazy(
                "How many people see the same pair. One spreads judgments over the most pairs; two or more let you "
                "measure how far people agree."
            ),
            "pairs_per_annotator": gettext_lazy("After so many pairs a person is thanked and done."),
            "random_share": gettext_lazy(
                "From 0 to 1. Of the pairs that would otherwise be chosen, so many are drawn at random instead: "
                "agreement that is measured on these alone is not flattered by the choice."
            ),
            "training": gettext_lazy(
                "Before the first pair that counts people judge the practice pairs that you prepared and hear after "
                "each what is right and why. Practice never counts. Without prepared pairs nothing is asked."
            ),
            "training_threshold": gettext_lazy(
                "From 0 to 1. Whoever has fewer right is thanked, and leaves with the code for “screened out”. 0 lets "
                "everybody go on."
            ),
            "gold_share": gettext_lazy(
                "From 0 to 0.5, such as 0.1 for one pair in ten. Pairs whose answer you prepared stand among others, "
                "and nothing shows it. They count as work and never towards scores."
            ),
            "repeat_share": gettext_lazy(
                "From 0 to 0.5. A pair that somebody has judged comes once more, at least five pairs later, with its "
                "sides swapped. It shows how consistent they are, and never counts twice."
            ),
            "reading_speed": gettext_lazy(
                "Whoever answers faster than this is asked kindly to read both sentences; the answer is taken all the "
                "same. People read some 25 characters a second. 0 asks nobody."
            ),
            "skips_in_a_row": gettext_lazy(
                "Half as many are answered with a kind question; so many end somebody’s work, politely, and with the "
                "code for “screened out”. 0 lets people skip as they like."
            ),
            "person_cap": gettext_lazy(
                "From 0 to 1. Nobody gives more than this share of a topic’s judgments, nor three times an even share "
                "among all who joined, whichever is more; an even spread of their own pairs over the topics is never "
                "refused. 1 is no limit."
            ),
            "judgments_per_hour": gettext_lazy("Whoever reaches it is asked to go on later. 0 is no limit."),
            "pilot": gettext_lazy(
                "People who see results should not make them: owners, researchers, admins and whoever uploaded texts "
                "cannot judge here. Switch this on to try things out; their judgments then count like all others."
            ),
            "seed": gettext_lazy("Fixes what is left to chance in computing, so that others can repeat it."),
            "smooth": gettext_lazy(
                "Lets a judgment say something about similar sentences too. The paper’s way helps with few judgments "
                "and blurs with many; “none” uses judgments alone."
            ),
            "prior": gettext_lazy(
                "So many imaginary wins and losses of every sentence against an average one keep utilities finite. 0 "
                "is the paper’s model, which needs every sentence to be linked to every other by wins."
            ),
            "similarity": gettext_lazy(
                "How alike two sentences are, for smoothing and to match summaries with sources."
            ),
            "weigh_annotators": gettext_lazy(
                "Lets a judgment count the more, the more whoever gave it agrees with what others say of the topic. It "
                "helps where some people click at random, and costs next to nothing where nobody does."
            ),
            "value": gettext_lazy(
                "What a source sentence lends to a summary that has it. Strengths let a few sentences hold nearly all; "
                "chances are spread evenly and can be compared between topics."
            ),
            "match": gettext_lazy(
                "Whether a summary’s sentence earns the value of the source sentence nearest to it, fully or the less "
                "the farther it is, or the values of all with which it shares words."
            ),
            "normalize": gettext_lazy(
                "The own length favours short summaries, a common one long ones, one between them neither. All are "
                "alike where summaries had the same limit."
            ),
            "redundancy": gettext_lazy("A word pair that a summary repeats is paid for once (equation 5)."),
        }

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields as a page shows them; those of the computation are folded in apart."""
        named = {"asked": self.ASKED, "judging": self.JUDGING, "quality": self.QUALITY, "scoring": self.SCORING}
        return [(name, [self[field] for field in fields]) for name, fields in named.items()]

    @property
    def quality_has_errors(self) -> bool:
        return any(name in self.errors for name in self.QUALITY)

    @property
    def scoring_has_errors(self) -> bool:
        return any(name in self.errors for name in self.SCORING)


class KnownPairForm(forms.Form):
    """Two sentences of a topic, which of them is right, what the pair is for, and why."""

    better = forms.ModelChoiceField(Sentence.objects.none(), label=gettext_lazy("The more important sentence"))
    worse = forms.ModelChoiceField(
        Sentence.objects.none(),
        label=gettext_lazy("The less important sentence"),
        help_text=gettext_lazy("Choose two that nobody doubts: whoever gets one wrong should not have read it."),
    )
    use = forms.ChoiceField(label=gettext_lazy("What for"), choices=KnownPair.Use.choices)
    explanation = forms.CharField(
        label=gettext_lazy("Why"),
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=gettext_lazy("Shown in practice after the answer, whatever it was."),
    )

    def __init__(self, topic: Topic, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sentences = Sentence.objects.filter(topic=topic).select_related("topic", "document").order_by("position")
        for name in ("better", "worse"):
            field = cast("forms.ModelChoiceField[Sentence]", self.fields[name])
            field.queryset = sentences
            field.label_from_instance = _named  # type: ignore[method-assign, assignment]
            field.widget.attrs |= {"dir": "auto", "lang": topic.language or topic.study.language}


def _named(sentence: Sentence) -> str:
    return f"{sentence.document.name}:{sentence.index}  {sentence.text}"


class UploadForm(forms.Form):
    """One file in any of the forms that are read."""

    file = forms.FileField(label=gettext_lazy("File"))


class InvitationForm(InvitationModelForm):
    """A link that lets people in."""

    class Meta:
        model = Invitation
        fields = ("role", "label", "max_uses", "expires_at")
        widgets = {"expires_at": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")}
        help_texts = {
            "label": gettext_lazy("For you, so that you know later whom it was for: “class of May”, “pilot”."),
            "max_uses": gettext_lazy("Left empty, anybody with the link may come in."),
            "expires_at": gettext_lazy("In UTC. Left empty, the link stays good until you take it back."),
        }

    def __init__(self, *args: Any, roles: list[str], **kwargs: Any) -> None:
        """`roles`: what whoever invites may give."""
        super().__init__(*args, **kwargs)
        labels = dict(Membership.Role.choices)
        self.fields["role"].choices = [(role, labels[role]) for role in roles]  # type: ignore[attr-defined]
        self.fields["role"].help_text = _("Annotators need no account. Everybody else signs in first.")


class RecruitmentForm(RecruitmentModelForm):
    """Where people come from, what they agree to, and which codes they leave with."""

    class Meta:
        model = Recruitment
        fields = crowd.SETTINGS
        widgets = {"consent": forms.Textarea(attrs={"rows": 10})}
        help_texts = {
            "consent": gettext_lazy(
                "What people agree to before they begin, whether by an invitation or from a platform: who you are, "
                "what is stored and why, what they are paid. It is stored word for word with everybody who agrees. "
                "Left empty, nobody is asked."
            ),
            "platform": gettext_lazy("With a platform a link appears above that you give to it."),
            "person_parameter": gettext_lazy(
                "The platform writes it into the link before its name for the person. One name takes part once."
            ),
            "session_parameter": gettext_lazy("It is stored beside the name, so that you can settle payments."),
            "return_url": gettext_lazy(
                "Where people are led when they are done; {code} stands for their code. Left empty, Prolific’s own "
                "page is used for Prolific, and on other platforms people copy the code."
            ),
            "code_done": gettext_lazy(
                "Only whoever has judged everything sees it. On another platform you may leave it empty: everybody "
                "then gets a code of their own."
            ),
            "code_no_work": gettext_lazy("For whoever could not finish because everything was judged already."),
            "code_screened_out": gettext_lazy("For whoever’s part was ended by you."),
        }


class MendForm(forms.Form):
    """How a document is cut: one sentence a line. Only borders may move, no letter."""

    sentences = forms.CharField(
        label=gettext_lazy("One sentence a line"),
        help_text=gettext_lazy(
            "Break a line where a sentence ends; join lines that belong together. Empty lines are ignored."
        ),
        widget=forms.Textarea(attrs={"rows": 24, "class": "given sentence", "spellcheck": "false", "dir": "auto"}),
    )

    def __init__(self, document: SourceDocument, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.document = document

    def clean_sentences(self) -> list[str]:
        """The sentences; refused, with the first place that differs, where words were changed."""
        sentences = [" ".join(line.split()) for line in self.cleaned_data["sentences"].splitlines()]
        found = [sentence for sentence in sentences if sentence]
        document = " ".join(self.document.sentences or [self.document.text])
        if _letters("".join(found)) != _letters(document):
            raise forms.ValidationError(_difference(found, document))
        return found


def _difference(sentences: list[str], document: str) -> str:
    """Which line is the first that does not read as the document does, and from where on."""
    wanted = _letters(document)
    at = 0
    for number, sentence in enumerate(sentences, 1):
        letters = _letters(sentence)
        if not wanted.startswith(letters, at):
            same = _common(letters, wanted[at : at + len(letters)])
            return _(
                "Sentence %(number)d goes on with “%(found)s” where the document has “%(wanted)s”. Only borders can be "
                "moved: annotators, and whoever reads your results, must find the text as it was uploaded. To change "
                "the text itself, upload the topic anew."
            ) % {"number": number, "found": _from(sentence, same), "wanted": _from(document, at + same)}
        at += len(letters)
    left = len(wanted) - at
    return ngettext(
        "The last %(left)d letter of the document is missing: only borders can be moved, nothing left out.",
        "The last %(left)d letters of the document are missing: only borders can be moved, nothing left out.",
        left,
    ) % {"left": left}


def _common(a: str, b: str) -> int:
    """How many letters two texts share at their beginnings."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _letters(text: str) -> str:
    """Everything but white space."""
    return "".join(text.split())


def _from(text: str, letters: int) -> str:
    """What comes after so many letters, cut short, with its white space."""
    for start, letter in enumerate(text):
        if not letter.isspace():
            if not letters:
                rest = " ".join(text[start : start + SHOWN + 1].split())
                return rest if len(rest) <= SHOWN else rest[: SHOWN - 1] + "…"
            letters -= 1
    return ""
