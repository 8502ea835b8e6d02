"""Pairs of systems: how many of them human scores and metrics tell apart, by every test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop
from preferendum.metrics.names import AS_PRINTED, COMBINED, COVERAGE, PREFERENCES, WIN_RATE, scorer_name, title_of
from preferendum.results import PairCount, PairCounts, SystemPairs
from preferendum.results.metrics import CountedPairs, StudyPairs, main_first
from preferendum.show.points import why_untested
from preferendum.show.shown import Cell, Choice, Column, Shown, Table, as_text

#: Of one scorer, with or without every single pair.
Counted = PairCounts | SystemPairs

#: The tests as `preferendum.methods.analyses.system_pairs.report` names them.
TESTS = {
    "unpaired": gettext_noop("t, unpaired"),
    "t": gettext_noop("t, paired"),
    "wilcoxon": "Wilcoxon",
    "swap": gettext_noop("swap, T"),
    "swap_w": gettext_noop("swap, W"),
    "hybrid_t": gettext_noop("hybrid, T"),
    "hybrid_w": gettext_noop("hybrid, W"),
}
DRAWN = frozenset({"swap", "swap_w", "hybrid_t", "hybrid_w"})
KINDS: Mapping[CountedPairs, str] = {
    "all": gettext_noop("All pairs"),
    "machines": gettext_noop("Two machines"),
    "mixed": gettext_noop("A machine and a person"),
}
CORRECTIONS = {"no": gettext_noop("uncorrected"), "Holm": "Holm", "BH": "Benjamini–Hochberg"}


def show(report: StudyPairs, asked: Mapping[str, str]) -> Shown:
    """Show of one dimension people's counts, then every metric's."""
    names = [(name, name) for name in sorted((counts.by for counts in report.human), key=main_first)]
    dimension = Choice.of("dimension", _("Scored by people for"), names, asked)
    people = next(counts for counts in report.human if counts.by == dimension.chosen)
    table = counts_table([people], report.metrics)
    return Shown(_verdict(people, report.metrics), [table], choices=[dimension], notes=[_not_counted()])


def _not_counted() -> str:
    """Which of a study's own scores are not among the metrics, and why."""
    sentence = _("“%(name)s” is not counted. %(why)s")
    whys = {name: why_untested(name.removeprefix(PREFERENCES)) for name in (COMBINED, COVERAGE, AS_PRINTED)}
    whys[WIN_RATE] = _("Its scores of one topic rest on answers about all; the leaderboard tests it.")
    return " ".join(sentence % {"name": title_of(name), "why": why} for name, why in whys.items())


def _verdict(people: PairCounts, metrics: Sequence[PairCounts]) -> str:
    """The verdict by Holm's correction of paired t tests, of all pairs."""
    about = {"different": _holm(people), "pairs": people.counts[0].pairs}
    of_people = _("By people’s scores, %(different)d of %(pairs)d pairs of systems differ (paired t, Holm).") % about
    best = max(metrics, key=_holm, default=None)
    if best is None or not _holm(best):
        return of_people
    of_metric = _("Of the metrics, %(name)s tells the most apart: %(n)d.")
    return f"{of_people} {of_metric % {'name': title_of(best.by), 'n': _holm(best)}}"


def _holm(counts: PairCounts) -> int:
    return counts.counts[0].holm["t"]


def counts_table(people: Sequence[Counted], metrics: Sequence[Counted]) -> Table:
    """Kind by kind and scorer by scorer, how many pairs each test tells apart, with every correction."""
    scorers = [*(("people", counts) for counts in people), *(("metric", counts) for counts in metrics)]
    draws = max(counts.draws for _whose, counts in scorers)
    return Table(
        "pairs",
        _("Pairs of systems that differ"),
        (
            Column("scorer"),
            Column("by"),
            Column("systems"),
            Column("", _("Systems"), as_text),
            Column("", _("Scored by"), as_text),
            Column("pairs", _("Pairs")),
            Column("draws"),
            Column("corrected"),
            Column("", _("Correction"), as_text),
            *(Column(name, _(test)) for name, test in TESTS.items()),
        ),
        tuple(_rows(scorers, draws)),
        note=_note(draws),
    )


def _note(draws: int) -> str:
    counted = _(
        "Each number says how many pairs of systems differ with p at most .05, by the scores on the topics that both "
        "systems have. The randomised tests made %(draws)d draws."
    )
    tests = _(
        "Student’s t of two samples and of pairs; Wilcoxon’s signed ranks; swap: the two systems’ scores exchanged on "
        "topics chosen by coin; hybrid: the same on topics drawn with replacement (Rankel et al. 2011). T is the "
        "paired t, W the sum of signed ranks. Holm and Benjamini–Hochberg correct for the number of all pairs. A dash: "
        "too few draws for any p-value to stay below .05 after Holm’s correction."
    )
    later = _("Preferences are counted once their agreement is tested.")
    return f"{counted % {'draws': draws}} {tests} {later}"


def _rows(scorers: Sequence[tuple[str, Counted]], draws: int) -> Iterator[tuple[Cell, ...]]:
    for kind, name in KINDS.items():
        for whose, counts in scorers:
            for count in counts.counts:
                if count.kind == kind:
                    who = whose, counts.by, kind, _(name), scorer_name(counts.by, whose == "people"), count.pairs, draws
                    yield from ((*who, *line) for line in _lines(counts, count))


def _lines(counts: Counted, count: PairCount) -> Iterator[tuple[Cell, ...]]:
    for correction, told_apart in {"no": count.p, "Holm": count.holm, "BH": count.bh}.items():
        unknown = DRAWN if correction == "Holm" and _has_few_draws(counts) else frozenset[str]()
        cells = (None if test in unknown else told_apart[test] for test in TESTS)
        yield correction, _(CORRECTIONS[correction]), *cells


def _has_few_draws(counts: Counted) -> bool:
    """Whether the least p-value of so many draws is above the level once Holm multiplied it by the number of pairs."""
    return max((count.pairs for count in counts.counts), default=0) > counts.level * (1 + counts.draws)
