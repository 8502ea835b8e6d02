"""The website with something of everything in it, and everybody who might open a page."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import BaseForm
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from annotate import accounts, crowd, exports, imports, invitations, judging, webhooks
from annotate.forms import RecruitmentForm, StudyForm
from annotate.judging import what_if
from annotate.models import AccountSession, Annotator, Assignment, Item, Membership, Result, Study, Topic
from evaluation import tasks
from preferendum import formats
from preferendum.formats.questionnaire import Question
from preferendum.formats.records import HumanScore
from preferendum.results import Agreement, Bounded, StudyAgreement, to_json
from preferendum.results.agreement import AlphaPoint
from tests.annotate import making, scored
from tests.annotate.everything import Keys, untouched
from tests.annotate.making import TOPIC, Role, lines

#: Who comes, in the order of the matrix.
VISITORS = (
    "nobody",  # no cookie, and a forged one
    "token",  # no cookie, but a token for the API
    "revoked",  # signed in as the owner, whose account was closed since
    "expired",  # signed in as the owner, and signed out on the server since
    "participant",  # came by the invitation: the pair and the progress of the addresses are theirs
    "other",  # came by the same invitation: nothing in the addresses is theirs
    "annotator",  # an account that judges in the study: nothing in the addresses is theirs
    "outsider",  # an account that judges elsewhere
    "stranger",  # owns another study
    "admin",
    "researcher",
    "owner",
    "site",  # runs the installation
)
CONSENT = "You may stop at any time."

#: One of each kind.
QUESTIONS = (
    Question("Nickname?", "text"),
    Question("Hours a day?", "number"),
    Question("Native language?", "one", ("German", "English"), True),
    Question("You read:", "several", ("news", "law", "poems")),
    Question("Skill?", "scale", ("none", "some", "much")),
)

#: What is sent with a POST where something must be, so that whoever may do a thing does it.
BODIES: dict[str, dict[str, object]] = {
    "account": {"name": "x", "expires_at": "2100-01-01T12:00"},
    "account_reauthenticate": {"password": "a long enough password"},
    "mfa_authenticate": {"code": "wrong"},
    "password": {
        "old_password": "a long enough password",
        "new_password1": "seven unrelated words",
        "new_password2": "seven unrelated words",
    },
    "join": {"consent": "1"},
    "crowd": {"consent": "1"},
    "try": {"consent": "1"},
    "questionnaire": {"version": "1", "q0": "Anna", "q1": "7", "q2": "German", "q3": "news", "q4": "2"},
    "study_questionnaire": {
        "place": "after",
        "form-TOTAL_FORMS": "1",
        "form-INITIAL_FORMS": "0",
        "form-0-text": "Which?",
        "form-0-kind": "one",
        "form-0-options": "this\nthat",
        "form-0-required": "on",
    },
    "pair": {"answer": "left", "revision": "1", "seconds": "2"},
    "skip": {"reason": "other", "report": "fragment", "note": "A byline."},
    "demo": {"answer": "left"},
    "withdraw": {"answers": "erase"},
    "study_state": {"state": "paused"},
    "annotator_rest": {"rest": "on"},
    "annotator_find": {"find": "nobody"},
    "annotator_withdraw": {"answers": "erase"},
    "what_if_do": {"reason": "It is a test."},
    "study_delete": {"title": "Weather"},
    "member_role": {"role": "researcher"},
    "study_webhooks": {"address": "https://example.org/hook", "agreement_below": "0.4"},
    "study_members": {"role": "annotator", "label": "friends"},
    "upload_document": {"version": "0", "leave_out": "0"},
    "workbench": {"version": "1", "leave_out": "0"},
    "document_mend": {"sentences": "It\nrained.\nRivers rose.\nRoads closed."},
}


@cache
def pages() -> tuple[tuple[str, str, set[str]], ...]:
    """The name and the address of every page, with what stands in it; the API has a matrix of its own.

    What is below `/api/` and not among the API's own addresses counts as a page.
    """
    of_api = import_module("annotate.api.urls")

    def walk(resolver: URLResolver, before: str) -> Iterator[tuple[str, str, set[str]]]:
        for one in resolver.url_patterns:
            if isinstance(one, URLResolver) and one.urlconf_name is not of_api:
                yield from walk(one, before + str(one.pattern))
            elif isinstance(one, URLPattern):
                address = before + str(one.pattern)
                yield one.name or address, address, set(re.findall(r"<(?:\w+:)?(\w+)>", address))

    return tuple(walk(get_resolver(), ""))


@dataclass
class Website:
    """A study with something of everything in it, and who comes."""

    study: Study
    keys: Keys
    clients: dict[str, Client] = field(default_factory=dict)

    def again(self) -> Website:
        """The same in the hands of another test."""
        return Website(Study.objects.get(pk=self.study.pk), Keys(self.keys), untouched(self.clients))

    def path(self, name: str) -> str:
        ((_name, _address, holes),) = (page for page in pages() if page[0] == name)
        address = reverse(name, kwargs={hole: self.keys[hole, name] for hole in holes})
        return f"{address}{self.query(name)}"

    def query(self, name: str) -> str:
        if name == "crowd":
            return f"?PROLIFIC_PID={making.prolific(1)}"
        if name == "compare_in_topic":
            first, second = self.study.systems.values_list("pk", flat=True)[:2]
            return f"?first={first}&second={second}"
        return f"?key={self.keys['system_id', name]}" if name == "data_remove" else ""

    def body(self, name: str) -> dict[str, object]:
        """What whoever may do it sends to do it."""
        if name == "upload_new":
            return {"file": SimpleUploadedFile("topics.jsonl", lines(TOPIC | {"topic_id": "X"}))}
        if name == "study_demographics":
            return {"file": SimpleUploadedFile("demographics.csv", b"Participant id,Age\nnobody,40\n")}
        if name == "make_baselines":
            return {"words": 100}
        if name == "make_simulated":
            return {"source": "references", "per_topic": 5, "seed": 0}
        if name == "study_copy":
            return {"title": "Another"}
        if name == "study_new":
            return {"title": "Snow", "language": "en"}
        if name == "study_settings":
            return filled(StudyForm(instance=self.study)) | {"title": "Snow"}
        if name == "study_recruitment":
            return filled(RecruitmentForm(instance=crowd.recruitment_of(self.study))) | {"code_done": "D2"}
        if name == "gold_pairs":
            topic = self.keys["topic_id", name]
            last = [one.name for one in Item.objects.filter(item_set=topic).select_related("document")][-2:]
            return {"topic": topic, "use": "training"} | dict(zip(("better", "worse"), last, strict=False))
        if name == "data_remove":
            return {"key": self.keys["system_id", name]}
        return dict(BODIES.get(name, {}))

    def visit(self, visitor: str, method: str, name: str, address: str = ""):
        """Open a page as a visitor who comes for the first time: whatever it sets or takes away is gone afterwards."""
        body = self.body(name) if method == "POST" else {}
        address = address or self.path(name)
        client = self.clients[visitor]
        cookies = copy.deepcopy(client.cookies)
        try:
            if method in ("GET", "HEAD"):
                response = getattr(client, method.lower())(address)
            elif method == "POST":
                response = client.post(address, body)
            else:
                response = client.generic(method, address, b"x=1")
            response.said = b"".join(response.streaming_content) if response.streaming else response.content
            return response
        finally:
            client.cookies = cookies


def filled(form: BaseForm) -> dict[str, object]:
    """What a browser sends that changes nothing in a form."""
    return {one.html_name: value for one in form if (value := one.value()) is not None and value is not False}


def furnish(study: Study, visitor: Client) -> Keys:
    """Put into a scored study what its pages are about; what leads there, for somebody who comes by the invitation."""
    owner = making.owner(study)
    crowd.recruit(
        study, owner, consent=CONSENT, platform="prolific", code_done="D1", code_no_work="N1", code_screened_out="S1"
    )
    crowd.set_questionnaire(study, owner, QUESTIONS, "after")
    (apart,) = making.take_in(study, TOPIC | {"topic_id": "apart"})
    human = (HumanScore("snow", "=hat", "pyramid", 2.0), HumanScore("snow", "lead & co_", "pyramid", 1.0))
    imports.store(study, formats.Bundle(human_scores=human))
    scored.score_with_metrics(study)
    tasks.TASKS["rank_sentences"](scored.topic(study).pk)
    course = StudyAgreement(
        Agreement(2, 1, 1, *[Bounded(0.5, None, None)] * 3, why=""), (), (AlphaPoint(1, 0.1), AlphaPoint(2, 0.2))
    )
    Result.objects.create(study=study, analysis="annotators", record=to_json(course), computed_at=timezone.now())
    upload = making.receive(study, lines(TOPIC | {"topic_id": "new"}))
    imports.process(upload)
    export = exports.request_export(study, owner)
    exports.write_export(export)
    invitation = invitations.invite(study, owner)
    token = invitations.invitation_path(invitation).split("/")[2]
    visitor.post(reverse("join", args=[token]), {"consent": "1"})
    judge = Annotator.objects.filter(invitation=invitation).latest("pk")
    assignment = judging.draw(judge)
    assert isinstance(assignment, Assignment)
    making.forecast(study)
    mine, _secret = accounts.create_token(owner, "mine")
    hook = webhooks.create(study, owner, address="https://example.org/hook", agreement_below=0.4)
    webhooks.send_test(study, owner, hook)
    removal = imports.remove(study, owner, "reference", str(apart.references.get().pk))
    topic = Topic.objects.get(study=study, name="rain")
    better, worse = Item.objects.filter(item_set=topic.pk)[:2]
    person = making.member(study, Role.ADMIN)
    return Keys(
        {
            "study_id": study.pk,
            "analysis": "document-sets",
            "part": "scores",
            ("part", "analysis_tex"): "tests",
            **{("analysis", f"topic_analysis{form}"): "sentence-ranking" for form in ("", "_csv", "_tex")},
            **{("part", f"topic_analysis_{form}"): "agreement" for form in ("csv", "tex")},
            "user_id": person.pk,
            "invitation_id": invitation.pk,
            "topic_id": topic.pk,
            "document_id": topic.documents.first().pk,
            ("topic_id", "document_mend"): apart.pk,
            ("document_id", "document_mend"): apart.documents.get(name="d1").pk,
            ("topic_id", "workbench"): apart.pk,
            ("document_id", "workbench"): apart.documents.get(name="d1").pk,
            ("topic_id", "document_unmend"): apart.pk,
            ("document_id", "document_unmend"): apart.documents.get(name="d1").pk,
            "summary_id": topic.summaries.first().pk,
            "system_id": topic.summaries.first().system_id,
            "sentence_id": Item.objects.filter(item_set=topic.pk).first().pk,
            "token_id": mine.pk,
            "pk": 1,
            "webhook_id": hook.pk,
            "session_id": AccountSession.objects.get(session=signed_in(owner).session.session_key).pk,
            "number": 0,
            "side": "left",
            "name": "researchers",
            "uidb64": "x",
            ("token", "new_password"): "x",
            ("token", "email_confirm"): "x",
            "kind": "simulated",
            ("kind", "data_remove"): "system",
            ("key", "data_restore"): removal.key,
            "gold_pair_id": judging.prepare_pair(study, owner, better=better, worse=worse, use="gold").pk,
            "annotator_id": judge.pk,
            "key": judge.key,
            **dict.fromkeys([("key", "what_if"), ("key", "what_if_do")], what_if.ask(study, owner, [judge]).key),
            **{("key", name): assignment.key for name in ("pair", "ahead", "skip", "undo", "context", "sources")},
            **{
                ("key", name): upload.key
                for name in ("upload", "upload_columns", "upload_document", "upload_confirm", "upload_discard")
            },
            ("key", "export_file"): export.key,
            ("token", "join"): token,
            ("token", "crowd"): invitations.crowd_path(study.recruitment).split("/")[2],
            ("token", "sign_in_link"): invitations.sign_in_path(person, "/about/").split("/")[2],
        }
    )


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def website() -> Website:
    study, elsewhere = scored.scored_study(), making.study(title="Elsewhere")
    owner = making.owner(study)
    participant, other = Client(), Client()
    furnished = furnish(study, other)
    keys = furnish_again(study, furnished, participant)
    found = Website(study, keys)
    nobody = Client()
    nobody.cookies["session"] = "forged"
    _token, secret = accounts.create_token(owner, "program")
    closed = making.member(study, Role.OWNER)
    expired = signed_in(owner)
    found.clients = {
        "nobody": nobody,
        "token": Client(headers={"authorization": f"Bearer {secret}"}),
        "revoked": signed_in(closed),
        "expired": expired,
        "participant": participant,
        "other": other,
        "annotator": signed_in(making.member(study, Role.ANNOTATOR)),
        "outsider": signed_in(making.member(elsewhere, Role.ANNOTATOR)),
        "stranger": signed_in(making.owner(elsewhere)),
        "admin": signed_in(making.member(study, Role.ADMIN)),
        "researcher": signed_in(making.member(study, Role.RESEARCHER)),
        "owner": signed_in(owner),
        "site": signed_in(making.person(is_superuser=True)),
    }
    User.objects.filter(pk=closed.pk).update(is_active=False)
    expired.session.delete()
    Membership.objects.filter(user=closed).update(role=Role.OWNER)
    for name in ("annotator", "outsider"):
        user = User.objects.get(pk=found.clients[name].session["_auth_user_id"])
        judging.join(Study.objects.get(memberships__user=user), user=user)
    return found


def furnish_again(study: Study, keys: Keys, visitor: Client) -> Keys:
    """The addresses of somebody else who comes by the same invitation."""
    visitor.post(reverse("join", args=[keys["token", "join"]]), {"consent": "1"})
    judge = Annotator.objects.filter(study=study).latest("pk")
    assignment = judging.draw(judge)
    assert isinstance(assignment, Assignment)
    new = {("key", name): assignment.key for name in ("pair", "ahead", "skip", "undo", "context", "sources")}
    return Keys({**keys, **new, "key": judge.key, "annotator_id": judge.pk})
