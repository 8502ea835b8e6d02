"""Imports of data into a study: a file is received, read by the worker, confirmed by a person, and stored whole.

`uploads` has the states of a file, `kept` what was read from it, `store` makes its rows, `cutting` cuts documents into
sentences, `workbench` and `previewed` let users move these borders, in stored texts and in a file before that,
`compared` keeps the topics of compared summaries up to date, `replacing` replaces what differs, `recutting` keeps
judgments with sentences that stay, `removing` removes and restores, `baselines` and `simulated` let the worker write a
file itself (`written`), `restore` imports an exported study.
"""

from annotate.imports.baselines import ask_for_baselines
from annotate.imports.compared import keep_in_step
from annotate.imports.cutting import cut_again, cut_topic, mend, set_judged
from annotate.imports.metrics import put_metric_scores
from annotate.imports.previewed import (
    has_judgments,
    join_in_preview,
    previewed_sentences,
    set_judged_in_preview,
    split_in_preview,
)
from annotate.imports.removing import find_target, forget_removed, remove, restore_removed
from annotate.imports.replacing import WouldLoseJudgments
from annotate.imports.simulated import ask_for_simulated
from annotate.imports.store import store
from annotate.imports.uploads import choose_columns, confirm, delete_files, discard, process, receive, refuse_at_once
from annotate.imports.workbench import join_with_next, set_judged_at, split_at, words_of
