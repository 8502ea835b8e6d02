"""Paid strangers: one identity is one participation, a code is for those who are done, and whoever wants to go may."""

from __future__ import annotations

import io
import json
import zipfile
from functools import partial

import pytest
from django.db.models import F

from annotate import crowd, exports, invitations, judging, studies
from annotate.imports.restore import restore
from annotate.judging import NoPair
from annotate.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Consent,
    Judgment,
    Participation,
    Recruitment,
    Study,
    Tally,
)
from annotate.refusal import Refusal
from preferendum.formats.archive import study as study_archive
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, ready_study
from tests.annotate.test_judging_together import at_once

pytestmark = pytest.mark.django_db

CONSENT = "I take part of my own free will."
P1, P2, P3 = map(making.prolific, (1, 2, 3))


def crowd_study(sentences: int = 12, platform: str = "prolific", **fields) -> Study:
    study = ready_study(sentences=sentences, **{"pairs_per_annotator": 3} | fields)
    codes = {"code_done": "DONE1", "code_no_work": "NOWORK1", "code_screened_out": "OUT1"}
    recruit(study, consent=CONSENT, platform=platform, **codes if platform == "prolific" else {})
    return study


def recruit(study: Study, **fields: str) -> Recruitment:
    return crowd.recruit(study, making.owner(study), **fields)


def finished(study: Study, person: str) -> Participation:
    annotator = crowd.enter(study, person, "s")
    while not isinstance(judging.draw(annotator), NoPair):
        judged(annotator)
        annotator.refresh_from_db()
    return crowd.leave(annotator)


# Recruiting


def test_every_change_of_the_consent_is_a_new_version_and_nothing_else_is():
    study = ready_study()
    assert recruit(study, consent="One.").consent_version == 1
    assert recruit(study, consent="One.", platform="generic").consent_version == 1
    assert recruit(study, consent="Two.").consent_version == 2


def test_the_log_says_what_was_changed_and_keeps_the_codes_to_itself():
    crowd_study()
    entry = AuditEntry.objects.get(action="recruit")
    assert entry.detail["changes"]["platform"] == ["none", "prolific"]
    assert entry.detail["codes"] == ["code_done", "code_no_work", "code_screened_out"]
    assert "DONE1" not in json.dumps(entry.detail)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"platform": "prolific"}, "code_done"),
        ({"platform": "elsewhere"}, "platform"),
        ({"code_done": "A", "code_no_work": "A"}, "code_done"),
        ({"person_parameter": "a b"}, "person_parameter"),
        ({"person_parameter": "id", "session_parameter": "id"}, "session_parameter"),
        ({"return_url": "javascript:alert(1)"}, "return_url"),
        ({"check_session": True, "session_parameter": ""}, "session_parameter"),
        ({"platform": "prolific", "code_done": "A", "expected_ids": f"{P1}\nP2"}, "expected_ids"),
    ],
)
def test_what_would_not_work_on_a_platform_is_refused_at_its_field(fields, wrong):
    study = ready_study()
    with pytest.raises(Refusal) as refused:
        recruit(study, **fields)
    assert wrong in refused.value.fields
    assert not Recruitment.objects.exists()
    assert not AuditEntry.objects.filter(action="recruit").exists()


# Arriving


def test_expected_ids_are_kept_once_each_and_the_log_counts_them():
    study = crowd_study()
    assert recruit(study, expected_ids=f" {P1} \r\n\n{P2}\n{P1}").expected == [P1, P2]
    entry = AuditEntry.objects.filter(action="recruit").latest("pk")
    assert entry.detail["changes"] == {"expected_ids": [0, 2]}


def test_only_those_who_are_expected_come_in_and_those_who_came_stay():
    study = crowd_study()
    known = crowd.enter(study, P3)
    recruit(study, expected_ids=f"{P1}\n{P2}")
    assert crowd.enter(study, P1) != known
    assert crowd.enter(study, P3) == known
    with pytest.raises(Refusal, match="does not know your platform ID"):
        crowd.enter(study, making.prolific(4))
    assert Annotator.objects.count() == 2


def test_an_id_that_prolific_would_not_give_is_refused_there_only():
    with pytest.raises(Refusal, match="24 characters"):
        crowd.enter(crowd_study(), "w1")
    assert crowd.enter(crowd_study(platform="generic"), "w1")


def test_whoever_came_under_another_kind_of_id_goes_on():
    study = crowd_study(platform="generic")
    known = crowd.enter(study, "w1")
    recruit(study, platform="prolific", code_done="DONE1")
    assert crowd.enter(study, "w1") == known


@pytest.mark.parametrize("erase", [False, True])
def test_whoever_withdraws_is_off_the_list_too(erase):
    study = crowd_study()
    recruit(study, expected_ids=f"{P1}\n{P2}")
    crowd.withdraw(crowd.enter(study, P1), erase=erase)
    assert crowd.recruitment_of(study).expected == [P2]


@pytest.mark.parametrize("session", ["other", ""])
def test_where_it_is_checked_an_id_comes_back_with_its_first_session_only(session):
    study = crowd_study()
    recruit(study, check_session=True)
    first = crowd.enter(study, P1, "s1")
    assert crowd.enter(study, P1, "s1") == first  # another device
    with pytest.raises(Refusal, match="another session"):
        crowd.enter(study, P1, session)
    assert Participation.objects.get().session == "s1"


def test_the_browser_that_began_brings_its_new_session_along():
    study = crowd_study()
    recruit(study, check_session=True)
    first = crowd.enter(study, P1, "s1")
    assert crowd.enter(study, P1, "s2", is_recognized=True) == first
    assert crowd.enter(study, P1, "s2") == first
    with pytest.raises(Refusal):
        crowd.enter(study, P1, "s1")


def test_whoever_came_without_a_session_is_bound_to_the_first_that_is_sent():
    study = crowd_study()
    recruit(study, check_session=True)
    first = crowd.enter(study, P1)
    assert crowd.enter(study, P1, "s1") == first
    with pytest.raises(Refusal):
        crowd.enter(study, P1, "s2")


def test_one_identity_is_one_participation():
    study = crowd_study()
    first = crowd.enter(study, P1, "s1")
    assert crowd.enter(study, P1, "s2") == first
    assert crowd.enter(study, P2, "s3") != first
    assert Participation.objects.get(annotator=first).session == "s2"
    assert Annotator.objects.count() == Participation.objects.count() == 2


def test_the_same_person_in_two_studies_has_two_digests():
    for study in (crowd_study(), crowd_study()):
        crowd.enter(study, P1)
    first, second = Participation.objects.values_list("digest", flat=True)
    assert first != second
    assert P1 not in first + second


def test_somebody_signed_in_takes_part_once_whatever_name_the_link_bears():
    study, user = crowd_study(), making.person()
    first = crowd.enter(study, P1, user=user)
    assert crowd.enter(study, P2, user=user) == first
    assert Participation.objects.get().person == P1


@pytest.mark.django_db(transaction=True)
def test_ten_tabs_that_enter_at_once_are_one_participant():
    study = crowd_study()
    entered = at_once(*[partial(crowd.enter, study, P1, f"s{tab}") for tab in range(10)])
    assert len({annotator.pk for annotator in entered}) == 1
    assert Annotator.objects.count() == Participation.objects.count() == 1


@pytest.mark.parametrize("person", ["", "  ", "{{%PROLIFIC_PID%}}", "x" * 201, "a\x00b", "f" * 23, "F" * 24, "g" * 24])
def test_a_name_that_is_none_lets_nobody_in(person):
    with pytest.raises(Refusal):
        crowd.enter(crowd_study(), person)
    assert not Annotator.objects.exists()


def test_a_study_that_is_not_open_takes_nobody_new_and_knows_whom_it_has():
    study = crowd_study()
    known = crowd.enter(study, P1)
    study = studies.set_state(study, making.owner(study), "paused")
    with pytest.raises(Refusal):
        crowd.enter(study, P2)
    assert crowd.enter(study, P1) == known


def test_a_study_without_a_platform_takes_nobody_from_one():
    with pytest.raises(Refusal):
        crowd.enter(ready_study(), P1)


def test_what_somebody_agreed_to_is_stored_word_for_word_once_a_version():
    study = crowd_study()
    annotator = crowd.enter(study, P1)
    crowd.agree(annotator)
    crowd.agree(annotator)
    recruit(study, consent="Another text.")
    crowd.agree(annotator)
    found = Consent.objects.filter(annotator=annotator).order_by("version").values_list("version", "text")
    assert list(found) == [(1, CONSENT), (2, "Another text.")]


def test_where_nothing_is_asked_nothing_is_agreed_to():
    assert crowd.agree(joined(ready_study())) is None
    assert not Consent.objects.exists()


# Leaving


def test_unfinished_work_has_no_code():
    annotator = crowd.enter(crowd_study(), P1)
    judged(annotator)
    participation = crowd.leave(annotator)
    assert (participation.outcome, participation.code, participation.left_at) == ("working", "", None)
    assert not crowd.has_left(annotator)


def test_each_outcome_has_the_code_that_the_researcher_set():
    study = crowd_study()
    done = finished(study, P1)
    assert (done.outcome, done.code) == ("done", "DONE1")
    out = crowd.enter(study, P2)
    Annotator.objects.filter(pk=out.pk).update(excluded_at=out.joined_at)
    assert crowd.leave(out).code == "OUT1"
    late = crowd.enter(study, P3)
    study = studies.change_settings(study, making.owner(study), judgments_per_topic=3)
    assert (crowd.leave(late).outcome, crowd.leave(late).code) == ("no_work", "NOWORK1")


def test_on_a_generic_platform_every_finished_participant_has_a_code_of_their_own_and_nobody_else_has_one():
    study = crowd_study(platform="generic")
    codes = [finished(study, making.prolific(number)).code for number in range(5)]
    crowd.leave(crowd.enter(study, "slow"))
    assert len(set(codes)) == 5
    assert all(len(code) == 32 for code in codes)
    assert sorted(Participation.objects.exclude(code="").values_list("code", flat=True)) == sorted(codes)


def test_leaving_twice_changes_neither_outcome_nor_code():
    study = crowd_study(platform="generic")
    first = finished(study, P1)
    studies.change_settings(study, making.owner(study), pairs_per_annotator=9)
    again = crowd.leave(Annotator.objects.get())
    assert (again.code, again.outcome, again.left_at) == (first.code, "done", first.left_at)


@pytest.mark.django_db(transaction=True)
def test_ten_clicks_on_leave_at_once_make_one_code():
    study = crowd_study(platform="generic")
    annotator = crowd.enter(study, P1)
    for _ in range(3):
        judged(annotator)
    left = at_once(*[partial(crowd.leave, annotator) for _ in range(10)])
    assert len({one.code for one in left}) == 1


def test_a_paused_study_keeps_people_at_work():
    study = crowd_study()
    annotator = crowd.enter(study, P1)
    studies.set_state(study, making.owner(study), "paused")
    assert crowd.leave(Annotator.objects.get(pk=annotator.pk)).outcome == "working"


def test_the_way_back_to_the_platform_carries_the_code():
    study = crowd_study()
    assert crowd.return_link(finished(study, P1)) == "https://app.prolific.com/submissions/complete?cc=DONE1"
    recruit(study, platform="generic", return_url="https://panel.example/end?token={code}&x=1", code_done="a&b")
    other = finished(study, P2)
    assert crowd.return_link(other) == "https://panel.example/end?token=a%26b&x=1"
    assert crowd.return_link(crowd.participation_of(crowd.enter(study, P3))) == ""


# Withdrawing


def test_whoever_withdraws_leaves_their_answers_and_no_name():
    study = crowd_study()
    annotator = crowd.enter(study, P1, "s1", making.person())
    judged(annotator)
    drawn(annotator)
    crowd.withdraw(annotator, erase=False)
    annotator = Annotator.objects.get()
    assert (annotator.user, annotator.judged) == (None, 1)
    participation = Participation.objects.get()
    assert (participation.person, participation.session, participation.outcome) == ("", "", "withdrawn")
    assert judging.draw(annotator) == NoPair.DONE
    assert Judgment.objects.counted().count() == 1
    assert AuditEntry.objects.get(action="withdraw annotator").detail == {"annotator": annotator.pseudonym}
    assert_books_balance(study)


def study_of_two() -> tuple[Study, Annotator, Annotator]:
    """Two participants: one has judged a pair, the other has agreed."""
    study = crowd_study()
    # A tally's key is not its topic's, wherever topics came and went.
    Tally.objects.update(id=F("id") + 1_000)
    other, annotator = crowd.enter(study, P2), crowd.enter(study, P1, "s1")
    judged(other)
    crowd.agree(annotator)
    return study, other, annotator


def test_whoever_erases_leaves_nothing_but_a_line_and_a_digest():
    study, other, annotator = study_of_two()
    judged(annotator)
    judging.undo(judged(annotator))
    pseudonym, before = annotator.pseudonym, Tally.objects.get()
    crowd.withdraw(annotator, erase=True)
    after = Tally.objects.get()
    assert after.data_version > before.data_version
    assert after.taken == 1
    assert Annotator.objects.get() == other
    assert set(Assignment.objects.values_list("annotator", flat=True)) == {other.pk}
    assert Judgment.objects.count() == 1
    assert not Consent.objects.exists()
    kept = Participation.objects.get(outcome="withdrawn")
    assert (kept.annotator, kept.person, kept.session) == (None, "", "")
    assert AuditEntry.objects.get(action="erase annotator").detail == {"judgments": 1, "entries": []}
    assert pseudonym not in json.dumps(list(AuditEntry.objects.values_list("detail", flat=True)))
    assert_books_balance(study)


@pytest.mark.parametrize("erase", [False, True])
def test_whoever_withdrew_does_not_come_in_again(erase):
    study = crowd_study()
    crowd.withdraw(crowd.enter(study, P1), erase=erase)
    with pytest.raises(Refusal) as refused:
        crowd.enter(study, P1)
    assert refused.value.code == "withdrawn"
    assert crowd.enter(study, P2).judged == 0


def test_whoever_came_by_an_invitation_may_withdraw_too_and_erase_later():
    study = ready_study()
    annotator = joined(study)
    judged(annotator)
    crowd.withdraw(annotator, erase=False)
    crowd.withdraw(annotator, erase=True)
    assert not Annotator.objects.exists()
    assert not Judgment.objects.exists()
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))[-2:] == [
        "withdraw annotator",
        "erase annotator",
    ]
    assert_books_balance(study)


def test_the_data_about_somebody_is_all_of_it_and_theirs_alone():
    _study, _other, annotator = study_of_two()
    assignment = judged(annotator, "right")
    judging.undo(assignment)
    judging.record_judgment(assignment, 3, "left", 2.0)
    data = crowd.personal_data(annotator)
    assert json.loads(json.dumps(data)) == data
    assert data["participation"]["person"] == P1
    assert data["participation"]["session"] == "s1"
    assert [one["text"] for one in data["consents"]] == [CONSENT]
    (pair,) = data["pairs"]
    assert (pair["left"], pair["right"]) == (assignment.left.text, assignment.right.text)
    assert [one["answer"] for one in pair["answers"]] == ["right", "undone", "left"]
    assert P2 not in json.dumps(data)


def test_whoever_was_paid_is_known_after_the_secret_key_was_changed(settings):
    study = crowd_study()
    mine = crowd.enter(study, P1)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another " * 10, []
    assert crowd.enter(study, P1) == mine
    crowd.withdraw(mine, erase=True)
    settings.SECRET_KEY = "yet another " * 10
    with pytest.raises(Refusal):
        crowd.enter(study, P1)


# Exporting


def test_an_archive_tells_nobodys_name_no_code_and_no_consent():
    study = crowd_study()
    finished(study, making.prolific(0xCA4A41))
    crowd.agree(joined(study, user=making.person("canary-account")))
    invitations.invite(study, making.owner(study), label="CANARY-LABEL")
    file = io.BytesIO()
    study_archive.write(exports.make_archive(study), file)
    with zipfile.ZipFile(file) as archive:
        said = "".join(archive.read(name).decode() for name in archive.namelist())
    assert study.question in said
    owner = making.owner(study).get_username()
    identity = crowd.recruitment_of(study).identity_key
    for secret in ("CANARY", "canary", "ca4a41", "DONE1", CONSENT, identity, owner, "recruit"):
        assert secret not in said, secret


def test_a_study_that_is_taken_back_lets_in_only_whom_its_new_owner_invites():
    study = crowd_study()
    finished(study, P1)
    invitations.invite(study, making.owner(study))
    owner = making.person("importer")
    restored = restore(exports.make_archive(study), owner)
    assert restored.annotators.count() == study.annotators.count()
    assert list(restored.memberships.values_list("user", "role")) == [(owner.pk, "owner")]
    assert crowd.recruitment_of(restored).platform == Recruitment.Platform.NONE
    assert not restored.invitations.exists()
    assert not restored.participations.exists()
    assert restored.state == Study.State.OPEN
