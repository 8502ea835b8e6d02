"""How far annotators agree: what `agreement` gives, in Python and on the command line."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from preferendum.annotators.agreement import PairJudgments, study_agreement
from preferendum.counted import counted, left_out_in_words
from preferendum.fit.threads import on_one_thread
from preferendum.formats.answers import LETTERS, SHARES, turned
from preferendum.formats.readers.preferences import kind_of
from preferendum.formats.records import Preference
from preferendum.formats.settings import CountedKinds
from preferendum.reading import Source, read, refused
from preferendum.results import Bounded, StudyAgreement
from preferendum.show.analyses import annotator_agreement
from preferendum.show.analyses.annotator_agreement import NamedAgreement
from preferendum.show.printed import Printed
from preferendum.show.shown import Figure, sentences

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, repr=False, eq=False)
class Agreed(Printed):
    """The agreement of annotators, as `agreement` gives it. `record`: everything that was found."""

    record: StudyAgreement

    @property
    def share(self) -> Bounded:
        """How often two annotators gave the same answer about the same two texts: value, low, high (0 to 1)."""
        return self.record.study.percent

    @property
    def alpha(self) -> Bounded:
        """Krippendorff's alpha, direction-free: value, low, high; None below ten shared pairs."""
        return self.record.study.alpha

    @property
    def kappa(self) -> Bounded:
        """Fleiss' kappa, direction-free: value, low, high; None below ten shared pairs."""
        return self.record.study.kappa

    @property
    def n(self) -> int:
        """How many pairs two annotators or more judged."""
        return self.record.study.pairs


@on_one_thread
def agreement(votes: Source, *, counted_kinds: CountedKinds | None = None) -> Agreed:
    """Work out how far annotators agree: the share of equal answers, Krippendorff's alpha and Fleiss' kappa.

    Parameters
    ----------
    votes : Data, path, DataFrame or iterable of dict
        What `read` gave, or what it takes; votes need their `annotator`. Of an annotator's votes about the same two
        texts the first counts.
    counted_kinds : str, optional
        Whose votes count, as for `rank`. Agreement is among those of the kind that leads: people, if they count.

    Returns
    -------
    Agreed
        `share`, `alpha` and `kappa` with 95% intervals, and `n`, the number of shared pairs. Below ten of them there
        are no coefficients (docs/annotator-figures.md). It prints as a table by topic.

    Raises
    ------
    preferendum.Refused
        For votes that cannot be read, or that do not say who gave them.

    Examples
    --------
    >>> import preferendum as pf
    >>> votes = [
    ...     {"topic": f"t{n}", "a": "large", "b": "small", "winner": "a", "annotator": who}
    ...     for n in range(12) for who in ("Ann", "Bob")
    ... ]
    >>> agreed = pf.agreement(votes)
    >>> agreed.n, agreed.share.value, agreed.alpha.value
    (12, 1.0, 1.0)
    >>> pf.agreement(votes[:8]).alpha.value is None
    True
    """
    data = read(votes)
    votes_counted = counted(None, data, counted_kinds)
    leading = [vote for vote in votes_counted.votes if kind_of(vote) == votes_counted.leading]
    named = [vote for vote in leading if vote.annotator]
    if not named:
        expected = "votes with their annotator: agreement is between annotators"
        raise refused(data.name, "no vote that says who gave it", expected, field="annotator")
    first = {(vote.annotator, *_pair(vote)): vote for vote in reversed(named)}
    once = [vote for vote in named if first[vote.annotator, *_pair(vote)] is vote]
    notes = (
        left_out_in_words(votes_counted.left_out),
        _left_out(len(votes_counted.votes) - len(leading), f"not of the kind {votes_counted.leading}"),
        _left_out(len(leading) - len(named), "without an annotator"),
        _left_out(len(named) - len(once), "of annotators who had judged the same pair before"),
    )
    return _agreed(once, *notes)


def _left_out(number: int, why: str) -> str:
    return f"Left out: {number:,} {why}." if number else ""


def _pair(vote: Preference) -> tuple[str, str, str, str]:
    """What a vote is about, whichever side was shown where."""
    return vote.topic, vote.of, min(vote.a, vote.b), max(vote.a, vote.b)


def _agreed(votes: Sequence[Preference], *notes: str) -> Agreed:
    """The agreement as tables, by topic and by annotator, and its course. `notes`: what else there is to say."""
    pairs = _numbered(map(_pair, votes))
    topics = _numbered((vote.topic, vote.of) for vote in votes)
    annotators = _numbered(vote.annotator for vote in votes)
    record = study_agreement(
        PairJudgments(
            np.array([pairs[_pair(vote)] for vote in votes]),
            np.array([SHARES[turned(LETTERS[vote.winner], vote.a > vote.b)] for vote in votes]),
            np.array([annotators[vote.annotator] for vote in votes]),
            np.array([topics[vote.topic, vote.of] for vote in votes]),
        ),
        [of == "summaries" for _topic, of in topics],
    )
    has_both = {topic for topic, _of in topics if {(topic, "summaries"), (topic, "sentences")} <= topics.keys()}
    names = {
        number: f"{topic} ({of})" if topic in has_both else topic for (topic, of), number in topics.items() if topic
    }
    own = NamedAgreement(record, names, {number: name for name, number in annotators.items()}, {}, len(votes))
    shown = annotator_agreement.show(own, {})
    by_topic, with_others = (
        next(table for table in shown.tables if table.name == name) for name in ("agreement", "with-others")
    )
    main = replace(by_topic, note=sentences(shown.verdict, *shown.notes, *notes, by_topic.note))
    figures = [part for part in shown.parts if isinstance(part, Figure)]
    return Agreed([main, *([] if with_others.folded else [with_others])], figures, record)


def _numbered(names: Iterable[Name]) -> dict[Name, int]:
    """The number of each name, in the order of the first."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}
