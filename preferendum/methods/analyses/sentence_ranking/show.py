"""Sentence ranking: how well utilities order source sentences by their values (Zopf 2018, table 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop, ngettext
from preferendum.results import SentenceAgreement, SentenceRankings, SentenceReport
from preferendum.results.metrics import Judged, Values
from preferendum.show.shown import Column, Shown, Table, as_text, decimals

#: The Pyramid first.
AGAINST: Mapping[Values, str] = {
    "pyramid": gettext_noop("Against the Pyramid"),
    "references": gettext_noop("Against the references"),
    "given": gettext_noop("Against given values"),
}
JUDGED: Mapping[Judged, str] = {
    "man": gettext_noop("Judgments that count"),
    "ref": gettext_noop("Simulated from references"),
    "py": gettext_noop("Simulated from the Pyramid"),
}
SMOOTHINGS: Mapping[str, str] = {
    "kernel": gettext_noop("kernel smoothing"),
    "paper": gettext_noop("the paper’s smoothing"),
    "none": gettext_noop("no smoothing"),
}


def show(record: SentenceRankings, asked: Mapping[str, str]) -> Shown:
    """Show of one topic every kind of judgments under every smoothing, against the Pyramid and the references."""
    ordered = sorted(record.reports, key=lambda report: list(AGAINST).index(report.against))
    return Shown(_verdict(ordered[0]), [agreement(ordered)])


def _verdict(report: SentenceReport) -> str:
    """On the judgments that count: under the smoothings, from the worst to the best."""
    own = [topic for ranking in report.rankings if ranking.judgments == "man" for topic in ranking.topics]
    if not own:
        return _("No judgment of this topic counts yet, so nothing is known of how judgments rank its sentences.")
    n, pairs = own[0].judgments, own[0].pairs
    shares = [topic.agreement for topic in own if topic.agreement is not None]
    if not shares:
        return _("The judgments of this topic do not rank its sentences yet.")
    sentence = ngettext(
        "%(against)s, %(n)s judgment ranks %(pairs)s pairs of sentences with an agreement of %(share)s, by smoothing; "
        "a coin gets .5.",
        "%(against)s, %(n)s judgments rank %(pairs)s pairs of sentences with an agreement of %(share)s, by smoothing; "
        "a coin gets .5.",
        n,
    )
    share = " – ".join(dict.fromkeys(f"{share:.3f}" for share in (min(shares), max(shares))))
    return sentence % {"against": _(AGAINST[report.against]), "n": n, "share": share, "pairs": pairs}


def agreement(reports: Iterable[SentenceReport]) -> Table:
    """Every topic's share of pairs that utilities order as the values do, under each smoothing."""
    rows: dict[tuple[Values, Judged, str], dict[str, SentenceAgreement]] = {}
    for report in reports:
        for ranking in sorted(report.rankings, key=lambda ranking: list(JUDGED).index(ranking.judgments)):
            for topic in ranking.topics:
                rows.setdefault((report.against, ranking.judgments, topic.topic), {})[ranking.smooth] = topic
    smoothings = [name for name in SMOOTHINGS if any(name in own for own in rows.values())]
    return Table(
        "agreement",
        _("Pairs of sentences in the order of their values"),
        (
            Column("against"),
            Column("judgments"),
            Column("topic"),
            Column("", _("Values"), as_text),
            Column("", _("Utilities from"), as_text),
            *(Column(name, _(SMOOTHINGS[name]), decimals(3), _("Agreement")) for name in smoothings),
            Column("n", _("Judgments")),
            Column("pairs", _("Pairs")),
        ),
        tuple(
            (
                *(against, judged, topic, _(AGAINST[against]), _(JUDGED[judged])),
                *(own[name].agreement if name in own else None for name in smoothings),
                *((any_of := next(iter(own.values()))).judgments, any_of.pairs),
            )
            for (against, judged, topic), own in rows.items()
        ),
        note=_note(),
        marked=frozenset(k for k, (_against, judged, _topic) in enumerate(rows) if judged == "man"),
    )


def _note() -> str:
    return _(
        "Agreement: of the pairs of a topic’s sentences that differ in value, the share that utilities order alike; a "
        "coin gets .5. A sentence’s value is what it repeats of the references, or of the Pyramid’s content units "
        "(Zopf 2018, equations 6 to 8, table 4). Judgments simulated from the very source that they are held against "
        "say how much smoothing and their number lose, and nothing about people."
    )


def means(report: SentenceReport) -> Table:
    """The means of figures over topics."""
    return Table(
        "means",
        _("Pairs of sentences in the order of their values"),
        (
            Column("", _("Values"), as_text),
            Column("", _("Utilities from"), as_text),
            Column("", _("Smoothing"), as_text),
            Column("", _("Topics")),
            Column("", _("Agreement"), decimals(3)),
            Column("", _("All pairs"), decimals(3)),
        ),
        tuple(
            (
                *(_(AGAINST[report.against]), _(JUDGED[ranking.judgments]), _(SMOOTHINGS[ranking.smooth])),
                sum(topic.agreement is not None for topic in ranking.topics),
                *(ranking.agreement, ranking.pooled),
            )
            for ranking in report.rankings
        ),
        note=_note(),
    )
