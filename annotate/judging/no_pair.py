"""Why an annotator gets no pair: one table, for pages, the API and completion codes."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from annotate.models import Participation, Study

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Outcome = Participation.Outcome


class NoPair(enum.StrEnum):
    """Why no pair was drawn. The value is the API's code, and part of pages' addresses."""

    DONE = "done"  # they judged as many pairs as were wanted
    NO_WORK = "no_work"  # every pair that they could judge is judged, or leased to another annotator
    NO_TEXTS = "no_texts"  # only answers were imported, without what they are about
    PAUSED = "paused"
    CLOSED = "closed"
    EXCLUDED = "excluded"
    SCREENED_OUT = "screened_out"  # too few of their practice answers were right
    SKIPPED = "skipped"  # so many pairs in a row that the study ends it there
    HOUR = "hour"  # as many as the study takes of one person within an hour
    OWN = "own"  # they see the study's results, so they make none
    RESTING = "resting"  # an admin of the study gives them no pairs for a while

    @property
    def told(self) -> Told:
        return TOLD[self]

    def text(self, study: Study) -> str:
        """The text for the annotator."""
        return str(self.told.text) % {"limit": study.judgments_per_hour}


@dataclass(frozen=True, slots=True)
class Told:
    """What one reason means for the annotator.

    `outcome`: how an annotator of a platform leaves; None where they may come back. `is_final`: nothing that others do
    changes it, so that they get their code at once.
    """

    title: _StrPromise
    text: _StrPromise
    outcome: Outcome | None = None
    is_final: bool = False
    may_undo: bool = False
    may_ask_again: bool = False


TOLD = {
    NoPair.DONE: Told(
        _("Thank you. You have judged everything we asked you for."),
        _("There is nothing more to do."),
        Outcome.DONE,
        is_final=True,
        may_undo=True,
    ),
    NoPair.NO_WORK: Told(
        _("No pairs for you right now"),
        _(
            "Every pair you could judge has been judged, or is on somebody else’s screen. You are welcome to try again "
            "in half an hour."
        ),
        Outcome.NO_WORK,
        may_undo=True,
        may_ask_again=True,
    ),
    NoPair.NO_TEXTS: Told(
        _("There is nothing to judge here"),
        _("This study shows answers that were given elsewhere. It has no texts, so it needs nobody to judge."),
        Outcome.NO_WORK,
        is_final=True,
    ),
    NoPair.PAUSED: Told(_("The study is paused"), _("The researchers have paused the study. Please come back later.")),
    NoPair.CLOSED: Told(
        _("The study is closed"), _("No more answers are needed. Thank you for your help."), Outcome.NO_WORK
    ),
    NoPair.EXCLUDED: Told(
        _("Your part in this study has ended"),
        _("The researchers have ended your part in the study. If you have questions, please ask them."),
        Outcome.SCREENED_OUT,
    ),
    NoPair.SCREENED_OUT: Told(
        _("Thank you. Your part ends here"),
        _(
            "Too few of your practice answers matched the expected ones. This says nothing about you: this study uses "
            "a narrow idea of what is important. Thank you for your time."
        ),
        Outcome.SCREENED_OUT,
        is_final=True,
    ),
    NoPair.SKIPPED: Told(
        _("Thank you. Your part ends here"),
        _(
            "You skipped many pairs in a row, so these texts are probably not right for you. If you think something "
            "is wrong with the texts, please tell the researchers."
        ),
        Outcome.SCREENED_OUT,
        is_final=True,
    ),
    NoPair.HOUR: Told(
        _("That is enough for this hour"),
        _(
            "So that nobody gets tired, this study takes no more than %(limit)d judgments an hour from one annotator. "
            "Continue later."
        ),
        may_undo=True,
        may_ask_again=True,
    ),
    NoPair.OWN: Told(
        _("This is your own study"),
        _(
            "You are a member of this study, or you uploaded its texts. Members do not judge in their own study, so "
            "that its results stay independent."
        ),
    ),
    NoPair.RESTING: Told(
        _("Your part is paused"),
        _("The researchers have paused your part in the study. What you judged counts. Please come back later."),
        may_undo=True,
    ),
}
