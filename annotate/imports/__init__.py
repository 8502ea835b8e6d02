"""How texts come into a study: a file is received, read by the worker, looked at by a person, and stored whole.

`uploads` follows a file on its way, `store` makes rows of what it brings, `cutting` says where sentences begin and
end, `workbench` and `previewed` let a person move these borders one by one, of what is stored and of a file before
that, `compared` lets people compare summaries as they are now, `replacing` puts what differs in the place of what is
there, `recutting` keeps judgments with sentences that stay, `removing` takes out and puts back, `baselines` and
`simulated` ask the worker to write a file itself (`written`), `restore` takes an exported study back.
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
from annotate.imports.uploads import confirm, discard, process, receive
from annotate.imports.workbench import join_with_next, set_judged_at, split_at, words_of
