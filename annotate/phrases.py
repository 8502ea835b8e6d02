"""How judgments became scores, in words: the settings of a fit as a reader of the leaderboard needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

#: Equations 2-5 of Zopf (2018) as published; `prior` is beside them, since the paper's model has none.
PAPER = {
    "smooth": "paper",
    "redundancy": True,
    "value": "strength",
    "normalize": "length",
    "match": "any",
    "similarity": "tfidf-jaccard",
}


def settings_in_words(settings: Mapping[str, Any]) -> list[str]:
    """One phrase for each choice, in the order of the computation; what is missing is left out."""
    phrases = []
    if "prior" in settings and all(settings.get(name) == value for name, value in PAPER.items()):
        phrases.append(_("equations 2–5 as published (Zopf 2018)"))
        return [*phrases, _prior(settings["prior"])]
    said: dict[str, dict[Any, str]] = {
        "smooth": {
            "paper": _("judgments smoothed as in the paper"),
            "sharpened": _("judgments smoothed with sharpened similarities"),
            "kernel": _("similar sentences tied by a kernel prior"),
            "none": _("judgments not smoothed"),
        },
        "similarity": {
            "tfidf-jaccard": _("similarity: mean of TF-IDF cosine and Jaccard index"),
            "tfidf": _("similarity: TF-IDF cosine"),
            "jaccard": _("similarity: Jaccard index"),
        },
        "value": {
            "strength": _("a sentence is worth its strength"),
            "chance": _("a sentence is worth its chance of being preferred"),
        },
        "match": {
            "any": _("the nearest sentence counts fully"),
            "similarity": _("the nearest sentence counts by the root of its similarity"),
            "content": _("every sentence counts by the words in common"),
        },
        "normalize": {
            "length": _("divided by the summary’s own length"),
            "budget": _("divided by a common length"),
            "pivot": _("divided by a length between the summary’s own and a common one"),
        },
        "redundancy": {True: _("repetition earns nothing"), False: _("repetition is paid for again")},
    }
    for name in ("smooth", "similarity", "value", "match", "normalize", "redundancy"):
        if name in settings:
            phrases.append(said[name].get(settings[name], f"{name} = {settings[name]}"))
        if name == "smooth" and "prior" in settings:
            phrases.append(_prior(settings["prior"]))
    return phrases


def _prior(prior: float) -> str:
    return _("no prior") if not prior else _("prior %(prior)g") % {"prior": prior}
