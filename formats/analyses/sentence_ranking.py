"""Sentence ranking: how well utilities order source sentences by their values (Zopf 2018, table 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from formats.results import SentenceRanking, SentenceRankings, SentenceReport
from formats.results.metrics import Judged, Values
from formats.shown import Column, Shown, Table, as_text, decimals
from formats.words import gettext as _
from formats.words import gettext_noop, ngettext

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
    """Of one topic: every kind of judgments under every smoothing, against the Pyramid and the references."""
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
    """Every topic's share of pairs that utilities order as the values do."""
    rows = [(report, ranking, topic) for report in reports for ranking in _in_order(report) for topic in ranking.topics]
    return Table(
        "agreement",
        _("Pairs of sentences in the order of their values"),
        (
            Column("against"),
            Column("judgments"),
            Column("smoothing"),
            Column("topic"),
            *_columns(),
            Column("n", _("Judgments")),
            Column("pairs", _("Pairs")),
            Column("agreement", _("Agreement"), decimals(3)),
        ),
        tuple(
            (
                *(report.against, ranking.judgments, ranking.smooth, topic.topic),
                *(*_names(report, ranking), topic.judgments, topic.pairs, topic.agreement),
            )
            for report, ranking, topic in rows
        ),
        note=_note(),
        marked=frozenset(k for k, (_report, ranking, _topic) in enumerate(rows) if ranking.judgments == "man"),
    )


def _in_order(report: SentenceReport) -> Iterator[SentenceRanking]:
    for judged in JUDGED:
        own = [ranking for ranking in report.rankings if ranking.judgments == judged]
        yield from sorted(own, key=lambda ranking: list(SMOOTHINGS).index(ranking.smooth))


def _columns() -> tuple[Column, ...]:
    return (
        Column("", _("Values"), as_text),
        Column("", _("Utilities from"), as_text),
        Column("", _("Smoothing"), as_text),
    )


def _names(report: SentenceReport, ranking: SentenceRanking) -> tuple[str, ...]:
    return _(AGAINST[report.against]), _(JUDGED[ranking.judgments]), _(SMOOTHINGS[ranking.smooth])


def _note() -> str:
    return _(
        "Agreement: of the pairs of a topic’s sentences that differ in value, the share that utilities order alike; a "
        "coin gets .5. A sentence’s value is what it repeats of the references, or of the Pyramid’s content units "
        "(Zopf 2018, equations 6 to 8, table 4). Judgments simulated from the very source that they are held against "
        "say how much smoothing and their number lose, and nothing about people."
    )


def means(report: SentenceReport) -> Table:
    """The same over topics."""
    return Table(
        "means",
        _("Pairs of sentences in the order of their values"),
        (
            *_columns(),
            Column("", _("Topics")),
            Column("", _("Agreement"), decimals(3)),
            Column("", _("All pairs"), decimals(3)),
        ),
        tuple(
            (
                *_names(report, ranking),
                sum(topic.agreement is not None for topic in ranking.topics),
                *(ranking.agreement, ranking.pooled),
            )
            for ranking in _in_order(report)
        ),
        note=_note(),
    )
