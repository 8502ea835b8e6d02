import uuid
from contextlib import closing
from itertools import combinations

import pytest
from django.db import IntegrityError, close_old_connections, connection, transaction
from django.db.models import Exists, F, OuterRef, Value
from django.db.models.functions import Now
from django.utils import timezone

from annotate import judging
from annotate.models import Annotator, Assignment, Judgment, Pair, Sentence, Study, Tally, Topic
from annotate.prepared import Added, Changes, Prepared
from tests.annotate.judging_study import drawn, joined, judged, ready_study

pytestmark = pytest.mark.django_db

COLUMNS = ("key", "swapped", "created_at", "closed_at", "annotator__previous", "pair__first__text", "topic__extra")


def query(number: int):
    judgments = Judgment.objects.filter(assignment=OuterRef("pk"))
    return Assignment.objects.filter(pk=number).annotate(judged=Exists(judgments)).values_list(*COLUMNS, "judged")


def test_a_prepared_query_gives_what_django_gives():
    annotator = joined(ready_study())
    prepared = Prepared(query)
    for assignment in (judged(annotator), judged(annotator), drawn(annotator)):
        assert prepared(assignment.pk) == list(query(assignment.pk))
    assert prepared(0) == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps plans by itself")
def test_postgresql_keeps_the_plan_of_what_is_asked_again_and_again():
    prepared = Prepared(lambda number: Study.objects.filter(seed=number).values_list("pk"))
    for _time in range(10):
        prepared(70_000)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%seed%'")
        assert cursor.fetchone() == (1,)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server that could hang up")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ask", [lambda: judging.find_shown(uuid.uuid4()), Study.objects.count])
def test_after_the_server_hung_up_the_next_request_opens_another_connection(ask):
    ask()
    before = connection.connection.info.backend_pid
    with closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [before])
    while connection.is_usable():  # it takes the server a moment
        continue
    close_old_connections()  # as at the beginning of every request
    ask()
    assert connection.connection.info.backend_pid != before


def test_a_random_key_is_found_as_django_finds_it():
    assignment = drawn(joined(ready_study()))
    prepared = Prepared(lambda key: Assignment.objects.filter(key=key).values_list("pk", "key"))
    assert prepared(assignment.key) == [(assignment.pk, assignment.key)]
    assert prepared(uuid.uuid4()) == []


def test_the_database_is_asked_for_the_time_anew_each_time():
    assignment = drawn(joined(ready_study()))
    prepared = Prepared(
        lambda pk: Assignment.objects.filter(pk=pk).annotate(now=Now()).values_list("now"),
    )
    before = timezone.now()
    prepared(assignment.pk)
    while (now := prepared(assignment.pk)[0][0]) < before:  # the database may count in milliseconds
        continue
    assert now >= before


def test_a_key_that_has_no_place_in_the_query_is_noticed():
    prepared = Prepared(lambda pk: Assignment.objects.filter(pk=1).values_list("pk"))
    with pytest.raises(AssertionError, match="no place"):
        prepared(1)


several = Changes(
    lambda study, number, name, key, at, topic: [
        (Study.objects.filter(pk=study), {"seed": F("seed") + number}),
        Annotator(study_id=study, pseudonym=name, key=key, judged_at=at),
        (Topic.objects.filter(pk=topic), {"title": name}),
    ]
)


def test_changes_are_what_django_would_write():
    study, key, at = ready_study(topics=2), uuid.uuid4(), timezone.now()
    seed, (topic, other) = study.seed, study.topics.order_by("pk")
    results = several(study=study.pk, number=2, name="50 % \"of\" 'them'", key=key, at=at, topic=topic.pk)
    added = Annotator.objects.get(key=key)
    assert results == [1, added.pk, 1]
    assert (added.study, added.pseudonym, added.judged_at, added.judged) == (study, "50 % \"of\" 'them'", at, 0)
    assert Study.objects.get().seed == seed + 2
    assert list(study.topics.order_by("pk").values_list("title", flat=True)) == [added.pseudonym, other.title]


def test_a_change_of_rows_that_are_not_there_says_so():
    study = ready_study()
    results = several(study=study.pk, number=1, name="x", key=uuid.uuid4(), at=None, topic=0)
    assert results == [1, Annotator.objects.get().pk, 0]


def test_where_one_of_several_changes_is_refused_none_is_made():
    study, key = ready_study(), uuid.uuid4()
    several(study=study.pk, number=1, name="x", key=key, at=None, topic=0)
    seed = Study.objects.get().seed
    with pytest.raises(IntegrityError), transaction.atomic():
        several(study=study.pk, number=1, name="y", key=key, at=None, topic=0)
    assert Study.objects.get().seed == seed
    assert [one.pseudonym for one in Annotator.objects.all()] == ["x"]


begin = Changes(
    lambda topic, first, second, annotator, key, now: [
        (Annotator.objects.filter(pk=annotator), {"judged": F("judged") + 1}),
        Pair(topic_id=topic, first_id=first, second_id=second, need=1, taken=1),
        Assignment(
            key=key,
            topic_id=topic,
            annotator_id=annotator,
            pair_id=Value(Added(1)),
            swapped=False,
            created_at=now,
        ),
        (Tally.objects.filter(topic_id=topic), {"data_version": F("data_version") + Value(Added(1))}),
    ]
)


def test_a_change_may_name_the_row_that_one_before_it_added():
    study, key = ready_study(sentences=3), uuid.uuid4()
    judged(joined(study))
    first, second = next(
        two
        for two in combinations(Sentence.objects.order_by("pk"), 2)
        if not Pair.objects.filter(first=two[0], second=two[1]).exists()
    )
    annotator, before = joined(study), Tally.objects.get().data_version
    keys = {"topic": first.topic_id, "first": first.pk, "second": second.pk, "now": timezone.now()}
    results = begin(**keys, annotator=annotator.pk, key=key)
    assignment = Assignment.objects.select_related("pair").get(key=key)
    assert (assignment.pair.first_id, assignment.pair.second_id) == (first.pk, second.pk)
    assert results == [1, assignment.pair_id, assignment.pk, 1]
    assert Tally.objects.get().data_version == before + assignment.pair_id


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is no other process")
def test_postgresql_is_asked_once_for_several_changes(django_assert_num_queries):
    study = ready_study()
    with django_assert_num_queries(1):
        several(study=study.pk, number=1, name="x", key=uuid.uuid4(), at=None, topic=0)


def test_a_pair_is_shown_as_it_was_drawn_without_asking_again(django_assert_num_queries):
    annotator = joined(ready_study())
    now = judging.find_shown(drawn(annotator).key)
    following = judging.draw(annotator, besides=now)
    with django_assert_num_queries(0):
        shown = judging.show_next(following, now)
        seen = (shown.left.text, shown.right.text, shown.topic.title, shown.annotator.study.title)
    again = judging.find_shown(following.key)
    assert shown == again
    assert seen == (again.left.text, again.right.text, again.topic.title, again.annotator.study.title)
    for name in ("key", "pk", "state", "swapped", "reason", "expected", "revision", "annotator_id", "pair_id"):
        assert getattr(shown, name) == getattr(again, name)


def test_a_pair_of_another_topic_is_shown_with_its_own():
    annotator = joined(ready_study(topics=2))
    now = judging.find_shown(drawn(annotator).key)
    other = Topic.objects.exclude(pk=now.topic_id).get()
    Tally.objects.filter(topic=now.topic_id).update(taken=1_000_000)
    following = judging.draw(annotator, besides=now)
    assert judging.show_next(following, now).topic == other


def test_what_a_page_shows_is_what_the_rows_say():
    assignment = judged(joined(ready_study(ties_allowed=True)))
    shown = judging.find_shown(assignment.key)
    row = Assignment.objects.select_related("pair__first", "pair__second", "topic", "annotator__study").get()
    assert shown == row
    for name in ("state", "swapped", "revision", "key"):
        assert getattr(shown, name) == getattr(row, name)
    assert (shown.left.text, shown.right.text) == (row.left.text, row.right.text)
    assert (shown.left.document_id, shown.right.document_id) == (row.left.document_id, row.right.document_id)
    assert (shown.topic.title, shown.topic.language) == (row.topic.title, row.topic.language)
    for name in ("key", "study_id", "judged", "quota", "seconds", "previous", "shortcuts", "pseudonym"):
        assert getattr(shown.annotator, name) == getattr(row.annotator, name)
    for name in ("title", "question", "ties_allowed", "show_progress", "pairs_per_annotator", "seed"):
        assert getattr(shown.annotator.study, name) == getattr(row.annotator.study, name)
    assert judging.find_shown(uuid.uuid4()) is None


def test_a_session_that_is_over_is_none(client):
    session = client.session
    session["annotators"] = {"1": "x"}
    session.save()
    assert client.session["annotators"] == {"1": "x"}
    session.set_expiry(-1)
    session.save()
    assert "annotators" not in client.session


def test_what_is_shown_while_an_answer_is_sent_is_found_with_it(django_assert_num_queries):
    annotator = joined(ready_study())
    first = drawn(annotator)
    ahead = judging.draw(annotator, besides=first)
    with django_assert_num_queries(1):
        answered, shown = judging.find_answered(first.key, ahead.key)
        assert answered.left.text
        assert shown.topic.title == answered.topic.title
    assert (answered, shown) == (first, ahead)
    assert shown.annotator is answered.annotator
    assert judging.find_answered(first.key, first.key) == (first, first)


def test_what_is_somebody_elses_or_nowhere_is_not_shown_meanwhile():
    study = ready_study()
    first, others = drawn(joined(study)), drawn(joined(study))
    assert judging.find_answered(first.key, others.key) == (first, None)
    assert judging.find_answered(first.key, uuid.uuid4()) == (first, None)
    assert judging.find_answered(first.key, None) == (first, None)
    assert judging.find_answered(uuid.uuid4(), first.key) == (None, None)
