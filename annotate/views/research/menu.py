"""The five tabs of a study with the pages below each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotate.models import AnsweredQuestionnaire, Removal, Study, Topic
from annotate.reports import about_annotators, reported_pairs
from annotate.reports.analyses import inputs_of, names_of_topic, names_with_records
from preferendum.show.analyses import Analysis, of_study, of_topic


class Seen:
    """What pages of a menu ask about their study, each thing once."""

    def __init__(self, study: Study) -> None:
        self.study = study

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Whether its results have human scores and machines to show, in one query."""
        return inputs_of(self.study)


def _always(_seen: Seen) -> bool:
    return True


def _has_human_scores(seen: Seen) -> bool:
    return "human scores" in seen.inputs


@dataclass(frozen=True, slots=True)
class Page:
    """`name`: what its view calls it, or the analysis; `is_there`: whether it has something to show."""

    name: str
    label: str | Promise
    view: str = "analysis"
    ability: str = "see"
    query: str = ""
    is_there: Callable[[Seen], bool] = _always

    def address(self, study: Study) -> str:
        """The address of the page, with the choice that it is of."""
        return reverse(self.view, args=[study.pk, self.name] if self.view == "analysis" else [study.pk]) + self.query


def _analyses(page: str) -> list[Page]:
    return [
        Page(own.name, _(own.title), ability=own.ability, is_there=_IS_THERE.get(own.name, _always))
        for own in of_study()
        if own.page == page
    ]


def _data(name: str, label: Promise, is_there: Callable[[Seen], bool] = _always) -> Page:
    return Page(name, label, "study_data", query=f"?show={name}", is_there=is_there)


def _has_removed(seen: Seen) -> bool:
    return bool(seen.study.earlier.get("removals")) or Removal.objects.filter(study=seen.study).exists()


def _has_reported(seen: Seen) -> bool:
    return reported_pairs.of(seen.study).exists()


#: Analyses whose page is in a menu only once there is something on it.
_IS_THERE: dict[str, Callable[[Seen], bool]] = {
    "about-annotators": lambda seen: AnsweredQuestionnaire.objects.filter(annotator__study=seen.study).exists(),
    "groups-of-annotators": lambda seen: about_annotators.has_groups(seen.study),
    "judge-cards": lambda seen: "machines" in seen.inputs,
}
#: Agreement first: it is where admins begin.
_agreement, *_of_people = _analyses("people")
#: Metrics beside human scores, and the pages that only this one leads to.
_metrics, *_research = _analyses("metrics")
TABS: dict[Promise, list[Page]] = {
    _("Overview"): [Page("overview", _("Overview"), "study")],
    _("Texts"): [
        Page("topics", _("Topics"), "study_topics"),
        _data("systems", _("Systems")),
        _data("scores", _("Human scores"), _has_human_scores),
        _data("uploads", _("Uploads")),
        _data("removed", _("Removed"), _has_removed),
        Page("reported", _("Reported pairs"), "reported_pairs", is_there=_has_reported),
    ],
    _("Results"): [
        Page("leaderboard", _("Leaderboard"), "leaderboard"),
        *_analyses("results"),
        Page("methods", _("Methods"), "study_methods"),
        replace(_metrics, label=_("Metrics"), is_there=_has_human_scores),
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
        Page("webhooks", _("Webhooks"), "study_webhooks", "settings"),
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
    "judge-cards": "researchers#machine-judges",
    "recruitment": "researchers#pay-annotators-from-a-platform",
    "agreement-of-annotators": "admins#agreement",
    "assessors": "admins#assessors",
    "log": "admins#the-audit-log",
    "settings": "researchers#1-create-a-study",
    "export": "researchers#6-export",
    "webhooks": "api#webhooks",
    "uploads": "formats",
    **dict.fromkeys(("overview", "systems", "scores", "removed", "reported", "gold_pairs"), "researchers"),
}


@dataclass(frozen=True, slots=True)
class Link:
    """A line of a menu."""

    label: str | Promise
    address: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Menu:
    """The tabs, the pages of the present one, those that only Metrics leads to, and where to read about the page.

    `current`: how the present line of `pages` is marked: "true" where it only leads to the page.
    """

    tabs: list[Link] = field(default_factory=list)
    pages: list[Link] = field(default_factory=list)
    research: list[Link] = field(default_factory=list)
    help: str = ""
    current: str = "page"

    @property
    def is_below(self) -> bool:
        """Whether the present page is one of those below Metrics."""
        return any(link.is_current for link in self.research)


def menu_of(study: Study, here: str, abilities: Collection[str]) -> Menu:
    """What the page called `here` shows to a reader with these abilities; a tab leads to its first page."""
    doc, _hash, anchor = HELP.get(here, "researchers#5-read-the-results").partition("#")
    above, seen = _ABOVE.get(here, here), Seen(study)
    menu = Menu(
        help=reverse("doc", args=[doc]) + (anchor and f"#{anchor}"), current="page" if above == here else "true"
    )
    for label, below in TABS.items():
        pages = [page for page in below if page.ability in abilities]
        is_current = any(page.name == above for page in pages)
        menu.tabs.extend([Link(label, pages[0].address(study), is_current)] if pages else [])
        if is_current:
            menu.pages.extend(
                Link(page.label, page.address(study), page.name == above)
                for page in pages
                if page.name == above or page.is_there(seen)
            )
    if above == _metrics.name:
        names = names_with_records(study)
        menu.research.extend(
            Link(page.label, page.address(study), page.name == here)
            for page in _research
            if page.ability in abilities and page.name in {*names, here}
        )
    return menu


#: The page of a menu that leads to one that is in none.
_ABOVE = {
    **{page.name: _metrics.name for page in _research},
    **{own.name: "leaderboard" for own in of_study() if own.page == "board"},
}


def topic_menu(topic: Topic) -> list[Analysis]:
    """The analyses that a topic's menu lists."""
    names = names_of_topic(topic)
    return [own for own in of_topic() if own.name in names]
