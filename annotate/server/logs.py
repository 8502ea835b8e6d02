"""The logs: one line an event, with its request or task, and without private data.

A request's id is made here (or taken from a trusted proxy), and is in every line that is written during the request,
in the answer's `X-Request-ID` and on error pages, and stored nowhere else. Addresses hold invitations, platforms' ids
of people and search terms; PostgreSQL's errors hold rows. So the formatters write the route in place of an address and
leave such details out, in every logger's lines.
"""

from __future__ import annotations

import copy
import logging
import os
import re
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from pythonjsonlogger.json import JsonFormatter

HEADER = "X-Request-ID"
#: Longer or stranger ones would let a client write what it likes into the log.
GIVEN_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
#: The part of PostgreSQL's messages that quotes what was sent, to the end of the message.
QUOTED = re.compile(r"^(DETAIL|CONTEXT|LINE \d+):.*?(?=^\n(?:The above|During handling)|\Z)", re.MULTILINE | re.DOTALL)
UNKNOWN = "(no such address)"

#: This thread's work: {"request": id} in the website, {"task": id, "work": "refit_topic 12"} in a worker.
at_work: ContextVar[dict[str, str]] = ContextVar("at_work", default={})  # noqa: B039 - it is never changed in place

logger = logging.getLogger(__name__)
Answerer = Callable[[HttpRequest], HttpResponse]


def request_ids(get_response: Answerer) -> Answerer:
    """Give each request an id, and log one line (at level INFO) about its answer."""

    def middleware(request: HttpRequest) -> HttpResponse:
        name = _id_of(request)
        request.id = name  # type: ignore[attr-defined]  # Django writes some lines when we are done
        token = at_work.set({"request": name})
        began = time.perf_counter()
        try:
            response = get_response(request)
            response.headers[HEADER] = name
            milliseconds = round((time.perf_counter() - began) * 1000, 1)
            outcome = {"status": response.status_code, "milliseconds": milliseconds}
            logger.info("%s %s", request.method, route_of(request), extra=outcome)
            return response
        finally:
            at_work.reset(token)

    return middleware


def _id_of(request: HttpRequest) -> str:
    given = request.headers.get(HEADER, "")
    return given if settings.BEHIND_PROXY and GIVEN_ID.fullmatch(given) else secrets.token_hex(8)


def request_id() -> str:
    """The id of the request that this thread answers."""
    return at_work.get().get("request", "")


def route_of(request: HttpRequest) -> str:
    """The address as its route in the URL patterns, without arguments."""
    match = getattr(request, "resolver_match", None)
    return f"/{match.route}" if match else UNKNOWN


class Discreet(logging.Formatter):
    """Adds what a record belongs to, and leaves out private data."""

    def format(self, record: logging.LogRecord) -> str:
        copied = copy.copy(record)
        request = vars(copied).pop("request", None)
        vars(copied).update(at_work.get())
        if isinstance(request, HttpRequest):
            copied.request = getattr(request, "id", "")
            copied.args = _without_address(copied.args, request)
        elif record.name.startswith("gunicorn") and "request" in str(record.msg):
            copied.args = _without_strings(copied.args)
        elif record.name == "waitress":
            copied.msg = str(record.msg).partition(" while serving ")[0]
        copied.exc_text = None
        error = copied.exc_info[1] if copied.exc_info else None
        is_refusal = isinstance(request, HttpRequest) and getattr(copied, "status_code", 500) != 500
        if error is not None and (is_refusal or isinstance(error, OperationalError | InterfaceError)):
            _in_a_line(copied, error)
        return super().format(copied)

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        """The traceback, without the rows that a database's error quotes."""
        return QUOTED.sub("", super().formatException(ei))


class Plain(Discreet):
    """For the terminal: what a record belongs to is at the end of its first line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        fields = {name: getattr(record, name, "") for name in ("request", "task", "work", "status", "milliseconds")}
        end = " ".join(f"{name}={value}" for name, value in fields.items() if value)
        line = super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")
        return f"{line} [{end}]" if end else line


class Json(Discreet, JsonFormatter):
    """One JSON object a line."""


def _in_a_line(record: logging.LogRecord, error: BaseException) -> None:
    """Put the error in place of its traceback: a request was refused, or the database is away.

    Only its first line: the further ones of a database's error quote what was sent.
    """
    text, reason = record.getMessage(), str(error).partition("\n")[0]
    record.exc_info = None
    record.msg, record.args = (text if reason in text else f"{text} ({reason})"), ()


def _without_address(args: Any, request: HttpRequest) -> Any:
    address = {request.path, request.path_info, request.get_full_path()}
    return _replaced(args, lambda value: value in address, route_of(request))


def _without_strings(args: Any) -> Any:
    return _replaced(args, lambda value: isinstance(value, str), "-")


def _replaced(args: Any, hides: Callable[[Any], bool], by: str) -> Any:
    return tuple(by if hides(value) else value for value in args) if isinstance(args, tuple) else args


def configuration() -> dict[str, Any]:
    """The logging of the website, gunicorn and the worker, all to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "plain": {"()": Plain, "format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
            "json": {"()": Json, "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": os.environ.get("PREFERENDUM_LOG_FORMAT", "plain"),
            }
        },
        "root": {"handlers": ["stderr"], "level": os.environ.get("PREFERENDUM_LOG_LEVEL", "WARNING").upper()},
        "loggers": {
            "gunicorn.error": {"handlers": [], "propagate": True},
            "waitress.queue": {"level": "ERROR"},  # that a request waits for a thread is not worth a line
        },
    }
