"""How many judgments does a study need? Asked for by a person, simulated by the worker. The one writer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from annotate.models import Forecast, Sentence, Study
from annotate.refusal import Refusal, check

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = Forecast.State
#: A study's forecasts that stay in the table.
KEPT = 10


@transaction.atomic
def ask(study: Study, user: User, careless: float | None = None) -> Forecast:
    """Have the worker simulate the study; what is being simulated already is given up. Raises `Refusal`."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    judged = Sentence.objects.to_judge().of_sources(study)
    if not judged.filter(position__gt=0).exists():
        raise Refusal(_("Upload topics with documents first: no topic has two sentences to judge."))
    asked = Forecast(study=study, user=user, careless=careless)
    check(asked)
    forecasts = Forecast.objects.filter(study=study)
    forecasts.filter(state=State.WAITING).delete()
    asked.save(force_insert=True)
    kept = forecasts.order_by("-pk").values_list("pk", flat=True)[:KEPT]
    forecasts.exclude(pk__in=list(kept)).delete()
    return asked


def note_progress(forecast: Forecast, parts: Mapping[str, Any], done: int, steps: int) -> bool:
    """Keep what is simulated so far; False where nobody waits for it any more."""
    waiting = forecast.waiting().filter(pk=forecast.pk)
    return waiting.update(parts=dict(parts), done=done, steps=steps) > 0


def finish(forecast: Forecast, figures: Mapping[str, Any]) -> None:
    """Publish what is to be expected; the parts that it was put together from are not needed any more."""
    forecast.waiting().filter(pk=forecast.pk).update(
        state=State.READY, figures=dict(figures), parts={}, done=F("steps"), problem=""
    )


def latest(study: Study) -> Forecast | None:
    """What was asked for last."""
    return Forecast.objects.filter(study=study).order_by("pk").last()
