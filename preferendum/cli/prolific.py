"""`prolific`: a study's participants on Prolific, recruited, reviewed and paid by what our server knows of them.

Two servers, two tokens, and neither sees the other's. What is done already is found on Prolific. Bonuses are money that
it pays some time after the order, and again after a second one: each is noted in a file before the order is sent.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_DOWN, Decimal
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from preferendum.cli.common import Command, InputError, Output, positive
from preferendum.cli.tables import Table
from preferendum.client import PAGE, TOKEN, TRY_AGAIN, Api, ApiError, Row, Study

THEIRS = "PROLIFIC_TOKEN"
RULE = ("per_judgment", "gold_passed", "gold_share", "most")
#: Submissions that we decide about, and that were accepted; to all others nothing is owed.
OPEN = AWAITS, APPROVED = "AWAITING REVIEW", "APPROVED"
SHORTEST_REJECTION = 100  # characters, as Prolific has it
SUBMISSION = re.compile("[0-9a-f]{24}")  # which is the session that a participant brings in their link
AT_ONCE = 200  # bonuses, the most that Prolific pays by an order
EMPTY = (
    "You submitted this study, but no answer of yours has arrived: our records show that you opened it and did not "
    "judge a single pair of texts, so there is nothing that we could use."
)


class Prolific(Api):
    """Requests to Prolific."""

    owner = "Prolific"

    def __init__(self, token: str) -> None:
        super().__init__(os.environ.get("PROLIFIC_URL", "https://api.prolific.com"), token, "Token")

    def rows(self, path: str, **asked: Any) -> Iterator[Row]:
        """Every row of a list, each once, however the pages move while they are read."""
        seen: set[str] = set()
        while asked:
            page = self.get(path, **asked)
            yield from (row for row in page["results"] if row["id"] not in seen)
            seen.update(row["id"] for row in page["results"])
            following = ((page.get("_links") or {}).get("next") or {}).get("href") or ""
            asked = dict(parse_qsl(urlsplit(following).query))  # the token goes to no address but theirs

    def change(self, path: str, sent: Row, method: str = "POST", *, is_repeatable: bool = False) -> bytes:
        """The answer. What may not arrive twice is sent again after 429 alone, which says that it was not done."""
        again = (0, *TRY_AGAIN) if is_repeatable else (429,)
        headers = {"Content-Type": "application/json"}
        return self._send(method, path, json.dumps(sent).encode(), headers, try_again=again)


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done, to whom, why, and what it costs without fees. `do`: nothing where it begins with "("."""

    do: str
    participant: str = ""
    submission: str = ""
    record: str = ""
    amount: Decimal | None = None
    category: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Bonuses:
    """The rule of a `file`; the `notes` in its folder of bonuses that were sent, by any rule; and of each submission
    that they name, the name of the note."""

    rule: Mapping[str, Decimal]
    sent: Mapping[str, str]
    file: Path
    notes: frozenset[Path]

    def of(self, person: Row) -> Decimal:
        """What a participant gets, rounded down to whole cents."""
        share = (person["gold"] or {"value": None})["value"]
        has_passed = share is not None and share >= float(self.rule.get("gold_share", 1))
        earned: Decimal = self.rule.get("per_judgment", Decimal()) * person["judged"]
        earned += self.rule.get("gold_passed", Decimal()) * has_passed
        capped: Decimal = min(earned, self.rule["most"])
        return capped.quantize(Decimal("0.01"), ROUND_DOWN)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study here and there, what may be done, and what a new draft needs."""
    parser.add_argument("study", metavar="STUDY-ADDRESS", help="as a browser shows it")
    parser.add_argument("theirs", metavar="PLATFORM-STUDY-ID", nargs="?", help="default: the one that this made")
    parser.add_argument("--do", action="store_true", help="do it (default: only show what would be done)")
    parser.add_argument("--demographics", action="store_true", help="join what Prolific knows of participants")
    parser.add_argument("--bonuses", metavar="RULE.json", type=Path, help="pay bonuses by the rule in this file")
    group = parser.add_argument_group("a new draft on Prolific, which you publish there")
    group.add_argument("--places", metavar="N", type=positive, help="participants")
    group.add_argument("--minutes", metavar="N", type=positive, help="how long it takes")
    group.add_argument("--reward", metavar="CENTS", type=positive, help="what each gets: 350 is 3.50")
    group = parser.add_argument_group("rejecting, in place of asking to return")
    group.add_argument("--reject-excluded", metavar="CATEGORY", help="Prolific's, such as FAILED_CHECK or LOW_EFFORT")
    group.add_argument("--because", metavar="TEXT", default="", help="what those whom you excluded are told")
    group.add_argument("--reject-empty", action="store_true", help="those who submitted without any answer")


def run(options: argparse.Namespace) -> Output:
    """The steps, done if they may be. Raises `InputError` where either side refuses."""
    if missing := [name for name in (TOKEN, THEIRS) if not os.environ.get(name)]:
        raise InputError(f"{' and '.join(missing)} not set: make tokens on our server's account page and on Prolific's")
    if options.reject_excluded and len(options.because) < SHORTEST_REJECTION:
        raise InputError(f"Prolific asks for a reason of {SHORTEST_REJECTION} characters or more: --because TEXT")
    try:
        study, prolific = Study(options.study, os.environ[TOKEN]), Prolific(os.environ[THEIRS])
        ours = study.recruitment()
        if ours["platform"] != "prolific":
            raise InputError("This study does not recruit from Prolific: see People, Recruitment")
        theirs = _found(prolific, study.address, options.theirs)
        steps = list(_drafted(prolific, study, ours, theirs, options))
        if theirs and theirs["status"] != "UNPUBLISHED":
            steps += _joined(prolific, study, theirs, options) if options.demographics else ()
            steps += _reviewed(prolific, study, ours, theirs, options)
    except (ApiError, ValueError) as refused:
        raise InputError(str(refused)) from refused
    return _output(steps, options.do, theirs or {})


def _found(prolific: Prolific, address: str, key: str | None) -> Row | None:
    """The study on Prolific: by its ID, or by the name that a draft of this command has."""
    if key is None:
        keys = [own["id"] for own in prolific.rows("studies/", page_size=PAGE) if own.get("internal_name") == address]
        if len(keys) > 1:
            raise InputError(f"Several studies on Prolific are of this one; name one by its ID: {', '.join(keys)}")
        key = keys[0] if keys else None
    return prolific.get(f"studies/{key}/") if key else None


def _drafted(
    prolific: Prolific, study: Study, ours: Row, theirs: Row | None, options: argparse.Namespace
) -> Iterator[Step]:
    """Make the draft, or bring it up to date; a published study is only checked."""
    codes = {code: name for name in ("done", "no_work", "screened_out") if (code := ours[f"code_{name}"])}
    review = [{"action": "MANUALLY_REVIEW"}]
    completion = [
        {"code": code, "code_type": "COMPLETED" if name == "done" else "OTHER", "actions": review}
        for code, name in codes.items()
    ]
    money = {"total_available_places": options.places, "estimated_completion_time": options.minutes}
    money |= {"reward": options.reward}
    sent: Row = {name: value for name, value in money.items() if value is not None}
    sent |= {"external_study_url": ours["link"], "prolific_id_option": "url_parameters"}
    if theirs is None:
        if None in money.values():
            raise InputError("No study on Prolific is of this one: give its ID, or --places, --minutes and --reward")
        if options.do:
            prolific.change("studies/", _described(study) | sent | {"completion_codes": completion})
        yield Step("make a draft", amount=Decimal(options.reward * options.places) / 100, why=ours["link"])
        return
    unknown = codes.keys() - {own["code"] for own in theirs.get("completion_codes") or ()}
    leads = (theirs.get("external_study_url") or "").partition("?")[0]
    is_draft = theirs["status"] == "UNPUBLISHED"
    may_lead_elsewhere = is_draft and (not leads or theirs.get("internal_name") == study.address)
    if leads != ours["link"].partition("?")[0] and not may_lead_elsewhere:
        raise InputError(f"Study {theirs['id']} on Prolific is not of this one: it leads elsewhere")
    if is_draft:
        if unknown or any(theirs.get(name) != value for name, value in sent.items()):
            if options.do:
                changed = sent | {"completion_codes": completion}
                prolific.change(f"studies/{theirs['id']}/", changed, "PATCH", is_repeatable=True)
            yield Step("change the draft", why=ours["link"])
    elif unknown:
        yield Step("(look)", why=f"Prolific does not know these completion codes: {', '.join(sorted(unknown))}")


def _described(study: Study) -> Row:
    about = study.settings()
    return {
        "name": about["title"],
        "internal_name": study.address,
        "description": f"You read two texts at a time and compare them. {about['question']}",
        "device_compatibility": ["desktop", "tablet", "mobile"],
        "peripheral_requirements": [],
    }


def _joined(prolific: Prolific, study: Study, theirs: Row, options: argparse.Namespace) -> Iterator[Step]:
    """Have Prolific export what it knows of participants, without filters, and send it to our server as it is."""
    why = "What Prolific knows of participants becomes answers of theirs"
    if options.do:
        table = prolific.change(f"studies/{theirs['id']}/demographic-export/", {"filters": []}, is_repeatable=True)
        if not table.strip():
            yield Step("(look)", why="Prolific exports no demographic data of this study")
            return
        counts = study.put_demographics(table)
        why = ", ".join(f"{counts[name]} {name}" for name in ("stored", "revoked", "expired", "unknown"))
    yield Step("join demographics", why=why)


def _reviewed(prolific: Prolific, study: Study, ours: Row, theirs: Row, options: argparse.Namespace) -> list[Step]:
    """Decide about each submission that awaits it, then pay."""
    bonuses = _bonuses(options.bonuses) if options.bonuses else None
    rows = [row for row in prolific.rows("submissions/", study=theirs["id"], page_size=100) if _status(row) in OPEN]
    numbers = Counter(row.get("participant_id") for row in rows)
    wanted = [row["id"] for row in rows if bonuses or _status(row) == AWAITS]
    submissions = [prolific.get(f"submissions/{key}/") for key in wanted]
    # Read last: a participant who finished meanwhile would look as if they had not.
    people = {person["person"]: person for person in study.participants()}
    codes = {ours["code_done"], ours["code_no_work"], ours["code_screened_out"]}
    reward = Decimal(str(theirs["reward"])) / 100
    steps, paid = [], []
    for submission in submissions:
        status = _status(submission)  # as it is by now
        if status not in OPEN or theirs["id"] not in (submission["study_id"], submission.get("parent_study_id")):
            continue
        person = people.get(submission["participant"])
        session = person["session"] if person else ""
        # From another study on Prolific, or before they returned it: we know of a participant's last one alone.
        is_other = bool(SUBMISSION.fullmatch(session)) and session != submission["id"]
        other = f"Took part here in another submission, {session}"
        if status == AWAITS:
            step = _decided(submission, person, codes, reward, options)
            if step.do == "approve" and (is_other or numbers[step.participant] > 1):
                why = other if is_other else "Has several submissions, and took part here once"
                step = replace(step, do="(look)", amount=None, why=why)
            steps.append(step)
        elif bonuses and is_other:
            steps.append(Step("(look)", submission["participant"], submission["id"], why=other))
        if not (bonuses and person) or person["excluded_at"] or is_other:
            continue
        if status == APPROVED or steps[-1].do == "approve":
            paid.append(_bonus(submission, person, bonuses))
    paid = _one_each(paid)
    if options.do:
        steps = [_done(prolific, step) for step in steps]
        refused = {step.submission for step in steps if step.do == "(refused)"}
        paid = [step for step in paid if step.submission not in refused]
        due = {step.submission: step.amount for step in paid if step.do == "bonus" and step.amount}
        if bonuses and due:
            _pay(prolific, theirs["id"], due, bonuses)
    return steps + [step for step in paid if step.amount]


def _status(row: Row) -> str:
    return str(row["status"]).replace("_", " ").upper()


def _one_each(bonuses: Sequence[Step]) -> list[Step]:
    """The bonuses, one for each participant, however many submissions they have."""
    had = {own.participant for own in bonuses if own.do != "bonus"}
    kept: list[Step] = []
    for own in bonuses:
        if own.do != "bonus" or own.participant not in had:
            kept.append(own)
            had.add(own.participant)
    return kept


def _decided(submission: Row, person: Row | None, codes: set[str], reward: Decimal, options: Any) -> Step:
    """What our records say of a submission that awaits review."""
    about = {"participant": submission["participant"], "submission": submission["id"]}
    rejected: tuple[str, str] | None = None
    if person is None:
        if (submission.get("entered_code") or "-") in codes:  # we forget who withdraws, and they may have been done
            return Step("(look)", **about, record="unknown", why="Unknown here, but has a code: perhaps withdrew")
        record, why = "unknown", "We know of no participation with your ID in this study."
    elif person["excluded_at"]:
        record, why = "excluded", "Your answers could not be used after the study's checks."
        rejected = (options.reject_excluded, options.because) if options.reject_excluded else None
    elif person["outcome"] == "done" or person["finished_at"] or (person["outcome"] == "no_work" and person["judged"]):
        return Step("approve", **about, record=person["outcome"], amount=reward)
    elif person["outcome"] == "no_work":
        record, why = "no work left", "There was no work left in this study when you came."
    elif person["outcome"] == "screened_out":  # by practice or many skips, or excluded for a time: none is rejected
        record, why = "screened out", "Your part in this study ended early, as its last page told you."
    elif person["judged"] or person["answered_at"]:
        record, why = "not finished", "You did not reach the end of the study."
    else:
        record, why = "no answer", "No answer of yours has arrived."
        rejected = ("NO_DATA", EMPTY) if options.reject_empty else None
    if rejected:
        return Step("reject", **about, record=record, category=rejected[0], why=rejected[1])
    asked = submission.get("return_requested") or ""
    return Step(f"(asked {asked[:10]})" if asked else "ask to return", **about, record=record, why=why)


def _done(prolific: Prolific, step: Step) -> Step:
    """The step, done; or that Prolific refuses this one, which holds up no other."""
    try:
        _do(prolific, step)
    except ApiError as error:
        if error.status not in (400, 404, 409):
            raise
        return replace(step, do="(refused)", amount=None, why=error.message)
    return step


def _do(prolific: Prolific, step: Step) -> None:
    here = f"submissions/{step.submission}/"
    if step.do == "approve":
        prolific.change(f"{here}transition/", {"action": "APPROVE"}, is_repeatable=True)
    elif step.do == "reject":
        reason = {"action": "REJECT", "message": step.why, "rejection_category": step.category}
        prolific.change(f"{here}transition/", reason, is_repeatable=True)
    elif step.do == "ask to return":  # which writes to them: not twice
        prolific.change(f"{here}request-return/", {"request_return_reasons": [step.why]})


def _bonus(submission: Row, person: Row, bonuses: Bonuses) -> Step:
    paid = submission.get("bonus_payments") or ()
    do = "(bonus paid)" if paid else "(bonus sent before)" if submission["id"] in bonuses.sent else "bonus"
    amount = Decimal(str(sum(paid))) / 100 if paid else bonuses.of(person)
    why = f"noted in {bonuses.sent[submission['id']]}" if do == "(bonus sent before)" else ""
    return Step(do, submission["participant"], submission["id"], f"{person['judged']} judgments", amount, why=why)


def _bonuses(file: Path) -> Bonuses:
    """The rule, and what was sent by it. Raises `InputError`."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
        rule = {name: Decimal(value) for name, value in read.items() if not isinstance(value, bool)}
        fits = (
            read.keys() == rule.keys() <= set(RULE)
            and "most" in rule
            and all(0 <= amount < 1000 for amount in rule.values())
            and rule.get("gold_share", 0) <= 1
        )
    except (ValueError, AttributeError, TypeError, ArithmeticError):
        fits = False
    if not fits:
        example = '{"per_judgment": 0.05, "most": 2}'
        bounds = f"{', '.join(RULE)} are from 0 on and below 1000, a share up to 1; “most” is needed"
        raise InputError(f"{file} is no rule such as {example}: {bounds}")
    notes = _notes(file)
    lines = [(note.name, line) for note in sorted(notes) for line in note.read_text(encoding="utf-8").splitlines()]
    sent = {line.partition(",")[0]: name for name, line in lines}
    return Bonuses(rule, sent, file, notes)


def _notes(file: Path) -> frozenset[Path]:
    return frozenset(file.parent.glob("*.sent-*"))


def _pay(prolific: Prolific, study: str, due: Mapping[str, Decimal], bonuses: Bonuses) -> None:
    """Order the bonuses, as many at once as Prolific takes. Raises `InputError` where another run does the same."""
    # Next to those that were read: where another run has noted bonuses since, this one must fail.
    names = (bonuses.file.with_name(f"{bonuses.file.name}.sent-{number}") for number in count(1))
    free = (name for name in names if name not in bonuses.notes)
    rows, notes = list(due.items()), set(bonuses.notes)
    for begin in range(0, len(rows), AT_ONCE):
        note = next(free)
        notes.add(note)
        _order(prolific, study, dict(rows[begin : begin + AT_ONCE]), note, notes)


def _order(prolific: Prolific, study: str, due: Mapping[str, Decimal], note: Path, notes: Container[Path]) -> None:
    """Note the bonuses, then send them once. The note is removed only where nothing can have been paid."""
    lines = "".join(f"{submission},{amount}\n" for submission, amount in due.items())
    busy = "{} is there by now: another run pays these bonuses"
    try:
        file = note.open("x", encoding="utf-8")
    except FileExistsError:
        raise InputError(busy.format(note)) from None
    try:
        with file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        if hasattr(os, "O_DIRECTORY"):  # without its name on the disk, the note is lost with the power
            folder = os.open(note.parent, os.O_DIRECTORY)
            os.fsync(folder)
            os.close(folder)
        if others := [other for other in _notes(note) if other not in notes]:  # by another rule in this folder
            raise InputError(busy.format(others[0]))
        wanted = {"study_id": study, "csv_bonuses": lines}
        made = json.loads(prolific.change("submissions/bonus-payments/", wanted))
        order = f"bulk-bonus-payments/{made['id']}/pay/"
        if Decimal(str(made["amount"])) != 100 * sum(due.values()):
            raise InputError(f"Prolific makes {made['amount']} of {100 * sum(due.values())} cents; nothing is paid")
    except BaseException:  # to set bonuses up pays nothing
        note.unlink()
        raise
    try:
        prolific.change(order, {})
    except ApiError as error:
        if 400 <= error.status < 500:
            note.unlink()
            raise
        raise InputError(f"{error}. Are the bonuses paid? Look at Prolific; only if not, delete {note}") from None


def _output(steps: Sequence[Step], is_done: bool, theirs: Row) -> Output:
    currency = theirs.get("presentment_currency_code") or theirs.get("currency_code") or ""
    rows = [{name: f"{v:.2f}" if isinstance(v, Decimal) else v for name, v in asdict(step).items()} for step in steps]
    kinds = []
    for kind in dict.fromkeys(step.do for step in steps if not step.do.startswith("(")):
        amounts = [step.amount or Decimal() for step in steps if step.do == kind]
        kinds.append(f"{kind}: {len(amounts)}" + (f", {sum(amounts):.2f} {currency}" if any(amounts) else ""))
    total = sum((step.amount or Decimal() for step in steps if not step.do.startswith("(")), Decimal())
    notes = ("; ".join(kinds) or "Nothing is left to do.", f"Total: {total:.2f} {currency}, without Prolific's fees.")
    title = "Done" if is_done else "Nothing was done; with --do, this would be"
    table = Table(tuple(Step.__slots__), tuple(tuple(row.values()) for row in rows), title, notes)
    return Output([table], table, {"done": is_done, "study": theirs.get("id"), "steps": rows, "total": f"{total:.2f}"})


COMMAND = Command(
    name="prolific",
    help="recruit, review and pay a study's participants on Prolific",
    description="Makes the study's draft on Prolific or brings it up to date; approves submissions or asks for their "
    "return by our records; pays bonuses; joins demographic data. Without --do it only shows all of it; what is done "
    "is not done again. "
    f"Your token of our server is read from {TOKEN}, that of Prolific from {THEIRS}; our server never sees the latter.",
    add_arguments=add_arguments,
    run=run,
    takes="STUDY-ADDRESS [PLATFORM-STUDY-ID]",
)
