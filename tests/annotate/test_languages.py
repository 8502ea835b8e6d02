"""Annotators' pages are in the language of their texts, or in the one that they choose; all others are in English."""

from __future__ import annotations

import gettext
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import allauth
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate import invitations
from annotate.models import Study, Topic
from annotate.reports import methods_section, study_facts
from tests.annotate import making
from tests.annotate.judging_study import ready_study
from tests.conftest import MUST_RUN

LANGUAGES = ["ar", "de", "es", "fr", "it", "ja", "pt", "zh_Hans"]
#: Texts of other rooms, which annotators do not read.
FOR_OTHERS = ("annotate/forms.py", "templates/research", "preferendum/show/analyses")
needs_gettext = pytest.mark.skipif(
    not shutil.which("msgfmt") and "gettext" not in MUST_RUN, reason="no gettext here (Debian: apt-get install gettext)"
)


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    """A copy of the catalogues after `makemessages` and `compilemessages`."""
    for room in ("annotate", "evaluation", "preferendum", "templates"):
        shutil.copytree(settings.BASE_DIR / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "demo"))
    settings.LOCALE_PATHS = [tmp_path / "annotate" / "locale"]
    monkeypatch.chdir(tmp_path)
    call_command("makemessages", locale=LANGUAGES, verbosity=0)
    call_command("compilemessages", verbosity=0)  # refuses placeholders that disagree
    return tmp_path / "annotate" / "locale"


@needs_gettext
def test_no_text_of_an_annotators_page_lacks_its_translation(fresh: Path, settings: Any) -> None:
    for language in LANGUAGES:
        catalogue = (fresh / language / "LC_MESSAGES" / "django.po").read_text()
        assert catalogue == (settings.BASE_DIR / "annotate/locale" / language / "LC_MESSAGES/django.po").read_text()
        assert not re.search(r'^msgstr(\[\d\])? ""\n(?!")', catalogue, re.MULTILINE), language
        assert "#, fuzzy" not in catalogue, language
        assert not any(room in catalogue for room in FOR_OTHERS), language


@needs_gettext
def test_the_compiled_catalogues_are_those_of_the_texts(fresh: Path, settings: Any) -> None:
    for language in LANGUAGES:
        compiled = Path(language, "LC_MESSAGES", "django.mo")
        assert (fresh / compiled).read_bytes() == (settings.BASE_DIR / "annotate/locale" / compiled).read_bytes()


def test_the_language_of_the_texts_decides_until_the_reader_chooses(client: Client, db: None) -> None:
    study = ready_study(language="pt-BR")
    here = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    assert language_of(client, here) == ("pt", "ltr")
    pair = client.post(here).url
    assert language_of(client, pair) == ("pt", "ltr")
    Topic.objects.update(language="ar")
    assert language_of(client, pair) == ("ar", "rtl")
    chosen = client.post(
        reverse("set_language"), {"language": "zh-hans"}, headers={"Referer": f"http://testserver{pair}"}
    )
    assert chosen.url == f"http://testserver{pair}"
    assert language_of(client, pair) == ("zh-hans", "ltr")


@pytest.mark.parametrize("language", ["cy", "tlh", "qya-Latn-001"])
def test_a_page_is_in_english_where_no_translation_fits(client: Client, db: None, language: str) -> None:
    study = ready_study(language=language)
    here = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    client.cookies["django_language"] = "../../etc"
    assert language_of(client, here) == ("en", "ltr")


def test_a_page_for_others_is_in_english_whatever_was_chosen(client: Client, db: None) -> None:
    client.cookies["django_language"] = "de"
    assert language_of(client, "/about/", headers={"Accept-Language": "ar"}) == ("en", "ltr")
    assert language_of(client, "/judging/") == ("de", "ltr")


def language_of(client: Client, address: str, **request: Any) -> tuple[str, str]:
    """The language that a page claims, and its direction."""
    page = client.get(address, **request)
    language, direction = re.findall(r'<html lang="([^"]+)" dir="(\w+)">', page.content.decode())[0]
    assert page["Content-Language"] == language
    return language, direction


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("pt-BR", "Qual destas duas frases contém informação mais importante?"),
        ("qya-Latn-001", "Which of these two sentences contains more important information?"),
    ],
)
def test_a_new_study_asks_in_the_language_of_its_texts(client: Client, db: None, language: str, question: str) -> None:
    client.force_login(making.person(is_superuser=True))
    client.post(reverse("study_new"), {"title": "News", "language": language})
    study = Study.objects.get()
    assert study.question == question
    api, sent = reverse("api_studies"), {"title": "News", "language": language}
    assert client.post(api, sent, content_type="application/json").json()["question"] == question
    chosen = sent | {"question": "Which?"}
    assert client.post(api, chosen, content_type="application/json").json()["question"] == "Which?"
    here = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    assert 'class="example"' in Client().get(here).content.decode()
    assert "All settings are the recommended ones" in methods_section.plain(study_facts.of_study(study))


@needs_gettext
def test_words_of_ours_for_the_librarys_pages_stand_for_words_that_it_has(tmp_path: Path, settings: Any) -> None:
    """After an update that says something else, the page would be in its words."""
    ours = settings.LOCALE_PATHS[1] / "en" / "LC_MESSAGES" / "django.po"
    theirs = Path(allauth.__file__).parent / "locale" / "en" / "LC_MESSAGES" / "django.po"
    sentences = re.compile(r'^msgid ((?:".*"\n)+)', re.MULTILINE)
    of_ours, of_theirs = (
        {"".join(re.findall('"(.*)"', lines)) for lines in sentences.findall(path.read_text())}
        for path in (ours, theirs)
    )
    assert len(of_ours) > 40
    assert of_ours <= of_theirs
    made = tmp_path / "django.mo"
    subprocess.run(["msgfmt", "-o", made, ours], check=True)
    assert says(made) == says(ours.with_suffix(".mo"))


def says(catalogue: Path) -> dict[Any, str]:
    """What a compiled catalogue says, however it is laid out: tools and their versions differ in that."""
    with catalogue.open("rb") as file:
        return gettext.GNUTranslations(file)._catalog
