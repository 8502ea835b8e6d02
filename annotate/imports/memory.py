"""Whether the worker has the memory for a topic: checked when a file is read, before a computation fails.

The need grows with the square of the sentences, since each may be compared with every other. The website never imports
the mathematics, so it has figures, measured by `benchmarks.archive.memory` and checked by a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt

from django.conf import settings

from preferendum import formats
from preferendum.formats.checks.complaints import shown

MEGABYTE = 1 << 20
#: Memory of a worker's process before its first topic, and what it keeps of others.
BASE = 320 * MEGABYTE
KEPT = 256 * MEGABYTE
#: Up to here the computations hold several numbers for every two sentences; beyond, only one.
FEW_SENTENCES = 4000
BYTES_OF_FEW, BYTES_OF_MANY = 36, 8


def needed(sentences: int) -> int:
    """Bytes that the worker needs for a topic of so many sentences, however many judgments it gets."""
    few = BYTES_OF_FEW * min(sentences, FEW_SENTENCES) ** 2
    return BASE + KEPT + max(few, BYTES_OF_MANY * sentences**2)


def most_sentences() -> int:
    """How many sentences a topic may have with the worker's memory."""
    room = max(settings.WORKER_MEMORY - BASE - KEPT, 0)
    few = isqrt(room // BYTES_OF_FEW)
    return few if few < FEW_SENTENCES else isqrt(room // BYTES_OF_MANY)


def refuse_large_topics(sentences: Mapping[str, int]) -> None:
    """Raises `formats.Refused` for topics with too many sentences; `sentences`: numbers by the names of topics."""
    complaints = tuple(
        formats.Complaint(
            f"topic {shown(name)}",
            0,
            "sentences",
            "%(sentences)s, for which the worker needs %(needed)s MB of memory; it has %(limit)s MB",
            "at most %(most)s; divide the topic into several, or ask the operator of this site to raise "
            "PREFERENDUM_WORKER_MEMORY",
            {
                "sentences": count,
                "needed": -(-needed(count) // MEGABYTE),
                "limit": settings.WORKER_MEMORY // MEGABYTE,
                "most": most_sentences(),
            },
        )
        for name, count in sentences.items()
        if needed(count) > settings.WORKER_MEMORY
    )
    if complaints:
        raise formats.Refused(complaints[: formats.Refused.LIMIT])
