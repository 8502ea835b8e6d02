"""A second count: what a study may say, from the files of its exported archive alone.

Nothing here is of the product. It reads the JSON lines, counts them in plain Python, and takes pages' words apart;
`test_recount` holds the two beside each other.
"""

from __future__ import annotations

import html
import io
import json
import math
import re
import zipfile
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import Any

#: The kinds of annotators that a study counts, by its setting, the one whose judgments are asked for first.
COUNTED = {
    "people": ["human"],
    "people-and-machines": ["human", "machine"],
    "people-and-simulated": ["human", "simulated"],
    "machines": ["machine"],
    "simulated": ["simulated"],
    "all": ["human", "machine", "simulated"],
}
#: By how many standard errors of a coin a system may have fewer wins in the files than one that it is said to beat.
NOISE = 2.0
Row = dict[str, Any]


class Recount:
    """The rows of an archive's assignments with their last answers; `of` narrows them to one question."""

    def __init__(self, packed: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(packed)) as files:
            self.settings: Row = json.loads(files.read("study.json"))["settings"]
            self.topics = _lines(files, "topics")
            self.sentences = _lines(files, "sentences")
            self.annotators = {row["pseudonym"]: row for row in _lines(files, "annotators")}
            self.gold_pairs = _lines(files, "gold_pairs")
            self.fits = _lines(files, "fits")
            shown, answers = _lines(files, "assignments"), _lines(files, "judgments")
        last: dict[str, Row] = {}
        for answer in answers:
            if answer["assignment"] not in last or answer["revision"] > last[answer["assignment"]]["revision"]:
                last[answer["assignment"]] = answer
        self.kinds = COUNTED[self.settings.get("counted_kinds", "people")]
        self.texts = {(row["topic"], f"{row['document']}:{row['index']}"): row["text"] for row in self.sentences}
        answered = [
            row | {"answer": last[row["key"]]["answer"], "of": row.get("of", "sentences"), "by": by, "kind": by["kind"]}
            for row in shown
            if row["state"] == "judged" and last[row["key"]]["answer"] != "undone"
            for by in [self.annotators[row["annotator"]]]
        ]
        self.answered = [row for row in answered if not row["by"].get("excluded_at")]
        self.of_excluded = [row for row in answered if row["by"].get("excluded_at")]

    def rows(self, of: str = "", kinds: Collection[str] = ()) -> list[Row]:
        """The judgments that count, of one question or of both; or those of other `kinds` in their place."""
        wanted = kinds or self.kinds
        return [row for row in self.answered if row["holds_place"] and row["kind"] in wanted and of in ("", row["of"])]

    def judged(self, rows: Collection[Row]) -> dict[str, int]:
        """How many each kind gave, and how many of people's were imported."""
        kinds = Counter(row["kind"] for row in rows)
        imported = sum(row["kind"] == "human" and row["reason_shown"] == "imported" for row in rows)
        return {"human": kinds["human"], "imported": imported, **{k: kinds[k] for k in ("machine", "simulated")}}

    def copies(self, of: str = "") -> list[Row]:
        """Imported judgments that count nowhere, because both texts are the same."""
        imported = [row for row in self.answered if row["reason_shown"] == "imported" and of in ("", row["of"])]
        return [row for row in imported if not row["holds_place"]]

    def answers(self, of: str = "", recruited: Collection[str] = ()) -> Row:
        """Who gave how many judgments about what, as the product's record has it; `recruited`: their pseudonyms."""
        rows = self.rows(of)
        others = self.rows(of, [kind for kind in ("human", "machine", "simulated") if kind not in self.kinds] or ["-"])
        here = sorted(row["closed_at"][:10] for row in rows if row["reason_shown"] != "imported")
        reasons = Counter((row["reason_shown"], row["of"]) for row in rows)
        named = [row for row in rows if not row["by"].get("unnamed")]
        return {
            "rests_on": {
                "kinds": self.settings.get("counted_kinds", "people"),
                "counted": self.judged(rows),
                "not_counted": self.judged(others),
                "of_copies": len(self.copies(of)),
                "about_summaries": sum(row["of"] == "summaries" for row in rows),
            },
            "human": len({row["annotator"] for row in named if row["kind"] == "human"}),
            "machine": len({row["annotator"] for row in rows if row["kind"] == "machine"}),
            "simulated": len({row["annotator"] for row in rows if row["kind"] == "simulated"}),
            "unnamed": sum(row["kind"] == "human" and bool(row["by"].get("unnamed")) for row in rows),
            "recruited": len({row["annotator"] for row in named if row["annotator"] in recruited}),
            "pairs": len({(row["of"], row["topic"], frozenset((row["left"], row["right"]))) for row in rows}),
            "topics": len({row["topic"] for row in rows}),
            "first": here[0] if here else "",
            "last": here[-1] if here else "",
            "random": reasons["random", "sentences"] + reasons["random", "summaries"],
            "telling": reasons["suggested", "sentences"],
            "planned": reasons["suggested", "summaries"],
        }

    def words(self, of: str = "") -> str:
        """Say who gave how many judgments, about what."""
        own = self.answers(of)
        counted, about = own["rests_on"]["counted"], own["rests_on"]["about_summaries"]
        total = counted["human"] + counted["machine"] + counted["simulated"]
        if not total:
            return "No judgment counts so far."
        given = []
        if named := counted["human"] - own["unnamed"]:
            imported = counted["imported"] - own["unnamed"]
            beside = "" if imported <= 0 else " (imported)" if imported == named else f" ({imported:,} imported)"
            given.append(f"{_n(own['human'], 'person', 'people')} gave {_n(named, 'judgment')}{beside}")
        if own["unnamed"]:
            given.append(f"{_n(own['unnamed'], 'judgment')} by people whom no file names")
        if counted["machine"]:
            given.append(f"{_n(own['machine'], 'machine')} gave {_n(counted['machine'], 'judgment')}")
        if counted["simulated"]:
            who = _n(own["simulated"], "simulated annotator")
            given.append(f"{who} gave {_n(counted['simulated'], 'judgment')}")
        both = f"{total - about:,} about sentences, {about:,} about summaries" if 0 < about < total else ""
        if both:
            is_of_all = len(given) == 1 and not counted["imported"]
            both = f" ({both})" if is_of_all else f". In all: {both}"
        return f"{'; '.join(given)}{both}, on {_n(own['topics'], 'topic')}."

    def who(self) -> set[int]:
        """The numbers of annotators that a page may name: of those who gave judgments that count, by kind and question
        or together; and of those who were excluded though they had answered."""
        found: set[int] = set()
        for of in ("", "sentences", "summaries"):
            own = self.answers(of)
            found |= {own["human"], own["machine"], own["simulated"]}
            found.add(len({row["annotator"] for row in self.rows(of) if not row["by"].get("unnamed")}))
            for kind in ("human", "machine", "simulated"):
                found.add(len({row["annotator"] for row in self.rows(of, [kind])}))
        return found

    def here(self, of: str = "") -> list[Row]:
        """The judgments that count and that people gave here."""
        return [row for row in self.rows(of) if row["kind"] == "human" and row["reason_shown"] != "imported"]

    def checks(self) -> set[str]:
        """Why people were shown pairs here whose answers count nowhere: practice, gold pairs, repeats."""
        reasons = {row["reason_shown"] for row in (*self.answered, *self.of_excluded) if row["kind"] == "human"}
        return reasons & {"training", "gold", "repeat"}

    def named(self, of: str) -> tuple[int, bool]:
        """How many annotators are known by name, and whether all judgments are by such."""
        rows = self.rows(of)
        named = {row["annotator"] for row in rows if not row["by"].get("unnamed")}
        return len(named), not any(row["by"].get("unnamed") for row in rows)

    def excluded(self) -> int:
        """How many were excluded though they had answered."""
        return len({row["annotator"] for row in self.of_excluded})

    def material(self) -> dict[str, int]:
        """How many texts of each kind there are."""
        return {
            "topics": len(self.topics),
            "documents": sum(len(topic.get("documents", ())) for topic in self.topics),
            "sentences": len(self.sentences),
            "systems": len(self.systems()),
            "summaries": sum(len(topic.get("summaries", ())) for topic in self.topics),
            "references": sum(len(topic.get("references", ())) for topic in self.topics),
        }

    def effective(self, of: str) -> float:
        """As many annotators who answer equally often (Kish 1965): of sentences each topic alike, of whole summaries,
        which one fit scores, each answer."""
        by_topic: dict[str, Counter[str]] = {}
        for row in self.rows(of):
            if not row["by"].get("unnamed"):
                topic = row["topic"] if of == "sentences" else ""
                by_topic.setdefault(topic, Counter())[row["annotator"]] += 1
        share: dict[str, float] = {}
        for own in by_topic.values():
            for annotator, n in own.items():
                share[annotator] = share.get(annotator, 0.0) + n / own.total() / len(by_topic)
        return 1 / sum(own**2 for own in share.values()) if share else 0.0

    def shared(self, of: str = "") -> dict[tuple[str, str, frozenset[str]], list[str]]:
        """What annotators of the leading kind preferred at each pair that two or more of them judged; of somebody who
        judged it again, the first time."""
        chosen: dict[tuple[str, str, frozenset[str]], dict[str, str]] = {}
        for row in sorted(self.rows(of, self.kinds[:1]), key=lambda row: row["occasion"]):
            pair = row["of"], row["topic"], frozenset((row["left"], row["right"]))
            preferred = row[row["answer"]] if row["answer"] in ("left", "right") else ""
            chosen.setdefault(pair, {}).setdefault(row["annotator"], preferred)
        return {pair: list(preferred.values()) for pair, preferred in chosen.items() if len(preferred) > 1}

    def agreeing(self, of: str = "") -> tuple[int, float]:
        """How often two judgments of a shared pair can be compared, and in which percentage they prefer the same."""
        two = [a == b for preferred in self.shared(of).values() for a, b in combinations(preferred, 2)]
        return len(two), 100 * sum(two) / len(two)

    def wins(self, better: str, worse: Collection[str]) -> tuple[float, int]:
        """How often a system won directly against others, of how many answers; a tie is half a win."""
        won, n = 0.0, 0
        for row in self.rows("summaries"):
            other = {row["left"], row["right"]} - {better}
            if len(other) == 1 and other <= set(worse):
                n += 1
                side = row.get(row["answer"]) if row["answer"] in ("left", "right") else None
                won += 0.5 if side is None else side == better
        return won, n

    def persons(self) -> set[str]:
        """Systems that are people."""
        return {own["system"] for topic in self.topics for own in topic.get("summaries", ()) if own.get("person")}

    def systems(self) -> set[str]:
        """All that summarized a topic."""
        return {own["system"] for topic in self.topics for own in topic.get("summaries", ())}

    def ranked(self, way: str) -> set[str]:
        """The systems on a board, people aside where there are others: of win rates those whose summaries were
        compared, else those with a score in any fit."""
        if way == "win-rate":
            found = {name for row in self.rows("summaries") for name in (row["left"], row["right"])}
        else:
            of_way = [fit for fit in self.fits if fit.get("scored_by", "recommended") == way]
            found = {name for fit in of_way for name, own in fit["scores"].items() if own[0] is not None}
        return found - self.persons() or found

    def asked(self, of: str) -> set[str]:
        """Topics with something to be asked about."""
        if of == "sentences":
            return {row["topic"] for row in self.sentences}
        return {topic["topic_id"] for topic in self.topics if topic.get("summaries")}

    def wanted(self, of: str = "") -> dict[tuple[str, str], int]:
        """How many judgments are asked for, by question and topic."""
        asked = {"both": ("sentences", "summaries")}.get(compares := self.settings["compares"], (compares,))
        names = {"sentences": "judgments_per_topic", "summaries": "summary_judgments_per_topic"}
        texts = Counter(("sentences", row["topic"]) for row in self.sentences if not row.get("not_judged"))
        texts += Counter(("summaries", own["topic_id"]) for own in self.topics for _ in own.get("summaries", ()))
        each = self.settings["judgments_per_pair"]
        return {
            (what, topic): min(self.settings[names[what]], n * (n - 1) // 2 * each)
            for (what, topic), n in texts.items()
            if what in asked and of in ("", what)
        }

    def leading(self) -> Counter[tuple[str, str]]:
        """The judgments that count of the leading kind, by question and topic."""
        return Counter((row["of"], row["topic"]) for row in self.rows() if row["kind"] == self.kinds[0])


def kinds_words(judged: dict[str, int]) -> str:
    """Say how many judgments each kind gave."""
    people, imported = judged["human"], judged["imported"]
    parts = []
    if people or not any(judged.values()):
        beside = " (imported)" if 0 < imported == people else f" ({imported:,} imported)" if imported else ""
        parts.append(f"{people:,} by people{beside}")
    parts += [f"{judged['machine']:,} by machines"] if judged["machine"] else []
    return ", ".join([*parts, *([f"{judged['simulated']:,} simulated"] if judged["simulated"] else [])])


def _n(number: int, noun: str, nouns: str = "") -> str:
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def _lines(files: zipfile.ZipFile, name: str) -> list[Row]:
    return [json.loads(line) for line in files.read(f"{name}.jsonl").decode().splitlines() if line.strip()]


# What pages say


def text_of(page: str) -> str:
    """The words of a page, without its marks."""
    words = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", words)).split())


def paragraphs(page: str, kind: str) -> list[str]:
    """The words of each paragraph of this class."""
    return [text_of(own) for own in re.findall(rf'<p class="{kind}">(.*?)</p>', page, flags=re.DOTALL)]


def people_named(words: str) -> list[int]:
    """The numbers that stand before annotators of any kind."""
    found = re.findall(r"(\d[\d,]*) (?:simulated |other |named )?(?:people|persons?|annotators?|machines?)\b", words)
    return [int(number.replace(",", "")) for number in found]


def widths(words: str) -> list[tuple[str, str]]:
    """The ends of all intervals, as they are written."""
    number = r"[-−]?\d+(?:\.\d+)?"
    return re.findall(rf"\[({number})(?:,| to| –|–) ?({number})\]", words)


@dataclass(frozen=True)
class Claims:
    """What a headline says: which system is better than which, and which the first one is not told apart from.

    `alike`: names, or how many; `apart`, `tests`: of so many pairs so many are told apart.
    """

    better: frozenset[tuple[str, str]] = frozenset()
    first: str = ""
    alike: frozenset[str] | int | None = None
    apart: int | None = None
    tests: int | None = None
    early: str = ""


def claims_of(words: str, names: Collection[str]) -> Claims:
    """Take a headline apart; it must be one of the sentences that are known here."""
    name = f"({'|'.join(re.escape(own) for own in sorted(names, key=len, reverse=True))})"
    if "It is too early to tell systems apart" in words:
        return Claims(early=words)
    if "So far the answers do not tell these systems apart." in words:
        return Claims(apart=0)
    if found := re.match(rf"{name} leads all other systems\.", words):
        return Claims(frozenset((found[1], own) for own in names if own != found[1]), found[1], frozenset())
    if found := re.match(rf"{name} leads {name}\.", words):
        return Claims(frozenset([(found[1], found[2])]), found[1], frozenset())
    if found := re.match(rf"{name} leads; (.+?) cannot be told from it\.", words):
        number = re.fullmatch(r"(\d+) (?:of \d+ )?other systems?", found[2])
        alike = int(number[1]) if number else frozenset(re.findall(name, found[2]))
        return Claims(frozenset(), found[1], alike)
    found = re.match(rf"{name} is better than {name}; of (\d+) pairs of systems (\d+) (?:is|are) told apart\.", words)
    assert found, f"an unknown headline: {words}"
    last = re.search(rf"{name} scores highest, but cannot be told from any other system", words)
    assert last, words
    return Claims(
        frozenset([(found[1], found[2])]), last[1], frozenset(names) - {last[1]}, int(found[4]), int(found[3])
    )


def brackets_of(page: str) -> dict[str, set[int]]:
    """The brackets that each system is in, by name, as they are drawn; nothing where none are."""
    lanes: dict[str, set[int]] = {}
    now: Counter[int] = Counter()
    for row in re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL):
        cell = re.search(r'<td class="brackets">(.*?)</td>', row, flags=re.DOTALL)
        named = re.search(r'<bdi class="given">(.*?)</bdi>', row)
        if cell is None or named is None:
            continue
        parts = re.findall(r'<span class="(\w*)" aria-hidden="true">', cell[1])
        if not parts:
            continue
        for lane, part in enumerate(parts):
            now[lane] += part == "begins"
            if part in ("begins", "continues", "ends"):
                lanes.setdefault(html.unescape(named[1]), set()).add(1000 * lane + now[lane])
        lanes.setdefault(html.unescape(named[1]), set())
    return lanes


def alike_said(page: str) -> dict[str, str]:
    """What a screen reader says beside the brackets of each row: whom the system is not told apart from."""
    said = {}
    for row in re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL):
        cell = re.search(r'<td class="brackets">(.*?)</td>', row, flags=re.DOTALL)
        named = re.search(r'<bdi class="given">(.*?)</bdi>', row)
        if cell and named and (words := text_of(cell[1])):
            said[html.unescape(named[1])] = words
    return said


def has_no_fewer_wins(won: float, n: int) -> bool:
    """Whether a share of direct answers is not below one half by more than `NOISE` standard errors of a coin."""
    return won >= n / 2 - NOISE * math.sqrt(n) / 2
