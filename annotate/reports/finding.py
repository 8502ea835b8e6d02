"""Which careless annotators a study's checks can find, with the settings it has."""

from __future__ import annotations

from django.db.models import Count

from annotate.models import GoldPair, Item, ItemSet, Study
from annotate.reports.study import wanted_of
from preferendum.results.checks import EVERY_PAIR_TWICE, Finding, finding

#: The answers of a study that has no topics yet.
ANSWERS = 300


def of_study(study: Study) -> Finding:
    """Work out who is found once each annotator has judged all their pairs, and the study has all its judgments.

    Where every pair is judged twice or more, half of all judgments at least are second ones.
    """
    study = Study.objects.get(pk=study.pk)  # a form may have put anything into the one it was given
    each = max(study.pairs_per_annotator, 1)
    texts = Item.objects.to_judge().filter(item_set__in=ItemSet.objects.filter(study=study)).order_by()
    sizes = texts.values_list("item_set", "item_set__of").annotate(Count("pk"))
    wanted = sum(wanted_of(study, number, of_summaries=of == "summaries") for _set, of, number in sizes)
    gold_pairs = GoldPair.objects.filter(item_set__study=study, use=GoldPair.Use.GOLD).count()
    shared = study.shared_share if study.judgments_per_pair == 1 else EVERY_PAIR_TWICE
    return finding(each, -(-(wanted or ANSWERS) // each), shared, min(study.gold_share, gold_pairs / each))
