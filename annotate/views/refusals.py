"""What pages show of a verb's refusal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest

from annotate.forms import complain
from annotate.refusal import Refusal


@contextmanager
def refusals_shown(where: BaseForm | HttpRequest) -> Iterator[None]:
    """Show a refusal in the form, or above the visitor's next page, and continue after the block."""
    try:
        yield
    except Refusal as refusal:
        if isinstance(where, BaseForm):
            complain(where, refusal)
        else:
            messages.error(where, refusal.message)
