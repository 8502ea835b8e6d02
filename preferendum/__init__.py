"""Preferendum for Python: rank systems by people's judgments, see how far annotators agree, score summaries.

    import preferendum as pf
    judgments = pf.read("preferences.jsonl")
    board = pf.rank(judgments)
    pf.agreement(judgments)

No server and no Django are needed; `Study` is a study on a server. docs/python.md shows all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from preferendum.about import __version__

if TYPE_CHECKING:
    from preferendum.agreed import agreement
    from preferendum.boards import rank, score
    from preferendum.card import judge_card
    from preferendum.cli.__main__ import evaluate
    from preferendum.client import ApiError, Study
    from preferendum.formats.records import Refused
    from preferendum.reading import read

__all__ = [
    "ApiError",
    "Refused",
    "Study",
    "__version__",
    "agreement",
    "evaluate",
    "judge_card",
    "rank",
    "read",
    "score",
]

#: What is loaded on first use, and where from: most callers want little of it, and numpy takes its time.
_LATER = {
    "ApiError": "preferendum.client",
    "Refused": "preferendum.formats.records",
    "Study": "preferendum.client",
    "agreement": "preferendum.agreed",
    "evaluate": "preferendum.cli.__main__",
    "judge_card": "preferendum.card",
    "rank": "preferendum.boards",
    "read": "preferendum.reading",
    "score": "preferendum.boards",
}


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
