"""Find topics where how well utilities order their sentences is out of date."""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotate.models import PyramidAnnotation, Reference, Result, Topic


def has_values() -> Q:
    """Whether a topic has references or a Pyramid, which sentences can be held against."""
    return Q(Exists(Reference.objects.filter(topic=OuterRef("pk")))) | Q(
        Exists(PyramidAnnotation.objects.filter(topic=OuterRef("pk")))
    )


def topics_with_unranked_sentences() -> QuerySet[Topic]:
    """Topics with sentences and references or a Pyramid whose ranking is out of date. Adds the `wanted` version."""
    done = Result.objects.filter(topic=OuterRef("pk"), analysis="sentence-ranking", version__gte=OuterRef("wanted"))
    fitted = Coalesce(F("sentence_set__progress__fitted_version"), Value(0))
    topics = Topic.objects.cut().annotate(wanted=F("text_version") + F("peers_version") + fitted)
    return topics.filter(has_values(), ~Exists(done))
