"""What somebody who is signed in reads: pages, the rows of files, addresses of analyses."""

from __future__ import annotations

import csv
import io

from django.test import Client
from django.urls import reverse

from annotate.models import Study, Topic
from tests.annotate import making


def signed_in(study: Study, role: str = "owner") -> Client:
    client = Client()
    client.force_login(making.owner(study) if role == "owner" else making.member(study, role))
    return client


def address(of: Study | Topic, analysis: str, part: str = "", form: str = "csv") -> str:
    """The page of an analysis, or the file of a part of it."""
    name, keys = ("analysis", [of.pk]) if isinstance(of, Study) else ("topic_analysis", [of.study_id, of.pk])
    return reverse(f"{name}_{form}" if part else name, args=[*keys, analysis, *filter(None, [part])])


def text_of(client: Client, url: str, **asked: str) -> str:
    response = client.get(url, asked)
    assert response.status_code == 200
    return response.content.decode()


def rows_of(client: Client, url: str, **asked: str) -> list[dict[str, str]]:
    """The rows of a file by column, every cell as it is written."""
    return list(csv.DictReader(io.StringIO(text_of(client, url, **asked))))
