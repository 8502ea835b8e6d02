"""The plain SQL on the way of a click says what the QuerySets say that it stands for."""

from __future__ import annotations

from itertools import combinations
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import Max, Model, Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import invitations, judging
from annotate.database import statements
from annotate.imports.recutting import add_topics
from annotate.models import Annotator, Assignment, Item, Judgment, Pair, Study, Suggestion, Tally, Topic
from tests.annotate import making
from tests.annotate.judging_study import drawn, joined, judged, let_lapse, ready_study

pytestmark = pytest.mark.django_db


def loaded(row: Model) -> dict[str, Any]:
    """What a row has loaded of its columns, by name."""
    deferred = row.get_deferred_fields()
    return {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.attname not in deferred
    }


def is_as_stored(row: Model) -> bool:
    """Whether what is loaded is what the database has, in values and types."""
    stored = loaded(type(row)._base_manager.get(pk=row.pk))
    assert loaded(row) == {name: stored[name] for name in loaded(row)}
    return all(isinstance(value, type(stored[name])) for name, value in loaded(row).items())


@pytest.fixture
def study() -> Study:
    """With pairs that were judged by several, skipped, left to lapse and held, and by machines, too."""
    study = ready_study(sentences=7, judgments_per_pair=2, random_share=0.5, judgments_per_topic=1000)
    for kind in ("human", "human", "machine"):
        annotator = joined(study, kind=kind)
        for _pair in range(4):
            judged(annotator)
        judging.skip(drawn(annotator), "unclear")
        let_lapse(drawn(annotator))
    return study


def test_what_is_answered_is_found_with_what_its_page_needs(study):
    held = [drawn(joined(study)) for _annotator in range(2)]
    found = statements.find_to_answer([*(row.key for row in held), uuid4()])
    assert set(found) == {row.key for row in held}
    for row in found.values():
        parts = (
            row.pair,
            row.pair.first,
            row.pair.second,
            row.item_set,
            row.item_set.topic,
            row.annotator,
            row.annotator.study,
        )
        assert all(map(is_as_stored, (row, *parts)))
        assert row.now >= Assignment.objects.get(pk=row.pk).created_at


def test_what_a_page_shows_is_found_at_once(study):
    annotator = joined(study)
    judged(annotator)
    held = drawn(annotator)
    undo_revision = Annotator.objects.get(pk=annotator.pk).undo_revision
    with CaptureQueriesContext(connection) as captured:
        row = statements.find_to_show(held.key)
    assert len(captured) == 1
    parts = (row.pair, row.left, row.right, row.item_set, row.item_set.topic, row.annotator, row.annotator.study)
    assert all(map(is_as_stored, (row, *parts)))
    assert row.annotator.undo_revision == undo_revision == 2
    with pytest.raises(Assignment.DoesNotExist):
        statements.find_to_show(uuid4())


def test_the_lock_sees_the_topic_and_everybody_in_it_as_they_are_now(study):
    held = drawn(joined(study))
    stale = Assignment.objects.get(pk=held.pk)
    Assignment.objects.filter(pk=held.pk).update(state="expired", holds_place=False, revision=3)
    with transaction.atomic():
        topic = statements.lock(stale)
        expected = Tally.objects.lock(held.item_set_id)
    assert (topic.pk, topic.taken, topic.of_summaries) == (expected.pk, expected.taken, expected.of_summaries)
    assert abs((topic.now - expected.now).total_seconds()) < 5
    assert topic.last == Item.objects.filter(item_set=topic.pk).aggregate(Max("position"))["position__max"]
    assert (stale.state, stale.holds_place, stale.revision) == ("expired", False, 3)
    assert is_as_stored(stale.annotator)
    assert is_as_stored(stale.annotator.study)


def test_one_that_went_into_the_history_of_its_topic_is_not_locked(study):
    held = drawn(joined(study))
    other = add_topics([Topic(study=study, name="elsewhere", position=9)])[0]
    Assignment.objects.filter(pk=held.pk).update(item_set=other.sentence_set)
    with transaction.atomic():
        assert statements.lock(held) is None


@pytest.mark.parametrize("kind", ["human", "machine", "simulated", "trial"])
def test_a_look_finds_what_is_held_and_what_is_free(study, kind):
    """For each pair of texts alone: as the worker's wish, and as drawn by lot."""
    annotator = joined(study, kind=kind)
    for _pair in range(3):
        judged(annotator)
    held = drawn(annotator)
    annotator = Annotator.objects.select_related("study").get(pk=annotator.pk)
    with transaction.atomic():
        topic = Tally.objects.lock(held.item_set_id)
    sentences = list(Item.objects.filter(item_set=topic.pk).order_by("position"))
    Item.objects.filter(pk=sentences[6].pk).update(not_judged="by-hand")
    gone = {(pair.first_id, pair.second_id) for pair in Pair.objects.with_is_free(annotator).filter(Q(is_free=False))}
    assert gone
    for one, other in combinations(sentences, 2):
        is_free = (one.pk, other.pk) not in gone and other.position != 6
        by_lot = statements.find_candidates(topic, annotator, [(other.position, one.position)])
        assert [lease[0] for lease in by_lot.held] == [held.pk]
        Suggestion.objects.create(
            item_set_id=topic.pk, first=one, second=other, rank=1, design_weight=0.25, drawn_for=7
        )
        wished = statements.find_candidates(topic, annotator, ())
        Suggestion.objects.all().delete()
        for found, reason in ((by_lot, "random"), (wished, "suggested")):
            assert (found.choice is not None) == is_free
            if found.choice is not None:
                pair = Pair.objects.filter(first=one, second=other).first()
                assert (found.choice.pair.first, found.choice.pair.second) == (one, other)
                assert found.choice.pair.pk == (pair and pair.pk)
                assert pair is None or is_as_stored(found.choice.pair)
                assert found.choice.reason == reason


def test_a_look_prefers_the_first_wish_and_then_the_first_that_was_drawn(study):
    annotator = joined(study)
    topic = Tally.objects.lock(Topic.objects.get().pk)
    sentences = list(Item.objects.filter(item_set=topic.pk).order_by("position"))
    pairs = [(a, b) for a, b in combinations(sentences, 2) if not Pair.objects.filter(first=a, second=b).exists()][:3]
    lots = [(a.position, b.position) for a, b in pairs]
    assert statements.find_candidates(topic, annotator, lots).choice.pair.first == pairs[0][0]
    for rank, (a, b) in enumerate(reversed(pairs), 1):
        Suggestion.objects.create(item_set_id=topic.pk, first=a, second=b, rank=rank, is_random=True, design_weight=2.5)
    choice = statements.find_candidates(topic, annotator, lots).choice
    assert (choice.pair.second, choice.reason, choice.design_weight) == (pairs[2][1], "random", 2.5)
    Study.objects.update(random_share=1.0)
    annotator.study.refresh_from_db()
    assert statements.find_candidates(topic, annotator, lots).choice.pair.second == pairs[0][1]
    assert statements.find_candidates(None, annotator, lots).choice is None


def test_what_a_click_writes_is_what_the_rows_say(study):
    annotator = joined(study)
    held = drawn(annotator)
    ahead = judging.draw(annotator, besides=held)
    before = Tally.objects.get()
    recorded = judging.record_judgment(held, 1, "left", 2.5, showing=ahead)
    rows = recorded.judgment, held, held.annotator, recorded.following, recorded.following.pair
    assert all(map(is_as_stored, rows))
    after = Tally.objects.get()
    assert (after.taken, after.data_version) == (before.taken + 1, before.data_version + 1)
    assert Judgment.objects.latest("pk").extra is None


@pytest.mark.parametrize("is_shown", [True, False], ids=["shown ahead", "drawn now"])
def test_a_click_takes_ten_statements(is_shown):
    study = ready_study(sentences=30, random_share=0.0)
    client = Client()
    here = client.post(invitations.invitation_path(invitations.invite(study, making.owner(study)))).url
    script = {"HX-Request": "true"}
    if is_shown:
        client.post(f"{here}ahead/", headers=script)
        script["Judge-Showing"] = reverse("pair", args=[Assignment.objects.latest("pk").key])
    for number in range(2):  # the first one compiles templates, and its page has nothing to undo
        with CaptureQueriesContext(connection) as captured:
            answered = client.post(here, {"answer": "left", "revision": 1}, headers=script)
        if number == 0:
            here = script.get("Judge-Showing") or answered.headers["HX-Push-Url"]
            if is_shown:
                script["Judge-Showing"] = reverse("pair", args=[Assignment.objects.latest("pk").key])
    ends = ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")
    statements = [query["sql"] for query in captured if not query["sql"].startswith(ends)]
    assert Judgment.objects.count() == 2
    assert len(statements) <= 10, statements
