"""How people judge and how the worker does, as admins and operators see it."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from annotate import audit_log, imports, judging, members, studies
from annotate.database import append_only
from annotate.judging import what_if
from annotate.models import (
    Annotator,
    AnnotatorReport,
    Assignment,
    AuditEntry,
    Claim,
    ItemSetProgress,
    Judgment,
    Ranking,
    Result,
    Study,
    Topic,
    Upload,
    WhatIfQuestion,
    WorkerPulse,
)
from annotate.refusal import Refusal
from annotate.reports import agreement, annotator_answers, annotators, worker
from annotate.reports import audit_log as audit_log_in_words
from annotate.reports.what_if import in_words, would_change
from evaluation import tasks
from evaluation.agenda import look
from preferendum.formats import Preference
from preferendum.results import (
    Agreement,
    Bounded,
    Figure,
    Ground,
    Influence,
    Outcome,
    PairwiseAgreement,
    SmallestSet,
    StudyAgreement,
    SystemResult,
    WhatIf,
    to_json,
)
from preferendum.show.analyses import annotator_agreement
from preferendum.show.analyses.annotator_agreement import THIN, NamedAgreement, Two
from tests import kept
from tests.annotate import making, scored
from tests.annotate.big_study import big_study
from tests.annotate.everything import made_once, study_once
from tests.annotate.judging_study import drawn, joined, judged, let_lapse, ready_study, report_annotators
from tests.annotate.reading import address, rows_of, signed_in, text_of
from tests.annotate.test_comparing_summaries import record, study_of

pytestmark = pytest.mark.django_db


def shown(client: Client, query: str = "") -> str:
    response = client.get(reverse("health") + query)
    assert response.status_code == 200
    return response.content.decode()


def alive() -> WorkerPulse:
    return WorkerPulse.objects.create(name="machine:1", at=timezone.now(), program_version="1")


def settled(study: Study) -> None:
    """As if the worker had done everything."""
    for topic in Topic.objects.filter(study=study):
        ItemSetProgress.objects.update_or_create(
            item_set=topic.sentence_set,
            defaults={
                "fitted_version": topic.sentence_set.tally.data_version,
                "problem": "",
            },
        )


# Health


def test_a_page_says_when_no_worker_was_ever_there() -> None:
    text = shown(signed_in(ready_study()))
    assert "No worker is running" in text
    assert "None has been seen yet" in text
    assert "celery -A evaluation.app worker" in text


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
    ItemSetProgress.objects.filter(item_set=topic.pk).update(problem="Too <b>many</b> sentences.")
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
    assert worker.look(Study.objects.all()).lag is None
    judged(annotator)
    judged(annotator)
    topic = Topic.objects.get()
    last = Judgment.objects.order_by("pk")[1].pk
    making.fit(topic, data_version=topic.sentence_set.progress.fitted_version, last_judgment_id=last)
    third = Judgment.objects.order_by("pk")[2]
    found = worker.look(Study.objects.all())
    assert found.oldest == third.at
    assert not found.is_late
    assert [one.topic for one in found.pending] == [topic]


def test_scores_that_are_a_minute_late_are_pointed_out() -> None:
    alive()
    study = ready_study()
    settled(study)
    judged(joined(study))
    with append_only.erasing():
        Judgment.objects.update(at=timezone.now() - timedelta(minutes=2))
    found = worker.look(Study.objects.all())
    assert found.is_late
    assert found.lag >= 120
    assert "running but behind" in shown(signed_in(study))


def test_nobody_sees_the_failures_of_studies_that_are_not_theirs() -> None:
    alive()
    study = ready_study()
    settled(study)
    judging.raise_version(study.topics.values_list("pk", flat=True))
    ItemSetProgress.objects.update(problem="Secret trouble.")
    Claim.objects.create(
        name=f"topic:{study.topics.get().pk}",
        token=making.receive(study, b"x").key,
        since=timezone.now(),
        until=timezone.now() + timedelta(minutes=1),
    )
    other = signed_in(making.study(title="Elsewhere"))
    text = shown(other)
    assert "Secret trouble" not in text
    assert "Topic T0" not in text
    assert "a task of another study" in text
    assert "Topic T0" in shown(signed_in(study))


@pytest.mark.parametrize("task", ["webhook", "forecast", "metrics"])
def test_no_task_of_ones_own_study_is_called_anothers(task: str) -> None:
    alive()
    study, now = ready_study(title="Hail"), timezone.now()
    settled(study)
    ends = now + timedelta(minutes=1)
    Claim.objects.create(name=f"{task}:7", study=study.pk, token=uuid.uuid4(), since=now, until=ends)
    own, others = shown(signed_in(study)), shown(signed_in(making.study(title="Elsewhere")))
    assert "Hail" in own
    assert "another study" not in own
    assert "a task of another study" in others
    assert "Hail" not in others


def test_who_looks_after_annotators_is_led_to_how_the_worker_does() -> None:
    study = ready_study()
    page = text_of(signed_in(study, "admin"), reverse("study_annotators", args=[study.pk]))
    assert reverse("health") in page


def test_files_that_wait_or_failed_are_listed() -> None:
    alive()
    study = ready_study()
    settled(study)
    upload = making.receive(study, b"{}", name="news.jsonl")
    found = worker.look(Study.objects.all())
    assert (found.files_waiting, found.failures) == (1, 0)
    Upload.objects.filter(pk=upload.pk).update(state="failed")
    found = worker.look(Study.objects.all())
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


# Annotators


def line(study: Study, annotator: Annotator) -> annotators.AnnotatorRow:
    (found,) = (one for one in annotators.rows_of(study) if one.annotator.pk == annotator.pk)
    return found


def test_one_line_tells_how_somebody_judges() -> None:
    study = ready_study(sentences=12, ties_allowed=True)
    annotator = joined(study)
    for answer, seconds in (("left", 4.0), ("left", 8.0), ("right", 100.0), ("tie", 6.0), ("neither", 7.0)):
        judging.record_judgment(drawn(annotator), 1, answer, seconds)
    judging.skip(drawn(annotator), "unclear")
    judging.undo(judged(annotator, "right"))
    found = line(study, annotator)
    assert found.judged == 5
    assert found.seconds == 7.0
    assert (found.left.count, found.left.n) == (2, 3)
    assert (found.without_preference, found.skips, found.undone, found.surplus) == ({"equal": 1, "neither": 1}, 1, 1, 0)
    first, *_others, last = Judgment.objects.standing().order_by("pk")
    assert (found.first_at, found.last_at) == (first.at, last.at)
    client = signed_in(study)
    assert "1 equal, 1 neither" in text_of(client, reverse("study_annotators", args=[study.pk]))
    assert "1 equal, 1 neither" in text_of(client, reverse("study_annotator", args=[study.pk, annotator.pk]))
    (row,) = rows_of(client, reverse("study_annotators_csv", args=[study.pk]))
    assert (row["equal"], row["neither"]) == ("1", "1")


def test_imported_answers_have_no_known_side() -> None:
    study = ready_study()
    judging.import_judgments(study, [Preference("T0", "d1:0", "d1:1", "a")], "human", "elsewhere")
    annotator = Annotator.objects.get(pseudonym="elsewhere")
    assert line(study, annotator).left == Figure(None, 0)
    assert annotator_answers.sittings(annotator) == []
    text = text_of(signed_in(study), reverse("study_annotator", args=[study.pk, annotator.pk]))
    assert "it was on the" not in text


def test_an_answer_that_was_changed_counts_as_what_it_is_now() -> None:
    study = ready_study()
    annotator = joined(study)
    assignment = judged(annotator, "left")
    judging.undo(assignment)
    judging.record_judgment(assignment, 3, "right", 5.0)
    assert (line(study, annotator).left.count, line(study, annotator).left.n) == (0, 1)


def test_an_answer_whose_place_was_taken_is_surplus() -> None:
    study = ready_study(sentences=2)
    late, quick = joined(study), joined(study)
    assignment = drawn(late)
    let_lapse(assignment)
    judged(quick)
    judging.record_judgment(assignment, 1, "left", 5.0)
    assert (line(study, late).judged, line(study, late).surplus) == (1, 1)
    assert line(study, quick).surplus == 0


def test_machines_and_simulations_come_after_people_and_are_called_so() -> None:
    study = ready_study()
    judging.join(study, kind="simulated", pseudonym="references")
    human = joined(study)
    assert [one.annotator.kind for one in annotators.rows_of(study)] == ["human", "simulated"]
    judged(human)
    text = text_of(signed_in(study), reverse("study_annotators", args=[study.pk]))
    assert "simulated" in text
    assert human.pseudonym in text


def test_a_study_without_annotators_says_so() -> None:
    study = ready_study()
    assert "Nobody has joined yet" in text_of(signed_in(study), reverse("study_annotators", args=[study.pk]))


def test_stored_figures_and_flags_are_shown_in_words() -> None:
    study = ready_study(judgments_per_pair=3)
    for _ in range(2):
        judged(joined(study))
    tasks.report_annotators(study.pk)
    AnnotatorReport.objects.filter(annotator__study=study).update(flags=["sided"])
    text = text_of(signed_in(study), reverse("study_annotators", args=[study.pk]))
    assert text.count("Prefers one side?") == 2
    assert "A flag is a reason to look, not a verdict" in text


def test_surplus_is_what_came_too_late_and_never_a_repeat_or_a_hidden_check() -> None:
    study = ready_study()
    person = joined(study)
    for reason in ("repeat", "gold", "training"):
        assignment = judged(person)
        Assignment.objects.filter(pk=assignment.pk).update(holds_place=False, reason=reason)
    found = line(study, person)
    assert (found.judged, found.surplus) == (2, 0)


def test_what_the_worker_counted_is_shown_until_anything_changes() -> None:
    study = ready_study(sentences=12, topics=2, judgments_per_pair=3)
    owner, (person, other) = making.owner(study), (joined(study), joined(study))
    first = [judged(person, "right"), judged(other)][0]

    def is_counted() -> bool:
        everyone = Annotator.objects.filter(study=study).select_related("report")
        with CaptureQueriesContext(connection) as asked:
            found = annotators.answers_of(study, everyone)
        assert found == annotators.count_answers([one.pk for one in everyone])
        return any('FROM "annotate_judgment"' in one["sql"] for one in asked.captured_queries)

    assert is_counted()
    removals = []
    for change in (
        lambda: judged(person),
        lambda: judging.undo(first),
        lambda: judging.exclude(person, owner, "A trial."),
        lambda: judging.readmit(person, owner, "It was none."),
        lambda: removals.append(imports.remove(study, owner, "topic", str(first.item_set.topic_id))),
        lambda: imports.restore_removed(removals[0], owner),
        lambda: judging.import_judgments(study, [Preference("T0", "d1:0", "d1:1", "a")], "human", "elsewhere"),
    ):
        report_annotators(study)
        assert not is_counted()
        change()
        assert is_counted()


def test_the_table_is_sorted_by_what_is_asked_for_and_who_has_no_value_comes_last() -> None:
    study = ready_study(sentences=30)
    slow, none, quick = joined(study), joined(study), joined(study)
    AnnotatorReport.objects.bulk_create(
        AnnotatorReport(
            annotator=one, version=1, figures={"seconds": {"value": value, "n": 3}}, computed_at=timezone.now()
        )
        for one, value in ((slow, 9.0), (quick, 2.0))
    )

    def order(sort: str) -> list[int]:
        return [one.annotator.pk for one in annotators.page_of(study, sort, None)[1]]

    assert order("seconds") == [quick.pk, slow.pk, none.pk]
    assert order("-seconds") == [slow.pk, quick.pk, none.pk]
    assert order("joined") == order("nonsense") == [slow.pk, none.pk, quick.pk]
    for sort in annotators.SORTS:
        assert set(order(sort)) == set(order(f"-{sort}")) == {slow.pk, none.pk, quick.pk}
    text = signed_in(study).get(reverse("study_annotators", args=[study.pk]) + "?sort=-seconds").content.decode()
    assert 'aria-sort="descending"' in text


def test_reader_2_comes_before_reader_10() -> None:
    study = ready_study()
    names = [f"reader {number}" for number in (1, 2, 10)]
    judging.import_judgments(study, [Preference("T0", "d1:0", "d1:1", "a", name) for name in names], "human", "")
    for sort in ("joined", "name"):
        assert [one.annotator.pseudonym for one in annotators.page_of(study, sort, None)[1]] == names


def test_who_has_a_flag_is_shown_first() -> None:
    study = ready_study(sentences=30)
    plain, flagged = joined(study), joined(study)
    AnnotatorReport.objects.create(annotator=flagged, version=1, flags=["coin"], computed_at=timezone.now())

    text = text_of(signed_in(study), reverse("study_annotators", args=[study.pk]))

    assert text.index(flagged.pseudonym) < text.index(plain.pseudonym)


def reported(annotator: Annotator, *flags: str, n: int = annotators.ENOUGH) -> None:
    """As if the worker had looked at so many answers about texts that others judged."""
    figures = {"fit": {"value": 0.1, "n": n}, "longer": {"value": 0.75, "n": 4}}
    AnnotatorReport.objects.create(
        annotator=annotator, version=1, flags=list(flags), figures=figures, computed_at=timezone.now()
    )


def test_the_page_of_annotators_begins_with_how_many_look_careless() -> None:
    study = ready_study(sentences=30)
    people = [joined(study) for _ in range(3)]
    page, client = reverse("study_annotators", args=[study.pk]), signed_in(study)
    assert 'class="careless"' not in text_of(client, page), "nobody has judged"
    for annotator in people:
        judged(annotator)
    text = text_of(client, page)
    assert "Waiting for the worker, which has not looked at these answers yet." in text
    assert text.count("waiting for the worker") == 3
    reported(people[0])
    reported(people[1], n=annotators.ENOUGH - 1)
    text = text_of(client, page)
    assert "The one annotator with enough answers does not look careless." in text
    assert "1 annotator has fewer than 40 answers about texts that others judged" in text
    assert "1 waits for the worker." in text
    assert "75% " in text
    reported(people[2], "coin", n=2)
    text = text_of(client, page)
    assert "1 of 3 annotators looks careless." in text
    assert "1 annotator has fewer" in text
    judging.exclude(people[2], making.owner(study), "A coin.")
    assert "The one annotator with enough answers does not look careless." in text_of(client, page)
    assert annotators.Careless(2, (), 1, 1).words == "Whether anybody is careless cannot be said yet."


def test_the_first_line_says_what_changes_without_those_who_look_careless(two_annotators: Study) -> None:
    study, page = two_annotators, reverse("study_annotators", args=[two_annotators.pk])
    client = signed_in(study)
    reported(study.annotators.get(pseudonym="bob"), "coin")
    assert "See what changes without them" in text_of(client, page)
    question = what_if.ask(study, making.owner(study), [study.annotators.get(pseudonym="bob")])
    assert "What changes without them is being worked out" in text_of(client, page)
    tasks.answer_what_if(question.pk)
    question.refresh_from_db()
    words = in_words(study, question.record)
    assert words
    assert f"Without them: {escape(words)}" in text_of(client, page)


def test_what_would_change_is_said_in_a_sentence() -> None:
    def outcome(*systems: str) -> Outcome:
        ranked = [SystemResult(name, 1.0, None, None, None, rank, 1, 3, 1) for rank, name in enumerate(systems, 1)]
        agreed = Agreement(1, 0, 0, *[Bounded(None, None, None)] * 3, why="nobody_twice")
        return Outcome(1, 1, tuple(ranked), agreed, Ground())

    def words(*after: str, lost: tuple[tuple[str, str], ...] = ()) -> str:
        return would_change(WhatIf(outcome("a", "b", "c"), outcome(*after), None, None, lost, ()))

    assert words("a", "b", "c") == "The order of the systems would stay the same."
    assert words("a", "c", "b") == "a would still score highest; 2 systems would change their rank."
    instead = "b would score highest in place of a."
    assert words("b", "a", "c") == f"{instead} Neither can be told from all other systems."
    alone = outcome("b", "a", "c")
    alone = replace(alone, systems=(replace(alone.systems[0], rank_high=1), *alone.systems[1:]))
    assert would_change(WhatIf(outcome("a", "b", "c"), alone, None, None, (), ())) == instead
    swapped = WhatIf(outcome("a", "b", "c"), outcome("b", "a", "c"), None, None, (), ())
    assert would_change(swapped, {"a"}) == "The order of the systems would stay the same."  # b and c, beside a person
    assert would_change(swapped, is_tested=False) == instead
    assert words("a", "b", "c", lost=(("a", "c"),)).endswith("1 difference would no longer be significant.")
    assert words() == "No system would have a score."
    assert would_change(WhatIf(outcome(), outcome("a"), None, None, (), ())) == "There is no leaderboard yet."


def test_simulated_annotators_are_no_rows_with_people_of() -> None:
    study = ready_study(sentences=30)
    person, simulated = joined(study), judging.join(study, kind="simulated", pseudonym="references")
    page, client = reverse("study_annotators", args=[study.pk]), signed_in(study)
    text = text_of(client, page)
    assert person.pseudonym in text
    assert "Select references" not in text
    assert "Select references" in text_of(client, page + "?kind=simulated")
    person.delete()
    assert "Select references" in text_of(client, page), "those there are"
    assert simulated.pk


def test_an_annotators_answers_are_listed_by_sittings_and_one_by_one() -> None:
    study = ready_study(sentences=12, ties_allowed=True)
    annotator = joined(study)
    for answer in ("left", "right", "tie", "left"):
        judging.record_judgment(drawn(annotator), 1, answer, 5.0)
    judging.undo(judged(annotator, "right"))
    first = Judgment.objects.filter(item_set__study=study).earliest("pk")
    with append_only.erasing():
        Judgment.objects.filter(pk=first.pk).update(at=first.at - timedelta(hours=2))
    client = signed_in(study)

    text = text_of(client, reverse("study_annotator", args=[study.pk, annotator.pk]))
    rows = rows_of(client, reverse("study_annotator_csv", args=[study.pk, annotator.pk]))

    assert [sitting.answers for sitting in annotator_answers.sittings(annotator)] == [3, 1]
    assert [row["answer"] for row in rows] == ["left", "tie", "right", "left"]
    preferred = first.assignment.left
    assert rows[-1]["left"] == preferred.name
    assert preferred.text in text
    assert text.count("it was on the left") == 2
    assert text.count("as important as") == 1


def test_the_table_of_annotators_is_a_file_too() -> None:
    study = ready_study(sentences=12)
    annotator = joined(study)
    judging.record_judgment(drawn(annotator), 1, "left", 5.0)

    (row,) = rows_of(signed_in(study), reverse("study_annotators_csv", args=[study.pk]))

    assert (row["annotator"], row["judged"], row["seconds"], row["left"]) == (annotator.pseudonym, "1", "5.0", "1.0")


# Pages about people, however many there are


def study_of_many() -> Study:
    return big_study(annotators=120, judgments=2_400, topics=2, sentences=30)


made_many = made_once(study_of_many)


@pytest.fixture
def many(made_many: tuple[Study, Path]) -> Study:
    return Study.objects.get(pk=made_many[0].pk)


PAGES = (
    *(("study_annotators",), ("disputed",), ("log",), ("leaderboard",)),
    ("analysis", "agreement-of-annotators"),
)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_asks_more_than_twenty_times_however_many_people_there_are(page, many, django_assert_max_num_queries):
    client = signed_in(many)
    with django_assert_max_num_queries(20):
        response = client.get(reverse(page[0], args=[many.pk, *page[1:]]) + "?sort=-longer")
    assert response.status_code == 200


def test_annotators_come_fifty_a_page(many) -> None:
    client = signed_in(many)
    text = client.get(reverse("study_annotators", args=[many.pk]) + "?page=2&sort=name").content.decode()
    assert text.count("Select judge-") == 50
    assert "judge-0050" in text
    assert "judge-0100" not in text
    assert "sort=name&amp;page=3" in text


def test_two_people_are_asked_about_and_the_pairs_on_which_they_differ_are_shown() -> None:
    study = scored.scored_study(judgments_per_pair=3, smooth="none")
    for name, answers in (("ann", "aaa"), ("bob", "abb")):
        for number, winner in enumerate(answers):
            _topic, left, right, _winner = scored.JUDGED[number]
            scored.judge(study, ("rain", left, right, winner), pseudonym=name)
    ann, bob = (study.annotators.get(pseudonym=name) for name in ("ann", "bob"))
    client = signed_in(study)
    text = client.get(reverse("disputed", args=[study.pk]) + f"?a={ann.pk}&b={bob.pk}").content.decode()
    assert "He wore a hat." in text
    assert "Schools in the towns were closed." in text
    assert "It rained in Ohio." not in text  # on that pair they agree
    disputes = agreement.between(study, ann, bob)
    assert [(one.first, one.second) for one in disputes] in (
        [((ann,), (bob,)), ((ann,), (bob,))],
        [((bob,), (ann,)), ((ann,), (bob,))],
        [((ann,), (bob,)), ((bob,), (ann,))],
        [((bob,), (ann,)), ((bob,), (ann,))],
    )
    other = joined(ready_study())
    assert client.get(reverse("disputed", args=[study.pk]) + f"?a={ann.pk}&b={other.pk}").status_code == 404


AGREEMENT = "agreement-of-annotators"


def test_agreement_is_shown_with_intervals_and_what_cannot_be_told_says_why() -> None:
    study = ready_study(topics=2, judgments_per_pair=3)
    lone = joined(study)
    for _ in range(11):
        judged(lone)
    tasks.report_annotators(study.pk)
    text = text_of(signed_in(study), address(study, AGREEMENT))
    assert "How well do annotators agree?" in text
    assert "No pair is known to have been judged by two annotators." in text
    assert "In 2 of 2 topics with judgments, no pair is known to have been judged by two annotators." in text
    assert "Krippendorff" not in text, "no tables of dashes"
    assert "The settings ask for them." in text


def test_an_empty_page_of_agreement_names_the_setting_and_turns_it_on() -> None:
    study = ready_study()
    judged(joined(study))
    client, settings = signed_in(study), reverse("study_settings", args=[study.pk])
    tasks.report_annotators(study.pk)
    assert "share of pairs judged by two annotators" in text_of(client, address(study, AGREEMENT))
    assert client.post(settings, {"share_pairs": ""})["Location"] == address(study, AGREEMENT)
    study.refresh_from_db()
    assert study.shared_share == Study().shared_share
    assert f'action="{settings}"' not in client.get(address(study, AGREEMENT)).content.decode()


def test_agreement_about_sentences_and_about_summaries_is_given_apart() -> None:
    study = study_of(record(), compares="both", judgments_per_pair=2, pairs_per_annotator=50)
    for annotator in (joined(study), joined(study)):
        for _ in range(20):
            judged(annotator)
    tasks.report_annotators(study.pk)
    found = kept.heads("annotators", study=study).get().read(StudyAgreement)
    assert (found.sentences.pairs, found.summaries.pairs) == tuple(own.pairs for own in found.topics)
    assert min(found.sentences.pairs, found.summaries.pairs) > 0
    text = text_of(signed_in(study), address(study, AGREEMENT))
    for title, own in (("Sentences", found.sentences), ("Summaries", found.summaries)):
        assert f"{title}: {annotator_agreement.agreement_words(own)}" in text


def test_the_table_of_agreement_begins_with_the_study() -> None:
    study = ready_study(sentences=3, topics=2, judgments_per_pair=2, person_cap=1.0)
    for annotator in (joined(study), joined(study)):
        for _ in range(6):
            judged(annotator)
    tasks.report_annotators(study.pk)
    rows = rows_of(signed_in(study), address(study, AGREEMENT, "agreement"))
    whole = kept.heads("annotators", study=study).get().read(StudyAgreement).study
    assert (rows[0]["topic"], int(rows[0]["pairs"])) == ("The study", whole.pairs)
    assert len(rows) == 3
    client = signed_in(study)
    each = rows_of(client, address(study, AGREEMENT, "with-others"))
    assert [int(row["comparisons"]) for row in each] == [whole.comparisons] * 2
    page = text_of(client, address(study, AGREEMENT))
    assert "2 more rows" in page, "topics with few shared pairs"
    assert "kappa" not in page
    assert rows[0]["kappa"] == "", "files keep it; these pairs are too few"


def test_a_heat_map_begins_with_those_who_share_pairs_and_leaves_out_who_shares_none() -> None:
    shared = ((9, 0, 0, 0), (0, 9, 0, 7), (0, 0, 9, 6), (0, 7, 6, 9))
    nothing = Agreement(0, 0, 0, *[Bounded(None, None, None)] * 3, why="nobody_twice")
    table = PairwiseAgreement((1, 2, 3, 4), shared, shared)
    named = NamedAgreement(StudyAgreement(nothing, (), table=table), {}, dict(enumerate("abcd", 1)), {})
    assert [name for _key, name in named.in_order] == ["d", "b", "c"]
    assert all(any(cell.shared for cell in cells) for _annotator, cells in named.heat)


def test_thin_cells_of_the_heat_map_have_no_colour() -> None:
    a, b = (1, "a"), (2, "b")
    assert Two(a, b, THIN - 1, 1).step is None
    assert [Two(a, b, 10, alike).step for alike in (0, 5, 10)] == [0, 5, 9]
    assert Two(a, b, 0, 0).percent is None


# Excluding somebody


def judged_by_two() -> Study:
    study = scored.scored_study(judgments_per_pair=3, smooth="none")
    scored.judge(study, ("rain", "d1:0", "d1:1", "b"), pseudonym="bob")
    assert tasks.catch_up(study.pk) == {}
    return study


made_study, two_annotators = study_once(judged_by_two)


def test_excluding_begins_with_what_would_change_and_is_undone_from_the_same_page(two_annotators) -> None:
    study = two_annotators
    bob = study.annotators.get(pseudonym="bob")
    client = signed_in(study)
    asked = client.post(reverse("what_if_ask", args=[study.pk]), {"annotator": bob.pk})
    text = client.get(asked["Location"]).content.decode()
    assert "No worker is running" in text
    assert 'hx-trigger="every 1s"' in text
    preview = WhatIfQuestion.objects.get(study=study)
    tasks.answer_what_if(preview.pk)
    text = client.get(asked["Location"]).content.decode()
    assert "Rank after" in text
    assert "Kendall" in text
    preview.refresh_from_db()
    after = preview.record.after
    assert f"After: {after.judgments} judgments on {after.topics} topics · {after.ground.words}" in " ".join(
        text.split()
    )
    bob.refresh_from_db()
    assert bob.excluded_at is None
    client.post(reverse("what_if_do", args=[study.pk, preview.key]), {"reason": " "})
    bob.refresh_from_db()
    assert bob.excluded_at is None
    done = client.post(reverse("what_if_do", args=[study.pk, preview.key]), {"reason": "A <b>coin</b>."}, follow=True)
    bob.refresh_from_db()
    assert bob.excluded_at is not None
    text = done.content.decode()
    assert "A &lt;b&gt;coin&lt;/b&gt;." in text
    assert "Include again" in text
    back = client.post(reverse("what_if_ask", args=[study.pk]), {"annotator": bob.pk, "back": "1"})
    assert not WhatIfQuestion.objects.latest("pk").leave_out
    client.post(back["Location"] + "do/", {"reason": "It was a mistake."})
    bob.refresh_from_db()
    assert bob.excluded_at is None
    log = text_of(client, reverse("log", args=[study.pk]))
    assert "excluded bob" in log
    assert "included bob again" in log
    assert "It was a mistake." in log
    assert "The log is intact" in log
    only = client.get(reverse("log", args=[study.pk]) + "?act=exclude+annotator").content.decode()
    assert "It was a mistake." not in only


def test_an_open_preview_hears_nothing_until_there_is_news(two_annotators) -> None:
    client = signed_in(two_annotators)
    bob = two_annotators.annotators.get(pseudonym="bob")
    asked = client.post(reverse("what_if_ask", args=[two_annotators.pk]), {"annotator": bob.pk})["Location"]
    version = client.get(asked).context["version"]
    assert client.get(f"{asked}?seen={version}").status_code == 204
    tasks.answer_what_if(WhatIfQuestion.objects.get().pk)
    news = client.get(f"{asked}?seen={version}").content.decode()
    assert "<html" not in news
    assert "Rank after" in news


def test_a_preview_says_how_many_places_a_system_would_rise_or_fall(two_annotators) -> None:
    study = two_annotators
    preview = what_if.ask(study, making.owner(study), [study.annotators.get(pseudonym="bob")])
    known = SystemResult("a", 1.0, None, None, None, 1, 1, 3, 1)
    board = [replace(known, system=name, rank=rank) for rank, name in enumerate("abc", 1)]
    then = [replace(board[place], rank=rank) for rank, place in enumerate((1, 2, 0), 1)]
    unknown = Bounded(None, None, None)
    agreed = Agreement(1, 0, 0, unknown, unknown, unknown, "nobody_twice")
    before, after = (Outcome(1, 1, tuple(systems), agreed, Ground()) for systems in (board, then))
    figures = to_json(WhatIf(before, after, None, None, (), ()))
    WhatIfQuestion.objects.filter(pk=preview.pk).update(state=WhatIfQuestion.State.READY, figures=figures)
    text = text_of(signed_in(study), reverse("what_if", args=[study.pk, preview.key]))
    assert [text.count(moved) for moved in ("▲ 1<", "▼ 2<", "▼")] == [2, 1, 1]


def test_of_several_all_are_excluded_or_none(two_annotators, monkeypatch) -> None:
    study = two_annotators
    people = list(study.annotators.filter(kind=Annotator.Kind.HUMAN)[:2])
    preview = what_if.ask(study, making.owner(study), people)
    exclude = judging.exclude

    def break_off(one: Annotator, *given: object) -> bool:
        if one == people[-1]:
            raise Refusal("not this one")
        return exclude(one, *given)

    monkeypatch.setattr(judging, "exclude", break_off)
    path = reverse("what_if_do", args=[study.pk, preview.key])
    assert "not this one" in signed_in(study).post(path, {"reason": "x"}, follow=True).content.decode()
    assert not study.annotators.exclude(excluded_at=None).exists()


def test_nobody_of_another_study_is_looked_at_or_asked_about(two_annotators) -> None:
    stranger = joined(ready_study())
    client = signed_in(two_annotators)
    assert client.get(reverse("study_annotator", args=[two_annotators.pk, stranger.pk])).status_code == 404
    client.post(reverse("what_if_ask", args=[two_annotators.pk]), {"annotator": [stranger.pk, "x", "9" * 30]})
    assert not WhatIfQuestion.objects.exists()


def test_the_leaderboard_says_whether_the_first_place_rests_on_one_annotator(two_annotators) -> None:
    study, board = two_annotators, reverse("leaderboard", args=[two_annotators.pk])
    client, influence = signed_in(study, "researcher"), address(study, "influence", "systems")
    assert "single annotators" not in text_of(client, board)
    for topic in study.topics.all():
        tasks.examine_topic(topic.pk)
    tasks.examine_study(study.pk)
    assert "2 annotators were left out in turn" in text_of(client, board)
    assert "tell lead &amp; co_ from any other system. The first place" in text_of(client, board)
    assert "annotator" not in rows_of(client, influence)[0]  # that is for owners and admins
    assert "annotator" in rows_of(signed_in(study), influence)[0]


def test_the_smallest_set_lists_the_answers_without_which_another_system_would_be_first(two_annotators: Study) -> None:
    study, file = two_annotators, address(two_annotators, "smallest-set", "answers")
    for topic in study.topics.all():
        tasks.examine_topic(topic.pk)
    tasks.examine_study(study.pk)
    assert ("find_smallest_set", study.pk) in {(work.task, work.key) for work in look().waiting}
    tasks.find_smallest_set(study.pk)
    assert ("find_smallest_set", study.pk) not in {(work.task, work.key) for work in look().waiting}
    smallest = kept.heads("smallest-set", study=study).get().read(SmallestSet)
    assert smallest is not None
    apart = f"do not tell {escape(smallest.first)} and {smallest.instead} apart"
    said = f"{apart}: without {len(smallest.judgments)} of {smallest.among} answers, {smallest.instead} would"
    text = text_of(signed_in(study, "researcher"), reverse("leaderboard", args=[study.pk]))
    assert said in text
    assert ("A smaller set" in text) == (len(smallest.judgments) > 1)
    assert signed_in(study, "researcher").get(file).status_code == 404
    rows = rows_of(signed_in(study), file)
    assert {int(row["judgment"]) for row in rows} == {*smallest.judgments}


def test_where_only_others_have_judged_there_is_nobody_to_leave_out(two_annotators: Study) -> None:
    nobody = to_json(Influence(annotators=0, unknown=0, first="", new_firsts=(), systems=()))
    Result.objects.create(
        study=two_annotators, analysis="influence", version=1, record=nobody, computed_at=timezone.now()
    )
    text = text_of(signed_in(two_annotators), reverse("leaderboard", args=[two_annotators.pk]))
    assert "to leave out" not in text
    assert "left out in turn" not in text


def test_the_log_says_in_words_what_a_setting_was_and_became(client: Client) -> None:
    study = making.study()
    owner = making.owner(study)
    studies.change_settings(study, owner, ties_allowed=not study.ties_allowed, judgments_per_pair=3, gold_share=0.1)
    client.force_login(owner)
    log = text_of(client, reverse("log", args=[study.pk]))
    assert "judgments per pair" in log
    assert "1 → 3" in log
    assert "no → yes" in log
    assert "0% → 10%" in log
    assert "judgments_per_pair" not in log


def test_the_log_has_words_for_all_that_is_done_and_keeps_names_as_they_are(client: Client) -> None:
    study = making.study(title="my_study")
    owner = making.owner(study)
    making.take_in(study, making.TOPIC)
    tasks.process_upload(making.receive(study, making.lines(making.TOPIC | {"topic_id": "M2"}), "more.jsonl").pk)
    imports.ask_for_baselines(study, owner, words=100)
    imports.ask_for_simulated(study, owner, source="references", per_topic=5, seed=0)
    studies.plan_judgments(study)
    client.force_login(owner)
    sent = {"pseudonym": "gpt_4", "judge": {"model": "large", "version": "1"}}
    client.post(f"/api/v1/studies/{study.pk}/annotators/", sent, content_type="application/json")
    lines = audit_log_in_words.in_words(AuditEntry.objects.filter(study=study))
    assert [line["done"] for line in lines if line["done"] == line["entry"].action] == []
    log = text_of(client, reverse("log", args=[study.pk]))
    for words in ("my_study", "uploaded more.jsonl", "the machine gpt_4", "model large, version 1"):
        assert words in log
    assert "{" not in log.partition('class="log-entries')[2]


def test_digests_are_in_the_file_of_the_log_and_not_on_its_page(client: Client) -> None:
    study = making.study()
    studies.change_settings(study, making.owner(study), guidelines="What it tells. " * 20)
    making.store(study, making.lines(making.TOPIC), "topics.jsonl")
    assert "SHA-256" in str(AuditEntry.objects.filter(study=study, action="change settings").get().detail)
    client.force_login(making.owner(study))
    log = text_of(client, reverse("log", args=[study.pk]))
    assert "characters" in log
    assert "topics.jsonl" in log
    assert "SHA-256" not in log
    assert not re.search("[0-9a-f]{64}", log.partition('class="log-entries')[2])


def test_the_log_says_in_plain_words_who_did_what_and_what_the_product_did_itself(client: Client) -> None:
    study = making.study()
    user = making.owner(study)
    studies.change_settings(study, user, guidelines="x" * 300)
    audit_log.note(study, None, "change settings", changes={"judgments_per_pair": [1, 3]})
    member = making.member(study, making.Role.ANNOTATOR)
    members.set_role(study, user, member, making.Role.ADMIN)
    first, second, third = (
        audit_log_in_words.in_words([entry])[0]
        for entry in AuditEntry.objects.filter(study=study).order_by("-number")[:3]
    )
    assert (first["actor"], first["done"]) == (user.username, f"gave {member.username} the role admin")
    assert (second["actor"], second["done"]) == ("Preferendum", "changed settings")
    assert third["detail"] == [("guidelines", "– → 300 characters")]
    client.force_login(user)
    log = text_of(client, reverse("log", args=[study.pk]))
    assert "SHA-256" not in log
    assert "digest" not in log


def test_only_a_superuser_reads_on_which_machine_a_worker_runs(client: Client) -> None:
    WorkerPulse.objects.create(name="machine.example:4711", at=timezone.now(), program_version="7.8.9")
    admin = making.member(making.study(), making.Role.ADMIN)
    for superuser, user in ((False, admin), (True, making.person("superuser", is_superuser=True))):
        client.force_login(user)
        page = client.get(reverse("health")).content.decode()
        assert ("machine.example" in page, "7.8.9" in page) == (superuser, superuser)
