"""Who may do what through the API, cell by cell: not visible is 404, visible but not allowed 403, nobody at all 401."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from django.urls import URLResolver, get_resolver, reverse
from rest_framework.test import APIClient

from annotate import judging, members
from annotate.models import Annotator, Assignment, Export, Upload
from tests.annotate import making
from tests.annotate.everything import Keys, World, api_patterns, furnish, program, undone
from tests.annotate.making import Role
from tests.annotate.test_page_access import CELLS as PAGE_CELLS
from tests.annotate.visitors import pages

pytestmark = pytest.mark.django_db

CALLERS = (
    "nobody",  # no token
    "participant",  # no token, but the session of somebody who came by an invitation to judge
    "revoked",  # the owner's token, revoked
    "closed",  # the token of a researcher of the study whose account was closed since
    "stranger",  # researches in another study
    "annotator",  # belongs to the study to judge in it
    "admin",
    "researcher",
    "owner",
    "site",  # runs the installation
    "reader",  # the owner's token that may only read
    "narrow",  # the owner's token for another study
)

# One line for addresses that answer alike: method, what each of CALLERS gets in their order, names.
MATRIX = """
GET    401 401 401 401 200 200 200 200 200 200 200 200  api_me api_studies
GET    401 401 401 401 403 403 403 403 403 403 403 403  api_tokens
POST   401 401 401 401 403 403 403 403 403 403 403 403  api_tokens
DELETE 401 401 401 401 403 403 403 403 403 403 403 403  api_token
POST   401 401 401 401 201 403 403 201 201 201 403 403  api_studies
GET    401 401 401 401 404 404 200 200 200 200 200 404  api_study api_members api_topics api_topic api_documents
GET    401 401 401 401 404 404 200 200 200 200 200 404  api_references api_sentences api_topic_leaderboard api_summaries
GET    401 401 401 401 404 404 200 200 200 200 200 404  api_summary api_leaderboard api_results api_result
GET    401 401 401 401 404 404 200 200 200 200 200 404  api_topic_results api_topic_result api_given_metrics
GET    401 401 401 401 404 404 200 200 200 200 200 404  api_forecasts api_forecast api_course api_uploads api_upload
GET    401 401 401 401 404 404 200 200 200 200 200 404  api_reported_pairs api_data api_removals
PATCH  401 401 401 401 404 404 403 200 200 200 403 404  api_study api_document api_sentence
DELETE 401 401 401 401 404 404 403 403 204 204 403 404  api_study api_member
POST   401 401 401 401 404 404 403 201 201 201 403 404  api_study_copies api_removals
PATCH  401 401 401 401 404 404 403 403 200 200 403 404  api_member
GET    401 401 401 401 404 404 200 403 200 200 200 404  api_invitations api_annotator_figures api_audit_log
GET    401 401 401 401 404 404 200 403 200 200 200 404  api_what_if api_annotators
POST   401 401 401 401 404 404 201 403 201 201 403 404  api_invitations
DELETE 401 401 401 401 404 404 204 403 204 204 403 404  api_invitation
GET    401 401 401 401 404 404 403 200 200 200 200 404  api_judgments api_exports
GET    401 401 401 401 404 404 403 200 200 200 200 404  api_dataset api_recruitment api_participants
GET    401 401 401 401 404 404 403 200 200 200 200 404  api_webhooks api_deliveries
POST   401 401 401 401 404 404 403 201 201 201 403 404  api_webhooks
POST   401 401 401 401 404 404 403 200 200 200 403 404  api_webhook_secret
POST   401 401 401 401 404 404 403 202 202 202 403 404  api_deliveries
DELETE 401 401 401 401 404 404 403 204 204 204 403 404  api_webhook
PUT    401 401 401 401 404 404 403 200 200 200 403 404  api_given_metrics
PUT    401 401 401 401 404 404 200 403 200 200 403 404  api_demographics
POST   401 401 401 401 404 404 403 202 202 202 403 404  api_forecasts api_uploads api_baselines api_simulated
POST   401 401 401 401 404 404 403 202 202 202 403 404  api_upload_confirm
POST   401 401 401 401 404 404 403 202 202 202 403 404  api_upload_columns
POST   401 401 401 401 404 404 403 200 200 200 403 404  api_upload_discard api_removal_restore
POST   401 401 401 401 404 404 403 202 202 202 202 404  api_exports
GET    401 401 401 401 404 404 403 404 200 200 200 404  api_export api_export_file
POST   401 401 401 401 404 404 202 403 202 202 403 404  api_what_ifs
POST   401 401 401 401 404 404 200 403 200 200 403 404  api_exclusions
POST   401 401 401 401 404 201 201 201 201 201 403 404  api_annotators
GET    401 401 401 401 404 200 404 404 404 404 404 404  api_draw
POST   401 401 401 401 404 200 404 404 404 404 403 404  api_draw
POST   401 401 401 401 404 201 404 404 404 404 403 404  api_judgment
POST   401 401 401 401 404 204 404 404 404 404 403 404  api_skip
POST   401 401 401 401 404 409 404 404 404 404 403 404  api_undo
GET    200 200 200 200 200 200 200 200 200 200 200 200  api_schema api_docs
GET    404 404 404 404 404 404 404 404 404 404 404 404  api_nothing
POST   404 404 404 404 404 404 404 404 404 404 404 404  api_nothing
PUT    404 404 404 404 404 404 404 404 404 404 404 404  api_nothing
PATCH  404 404 404 404 404 404 404 404 404 404 404 404  api_nothing
DELETE 404 404 404 404 404 404 404 404 404 404 404 404  api_nothing
"""
CELLS = {
    (method, name): dict(zip(CALLERS, map(int, rest), strict=False))
    for method, *rest in map(str.split, MATRIX.strip().splitlines())
    for name in rest[len(CALLERS) :]
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def test_everybody_gets_what_the_matrix_says(world):
    found = {}
    for method, name in CELLS:
        for caller in CALLERS:
            with undone():
                response = world.call(caller, method, name)
                found[method, name, caller] = response.status_code
                if response.streaming:
                    assert b"".join(response.streaming_content)
                elif response.status_code >= 400:
                    assert set(response.json()) == {"error"}
    wrong = {cell: status for cell, status in found.items() if status != CELLS[cell[:2]][cell[2]]}
    assert wrong == {}


def test_the_matrix_forgets_no_address_and_no_method(world):
    """Only a class says which methods it takes: what is a function is tried."""
    there = {
        (method, pattern.name)
        for pattern in api_patterns()
        for method in METHODS
        if takes(getattr(pattern.callback, "view_class", None), method, pattern.name, world)
    }
    assert there == CELLS.keys()


def takes(view: type | None, method: str, name: str, world: World) -> bool:
    return hasattr(view, method.lower()) if view else world.call("owner", method, name).status_code != 405


def test_every_address_is_in_one_of_the_two_matrices():
    def names(resolver: URLResolver) -> Iterator[str]:
        for one in resolver.url_patterns:
            if isinstance(one, URLResolver):
                yield from names(one)
            else:
                yield one.name

    of_pages, of_api = [name for name, _address, _holes in pages()], [one.name for one in api_patterns()]
    assert sorted(of_pages + of_api) == sorted(names(get_resolver()))
    assert set(of_pages) == {name for _method, name, _visitor in PAGE_CELLS}
    assert set(of_api) == {name for _method, name in CELLS}


def test_whoever_came_by_a_link_does_nothing_through_the_api_not_even_what_is_theirs(world):
    mine = Annotator.objects.filter(study=world.study, user=None).latest("pk")
    assignment = judging.draw(mine)
    assert isinstance(assignment, Assignment)
    world.keys = Keys({**world.keys, ("key", "api_draw"): mine.key, "key": assignment.key})
    for name in ("api_draw", "api_judgment", "api_skip", "api_undo"):
        assert world.call("participant", "POST", name).status_code == 401
    assert world.clients["participant"].get(reverse("progress", args=[mine.key])).status_code == 200


def nested() -> list[tuple[str, str]]:
    """Addresses of things inside a study."""
    inside = {
        one.name
        for one in api_patterns()
        if "study_id" in one.pattern.converters and len(one.pattern.converters.keys() - {"analysis"}) > 1
    }
    return [cell for cell in CELLS if cell[1] in inside]


def test_what_lies_in_another_study_is_not_found_in_this_one(world):
    """Not even by somebody who owns both."""
    owner = making.owner(world.study)
    other = making.study(owner, title="Another")
    world.keys = furnish(other)
    world.keys["study_id"] = world.study.pk
    Annotator.objects.filter(study=other).update(user=owner)
    found = {cell: world.call("owner", *cell).status_code for cell in nested()}
    assert set(found.values()) == {404}, found


def test_what_is_not_there_looks_like_what_may_not_be_seen(world):
    """The same answer, to the letter."""
    hiding = [cell for cell in CELLS if CELLS[cell]["stranger"] == 404]
    assert hiding
    hidden = [world.call("stranger", *cell) for cell in hiding]
    world.keys = Keys(
        {
            key: uuid.uuid4() if isinstance(value, uuid.UUID) else 10**9 if isinstance(value, int) else value
            for key, value in world.keys.items()
        }
    )
    absent = [world.call("stranger", *cell) for cell in hiding]
    assert [(one.status_code, one.content) for one in hidden] == [(one.status_code, one.content) for one in absent]


def test_what_was_refused_left_no_trace(world):
    before = [Upload.objects.count(), Export.objects.count(), Assignment.objects.count(), Annotator.objects.count()]
    for method, name in CELLS:
        for caller in ("nobody", "participant", "revoked", "closed", "stranger", "narrow"):
            if CELLS[method, name][caller] >= 400:
                world.call(caller, method, name)
    after = [Upload.objects.count(), Export.objects.count(), Assignment.objects.count(), Annotator.objects.count()]
    assert after == before
    world.study.refresh_from_db()
    assert world.study.title == "Rain"


def test_whoever_leaves_the_study_sees_it_no_more(world):
    member = making.member(world.study, Role.RESEARCHER)
    client = program(member)
    path = world.path("api_study")
    assert client.get(path).status_code == 200
    members.remove_member(world.study, making.owner(world.study), member)
    assert client.get(path).status_code == 404


def test_a_browser_without_the_token_of_its_page_changes_nothing(world):
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(making.owner(world.study))
    assert client.get(world.path("api_study")).status_code == 200
    assert client.patch(world.path("api_study"), {"title": "Snow"}, format="json").status_code == 403


@pytest.mark.parametrize("method", [*METHODS, "OPTIONS", "TRACE", "PROPFIND"])
@pytest.mark.parametrize(
    "address", ["", "/", "/v1", "/v1/", "/v1/nothing", "/v1/nothing/", "/v2/me/", "/v1/studies/x/"]
)
def test_an_unknown_address_is_not_found_in_json_by_whoever_calls(address, method):
    """Also by browsers, signed in or not, that send no token against forged requests."""
    owner = making.person()
    callers = [APIClient(enforce_csrf_checks=True), APIClient(enforce_csrf_checks=True), program(owner)]
    callers[1].force_login(owner)
    callers[2].handler.enforce_csrf_checks = True
    for caller in callers:
        response = caller.generic(method, f"/api{address}", b"{}", content_type="application/json")
        assert (response.status_code, response["Content-Type"]) == (404, "application/json")
        assert response.json()["error"]["code"] == "not_found"


def test_the_description_is_only_read(world):
    client = APIClient(enforce_csrf_checks=True)
    assert [client.post(world.path(name)).status_code for name in ("api_schema", "api_docs")] == [405, 405]


def test_the_list_of_studies_is_each_ones_own(world):
    def listed(caller: str) -> list[str]:
        found = world.call(caller, "GET", "api_studies").json()["results"]
        return [one["title"] for one in found]

    assert listed("annotator") == []
    assert listed("stranger") == listed("narrow") == ["Elsewhere"]
    assert listed("reader") == ["Rain"]
    assert listed("owner") == listed("site") == ["Elsewhere", "Rain"]
