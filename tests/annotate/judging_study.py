"""Studies that are ready to be judged, and what must be true of them whatever was done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from annotate import judging
from annotate.imports.recutting import add_topics
from annotate.models import (
    Annotator,
    Assignment,
    Claim,
    GoldPair,
    Item,
    ItemSet,
    Judgment,
    Pair,
    SourceDocument,
    Study,
    Tally,
    Topic,
)
from annotate.reports import annotators, rests_on
from evaluation import tasks
from preferendum.formats.settings import KINDS_COUNTED
from tests.annotate import making


def ready_study(sentences: int = 8, topics: int = 1, **fields: Any) -> Study:
    """An open study whose topics have one document of so many sentences each."""
    study = making.study(**fields)
    for number in range(topics):
        add_topic(study, f"T{number}", sentences, number)
    return study


def add_topic(study: Study, name: str, sentences: int, position: int) -> Topic:
    topic = add_topics([Topic(study=study, name=name, title=f"Topic {name}", position=position, cut_version=1)])[0]
    texts = [f"Sentence {index} of {name}." for index in range(sentences)]
    document = SourceDocument.objects.create(topic=topic, name="d1", position=0, sentences=texts)
    Item.objects.bulk_create(
        Item(item_set=topic.sentence_set, document=document, index=index, position=index, text=text)
        for index, text in enumerate(texts)
    )
    judging.open_tallies([topic.sentence_set])
    return topic


def prepare_pairs(study: Study, use: str, number: int, topic: str = "T0") -> list[GoldPair]:
    """The first sentence is better than each of the next ones for practice, the last one better for hidden pairs."""
    sentences = list(Item.objects.filter(item_set__study=study, item_set__topic__name=topic).order_by("position"))
    if use == "gold":
        sentences.reverse()
    return [
        judging.prepare_pair(
            study, making.owner(study), better=sentences[0], worse=worse, use=use, explanation=f"Because of {worse}"
        )
        for worse in sentences[1 : number + 1]
    ]


def joined(study: Study, **fields: Any) -> Annotator:
    annotator = judging.join(study)
    if fields:
        Annotator.objects.filter(pk=annotator.pk).update(**fields)
        annotator.refresh_from_db()
    return annotator


def drawn(annotator: Annotator) -> Assignment:
    assignment = judging.draw(annotator)
    assert isinstance(assignment, Assignment), assignment
    return assignment


def judged(annotator: Annotator, answer: str = "left") -> Assignment:
    assignment = drawn(annotator)
    recorded = judging.record_judgment(assignment, 1, answer, 5.0)
    assert recorded.outcome == judging.Outcome.STORED
    return assignment


def let_lapse(*assignments: Assignment) -> None:
    """As if their leases had run out a minute ago."""
    Assignment.objects.filter(pk__in=[one.pk for one in assignments]).update(
        expires_at=timezone.now() - timedelta(minutes=1)
    )


def report_annotators(study: Study) -> None:
    """Have the worker look at the study's annotators, however lately it did."""
    Claim.objects.all().delete()
    tasks.report_annotators(study.pk)


LAST = Judgment.objects.filter(assignment=OuterRef("pk"), revision=OuterRef("revision"))
WAS_JUDGED = Q(state="void") & Exists(LAST.exclude(answer="undone"))


def assert_books_balance(study: Study) -> None:
    """What is counted beside the rows is what a count of the rows gives, and nothing is beyond what was wanted."""
    of_a_person = Q(assignments__annotator__kind="human", assignments__annotator__excluded_at=None)
    places = Count("assignments", filter=of_a_person & Q(assignments__holds_place=True))
    for pair in Pair.objects.filter(item_set__study=study, item_set__removal=None).annotate(places=places):
        assert pair.taken == pair.places <= pair.need, pair
    for tally in Tally.objects.filter(item_set__study=study).select_related("item_set__topic"):
        assert tally.taken == sum(Pair.objects.filter(item_set=tally.item_set).values_list("taken", flat=True))
    kept = {own.pk: own for own in rests_on.judged_in(ItemSet.objects.filter(study=study))}
    for item_set_id, groups in rests_on.count_judged(kept).items():
        assert sorted(map(tuple, kept[item_set_id].groups)) == sorted(groups)
    everyone = Annotator.objects.filter(study=study).select_related("report")
    assert annotators.answers_of(study, everyone) == annotators.count_answers([one.pk for one in everyone])
    for annotator in Annotator.objects.filter(study=study):
        # What was done stays done, though it is void: its topic or sentence went.
        done, skipped = Q(state="judged") | WAS_JUDGED, Q(state="skipped") | Q(state="void") & ~Q(skip_reason="")
        assert annotator.judged == annotator.assignments.filter(done).exclude(reason="training").count()
        assert annotator.skipped == annotator.assignments.filter(skipped).count()
        if annotator.previous is not None:
            previous = annotator.assignments.get(key=annotator.previous)
            assert previous.state in ("judged", "skipped")
            if previous.closed_at is not None:  # what is imported without a time has none
                assert not annotator.assignments.filter(state="judged", closed_at__gt=previous.closed_at).exists()
        assert not annotator.assignments.exclude(state__in=["open", "judged", "void"]).filter(holds_place=True).exists()
        checks = annotator.assignments.filter(reason__in=["training", "gold", "repeat"])
        assert not checks.filter(holds_place=True).exists()
    for assignment in Assignment.objects.filter(item_set__study=study).annotate(last=Max("judgments__revision")):
        assert assignment.revision == (assignment.last or 0)
    for topic in Topic.objects.filter(study=study):
        counted = Judgment.objects.counted().filter(assignment__item_set=topic.pk).values_list("assignment", flat=True)
        expected = Assignment.objects.filter(
            item_set=topic.pk, state="judged", holds_place=True, annotator__excluded_at=None
        )
        expected = expected.filter(annotator__kind__in=KINDS_COUNTED[study.counted_kinds])
        assert set(counted) == set(expected.values_list("pk", flat=True))
        assert len(counted) == len(set(counted))
