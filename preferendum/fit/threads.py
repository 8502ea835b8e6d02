"""Keep the linear algebra of one fit on one thread.

The matrices are small: more threads gain nothing on an idle machine, and on a busy one they wait for each other, which
made fits ten times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import scipy.linalg  # noqa: F401 (the controller knows the libraries that are loaded when it is made)
from threadpoolctl import ThreadpoolController

_P = ParamSpec("_P")
_R = TypeVar("_R")
_LIBRARIES = ThreadpoolController()


def on_one_thread(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, with BLAS limited to one thread while it runs."""

    @wraps(function)
    def limited(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with _LIBRARIES.limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
