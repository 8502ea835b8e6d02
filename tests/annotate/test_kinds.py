"""Who judged, a person, a machine or a simulation, and whose judgments a study counts."""

from __future__ import annotations

import pytest

from annotate import judging, studies
from annotate.models import Annotator, Assignment, Judgment, Pair, Study, Tally
from annotate.reports import rests_on
from evaluation import tasks
from preferendum.formats.settings import KINDS_COUNTED
from preferendum.results.statement import Answers, Judged, RestsOn
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, let_lapse, ready_study
from tests.annotate.test_judging_importing import preference

pytestmark = pytest.mark.django_db

Kind = Annotator.Kind


def machine(study: Study, name: str = "model") -> Annotator:
    return judging.join(study, kind=Kind.MACHINE, pseudonym=name)


def no_pair(annotator: Annotator) -> judging.NoPair:
    found = judging.draw(annotator)
    assert isinstance(found, judging.NoPair)
    return found


def judged_by_all_kinds(**settings: object) -> Study:
    """One answer of each kind, of a topic with three sentences."""
    study = ready_study(sentences=3, **settings)
    for kind in Kind:
        judged(judging.join(study, kind=kind, pseudonym=kind.value))
    return study


def counted() -> set[str]:
    judgments = set(Judgment.objects.counted().values_list("assignment__annotator__kind", flat=True))
    assert judgments == set(Assignment.objects.counted().values_list("annotator__kind", flat=True))
    return judgments


def test_a_new_study_counts_people_alone():
    assert judged_by_all_kinds().counted_kinds == "people"
    assert counted() == {"human"}


@pytest.mark.parametrize("choice", KINDS_COUNTED)
def test_a_study_counts_the_kinds_that_it_says(choice):
    assert_books_balance(judged_by_all_kinds(counted_kinds=choice))
    assert counted() == set(KINDS_COUNTED[choice])


def test_studies_that_count_differently_stand_side_by_side():
    judged_by_all_kinds(counted_kinds="machines")
    judged_by_all_kinds(counted_kinds="simulated")
    assert counted() == {"machine", "simulated"}


def test_other_kinds_count_as_soon_as_the_study_says_so_and_its_topics_are_fitted_anew():
    study = judged_by_all_kinds()
    before = Tally.objects.get().data_version
    studies.change_settings(study, making.owner(study), counted_kinds="people-and-machines")
    assert counted() == {"human", "machine"}
    assert Tally.objects.get().data_version == before + 1


def test_an_excluded_machine_does_not_count():
    study = judged_by_all_kinds(counted_kinds="all")
    judging.exclude(study.annotators.get(kind=Kind.MACHINE), making.owner(study), "It repeats itself.")
    assert counted() == {"human", "simulated"}


@pytest.mark.parametrize("choice", KINDS_COUNTED)
def test_a_machine_closes_no_pair_and_no_topic_to_people(choice):
    study = ready_study(sentences=3, judgments_per_topic=3, counted_kinds=choice)
    model = machine(study)
    assert len({judged(model).pair_id for _ in range(3)}) == 3
    assert no_pair(model) == judging.NoPair.NO_WORK
    person = joined(study)
    assert len({judged(person).pair_id for _ in range(3)}) == 3
    assert no_pair(person) == judging.NoPair.NO_WORK
    assert Tally.objects.get().taken == 3
    assert_books_balance(study)


def test_a_topic_wants_as_many_judgments_of_machines_as_of_people():
    study = ready_study(sentences=4, judgments_per_topic=2)
    models = [machine(study, name) for name in "ab"]
    for model in models:
        judged(model)
    assert {no_pair(model) for model in models} == {judging.NoPair.NO_WORK}


def test_machines_share_the_places_of_a_pair_among_themselves():
    study = ready_study(sentences=2, judgments_per_pair=2)
    models = [machine(study, name) for name in "abc"]
    assert judged(models[0]).pair_id == judged(models[1]).pair_id
    assert no_pair(models[2]) == judging.NoPair.NO_WORK
    assert Pair.objects.get().need == 0
    assert_books_balance(study)


def test_a_machine_is_led_to_pairs_that_other_machines_began_and_not_to_those_of_people():
    study = ready_study(sentences=30, judgments_per_pair=2)
    by_person, by_machine = judged(joined(study)), judged(machine(study, "a"))
    assert by_machine.pair_id != by_person.pair_id
    assert drawn(machine(study, "b")).pair_id == by_machine.pair_id
    assert drawn(joined(study)).pair_id == by_person.pair_id


def test_what_a_machine_skips_or_lets_lapse_leaves_peoples_places_as_they_are():
    study = ready_study(sentences=3)
    model = machine(study)
    judging.skip(drawn(model), "other")
    late = drawn(model)
    let_lapse(late)
    judged(joined(study))
    assert_books_balance(study)
    assert judging.record_judgment(late, 1, "left").counted
    assert_books_balance(study)


def test_a_machine_that_answers_after_another_has_filled_the_pair_is_surplus():
    study = ready_study(sentences=2)
    late = drawn(machine(study, "a"))
    let_lapse(late)
    judged(machine(study, "b"))
    assert not judging.record_judgment(late, 1, "left").counted
    assert judging.record_judgment(drawn(joined(study)), 1, "left").counted
    assert_books_balance(study)


def asked_for(annotator: Annotator, **selection: object) -> list[Assignment]:
    """All pairs that the machine is asked for, answered."""
    rows = []
    while isinstance(shown := judging.draw_selected(annotator, judging.Selection(**selection)), Assignment):
        judging.record_judgment(shown, 1, "left", confidence=0.5)
        rows.append(shown)
    assert shown == judging.NoPair.DONE
    return rows


def test_machines_are_asked_for_the_pairs_that_people_judged_each_once_in_one_order_or_in_both():
    study = ready_study(sentences=6, topics=3, pairs_per_annotator=3)
    people = [joined(study), joined(study)]
    of_people = {judged(person).pair_id for person in people for _ in range(3)}
    drawn(joined(study))  # is on their screen, and not judged
    before = Tally.objects.order_by("pk").values_list("taken", flat=True)
    taken = list(before)
    for name in "ab":  # many a pair has one place, which neither takes from the other
        model = machine(study, name)
        judging.record_judgment(drawn(model), 1, "left")  # as any machine: perhaps one that people judged
        had = Assignment.objects.filter(annotator=model, pair__in=of_people).count()
        assert judging.left(model, judging.Selection()) == (6, 6 - had)
        rows = asked_for(model)
        assert len(rows) == 6 - had
        turned = asked_for(model, both_orders=True)
        own = Assignment.objects.filter(annotator=model, pair__in=of_people)
        assert {row.pair_id for row in (*rows, *turned)} == of_people
        assert sorted(own.values_list("pair", "swapped")) == sorted((pair, on) for pair in of_people for on in (0, 1))
        assert own.filter(holds_place=True).count() == 12, "each counts, in a study that counts machines"
        assert judging.left(model, judging.Selection(both_orders=True)) == (6, 0)
    assert list(before) == taken
    assert_books_balance(study)
    judging.exclude(people[0], making.owner(study), "careless")
    assert judging.left(machine(study, "c"), judging.Selection()).pairs == 3


def test_a_machine_goes_on_with_what_it_held_and_a_late_answer_beside_a_persons_has_its_place():
    study = ready_study(sentences=3, judgments_per_topic=1)
    judged(joined(study))
    models = [machine(study, name) for name in "ab"]
    asked = judging.Selection(both_orders=True)
    held = [judging.draw_selected(model, asked) for model in models]
    assert judging.draw_selected(models[0], asked) == held[0]
    let_lapse(*held)
    judging.draw(joined(study))  # gives up what ran out
    assert Assignment.objects.filter(pk=held[0].pk, state="expired").exists()
    assert judging.draw_selected(models[0], asked) == held[0]
    for late in held:
        late.refresh_from_db()
        assert judging.record_judgment(late, 1, "left").counted
    judging.pause(models[0])
    judging.rest(models[0], making.owner(study), on=True)
    assert judging.draw_selected(models[0], asked) == judging.NoPair.RESTING


def test_a_machine_is_asked_for_all_pairs_of_summaries_or_a_share_of_them_by_lot():
    summaries = [{"system": f"s{k}", "text": "It rained." if k < 2 else f"It rained {k} times."} for k in range(8)]
    study = making.study(compares="summaries")
    making.take_in(study, *({"topic_id": name, "question": "Rain?", "summaries": summaries} for name in ("T1", "T2")))
    model = machine(study)
    rows = asked_for(model, of="all", share=0.5)
    again = {row.pair_id for row in asked_for(machine(study, "other"), of="all", share=0.5)}
    assert again == {row.pair_id for row in rows}
    assert 10 < len(rows) < 44
    topics = [row.item_set_id for row in rows]
    assert abs(topics[:10].count(topics[0]) - 5) <= 1, "a budget that ends early covers all topics"
    assert len(asked_for(model, of="all")) == 2 * 27 - len(rows), "two have the same words"


def test_machines_that_join_do_not_make_a_persons_share_smaller():
    study = ready_study(sentences=30, topics=2, judgments_per_topic=30, person_cap=0.1, pairs_per_annotator=12)
    Tally.objects.filter(item_set__topic__name="T1").update(taken=30)
    for number in range(9):
        machine(study, f"model {number}")
    person = joined(study)
    assert len({judged(person).pair_id for _ in range(12)}) == 12


def test_what_figures_rest_on_is_said_by_who_judged_and_where():
    study = judged_by_all_kinds(counted_kinds="people-and-machines")
    judging.import_judgments(study, [preference(0, 1), preference(1, 2)])
    basis = rests_on.of_study(study)
    assert basis.counted == Judged(human=3, imported=2, machine=1)
    assert basis.not_counted == Judged(simulated=1)
    assert (basis.counted.words, basis.leading) == ("3 by people (2 imported), 1 by machines", 3)
    assert rests_on.of_topic(study.topics.get()) == basis
    assert rests_on.ground_of(None, basis.counted).are_simulated is False
    assert rests_on.ground_of(None, Judged(simulated=1)).words.startswith("All annotators are simulated.")
    many = RestsOn(counted=Judged(simulated=3090), about_summaries=90)
    assert many.by_question == "3,000 about sentences, 90 about summaries"
    answers = Answers(many, simulated=10, topics=1)
    assert answers.words == (
        "10 simulated annotators gave 3,090 judgments (3,000 about sentences, 90 about summaries), on 1 topic."
    )
    mixed = RestsOn(counted=Judged(human=540, imported=500, simulated=2000), about_summaries=540)
    assert Answers(mixed, human=11, simulated=1, topics=60).words == (
        "11 people gave 540 judgments (500 imported); 1 simulated annotator gave 2,000 judgments. "
        "In all: 2,000 about sentences, 540 about summaries, on 60 topics."
    )
    brought = RestsOn(counted=Judged(human=9, imported=9), about_summaries=4)
    assert Answers(brought, human=2, topics=3).words == (
        "2 people gave 9 judgments (imported). In all: 5 about sentences, 4 about summaries, on 3 topics."
    )
    of_nobody = Answers(RestsOn(counted=Judged(human=5, imported=4)), human=1, unnamed=3, topics=2)
    assert (
        of_nobody.words
        == "1 person gave 2 judgments (1 imported); 3 judgments by people whom no file names, on 2 topics."
    )


def test_surplus_and_excluded_judgments_are_in_no_count():
    study = ready_study(sentences=2)
    person, late = joined(study), drawn(joined(study))
    let_lapse(late)
    judged(person)
    judging.record_judgment(late, 1, "left")
    assert rests_on.of_study(study).counted == Judged(human=1)
    judging.exclude(person, making.owner(study), "A coin.")
    assert rests_on.of_study(study) == RestsOn()


def test_studies_in_a_list_say_each_what_they_rest_on(django_assert_num_queries):
    few, none = judged_by_all_kinds(counted_kinds="machines"), ready_study(counted_kinds="all")
    with django_assert_num_queries(2):
        by_study = rests_on.by_study([few, none])
    assert by_study[few.pk].counted == Judged(machine=1)
    assert by_study[few.pk].not_counted == Judged(human=1, simulated=1)
    assert by_study[none.pk] == RestsOn("all")
    assert by_study[none.pk].counted.words == "0 by people"


def test_pages_count_no_answers_that_the_worker_counted_until_something_changes(django_assert_num_queries):
    study = judged_by_all_kinds()
    assert tasks.catch_up(study.pk) == {}
    with django_assert_num_queries(1):
        fitted = rests_on.of_study(study)
    assert (fitted.counted, fitted.not_counted) == (Judged(human=1), Judged(machine=1, simulated=1))
    assert_books_balance(study)
    judged(joined(study))
    assert rests_on.of_study(study).counted == Judged(human=2)
    assert tasks.catch_up(study.pk) == {}
    studies.change_settings(study, making.owner(study), counted_kinds="machines")
    assert rests_on.of_study(Study.objects.get()).not_counted == Judged(human=2, simulated=1)
