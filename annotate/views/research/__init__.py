"""What researchers see: their studies, what comes in, who judges, and what it all comes to."""

from annotate.views.research import (
    convergence,
    document_sets,
    exports,
    gold_pairs,
    kind_leaderboard,
    members,
    metric_scores,
    metrics,
    recruitment,
    results,
    sentence_ranking,
    studies,
    system_pairs,
    systems,
    topics,
    uploads,
)

urlpatterns = [
    *studies.urlpatterns,
    *uploads.urlpatterns,
    *topics.urlpatterns,
    *sentence_ranking.urlpatterns,
    *results.urlpatterns,
    *kind_leaderboard.urlpatterns,
    *metrics.urlpatterns,
    *metric_scores.urlpatterns,
    *system_pairs.urlpatterns,
    *document_sets.urlpatterns,
    *convergence.urlpatterns,
    *systems.urlpatterns,
    *members.urlpatterns,
    *recruitment.urlpatterns,
    *gold_pairs.urlpatterns,
    *exports.urlpatterns,
]
