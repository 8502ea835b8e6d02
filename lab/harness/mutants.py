"""Copies of the product with one promise broken each: does anything notice?

A mutant is a few edits (`lab.harness.edits`) of a copy of the last commit, and what must catch it: a test that fails
on the copy and passes on the product as it is. Where there is no single place for an edit, the mutant says so and
counts as not caught: it has to be written anew for the code as it is now.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lab.harness.edits import Begin, Copy, Decorate, DropConstraint, Edit, Gone, Replace, ReplaceInTemplate
from lab.services import running

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 900.0  # seconds that the tests of one mutant may take

TOGETHER = "tests/annotate/test_judging_together.py"
PROMISES = "tests/faults/test_promises.py"


@dataclass(frozen=True)
class Mutant:
    """`tests`: what must fail, one of them at least; `services`: on PostgreSQL, which lets writers work at once."""

    id: str
    what: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]
    services: bool = False


@dataclass(frozen=True)
class Verdict:
    mutant: Mutant
    caught: bool
    why: str
    seconds: float


ONE_REVISION = DropConstraint("judgment_first_answer_stands")
NEVER_OVERTAKEN = DropConstraint("pair_never_overtaken")
TALLY_UNLOCKED = (
    Replace("TallyQuerySet.lock", "ANY.select_for_update(skip_locked=ANY_1)", "ANY"),
    Replace(
        "FOR_UPDATE",
        "'FOR UPDATE OF tally FOR NO KEY UPDATE OF shown, annotator'",
        "'FOR NO KEY UPDATE OF shown, annotator'",
    ),
)
SEND = "from evaluation.app import app\napp.send_task('work', ('refit_topic', assignment.item_set_id))"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "M01",
        "the database takes a second answer to one showing (no UNIQUE(assignment, revision))",
        (ONE_REVISION,),
        (f"{PROMISES}::test_the_database_itself_refuses_a_second_answer_to_one_showing",),
    ),
    Mutant(
        "M01b",
        "the same, and the answer is looked for before the lock: check, then insert",
        (
            ONE_REVISION,
            Replace(
                "_lock",
                "item_set = statements.lock(assignment) or ANY",
                "current = Assignment.objects.select_related('annotator__study').get(pk=assignment.pk)\n"
                "item_set = statements.lock(assignment) or ANY\n"
                "for field in (*Assignment.LOCKED, 'annotator'):\n"
                "    setattr(assignment, field, getattr(current, field))",
            ),
        ),
        (f"{TOGETHER}::test_one_form_sent_many_times_at_once_is_one_judgment",),
        services=True,
    ),
    Mutant(
        "M02",
        "the database hands a pair to the same person twice (no UNIQUE(annotator, pair, occasion))",
        (DropConstraint("assignment_never_twice_by_accident"),),
        (f"{PROMISES}::test_the_database_itself_never_gives_a_pair_to_one_person_twice",),
    ),
    Mutant(
        "M02b",
        "two tabs of one person draw without waiting for each other",
        (Replace("AnnotatorQuerySet.lock", "ANY.select_for_update(no_key=True, of=('self',))", "ANY"),),
        (f"{TOGETHER}::test_two_tabs_that_draw_at_once_get_the_same_pair",),
        services=True,
    ),
    Mutant(
        "M03",
        "places are claimed with SKIP LOCKED and a look at what is taken, without the topic's lock",
        (
            *TALLY_UNLOCKED,
            NEVER_OVERTAKEN,
            Replace(
                "_started",
                "ANY.select_related('first', 'second').iterator()",
                "ANY.select_for_update(skip_locked=True).iterator()",
            ),
        ),
        (f"{TOGETHER}::test_the_last_place_goes_to_one_of_many", f"{TOGETHER}::test_twenty_people_and_too_little_work"),
        services=True,
    ),
    Mutant(
        "M04",
        "places are claimed by looking and then taking, without the topic's lock",
        (*TALLY_UNLOCKED, NEVER_OVERTAKEN),
        (f"{TOGETHER}::test_the_last_place_goes_to_one_of_many", f"{TOGETHER}::test_twenty_people_and_too_little_work"),
        services=True,
    ),
    Mutant(
        "M05",
        "a judgment does not wait for the disk (synchronous_commit=off)",
        (
            Begin("_record", "from annotate.judging.drawing import leased"),
            Replace("_record", "transaction.atomic(durable=True)", "leased(ahead=True)"),
        ),
        (f"{PROMISES}::test_a_judgment_waits_for_the_disk",),
    ),
    Mutant(
        "M05c",
        "an answer is lost where the pair after next cannot be drawn",
        (Replace("record_judgment", "NotDrawn", "ZeroDivisionError"),),
        ("tests/annotate/test_judging_answers.py::test_whatever_becomes_of_drawing_the_answer_is_stored",),
    ),
    Mutant(
        "M06",
        "a fit is published whatever is there already",
        (
            Replace(
                "",
                "ItemSetProgress.objects.filter(item_set=ANY, fitted_version__lt=ANY_1)",
                "ItemSetProgress.objects.filter(item_set=ANY)",
            ),
        ),
        ("tests/evaluation/test_records.py::test_a_late_result_never_replaces_a_newer_one",),
    ),
    Mutant(
        "M07",
        "storing an answer sends a message before its transaction has ended",
        (Begin("_record", SEND),),
        ("tests/test_house.py::test_nobody_knows_more_rooms_than_they_should",),
    ),
    Mutant(
        "M08",
        "the request sends a message after it has stored an answer",
        (Begin("_take_answer", SEND),),
        ("tests/test_house.py::test_nobody_knows_more_rooms_than_they_should",),
    ),
    Mutant(
        "M09",
        "a message that was lost is never sent again",
        (Replace("Heartbeat.look_for_work", "ANY == ANY_1 and now - at < LOST_SECONDS", "ANY == ANY_1"),),
        ("tests/evaluation/test_tasks.py::test_a_message_that_was_lost_is_sent_again",),
    ),
    Mutant(
        "M10",
        "the heartbeat ends at its first error, and the worker goes on without one",
        (Replace("Heartbeat.run", "logger.exception(ANY)\nconnections.close_all()", "return"),),
        (f"{PROMISES}::test_a_heartbeat_outlives_a_beat_that_failed",),
    ),
    Mutant(
        "M11",
        "an answer after its lease is refused",
        (
            Replace(
                "_record",
                "assignment.state == State.JUDGED",
                "assignment.state == State.JUDGED or (assignment.expires_at or item_set.now) < item_set.now",
            ),
        ),
        (
            "tests/annotate/test_judging_answers.py::test_an_answer_after_its_lease_takes_its_place_again_if_there_is_one",
        ),
    ),
    Mutant(
        "M12",
        "an answer is confirmed before it is stored",
        (
            Replace(
                "_take_answer",
                "recorded = judging.record_judgment(assignment, **form.cleaned_data, draws=draws, showing=showing)",
                "import threading\n"
                "from django.db import connections\n"
                "def later():\n"
                "    judging.record_judgment(assignment, **form.cleaned_data)\n"
                "    connections.close_all()\n"
                "threading.Timer(0.3, later).start()\n"
                "judgment = Judgment(answer=form.cleaned_data['answer'], assignment=assignment)\n"
                "recorded = judging.Recorded(Outcome.STORED, judgment, True)",
            ),
        ),
        (f"{PROMISES}::test_what_is_confirmed_is_stored",),
    ),
    Mutant(
        "M13",
        "a fit reads its judgments at one moment and their version at another",
        (Replace("load_several", "with snapshot():\n    ...", "if True:\n    ..."),),
        (f"{PROMISES}::test_a_fit_reads_everything_as_it_was_at_one_moment",),
    ),
    Mutant(
        "M14",
        "leases run out by the website's clock",
        (
            Replace(
                "_choose_tidily",
                "Assignment.objects.filter(LAPSED, item_set=item_set.pk)",
                "Assignment.objects.filter(item_set=item_set.pk, state=State.OPEN, expires_at__lt=timezone.now())",
            ),
        ),
        (f"{PROMISES}::test_a_website_whose_clock_is_ahead_takes_nobodys_pair_away",),
    ),
    Mutant(
        "M15",
        "one page finds topics of any study",
        (
            Replace(
                "topic_leaderboard_file",
                "get_object_or_404(Topic, study=study, pk=topic_id)",
                "get_object_or_404(Topic, pk=topic_id)",
            ),
        ),
        ("tests/annotate/test_page_access.py",),
    ),
    Mutant(
        "M16",
        "a template believes what people wrote",
        (ReplaceInTemplate(r'(<span class="sentence given"[^>]*>\{\{ sentence\.text )', r"\1|safe "),),
        ("tests/annotate/test_judge_pages.py::test_given_texts_are_shown_as_text",),
    ),
    Mutant(
        "M17",
        "a judgment needs no token against forged requests",
        (Decorate("pair", with_="__import__('django.views.decorators.csrf', fromlist=['x']).csrf_exempt"),),
        ("tests/annotate/test_judge_pages.py::test_judging_needs_the_token_against_forged_requests",),
    ),
    Mutant(
        "M18",
        "a table for spreadsheets defuses no formulas",
        (Replace("_cell", "_is_formula(ANY)", "False"),),
        ("tests/formats/test_round_trips.py::test_what_a_spreadsheet_would_run_gets_an_apostrophe",),
    ),
    Mutant(
        "M19",
        "a zip is believed about how much it unpacks to",
        (Replace("", "self._archive.spend(len(data))", "None"),),
        ("tests/formats/test_hostile_zips.py::test_bytes_are_counted_over_all_entries_whatever_the_headers_say",),
    ),
    Mutant(
        "M20",
        "a setting is changed in one transaction and logged in another",
        (
            Decorate("change_settings", without="transaction.atomic"),
            Replace("change_settings", "_locked(study)", "Study.objects.get(pk=study.pk)"),
        ),
        (f"{PROMISES}::test_what_cannot_be_logged_is_not_done",),
    ),
    Mutant(
        "M21",
        "SQLite's transactions begin as readers (BEGIN instead of BEGIN IMMEDIATE)",
        (Replace("_database", "'IMMEDIATE'", "'DEFERRED'"),),
        (f"{TOGETHER}::test_two_hundred_judgments_by_twenty_people_at_once",),
    ),
    Mutant(
        "M22",
        "what dies is not started again",
        (Replace("Program.look_after", "self.start(ANY)", "None"),),
        ("tests/annotate/test_supervisor.py::test_a_process_that_is_killed_is_started_again",),
    ),
    Mutant(
        "M23",
        "whether a judgment counts is decided once: whoever is excluded later goes on counting",
        (
            Replace(
                "JudgmentQuerySet.counted",
                "models.Q(assignment__annotator__excluded_at=None)",
                "models.Q(pk__gt=0)",
            ),
        ),
        ("tests/annotate/test_judging_answers.py::test_an_excluded_annotators_judgments_stay_and_do_not_count",),
    ),
    Mutant(
        "M24",
        "the page says why a pair was asked",
        (ReplaceInTemplate(r'(id="task" class="task" data-pair)', r'data-why="{{ assignment.reason }}" \1'),),
        ("tests/annotate/test_judge_pages.py::test_with_equal_texts_pages_are_equal_but_for_random_ids",),
    ),
)


def chosen(wanted: Sequence[str]) -> list[Mutant]:
    """The mutants of these ids ("M01" brings "M01b" along), or all. Raises KeyError for an id that is none."""
    mutants = [mutant for mutant in MUTANTS if not wanted or mutant.id in wanted or mutant.id.rstrip("abc") in wanted]
    unknown = set(wanted) - {mutant.id for mutant in mutants} - {mutant.id.rstrip("abc") for mutant in mutants}
    if unknown:
        raise KeyError(f"no such mutant: {', '.join(sorted(unknown))}")
    return mutants


@contextmanager
def copied() -> Iterator[Path]:
    """The last commit in a folder of its own."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    room = Path(tempfile.mkdtemp(prefix="preferendum-mutant-"))
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(room, filter="data")
        (room / "build").mkdir(exist_ok=True)
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def mutated(tree: Path, mutant: Mutant) -> Copy:
    """A tree with the mutant's edits, which are not written yet. Raises `Gone`."""
    copy = Copy(tree)
    for edit in mutant.edits:
        edit.make(copy)
    return copy


def run_tests(tree: Path, tests: Sequence[str], environment: dict[str, str]) -> tuple[int, str]:
    """The exit status of pytest on a tree, and the last line that it said."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PREFERENDUM_") and name != "DJANGO_SETTINGS_MODULE"
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            cwd=tree,
            env=inherited | {"OPENBLAS_NUM_THREADS": "1"} | environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            status = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with suppress(ProcessLookupError):  # a test that fails may leave processes behind
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        lines = output.read().strip().splitlines()
    if status is None:
        return -1, "it took too long"
    return status, lines[-1] if lines else ""


FAILED = 1  # what pytest ends with when it ran and a test failed


def try_mutant(mutant: Mutant, environment: dict[str, str]) -> Verdict:
    """Make the mutant and see whether anything notices."""
    began = time.monotonic()
    with copied() as tree:
        try:
            mutated(tree, mutant).save()
        except Gone as gone:
            return Verdict(mutant, False, f"GONE: {gone}", time.monotonic() - began)
        status, last_line = run_tests(tree, mutant.tests, environment)
    return Verdict(mutant, status == FAILED, last_line, time.monotonic() - began)


def run(wanted: Sequence[str], say: Callable[[str], object]) -> list[Verdict]:
    """Try mutants one after another; first, that what catches them passes on the product as it is."""
    mutants = chosen(wanted)
    with ExitStack() as stack:
        services: dict[str, str] = {}
        if any(mutant.services for mutant in mutants):
            postgres, redis = stack.enter_context(running())
            services = {"DATABASE_URL": postgres.url, "BROKER_URL": redis.url}
        _control(stack.enter_context(copied()), mutants, services)
        verdicts = []
        for mutant in mutants:
            verdict = try_mutant(mutant, services if mutant.services else {})
            verdicts.append(verdict)
            word = "caught" if verdict.caught else "NOT CAUGHT"
            say(f"{mutant.id:<5} {word:<11} {verdict.seconds:5.1f} s  {mutant.what}")
            say(f"{'':>26}by {', '.join(mutant.tests)}: {verdict.why}")
    return verdicts


def _control(tree: Path, mutants: Sequence[Mutant], services: dict[str, str]) -> None:
    for on_services in (False, True):
        tests = sorted({test for mutant in mutants if mutant.services == on_services for test in mutant.tests})
        if tests:
            status, last_line = run_tests(tree, tests, services if on_services else {})
            if status != 0:
                raise RuntimeError(f"what should catch mutants fails on the product as it is: {last_line}")
