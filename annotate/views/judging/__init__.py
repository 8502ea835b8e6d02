"""The annotator's pages: an invitation, one pair after another, and the way out.

Every address is a page that works without JavaScript. Where htmx asks, it gets the part `#task` of that page.
"""

from annotate.views.judging import join, pair, progress, trying

urlpatterns = [*join.urlpatterns, *progress.urlpatterns, *pair.urlpatterns, *trying.urlpatterns]
