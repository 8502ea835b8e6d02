"""All addresses. Each file below `annotate/views/` lists its own."""

from django.urls import include, path

from annotate.views import (
    account,
    crowd,
    docs,
    judging,
    monitor,
    openid_connect,
    passwords,
    prometheus,
    research,
    security,
)

handler400 = "annotate.views.errors.bad_request"
handler403 = "annotate.views.errors.forbidden"
handler404 = "annotate.views.errors.not_found"
handler500 = "annotate.views.errors.server_error"

urlpatterns = [
    path("", include(judging.urlpatterns)),  # first, as nearly all requests are for them
    path("", include("annotate.views.second_factor")),  # before `sign-in/<token>/`
    path("", include(openid_connect.urlpatterns)),
    path("", include(account.urlpatterns)),
    path("", include(passwords.urlpatterns)),
    path("", include(docs.urlpatterns)),
    path("", include(crowd.urlpatterns)),
    path("", include(research.urlpatterns)),
    path("", include(monitor.urlpatterns)),
    path("", include(prometheus.urlpatterns)),
    path("", include(security.urlpatterns)),
    path("api/v1/", include("annotate.api.urls")),
]
