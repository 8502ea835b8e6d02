"""What is known of a machine judge, in words."""

from __future__ import annotations

from collections.abc import Iterator

from preferendum.formats.judge import Judge
from preferendum.formats.words import gettext as _

#: So much of a digest tells prompts apart; the whole one is in the archive and in the API.
DIGEST = 12


def in_words(judge: Judge, first: str = "", last: str = "") -> str:
    """Name the model, its prompt, temperature and maker, what an answer cost, and when it judged; "" for nothing known.

    `first`, `last`: the days of its answers.
    """
    return "; ".join(_phrases(judge, first, last))


def _phrases(judge: Judge, first: str, last: str) -> Iterator[str]:
    if judge.model or judge.version:
        yield _("model %(model)s") % {"model": " ".join(filter(None, (judge.model, judge.version)))}
    if judge.temperature is not None:
        yield _("temperature %(temperature)g") % {"temperature": judge.temperature}
    if judge.prompt_sha256:
        yield _("SHA-256 of the prompt %(digest)s…") % {"digest": judge.prompt_sha256[:DIGEST]}
    if judge.maker:
        yield _("made by %(maker)s") % {"maker": judge.maker}
    if judge.made:
        yield _("of the same maker: %(systems)s") % {"systems": ", ".join(judge.made)}
    if judge.cost is not None:
        cost = f"{judge.cost:,g} {judge.currency}".strip()
        yield _("cost of an answer: %(cost)s") % {"cost": cost}
    if first:
        days = {"first": first, "last": last}
        yield _("judged on %(first)s") % days if first == last else _("judged from %(first)s to %(last)s") % days
