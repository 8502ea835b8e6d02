"""Guidelines and consent in Markdown: what people mean by it is shown, and nothing that could do harm."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotate import crowd, invitations
from annotate.markdown import TAGS, as_html
from tests.annotate import making
from tests.annotate.judging_study import ready_study

#: The pieces of which what is dangerous is made.
PIECES = st.sampled_from(
    [
        *("[a](", "<", ">", "javascript:alert(1)", "data:text/html,x", "//evil.test", ")", "![", "]", "](", '"', "'"),
        *("<script>", "<img src=x onerror=alert(1)>", "`", "```\n", "\n", "# ", "- ", "> ", "&#106;", "\\", "\x00"),
        *("https://x", "mailto:a@b.c", " onclick=", "<a href=javascript:x>", "[x]: ", "<javascript:x>", "style="),
    ]
)
TAG = re.compile(r"<(/?)(\w+)([^>]*)>")
HARMLESS = re.compile(
    r"""( href="(https?://|mailto:)[^"]*"| title="[^"]*"| start="\d+"| target="_blank"| rel="noopener noreferrer")*"""
)


def test_what_people_write_is_shown_as_they_mean_it() -> None:
    html = as_html("# Look\n\n**Both** sentences:\n\n1. one\n2. *two*\n\n[more](https://example.org)\nlast")
    assert "<h2>Look</h2>" in html
    assert "<strong>Both</strong>" in html
    assert "<li><em>two</em></li>" in html
    assert '<a href="https://example.org" target="_blank" rel="noopener noreferrer">more</a><br>\nlast' in html
    assert as_html("## Look\n#### There", 4) == "<h4>Look</h4>\n<h5>There</h5>\n"


def test_a_text_without_markdown_reads_as_before() -> None:
    assert as_html("One & two.\nThree <b>four</b>.\n\nFive.") == (
        "<p>One &amp; two.<br>\nThree &lt;b&gt;four&lt;/b&gt;.</p>\n<p>Five.</p>\n"
    )


@pytest.mark.parametrize("address", ["javascript:x", "JAVASCRIPT:x", "data:text/html,x", "/sign-out/", "//evil.test"])
def test_a_link_leads_nowhere_but_to_the_web_and_to_mail(address: str) -> None:
    assert "href" not in as_html(f"[a]({address}) ![a]({address})")


@given(st.lists(PIECES | st.text(max_size=5), max_size=25).map("".join))
def test_no_text_becomes_anything_but_harmless_markup(text: str) -> None:
    for closing, tag, attributes in TAG.findall(as_html(text)):
        assert tag in TAGS
        assert not closing or not attributes
        assert HARMLESS.fullmatch(attributes), attributes


@pytest.mark.django_db
def test_annotators_read_guidelines_and_consent_as_markdown() -> None:
    study = ready_study(sentences=4, guidelines="Judge **what** it tells.")
    crowd.recruit(study, making.owner(study), consent="- You may *stop*.")
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    assert "Judge <strong>what</strong> it tells." in Client().get(link).content.decode()
    assert "<li>You may <em>stop</em>.</li>" in Client().post(link).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("field", ["guidelines", "consent"])
def test_who_writes_them_sees_what_annotators_will_see(field: str) -> None:
    study = ready_study(sentences=4, guidelines="Judge **what** it tells.")
    client = Client()
    client.force_login(making.owner(study))
    page = client.get(reverse("study_settings", args=[study.pk])).content.decode()
    assert "Judge <strong>what</strong> it tells." in page
    part = client.post(reverse("markdown_preview"), {field: "*new* <b>"}).content.decode()
    assert "<em>new</em> &lt;b&gt;" in part
    assert "Nothing is written" in client.post(reverse("markdown_preview"), {field: "x" * 20_001}).content.decode()
