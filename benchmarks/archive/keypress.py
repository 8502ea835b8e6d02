"""How long it takes from a key to the next pair on the screen, and what becomes of answers while the server is dead.

    python -m benchmarks.archive.keypress [--pairs 40] [--dead 10]

The demo study, the real web server, a real Chromium. A key is pressed as people press it, a little over a second after
the pair appeared; the clock runs from the key's own time stamp to the frame after the one that shows another pair. For
comparison, what a key costs that does nothing but wait for two frames. Afterwards the server is killed, answers are
given, it comes back after so many seconds, and every answer must have arrived once.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence

import django
from playwright.sync_api import Page, sync_playwright

from benchmarks.walk import CHROMIUM

#: ms from a pair's appearance to the key that judges it: more than the pace that is asked of people.
READING = 1_150

WATCH = """() => {
  window.took = []; window.idle = [];
  const painted = (then) => requestAnimationFrame(() => requestAnimationFrame(() => then(performance.now())));
  addEventListener("keydown", (event) => {
    if (event.key === "F9") painted((now) => window.idle.push(now - event.timeStamp));
    if (event.key !== "ArrowLeft") return;
    const before = document.querySelector("#answer").getAttribute("action");
    const look = () => {
      const form = document.querySelector("#answer");
      if (form && form.getAttribute("action") !== before) painted((now) => window.took.push(now - event.timeStamp));
      else setTimeout(look, 0);
    };
    setTimeout(look, 0);
  }, true);
}"""


class Server:
    """The product on a folder of its own, with the demo study."""

    def __init__(self, folder: str) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        os.environ |= {
            "PREFERENDUM_DATA": folder,
            "PREFERENDUM_ORIGIN": self.url,
            "PREFERENDUM_BIND": self.url.removeprefix("http://"),
            "DJANGO_SETTINGS_MODULE": "annotate.settings",
            "DJANGO_ALLOW_ASYNC_UNSAFE": "1",  # the browser's driver runs a loop of its own in this thread
        }
        django.setup()
        from django.core.management import call_command

        from annotate.management.commands.demo import make_demo_study

        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        make_demo_study(lambda line: print(line, file=sys.stderr))
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "-c", "python:annotate.server.gunicorn", "annotate.wsgi"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/about/", timeout=2).close()
                return
            except (OSError, urllib.error.URLError):
                time.sleep(0.1)
        raise RuntimeError("the web server did not start")

    def kill(self) -> None:
        self.process.terminate()
        self.process.wait(30)

    def invitation(self) -> str:
        from annotate import invitations
        from annotate.models import Invitation

        return invitations.invitation_path(Invitation.objects.latest("pk"))


def judge(page: Page, pairs: int) -> None:
    for _ in range(pairs):
        page.wait_for_timeout(READING)
        page.keyboard.press("F9")
        page.wait_for_timeout(100)
        page.keyboard.press("ArrowLeft")


def settle(page: Page) -> None:
    """Wait until the server has confirmed every answer."""
    for _ in range(1_200):
        if page.evaluate("localStorage.getItem('preferendum-answers')") is None:
            return
        page.wait_for_timeout(50)
    raise RuntimeError("an answer never arrived")


def stored() -> tuple[int, int]:
    """Answers of people, and the pairs that they are about."""
    from django.db import connection

    from annotate.models import Judgment

    connection.close()
    answers = Judgment.objects.filter(assignment__annotator__kind="human").values_list("assignment", flat=True)
    return len(answers), len(set(answers))


def line(name: str, times: list[float]) -> str:
    ordered = sorted(times)
    return f"{name:<28}{statistics.median(ordered):8.1f}{ordered[int(len(ordered) * 0.95)]:8.1f}{ordered[-1]:8.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=25, help="to be judged while all is well (default 25)")
    parser.add_argument("--dead", type=float, default=10.0, help="seconds without a server (default 10)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(folder)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=server.url)
        page.goto(server.invitation())
        page.get_by_role("button", name="Begin").click()
        page.wait_for_selector("#answer")
        page.evaluate(WATCH)
        judge(page, options.pairs)
        settle(page)
        took, idle = page.evaluate("window.took"), page.evaluate("window.idle")
        print(f"{'ms':<28}{'median':>8}{'95 of 100':>8}{'most':>8}")
        print(line("key to next pair painted", took))
        print(line("key that does nothing", idle))
        print(f"ratio of medians {statistics.median(took) / statistics.median(idle):.2f}")
        assert len(took) == options.pairs, "every key led to another pair"

        page.wait_for_timeout(READING)
        server.kill()
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(READING)
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(int(options.dead * 1000))
        server.start()
        settle(page)
        answers, pairs = stored()
        given = options.pairs + 2
        print(f"dead for {options.dead:g} s: {given} answers given, {answers} stored, of {pairs} pairs")
        assert answers == pairs == given, "an answer was lost or doubled"
        server.kill()
        browser.close()


if __name__ == "__main__":
    main()
