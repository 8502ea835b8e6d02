"""The five tabs of a study with the pages below each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotate.models import Study
from preferendum.show.analyses import of_study


@dataclass(frozen=True, slots=True)
class Page:
    """`name`: what its view calls it, or the analysis; `is_folded`: for researchers of methods, below a heading."""

    name: str
    label: str | Promise
    view: str = "analysis"
    ability: str = "see"
    query: str = ""
    is_folded: bool = False

    def address(self, study: Study) -> str:
        """The address of the page, with the choice that it is of."""
        return reverse(self.view, args=[study.pk, self.name] if self.view == "analysis" else [study.pk]) + self.query


def _analyses(tab: str) -> list[Page]:
    of_tab = [own for own in of_study() if own.tab == tab]
    return [Page(own.name, _(own.title), ability=own.ability, is_folded=own.is_folded) for own in of_tab]


def _data(name: str, label: Promise) -> Page:
    return Page(name, label, "study_data", query=f"?show={name}")


#: Agreement first: it is where admins begin.
_agreement, *_of_people = _analyses("people")
TABS: dict[Promise, list[Page]] = {
    _("Overview"): [Page("overview", _("Overview"), "study")],
    _("Texts"): [
        Page("topics", _("Topics"), "study_topics"),
        _data("systems", _("Systems")),
        _data("scores", _("Human scores")),
        _data("uploads", _("Uploads")),
        _data("removed", _("Removed")),
        Page("reported", _("Reported pairs"), "reported_pairs"),
        *_analyses("texts"),
    ],
    _("Results"): [
        Page("leaderboard", _("Leaderboard"), "leaderboard"),
        *_analyses("results"),
        Page("results", _("Questions"), "results"),
        Page("methods", _("Methods"), "study_methods"),
    ],
    _("People"): [
        _agreement,
        Page("annotators", _("Annotators"), "study_annotators", "annotators"),
        Page("members", _("Invitations"), "study_members", "annotators"),
        Page("recruitment", _("Recruitment"), "study_recruitment", "settings"),
        *_of_people,
        Page("log", _("Log"), "log", "annotators"),
    ],
    _("Settings"): [
        Page("settings", _("Settings"), "study_settings", "settings"),
        Page("gold_pairs", _("Practice and gold pairs"), "gold_pairs", "settings"),
        Page("questionnaire", _("Questionnaire"), "study_questionnaire", "settings"),
        Page("export", _("Export"), "study_export", "export"),
    ],
}
#: Where the documentation speaks of a page.
HELP = {
    "topics": "researchers#3-check-the-sentences",
    "annotators": "admins#how-they-judge",
    "members": "researchers#4-invite-annotators",
    **dict.fromkeys(
        ("about-annotators", "groups-of-annotators", "questionnaire"), "researchers#ask-annotators-about-themselves"
    ),
    "recruitment": "researchers#pay-annotators-from-a-platform",
    "agreement-of-annotators": "admins#agreement",
    **dict.fromkeys(("misfits", "coverage"), "admins#misfitting-sentences-and-coverage"),
    **dict.fromkeys(("influence", "smallest-set"), "admins#influence"),
    "assessors": "admins#assessors",
    "log": "admins#the-audit-log",
    "settings": "researchers#1-create-a-study",
    "export": "researchers#6-export",
    "uploads": "formats",
    **dict.fromkeys(("overview", "systems", "scores", "removed", "reported", "gold_pairs"), "researchers"),
}


@dataclass(frozen=True, slots=True)
class Link:
    """A line of a menu."""

    label: str | Promise
    address: str
    is_current: bool
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Menu:
    """The tabs, the pages of the present one, and where to read about the present page."""

    tabs: list[Link] = field(default_factory=list)
    pages: list[Link] = field(default_factory=list)
    help: str = ""

    @property
    def folded(self) -> list[Link]:
        return [link for link in self.pages if link.is_folded]

    @property
    def is_open(self) -> bool:
        """Whether the present page is one of the folded ones."""
        return any(link.is_current for link in self.folded)


def menu_of(study: Study, here: str, abilities: Collection[str]) -> Menu:
    """What the page called `here` shows to a reader with these abilities; a tab leads to its first page."""
    doc, _hash, anchor = HELP.get(here, "researchers#5-read-the-results").partition("#")
    menu = Menu(help=reverse("doc", args=[doc]) + (anchor and f"#{anchor}"))
    for label, below in TABS.items():
        pages = [page for page in below if page.ability in abilities]
        links = [Link(page.label, page.address(study), page.name == here, page.is_folded) for page in pages]
        is_current = any(link.is_current for link in links)
        menu.tabs.extend([Link(label, links[0].address, is_current)] if links else [])
        menu.pages.extend(links if is_current else [])
    return menu
