"""The site below a path of a host that has other sites."""

from __future__ import annotations

import re

import pytest
from django.urls import clear_script_prefix, set_script_prefix

from tests.annotate.everything import undone
from tests.annotate.test_page_access import CELLS
from tests.annotate.visitors import website

#: Where files lie is set once, at a process's start: tests/operators looks at it.
OURS = ("/judge/", "/static/")
pytestmark = pytest.mark.django_db


def test_no_page_names_an_address_outside_the_sites_path(settings):
    settings.FORCE_SCRIPT_NAME = "/judge"
    visited = {name: visitor for (method, name, visitor), gets in CELLS.items() if (method, gets) == ("GET", "200")}
    site, outside, seen = website(), {}, 0
    inside = {name: site.path(name) for name in visited}
    set_script_prefix("/judge")
    try:
        for name, visitor in visited.items():
            with undone():
                page = site.visit(visitor, "GET", name, inside[name])
            if page.headers["Content-Type"].startswith("text/html"):
                named = re.findall(r'(?:src|href|action|hx-\w+)="(/[^"]*)"', page.said.decode())
                seen += len(named)
                if far := {address for address in named if not address.startswith(OURS)}:
                    outside[name] = far
    finally:
        clear_script_prefix()
    assert seen > 1_000
    assert outside == {}
