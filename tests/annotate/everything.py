"""A study with something of everything in it, and everybody who might call."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client, override_settings
from django.urls import URLPattern, get_resolver, reverse
from rest_framework.test import APIClient

from annotate import accounts, exports, imports, invitations, judging, webhooks
from annotate.judging import what_if
from annotate.models import Annotator, Membership, Study, Token
from tests.annotate import making
from tests.annotate.making import TOPIC, Role, lines
from tests.conftest import seed

#: What is sent where something must be.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "api_tokens"): {"name": "x"},
    ("POST", "api_studies"): {"title": "T", "question": "Q?"},
    ("PATCH", "api_study"): {"title": "Snow"},
    ("DELETE", "api_study"): {"title": "Rain"},
    ("POST", "api_study_copies"): {"title": "Hail", "with_topics": True},
    ("PATCH", "api_member"): {"role": "admin"},
    ("POST", "api_invitations"): {"label": "friends"},
    ("PATCH", "api_document"): {"sentences": ["Schools", "closed. Nobody was hurt."]},
    ("PATCH", "api_sentence"): {"to_judge": False},
    ("POST", "api_uploads"): {"topic_id": "X"},
    ("POST", "api_baselines"): {"words": 100},
    ("POST", "api_upload_columns"): {"columns": {"topic": ["doc"], "system": ["who"], "text": ["said"]}},
    ("POST", "api_simulated"): {"per_topic": 5},
    ("PUT", "api_demographics"): b"Participant id,Age\nnobody,40\n",
    ("PUT", "api_given_metrics"): b"topic,system,metric,score\nM1,lead,BERTScore,0.5\n",
    ("POST", "api_what_ifs"): {"annotators": ["machine"]},
    ("POST", "api_exclusions"): {"annotators": ["machine"], "reason": "It is a test."},
    ("POST", "api_annotators"): {"pseudonym": "a machine"},
    ("POST", "api_judgment"): {"revision": 1, "answer": "left"},
    ("POST", "api_skip"): {"reason": "other", "report": "same", "note": "Twice."},
    ("POST", "api_webhooks"): {"address": "https://example.org/hook", "agreement_below": 0.4},
    ("POST", "api_removals"): {"kind": "human_scores", "key": "responsiveness"},
}


@dataclass
class World:
    """A study with something of everything in it, and who calls."""

    study: Study
    keys: dict[str, object]
    clients: dict[str, APIClient] = field(default_factory=dict)

    def again(self) -> World:
        """The same in the hands of another test."""
        return World(Study.objects.get(pk=self.study.pk), Keys(self.keys), untouched(self.clients))

    def path(self, name: str) -> str:
        (pattern,) = (one for one in api_patterns() if one.name == name)
        return reverse(name, kwargs={key: self.keys[key, name] for key in pattern.pattern.regex.groupindex})

    def call(self, caller: str, method: str, name: str):
        body = BODIES.get((method, name))
        sent = body if isinstance(body, bytes) else making.lines(body) if body else b""
        return self.clients[caller].generic(method, self.path(name), sent, content_type="application/json")


def api_patterns() -> list[URLPattern]:
    """Every address of the API; one that includes others would need a test that looks into it."""
    found = get_resolver("annotate.api.urls").url_patterns
    assert all(isinstance(one, URLPattern) for one in found)
    return found


class Keys(dict):
    """What stands in an address: by name, or by name and the address's name where it depends on that."""

    def __missing__(self, key):
        name, _address = key
        return self[name]


def program(user, **narrowed) -> APIClient:
    client = APIClient()
    _token, secret = accounts.create_token(user, "test", **narrowed)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def furnish(study: Study) -> Keys:
    """Put something of everything into a study; what leads to it."""
    owner = making.owner(study)
    # The mended topic must be one that nobody judges: judging draws from the other.
    apart, judged = making.take_in(study, TOPIC, TOPIC | {"topic_id": "M2"})
    making.prepare(judged)
    upload = making.receive(study, lines(TOPIC | {"topic_id": "M3"}))
    imports.process(upload)
    table = making.receive(study, b"doc,who,said\nM9,lead,It rained.\nM9,tail,It rained on.\n", "table.csv")
    imports.process(table)
    export = exports.request_export(study, owner)
    exports.write_export(export)
    judge = judging.join(
        study, user=making.member(study, Role.ANNOTATOR), kind=Annotator.Kind.MACHINE, pseudonym="machine"
    )
    assignment = judging.draw(judge)
    forecast = making.forecast(study)
    removal = imports.remove(study, owner, "reference", str(judged.references.get().pk))
    token, _secret = accounts.create_token(owner, "mine")
    return Keys(
        {
            "study_id": study.pk,
            "user_id": making.member(study, Role.ADMIN).pk,
            "invitation_id": invitations.invite(study, owner).pk,
            "topic_id": apart.pk,
            "document_id": apart.documents.get(name="d2").pk,
            "sentence_id": apart.sentence_set.items.first().pk,
            "summary_id": apart.summaries.first().pk,
            "system_id": apart.summaries.first().system_id,
            "analysis": "document-sets",
            ("analysis", "api_topic_result"): "sentence-ranking",
            "token_id": token.pk,
            "webhook_id": webhooks.create(study, owner, address="https://example.org/other").pk,
            "path": "no/such/thing/",
            "key": assignment.key,
            ("key", "api_draw"): judge.key,
            ("key", "api_what_if"): what_if.ask(study, owner, [judge]).key,
            ("key", "api_forecast"): forecast.key,
            ("key", "api_removal_restore"): removal.key,
            **{("key", f"api_upload{rest}"): upload.key for rest in ("", "_confirm", "_discard")},
            ("key", "api_upload_columns"): table.key,
            **{("key", f"api_export{rest}"): export.key for rest in ("", "_file")},
        }
    )


def everything() -> World:
    study, other = making.study(), making.study(title="Elsewhere")
    world = World(study, furnish(study))
    owner = making.owner(study)
    Membership.objects.create(study=other, user=owner, role=Role.RESEARCHER)
    closed = making.member(study, Role.RESEARCHER)
    world.clients = {
        "nobody": APIClient(),
        "participant": APIClient(),
        "revoked": program(owner),
        "closed": program(closed),
        "stranger": program(making.owner(other)),
        "annotator": program(Annotator.objects.get(study=study).user),
        "admin": program(making.member(study, Role.ADMIN)),
        "researcher": program(making.member(study, Role.RESEARCHER)),
        "owner": program(owner),
        "site": program(making.person(is_superuser=True)),
        "reader": program(owner, study=study, read_only=True),
        "narrow": program(owner, study=other),
    }
    world.clients["participant"].post(invitations.invitation_path(invitations.invite(study, owner)))
    User.objects.filter(pk=closed.pk).update(is_active=False)
    accounts.revoke_token(Token.objects.filter(user=owner, name="test").earliest("pk"), owner)
    return world


Made = TypeVar("Made")
AnyClient = TypeVar("AnyClient", bound=Client)


def made_once(make: Callable[[], Made]) -> Any:
    """A fixture: what this makes once for all tests of a module, with the folder of its files.

    It stands in an open transaction, so that each test takes back what it changes: not for tests that commit.
    """

    @pytest.fixture(scope="module")
    def made(
        django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[tuple[Made, Path]]:
        files = tmp_path_factory.mktemp("files")
        with django_db_blocker.unblock(), undone():
            with pytest.MonkeyPatch.context() as patched, override_settings(MEDIA_ROOT=files):
                seed(patched, make.__qualname__)
                result = make()
            yield result, files

    return made


def study_once(make: Callable[[], Study]) -> tuple[Any, Any]:
    """Two fixtures, `made_study` and the one that tests ask for: the study that this makes once for a module."""

    @pytest.fixture
    def study(made_study: tuple[Study, Path]) -> Study:
        return Study.objects.get(pk=made_study[0].pk)

    return made_once(make), study


def untouched(clients: Mapping[str, AnyClient]) -> dict[str, AnyClient]:
    """The same callers, with the cookies that they have now, whatever these get."""
    copies = {name: copy.copy(client) for name, client in clients.items()}
    for client in copies.values():
        client.cookies = copy.deepcopy(client.cookies)
    return copies


@contextmanager
def undone() -> Iterator[None]:
    """What is done inside is undone, as if each caller came alone."""
    block = transaction.atomic()
    block._from_testcase = True  # so that judging may insist on a transaction of its own
    with block:
        yield
        transaction.set_rollback(True)
