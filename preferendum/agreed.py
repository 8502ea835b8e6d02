"""How far annotators agree: what `agreement` gives, in Python and on the command line."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from preferendum.annotators.agreement import PairJudgments, study_agreement
from preferendum.counted import counted
from preferendum.fit.threads import on_one_thread
from preferendum.formats.answers import LETTERS, share_of_first
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
        """Krippendorff's alpha: value, low, high; None below ten shared pairs."""
        return self.record.study.alpha

    @property
    def kappa(self) -> Bounded:
        """Fleiss' kappa: value, low, high; None below ten shared pairs."""
        return self.record.study.kappa

    @property
    def n(self) -> int:
        """How many pairs two annotators or more judged."""
        return self.record.study.pairs


@on_one_thread
def agreement(judgments: Source, *, counted_kinds: CountedKinds | None = None) -> Agreed:
    """Work out how far annotators agree: the share of equal answers, Krippendorff's alpha and Fleiss' kappa.

    Parameters
    ----------
    judgments : Data, path, DataFrame or iterable of dict
        What `read` gave, or what it takes; judgments need their `annotator`. Of an annotator's judgments about the same
        two texts the first counts.
    counted_kinds : str, optional
        Whose judgments count, as for `rank`. Agreement is among those of the kind that leads: people, if they count.

    Returns
    -------
    Agreed
        `share`, `alpha` and `kappa` with 95% intervals, and `n`, the number of shared pairs. Below ten of them there
        are no coefficients (docs/annotator-figures.md). It prints as a table by topic.

    Raises
    ------
    preferendum.Refused
        For judgments that cannot be read, or that do not say who gave them, or about which topic.

    Examples
    --------
    >>> import preferendum as pf
    >>> judgments = [
    ...     {"topic": f"t{n}", "a": "large", "b": "small", "winner": "a", "annotator": who}
    ...     for n in range(12) for who in ("Ann", "Bob")
    ... ]
    >>> agreed = pf.agreement(judgments)
    >>> agreed.n, agreed.share.value, agreed.alpha.value
    (12, 1.0, 1.0)
    >>> pf.agreement(judgments[:8]).alpha.value is None
    True
    """
    data = read(judgments)
    kept = counted(None, data, counted_kinds)
    leading = [judgment for judgment in kept.preferences if kind_of(judgment) == kept.leading]
    named = [judgment for judgment in leading if judgment.annotator]
    if not named:
        expected = "judgments with their annotator: agreement is between annotators"
        raise refused(data.name, "no judgment that says who gave it", expected, field="annotator")
    if not named[0].topic:
        expected = "judgments with their topic: annotators agree about the same two texts"
        raise refused(data.name, "no judgment that says what it is about", expected, field="topic")
    first = {(judgment.annotator, *_pair(judgment)): judgment for judgment in reversed(named)}
    once = [judgment for judgment in named if first[judgment.annotator, *_pair(judgment)] is judgment]
    notes = (
        *kept.notes,
        _left_out(len(kept.preferences) - len(leading), f"not of the kind {kept.leading}"),
        _left_out(len(leading) - len(named), "without an annotator"),
        _left_out(len(named) - len(once), "of annotators who had judged the same pair before"),
    )
    return _agreed(once, *notes)


def _left_out(number: int, why: str) -> str:
    return f"Left out: {number:,} {why}." if number else ""


def _pair(judgment: Preference) -> tuple[str, str, str, str]:
    """What a judgment is about, whichever side was shown where."""
    return judgment.topic, judgment.of, min(judgment.a, judgment.b), max(judgment.a, judgment.b)


def _agreed(judgments: Sequence[Preference], *notes: str) -> Agreed:
    """The agreement as tables, by topic and by annotator, and its course. `notes`: what else there is to say."""
    pairs = _numbered(map(_pair, judgments))
    topics = _numbered((judgment.topic, judgment.of) for judgment in judgments)
    annotators = _numbered(judgment.annotator for judgment in judgments)
    record = study_agreement(
        PairJudgments(
            np.array([pairs[_pair(judgment)] for judgment in judgments]),
            np.array([share_of_first(LETTERS[judgment.winner], judgment.a > judgment.b) for judgment in judgments]),
            np.array([annotators[judgment.annotator] for judgment in judgments]),
            np.array([topics[judgment.topic, judgment.of] for judgment in judgments]),
        ),
        [of == "summaries" for _topic, of in topics],
    )
    has_both = {topic for topic, _of in topics if {(topic, "summaries"), (topic, "sentences")} <= topics.keys()}
    names = {
        number: f"{topic} ({of})" if topic in has_both else topic for (topic, of), number in topics.items() if topic
    }
    own = NamedAgreement(record, names, {number: name for name, number in annotators.items()}, {})
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
