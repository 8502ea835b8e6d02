"""What researchers see."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from annotate import access


@login_required
def studies(request: HttpRequest) -> HttpResponse:
    """The studies that the visitor may look into."""
    return render(request, "research/studies.html", {"studies": access.visible_studies(request.user)})


urlpatterns = [path("studies/", studies, name="studies")]
