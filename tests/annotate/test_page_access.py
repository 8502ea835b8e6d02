"""Who may open and do what on the pages, cell by cell; the API has a matrix of its own (test_access).

Not visible is 404, visible but not allowed 403; whoever is not signed in is led to the door (L). A page without a line
here fails the test: say who may open it, and put what stands in its address into `tests.annotate.visitors`.
"""

from __future__ import annotations

import re
import uuid
from functools import cache

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from annotate.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Export,
    Invitation,
    Judgment,
    Membership,
    Participation,
    Study,
    Upload,
    WhatIfQuestion,
)
from tests.annotate import making, scored
from tests.annotate.everything import Keys, undone
from tests.annotate.test_middleware import lacking
from tests.annotate.visitors import VISITORS, furnish, pages, signed_in

pytestmark = pytest.mark.django_db

# One line for pages that answer alike: method, what each of VISITORS gets in their order, names of the pages.
MATRIX = """
GET  200 200 200 200 200 200 200 200 302 302 302 302 302  home
GET  200 200 200 200 200 200 200 200 200 200 200 200 200  about withdrawn docs doc my_judging sign_in_link
GET  200 200 200 200 200 200 200 200 200 200 200 200 200  doc_plain llms_txt
GET  404 404 404 404 404 404 404 404 404 404 404 404 200  metrics
GET  200 200 200 200 200 200 302 302 302 302 302 302 302  sign_in account_login
POST 200 200 200 200 200 200 302 302 302 302 302 302 302  sign_in account_login
POST 302 302 302 302 302 302 302 302 302 302 302 302 302  sign_in_link sign_out account_logout demo set_language
GET  302 302 302 302 302 302 302 302 302 302 302 302 302  new_account
POST 302 302 302 302 302 302 302 302 302 302 302 302 302  new_account
GET  404 404 404 404 404 404 404 404 404 404 404 404 404  openid_connect_callback
POST 404 404 404 404 404 404 404 404 404 404 404 404 404  openid_connect
GET  404 404 404 404 404 404 404 404 404 404 404 404 404  sign_up security_txt forgotten forgotten_sent new_password
POST 404 404 404 404 404 404 404 404 404 404 404 404 404  sign_up forgotten new_password leave
GET    L   L   L   L   L   L 404 404 404 404 404 404 404  account_email email_confirm
POST   L   L   L   L   L   L 404 404 404 404 404 404 404  account_email email_confirm
GET    L   L   L   L   L   L 404 404 200 200 404 200 200  health
GET  302 302 302 302 302 302 302 302 302 302 302 302 302  mfa_authenticate demo set_language
POST 302 302 302 302 302 302 302 302 302 302 302 302 302  mfa_authenticate
GET    L   L   L   L   L   L 200 200 200 200 200 200 200  account password account_reauthenticate mfa_index studies
GET    L   L   L   L   L   L 302 302 302 302 302 302 302  mfa_reauthenticate mfa_activate_totp
GET    L   L   L   L   L   L 302 302 302 302 302 302 302  mfa_generate_recovery_codes
POST   L   L   L   L   L   L 302 302 302 302 302 302 302  mfa_reauthenticate mfa_activate_totp
POST   L   L   L   L   L   L 302 302 302 302 302 302 302  mfa_generate_recovery_codes account_reauthenticate
GET    L   L   L   L   L   L 404 404 404 404 404 404 404  mfa_deactivate_totp mfa_view_recovery_codes
POST   L   L   L   L   L   L 404 404 404 404 404 404 404  mfa_deactivate_totp
GET  404 404 404 404 404 404 404 404 404 404 404 404 404  mfa_login_webauthn mfa_list_webauthn mfa_add_webauthn
GET  404 404 404 404 404 404 404 404 404 404 404 404 404  mfa_remove_webauthn
GET  404 404 404 404 404 404 404 404 404 404 404 404 404  mfa_reauthenticate_webauthn
POST 404 404 404 404 404 404 404 404 404 404 404 404 404  mfa_login_webauthn mfa_list_webauthn mfa_add_webauthn
POST 404 404 404 404 404 404 404 404 404 404 404 404 404  mfa_remove_webauthn
POST 404 404 404 404 404 404 404 404 404 404 404 404 404  mfa_reauthenticate_webauthn
POST   L   L   L   L   L   L 200 200 200 200 200 200 200  account markdown_preview
POST   L   L   L   L   L   L 302 302 302 302 302 302 302  sessions_end password leave_provider
POST   L   L   L   L   L   L 404 404 404 404 404 302 404  token_revoke session_end
GET  200 200 200 200 200 200 200 200 200 403 403 403 403  join crowd
POST 302 302 302 302 302 302 302 302 302 403 403 403 403  join crowd
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  try study study_topics topic topic_documents sentence summary
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  leaderboard topic_leaderboard system kind_leaderboard
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  leaderboard_csv leaderboard_tex leaderboard_svg
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  leaderboard_predicted_csv
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  compare_in_topic topic_csv study_methods study_methods_tex
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  study_methods_bib study_methods_md reported_pairs
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  topic_leaderboard_csv topic_leaderboard_tex
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  topic_leaderboard_svg topic_leaderboard_ranks_svg
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  leaderboard_ranks_svg leaderboard_pdf leaderboard_png
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  leaderboard_ranks_pdf leaderboard_ranks_png
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  topic_leaderboard_pdf topic_leaderboard_png
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  topic_leaderboard_ranks_pdf topic_leaderboard_ranks_png
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  analysis analysis_csv analysis_tex analysis_svg
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  analysis_pdf analysis_png topic_analysis topic_analysis_csv
GET    L   L   L   L   L   L 404 404 404 200 200 200 200  topic_analysis_tex study_data
POST   L   L   L   L   L   L 404 404 404 302 302 302 302  try kind_leaderboard
GET  404 404 404 404 200 404 404 404 404 404 404 404 404  progress guidelines pair context sources my_data my_data_file
GET  404 404 404 404 200 404 404 404 404 404 404 404 404  questionnaire
POST 404 404 404 404 302 404 404 404 404 404 404 404 404  draw pause shortcuts pair skip undo withdraw questionnaire
POST 404 404 404 404 200 404 404 404 404 404 404 404 404  ahead
GET    L   L   L   L   L   L 403 403 200 403 200 200 200  study_new
POST   L   L   L   L   L   L 403 403 302 403 302 302 302  study_new
POST   L   L   L   L   L   L 404 404 404 403 302 302 302  forecast_ask gold_pairs gold_pair_delete study_settings
POST   L   L   L   L   L   L 404 404 404 403 302 302 302  study_recruitment study_state study_export study_copy
POST   L   L   L   L   L   L 404 404 404 403 302 302 302  study_questionnaire webhook_test webhook_delete
POST   L   L   L   L   L   L 404 404 404 403 200 200 200  study_webhooks webhook_secret
POST   L   L   L   L   L   L 404 404 404 403 302 302 302  upload_new upload_confirm upload_discard make_baselines
POST   L   L   L   L   L   L 404 404 404 403 302 302 302  make_simulated data_remove data_restore document_mend
POST   L   L   L   L   L   L 404 404 404 403 302 302 302  upload_columns
GET    L   L   L   L   L   L 404 404 404 403 200 200 200  upload_columns
POST   L   L   L   L   L   L 404 404 404 403 302 302 302  document_unmend workbench upload_document
GET    L   L   L   L   L   L 404 404 404 403 200 200 200  study_settings study_copy upload_new upload document_mend
GET    L   L   L   L   L   L 404 404 404 403 200 200 200  workbench upload_document study_recruitment participants_csv
GET    L   L   L   L   L   L 404 404 404 403 200 200 200  study_export gold_pairs judgments_jsonl judgments_csv
GET    L   L   L   L   L   L 404 404 404 403 200 200 200  dataset_jsonl dataset_csv dataset_preferred dataset_card
GET    L   L   L   L   L   L 404 404 404 403 200 200 200  dataset_croissant
GET    L   L   L   L   L   L 404 404 404 403 200 200 200  data_remove study_questionnaire study_webhooks
GET    L   L   L   L   L   L 404 404 404 403 404 200 200  export_file
GET    L   L   L   L   L   L 404 404 404 403 403 200 200  study_delete
POST   L   L   L   L   L   L 404 404 404 403 403 302 302  study_delete member_role member_remove
GET    L   L   L   L   L   L 404 404 404 200 403 200 200  study_members study_annotators study_annotator what_if
GET    L   L   L   L   L   L 404 404 404 200 403 200 200  disputed log invitation_qr study_annotators_csv
GET    L   L   L   L   L   L 404 404 404 200 403 200 200  study_demographics
GET    L   L   L   L   L   L 404 404 404 200 403 200 200  study_annotator_csv annotator_withdraw annotator_addresses
POST   L   L   L   L   L   L 404 404 404 302 403 302 302  study_members invitation_revoke annotator_rest what_if_ask
POST   L   L   L   L   L   L 404 404 404 302 403 302 302  annotator_find annotator_withdraw study_demographics
POST   L   L   L   L   L   L 404 404 404 302 403 302 302  what_if_do
"""
CELLS = {
    (line.split()[0], name, visitor): line.split()[1:][place]
    for line in MATRIX.strip().splitlines()
    for name in line.split()[1 + len(VISITORS) :]
    for place, visitor in enumerate(VISITORS)
}
OTHER_METHODS = ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
REFUSALS = {"L", "401", "403", "404", "405"}


@cache
def lines() -> set[tuple[str, str]]:
    return {(method, name) for method, name, _visitor in CELLS}


def answer(response: HttpResponseBase) -> str:
    to_the_door = response.status_code == 302 and response["Location"].startswith("/sign-in/?next=")
    return "L" if to_the_door else str(response.status_code)


def test_everybody_gets_what_the_matrix_says(site):
    """And every answer carries the headers."""
    wrong, bare, files = {}, {}, set()
    for (method, name, visitor), expected in CELLS.items():
        with undone():
            response = site.visit(visitor, method, name)
        if (found := answer(response)) != expected:
            wrong[method, name, visitor] = f"{found}, not {expected}"
        if missing := lacking(response):
            bare[method, name, visitor, response.status_code] = missing
        if response.headers.get("Content-Disposition"):
            files.add(name)
    print(f"{len(CELLS)} cells")
    assert wrong == bare == {}
    assert files >= {"export_file", "participants_csv", "judgments_csv", "judgments_jsonl", "leaderboard_csv"}


def test_an_owner_who_has_not_given_the_code_yet_is_nobody(site):
    """On every page, and to the API, however right the password was."""
    owner, waiting = making.member(site.study, making.Role.OWNER), Client()
    TOTP.activate(owner, "A" * 32)
    sent = waiting.post("/sign-in/", {"username": owner.username, "password": "a long enough password"})
    assert sent["Location"] == reverse("mfa_authenticate")
    site.clients["waiting"] = waiting
    wrong = {}
    for method, name in lines() - {("GET", "mfa_authenticate"), ("POST", "mfa_authenticate")}:
        with undone():
            response = site.visit("waiting", method, name)
        if (found := answer(response)) != CELLS[method, name, "nobody"]:
            wrong[method, name] = found
    assert wrong == {}
    assert waiting.get(reverse("api_me")).status_code == 401
    assert waiting.get(reverse("mfa_authenticate")).status_code == 200, "it still waits"


def test_every_page_takes_few_queries(site, django_assert_max_num_queries):
    """How large the study is does not matter."""
    for method, name, visitor in CELLS:
        if (method, visitor) == ("GET", "owner") and CELLS[method, name, visitor] == "200":
            with undone(), django_assert_max_num_queries(20, info=name):
                site.visit(visitor, method, name)


def test_a_page_does_nothing_by_a_method_that_it_has_no_line_for(site):
    wrong, bare, tried = {}, {}, 0
    for name, _address, _holes in pages():
        for visitor in ("participant", "owner"):
            for method in ("GET", "POST", *OTHER_METHODS):
                if (method, name) not in lines():
                    with undone():
                        response = site.visit(visitor, method, name)
                    tried += 1
                    said_methods = method == "OPTIONS" and response.status_code == 200 and not response.said
                    if not said_methods and answer(response) not in REFUSALS:
                        wrong[method, name, visitor] = answer(response)
                    if missing := lacking(response):
                        bare[method, name, visitor, response.status_code] = missing
            if ("GET", name) in lines():
                with undone():
                    head = site.visit(visitor, "HEAD", name)
                tried += 1
                if answer(head) != CELLS["GET", name, visitor] or head.said:
                    wrong["HEAD", name, visitor] = answer(head)
    print(f"{tried} cells of other methods")
    assert wrong == bare == {}


def test_the_matrix_forgets_no_page_and_names_none_that_is_not_there():
    assert {name for name, _address, _holes in pages()} == {name for _method, name in lines()}


def inside_a_study() -> list[tuple[str, str]]:
    """Pages of things that lie in a study; every study has the same kinds of annotators."""
    deep = {
        name
        for name, _address, holes in pages()
        if "study_id" in holes and len(holes - {"kind", "trial", "side", "analysis", "part"}) > 1
    }
    return sorted(line for line in lines() if line[1] in deep)


def test_what_lies_in_another_study_is_not_found_in_this_one(site):
    """Not even by somebody who owns both."""
    owner = site.study.created_by
    other = scored.scored_study(owner=owner)
    site.keys = Keys({**furnish(other, Client()), "study_id": site.study.pk})
    assert len(inside_a_study()) >= 19
    found = {line: answer(site.visit("owner", *line)) for line in inside_a_study()}
    assert set(found.values()) == {"404"}, found


def test_nobody_judges_under_the_key_of_somebody_else(site):
    """Whichever of the two keys of an address, or of a form, belongs to somebody else."""
    mine = site.keys
    theirs = Annotator.objects.filter(study=site.study, judged=0).exclude(key=mine["key"]).exclude(invitation=None)
    site.keys = Keys({**mine, "key": theirs.latest("pk").key})
    assert answer(site.visit("participant", "GET", "progress")) == "404"
    site.keys = Keys({**mine, ("key", "pair"): Assignment.objects.exclude(annotator__key=mine["key"]).first().key})
    assert answer(site.visit("participant", "POST", "pair")) == "404"
    forged = site.clients["participant"].post(site.path("pair"), {"answer": "left", "revision": 1, "ticket": "x" * 43})
    assert answer(forged) == "404"


def test_what_is_not_there_looks_like_what_may_not_be_seen(site):
    """The same answer, to the letter."""
    hiding = sorted(
        {line for line in lines() if CELLS[*line, "stranger"] == "404" and line[1] not in ("sign_up", "leave")}
    )
    assert len(hiding) > 40
    hidden = [site.visit("stranger", *line) for line in hiding]
    numbers = {key: 10**9 for key, value in site.keys.items() if isinstance(value, int)}
    keys = {key: uuid.uuid4() for key, value in site.keys.items() if isinstance(value, uuid.UUID)}
    site.keys = Keys({**site.keys, **numbers, **keys})
    absent = [site.visit("stranger", *line) for line in hiding]
    differing = [line for line, one, two in zip(hiding, hidden, absent, strict=True) if seen(one) != seen(two)]
    assert differing == [], [seen(hidden[hiding.index(differing[0])]), seen(absent[hiding.index(differing[0])])]


def seen(response: HttpResponseBase) -> tuple[int, str]:
    """A page but for the token against forged requests, which is another one each time."""
    return response.status_code, re.sub(r"\b\w{64}\b", "", response.said.decode())


def test_what_was_refused_left_no_trace(site):
    def traces() -> list[object]:
        counted = (Upload, Export, Invitation, Judgment, AuditEntry, Membership)
        whole = (Study, Annotator, Assignment, Participation, WhatIfQuestion)
        return [table.objects.count() for table in counted] + [
            list(table.objects.order_by("pk").values()) for table in whole
        ]

    before = traces()
    for (method, name, visitor), expected in CELLS.items():
        if expected in REFUSALS and method == "POST":
            site.visit(visitor, method, name)
    assert traces() == before


@pytest.mark.parametrize(
    "address",
    [
        "admin/",
        ".git/HEAD",
        ".env",
        "media/",
        "static/",
        "static/../manage.py",
        "api/",
        "backup.zip",
        "data/secret_key",
    ],
)
def test_there_is_nothing_where_people_look_first(client, address):
    assert client.get(f"/{address}").status_code == 404


@pytest.mark.parametrize("role", ["owner", "researcher", "admin"])
def test_menus_offer_what_answers_and_stay_on_every_page(role: str) -> None:
    study = scored.scored_study()
    member = study.memberships.get(role="owner")
    study.memberships.filter(pk=member.pk).update(role=role)
    client = signed_in(member.user)
    tabs = client.get(reverse("study", args=[study.pk])).context["menu"].tabs
    labels = ["Overview", "Texts", "Results", "People", "Settings"]
    assert [str(tab.label) for tab in tabs] == labels[: 4 if role == "admin" else 5]
    for tab in tabs:
        for link in client.get(tab.address).context["menu"].pages:
            answer = client.get(link.address)
            assert answer.status_code == 200, link
            shown = answer.context["menu"]
            assert [one.label for one in shown.tabs if one.is_current] == [tab.label]
            assert [one.address for one in shown.pages if one.is_current] == [link.address]
