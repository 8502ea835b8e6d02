"""What the recipe of a page says: it has an address, a place in the menu, and a line that says who may open it."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.annotate import making, test_page_access

pytestmark = pytest.mark.django_db


def test_a_page_is_in_the_menu_of_its_tab_and_says_what_it_should(client: Client):
    study = making.study()
    making.take_in(study)
    client.force_login(making.owner(study))
    address = reverse("counted", args=[study.pk])
    assert f'href="{address}"' in client.get(reverse("study_topics", args=[study.pk])).content.decode()
    page = client.get(address).content.decode()
    assert "<p>1</p>" in page
    assert "<title>Counted · Rain · Preferendum</title>" in page


def test_a_page_is_not_there_for_those_who_may_not_see_the_study(client: Client):
    study = making.study()
    client.force_login(making.person())
    assert client.get(reverse("counted", args=[study.pk])).status_code == 404


def test_a_page_has_a_line_that_says_who_may_open_it():
    test_page_access.test_the_matrix_forgets_no_page_and_names_none_that_is_not_there()
