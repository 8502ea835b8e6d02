"""How many clicks and seconds does a stranger need?

    python -m benchmarks.walk [--topics FILE]

A clean clone, `manage.py demo` in it as README says, and a real Chromium that follows what the terminal and the pages
show, and nothing else: from README to the first judgment that is stored; from a leaderboard to a LaTeX table that
pdflatex sets; from the list of studies and a file to an invitation in the clipboard, with SummEval-OP and with an arena
of two systems' outputs for two prompts; from a file with SummEval's summaries, 300 answers by its experts and the
verdicts of two judges on all pairs to the board that one of them helps, its card, and the study's archive, from which
Python makes the same card and board to the last digit. For these the demo's researcher has signed in by their link,
which is one click. Clicks count what is pressed with the mouse, links
among them; fields count what is typed or chosen. Seconds are those in which the machines are busy: a person's reading
and typing come on top. The environment is the one this program runs in, so the minutes in which the first start
installs packages are not in it; what is not committed is not in the clone.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Locator, Page, sync_playwright

import preferendum as pf
from benchmarks.corpora import DATA
from benchmarks.judges import summeval
from benchmarks.serving import ROOT
from lab.services import free_port, wait_until

CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if os.path.exists(path)), None)
FILE, SUMMEVAL = DATA / "summeval_op" / "topics.jsonl", DATA / "summeval" / "topics.jsonl"
#: The judge that helps people.
JUDGE = "gpt-4o-mini"
#: ms in which a large file is read, stored and worked out.
MINUTES = 200_000
#: ms after a pair appears in which its cards take no click.
DEAF = 350
#: An arena: prompts without documents, and what two systems answered.
OUTPUTS = [
    {
        "topic_id": f"p{number}",
        "question": question,
        "summaries": [{"system": "A", "text": a}, {"system": "B", "text": b}],
    }
    for number, (question, a, b) in enumerate(
        (
            ("Why is the sky blue?", "Air scatters blue light more than red.", "It reflects the colour of the sea."),
            ("What is a prime number?", "One with two divisors.", "A number above 1 that only 1 and itself divide."),
        )
    )
]
PAPER = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{table}\end{document}"


@dataclass
class Walker:
    """Somebody at a page, with what they did so far."""

    page: Page
    clicks: int = 0
    fields: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def press(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name).first)

    def follow(self, name: str) -> None:
        self.click(self.page.get_by_role("link", name=name).first)

    def fill(self, label: str, text: str) -> None:
        self.page.get_by_label(label).fill(text)
        self.fields += 1

    def choose_file(self, label: str, file: Path) -> None:
        """The button of the field, and then the file."""
        with self.page.expect_file_chooser() as chooser:
            self.click(self.page.get_by_label(label))
        chooser.value.set_files(file)
        self.fields += 1


def main() -> None:
    """Start, walk, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--topics", type=Path, default=FILE, help="what a researcher uploads")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--no-proxy-server"])
        began = time.monotonic()
        with demo(Path(folder)) as links:
            print(f"From `git clone` to the demo's links: {time.monotonic() - began:.1f} s\n")
            print("| walk | clicks | fields | seconds |\n|---|---|---|---|")
            walk("README to the first judgment", opened(browser, links["annotator"]), judge_once)
            researcher = opened(browser, links["researcher"])
            researcher.get_by_role("button", name="Sign in").click()
            researcher.get_by_role("link", name="Results", exact=True).click()
            walk("leaderboard to LaTeX table", researcher, lambda walker: set_table(walker, Path(folder)))
            outputs = Path(folder, "outputs.jsonl")
            outputs.write_text("".join(json.dumps(topic) + "\n" for topic in OUTPUTS))
            for name, file in (("file to invitation", options.topics), ("two outputs to an arena", outputs)):
                researcher.get_by_role("link", name="Studies").first.click()
                walk(name, researcher, lambda walker: invite(walker, file))  # noqa: B023
            researcher.get_by_role("link", name="Studies").first.click()
            judged = write_judged(Path(folder))
            walk("judges to a helped board", researcher, lambda walker: be_helped(walker, judged, Path(folder)))


@contextmanager
def demo(folder: Path) -> Iterator[dict[str, str]]:
    """The links that `manage.py demo` prints in a clean clone, by role, while it runs there."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFERENDUM_")}
    command = [sys.executable, "manage.py", "demo", "--port", str(free_port())]
    process = subprocess.Popen(
        command,
        cwd=clone,
        env=environment | {"PREFERENDUM_NO_VENV": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield printed_links(iter(process.stdout or ()))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def printed_links(lines: Iterator[str]) -> dict[str, str]:
    """By role; reads no further than the last of them."""
    links: dict[str, str] = {}
    while len(links) < 3:
        if shown := re.match(r"  (annotator|researcher|admin) +(http\S+)", next(lines)):
            links[shown[1]] = shown[2]
    return links


def opened(browser: Browser, link: str) -> Page:
    """The page that a link leads to, in a browser that has been nowhere before."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], accept_downloads=True)
    page = context.new_page()
    page.goto(link)
    return page


def walk(name: str, page: Page, way: Callable[[Walker], None]) -> None:
    """Go it from this page on, and print what it took."""
    walker = Walker(page)
    began = time.monotonic()
    way(walker)
    print(f"| {name} | {walker.clicks} | {walker.fields} | {time.monotonic() - began:.1f} |", flush=True)


def judge_once(walker: Walker) -> None:
    """Until the server has confirmed the answer."""
    walker.press("Begin")
    card = walker.page.locator("button.card").first
    card.wait_for()
    walker.page.wait_for_timeout(DEAF)
    walker.click(card)
    walker.page.get_by_text("Pair 2 of").wait_for()
    under_way = "localStorage.getItem('preferendum-answers')"
    wait_until(lambda: walker.page.evaluate(under_way) is None, "the answer to arrive")


def invite(walker: Walker, topics: Path) -> None:
    """A study of these topics, looked at before it is stored; until its invitation is in the clipboard."""
    walker.follow("New study")
    walker.fill("Title", topics.parent.name)
    walker.choose_file("Drop a file here, or choose one", topics)
    walker.press("Create the study")
    walker.page.get_by_text("This is what the file contains.").wait_for()
    walker.press("Add to the study")
    walker.page.get_by_text("Everything below is now part of the study.").wait_for()
    walker.follow("Invite annotators")
    walker.press("Create the link")
    walker.press("Copy")
    wait_until(lambda: "/join/" in walker.page.evaluate("navigator.clipboard.readText()"), "the link to be copied")


def write_judged(folder: Path) -> Path:
    """SummEval's summaries, 300 answers by its experts about them, and what two judges say of all pairs."""
    corpus, path = summeval(), folder / "summeval.zip"
    human = corpus.answers.some(corpus.draw(300, np.random.default_rng(0)))
    topics = [
        {"topic_id": row["topic_id"]}
        | {"summaries": [{"system": own["system"], "text": own["text"]} for own in row["summaries"]]}
        for row in map(json.loads, SUMMEVAL.read_text(encoding="utf-8").splitlines())
    ]
    lines = []
    for name, answers in {"expert": human, **corpus.machines}.items():
        columns = (answers.topic, answers.first, answers.second, answers.outcome, answers.annotator)
        for topic, first, second, outcome, who in zip(*(own.tolist() for own in columns), strict=True):
            row = {"topic": answers.topics[topic], "a": answers.systems[first], "b": answers.systems[second]}
            row |= {"of": "summaries", "winner": "a" if outcome == 1 else "tie" if outcome else "b"}
            lines.append(row | ({"annotator": f"{name} {who}"} if who >= 0 else {"annotator": name, "kind": "machine"}))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("topics.jsonl", "".join(json.dumps(topic) + "\n" for topic in topics))
        archive.writestr("judgments.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return path


def be_helped(walker: Walker, file: Path, folder: Path) -> None:
    """A study of texts and judgments; until its card, its helped board and its archive are here, and Python agrees."""
    page = walker.page
    walker.follow("New study")
    walker.fill("Title", "SummEval")
    walker.choose_file("Drop a file here, or choose one", file)
    walker.press("Create the study")
    page.get_by_text("This is what the file contains.").wait_for(timeout=MINUTES)
    walker.press("Add to the study")
    page.get_by_text("Everything below is now part of the study.").wait_for(timeout=MINUTES)
    walker.click(page.get_by_role("link", name="Results", exact=True))
    page.get_by_role("link", name=f"Helped by {JUDGE}").wait_for(timeout=MINUTES)
    walker.follow(f"Helped by {JUDGE}")
    board = rows_of(downloaded(walker, page.get_by_role("link", name="CSV"), folder, is_folded=True))
    walker.click(page.get_by_role("link", name="Judges", exact=True))
    page.get_by_label("Judge").select_option(JUDGE)
    walker.fields += 1
    walker.press("Show")
    card = rows_of(downloaded(walker, page.get_by_role("link", name="CSV"), folder, is_folded=True))
    walker.click(page.get_by_role("link", name="Settings", exact=True))
    walker.click(page.get_by_role("link", name="Export", exact=True))
    walker.press("Export the study")
    page.locator("a.given[download]").wait_for(timeout=MINUTES)
    archive = downloaded(walker, page.locator("a.given[download]"), folder)
    again, own = pf.rank(archive, helped_by=JUDGE).to_dicts(), pf.judge_card(archive, judge=JUDGE).to_dicts()
    assert [(row["system"], float(row["score"]), float(row["low"])) for row in board] == [
        (row["system"], row["win_rate"], row["low"]) for row in again
    ]
    assert [(row["what"], float(row["value"]) if row["value"] else None) for row in card] == [
        (row["what"], row["value"]) for row in own
    ]


def downloaded(walker: Walker, link: Locator, folder: Path, *, is_folded: bool = False) -> Path:
    """The file of a link; `is_folded`: after a click on *Download*."""
    with walker.page.expect_download() as download:
        if is_folded:
            walker.click(walker.page.get_by_text("Download", exact=True))
        walker.click(link.first)
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def set_table(walker: Walker, folder: Path) -> None:
    """Until there is a PDF of it."""
    with walker.page.expect_download() as download:
        walker.click(walker.page.get_by_text("Download", exact=True))
        walker.click(walker.page.get_by_role("link", name="LaTeX").first)
    download.value.save_as(folder / "table.tex")
    (folder / "paper.tex").write_text(PAPER)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
