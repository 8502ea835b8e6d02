"""Another language: all that people read is collected for its translator, and no page says to be in it before."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotate.management.commands.makemessages import texts_of

#: Texts, and where they stand.
SOME = {
    "Saved: %(answer)s.": "annotate/views",
    "invitation links only": "annotate/models",
    "Why can’t you judge this pair?": "templates/judge",
    "Krippendorff’s alpha against the number of judgments": "formats/analyses/annotator_agreement.py",
    "a time with its zone such as 2026-01-31T16:53:19Z": "formats/checks/shapes.py",
    "%(name)s, which is unknown": "formats/checks/complaints.py",
    "%(name)s, which is unknown (most similar: %(near)s)": "formats/checks/complaints.py",
    "a pair that can be prepared": "annotate/judging/gold_pairs.py",
    "no zip": "formats/archive/study.py",
    "fewer": "formats/readers/tables.py",
    "Do scores depend on the topic?": "formats/analyses/registry.py",
    "Differ": "formats/analyses/document_sets.py",
}


def test_a_translator_is_given_what_people_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    for room in ("annotate", "evaluation", "formats", "templates"):
        shutil.copytree(settings.BASE_DIR / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "demo"))
    settings.LOCALE_PATHS = [tmp_path / "annotate" / "locale"]
    monkeypatch.chdir(tmp_path)
    call_command("makemessages", locale=["de"], verbosity=0)
    collected = (tmp_path / "annotate/locale/de/LC_MESSAGES/django.po").read_text().replace('"\n"', "")
    for text, room in SOME.items():
        entries = [entry for entry in collected.split("\n\n") if f'msgid "{text}"' in entry]
        assert len(entries) == 1, text
        assert re.search(rf"^#: .*{re.escape(room)}", entries[0], re.MULTILINE), text
    assert not list(tmp_path.rglob("*.py.py"))


def test_of_a_module_that_marks_nothing_texts_are_taken_and_docstrings_left() -> None:
    source = "\n".join(
        [
            '"""What it is."""',
            'KEY = "topic"',
            "def read(place):",
            '    """Read it."""',
            '    place.refuse("null", "a " "number")',
            '    found = "an empty text"',
            '    raise ValueError(f"the line {place}")',
        ]
    )
    assert texts_of(source) == [(5, "a number"), (5, "null"), (6, "an empty text")]


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["cy", "ar"])
def test_a_page_is_in_a_language_only_if_somebody_translated_it(client: Client, language: str) -> None:
    page = client.get("/about/", headers={"Accept-Language": language})
    assert '<html lang="en" dir="ltr">' in page.content.decode()
    assert page["Content-Language"] == "en"
