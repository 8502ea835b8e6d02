"""How much a summary's words are like its sources': names and options. `scores` has the mathematics."""

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import NUMBER, Family, Option, later, register

BACKGROUND = {
    "background": Option("=FILE: word counts of other texts, in place of the study's other topics", value=None)
}
TOPIC_WORDS = {
    **BACKGROUND,
    "cutoff": Option("=10: what -2 log10 Lambda of a topic word exceeds", NUMBER),
    "natural": Option("with natural logarithms, and 10.83 as the cutoff"),
}
_CITES = "louis-nenkova-2013-automatically"
_make = later(f"{__name__}.scores")
_COSINE = {"cosine": gettext_noop("Cosine of documents and summary")}
_TOPIC_WORDS = {
    "cosine-topic": gettext_noop("Cosine of topic words"),
    "topic-share": gettext_noop("Share of topic words in the summary"),
    "topic-fraction": gettext_noop("Fraction of the topic words"),
}
_PROBABILITIES = {
    "unigram": gettext_noop("Unigram probability"),
    "multinomial": gettext_noop("Multinomial probability"),
}
register(Family(tuple(_PROBABILITIES), {}, _make, titles=_PROBABILITIES, place=50, cites=_CITES))
register(Family(tuple(_COSINE), BACKGROUND, _make, titles=_COSINE, across_topics=True, place=60, cites=_CITES))
register(
    Family(tuple(_TOPIC_WORDS), TOPIC_WORDS, _make, titles=_TOPIC_WORDS, across_topics=True, place=80, cites=_CITES)
)
