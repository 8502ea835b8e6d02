"""ROUGE: its names and options. `scores` has the mathematics."""

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import NUMBER, OVER_REFERENCES, SHARE, WHOLE, Family, Option, later, register

ANY = "any"
SKIP = 4
"""The number of words between the two of a skip-bigram, at most."""
WEIGHT = 1.2
"""The power of a run's length in ROUGE-W."""
PSEUDOMODELS = 3
"""So many systems as in the paper on pseudomodels."""
_JACKKNIFE, _MODELS = OVER_REFERENCES.items()
OPTIONS = {
    "f": Option("the F-measure"),
    "p": Option("precision"),
    "alpha": Option("=0.8: the F-measure, with precision weighted so and recall by the rest (-p; 0.5)", SHARE),
    "stop": Option("without SMART stop words (-s)"),
    "unstemmed": Option("without stems (no -m)"),
    "unicode": Option("tokens of any script, not those of the program"),
    "words": Option("=100: only the first so many words (-l)", WHOLE),
    "bytes": Option("=665: only the first so many bytes (-b)", WHOLE),
    "best": Option("the best reference in place of all pooled (-f B)"),
    **OVER_REFERENCES,
    "pseudo": Option(
        f"=3: the summaries of so many of the best machines are references, too ({PSEUDOMODELS})", WHOLE, True
    ),
    "local": Option("pseudomodels: the best of each topic", across_topics=True),
    "global": Option("pseudomodels: the best of all topics", across_topics=True),
}


def _register(names: tuple[str, ...], options: dict[str, Option]) -> None:
    contradictions = (frozenset({"local", "global"}), frozenset({"p", "alpha"}), frozenset({"words", "bytes"}))
    register(
        Family(
            names,
            OPTIONS | options,
            later(f"{__name__}.scores"),
            either=contradictions,
            place=10,
            cites="lin-2004-rouge",
            rests_on=gettext_noop("the references"),
        )
    )


_register(("rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-l"), {})
_register(("rouge-w",), {"weight": Option(f"=2: the power of a run's length (-w; {WEIGHT})", NUMBER)})
_register(
    ("rouge-s4", "rouge-su4"),
    {
        "skip": Option(
            f"=9: so many words at most between the two of a pair, or {ANY} number (-2; {SKIP})", f"{WHOLE}|={ANY}"
        )
    },
)
