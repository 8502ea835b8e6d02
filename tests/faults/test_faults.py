"""A few trials of the fast faults on every run, and that the checker sees; `manage.py faults` tries all, and often."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from lab.__main__ import table
from lab.faults import load_registry
from lab.faults.disks import Met
from lab.faults.processes import busiest
from lab.harness import checker, disk, exported, mutants, tables
from lab.harness.edits import Begin, Copy, Gone, Replace
from lab.harness.footprint import Footprint, footprints, too_much
from lab.harness.product import ROOT, Product, wait_until
from lab.harness.proxy import Proxy
from lab.harness.trials import BOTH, Outcome, Trial, attempt

REGISTRY = load_registry()
FAST = ("F01", "F06")


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    """An installation of its own, on what the tests run on."""
    on = "services" if os.environ.get("DATABASE_URL", "").startswith("postgres") else "sqlite"
    with Product(on=on) as made:
        yield made


@pytest.fixture(scope="module")
def judged(product: Product) -> Iterator[Trial]:
    """A trial in which nothing went wrong."""
    trial = Trial(product, random.Random(7), "judged")
    with trial.load():
        pass
    assert trial.verdict() == []
    yield trial
    trial.journal.close()


@pytest.mark.parametrize("name", FAST)
def test_no_invariant_breaks(name: str, product: Product) -> None:
    outcome = attempt(REGISTRY[name], product, 1, seed=20180601)
    assert outcome.broken == []
    assert outcome.seen["confirmed"] >= 24


IN_STUDY = "WHERE item_set_id IN (SELECT id FROM annotate_itemset WHERE study_id = ?)"
OF_FITS = f"WHERE fit_id IN (SELECT id FROM annotate_fit {IN_STUDY})"
OF_RANKING = "WHERE ranking_id IN (SELECT id FROM annotate_ranking WHERE study_id = ?)"


@pytest.mark.parametrize(
    ("invariant", "table", "column", "where", "by"),
    [
        ("I4", "tally", "taken", IN_STUDY, -1),
        ("I4", "pair", "taken", IN_STUDY, -1),
        ("I6", "tally", "data_version", IN_STUDY, 1),
        ("I6", "utility", "utility", OF_FITS, 0.001),
        ("I6", "score", "score", OF_FITS, 0.001),
        ("I6", "systemscore", "rank", OF_RANKING, 1),
        ("I8", "annotator", "judged", "WHERE study_id = ?", 1),
    ],
)
def test_the_checker_sees_rows_that_are_wrong(
    invariant: str, table: str, column: str, where: str, by: float, judged: Trial
) -> None:
    def shift(step: float) -> None:
        said = f"UPDATE annotate_{table} SET {column} = {column} + ({step}) {where}"
        judged.product.tables.write(said, judged.given["study"])

    shift(by)
    try:
        found = list(checker.INVARIANTS[invariant](judged.facts()))
    finally:
        shift(-by)
    assert found


def test_the_checker_sees_what_is_lost_doubled_and_made_up(judged: Trial) -> None:
    facts = judged.facts()
    mine = next(entry for entry in judged.journal.of("acked") if entry["said"])
    first = facts.by_key[mine["key"], mine["revision"]][0]
    facts.by_key[mine["key"], mine["revision"]] = []
    assert any("is stored 0 times" in one for one in checker.acknowledged(facts))
    facts.by_key[mine["key"], mine["revision"]] = [first, first]
    assert any("is stored 2 times" in one for one in checker.one_current(facts))
    facts.by_key[mine["key"], mine["revision"]] = [first | {"answer": "tie"}]
    assert any("and is stored as tie" in one for one in checker.acknowledged(facts))
    assert any("was never sent so" in one for one in checker.sent(facts))


def test_the_checker_sees_versions_that_go_back_errors_and_leaks(judged: Trial) -> None:
    facts = judged.facts()
    facts.observed = [(1, 5, 4), (1, 5, 3)]
    assert list(checker.never_back(facts))
    facts.log = 'Traceback (most recent call last):\n  File "x"\nValueError: no\n'
    assert list(checker.no_trouble(facts)) == ["a traceback in the logs: ValueError: no"]
    facts.log = "canary-system-1"
    assert list(checker.secrets(facts))


def test_the_checker_sees_exports_that_are_not_the_rows(judged: Trial, tmp_path: Path) -> None:
    facts = judged.facts()
    first, second = facts.run(exported.ASK, study=facts.study)
    other = tmp_path / "other.zip"
    other.write_bytes(Path(second[1]).read_bytes() + b" ")

    def told(*answers: list[str]) -> list[str]:
        facts.run = lambda _code, **_names: answers
        return list(exported.exports(facts))

    assert told(first, second) == []
    assert "SHA-256" in told(first, [*second[:2], "0" * 64])[0]
    assert "differ" in told(first, ["ready", str(other), second[2]])[-1]
    assert "failed" in told(["failed", "", ""], second)[0]

    with zipfile.ZipFile(second[1]) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    for name in exported.tables(facts):
        lines = files[name].splitlines(keepends=True)
        assert any("differ first" in one for one in exported.differences(facts, files | {name: b"".join(lines[1:])}))
    assert any("MANIFEST" in one for one in exported.differences(facts, files | {"README.txt": b""}))


USUAL = {"web": Footprint((70.0, 60.0, 60.0), 400 << 20, 100)}


@pytest.mark.parametrize(
    ("now", "complaints"),
    [
        (Footprint((9.0, 8.0, 8.0), 470 << 20, 119), ()),
        (Footprint((9.0, 8.0, 8.0), 200 << 20, 20), ()),
        (Footprint((9.0, 8.0, 8.0), 490 << 20, 119), ("web: 490 MB of memory, 400 before",)),
        (Footprint((9.0, 8.0, 8.0), 400 << 20, 121), ("web: 121 open files, 100 before",)),
        (Footprint((9.0, 8.0), 300 << 20, 80), ("web: 2 processes, 3 before",)),
        (Footprint((9.0, 8.0, 0.5), 400 << 20, 80), ("web: a process is 0.5 s old, however long one waits",)),
    ],
)
def test_the_checker_sees_memory_files_and_processes_that_do_not_come_back(
    now: Footprint, complaints: tuple[str, ...]
) -> None:
    assert tuple(too_much(USUAL, {"web": now})) == complaints


def test_processes_are_found_wherever_they_went(judged: Trial) -> None:
    product = judged.product
    before = footprints(product.mark_of_processes)
    assert {part: len(one.ages) for part, one in before.items()} == {"supervisor": 1, "web": 3, "worker": 3}
    assert all(one.memory > 1 << 20 and one.files >= 3 for one in before.values())
    left_over = product.popen(["sleep", "60"])
    try:
        found = list(too_much(before, footprints(product.mark_of_processes)))
    finally:
        left_over.kill()
        left_over.wait()
    assert "others: 1 processes, 0 before" in found


def test_a_network_settles_once_the_website_has_heard_all_that_it_held_back() -> None:
    with socket.create_server(("127.0.0.1", 0)) as website, Proxy(website.getsockname()) as proxy:
        website.settimeout(10)
        proxy.off.set()
        with socket.create_connection(proxy.address) as gives_up:
            gives_up.sendall(b"POST /undo/ HTTP/1.1\r\n\r\n")
            wait_until(lambda: proxy.holds, "the request is held back", 10)
        waits = threading.Thread(target=proxy.settle)
        waits.start()
        proxy.off.clear()
        heard, _ = website.accept()
        with heard:
            assert heard.recv(100).startswith(b"POST /undo/")
            assert waits.is_alive()
            heard.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            waits.join(10)
        assert not waits.is_alive()


def test_tables_are_asked_again_by_a_new_connection_where_the_server_died(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Kept:
        closed = False

        def __init__(self, _url: str) -> None:
            self.connection, self.asked = self, 0
            made.append(self)

        def execute(self, _sql: str, _parameters: Any) -> Any:
            self.asked += 1
            if self.asked > 1 and len(made) == 1:
                raise psycopg.OperationalError("server closed the connection unexpectedly")
            return self

        def fetchall(self) -> list[dict[str, int]]:
            return [{"number": len(made)}]

    monkeypatch.setattr(tables, "Kept", Kept)
    asked = tables.Tables("postgres://nobody@nowhere/nothing")
    assert [asked.value("SELECT 1") for _ in range(3)] == [1, 2, 2]


def test_a_full_disk_that_nobody_met_is_complained_of() -> None:
    entries: list[dict[str, Any]] = [{"event": "acked"}]
    trial = SimpleNamespace(journal=SimpleNamespace(entries=entries, acked=1), product=SimpleNamespace(postgres=None))
    met = Met(trial, None, "")  # type: ignore[arg-type]
    met.uploads.update([202])
    met.ready.update([200, 503])
    assert [one.partition(":")[0] for one in met.complaints()] == [
        "the disk was never full for those who judge",
        "a file that met a full disk was answered [202]",
        "no file was refused",
        "/health/ready said 1 times that all is well on a full disk",
    ]
    entries.append({"event": "error", "status": 503})
    met.uploads, met.ready = Counter([0, 503, 507]), Counter([503])
    assert list(met.complaints()) == []


@pytest.mark.skipif(not disk.possible(), reason="needs root and loop devices")
def test_a_small_disk_can_be_without_room_or_names(tmp_path: Path) -> None:
    small = disk.SmallDisk(tmp_path / "disk", 20)
    try:
        file = small.folder / "file"
        file.write_bytes(b"x" * 1000)
        small.fill()
        with pytest.raises(OSError, match="No space"):
            (small.folder / "another").write_bytes(b"x" * 100_000)
        small.free()
        file.write_bytes(b"x" * 1_000_000)
        small.fill_names()
        file.write_bytes(b"x" * 2_000_000)
        with pytest.raises(OSError, match="No space"):
            (small.folder / "one more").touch()
        small.free_names()
        (small.folder / "one more").touch()
    finally:
        small.unmount()


def test_every_fault_says_where_it_is_tried_and_how_often() -> None:
    for one in REGISTRY.values():
        assert set(one.on) <= set(BOTH)
        assert one.release > 0
        assert one.title


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda one: one.id)
def test_every_mutant_finds_its_place_and_its_tests(mutant: mutants.Mutant) -> None:
    for path, text in mutants.mutated(ROOT, mutant).edited.items():
        assert text != path.read_text()
    for test in mutant.tests:
        path, _, name = test.partition("::")
        assert f"def {name}" in (ROOT / path).read_text()


def test_an_edit_finds_its_place_whatever_the_layout_and_refuses_to_guess(tmp_path: Path) -> None:
    file = tmp_path / "annotate" / "room" / "file.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "class Door:\n    def open(self):\n      with lock(\n        self\n      ):\n        turn()\nturn()\n"
    )
    copy = Copy(tmp_path)
    Replace("Door.open", "with lock(ANY):\n    ...", "check(ANY)\n...").make(copy)
    copy.save()
    assert file.read_text() == "class Door:\n\n    def open(self):\n        check(self)\n        turn()\nturn()"
    with pytest.raises(Gone, match="2 places"):
        Replace("", "turn()", "None").make(copy)
    with pytest.raises(Gone, match="0 places"):
        Begin("close", "pass").make(copy)


def test_a_report_becomes_a_table() -> None:
    told = table(
        [
            Outcome("F01", "kill", "sqlite", 1, 1, 2.0, {"confirmed": 24, "ms until quiet": 900}, [], 4),
            Outcome("F01", "kill", "services", 1, 1, 2.0, {"confirmed": 25, "ms until quiet": 1500}, ["I4: x"], 4),
        ]
    )
    assert "| F01 kill | 8 (4 + 4) | 2 | confirmed 49; until quiet 1.5 s (longest 1.5 s) | I4 in 1 |" in told


def test_the_process_that_computes_is_told_from_those_that_wait() -> None:
    codes = ("import time; time.sleep(60)", "while True: pass")
    waiting, computing = (subprocess.Popen([sys.executable, "-c", code]) for code in codes)
    try:
        wait_until(lambda: busiest([waiting.pid, computing.pid]) == computing.pid, "it computes")
    finally:
        for process in (waiting, computing):
            process.kill()
            process.wait()
