from pathlib import Path

import pytest
from django.conf import settings
from django.template import engines
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import translation

from annotate.server import template_loaders
from annotate.server.template_loaders import fold


def rendered(source: str) -> str:
    return engines["django"].from_string("{% load i18n static %}" + source).render({"name": "<b>"})


TRICKY = [
    "{% translate 'Sign in' %}",
    '{% translate "Don’t & won’t" %}',
    '{% translate "It\'s" %}',
    '<a title="{% translate "Sign in" %}">{{ name }}</a>',
    '{% translate "Sign in" as word %}{{ word }}',
    '{% translate "Sign in"|upper %}',
    "{% translate name %}",
    "{% static 'preferendum.css' %}",
    "{% blocktranslate %}for {{ name }}{% endblocktranslate %}",
]


@pytest.mark.parametrize("source", TRICKY)
def test_a_folded_template_gives_what_it_gave_before(source):
    assert rendered(fold(source)) == rendered(source)


def test_fixed_texts_and_addresses_are_put_in_place():
    assert fold("{% translate 'Sign in' %}") == "Sign in"
    assert fold("{% static 'icon.svg' %}") == static("icon.svg")


def test_a_translation_that_looks_like_a_tag_is_text(monkeypatch):
    monkeypatch.setattr(template_loaders, "gettext", lambda text: "{{ name }} {% now %}")
    assert rendered(fold("{% translate 'Sign in' %}")) == "{{ name }} {% now %}"


def test_each_language_has_its_own(monkeypatch):
    monkeypatch.setattr(template_loaders, "gettext", lambda text: f"{text} in {translation.get_language()}")
    for loader in engines["django"].engine.template_loaders:
        loader.reset()
    try:
        for language in ("en", "de", "en"):
            with translation.override(language):
                assert f"Close in {language}" in render_to_string("judge/not_good.html")
    finally:
        for loader in engines["django"].engine.template_loaders:
            loader.reset()


def test_every_template_of_ours_can_be_folded():
    for path in Path(settings.BASE_DIR, "templates").rglob("*.html"):
        engines["django"].from_string(fold(path.read_text()))
