"""A regression on the features of SIMetrix: its name and options. `scores` has the mathematics."""

from preferendum.methods.metrics.input_similarity import TOPIC_WORDS
from preferendum.metrics.registry import Family, Option, later, register

register(
    Family(
        ("simetrix-regression",),
        {
            "dimension": Option("=overall: which human score"),
            "train": Option("=FILE: learn from other topics, of another year say"),
            **TOPIC_WORDS,
        },
        later(f"{__name__}.scores"),
        for_studies=False,
    )
)
