"""Metrics that were trained, read from a file. `scores` has the mathematics."""

from preferendum.metrics.registry import Family, Option, later, register

IN_SAMPLE = "in-sample"
register(
    Family(
        ("trained",),
        {IN_SAMPLE: Option("also the topics that it learnt from, by what it learnt from them")},
        later(f"{__name__}.scores"),
        takes="FILE",
        for_studies=False,
    )
)
