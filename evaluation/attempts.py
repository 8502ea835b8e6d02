"""One attempt at a task of any kind: claimed, counted, its failure reported in plain words."""

from __future__ import annotations

import logging
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from types import FrameType

from celery import current_task
from celery.exceptions import SoftTimeLimitExceeded

from annotate.database.transactions import end_stray_transactions, once_more
from annotate.reports.study import BUSY
from evaluation import agenda, claims
from preferendum.fit.preference_matrix import TooManySentences
from preferendum.scoring.evaluate import UndeterminedTopic

logger = logging.getLogger(__name__)

#: Seconds of the processor after which work is interrupted: on a busy machine they take longer, and are no more work.
WORK_LIMIT = 60.0
#: Seconds by the clock after which a task is interrupted and after which its process is killed, in case it only waits.
SOFT_LIMIT, HARD_LIMIT = 240.0, 270.0

UNDETERMINED = (
    "Without a prior, the judgments do not determine the strengths of this topic's sentences: nothing else was ever "
    "preferred to %(sentences)s. More judgments may help; a small prior such as 0.1, which "
    "programs can set, always does."
)
TOO_MANY_SENTENCES = (
    "This topic has %(sentences)d sentences. Scores with the paper's smoothing are computed for topics of at most "
    "%(most)d, because they take memory for every two sentences. Programs can set another smoothing of the study."
)
#: What begins with `BUSY` is no fault of the data.
NO_TIME = f"{BUSY} and had no time for this; it tries again at %(at)s UTC."
TOO_LONG = (
    "The computation took longer than a minute and was stopped. There are too many sentences, systems or judgments for "
    "this machine. Smaller files, one after another, may work."
)
TOO_LARGE = (
    "There is too little memory for this. It may work with fewer sentences or systems. The operator of this site can "
    "give the worker more."
)
KILLED = (
    "The worker was stopped or killed %(times)d times in a row while it worked on this. The machine probably has too "
    "little memory for it."
)
BROKEN = "The program failed: %(error)s. The operator of this site finds more in the worker's log."

#: (key, problem, whether it is given up): reports in plain words why an attempt failed; "" if it succeeded.
Tell = Callable[[int, str, bool], object]


def tell_the_log(_key: int, _problem: str, _is_given_up: bool) -> None:
    """Only log the problem: no user waits for the task, and it is tried again."""


#: The worker's tasks, by their names in `agenda.KINDS`.
TASKS: dict[str, Callable[..., None]] = {}


def task(
    tell: Tell = tell_the_log, *, name: str = "", then: Callable[..., object] | None = None
) -> Callable[[Callable[..., object]], Callable[..., None]]:
    """Register a function of one key or several as a task of this name, or its own. `then`: called once its claims are
    released."""

    def register(work: Callable[..., object]) -> Callable[..., None]:
        own = name or work.__name__

        @wraps(work)
        def attempted(*keys: int) -> None:
            attempt(own, keys, work, tell)
            if then is not None:
                with within_its_time(own, keys):
                    then(*keys)

        TASKS[own] = attempted
        return attempted

    return register


def attempt(task: str, keys: Sequence[int], work: Callable[..., object], tell: Tell) -> None:
    """Do the task for those of these keys that are out of date, due and not claimed by another."""
    with within_its_time(task, keys):
        wanted = {f"{agenda.KINDS[task].claim}:{key}": (key, *what) for key, what in agenda.find(task, *keys).items()}
        if not wanted:
            return
        versions = {name: (study, version) for name, (_key, study, version) in wanted.items()}
        with claims.attempts(versions, _token()) as begun:
            by_key = {wanted[own.name][0]: own for own in begun}
            may_join = len(begun) > 1 and all(own.number == 1 for own in begun)
            if not (may_join and _is_done_together(by_key, work)):
                for key, own in by_key.items():
                    _attempt(task, key, own, work, tell)


@contextmanager
def within_its_time(task: str, keys: Sequence[int]) -> Iterator[None]:
    """A task interrupted before it claims anything, or after its claim, only stops: it will be sent again."""
    try:
        with _told_in_time():
            yield
    except SoftTimeLimitExceeded:
        end_stray_transactions()
        logger.warning("%s %s had no time left beside its work", task, " ".join(map(str, keys)))


def _is_done_together(begun: Mapping[int, claims.Attempt], work: Callable[..., object]) -> bool:
    """Whether work for several keys was done at once; if not, each is tried alone, and tells why it fails."""
    try:
        with _told_in_time(), _processor_limited():
            work(*begun)
    except Exception:
        end_stray_transactions()
        return False
    for own in begun.values():
        own.succeed()
    return True


def _attempt(task: str, key: int, begun: claims.Attempt, work: Callable[..., object], tell: Tell) -> None:
    if begun.was_killed and begun.number > 2:
        tell(key, KILLED % {"times": begun.number - 1}, begun.number > claims.HOPEFUL)
    start = time.process_time()
    try:
        with _told_in_time(), _processor_limited():
            once_more(partial(work, key))
    except SoftTimeLimitExceeded:
        end_stray_transactions()
        if _is_quick():
            # The limit runs from before the claim: the time measured since would look quick, again and again.
            begun.postpone(agenda.QUICK)
        elif time.process_time() - start < WORK_LIMIT:
            tell(key, NO_TIME % {"at": f"{begun.outcome['retry_at']:%H:%M}"}, begun.number >= claims.HOPEFUL)
        else:
            tell(key, TOO_LONG, True)
    except UndeterminedTopic as error:
        begun.wait_for_data()
        tell(key, UNDETERMINED % {"sentences": error.shown}, True)
    except TooManySentences as error:
        begun.wait_for_data()
        tell(key, TOO_MANY_SENTENCES % {"sentences": error.sentences, "most": error.most}, True)
    except Exception as error:
        logger.exception("%s %s failed", task, key)
        problem = TOO_LARGE if isinstance(error, MemoryError) else BROKEN % {"error": _in_a_line(error)}
        tell(key, problem, begun.number >= claims.HOPEFUL)
    else:
        if begun.number > 1:
            tell(key, "", False)
        begun.succeed()


@contextmanager
def _processor_limited() -> Iterator[None]:
    """In the worker, interrupt work that uses the processor for too long (see `interrupt`)."""
    if not current_task:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, agenda.QUICK if _is_quick() else WORK_LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def interrupt(_signal: int, frame: FrameType | None) -> None:
    """Handle SIGPROF and the end of a task's time by the clock, which may come after the task.

    An import is finished first: scipy, interrupted there, cannot be imported again by this process.
    """
    if not current_task:
        return
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            signal.setitimer(signal.ITIMER_PROF, 0.1)
            return
        frame = frame.f_back
    raise SoftTimeLimitExceeded


@contextmanager
def _told_in_time() -> Iterator[None]:
    """A task interrupted during a commit gets an error about the connection instead; raise the interruption."""
    try:
        yield
    except Exception as error:
        if _was_told_to_stop(error):
            raise SoftTimeLimitExceeded from error
        raise


def _was_told_to_stop(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, SoftTimeLimitExceeded):
            return True
        error = error.__cause__ or error.__context__
    return False


def _token() -> uuid.UUID | None:
    """A token that stays the same when a task is redelivered; the heartbeat puts it at the end of the task's id."""
    task_id = current_task.request.id if current_task else None
    return uuid.UUID(task_id.rpartition(" ")[2]) if task_id else None


def _is_quick() -> bool:
    """Whether this process must be free again soon: long work is restarted where it blocks nobody."""
    _hard, soft = (current_task.request.timelimit if current_task else None) or (None, None)
    return soft is not None and soft < SOFT_LIMIT


def _in_a_line(error: Exception) -> str:
    """An error in one line, short enough for a page."""
    line = " ".join(str(error).split())
    return f"{type(error).__name__}: {line}"[:300] if line else type(error).__name__
