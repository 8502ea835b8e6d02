"""How people judge and how the worker does, as admins and operators see it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import health, judges, judging, only_added
from annotate.models import (
    Annotator,
    AnnotatorReport,
    Claim,
    Judgment,
    Ranking,
    Study,
    Topic,
    TopicProgress,
    Upload,
    WorkerPulse,
)
from evaluation import tasks
from tests.annotate import making
from tests.annotate.judging_study import drawn, joined, judged, let_lapse, ready_study

pytestmark = pytest.mark.django_db


def signed_in(study: Study, role: str = "owner") -> Client:
    client = Client()
    client.force_login(making.owner(study) if role == "owner" else making.member(study, role))
    return client


def shown(client: Client, query: str = "") -> str:
    response = client.get(reverse("health") + query)
    assert response.status_code == 200
    return response.content.decode()


def alive() -> WorkerPulse:
    return WorkerPulse.objects.create(name="machine:1", at=timezone.now(), program_version="1")


def settled(study: Study) -> None:
    """As if the worker had done everything."""
    for topic in Topic.objects.filter(study=study):
        TopicProgress.objects.update_or_create(
            topic=topic,
            defaults={
                "prepared_version": topic.text_version,
                "fitted_version": topic.tally.data_version,
                "problem": "",
            },
        )


# Health


def test_a_page_says_when_no_worker_was_ever_there() -> None:
    text = shown(signed_in(ready_study()))
    assert "No worker is running" in text
    assert "None has been heard of yet" in text
    assert "celery -A evaluation.worker worker" in text


def test_a_worker_that_was_silent_for_long_is_not_there() -> None:
    pulse = alive()
    client = signed_in(ready_study())
    assert "A worker is running" in shown(client)
    WorkerPulse.objects.filter(pk=pulse.pk).update(at=timezone.now() - timedelta(minutes=3))
    text = shown(client)
    assert "No worker is running" in text
    assert "3\xa0minutes ago" in text


def test_what_failed_says_why() -> None:
    alive()
    study = ready_study(topics=2)
    settled(study)
    topic = study.topics.get(name="T0")
    judging.raise_version([topic.pk])
    TopicProgress.objects.filter(topic=topic).update(problem="Too <b>many</b> sentences.", tries=2)
    Ranking.objects.create(study=study, created_at=timezone.now(), problem="It broke.")
    text = shown(signed_in(study))
    assert "Too &lt;b&gt;many&lt;/b&gt; sentences." in text
    assert "It broke." in text
    assert "Topic T0" in text
    assert "Topic T1" not in text
    assert "something failed" in text


def test_how_far_behind_the_scores_are_is_told_by_the_oldest_judgment_they_lack() -> None:
    alive()
    study = ready_study()
    annotator = joined(study)
    judged(annotator)
    judged(annotator)
    settled(study)
    assert health.look(Study.objects.all()).lag is None
    judged(annotator)
    judged(annotator)
    topic = Topic.objects.get()
    topic.fits.create(
        data_version=topic.progress.fitted_version,
        judgments=2,
        last_judgment_id=Judgment.objects.order_by("pk")[1].pk,
        sentences=8,
        settings={},
        program_version="1",
        residual=0,
        iterations=1,
        seconds=0.1,
        created_at=timezone.now(),
    )
    third = Judgment.objects.order_by("pk")[2]
    found = health.look(Study.objects.all())
    assert found.oldest == third.at
    assert not found.is_late
    assert [one.topic for one in found.pending] == [topic]


def test_scores_that_are_a_minute_late_are_pointed_out() -> None:
    alive()
    study = ready_study()
    settled(study)
    judged(joined(study))
    with only_added.erasing():
        Judgment.objects.update(at=timezone.now() - timedelta(minutes=2))
    found = health.look(Study.objects.all())
    assert found.is_late
    assert found.lag >= 120
    assert "it is behind" in shown(signed_in(study))


def test_nobody_sees_the_failures_of_studies_that_are_not_theirs() -> None:
    alive()
    study = ready_study()
    settled(study)
    judging.raise_version(study.topics.values_list("pk", flat=True))
    TopicProgress.objects.update(problem="Secret trouble.")
    Claim.objects.create(
        name=f"topic:{study.topics.get().pk}",
        token=making.receive(study, b"x").key,
        since=timezone.now(),
        until=timezone.now() + timedelta(minutes=1),
    )
    other = signed_in(making.study(title="Elsewhere"))
    text = shown(other)
    assert "Secret trouble" not in text
    assert "T0" not in text
    assert "something of another study" in text
    assert "Topic T0" in shown(signed_in(study))


def test_only_who_is_signed_in_sees_the_page() -> None:
    response = Client().get(reverse("health"))
    assert response.status_code == 302
    assert response.url.startswith(reverse("sign_in"))


def test_files_that_wait_or_failed_are_listed() -> None:
    alive()
    study = ready_study()
    settled(study)
    upload = making.receive(study, b"{}", name="news.jsonl")
    found = health.look(Study.objects.all())
    assert (found.files_waiting, found.failures) == (1, 0)
    Upload.objects.filter(pk=upload.pk).update(state="failed")
    found = health.look(Study.objects.all())
    assert (found.files_waiting, found.failures) == (0, 1)
    assert "news.jsonl" in shown(signed_in(study))


def test_an_open_page_gets_news_only_when_there_are_some() -> None:
    alive()
    study = ready_study()
    settled(study)
    client = signed_in(study)
    version = client.get(reverse("health")).context["version"]
    assert client.get(reverse("health") + f"?seen={version}").status_code == 204
    judging.raise_version(study.topics.values_list("pk", flat=True))
    news = client.get(reverse("health") + f"?seen={version}")
    assert news.status_code == 200
    assert b"<html" not in news.content
    assert b"to be scored" in news.content
    assert b"hx-swap-oob" not in news.content
    WorkerPulse.objects.all().delete()
    news = client.get(reverse("health") + f"?seen={version}&said=well")
    assert b"hx-swap-oob" in news.content
    assert b"No worker is running" in news.content


# Judges


def line(study: Study, annotator: Annotator) -> judges.Judge:
    (found,) = (one for one in judges.look_at(study) if one.annotator.pk == annotator.pk)
    return found


def test_one_line_tells_how_somebody_judges() -> None:
    study = ready_study(sentences=12, ties_allowed=True)
    annotator = joined(study)
    for answer, seconds in (("left", 4.0), ("left", 8.0), ("right", 100.0), ("tie", 6.0)):
        judging.record_judgment(drawn(annotator), 1, answer, seconds)
    judging.skip(drawn(annotator), "unclear")
    judging.undo(judged(annotator, "right"))
    found = line(study, annotator)
    assert found.judged == 4
    assert found.seconds == 7.0
    assert (found.left.count, found.left.of) == (2, 3)
    assert (found.ties, found.skips, found.undone, found.surplus) == (1, 1, 1, 0)
    assert found.seen_at is not None


def test_an_answer_that_was_changed_counts_as_what_it_is_now() -> None:
    study = ready_study()
    annotator = joined(study)
    assignment = judged(annotator, "left")
    judging.undo(assignment)
    judging.record_judgment(assignment, 3, "right", 5.0)
    assert (line(study, annotator).left.count, line(study, annotator).left.of) == (0, 1)


def test_an_answer_whose_place_was_taken_is_surplus() -> None:
    study = ready_study(sentences=2)
    late, quick = joined(study), joined(study)
    assignment = drawn(late)
    let_lapse(assignment)
    judged(quick)
    judging.record_judgment(assignment, 1, "left", 5.0)
    assert (line(study, late).judged, line(study, late).surplus) == (1, 1)
    assert line(study, quick).surplus == 0


def test_who_only_ever_prefers_the_left_is_asked_about_and_not_after_three_answers() -> None:
    assert not judges.Share(30, 30).includes_half
    assert judges.Share(3, 3).includes_half
    assert judges.Share(16, 30).includes_half
    assert judges.Share(0, 0).includes_half
    low, high = judges.Share(16, 30).interval
    assert (round(low, 3), round(high, 3)) == (0.361, 0.698)


def test_machines_and_simulations_come_after_people_and_are_called_so() -> None:
    study = ready_study()
    judging.join(study, kind="simulated", pseudonym="references")
    human = joined(study)
    assert [one.annotator.kind for one in judges.look_at(study)] == ["human", "simulated"]
    judged(human)
    text = signed_in(study).get(reverse("judges", args=[study.pk])).content.decode()
    assert "simulated" in text
    assert human.pseudonym in text


@pytest.mark.parametrize(("role", "status"), [("owner", 200), ("admin", 200), ("researcher", 403), ("annotator", 404)])
def test_judges_are_shown_to_who_looks_after_people(role: str, status: int) -> None:
    study = ready_study()
    assert signed_in(study, role).get(reverse("judges", args=[study.pk])).status_code == status


def test_a_study_without_annotators_says_so() -> None:
    study = ready_study()
    assert "Nobody has joined yet" in signed_in(study).get(reverse("judges", args=[study.pk])).content.decode()


def test_the_page_of_judges_asks_as_much_of_the_database_for_one_as_for_many(django_assert_max_num_queries) -> None:
    study = ready_study(sentences=30)
    for _ in range(8):
        judged(joined(study))
    with django_assert_max_num_queries(4):
        judges.look_at(study)


def test_stored_figures_and_flags_are_shown_in_words() -> None:
    study = ready_study(judgments_per_pair=3)
    for _ in range(2):
        judged(joined(study))
    tasks.report_people(study.pk)
    AnnotatorReport.objects.filter(annotator__study=study).update(flags=["sided"])
    text = signed_in(study).get(reverse("judges", args=[study.pk])).content.decode()
    assert "How far people agree" in text
    assert text.count("Answers by side?") == 2
    assert "A flag is a question, not a verdict" in text


def test_a_thousand_annotators_come_a_hundred_a_page_with_few_queries(django_assert_max_num_queries) -> None:
    study = ready_study()
    Annotator.objects.bulk_create(Annotator(study=study, pseudonym=f"a{number:04}") for number in range(1000))
    client = signed_in(study)
    with django_assert_max_num_queries(20):
        text = client.get(reverse("judges", args=[study.pk]) + "?page=2").content.decode()
    assert text.count("a01") == 100
    assert "a0200" not in text
