"""Hand out pairs, take answers, take them back. The one writer of annotators, pairs, assignments and judgments.

Every transaction that draws or judges locks the topic's tally first and everything else after it, so that no two of
them ever wait for each other crosswise. Whoever must lock several tallies does so in the order of their topics.
"""

from annotate.judging.answers import Outcome, OutOfTurn, Recorded, TooSoon, record_judgment, skip, undo
from annotate.judging.bringing import bring_preferences
from annotate.judging.checks import practice_pairs
from annotate.judging.choosing import WANTED
from annotate.judging.drawing import Nothing, Reason, draw, is_held, standing
from annotate.judging.excluding import exclude, readmit, rest
from annotate.judging.known import bring_known_pairs, forget_known_pair, prepare_pair
from annotate.judging.people import Progress, join, pause, progress, set_shortcuts
from annotate.judging.proceeding import record_and_draw
from annotate.judging.restoring import restore
from annotate.judging.showing import find_answered, find_shown, previous_revision, show_next, standing_answer
from annotate.judging.tallies import counted_judgments, forget_pairs, keep_needs, open_tallies, raise_version
from annotate.judging.withdrawing import erase, stop

__all__ = [
    "WANTED",
    "Nothing",
    "OutOfTurn",
    "Outcome",
    "Progress",
    "Reason",
    "Recorded",
    "TooSoon",
    "bring_known_pairs",
    "bring_preferences",
    "counted_judgments",
    "draw",
    "erase",
    "exclude",
    "find_answered",
    "find_shown",
    "forget_known_pair",
    "forget_pairs",
    "is_held",
    "join",
    "keep_needs",
    "open_tallies",
    "pause",
    "practice_pairs",
    "prepare_pair",
    "previous_revision",
    "progress",
    "raise_version",
    "readmit",
    "record_and_draw",
    "record_judgment",
    "rest",
    "restore",
    "set_shortcuts",
    "show_next",
    "skip",
    "standing",
    "standing_answer",
    "stop",
    "undo",
]
