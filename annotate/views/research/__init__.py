"""What researchers see: their studies, what comes in, who judges, and what it all comes to."""

from annotate.views.research import exports, known_pairs, people, recruitment, results, studies, topics, uploads

urlpatterns = [
    *studies.urlpatterns,
    *uploads.urlpatterns,
    *topics.urlpatterns,
    *results.urlpatterns,
    *people.urlpatterns,
    *recruitment.urlpatterns,
    *known_pairs.urlpatterns,
    *exports.urlpatterns,
]
