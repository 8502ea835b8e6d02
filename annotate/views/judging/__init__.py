"""The annotator's pages: an invitation, one pair after another, and the way out.

Every address is a page that works without JavaScript. Where htmx asks, it gets the part `#task` of that page.
"""

from django.urls import path
from django.views.decorators.http import require_http_methods
from django.views.i18n import set_language

from annotate.views.judging import join, pair, progress, questionnaire, trying

choose_language = require_http_methods(["GET", "HEAD", "POST"])(set_language)

urlpatterns = [*pair.urlpatterns, *progress.urlpatterns, *questionnaire.urlpatterns]
urlpatterns += [path("language/", choose_language, name="set_language"), *join.urlpatterns, *trying.urlpatterns]
