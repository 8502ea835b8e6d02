"""What annotators ask for by mail, and the list to write to."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate import crowd
from annotate.crowd import personal
from annotate.models import Annotator, AnnotatorReport, AuditEntry, Judgment, Participation
from tests.annotate import making
from tests.annotate.judging_study import joined, judged
from tests.annotate.reading import signed_in, text_of
from tests.annotate.test_crowd import P1, P2, crowd_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    made = crowd_study()
    for person in (P1, P2):
        annotator = crowd.enter(made, person)
        crowd.agree(annotator)
        judged(annotator)
    return made


def test_an_annotator_who_asks_by_mail_is_found_by_name_code_or_platform_id(study) -> None:
    first, second = study.annotators.order_by("pk")
    Participation.objects.filter(annotator=first).update(code="ABC")
    for text in (first.pseudonym, P1, " ABC "):
        assert personal.find(study, text) == [first]
    for text in ("", "  ", "\0", "nobody"):
        assert personal.find(study, text) == []
    client, page = signed_in(study, "admin"), reverse("annotator_find", args=[study.pk])
    found = client.post(page, {"find": P2})
    assert found["Location"] == reverse("study_annotator", args=[study.pk, second.pk])
    assert "No annotator of this study has this" in client.post(page, {"find": "x"}, follow=True).content.decode()
    Participation.objects.update(code="ABC")
    assert "Several annotators have this code" in client.post(page, {"find": "ABC"}, follow=True).content.decode()


def test_an_admin_erases_an_annotator_as_they_could_themselves_and_the_log_says_who_did(study) -> None:
    annotator = study.annotators.earliest("pk")
    pseudonym = annotator.pseudonym
    client, page = signed_in(study, "admin"), reverse("annotator_withdraw", args=[study.pk, annotator.pk])
    assert page in text_of(client, reverse("study_annotator", args=[study.pk, annotator.pk]))
    assert "What should happen to their answers?" in client.post(page).content.decode(), "nothing happens unasked"
    assert Annotator.objects.filter(pk=annotator.pk).exists()
    client.post(page, {"answers": "erase"})
    assert not Annotator.objects.filter(pk=annotator.pk).exists()
    assert Judgment.objects.count() == 1
    entry = AuditEntry.objects.get(action="erase annotator")
    assert entry.actor_id == int(client.session["_auth_user_id"])
    assert pseudonym not in str(entry.detail)
    kept = Participation.objects.get(outcome="withdrawn")
    assert (kept.annotator, kept.person) == (None, "")


def test_an_admin_may_also_keep_the_answers_and_erase_them_later(study) -> None:
    annotator = study.annotators.earliest("pk")
    client, page = signed_in(study, "admin"), reverse("annotator_withdraw", args=[study.pk, annotator.pk])
    client.post(page, {"answers": "keep"})
    entry = AuditEntry.objects.get(action="withdraw annotator")
    assert (entry.actor_id, entry.detail) == (
        int(client.session["_auth_user_id"]),
        {"annotator": annotator.pseudonym},
    )
    assert Judgment.objects.count() == 2
    assert 'value="keep"' not in client.get(page).content.decode()
    client.post(page, {"answers": "erase"})
    assert Judgment.objects.count() == 1


def test_who_judged_elsewhere_or_is_a_program_cannot_be_withdrawn(study) -> None:
    annotator = study.annotators.earliest("pk")
    for changed in ({"kind": "machine"}, {"kind": "human", "imported": True}):
        Annotator.objects.filter(pk=annotator.pk).update(**changed)
        page = reverse("annotator_withdraw", args=[study.pk, annotator.pk])
        assert signed_in(study).post(page, {"answers": "erase"}).status_code == 404


def test_addresses_and_platform_ids_are_a_list_to_copy_without_pseudonyms(study) -> None:
    by_link, account = joined(study), making.member(study, making.Role.ANNOTATOR)
    account.email = "ann@example.org"
    account.save()
    with_account = Annotator.objects.create(study=study, user=account, pseudonym="ann")
    first = study.annotators.earliest("pk")
    AnnotatorReport.objects.create(annotator=first, version=1, flags=["coin"], computed_at=first.joined_at)
    client, page = signed_in(study, "admin"), reverse("annotator_addresses", args=[study.pk])
    assert client.get(page).content.decode().splitlines() == [P1, P2, "ann@example.org"]
    assert client.get(page + "?of=careless").content.decode().splitlines() == [P1]
    assert by_link.pk not in personal.addresses(study)
    assert with_account.pk in personal.addresses(study)
    entries = AuditEntry.objects.filter(action="read addresses").order_by("pk")
    assert [entry.detail for entry in entries] == [{"annotators": 3}, {"annotators": 1}]
    text = text_of(client, reverse("study_annotators", args=[study.pk]))
    assert page + "?of=all" in text
    assert P1 not in text
    crowd.withdraw(first, erase=False)
    assert client.get(page).content.decode().splitlines() == [P2, "ann@example.org"]
