"""What a trial left: the rows of its study, the journal, and what was done on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lab.harness.clients import Journal
from lab.harness.tables import Row, Tables


@dataclass
class Expected:
    """What a trial does on purpose, so that it is not taken for harm.

    `complete`: every topic comes to as many judgments as it wants. `tracebacks`: a pattern of what the logs may say.
    """

    complete: bool = True
    statuses: tuple[int, ...] = ()
    tracebacks: str = ""
    several_occasions: bool = False
    lowered: bool = False
    fitted: bool = True
    unsent: int = 0


@dataclass
class Seen:
    """A study's rows, with the journal of those who judged in it and what was observed meanwhile.

    `not_back`: waits a little, and says what the processes take that they did not take before.
    """

    tables: Tables
    study: int
    journal: Journal
    from_scratch: Callable[[int], dict[str, Any]]
    run: Callable[..., Any]
    not_back: Callable[[], Iterable[str]] = tuple
    observed: list[tuple[int, int, int]] = field(default_factory=list)
    log: str = ""
    expected: Expected = field(default_factory=Expected)

    def _of_study(self, columns: str, rest: str) -> list[Row]:
        return self.tables.rows(f"SELECT {columns} FROM annotate_itemset t {rest} WHERE t.study_id = ?", self.study)

    @cached_property
    def settings(self) -> Row:
        return self.tables.rows(
            "SELECT compares, judgments_per_topic, summary_judgments_per_topic, judgments_per_pair, "
            "pairs_per_annotator FROM annotate_study WHERE id = ?",
            self.study,
        )[0]

    def wanted(self, topic: int) -> int:
        """How many judgments are wanted of a topic, or of its summaries."""
        of_summaries = self.topics[topic]["of_summaries"]
        if self.settings["compares"] not in ("both", "summaries" if of_summaries else "sentences"):
            return 0
        return int(self.settings["summary_judgments_per_topic" if of_summaries else "judgments_per_topic"])

    @cached_property
    def assignments(self) -> dict[int, Row]:
        rows = self._of_study("a.*", "JOIN annotate_assignment a ON a.item_set_id = t.id")
        return {row["id"]: row for row in rows}

    @cached_property
    def judgments(self) -> list[Row]:
        rows = self._of_study("j.*", "JOIN annotate_judgment j ON j.item_set_id = t.id")
        return sorted(rows, key=lambda row: row["id"])

    @cached_property
    def annotators(self) -> dict[int, Row]:
        rows = self.tables.rows("SELECT * FROM annotate_annotator WHERE study_id = ?", self.study)
        return {row["id"]: row for row in rows}

    @cached_property
    def pairs(self) -> dict[int, Row]:
        return {row["id"]: row for row in self._of_study("p.*", "JOIN annotate_pair p ON p.item_set_id = t.id")}

    @cached_property
    def topics(self) -> dict[int, Row]:
        """By topic: its tally and how far the worker has come."""
        rows = self._of_study(
            "t.id, y.taken, y.of_summaries, y.data_version, COALESCE(g.fitted_version, 0) AS fitted_version, "
            "COALESCE(g.problem, '') AS problem",
            "JOIN annotate_tally y ON y.item_set_id = t.id "
            "LEFT JOIN annotate_itemsetprogress g ON g.item_set_id = t.id",
        )
        return {row["id"]: row for row in rows}

    @cached_property
    def last(self) -> dict[int, Row]:
        """By assignment: its last revision."""
        return {row["assignment_id"]: row for row in sorted(self.judgments, key=lambda row: row["revision"])}

    @cached_property
    def counted(self) -> dict[int, list[Row]]:
        """By topic: the judgments that count, in the order in which they were stored."""
        by_topic: dict[int, list[Row]] = {topic: [] for topic in self.topics}
        for row in self.judgments:
            if self.fate(row) == "counted":
                by_topic[row["item_set_id"]].append(row)
        return by_topic

    def fate(self, judgment: Row) -> str:
        """What became of a judgment; every one has one fate."""
        assignment = self.assignments[judgment["assignment_id"]]
        if self.last[assignment["id"]]["id"] != judgment["id"]:
            return "superseded"
        if judgment["answer"] == "undone":
            return "undone"
        if self.annotators[assignment["annotator_id"]]["excluded_at"] is not None:
            return "excluded"
        return "counted" if assignment["holds_place"] else "surplus"

    @cached_property
    def by_key(self) -> dict[tuple[str, int], list[Row]]:
        judgments: dict[tuple[str, int], list[Row]] = {}
        for row in self.judgments:
            judgments.setdefault((self.assignments[row["assignment_id"]]["key"], row["revision"]), []).append(row)
        return judgments
