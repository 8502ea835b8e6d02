"""Who judged, a person, a machine or a simulation, and whose judgments a study counts."""

from __future__ import annotations

import pytest

from annotate import judging, studies
from annotate.models import Annotator, Assignment, Judgment, Pair, Study, Tally
from annotate.reports import rests_on
from preferendum.formats.settings import KINDS_COUNTED
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
    assert basis.counted == rests_on.Judged(human=3, imported=2, machine=1)
    assert basis.not_counted == rests_on.Judged(simulated=1)
    assert (basis.counted.words, basis.leading) == ("3 by people (2 imported), 1 by machines", 3)
    assert rests_on.of_topic(study.topics.get()) == basis
    assert rests_on.ground_of(None, basis.counted).are_simulated is False
    assert rests_on.ground_of(None, rests_on.Judged(simulated=1)).words.startswith("All annotators are simulated.")
    many = rests_on.RestsOn(counted=rests_on.Judged(simulated=3090), about_summaries=90)
    assert many.in_all == "3,090 judgments count: 3,000 about sentences, 90 about summaries."


def test_surplus_and_excluded_judgments_are_in_no_count():
    study = ready_study(sentences=2)
    person, late = joined(study), drawn(joined(study))
    let_lapse(late)
    judged(person)
    judging.record_judgment(late, 1, "left")
    assert rests_on.of_study(study).counted == rests_on.Judged(human=1)
    judging.exclude(person, making.owner(study), "A coin.")
    assert rests_on.of_study(study) == rests_on.RestsOn()


def test_studies_in_a_list_say_each_what_they_rest_on(django_assert_num_queries):
    few, none = judged_by_all_kinds(counted_kinds="machines"), ready_study(counted_kinds="all")
    with django_assert_num_queries(1):
        by_study = rests_on.by_study([few, none])
    assert by_study[few.pk].counted == rests_on.Judged(machine=1)
    assert by_study[few.pk].not_counted == rests_on.Judged(human=1, simulated=1)
    assert by_study[none.pk] == rests_on.RestsOn("all")
    assert by_study[none.pk].counted.words == "0 by people"
