"""How judgments became scores, in words: a fit's settings, as readers of the leaderboard need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from django.utils.translation import gettext as _

from annotate.models import Study
from preferendum.formats.settings import SHARES, counting
from preferendum.show.shown import percent

if TYPE_CHECKING:
    from django.db.models import Field


def settings_in_words(settings: Mapping[str, Any]) -> list[str]:
    """One phrase for each setting that scores rest on; missing ones are left out.

    The prior is shown next to the paper's equations, whose model has none; if topics needed different ones, it is
    missing.
    """
    phrases = [phrase(setting.name, value) for setting, value in counting(settings)]
    unlike = [setting.name for setting, value in counting(settings) if value != setting.published]
    if settings.get("score") == "published" and not set(unlike) - {"prior"}:
        priors = [phrase("prior", settings["prior"])] if "prior" in settings else []
        return [_("equations 2–5 as published (Zopf 2018)"), *priors]
    return phrases


def phrase(name: str, value: Any) -> str:
    """A setting and its value, named as in the study's form."""
    return _("%(setting)s: %(value)s") % {"setting": name_in_words(name), "value": value_in_words(name, value)}


def name_in_words(name: str) -> str:
    return str(_field(name).verbose_name)


def value_in_words(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if name in SHARES:
        return percent(value)
    return dict(_field(name).flatchoices).get(value, f"{value:g}" if isinstance(value, float) else value)


def _field(name: str) -> Field[Any, Any]:
    return cast("Field[Any, Any]", Study._meta.get_field(name))
