"""What tests of pages and of the API share: all that may be opened, made once a module."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.annotate.everything import World, everything, made_once
from tests.annotate.visitors import Website, website

made_site, made_world = made_once(website), made_once(everything)


@pytest.fixture
def site(made_site: tuple[Website, Path], settings: Any) -> Website:
    shutil.copytree(made_site[1], settings.MEDIA_ROOT)
    return made_site[0].again()


@pytest.fixture
def world(made_world: tuple[World, Path], settings: Any) -> World:
    shutil.copytree(made_world[1], settings.MEDIA_ROOT)
    return made_world[0].again()
