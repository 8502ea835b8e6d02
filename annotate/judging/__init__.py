"""Hand out pairs, take answers, take them back. The one writer of annotators, pairs, assignments and judgments.

Every transaction that draws or judges locks the item set's tally first: docs/decisions/locked-by-topic.md.
"""

from annotate.judging.annotators import join, joined_by, pause, set_shortcuts
from annotate.judging.answers import Outcome, OutOfTurn, Recorded, TooSoon, record_judgment, skip, undo
from annotate.judging.checks import practice_pairs, practice_to_match, practised
from annotate.judging.describing import describe
from annotate.judging.drawing import draw, end_leases, is_half_over, why_no_pair
from annotate.judging.excluding import exclude, readmit, rest
from annotate.judging.gold_pairs import delete_gold_pair, import_gold_pairs, prepare_pair
from annotate.judging.importing import (
    Arrivals,
    arrivals,
    count_in,
    forget_arrivals,
    import_judgments,
    remove_some,
    store_some,
)
from annotate.judging.no_pair import NoPair
from annotate.judging.reach import has_only_answers, look_again, newcomer, why_nobody_begins
from annotate.judging.restoring import restore
from annotate.judging.selecting import Selection, draw_selected, left
from annotate.judging.tallies import forget_pairs, keep_needs, lock, lock_study, open_tallies, raise_version
from annotate.judging.trying import forget_trials, next_trial, start_trial
from annotate.judging.voiding import answers_in, raise_known, revive_pairs, set_apart, void
from annotate.judging.withdrawing import erase, stop
