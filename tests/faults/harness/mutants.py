"""Copies of the product with one promise broken each: does anything notice?

A mutant is a few replaced lines in a copy of the last commit, and what must catch it: a test that fails on the copy and
passes on the product as it is. Where the text to replace is no
longer there, the mutant says so and counts as not caught: it has to be written anew for the code as it is now.
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

from tests.services import running

ROOT = Path(__file__).resolve().parents[3]
LONGEST = 900.0  # seconds that the tests of one mutant may take

ANSWERS = "annotate/judging/answers.py"
CHOOSING = "annotate/judging/choosing.py"
DRAWING = "annotate/judging/drawing.py"
PROCEEDING = "annotate/judging/proceeding.py"
TALLIES = "annotate/judging/tallies.py"
TABLES = "annotate/migrations/0001_tables.py"
VIEW = "annotate/views/judge.py"
PAIR = "templates/judge/parts/pair.html"
TOGETHER = "tests/annotate/test_judging_together.py"
PROMISES = "tests/faults/test_promises.py"

NO_CHECK = "constraint=models.CheckConstraint(condition=models.Q(('id__gte', 0)), name='{}'),"


@dataclass(frozen=True)
class Change:
    """The only occurrence of `old` in the file becomes `new`."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """`tests`: what must fail, one of them at least; `services`: on PostgreSQL, which lets writers work at once."""

    id: str
    what: str
    changes: tuple[Change, ...]
    tests: tuple[str, ...]
    services: bool = False


@dataclass(frozen=True)
class Verdict:
    mutant: Mutant
    caught: bool
    why: str
    seconds: float


class Gone(Exception):
    """What a mutant would replace is not in the code any more, or more than once."""


def _dropped(constraint: str, wanted: str) -> Change:
    """A constraint that the database does not keep any more."""
    return Change(TABLES, wanted, NO_CHECK.format(constraint))


ONE_REVISION = _dropped(
    "judgment_first_answer_stands",
    "constraint=models.UniqueConstraint(fields=('assignment', 'revision'), name='judgment_first_answer_stands'),",
)
ONE_ASSIGNMENT = _dropped(
    "assignment_never_twice_by_accident",
    "constraint=models.UniqueConstraint(fields=('annotator', 'pair', 'occasion'), "
    "name='assignment_never_twice_by_accident'),",
)
NEVER_OVERTAKEN = _dropped(
    "pair_never_overtaken",
    "constraint=models.CheckConstraint(condition=models.Q(('taken__lte', models.F('need'))), "
    "name='pair_never_overtaken'),",
)
TALLY_UNLOCKED = Change(DRAWING, "Tally.objects.select_for_update()", "Tally.objects")
RECORD = "            recorded = judging.record_judgment(assignment, **_given(form))\n"

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
            Change(
                ANSWERS,
                "    with suppress(Tally.DoesNotExist):  # then the assignment is gone, too\n"
                "        tallies.lock_one(assignment.topic_id)\n    for row in _state(assignment.pk):",
                "    rows = _state(assignment.pk)\n    tallies.lock_one(assignment.topic_id)\n    for row in rows:",
            ),
        ),
        (f"{TOGETHER}::test_one_form_sent_many_times_at_once_is_one_judgment",),
        services=True,
    ),
    Mutant(
        "M02",
        "the database hands a pair to the same person twice (no UNIQUE(annotator, pair, occasion))",
        (ONE_ASSIGNMENT,),
        (f"{PROMISES}::test_the_database_itself_never_gives_a_pair_to_one_person_twice",),
    ),
    Mutant(
        "M02b",
        "two tabs of one person draw without waiting for each other",
        (Change(DRAWING, '        .select_for_update(of=("self",))\n', ""),),
        (f"{TOGETHER}::test_two_tabs_that_draw_at_once_get_the_same_pair",),
        services=True,
    ),
    Mutant(
        "M03",
        "places are claimed with SKIP LOCKED and a look at what is taken, without the topic's lock",
        (
            TALLY_UNLOCKED,
            NEVER_OVERTAKEN,
            Change(
                CHOOSING,
                'unfinished.filter(~_seen_by(person)).select_related("first", "second").order_by("pk").first()',
                'unfinished.filter(~_seen_by(person)).order_by("pk").select_for_update(skip_locked=True).first()',
            ),
        ),
        (f"{TOGETHER}::test_the_last_place_goes_to_one_of_many", f"{TOGETHER}::test_twenty_people_and_too_little_work"),
        services=True,
    ),
    Mutant(
        "M04",
        "places are claimed by looking and then taking, without the topic's lock",
        (TALLY_UNLOCKED, NEVER_OVERTAKEN),
        (f"{TOGETHER}::test_the_last_place_goes_to_one_of_many", f"{TOGETHER}::test_twenty_people_and_too_little_work"),
        services=True,
    ),
    Mutant(
        "M05",
        "a judgment does not wait for the disk (synchronous_commit=off)",
        (
            Change(
                ANSWERS,
                "    with transaction.atomic(durable=True):\n        before = _lock_and_look(assignment)\n"
                "        if revision <= before.revision:",
                "    with tallies.leased(ahead=True):\n        before = _lock_and_look(assignment)\n"
                "        if revision <= before.revision:",
            ),
        ),
        (f"{PROMISES}::test_a_judgment_waits_for_the_disk",),
    ),
    Mutant(
        "M05b",
        "the same where the answer brings a pair",
        (
            Change(PROCEEDING, "import checks\n", "import checks, tallies\n"),
            Change(PROCEEDING, "with transaction.atomic(durable=True):", "with tallies.leased(ahead=True):"),
        ),
        (f"{PROMISES}::test_a_judgment_waits_for_the_disk",),
    ),
    Mutant(
        "M05c",
        "an answer is lost where the pair after next cannot be drawn",
        (Change(PROCEEDING, "        except NotDrawn:\n", "        except ZeroDivisionError:\n"),),
        ("tests/annotate/test_judging_answers.py::test_whatever_becomes_of_drawing_the_answer_is_stored",),
    ),
    Mutant(
        "M06",
        "a fit is published whatever is there already",
        (
            Change(
                "evaluation/records/results.py",
                "fitted_version__lt=version, prepared_version",
                "prepared_version",
            ),
        ),
        ("tests/evaluation/test_records.py::test_a_late_result_never_replaces_a_newer_one",),
    ),
    Mutant(
        "M07",
        "storing an answer sends a message before its transaction has ended",
        (
            Change(
                ANSWERS,
                "        return _store(assignment, before, revision, answer, seconds, counted)\n",
                "        from evaluation.worker import app\n\n"
                '        app.send_task("refit_topic", (assignment.topic_id,))\n'
                "        return _store(assignment, before, revision, answer, seconds, counted)\n",
            ),
        ),
        ("tests/test_house.py::test_nobody_knows_more_rooms_than_they_should",),
    ),
    Mutant(
        "M08",
        "the request sends a message after it has stored an answer",
        (
            Change(
                VIEW,
                RECORD,
                RECORD + "            from evaluation.worker import app\n\n"
                '            app.send_task("refit_topic", (assignment.topic_id,))\n',
            ),
        ),
        ("tests/test_house.py::test_nobody_knows_more_rooms_than_they_should",),
    ),
    Mutant(
        "M09",
        "a message that was lost is never sent again",
        (Change("evaluation/worker.py", "== mark and now - at < LOST_SECONDS", "== mark"),),
        ("tests/evaluation/test_tasks.py::test_a_message_that_was_lost_is_sent_again",),
    ),
    Mutant(
        "M10",
        "the heartbeat ends at its first error, and the worker goes on without one",
        (
            Change(
                "evaluation/worker.py",
                '                    logger.exception("this beat failed; the next one comes in a second")\n',
                "                    return\n",
            ),
        ),
        (f"{PROMISES}::test_a_heartbeat_outlives_a_beat_that_failed",),
    ),
    Mutant(
        "M11",
        "an answer after its lease is refused",
        (
            Change(
                ANSWERS,
                "        if revision != before.revision + 1 or before.state == State.JUDGED:",
                "        late = before.expires_at is not None and before.expires_at < before.now\n"
                "        if late or revision != before.revision + 1 or before.state == State.JUDGED:",
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
            Change(
                VIEW,
                RECORD,
                "            import threading\n\n"
                "            from django.db import connections\n\n"
                "            def later():\n"
                "                judging.record_judgment(assignment, **_given(form))\n"
                "                connections.close_all()\n\n"
                "            threading.Timer(0.3, later).start()\n"
                "            recorded = judging.Recorded(\n"
                '                Outcome.STORED, Judgment(answer=_given(form)["answer"], assignment=assignment), True\n'
                "            )\n",
            ),
        ),
        (f"{PROMISES}::test_what_is_confirmed_is_stored",),
    ),
    Mutant(
        "M13",
        "a fit reads its judgments at one moment and their version at another",
        (
            Change(
                "evaluation/records/evidence.py", "    with snapshot():\n        return", "    if True:\n        return"
            ),
        ),
        (f"{PROMISES}::test_a_fit_reads_everything_as_it_was_at_one_moment",),
    ),
    Mutant(
        "M14",
        "leases run out by the website's clock",
        (
            Change(
                DRAWING,
                "next((Desk(*row) for row in _topic(topic_id)), None)",
                "next((Desk(r[0], r[1], timezone.now(), True, r[4]) for r in _topic(topic_id)), None)",
            ),
        ),
        (f"{PROMISES}::test_a_website_whose_clock_is_ahead_takes_nobodys_pair_away",),
    ),
    Mutant(
        "M15",
        "one page finds topics of any study",
        (
            Change(
                "annotate/views/research/topics.py",
                "get_object_or_404(Topic, study=study, pk=topic_id)\n    fit",
                "get_object_or_404(Topic, pk=topic_id)\n    fit",
            ),
        ),
        ("tests/annotate/test_page_access.py",),
    ),
    Mutant(
        "M16",
        "a template believes what people wrote",
        (Change(PAIR, "{{ assignment.left.text }}", "{{ assignment.left.text|safe }}"),),
        ("tests/annotate/test_judge_pages.py::test_given_texts_are_shown_as_text",),
    ),
    Mutant(
        "M17",
        "a judgment needs no token against forged requests",
        (
            Change(
                VIEW,
                '@require_http_methods(["GET", "HEAD", "POST"])\n@about_a_pair\n',
                '@__import__("django.views.decorators.csrf", fromlist=["x"]).csrf_exempt\n'
                '@require_http_methods(["GET", "HEAD", "POST"])\n@about_a_pair\n',
            ),
        ),
        ("tests/annotate/test_judge_pages.py::test_judging_needs_the_token_against_forged_requests",),
    ),
    Mutant(
        "M18",
        "a table for spreadsheets defuses no formulas",
        (Change("formats/tables.py", "    if value.startswith(_FORMULA):\n", "    if False:\n"),),
        ("tests/formats/test_round_trips.py::test_what_a_spreadsheet_would_run_gets_an_apostrophe",),
    ),
    Mutant(
        "M19",
        "a zip is believed about how much it unpacks to",
        (Change("formats/archive.py", "        self._archive.spend(len(data))\n", ""),),
        ("tests/formats/test_hostile_zips.py::test_bytes_are_counted_over_all_entries_whatever_the_headers_say",),
    ),
    Mutant(
        "M20",
        "a setting is changed in one transaction and logged in another",
        (
            Change(
                "annotate/studies.py",
                "@transaction.atomic\ndef change_settings(",
                "def change_settings(",
            ),
            Change(
                "annotate/studies.py",
                "    found = _locked(study)\n    changes = {",
                "    found = Study.objects.get(pk=study.pk)\n    changes = {",
            ),
        ),
        (f"{PROMISES}::test_what_cannot_be_logged_is_not_done",),
    ),
    Mutant(
        "M21",
        "SQLite's transactions begin as readers (BEGIN instead of BEGIN IMMEDIATE)",
        (Change("annotate/settings.py", '            "transaction_mode": "IMMEDIATE",\n', ""),),
        (f"{TOGETHER}::test_two_hundred_judgments_by_twenty_people_at_once",),
    ),
    Mutant(
        "M22",
        "what dies is not started again",
        (
            Change(
                "annotate/supervisor.py",
                "            if now >= self.due:\n                self.start(environment)",
                "            pass",
            ),
        ),
        ("tests/annotate/test_supervisor.py::test_a_process_that_is_killed_is_started_again",),
    ),
    Mutant(
        "M23",
        "whether a judgment counts is decided once: whoever is excluded later goes on counting",
        (
            Change(
                TALLIES,
                "Q(assignment__annotator__excluded_at__isnull=True) | Q(assignment__annotator__in=list(also)),\n",
                "Q(pk__gt=0),\n",
            ),
        ),
        ("tests/annotate/test_judging_answers.py::test_an_excluded_annotators_judgments_stay_and_do_not_count",),
    ),
    Mutant(
        "M24",
        "the page says why a pair was asked",
        (
            Change(
                PAIR,
                '<div id="task" class="task" data-pair',
                '<div id="task" data-why="{{ assignment.reason }}" class="task" data-pair',
            ),
        ),
        ("tests/annotate/test_judge_pages.py::test_with_equal_texts_pages_are_equal_but_for_random_ids",),
    ),
)


def chosen(wanted: Sequence[str]) -> list[Mutant]:
    """The mutants of these ids ("M01" brings "M01b" along), or all. Raises KeyError for an id that is none."""
    found = [one for one in MUTANTS if not wanted or one.id in wanted or one.id.rstrip("abc") in wanted]
    unknown = set(wanted) - {one.id for one in found} - {one.id.rstrip("abc") for one in found}
    if unknown:
        raise KeyError(f"no such mutant: {', '.join(sorted(unknown))}")
    return found


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


def change(tree: Path, mutant: Mutant) -> None:
    """Make the mutant of a copy. Raises `Gone`."""
    for one in mutant.changes:
        path = tree / one.path
        text = path.read_text() if path.exists() else ""
        if text.count(one.old) != 1:
            raise Gone(f"{one.path} has {text.count(one.old)} times: {one.old.strip()[:80]}")
        path.write_text(text.replace(one.old, one.new))


def run_tests(tree: Path, tests: Sequence[str], environment: dict[str, str]) -> tuple[int, str]:
    """The exit status of pytest on a tree, and the last line that it said."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PREFERENDUM_") and name != "DJANGO_SETTINGS_MODULE"
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command,
            cwd=tree,
            env=inherited | {"OPENBLAS_NUM_THREADS": "1"} | environment,
            stdout=said,
            stderr=said,
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
        said.seek(0)
        lines = said.read().strip().splitlines()
    if status is None:
        return -1, "it took too long"
    return status, lines[-1] if lines else ""


FAILED = 1  # what pytest ends with when it ran and a test failed


def try_mutant(mutant: Mutant, environment: dict[str, str]) -> Verdict:
    """Make the mutant and see whether anything notices."""
    began = time.monotonic()
    with copied() as tree:
        try:
            change(tree, mutant)
        except Gone as gone:
            return Verdict(mutant, False, f"GONE: {gone}", time.monotonic() - began)
        status, said = run_tests(tree, mutant.tests, environment)
    return Verdict(mutant, status == FAILED, said, time.monotonic() - began)


def run(wanted: Sequence[str], say: Callable[[str], object]) -> list[Verdict]:
    """Try mutants one after another; first, that what catches them passes on the product as it is."""
    mutants = chosen(wanted)
    with ExitStack() as stack:
        services: dict[str, str] = {}
        if any(one.services for one in mutants):
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
        tests = sorted({test for one in mutants if one.services == on_services for test in one.tests})
        if tests:
            status, said = run_tests(tree, tests, services if on_services else {})
            if status != 0:
                raise RuntimeError(f"what should catch mutants fails on the product as it is: {said}")
