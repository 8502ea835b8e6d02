import uuid

import pytest
from django.db import connection
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from annotate import judging
from annotate.models import Assignment, Judgment, Study
from annotate.prepared import NUMBER, RANDOM, Prepared
from tests.annotate.judging_study import drawn, joined, judged, ready_study

pytestmark = pytest.mark.django_db

COLUMNS = ("key", "swapped", "created_at", "closed_at", "annotator__previous", "pair__first__text", "topic__extra")


def query(number: int):
    judgments = Judgment.objects.filter(assignment=OuterRef("pk"))
    return Assignment.objects.filter(pk=number).annotate(judged=Exists(judgments)).values_list(*COLUMNS, "judged")


def test_a_prepared_query_gives_what_django_gives():
    annotator = joined(ready_study())
    prepared = Prepared(query, NUMBER)
    for assignment in (judged(annotator), judged(annotator), drawn(annotator)):
        assert prepared(assignment.pk) == list(query(assignment.pk))
    assert prepared(0) == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps plans by itself")
def test_postgresql_keeps_the_plan_of_what_is_asked_again_and_again():
    prepared = Prepared(lambda number: Study.objects.filter(seed=number).values_list("pk"), NUMBER)
    for _time in range(10):
        prepared(70_000)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%seed%'")
        assert cursor.fetchone() == (1,)


def test_a_random_key_is_found_as_django_finds_it():
    assignment = drawn(joined(ready_study()))
    prepared = Prepared(lambda key: Assignment.objects.filter(key=key).values_list("pk", "key"), RANDOM)
    assert prepared(assignment.key) == [(assignment.pk, assignment.key)]
    assert prepared(uuid.uuid4()) == []


def test_the_database_is_asked_for_the_time_anew_each_time():
    assignment = drawn(joined(ready_study()))
    prepared = Prepared(
        lambda pk: Assignment.objects.filter(pk=pk).annotate(now=Now()).values_list("now"),
        NUMBER,
    )
    before = timezone.now()
    prepared(assignment.pk)
    while (now := prepared(assignment.pk)[0][0]) < before:  # the database may count in milliseconds
        continue
    assert now >= before


def test_a_key_that_has_no_place_in_the_query_is_noticed():
    prepared = Prepared(lambda pk: Assignment.objects.filter(pk=1).values_list("pk"), NUMBER)
    with pytest.raises(AssertionError, match="no place"):
        prepared(1)


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
