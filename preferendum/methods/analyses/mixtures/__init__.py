"""People's judgments and simulated ones together, as metrics: table 2 of Zopf (2018)."""

from preferendum import work
from preferendum.work import Work

work.register(
    Work(
        "mixtures",
        "mixable",
        work.later(f"{__name__}.compute"),
        frozenset({"topics"}),
        "mix_judgments",
        "mixtures",
        turns=True,
    )
)
