"""What is in a study can be taken out again, and put back for a day as it was."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core import serializers
from django.db.models import Model, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotate import exports, imports, judging
from annotate.imports.restore import restore
from annotate.models import (
    AuditEntry,
    Fit,
    HumanScore,
    ItemSet,
    ItemSetProgress,
    Judgment,
    Ranking,
    Reference,
    Removal,
    Result,
    Study,
    Summary,
    System,
    SystemScore,
    Tally,
    Topic,
    Upload,
)
from annotate.refusal import Refusal
from evaluation import records, tasks
from evaluation.agenda import look
from preferendum import formats
from preferendum.results import Influence
from preferendum.scoring.ranking import Comparison
from preferendum.show.analyses import of_study
from tests import kept
from tests.annotate import judging_study, making, scored
from tests.annotate.everything import program
from tests.annotate.making import TOPIC, lines

pytestmark = pytest.mark.django_db


def take_out(study: Study, kind: str, key: object) -> Removal:
    return imports.remove(study, making.owner(study), kind, str(key))


def put_back(removal: Removal) -> Removal:
    return imports.restore_removed(removal, making.owner(removal.study))


def stored(*tables: type[Model]) -> str:
    return str(
        serializers.serialize("json", [row for table in tables for row in table._default_manager.order_by("pk")])
    )


def board(study: Study) -> dict[str, float]:
    assert tasks.catch_up(study.pk) == {}
    rows = SystemScore.objects.filter(ranking__study=study, ranking__scored_by="recommended")
    return dict(rows.values_list("system__name", "score"))


@pytest.fixture
def study() -> Study:
    return scored.scored_study()


def test_a_removed_system_is_gone_at_once_and_comes_back_as_it_was(study: Study) -> None:
    before, ranked = stored(System, Summary, HumanScore), board(study)
    system = System.objects.get(study=study, name="lead & co_")

    removal = take_out(study, "system", system.pk)

    assert removal.counts == {"summaries": 2, "human_scores": 1}
    assert not System.objects.filter(name="lead & co_").exists()
    assert set(board(study)) == {"=hat"}
    put_back(removal)
    assert stored(System, Summary, HumanScore) == before
    assert board(study) == ranked


def test_a_removed_topic_keeps_its_judgments_as_history_that_nothing_uses(study: Study) -> None:
    ranked, judgments = board(study), Judgment.objects.count()

    removal = take_out(study, "topic", scored.topic(study, "rain").pk)

    assert removal.counts["judgments"] == 4
    assert (removal.counts["documents"], removal.counts["sentences"], removal.counts["annotators"]) == (2, 6, 1)
    assert Judgment.objects.count() == judgments
    assert Judgment.objects.counted().count() == Judgment.objects.standing().count() == judgments - 4
    assert [topic.name for topic in study.topics.all()] == ["snow"]
    assert {preference.topic for preference in exports.preferences(study)} == {"snow"}
    archive = exports.make_archive(study)
    assert {assignment.topic for assignment in archive.assignments} == {"snow"}
    assert len(archive.judgments) == judgments - 4
    assert not Fit.objects.filter(item_set__study=study, item_set__topic__name="rain").exists()
    assert board(study) != ranked
    put_back(removal)
    assert board(study) == ranked
    assert Judgment.objects.counted().count() == judgments
    judging_study.assert_books_balance(study)


#: The tables with a removed topic's history, and their queries that leave it out.
HISTORY = ("Topic", "ItemSet", "SourceDocument", "Item", "Pair", "Design", "Assignment", "Judgment", "ReportedPair")
LEAVE_IT_OUT = {
    *("Topic.objects.all", "ItemSet.objects.all", "Assignment.objects.in_place", "Assignment.objects.counted"),
    *("Assignment.objects.work", "Assignment.objects.done", "Judgment.objects.standing"),
    *("Judgment.objects.counted", "ReportedPair.objects.standing", "ReportedPair.objects.unsettled"),
}


def queries_about(topic: Topic) -> Iterator[tuple[str, QuerySet[Any]]]:
    """Every query that a table offers by name, restricted to the rows of a topic."""
    for table in apps.get_app_config("annotate").get_models():
        path = "pk" if table in (Topic, ItemSet) else path_to_topic(table)
        for manager in table._meta.managers if path else ():
            rows = manager.all()
            own = [name for name in vars(type(rows)) if not hasattr(QuerySet, name)]
            for name in ("all", *own):
                query = getattr(rows, name)
                needed = [one for one in inspect.signature(query).parameters.values() if one.default is one.empty]
                found = None if needed else query()
                if isinstance(found, QuerySet):
                    yield f"{table.__name__}.{manager.name}.{name}", found.filter(**{path: topic.pk})


def path_to_topic(table: type[Model], seen: tuple[Any, ...] = ()) -> str:
    keys = {field.name: field.related_model for field in table._meta.concrete_fields if field.is_relation}
    further = {name: other for name, other in keys.items() if other not in (*seen, table)}
    paths = (f"{name}__{path}" for name, other in further.items() if (path := path_to_topic(other, (*seen, table))))
    return next((name for name, other in keys.items() if other in (Topic, ItemSet)), "") or next(paths, "")


def test_what_is_removed_is_in_no_query_but_in_those_of_history(study: Study) -> None:
    Study.objects.update(judgments_per_topic=9, judgments_per_pair=3)
    judging.keep_needs(study)
    board(study)
    scored.score_with_metrics(study)
    shown = judging_study.drawn(judging_study.joined(study))
    assert judging.skip(shown, "unclear", "same")
    topic = shown.item_set.topic
    before = {name for name, rows in queries_about(topic) if rows.exists()}
    assert before >= LEAVE_IT_OUT

    take_out(study, "topic", topic.pk)

    kept = {name for name, rows in queries_about(topic) if rows.exists()}
    assert {name.partition(".")[0] for name in kept} == set(HISTORY)
    assert not kept & LEAVE_IT_OUT


def test_nobody_draws_a_pair_of_a_removed_topic_and_undo_takes_back_what_is_left() -> None:
    study = judging_study.ready_study(topics=2)
    annotator = judging_study.joined(study)
    first = judging_study.judged(annotator)
    away = study.topics.exclude(pk=first.item_set_id).get()
    imports.remove(study, making.owner(study), "topic", str(away.pk))
    removal = take_out(study, "topic", first.item_set_id)

    assert judging.draw(annotator) == judging.NoPair.NO_WORK
    annotator.refresh_from_db()
    assert (annotator.judged, annotator.previous) == (1, None)
    with pytest.raises(judging.OutOfTurn):  # it was answered, and counts again once its topic is back
        judging.record_judgment(first, 2, "right", 5.0)
    put_back(removal)
    first.refresh_from_db()
    assert (first.state, first.holds_place) == ("judged", True)
    assert judging_study.drawn(annotator).item_set_id == first.item_set_id


def test_an_answer_on_its_way_while_its_topic_is_removed_is_stored_once_and_stays_surplus() -> None:
    study = judging_study.ready_study(sentences=2, topics=2)
    annotator = judging_study.joined(study)
    held = judging_study.drawn(annotator)
    showing = judging.draw(annotator, besides=held)
    removal = take_out(study, "topic", held.item_set_id)

    for outcome in (judging.Outcome.STORED, judging.Outcome.REPEATED):
        recorded = judging.record_judgment(held, 1, "left", 5.0, showing=showing)
        assert (recorded.outcome, recorded.counted, recorded.following) == (outcome, False, None)
    with pytest.raises(judging.OutOfTurn):
        judging.record_judgment(held, 2, "right", 5.0)
    annotator.refresh_from_db()
    assert (annotator.judged, annotator.previous) == (1, None)
    judging_study.assert_books_balance(study)

    put_back(removal)
    held.refresh_from_db()
    annotator.refresh_from_db()
    assert (held.state, held.holds_place, annotator.previous) == ("judged", False, held.key)
    assert not Judgment.objects.counted().exists()
    judging_study.assert_books_balance(study)
    other = judging_study.judged(judging_study.joined(study))
    assert (other.pair_id, Judgment.objects.counted().get().assignment_id) == (held.pair_id, other.pk)
    judging_study.assert_books_balance(study)


def test_a_skipped_pair_of_a_removed_topic_that_is_answered_after_all_is_no_skip_any_more() -> None:
    study = judging_study.ready_study()
    annotator = judging_study.joined(study)
    held = judging_study.drawn(annotator)
    judging.skip(held, "unclear")
    removal = take_out(study, "topic", held.item_set_id)
    assert not judging.record_judgment(held, 1, "left", 5.0).counted
    put_back(removal)
    annotator.refresh_from_db()
    held.refresh_from_db()
    assert (annotator.judged, annotator.skipped, held.state) == (1, 0, "judged")
    judging_study.assert_books_balance(study)


def test_skipped_undone_and_judged_pairs_come_back_as_they_were() -> None:
    study = judging_study.ready_study()
    annotator = judging_study.joined(study)
    judged, undone = judging_study.judged(annotator), judging_study.judged(annotator)
    assert judging.undo(undone)
    judging_study.let_lapse(undone)
    skipped = judging_study.drawn(judging_study.joined(study))
    assert judging.skip(skipped, "unclear")

    put_back(take_out(study, "topic", judged.item_set_id))

    states = []
    for one in (judged, undone, skipped):
        one.refresh_from_db()
        states.append(one.state)
    assert states == ["judged", "expired", "skipped"]
    assert Tally.objects.get(item_set=judged.item_set_id).taken == 1


def test_a_name_is_free_at_once_and_what_took_it_is_not_overwritten() -> None:
    study = making.study()
    (topic,) = making.take_in(study)
    reference, lead = topic.references.get(), topic.summaries.get(system__name="lead")
    for kind, key, uploaded, name in (
        ("human_scores", "responsiveness", b"topic,system,dimension,score\nM1,lead,responsiveness,2\n", "scores.csv"),
        ("reference", reference.pk, lines(TOPIC), "again.jsonl"),
        ("summary", lead.pk, b"topic,system,text\nM1,lead,Rain.\n", "late.csv"),
        ("topic", topic.pk, lines(TOPIC), "again.jsonl"),
    ):
        removal = take_out(study, kind, key)
        making.store(study, uploaded, name)
        before = stored(Topic, System, Summary, Reference, HumanScore)
        with pytest.raises(Refusal, match="was uploaded since"):
            put_back(removal)
        assert stored(Topic, System, Summary, Reference, HumanScore) == before


def test_influence_is_worked_out_once_after_a_topic_was_removed(study: Study) -> None:
    def influence() -> Influence | None:
        board(study)
        for topic in study.topics.filter(removal=None):
            tasks.examine_topic(topic.pk)
        assert ("examine_study", study.pk) in {(work.task, work.key) for work in look().waiting}
        tasks.examine_study(study.pk)
        assert ("examine_study", study.pk) not in {(work.task, work.key) for work in look().waiting}
        return kept.heads("influence", study=study).get().read(Influence)

    before = influence()
    take_out(study, "topic", Topic.objects.get(study=study, name="snow").pk)
    assert influence() != before


def test_a_study_is_ranked_while_a_topic_has_lost_its_last_summary(study: Study) -> None:
    board(study)
    for summary in Summary.objects.filter(topic__name="snow"):
        take_out(study, "summary", summary.pk)
    standings = records.standings_by_topic(study.pk)
    assert [set(standing.systems) for standing in standings.values()] == [{"lead & co_", "=hat"}]
    assert set(board(study)) == {"lead & co_", "=hat"}


def test_a_ranking_of_a_system_that_was_removed_meanwhile_is_thrown_away(study: Study) -> None:
    board(study)
    judging.raise_version(Topic.objects.filter(study=study).values_list("pk", flat=True))
    for topic in Topic.objects.filter(study=study):
        tasks.refit_topic(topic.pk)
    Ranking.objects.update(version=0)
    standings = records.load_standings(study.pk)
    take_out(study, "system", System.objects.get(study=study, name="=hat").pk)
    for one in standings:
        comparison = Comparison(one.topics)
        assert not records.save_ranking(one, comparison.ranked(-1.0), comparison.differences(), comparison.ground)
    assert set(board(study)) == {"lead & co_"}


def test_scores_come_back_after_the_summaries_that_they_belong_to(study: Study) -> None:
    before = stored(System, Summary, HumanScore)
    scores = take_out(study, "human_scores", "pyramid")
    assert not HumanScore.objects.exists()
    system = take_out(study, "system", System.objects.get(name="lead & co_").pk)
    with pytest.raises(Refusal, match="Restore those first"):
        put_back(scores)
    put_back(system)
    put_back(scores)
    assert stored(System, Summary, HumanScore) == before


def test_a_summary_does_not_come_back_into_a_topic_that_is_removed(study: Study) -> None:
    topic = scored.topic(study)
    summary = take_out(study, "summary", topic.summaries.first().pk)
    removed = take_out(study, "topic", topic.pk)
    with pytest.raises(Refusal, match="Restore the topic first"):
        put_back(summary)
    put_back(removed)
    put_back(summary)
    assert topic.summaries.count() == 3


def test_a_reference_comes_and_goes_unless_a_summary_is_that_reference() -> None:
    study = making.study()
    (topic,) = making.take_in(study, TOPIC | making.PEOPLE)
    reference = topic.references.get()
    with pytest.raises(Refusal, match="ann is this reference"):
        take_out(study, "reference", reference.pk)
    take_out(study, "summary", topic.summaries.get(system__name="ann").pk)
    before = stored(Reference)
    removal = take_out(study, "reference", reference.pk)
    assert not topic.references.exists()
    put_back(removal)
    assert stored(Reference) == before


def test_a_topic_stays_while_another_is_its_update() -> None:
    study = making.study()
    base, update = making.take_in(study, TOPIC, TOPIC | {"topic_id": "M2", "base": "M1"})
    with pytest.raises(Refusal, match="M2 is an update"):
        take_out(study, "topic", base.pk)
    take_out(study, "topic", update.pk)
    take_out(study, "topic", base.pk)


def test_after_a_day_nothing_comes_back_and_only_what_was_judged_stays(study: Study) -> None:
    (unjudged,) = making.take_in(study)
    judgments = Judgment.objects.count()
    removals = [take_out(study, "topic", topic.pk) for topic in (unjudged, scored.topic(study))]
    Removal.objects.update(removed_at=timezone.now() - timedelta(hours=25))

    imports.forget_removed()

    for removal in removals:
        removal.refresh_from_db()
        assert removal.rows == ""
        with pytest.raises(Refusal, match="more than a day ago"):
            put_back(removal)
    assert [topic.name for topic in Topic.with_unfinished.filter(study=study).order_by("name")] == ["rain", "snow"]
    assert Judgment.objects.count() == judgments


def test_within_the_day_nothing_is_forgotten(study: Study) -> None:
    removal = take_out(study, "topic", scored.topic(study).pk)
    imports.forget_removed()
    put_back(removal)
    assert study.topics.count() == 2


def test_restoring_twice_is_as_good_as_once_and_the_log_tells_of_both_acts(study: Study) -> None:
    removal = take_out(study, "human_scores", "pyramid")
    put_back(removal)
    put_back(removal)
    entries = AuditEntry.objects.filter(study=study, action__in=["remove data", "restore data"]).order_by("number")
    assert [entry.action for entry in entries] == ["remove data", "restore data"]
    assert {"kind": "human_scores", "name": "pyramid"}.items() <= entries[0].detail.items()


def test_nothing_is_removed_while_an_upload_is_being_stored(study: Study) -> None:
    upload = making.receive(study, b"topic,system,text\nrain,new,Rain.\n", "late.csv")
    imports.process(upload)
    imports.confirm(upload, making.owner(study))
    with pytest.raises(Refusal, match="being stored"):
        take_out(study, "topic", scored.topic(study).pk)
    imports.process(upload)
    assert upload.state == Upload.State.STORED
    take_out(study, "topic", scored.topic(study).pk)


def test_an_upload_that_was_read_before_a_removal_is_held_against_the_study_again(study: Study) -> None:
    upload = making.receive(study, b"topic,system,text\nrain,new,Rain.\n", "late.csv")
    imports.process(upload)
    take_out(study, "topic", scored.topic(study).pk)
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert upload.state == Upload.State.REFUSED


def test_when_nothing_is_left_no_ranking_and_no_agreement_stays(study: Study) -> None:
    scored.score_with_metrics(study)
    under_keys = Result.objects.filter(study=study).exclude(choice="")
    assert {"metrics", *(analysis.name for analysis in of_study() if analysis.record)} <= set(
        under_keys.values_list("analysis", flat=True)
    )
    take_out(study, "human_scores", "pyramid")
    assert not under_keys.exists()
    for topic in list(study.topics.all()):
        take_out(study, "topic", topic.pk)
    assert not Ranking.objects.filter(study=study).exists()
    assert not ItemSetProgress.objects.filter(item_set__study=study).exists()
    assert tasks.catch_up(study.pk) == {}


def test_what_a_study_does_not_have_cannot_be_removed(study: Study) -> None:
    other = scored.scored_study()
    for kind, key in (
        ("topic", scored.topic(other).pk),
        ("system", 10**15),
        ("system", System.objects.filter(study=other)[0].pk),
        ("summary", "1 or 1=1"),
        ("reference", "²"),
        ("human_scores", ""),
        ("everything", 1),
    ):
        with pytest.raises(Refusal, match="does not have this"):
            take_out(study, kind, key)


def test_an_erased_annotator_does_not_come_back_with_a_topic(study: Study) -> None:
    removal = take_out(study, "topic", scored.topic(study).pk)
    judging.erase(study.annotators.get(pseudonym="judge-1"))
    put_back(removal)
    assert not Judgment.objects.filter(item_set__topic__name="rain").exists()
    judging_study.assert_books_balance(study)


def test_rows_know_which_upload_brought_them() -> None:
    study = making.study()
    first = making.store(study, lines(TOPIC), "topics.jsonl")
    second = making.store(study, b"topic,system,text\nM1,late,Rain.\n", "late.csv")
    third = making.store(study, b"topic,system,dimension,score\nM1,late,responsiveness,2\n", "scores.csv")
    brought: dict[str, Any] = dict(Summary.objects.values_list("system__name", "upload"))
    assert brought == {"lead": first.pk, "long": first.pk, "late": second.pk}
    assert set(HumanScore.objects.values_list("summary__system__name", "upload")) == {
        ("lead", first.pk),
        ("late", third.pk),
    }
    assert Reference.objects.get().upload == first


def test_an_archive_of_what_is_left_is_read_back(study: Study, tmp_path: Any) -> None:
    take_out(study, "topic", scored.topic(study).pk)
    path = tmp_path / "study.zip"
    with path.open("wb") as file:
        formats.archive.study.write(exports.make_archive(study), file)
    assert [topic.topic_id for topic in formats.archive.study.read(path).topics] == ["snow"]


def test_an_imported_study_tells_programs_what_was_stored_and_removed_before(study: Study) -> None:
    take_out(study, "topic", scored.topic(study).pk)
    again = restore(exports.make_archive(study), making.owner(study), title="Again")
    told = program(making.owner(study)).get(reverse("api_data", args=[again.pk])).json()
    assert [(row["kind"], row["name"], row["by"]) for row in told["earlier_removals"]] == [("topic", "rain", 1)]
    assert [row["contents"] for row in told["earlier_uploads"]] == [row["contents"] for row in again.earlier["uploads"]]
