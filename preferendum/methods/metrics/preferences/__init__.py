"""The scores that preferences give, as metrics: their name and options. `scores` has the mathematics."""

from collections.abc import Mapping
from typing import Any

from preferendum.formats.settings import PUBLISHED, SCORING
from preferendum.metrics.registry import Family, Option, later, register

#: `none` says too little outside of the command line, where it follows --smooth.
_WORDS = {"none": "unsmoothed"}
NUMBERS = {setting.name: setting for setting in SCORING if setting.type is float}
CHANGES: dict[str, Mapping[str, Any]] = {
    **{_WORDS.get(choice, choice): {setting.name: choice} for setting in SCORING for choice in setting.choices},
    **{setting.option: {setting.name: True} for setting in SCORING if setting.type is bool},
    **{f"no-{setting.option}": {setting.name: False} for setting in SCORING if setting.type is bool},
    "published": PUBLISHED,
    "no-redundancy": {"redundancy": False},
}
register(
    Family(
        ("preferences",),
        dict.fromkeys(CHANGES, Option("the setting of that name"))
        | dict.fromkeys(NUMBERS, Option("=0.1: the number of that name")),
        later(f"{__name__}.scores"),
        for_studies=False,
    )
)
