"""Forecasts of how many judgments a study needs: requested by users, simulated by the worker. The only writer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from annotate.models import Forecast, Item, Study
from annotate.refusal import Refusal, check

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = Forecast.State
#: A study's forecasts that stay in the table.
KEPT = 10


@transaction.atomic
def ask(study: Study, user: User, careless: float | None = None) -> Forecast:
    """Have the worker simulate the study; this cancels a waiting forecast. Raises `Refusal`."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    judged = Item.objects.to_judge().of_sources(study)
    if not judged.filter(position__gt=0).exists():
        raise Refusal(_("A forecast of sentences needs topics with documents: no topic has two sentences to judge."))
    asked = Forecast(study=study, user=user, careless=careless)
    check(asked)
    forecasts = Forecast.objects.filter(study=study)
    forecasts.filter(state=State.WAITING).delete()
    asked.save(force_insert=True)
    kept = forecasts.order_by("-pk").values_list("pk", flat=True)[:KEPT]
    forecasts.exclude(pk__in=list(kept)).delete()
    return asked


def note_progress(forecast: Forecast, parts: Mapping[str, Any], done: int, steps: int) -> bool:
    """Store what is simulated so far; False if the forecast is no longer waiting."""
    waiting = forecast.waiting().filter(pk=forecast.pk)
    return waiting.update(parts=dict(parts), done=done, steps=steps) > 0


def finish(forecast: Forecast, figures: Mapping[str, Any]) -> None:
    """Publish the forecast and drop its parts."""
    forecast.waiting().filter(pk=forecast.pk).update(
        state=State.READY, figures=dict(figures), parts={}, done=F("steps"), problem=""
    )


def latest(study: Study) -> Forecast | None:
    """The latest request."""
    return Forecast.objects.filter(study=study).order_by("pk").last()


def ready(study: Study) -> Forecast | None:
    """The latest that is simulated."""
    return Forecast.objects.filter(study=study, state=State.READY).order_by("pk").last()
