"""The worker's access to the tables: rows become evidence, results become rows.

Nothing here computes, and no computation runs inside a transaction. Each save is guarded by the version that its result
was computed from: a late result finds a version no longer below its own, changes no row and is discarded. Claims only
keep two workers from doing the same work.
"""

from evaluation.records.across_topics import load_study_texts, save_across_topics
from evaluation.records.annotators import Crowd, StudyAnswers, load_answers, save_annotators
from evaluation.records.at_work import load_at_work, load_with_sources
from evaluation.records.baselines import load_unsummarized
from evaluation.records.derived import finish, keep, keep_of_topic, note, publish
from evaluation.records.diagnostics import (
    fitted_version,
    human_authors,
    load_examinations,
    load_judged,
    save_topic_examination,
)
from evaluation.records.evidence import Snapshot, load_evidence, load_several
from evaluation.records.groups import Groups, load_groups
from evaluation.records.judge_cards import MachineAnswers, load_machines
from evaluation.records.metrics import StudyScores, load_study_scores, load_texts, save_metric_scores
from evaluation.records.results import (
    Fitted,
    load_standings,
    note_ranking_problem,
    note_topic_problem,
    owes_curve,
    problems_of,
    save_curve,
    save_ranking,
    save_results,
    standings_by_topic,
)
from evaluation.records.suggestions import pairs_filled
from evaluation.records.what_if import topics_judged
from evaluation.records.win_rates import ComparedSummaries, load_compared, load_summarized, pairs_owed, save_win_rates
