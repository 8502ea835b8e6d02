"""The door to the tables: rows become evidence, results become rows, and what is behind is read off the rows.

Nothing here computes, and nothing that computes runs inside a transaction. What is saved is guarded by the version
that it was computed from: a late result finds a version that is no longer below its own, changes no row and is thrown
away. Claims only keep two workers from doing the same work.
"""

from annotate.health import topics_behind
from evaluation.records.agenda import Mark, Work, curves_owed, find_work, is_behind, is_curve_owed, topics_uncut
from evaluation.records.claims import claimed, drop_claims, give_sign_of_life, renew_claims, workers_alive
from evaluation.records.evidence import Snapshot, load_evidence
from evaluation.records.examination import (
    fitted_version,
    load_examinations,
    save_examination,
    save_topic_examination,
    studies_unexamined,
)
from evaluation.records.people import People, load_people, note_people_failure, save_people, studies_unreported
from evaluation.records.preparation import Cut, Texts, load_texts, save_first_preparation, save_preparation
from evaluation.records.removal import as_figures, as_part, from_part, load_fits, people_numbers, topics_judged
from evaluation.records.results import (
    Standings,
    leave_curve,
    load_standings,
    note_ranking_failure,
    save_curve,
    save_nothing,
    save_ranking,
    save_result,
    study_to_rank,
)
from evaluation.records.suggestions import pairs_filled
from evaluation.records.tries import begin_try, end_try, note_failure, problems_of

__all__ = [
    "Cut",
    "Mark",
    "People",
    "Snapshot",
    "Standings",
    "Texts",
    "Work",
    "as_figures",
    "as_part",
    "begin_try",
    "claimed",
    "curves_owed",
    "drop_claims",
    "end_try",
    "find_work",
    "fitted_version",
    "from_part",
    "give_sign_of_life",
    "is_behind",
    "is_curve_owed",
    "leave_curve",
    "load_evidence",
    "load_examinations",
    "load_fits",
    "load_people",
    "load_standings",
    "load_texts",
    "note_failure",
    "note_people_failure",
    "note_ranking_failure",
    "pairs_filled",
    "people_numbers",
    "problems_of",
    "renew_claims",
    "save_curve",
    "save_examination",
    "save_first_preparation",
    "save_nothing",
    "save_people",
    "save_preparation",
    "save_ranking",
    "save_result",
    "save_topic_examination",
    "studies_unexamined",
    "studies_unreported",
    "study_to_rank",
    "topics_behind",
    "topics_judged",
    "topics_uncut",
    "workers_alive",
]
