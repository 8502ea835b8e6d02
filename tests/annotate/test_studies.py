from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.utils import timezone

from annotate import accounts, links, studies
from annotate.models import Act, Invitation, Membership, Study, Tally, Token
from tests.annotate import making
from tests.annotate.making import Role

pytestmark = pytest.mark.django_db


def acts(study: Study | None) -> list[str]:
    return list(Act.objects.filter(study=study).order_by("pk").values_list("act", flat=True))


def test_whoever_may_not_begin_studies_begins_none():
    with pytest.raises(PermissionDenied):
        studies.create_study(making.person(), title="T", question="Q?")
    assert not Study.objects.exists()


def test_whoever_begins_a_study_owns_it():
    user = making.person(is_superuser=True)
    study = studies.create_study(user, title="T", question="Q?", seed=7)
    assert study.seed == 7
    assert Membership.objects.get(study=study).role == Role.OWNER
    assert acts(study) == ["create study"]


def test_whoever_researches_somewhere_may_begin_a_study_of_their_own():
    researcher = making.member(making.study(), Role.RESEARCHER)
    assert studies.create_study(researcher, title="T", question="Q?").created_by == researcher


@pytest.mark.parametrize("role", [Role.ADMIN, Role.ANNOTATOR])
def test_whoever_only_helps_somewhere_may_not(role):
    with pytest.raises(PermissionDenied):
        studies.create_study(making.member(making.study(), role), title="T", question="Q?")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", "x" * 201),
        ("question", " "),
        ("judgments_per_pair", 0),
        ("judgments_per_topic", 1_000_001),
        ("prior", -1.0),
        ("prior", float("nan")),
        ("smooth", "more"),
        ("similarity", "guess"),
        ("seed", -1),
    ],
)
def test_a_setting_that_will_not_do_is_refused_by_name(field, value):
    study = making.study()
    with pytest.raises(studies.Refusal) as refused:
        studies.change_settings(study, making.owner(study), **{field: value})
    assert list(refused.value.fields) == [field]
    assert acts(study) == ["create study"]


def test_changing_what_a_fit_rests_on_raises_the_version_of_every_topic():
    study = making.study()
    making.take_in(study, making.TOPIC, making.TOPIC | {"topic_id": "M2"})
    before = dict(Tally.objects.values_list("topic__name", "data_version"))
    studies.change_settings(study, making.owner(study), title="Snow", guidelines="Read.")
    assert dict(Tally.objects.values_list("topic__name", "data_version")) == before
    studies.change_settings(study, making.owner(study), prior=0.5)
    assert dict(Tally.objects.values_list("topic__name", "data_version")) == {n: v + 1 for n, v in before.items()}
    study.refresh_from_db()
    assert (study.title, study.prior) == ("Snow", 0.5)


def test_a_change_is_noted_with_what_was_and_what_is():
    study = making.study()
    studies.change_settings(study, making.owner(study), title="Rain", seed=3)
    assert Act.objects.get(act="change settings").detail == {"changes": {"seed": [0, 3]}}


def test_changing_nothing_notes_nothing():
    study = making.study()
    studies.change_settings(study, making.owner(study), title="Rain")
    assert acts(study) == ["create study"]


def test_another_language_has_the_texts_cut_anew():
    study = making.study()
    (own, other) = making.take_in(study, making.TOPIC | {"language": "de"}, making.TOPIC | {"topic_id": "M2"})
    studies.change_settings(study, making.owner(study), language="sw")
    own.refresh_from_db()
    other.refresh_from_db()
    assert (own.text_version, other.text_version) == (1, 2)


def test_states_are_noted_once():
    study = making.study()
    studies.set_state(study, making.owner(study), "paused")
    studies.set_state(study, making.owner(study), "paused")
    assert acts(study) == ["create study", "set state"]
    with pytest.raises(studies.Refusal):
        studies.set_state(study, making.owner(study), "asleep")


def test_an_invitation_lets_in_as_many_as_it_says():
    study = making.study()
    invitation = studies.invite(study, making.owner(study), role=Role.RESEARCHER, max_uses=2)
    assert links.find_invitation(links.invitation_path(invitation).rstrip("/").rsplit("/", 1)[1]) == invitation
    for _ in range(2):
        assert studies.accept(invitation, making.person()).role == Role.RESEARCHER
    with pytest.raises(studies.Refusal, match="as often as it may be"):
        studies.accept(invitation, making.person())
    assert Invitation.objects.get().uses == 2


def test_an_invitation_that_ran_out_or_was_taken_back_lets_nobody_in():
    study = making.study()
    owner = making.owner(study)
    late = studies.invite(study, owner, role=Role.RESEARCHER, expires_at=timezone.now() + timedelta(hours=1))
    Invitation.objects.filter(pk=late.pk).update(expires_at=timezone.now() - timedelta(hours=1))
    with pytest.raises(studies.Refusal, match="run out"):
        studies.accept(late, making.person())
    gone = studies.invite(study, owner)
    studies.revoke(gone, owner)
    studies.revoke(gone, owner)
    with pytest.raises(studies.Refusal, match="taken back"):
        studies.use_invitation(gone)
    assert acts(study).count("revoke invitation") == 1


def test_an_invitation_never_lowers_a_role_and_is_not_used_up_by_members():
    study = making.study()
    owner = making.owner(study)
    invitation = studies.invite(study, owner, role=Role.ADMIN, max_uses=1)
    assert studies.accept(invitation, owner).role == Role.OWNER
    assert studies.accept(invitation, making.member(study, Role.ANNOTATOR)).role == Role.ADMIN
    assert Invitation.objects.get().uses == 1


def test_an_admin_invites_annotators_and_nobody_above_themselves():
    study = making.study()
    admin = making.member(study, Role.ADMIN)
    studies.invite(study, admin)
    for role in (Role.ADMIN, Role.RESEARCHER, Role.OWNER):
        with pytest.raises(PermissionDenied):
            studies.invite(study, admin, role=role)
    theirs = studies.invite(study, making.owner(study), role=Role.OWNER)
    with pytest.raises(PermissionDenied):
        studies.revoke(theirs, admin)


@pytest.mark.parametrize("fields", [{"max_uses": 0}, {"role": "king"}, {"label": "x" * 101}])
def test_an_invitation_that_cannot_work_is_refused(fields):
    study = making.study()
    with pytest.raises(studies.Refusal) as refused:
        studies.invite(study, making.owner(study), **fields)
    assert list(refused.value.fields) == list(fields)


def test_a_study_keeps_an_owner():
    study = making.study()
    owner = making.owner(study)
    with pytest.raises(studies.Refusal, match="owner"):
        studies.set_role(study, owner, owner, Role.RESEARCHER)
    with pytest.raises(studies.Refusal, match="owner"):
        studies.remove_member(study, owner, owner)
    other = making.member(study, Role.RESEARCHER)
    studies.set_role(study, owner, other, Role.OWNER)
    studies.set_role(study, other, owner, Role.ADMIN)
    assert Membership.objects.get(study=study, user=owner).role == Role.ADMIN


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ADMIN, Role.ANNOTATOR])
def test_nobody_but_an_owner_gives_roles(role):
    study = making.study()
    user = making.member(study, role)
    with pytest.raises(PermissionDenied):
        studies.set_role(study, user, user, Role.OWNER)
    with pytest.raises(PermissionDenied):
        studies.remove_member(study, user, making.owner(study))


def test_who_is_sent_away_loses_the_tokens_for_this_study_only():
    study = making.study()
    user = making.member(study, Role.RESEARCHER)
    accounts.create_token(user, "here", study=study)
    accounts.create_token(user, "everywhere")
    studies.remove_member(study, making.owner(study), user)
    assert set(Token.objects.filter(revoked_at=None).values_list("name", flat=True)) == {"everywhere"}


def test_anybody_may_leave():
    study = making.study()
    user = making.member(study, Role.ANNOTATOR)
    studies.remove_member(study, user, user)
    assert not Membership.objects.filter(user=user).exists()


def test_deleting_a_study_takes_everything_with_it_and_leaves_a_line(django_capture_on_commit_callbacks):
    study = making.study()
    upload = making.receive(study, making.lines(making.TOPIC))
    making.take_in(study)
    with django_capture_on_commit_callbacks(execute=True):
        studies.delete_study(study, making.owner(study))
    assert not Study.objects.exists()
    assert not upload.file.storage.exists(upload.file.name)
    assert acts(None) == ["delete study"]


def test_only_owners_delete_a_study():
    study = making.study()
    with pytest.raises(PermissionDenied):
        studies.delete_study(study, making.member(study, Role.RESEARCHER))


@pytest.mark.parametrize("text", ["a\x00b", "a\x0cb", "a\ud800b", "e" + "\u0301\u0316" * 40])
@pytest.mark.parametrize("field", ["title", "question", "guidelines"])
def test_what_would_break_a_database_or_a_page_is_refused(field, text):
    study = making.study()
    with pytest.raises(studies.Refusal) as refused:
        studies.change_settings(study, making.owner(study), **{field: text})
    assert list(refused.value.fields) == [field]


def test_what_people_type_is_stored_as_texts_from_files_are():
    study = making.study(title="  Caf\u0065\u0301 ", guidelines="One.\r\nTwo.")
    assert (study.title, study.guidelines) == ("Caf\u00e9", "One.\nTwo.")


@pytest.mark.parametrize("tag", ["en_US", "en us", "e", "-", "<b>"])
def test_a_language_is_a_tag(tag):
    study = making.study(language="zh-Hans")
    with pytest.raises(studies.Refusal):
        studies.change_settings(study, making.owner(study), language=tag)


@pytest.mark.django_db(transaction=True)
def test_the_last_places_of_an_invitation_are_taken_once_however_many_come_at_once():
    study = making.study()
    invitation = studies.invite(study, making.owner(study), role=Role.RESEARCHER, max_uses=3)
    people = [making.person() for _ in range(8)]

    def accept(user) -> bool:
        try:
            studies.accept(Invitation.objects.get(pk=invitation.pk), user)
        except studies.Refusal:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(accept, people))
    assert sum(taken) == 3
    assert Membership.objects.filter(role=Role.RESEARCHER).count() == Invitation.objects.get().uses == 3


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_send_each_other_away_leave_one():
    study = making.study()
    owners = [making.owner(study), making.member(study, Role.OWNER)]

    def remove(pair) -> bool:
        try:
            studies.remove_member(study, *pair)
        except (studies.Refusal, PermissionDenied):
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(remove, [owners, owners[::-1]]))
    assert sum(done) == 1
    assert Membership.objects.filter(study=study, role=Role.OWNER).count() == 1
