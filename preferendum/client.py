"""A study on a server, for Python (docs/python.md). What it gives is plain lists and dicts, as the API has them."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Container, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from zipfile import ZipFile

from preferendum.about import __version__

Row = dict[str, Any]

#: Seconds for which a request is sent again and again, and that one try may wait for bytes.
PATIENCE, TIMEOUT = 60.0, 60.0
#: Answers that say to send the same again: too often, and what servers and proxies say while another one is away.
TRY_AGAIN = (429, 502, 503, 504)
#: Where programs find their token of the server.
TOKEN = "PREFERENDUM_TOKEN"  # noqa: S105  (its name, not what it is)
PAGE = 200


class ApiError(Exception):
    """What the API did not do, and why, in its words.

    `status`: of HTTP, 0 without an answer; `code`: for programs; `fields`: by value, what is wrong with it.
    """

    def __init__(self, status: int, code: str, message: str, fields: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(status, code, message, fields)
        self.status, self.code, self.message, self.fields = status, code, message, dict(fields or {})

    def __str__(self) -> str:
        wrong = [f"{name}: {reason}" for name, several in self.fields.items() for reason in several]
        return "\n  ".join([f"{self.message} ({self.code})", *wrong])


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token is sent to no other address."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Api:
    """Requests to one server. Each is sent until it is answered, under one key, so that it is done once."""

    owner = "Preferendum"

    def __init__(self, origin: str, token: str, scheme: str = "Bearer") -> None:
        parts = urlsplit(origin)
        is_here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
        if parts.scheme != "https" and not is_here:
            raise ValueError(f"{origin} does not begin with https://: others could read the token on its way.")
        if not re.fullmatch("[!-~]+", token := token.strip()):
            raise ValueError("A token is one word, such as prf_…")
        self.root = f"{origin}/api/v1/"
        self._headers = {"Authorization": f"{scheme} {token}", "User-Agent": f"preferendum/{__version__}"}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({} if is_here else None), _NoRedirects)

    def get(self, path: str, **asked: Any) -> Row:
        return self._read(self._send("GET", f"{path}?{urlencode(asked)}" if asked else path, None, {}))

    def fetch(self, path: str, timeout: float) -> bytes:
        """A file. Nothing of it arrives before the server has written all of it."""
        return self._send("GET", path, None, {}, timeout)

    def post(self, path: str, sent: bytes | Mapping[str, Any]) -> Row:
        body, kind = (sent, "octet-stream") if isinstance(sent, bytes) else (json.dumps(sent).encode(), "json")
        headers = {"Content-Type": f"application/{kind}", "Idempotency-Key": f'"{uuid.uuid4()}"'}
        return self._read(self._send("POST", path, body, headers))

    def put(self, path: str, sent: bytes, kind: str) -> Row:
        return self._read(self._send("PUT", path, sent, {"Content-Type": kind}))

    def _read(self, answer: bytes) -> Row:
        try:
            read: Row = json.loads(answer)
        except ValueError:
            raise ApiError(200, "http", f"{self.root} is no API of {self.owner}.") from None
        return read

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout: float = TIMEOUT,
        try_again: Container[int] = (0, *TRY_AGAIN),
    ) -> bytes:
        """The answer. `try_again`: after which statuses the same is sent again, 0 for none. Raises `ApiError`."""
        ends, pause, wait = time.monotonic() + PATIENCE, 0.5, ""
        while True:
            # A new one each time: one that went through a proxy would go there without TLS the second time.
            asked = urllib.request.Request(self.root + path, body, {**self._headers, **headers}, method=method)  # noqa: S310
            try:
                with self._opener.open(asked, timeout=timeout) as answered:
                    answer: bytes = answered.read()
                    return answer
            except urllib.error.HTTPError as refused:
                error, wait = _error(refused), refused.headers.get("Retry-After", "")
                is_final = error.status not in try_again and error.code != "running"
            except (OSError, http.client.HTTPException) as lost:  # refused, broken off, too late
                reason = getattr(lost, "reason", lost)
                error = ApiError(0, "unreachable", f"{self.root} does not answer: {reason}")
                is_final = 0 not in try_again or isinstance(reason, ssl.SSLCertVerificationError)
            pause = max(pause, float(wait)) if wait.isdigit() else pause
            if is_final or time.monotonic() + pause > ends:
                raise error
            time.sleep(pause)
            pause *= 2


def _error(answer: urllib.error.HTTPError) -> ApiError:
    """The API's own error; for a proxy or a redirect, the status of HTTP."""
    with answer:
        try:
            error = json.loads(answer.read())["error"]
            if "detail" in error:  # Prolific's
                return ApiError(answer.code, "http", f"{error['title']}: {error['detail']}")
            return ApiError(answer.code, error["code"], error["message"], error["fields"])
        except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError):
            where = answer.headers.get("Location")
            message = f"The server answers {answer.code} {answer.reason}" + (f", and leads to {where}" if where else "")
            return ApiError(answer.code, "redirect" if where else "http", message)


def print_progress(stored: int, total: int) -> None:
    """Say on one line of the terminal how many answers are stored."""
    print(f"\r{stored:,} of {total:,} answers", end="\n" if stored >= total else "", file=sys.stderr, flush=True)


class _Spent(Exception):
    """The budget is: what ended it."""


class _Budget:
    """Calls to a function, up to so many, or to so much at this price."""

    def __init__(self, most_calls: int | None, most_cost: float | None, price: float) -> None:
        if most_cost is not None and not price:
            raise ValueError("most_cost needs cost, that of a call.")
        self._most_calls, self._most_cost, self._price, self.calls = most_calls, most_cost, price, 0

    @property
    def cost(self) -> float:
        return self.calls * self._price

    def spend(self) -> None:
        """Count one call more. Raises `_Spent`."""
        if self._most_calls is not None and self.calls >= self._most_calls:
            raise _Spent("most_calls")
        if self._most_cost is not None and self.cost + self._price > self._most_cost * (1 + 1e-9):
            raise _Spent("most_cost")
        self.calls += 1


def _call(
    function: Callable[[Row], str | tuple[str, float]], pair: Row, tries: int, budget: _Budget
) -> tuple[str, float | None]:
    """The function's answer, with its confidence if it has one, in so many tries. Raises what the last one raised."""
    for number in range(1, tries + 1):
        budget.spend()
        try:
            given = function(pair)
            answer, confidence = (given, None) if isinstance(given, str) else given
            if answer not in pair["answers"]:
                raise ValueError(f"{answer!r} is none of {', '.join(pair['answers'])}")
            if confidence is not None and not 0 <= confidence <= 1:
                raise ValueError(f"a confidence of {confidence!r}: it is a number from 0 to 1")
            return answer, confidence
        except Exception:
            if number == tries:
                raise
            time.sleep(2.0 ** (number - 1))
    raise ValueError(f"tries={tries}: one call at least")


class Study:
    """A study, by the address at which a browser shows it, and a token of a user who may see it.

    Every method raises `ApiError`; those that wait raise `TimeoutError`, too.
    """

    def __init__(self, address: str, token: str) -> None:
        named = re.match(r"(https?://[^?#]+?)/(?:api/v1/)?studies/([0-9]+)", address)
        if named is None:
            raise ValueError(f"{address} is no address of a study, such as https://example.org/studies/5/")
        self.address = f"{named[1]}/studies/{named[2]}/"
        self._api, self._here = Api(named[1], token), f"studies/{named[2]}/"
        self._machines: dict[str, str] = {}

    @classmethod
    def create(cls, origin: str, token: str, **settings: Any) -> Study:
        """A new study on a server, such as https://example.org, with a `title` and whatever else is set."""
        made = Api(origin.rstrip("/"), token).post("studies/", settings)
        return cls(f"{origin.rstrip('/')}/studies/{made['id']}/", token)

    def __repr__(self) -> str:
        return f"Study({self.address!r})"

    def upload(self, file: str | Path, timeout: float = 600.0, columns: Row | None = None) -> Row:
        """Send a file and have it stored; the upload. `columns`: which ones of a table hold what, such as
        `{"topic": "doc", "text": "summary"}`. Raises `ApiError` with every complaint about the file."""
        path = f"{self._here}uploads/?filename={quote(Path(file).name)}"
        path += f"&columns={quote(json.dumps(columns))}" if columns else ""
        return self._store(self._api.post(path, Path(file).read_bytes()), timeout)

    def simulate(self, timeout: float = 600.0, **settings: Any) -> Row:
        """Have judgments simulated and stored, with `source`, `per_topic` and `seed`; the upload."""
        return self._store(self._api.post(f"{self._here}uploads/simulated/", settings), timeout)

    def wait(self, name: str = "", timeout: float = 600.0, **choices: str) -> None:
        """Wait until the leaderboard, or this analysis, has all that is known; `ApiError` if it lacks its data."""
        path = self._analysis(name) if name else f"{self._here}leaderboard/"
        shown = _until(lambda: self._api.get(path, **choices), _is_whole, timeout)
        if shown.get("needs"):
            raise ApiError(200, "needs", shown["needs"])

    def leaderboard(self, **choices: str) -> list[Row]:
        """A row for each system, the first place first; `scored_by` as the API has it."""
        rows: list[Row] = self._api.get(f"{self._here}leaderboard/", **choices)["systems"]
        return rows

    def judgments(self) -> list[Row]:
        """Every answer with all its revisions, in order of arrival."""
        return self._all("judgments/")

    def participants(self) -> list[Row]:
        """The platform's participants with outcome and code, in order of arrival."""
        return self._all("participants/")

    def put_demographics(self, table: bytes) -> Row:
        """Store Prolific's demographic data (CSV); how many participants' are `stored`, and are not: `revoked`,
        `expired`, `unknown`."""
        return self._api.put(f"{self._here}annotators/demographics/", table, "text/csv")

    def recruitment(self) -> Row:
        """The platform that annotators come from: its `platform`, the `link` to give to it, and completion codes."""
        return self._api.get(f"{self._here}recruitment/")

    def settings(self) -> Row:
        """The study with its settings."""
        return self._api.get(self._here)

    def results(self, name: str, table: str = "", **choices: str) -> list[Row]:
        """The rows of an analysis: of its main table, or the one of this name; none before it is worked out.

        The name of an analysis may be cut short, as in "agreement", if it is the only one that begins so.
        """
        tables: list[Row] = self._api.get(self._analysis(name), **choices)["tables"]
        rows: dict[str, list[Row]] = {own["name"]: own["rows"] for own in tables}
        return rows[table or tables[0]["name"]] if rows else []

    def dataset(self, folder: str | Path, texts: bool = True, timeout: float = 600.0) -> list[Path]:
        """Write the judgments that count into a folder, as a dataset to publish with its card and its description in
        Croissant; the files. `texts`: whether with the texts, which their licence may forbid to publish."""
        content = self._api.fetch(f"{self._here}dataset/?texts={str(texts).lower()}", timeout)
        with ZipFile(BytesIO(content)) as files:
            files.extractall(folder)
            return [Path(folder, name) for name in files.namelist()]

    def invite(self, **settings: Any) -> str:
        """A link that lets annotators in; `label` is for you to know it by."""
        return str(self._api.post(f"{self._here}invitations/", settings)["link"])

    def next_pair(self, machine: str, consent: int | None = None, **asked: Any) -> Row | None:
        """The pair that the machine of this name judges now: `question`, `left`, `right`; None when it has done all.

        `consent`: the version of the study's text that you agree to, if it has one. `asked`: which pairs, by `of`:
        "people", those that people judged, or "all" of summaries; a `share` of them; in `both_orders`.
        """
        if machine not in self._machines:
            self._join(machine, consent)
        try:
            return self._api.post(self._machines[machine], asked)
        except ApiError as error:
            if error.code not in ("done", "no_work"):
                raise
            return None

    def answer(self, pair: Row, answer: str, why: str = "", note: str = "", confidence: float | None = None) -> Row:
        """Say which of the pair is better, by one of its `answers`: "left", "right", or what else the study allows.

        `why`: some of its `reason_words`, with commas between them; `note`: a reason in your own words; `confidence`:
        how sure a machine is, from 0 to 1.
        """
        sent = {"revision": pair["revision"], "answer": answer, "why": why, "note": note, "confidence": confidence}
        return self._api.post(f"assignments/{pair['key']}/judgment/", sent)

    def judge(
        self,
        function: Callable[[Row], str | tuple[str, float]],
        machine: str,
        *,
        pairs: str | float = "people",
        both_orders: bool = True,
        most_calls: int | None = None,
        most_cost: float | None = None,
        tries: int = 4,
        consent: int | None = None,
        progress: Callable[[int, int], object] | None = print_progress,
        **about: Any,
    ) -> Row:
        """Let a function judge as the machine of this name, until it has done all or its budget is spent.

        Each answer is stored before the next call, and the study knows what is left: called again, this continues where
        it ended. What the function raises, or another answer than the study allows, is tried again after 1, 2, 4 ...
        seconds; the last error is raised.

        Parameters
        ----------
        function : callable
            Takes a pair (`question`, `prompt`, `left`, `right`, `answers`); returns one of its `answers`, or one with
            its confidence from 0 to 1, as in ("left", 0.9).
        pairs : str or float
            "people": those that people judged; "all" of summaries; a number from 0 to 1: such a share of these.
        both_orders : bool
            Whether each pair is judged twice, the second time with its sides swapped.
        most_calls, most_cost : int, float
            The budget; `most_cost` needs `cost`, that of a call.
        tries : int
            How many calls one answer may take.
        progress : callable, optional
            Gets how many answers are stored, and of how many.
        about
            What is known of the machine: `model`, `version`, `prompt`, `temperature`, `cost`, `currency`, `maker`,
            `made` (the systems by its maker).

        Returns
        -------
        dict
            `stored` answers, how many are `left`, `calls` and their `cost`; `stopped`: "" when all is done, or what
            ended it, "most_calls" or "most_cost".
        """
        budget = _Budget(most_calls, most_cost, about.get("cost") or 0.0)
        asked: Row = {"both_orders": both_orders}
        asked |= {"of": pairs} if isinstance(pairs, str) else {"of": "all", "share": pairs}
        self._join(machine, consent, about)
        total = self._api.get(self._machines[machine], **asked)["answers"]
        stored, stopped = 0, ""
        try:
            while (pair := self.next_pair(machine, **asked)) is not None:
                self._answer_once(pair, *_call(function, pair, tries, budget))
                stored += 1
                if progress is not None:
                    progress(stored, max(stored, total))
        except _Spent as spent:
            stopped = str(spent)
        left = max(total - stored, 0) if stopped else 0
        return {"stored": stored, "left": left, "calls": budget.calls, "cost": budget.cost, "stopped": stopped}

    def _all(self, path: str) -> list[Row]:
        rows: list[Row] = []
        asked: dict[str, Any] = {"page_size": PAGE}
        while asked:
            page = self._api.get(f"{self._here}{path}", **asked)
            rows += page["results"]
            asked = dict(parse_qsl(urlsplit(page["next"] or "").query))  # the token goes to no address but ours
        return rows

    def _join(self, machine: str, consent: int | None, about: Row | None = None) -> None:
        """Keep where the machine draws its pairs; say what is known of it."""
        sent = {"pseudonym": machine, "consent": consent, "judge": about or None}
        joined = self._api.post(f"{self._here}annotators/", sent)
        self._machines[machine] = f"{self._here}annotators/{joined['key']}/draw/"

    def _answer_once(self, pair: Row, answer: str, confidence: float | None) -> None:
        """Answer, unless another program of the same name has."""
        try:
            self.answer(pair, answer, confidence=confidence)
        except ApiError as error:
            if error.code not in ("answered", "out_of_turn"):
                raise

    def _store(self, upload: Row, timeout: float) -> Row:
        here = f"{self._here}uploads/{upload['key']}/"
        upload = _until(lambda: self._api.get(here), lambda own: own["state"] != "waiting", timeout)
        if upload["state"] == "ready":
            self._api.post(f"{here}confirm/", {})
            upload = _until(lambda: self._api.get(here), lambda own: own["state"] != "confirmed", timeout)
        if upload["state"] != "stored":
            reasons = [complaint["message"] for complaint in upload["complaints"]] or [upload["problem"]]
            message = f"{upload['filename']} is not stored: it is {upload['state']}."
            raise ApiError(200, upload["state"], message, {"file": [reason for reason in reasons if reason]})
        return upload

    def _analysis(self, name: str) -> str:
        """The path of the one that this name means."""
        questions: Any = self._api.get(f"{self._here}results/")
        names = [own["name"] for own in questions]
        meant = [name] if name in names else [own for own in names if own.startswith(name)]
        if len(meant) != 1:
            raise ValueError(f"{name} is no analysis; these are: {', '.join(meant or names)}")
        return f"{self._here}results/{meant[0]}/"


def _is_whole(shown: Row) -> bool:
    is_behind = shown.get("is_outdated") or shown.get("behind", 0) > len(shown.get("failures", ()))
    return bool(shown["problem"] or shown.get("needs") or not (shown["is_old"] or is_behind))


def _until(ask: Callable[[], Row], is_done: Callable[[Row], object], timeout: float) -> Row:
    """Repeat the request until it is done. Raises `TimeoutError`."""
    ends, pause = time.monotonic() + timeout, 0.1
    while not is_done(answer := ask()):
        if time.monotonic() > ends:
            raise TimeoutError(f"The worker is not done after {timeout:.0f} seconds. Is one running?")
        time.sleep(pause)
        pause = min(2 * pause, 2.0)
    return answer
