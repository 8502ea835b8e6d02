"""`preferendum prolific`: between a real server and one that answers as the description of Prolific's API v1 does.

The description is that of docs.prolific.com (version 1.0.0 of “Prolific API for Data Collectors”) and of Prolific's own
command line at its state of 21 August 2026. In both, to pay a bonus twice pays twice, and it shows only after a while.
"""

from __future__ import annotations

import json
import threading
from _thread import interrupt_main
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connections

from annotate import accounts, crowd, judging
from annotate import studies as verbs
from annotate.models import Annotator, AnsweredQuestionnaire, Assignment, Participation, Study
from preferendum import client
from preferendum.cli import prolific
from preferendum.cli.__main__ import evaluate, main
from preferendum.cli.common import InputError
from preferendum.cli.prolific import Bonuses
from tests.annotate import making
from tests.annotate.judging_study import judged, prepare_pairs
from tests.annotate.test_crowd import crowd_study, finished
from tests.conftest import Web

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "adas-own-secret"
PAGE = 3
LONG = "Both attention checks that the instructions announce were answered otherwise than these instructions ask for."
DONE, EXCLUDED, SCREENED_OUT, EMPTY, HALF, STRANGER, WITHDREW, NO_WORK = map(making.prolific, range(1, 9))
Row = dict[str, Any]
Run = Callable[..., Row]


class Platform(ThreadingHTTPServer):
    """Studies and submissions by ID; `faults` to come by the end of a path, and what was `asked`, with its body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.studies: dict[str, Row] = {}
        self.submissions: dict[str, Row] = {}
        self.bulks: dict[str, list[tuple[str, float]]] = {}
        self.paid: Counter[str] = Counter()
        self.faults: list[tuple[str, object]] = []
        self.asked: list[tuple[str, str, Row]] = []
        self.demographics = ""
        self.before: dict[str, Callable[[], object]] = {}  # by path, what happens just then

    def show_bonuses(self) -> None:
        """Show what was paid, which takes a while."""
        for key, cents in self.paid.items():
            self.submissions[key]["bonus_payments"] = [cents]

    def submit(self, person: str, code: str | None = "DONE1", status: str = "AWAITING REVIEW") -> str:
        key = f"a{len(self.submissions):023d}"
        self.submissions[key] = {
            "id": key, "study_id": "p1", "participant": person, "status": status, "entered_code": code,
            "bonus_payments": [], "return_requested": None, "started_at": "2026-11-01T10:00:00Z",
        }  # fmt: skip
        return key

    def changes(self) -> list[tuple[str, Row]]:
        return [(path, body) for method, path, body in self.asked if method != "GET"]


class Answer(BaseHTTPRequestHandler):
    server: Platform

    def log_message(self, *_: object) -> None:
        return None

    def do_GET(self) -> None:
        self.answer({})

    def do_POST(self) -> None:
        self.answer(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0)))))

    do_PATCH = do_POST

    def answer(self, body: Row) -> None:
        platform, where = self.server, urlsplit(self.path)
        path, asked = where.path.removeprefix("/api/v1/"), {k: v[0] for k, v in parse_qs(where.query).items()}
        if self.headers.get("Authorization") != f"Token {SECRET}":
            return self.refuse(401, "Authentication credentials were not provided.")
        platform.asked.append((self.command, path, body))
        platform.before.pop(path, lambda: None)()
        fault = next((own for own in platform.faults if f"{self.command} {path}".endswith(own[0])), None)
        if fault:
            platform.faults.remove(fault)
            if isinstance(fault[1], int):
                return self.refuse(fault[1], "not now")
            if fault[1] == "after":
                self.act(path, asked, body, lambda *_: None)
            return self.connection.close()
        return self.act(path, asked, body, self.say)

    def act(self, path: str, asked: Row, body: Row, say: Callable[[int, object], None]) -> None:
        platform = self.server
        kind, key, verb = ([*path.strip("/").split("/"), "", ""])[:3]
        if path == "submissions/bonus-payments/":
            return self.set_up(body, say)
        if kind == "bulk-bonus-payments":
            for submission, amount in platform.bulks[key]:  # each time: this is not idempotent
                platform.paid[submission] += round(100 * amount)
            return say(202, f"Bulk bonus payment with ID {key} is being processed asynchronously.")
        rows = platform.studies if kind == "studies" else platform.submissions
        if not key:
            return self.make(body, say) if self.command == "POST" else self.list(kind, list(rows.values()), asked, say)
        if key not in rows:
            return self.refuse(404, "Not found.")
        row = rows[key]
        if self.command == "PATCH":
            row.update(body)
        elif verb == "transition" and not self.transition(row, body):
            return None
        elif verb == "demographic-export":
            assert body == {"filters": []}
            return self.send(200, "text/csv", platform.demographics.encode())
        elif verb == "request-return":
            assert body["request_return_reasons"]
            row["return_requested"] = "2026-11-28T12:00:00Z"
        return say(200, row)

    def transition(self, row: Row, body: Row) -> bool:
        wanted = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}[body["action"]]
        if body["action"] == "REJECT" and (len(body["message"]) < 100 or not body["rejection_category"]):
            self.refuse(400, {"message": ["It must be at least 100 chars long."]})
            return False
        if row["status"] not in ("AWAITING REVIEW", wanted):
            self.refuse(400, "This submission cannot be transitioned.")
            return False
        row["status"] = wanted
        return True

    def make(self, body: Row, say: Callable[[int, object], None]) -> None:
        needed = ("name", "description", "external_study_url", "prolific_id_option", "completion_codes", "reward")
        needed += ("total_available_places", "estimated_completion_time", "device_compatibility")
        assert all(body[name] for name in needed)
        key = f"p{len(self.server.studies) + 1}"
        self.server.studies[key] = body | {"id": key, "status": "UNPUBLISHED", "presentment_currency_code": "GBP"}
        say(201, self.server.studies[key])

    def set_up(self, body: Row, say: Callable[[int, object], None]) -> None:
        rows = [line.split(",") for line in body["csv_bonuses"].splitlines()]
        if wrong := [key for key, _amount in rows if key not in self.server.submissions]:
            return self.refuse(400, f"not in the study: {wrong}")
        key = f"b{len(self.server.bulks)}"
        self.server.bulks[key] = [(submission, float(amount)) for submission, amount in rows]
        cents = round(100 * sum(amount for _key, amount in self.server.bulks[key]), 2)
        return say(201, {"id": key, "study": body["study_id"], "amount": cents, "total_amount": cents * 4 / 3})

    def list(self, kind: str, rows: list[Row], asked: Row, say: Callable[[int, object], None]) -> None:
        if kind == "studies":
            rows = [{name: row[name] for name in ("id", "internal_name", "status")} for row in rows]
        else:
            briefs = ("id", "study_id", "status", "started_at")
            rows = [
                {name: row[name] for name in briefs} | {"participant_id": row["participant"]}
                for row in rows if row["study_id"] == asked["study"]
            ]  # fmt: skip
        number = int(asked.get("page", 1))
        more = f"{self.server.url}/api/v1/{kind}/?page={number + 1}&study={asked.get('study', '')}"
        links = {"next": {"href": more if number * PAGE < len(rows) else None, "title": "Next"}}
        found = rows[(number - 1) * PAGE : number * PAGE]
        say(200, {"results": found, "_links": links, "meta": {"count": len(rows)}})

    def refuse(self, status: int, why: object) -> None:
        self.say(status, {"error": {"status": status, "title": "Refused", "error_code": 1, "detail": why}})

    def say(self, status: int, answer: object) -> None:
        self.send(status, "application/json", json.dumps(answer).encode())

    def send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def platform() -> Iterator[Platform]:
    with Platform() as platform:
        threading.Thread(target=platform.serve_forever, daemon=True).start()
        yield platform
        platform.shutdown()


@pytest.fixture
def study(transactional_db: None) -> Study:
    return crowd_study(sentences=16)


@pytest.fixture
def run(platform: Platform, web: Web, study: Study, monkeypatch: pytest.MonkeyPatch) -> Run:
    _token, secret = accounts.create_token(making.owner(study), "prolific", read_only=True)
    monkeypatch.setenv("PROLIFIC_URL", platform.url)
    monkeypatch.setenv("PROLIFIC_TOKEN", SECRET)
    monkeypatch.setenv("PREFERENDUM_TOKEN", secret)
    monkeypatch.setattr(client, "PATIENCE", 5.0)

    def run(*options: str) -> Row:
        said: Row = evaluate("prolific", f"{web.url}/studies/{study.pk}/", *options)
        assert SECRET not in json.dumps(said)
        return said

    return run


MONEY = ("--places", "20", "--minutes", "15", "--reward", "350")


@pytest.fixture
def published(run: Run, platform: Platform) -> Row:
    run(*MONEY, "--do")
    platform.asked.clear()
    platform.studies["p1"]["status"] = "ACTIVE"
    return platform.studies["p1"]


def all_kinds(study: Study, platform: Platform) -> dict[str, str]:
    """A participant of each kind has submitted; the submissions, by participant."""
    finished(study, DONE)
    annotator = finished(study, EXCLUDED).annotator
    assert annotator
    judging.exclude(annotator, making.owner(study), "Clicked through.")
    for person, outcome in ((SCREENED_OUT, "screened_out"), (NO_WORK, "no_work")):
        crowd.enter(study, person, "s")
        Participation.objects.filter(person=person).update(outcome=outcome)
    crowd.enter(study, EMPTY, "s")
    judged(crowd.enter(study, HALF, "s"))
    codes = {SCREENED_OUT: "OUT1", NO_WORK: "NOWORK1", EMPTY: "GUESS", HALF: None, STRANGER: None}
    kinds = (DONE, EXCLUDED, SCREENED_OUT, EMPTY, HALF, STRANGER, WITHDREW, NO_WORK)
    return {person: platform.submit(person, codes.get(person, "DONE1")) for person in kinds}


def steps(said: Row) -> dict[str, tuple[str, str]]:
    return {step["participant"]: (step["do"], step["record"]) for step in said["steps"]}


BY_RECORDS = {
    DONE: ("approve", "done"),
    EXCLUDED: ("ask to return", "excluded"),
    SCREENED_OUT: ("ask to return", "screened out"),
    EMPTY: ("ask to return", "no answer"),
    HALF: ("ask to return", "not finished"),
    STRANGER: ("ask to return", "unknown"),
    WITHDREW: ("(look)", "unknown"),
    NO_WORK: ("ask to return", "no work left"),
}


# The draft


def test_a_draft_has_our_link_and_codes_and_is_made_once(run: Run, platform: Platform) -> None:
    shown = run(*MONEY)
    assert [(step["do"], step["amount"]) for step in shown["steps"]] == [("make a draft", "70.00")]
    assert (platform.changes(), platform.studies) == ([], {})
    run(*MONEY, "--do")
    made = platform.studies["p1"]
    assert made["external_study_url"].endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}")
    assert made["prolific_id_option"] == "url_parameters"
    assert [code["code"] for code in made["completion_codes"]] == ["DONE1", "NOWORK1", "OUT1"]
    assert (made["reward"], made["total_available_places"], made["estimated_completion_time"]) == (350, 20, 15)
    assert run(*MONEY, "--do")["steps"] == []
    assert len(platform.studies) == 1


def test_a_draft_follows_the_study(run: Run, platform: Platform, study: Study) -> None:
    run(*MONEY, "--do")
    crowd.recruit(study, making.owner(study), code_done="DONE2")
    assert [step["do"] for step in run("--do")["steps"]] == ["change the draft"]
    assert platform.studies["p1"]["completion_codes"][0]["code"] == "DONE2"
    assert run("--do")["steps"] == []


def test_a_draft_whose_answer_was_lost_is_found(run: Run, platform: Platform) -> None:
    platform.faults += [("studies/", 503), ("studies/", "nothing")]  # a list is asked for again, and again
    run(*MONEY)
    platform.faults.append(("POST studies/", "after"))
    with pytest.raises(InputError, match="does not answer"):
        run(*MONEY, "--do")
    assert run(*MONEY, "--do")["steps"] == []
    assert len(platform.studies) == 1


def test_a_draft_needs_its_money_and_a_study_of_another_link_is_refused(run: Run, platform: Platform) -> None:
    with pytest.raises(InputError, match="--places, --minutes and --reward"):
        run("--do")
    platform.studies["p9"] = {
        "id": "p9",
        "status": "ACTIVE",
        "external_study_url": "https://elsewhere/?a=1",
        "reward": 9,
    }
    platform.submit(STRANGER)
    with pytest.raises(InputError, match="leads elsewhere"):
        run("p9", "--do")
    assert platform.changes() == []


# Reviewing


def test_each_is_treated_by_our_records_and_nothing_is_done_without_do(
    run: Run, platform: Platform, study: Study, published: Row
) -> None:
    keys = all_kinds(study, platform)
    shown = run()
    assert steps(shown) == BY_RECORDS
    assert shown["total"] == "3.50"
    assert platform.changes() == []
    done = run("--do")
    assert done["steps"] == shown["steps"]
    assert platform.submissions[keys[DONE]]["status"] == "APPROVED"
    asked = {row["participant"] for row in platform.submissions.values() if row["return_requested"]}
    assert asked == {EXCLUDED, SCREENED_OUT, EMPTY, HALF, STRANGER, NO_WORK}
    assert not any(row["status"] == "REJECTED" for row in platform.submissions.values())


def test_what_is_done_is_not_done_again(run: Run, platform: Platform, study: Study, published: Row) -> None:
    all_kinds(study, platform)
    run("--do")
    platform.asked.clear()
    again = run("--do")
    assert platform.changes() == []
    assert {step["do"] for step in again["steps"]} == {"(asked 2026-11-28)", "(look)"}


def test_a_rejection_needs_a_flag_and_a_reason_that_the_platform_takes(
    run: Run, platform: Platform, study: Study, published: Row
) -> None:
    keys = all_kinds(study, platform)
    with pytest.raises(InputError, match="100 characters"):
        run("--reject-excluded", "FAILED_CHECK", "--because", "Too short.")
    done = run("--reject-excluded", "FAILED_CHECK", "--because", LONG, "--reject-empty", "--do")
    rejected = {EXCLUDED: ("reject", "excluded"), EMPTY: ("reject", "no answer")}
    assert steps(done) == BY_RECORDS | rejected
    sent = {path.split("/")[1]: body for path, body in platform.changes() if body.get("action") == "REJECT"}
    assert sent[keys[EXCLUDED]] == {"action": "REJECT", "message": LONG, "rejection_category": "FAILED_CHECK"}
    assert sent[keys[EMPTY]]["rejection_category"] == "NO_DATA"
    assert {row["participant"] for row in platform.submissions.values() if row["status"] == "REJECTED"} == {*rejected}


def test_who_judged_all_but_did_not_take_the_code_is_approved(
    run: Run, platform: Platform, study: Study, published: Row
) -> None:
    annotator = crowd.enter(study, DONE, "s")
    while isinstance(judging.draw(annotator), Assignment):
        judged(annotator)
    assert Annotator.objects.get(pk=annotator.pk).finished_at
    platform.submit(DONE, None)
    assert steps(run()) == {DONE: ("approve", "working")}


def test_all_pages_are_read_and_submissions_of_other_studies_left_alone(
    run: Run, platform: Platform, study: Study, published: Row
) -> None:
    for _number in range(2 * PAGE + 1):
        platform.submit(STRANGER, None)
    platform.submissions[platform.submit(STRANGER, None)]["study_id"] = "p2"
    assert len(run()["steps"]) == 2 * PAGE + 1


@pytest.mark.parametrize("fault", [429, 503, "nothing", "after"])
def test_an_approval_survives_a_fault(
    run: Run, platform: Platform, study: Study, published: Row, fault: object
) -> None:
    finished(study, DONE)
    key = platform.submit(DONE)
    platform.faults.append(("transition/", fault))
    run("--do")
    assert platform.submissions[key]["status"] == "APPROVED"
    assert run("--do")["steps"] == []


def test_after_a_broken_connection_nobody_is_asked_twice(
    run: Run, platform: Platform, study: Study, published: Row
) -> None:
    platform.submit(STRANGER, None)
    platform.faults.append(("request-return/", "after"))
    with pytest.raises(InputError, match="does not answer"):
        run("--do")
    run("--do")
    assert len(platform.changes()) == 1


def test_a_refusal_of_one_submission_holds_up_no_other(
    run: Run, platform: Platform, study: Study, published: Row
) -> None:
    finished(study, DONE)
    finished(study, NO_WORK)
    keys = [platform.submit(DONE), platform.submit(NO_WORK)]
    platform.faults.append((f"{keys[0]}/transition/", 400))
    said = run("--do")["steps"]
    assert [(step["do"], step["why"]) for step in said] == [("(refused)", "Refused: not now"), ("approve", "")]
    assert platform.submissions[keys[1]]["status"] == "APPROVED"


def test_who_finishes_while_the_command_reads_is_not_asked_to_return(
    run: Run, platform: Platform, study: Study, published: Row
) -> None:
    annotator = crowd.enter(study, HALF, "s")
    judged(annotator)

    def finish() -> None:
        while isinstance(judging.draw(annotator), Assignment):
            judged(annotator)
        platform.submit(HALF)
        connections.close_all()

    platform.before["submissions/"] = finish
    assert steps(run("--do"))[HALF][0] == "approve"


def test_of_several_submissions_of_a_participant_none_is_approved_unseen(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path
) -> None:
    finished(study, DONE)
    keys = [platform.submit(DONE), platform.submit(DONE), platform.submit(DONE, status="RETURNED")]
    assert [step["do"] for step in run("--bonuses", str(rule), "--do")["steps"]] == ["(look)", "(look)"]
    platform.submissions[keys[0]]["status"] = "APPROVED"
    assert [step["do"] for step in run("--do")["steps"]] == ["(look)"]
    platform.submissions[keys[1]]["status"] = "APPROVED"
    run("--bonuses", str(rule), "--do")
    platform.show_bonuses()
    Path(f"{rule}.sent-1").unlink()
    run("--bonuses", str(rule), "--do")
    assert platform.paid == {keys[0]: 15}


def test_who_is_rejected_by_hand_meanwhile_gets_nothing(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path
) -> None:
    finished(study, DONE)
    key = platform.submit(DONE, status="APPROVED")
    platform.before[f"submissions/{key}/"] = lambda: platform.submissions[key].update(status="REJECTED")
    assert run("--bonuses", str(rule), "--do")["steps"] == []
    assert platform.changes() == []


def test_who_took_part_through_another_study_of_the_platform_is_not_paid_again(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path
) -> None:
    platform.studies["p2"] = published | {"id": "p2", "internal_name": ""}
    first, second = platform.submit(DONE), platform.submit(DONE)
    platform.submissions[second]["study_id"] = "p2"
    crowd.enter(study, DONE, first)
    finished(study, DONE)
    Participation.objects.update(session=first)
    run("p1", "--bonuses", str(rule), "--do")
    Path(f"{rule}.sent-1").unlink()
    for status in ("AWAITING REVIEW", "APPROVED"):
        platform.submissions[second]["status"] = status
        (said,) = run("p2", "--bonuses", str(rule), "--do")["steps"]
        assert (said["do"], said["why"]) == ("(look)", f"Took part here in another submission, {first}")
    assert platform.submissions[first]["status"] == "APPROVED"
    assert platform.paid == {first: 15}


def test_who_answered_practice_alone_is_not_rejected_as_empty(
    run: Run, platform: Platform, study: Study, published: Row
) -> None:
    verbs.change_settings(study, making.owner(study), training=True)
    study.refresh_from_db()
    prepare_pairs(study, "training", 2)
    annotator = crowd.enter(study, HALF, "s")
    judged(annotator)
    assert Annotator.objects.get(pk=annotator.pk).judged == 0
    platform.submit(HALF, None)
    assert steps(run("--reject-empty")) == {HALF: ("ask to return", "not finished")}


def test_a_draft_that_leads_elsewhere_is_left_alone(run: Run, platform: Platform) -> None:
    theirs = {"id": "p9", "status": "UNPUBLISHED", "external_study_url": "https://elsewhere/?a=1", "reward": 9}
    platform.studies["p9"] = dict(theirs)
    with pytest.raises(InputError, match="leads elsewhere"):
        run("p9", "--do")
    platform.studies["p9"]["external_study_url"] = ""
    run("p9", "--do")
    assert platform.studies["p9"]["completion_codes"]


# Bonuses


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    file = tmp_path / "bonus.json"
    file.write_text('{"per_judgment": 0.05, "most": 2}', encoding="utf-8")
    return file


def test_a_bonus_goes_once_to_whoever_is_approved_and_not_excluded(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path
) -> None:
    keys = all_kinds(study, platform)
    platform.submissions[keys[EXCLUDED]]["status"] = "APPROVED"
    shown = run("--bonuses", str(rule))
    assert [(step["participant"], step["amount"]) for step in shown["steps"] if step["do"] == "bonus"] == [
        (DONE, "0.15")
    ]
    assert shown["total"] == "3.65"
    assert platform.changes() == []
    run("--bonuses", str(rule), "--do")
    assert platform.paid == {keys[DONE]: 15}
    before_it_shows = run("--bonuses", str(rule), "--do")
    assert ("(bonus sent before)", "0.15") in {(step["do"], step["amount"]) for step in before_it_shows["steps"]}
    platform.show_bonuses()
    Path(f"{rule}.sent-1").unlink()
    run("--bonuses", str(rule), "--do")
    assert platform.paid == {keys[DONE]: 15}


@pytest.mark.parametrize("fault", [500, 503, "nothing", "after"])
def test_an_order_to_pay_is_never_repeated(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path, fault: object
) -> None:
    finished(study, DONE)
    platform.submit(DONE)
    platform.faults.append(("/pay/", fault))
    with pytest.raises(InputError, match=r"only if not, delete .*sent-1"):
        run("--bonuses", str(rule), "--do")
    run("--bonuses", str(rule), "--do")
    assert sum(path.endswith("/pay/") for path, _body in platform.changes()) == 1


@pytest.mark.parametrize(("where", "fault"), [("bonus-payments/", 503), ("bonus-payments/", "after"), ("/pay/", 400)])
def test_what_surely_was_not_paid_is_paid_by_the_next_run(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path, where: str, fault: object
) -> None:
    finished(study, DONE)
    key = platform.submit(DONE)
    platform.faults.append((where, fault))
    with pytest.raises(InputError):
        run("--bonuses", str(rule), "--do")
    assert not platform.paid
    run("--bonuses", str(rule), "--do")
    assert platform.paid == {key: 15}


def test_of_two_runs_at_once_one_pays(run: Run, platform: Platform, study: Study, published: Row, rule: Path) -> None:
    finished(study, DONE)
    key = platform.submit(DONE)
    outcomes: list[object] = []

    def pay() -> None:
        try:
            outcomes.append(run("--bonuses", str(rule), "--do"))
        except InputError as refused:
            outcomes.append(refused)

    together = [threading.Thread(target=pay) for _number in range(3)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    assert len(outcomes) == 3
    assert platform.paid == {key: 15}


@pytest.mark.parametrize("other", ["bonus.json", "bonus[1].json", "mended.json"])
def test_another_rule_beside_it_pays_nobody_again(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path, other: str
) -> None:
    finished(study, DONE)
    key = platform.submit(DONE)
    first = rule.rename(rule.with_name("bonus[1].json"))
    run("--bonuses", str(first), "--do")
    second = first.rename(rule.with_name(other))
    (said,) = run("--bonuses", str(second), "--do")["steps"]
    assert (said["do"], said["why"]) == ("(bonus sent before)", "noted in bonus[1].json.sent-1")
    assert platform.paid == {key: 15}


def test_a_copy_of_a_note_is_a_note(run: Run, platform: Platform, study: Study, published: Row, rule: Path) -> None:
    finished(study, DONE)
    key = platform.submit(DONE)
    run("--bonuses", str(rule), "--do")
    Path(f"{rule}.sent-1").rename(f"{rule}.sent-1.bak")
    run("--bonuses", str(rule), "--do")
    assert platform.paid == {key: 15}


def test_stopped_before_the_order_it_notes_nothing(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path
) -> None:
    finished(study, DONE)
    key = platform.submit(DONE)
    platform.before["submissions/bonus-payments/"] = interrupt_main
    with pytest.raises(KeyboardInterrupt):
        run("--bonuses", str(rule), "--do")
    assert not list(rule.parent.glob("*.sent-*"))
    run("--bonuses", str(rule), "--do")
    assert platform.paid == {key: 15}


def test_another_rule_at_the_same_time_pays_nobody_again(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path
) -> None:
    finished(study, DONE)
    key = platform.submit(DONE)
    other = rule.with_name("other.json")
    other.write_text(rule.read_text(encoding="utf-8"), encoding="utf-8")
    platform.before["submissions/"] = lambda: run("--bonuses", str(other), "--do")
    with pytest.raises(InputError, match=r"other.json.sent-1 is there by now"):
        run("--bonuses", str(rule), "--do")
    assert platform.paid == {key: 15}
    assert [note.name for note in rule.parent.glob("*.sent-*")] == ["other.json.sent-1"]


def test_bonuses_that_cannot_be_noted_are_paid_by_the_next_run(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(study, DONE)
    key = platform.submit(DONE)

    def is_full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("preferendum.cli.prolific.os.fsync", is_full)
        with pytest.raises(OSError, match="No space"):
            run("--bonuses", str(rule), "--do")
    assert not platform.paid
    run("--bonuses", str(rule), "--do")
    assert platform.paid == {key: 15}


def test_many_bonuses_go_in_orders_that_the_platform_takes(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prolific, "AT_ONCE", 2)
    keys = []
    for person in (DONE, NO_WORK, HALF):
        finished(study, person)
        keys.append(platform.submit(person))
    platform.faults.append(("b1/pay/", "nothing"))
    with pytest.raises(InputError, match=r"only if not, delete .*sent-2"):
        run("--bonuses", str(rule), "--do")
    assert platform.paid == {keys[0]: 15, keys[1]: 15}
    Path(f"{rule}.sent-2").unlink()
    run("--bonuses", str(rule), "--do")
    assert platform.paid == dict.fromkeys(keys, 15)


def test_a_rule_is_capped_and_rewards_passed_gold_pairs(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path
) -> None:
    amounts = {"per_judgment": "0.015", "gold_passed": "1", "gold_share": "0.8", "most": "2"}
    bonuses = Bonuses({name: Decimal(value) for name, value in amounts.items()}, {}, rule, frozenset())
    assert bonuses.of({"judged": 7, "gold": None}) == Decimal("0.10")
    assert bonuses.of({"judged": 7, "gold": {"value": None}}) == Decimal("0.10")
    assert bonuses.of({"judged": 7, "gold": {"value": 0.79}}) == Decimal("0.10")
    assert bonuses.of({"judged": 7, "gold": {"value": 0.8}}) == Decimal("1.10")
    assert bonuses.of({"judged": 1000, "gold": {"value": 1.0}}) == Decimal(2)


@pytest.mark.parametrize(
    "text",
    [
        '{"per_judgment": 0.05}',
        '{"most": 1, "x": 2}',
        '{"most": -1}',
        "[]",
        '{"most": NaN}',
        '{"per_judgment": true, "most": 9}',
        '{"gold_passed": 1, "gold_share": 80, "most": 9}',
    ],
)
def test_a_rule_that_is_none_pays_nothing(
    run: Run, platform: Platform, study: Study, published: Row, rule: Path, text: str
) -> None:
    rule.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is no rule"):
        run("--bonuses", str(rule), "--do")
    assert platform.changes() == []


# Demographic data


def test_demographic_data_are_fetched_and_joined_to_annotators(
    run: Run, platform: Platform, study: Study, published: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(study, DONE)
    finished(study, NO_WORK)
    platform.demographics = (
        "Submission id,Participant id,Status,Completion code,Age,Sex\n"
        f"s1,{DONE},APPROVED,DONE1,40,Female\ns2,{NO_WORK},APPROVED,DONE1,CONSENT_REVOKED,CONSENT_REVOKED\n"
        f"s3,{STRANGER},RETURNED,,30,Male\n"
    )
    assert [step["do"] for step in run("--demographics")["steps"]] == ["join demographics"]
    assert platform.changes() == []
    with pytest.raises(InputError, match="read-only"):
        run("--demographics", "--do")
    _token, secret = accounts.create_token(making.owner(study), "joins")
    monkeypatch.setenv("PREFERENDUM_TOKEN", secret)
    (said,) = run("--demographics", "--do")["steps"]
    assert said["why"] == "1 stored, 1 revoked, 0 expired, 1 unknown"
    answered = AnsweredQuestionnaire.objects.get(questionnaire__place="platform")
    assert answered.annotator.participation.person == DONE
    assert answered.answers == {"Prolific: Age": 40.0, "Prolific: Sex": "Female"}


def test_without_demographic_data_nothing_is_sent(run: Run, platform: Platform, study: Study, published: Row) -> None:
    assert [step["do"] for step in run("--demographics", "--do")["steps"]] == ["(look)"]


# Around


def test_the_terminal_shows_a_table_with_amounts_and_total(
    run: Run, platform: Platform, web: Web, study: Study, published: Row, capsysbinary: Any
) -> None:
    finished(study, DONE)
    platform.submit(DONE)
    assert main(["prolific", f"{web.url}/studies/{study.pk}/"]) == 0
    shown = capsysbinary.readouterr().out.decode()
    assert "Nothing was done" in shown
    assert "approve: 1, 3.50 GBP" in shown
    assert "Total: 3.50 GBP, without Prolific's fees." in shown


def test_each_side_says_what_it_refuses(
    run: Run, study: Study, platform: Platform, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PROLIFIC_TOKEN", "PREFERENDUM_TOKEN"):
        with monkeypatch.context() as patched:
            patched.delenv(name)
            with pytest.raises(InputError, match=f"{name} not set"):
                run()
    with monkeypatch.context() as patched:
        patched.setenv("PROLIFIC_TOKEN", "wrong")
        with pytest.raises(InputError, match="credentials were not provided"):
            run()
    with monkeypatch.context() as patched:
        patched.setenv("PROLIFIC_URL", f"{web.url}/docs/?")
        with pytest.raises(InputError, match="is no API of Prolific"):
            run()
    crowd.recruit(study, making.owner(study), platform="generic")
    with pytest.raises(InputError, match="does not recruit from Prolific"):
        run()
