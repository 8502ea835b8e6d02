"""What people gave the summaries of TAC 2008 to 2011: the tables manual.peer and manual.model.

    D1001-A 1 0.286 5 0 A A 0.276 4 2     set, system, modified pyramid, SCUs, repetitions, two assessors,
                                          jackknifed modified pyramid, linguistic quality, overall responsiveness
    D1001-A A 16 A A 0.905 5 5            set, person, SCUs, two assessors, jackknifed modified pyramid,
                                          linguistic quality, overall responsiveness

In 2008 there is one assessor, and so one column less. Later the first of the two annotated the Pyramid, and the second
read the summary; most often they are one person.
"""

from __future__ import annotations

import re

from preferendum.methods.corpora.nist import Layout

_PEER = Layout(
    1,
    {2: "modified_pyramid", 7: "modified_pyramid_jackknifed", 8: "linguistic_quality", 9: "responsiveness"},
    assessor=6,
    others={2: 5, 7: 5},
)
_PEER_2008 = Layout(
    1,
    {2: "modified_pyramid", 6: "modified_pyramid_jackknifed", 7: "linguistic_quality", 8: "responsiveness"},
    assessor=5,
)
_MODEL = Layout(
    1,
    {5: "modified_pyramid_jackknifed", 6: "linguistic_quality", 7: "responsiveness"},
    assessor=4,
    others={5: 3},
)
_MODEL_2008 = Layout(1, {4: "modified_pyramid_jackknifed", 5: "linguistic_quality", 6: "responsiveness"}, assessor=3)

TABLES = {
    re.compile(r"manual\.peer(?:\.[A-C])?", re.IGNORECASE): {10: _PEER, 9: _PEER_2008},
    re.compile(r"manual\.model(?:\.[A-C])?", re.IGNORECASE): {8: _MODEL, 7: _MODEL_2008},
}


def is_human(topic: str, system: str) -> bool:
    """Whether people made the summaries of that "system": in TAC 2009 numbers 2 and 3 were."""
    return re.fullmatch(r"D09\d\d-[A-C]", topic) is not None and system in ("2", "3")
