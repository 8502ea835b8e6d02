"""The judgments that count, and the evidence that they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from preferendum.archived import evidence_of
from preferendum.evidence import Evidence, evidence, judgments, with_bases
from preferendum.formats import Preference, Topic, existing_from
from preferendum.formats.readers.preferences import kind_of
from preferendum.formats.readers.whole import preferences_of
from preferendum.formats.settings import KINDS_COUNTED, CountedKinds, StudySettings
from preferendum.reading import Data, refused


@dataclass(frozen=True, slots=True)
class Counted:
    """The judgments that count. `texts`: of their topics, empty where nobody gave any; `left_out`: how many judgments
    do not count, by kind; `leading`: the kind among whose annotators agreement is; `data`: where they stood."""

    preferences: Sequence[Preference]
    texts: Sequence[Topic]
    left_out: Mapping[str, int]
    leading: str
    data: Data

    @property
    def notes(self) -> tuple[str, ...]:
        """What a result has to say of them: what reading ignored or repaired, and what was left out."""
        remarks = (f"{remark}." for remark in self.data.bundle.remarks)
        return *remarks, left_out_in_words(self.left_out)

    def evidence(self) -> list[Evidence]:
        """The judgments of each topic with its texts; where nobody gave any, those about whole summaries."""
        if self.data.archive is not None:
            return with_bases(list(evidence_of(self.data.archive)))
        by_topic = defaultdict(list)
        for preference in self.preferences:
            by_topic[preference.topic].append(preference)
        if self.texts:
            return with_bases([evidence(own, by_topic[own.topic_id]) for own in self.texts])
        none = judgments((), {})
        return [
            Evidence(
                name,
                (),
                (),
                none,
                between_summaries=tuple(preference for preference in own if preference.of == "summaries"),
            )
            for name, own in by_topic.items()
        ]


def counted(topics: Data | None, data: Data, kinds: CountedKinds | None) -> Counted:
    """The judgments of the kinds that count, held against `topics`, if given, or those of their own file.

    Raises `Refused` where there are none or they do not fit, `ValueError` for kinds that there are not.
    """
    if kinds is not None and kinds not in KINDS_COUNTED:
        raise ValueError(f"counted_kinds={kinds!r} is none of {', '.join(map(repr, KINDS_COUNTED))}")
    if data.archive is not None:
        if kinds is not None or topics is not None:
            raise refused(data.name, "a whole study", "nothing else: it has topics, and says which kinds count")
        leading = KINDS_COUNTED[data.archive.settings.counted_kinds][0]
        return Counted(data.preferences, data.archive.topics, {}, leading, data)
    if topics is not None and topics.archive is not None:
        raise refused(topics.name, "a whole study, which has judgments", "topics, or no other judgments")
    preferences: Sequence[Preference] = data.bundle.preferences
    texts = data.bundle.topics if topics is None else topics.bundle.topics
    if topics is not None:
        preferences = preferences_of(data.placed, existing_from(texts), data.name)
    chosen = KINDS_COUNTED[kinds or StudySettings().counted_kinds]
    kept, left_out = of_kinds(preferences, chosen)
    if not kept:
        what = f"judgments of the kind {left_out.most_common(1)[0][0]} alone" if left_out else "no judgments"
        expected = "judgments that count: counted_kinds says which do" if left_out else "rows with a, b and winner"
        raise refused(data.name, what, expected)
    return Counted(kept, texts, left_out, chosen[0], data)


def of_kinds(preferences: Iterable[Preference], kinds: Sequence[str]) -> tuple[list[Preference], Counter[str]]:
    """Keep the preferences of these kinds, and count those of every other kind."""
    kept: list[Preference] = []
    left_out: Counter[str] = Counter()
    for preference in preferences:
        kind = kind_of(preference)
        if kind in kinds:
            kept.append(preference)
        else:
            left_out[kind] += 1
    return kept, left_out


def left_out_in_words(left_out: Mapping[str, int], option: str = "counted_kinds") -> str:
    """How many judgments were left out, in a sentence; "" for none. `option`: which chooses the kinds that count."""
    by = {"human": "{:,} by people", "machine": "{:,} by machines", "simulated": "{:,} simulated"}
    numbers = ", ".join(phrase.format(left_out[kind]) for kind, phrase in by.items() if left_out.get(kind))
    return numbers and f"Judgments left out, as their kind does not count: {numbers} ({option} says which do)."
