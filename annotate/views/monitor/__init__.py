"""What admins and operators see: how annotators judge and agree, the audit log, and the state of the worker."""

from annotate.views.monitor import agreement, annotators, by_mail, health, log, what_if

urlpatterns = [
    *health.urlpatterns,
    *annotators.urlpatterns,
    *by_mail.urlpatterns,
    *what_if.urlpatterns,
    *agreement.urlpatterns,
    *log.urlpatterns,
]
