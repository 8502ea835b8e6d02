"""What admins and operators see: how annotators judge and agree, what was done, how the worker does."""

from annotate.views.monitor import agreement, annotators, health, log, what_if

urlpatterns = [
    *health.urlpatterns,
    *annotators.urlpatterns,
    *what_if.urlpatterns,
    *agreement.urlpatterns,
    *log.urlpatterns,
]
