"""What ROUGE-1.5.5 counts: n-grams, skip-bigrams and common subsequences, for all summaries of a topic at once.

Where the program does what no paper says, the code follows it, and a comment says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from preferendum.methods.metrics.rouge import SKIP, WEIGHT
from preferendum.methods.metrics.rouge.lcs import Sentences
from preferendum.methods.metrics.rouge.weighted_lcs import hits_with_runs
from preferendum.text import SMART, tokens
from preferendum.vocabulary.porter import stem

Text = Sequence[str]
_Ints = NDArray[np.int64]
_Numbers = NDArray[np.int64] | NDArray[np.float64]

# Lower-case A-Z and nothing else of Unicode, byte for byte; whatever is neither letter nor digit parts the tokens.
# (The program gives hyphens a token of their own and then drops it for not beginning with a letter or digit.)
_LETTERS = bytes(
    code + 32 if 65 <= code <= 90 else code if 97 <= code <= 122 or 48 <= code <= 57 or code == 10 else 32
    for code in range(256)
)
_LINE_END = "."  # no token can be this
_WHITE = b" \t\n\r\f\v"
_SPACE = re.compile(rb"[ \t\n\r\f\v]+")


@dataclass(frozen=True, slots=True)
class RougeOptions:
    """The program's options. `words` and `bytes` cut both summaries and references; None cuts nothing.

    `jackknife`: the mean over the k sets that leave one of the k references out, so that a person's summary, scored
    against the k - 1 others, can be compared with a system's. `alpha`: the weight of precision in F, from 0 to 1;
    `skip`: words between the two of a skip-bigram, None for any number; `weight`: of ROUGE-W, at least 1. `unicode`:
    the tokens of any script, which the program does not read.
    """

    stem: bool = True
    remove_stop_words: bool = False
    words: int | None = None
    bytes: int | None = None
    references: Literal["pooled", "best"] = "pooled"
    jackknife: bool = False
    alpha: float = 0.5
    skip: int | None = SKIP
    weight: float = WEIGHT
    unicode: bool = False

    def __post_init__(self) -> None:
        if self.words is not None and self.bytes is not None:
            raise ValueError("a limit is in words or in bytes, not in both")
        if min(self.words or 1, self.bytes or 1) < 1 or 0 in (self.words, self.bytes):
            raise ValueError("a limit must be at least 1")
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha must be between 0 and 1, and it is {self.alpha:g}")
        if self.skip is not None and self.skip < 0:
            raise ValueError(f"skip must be at least 0, and it is {self.skip}")
        if not 1 <= self.weight < math.inf:
            raise ValueError(f"weight must be at least 1, and it is {self.weight:g}")


@dataclass(frozen=True, slots=True)
class Overlap:
    """What p summaries share with m references, counted in the units of one measure.

    `hits` (p, m): units shared, each at most as often as in the text that has it less often;
    `in_references` (m,), `in_summaries` (p,): units of each text. In ROUGE-W all are weighted by a `power`, which
    shares are to be freed of.
    """

    hits: _Numbers
    in_references: _Numbers
    in_summaries: _Numbers
    power: float = 1.0


class Texts:
    """The references and summaries of one topic as numbers, end to end; the references come first.

    `tokens`: the number of each token's stem, -1 for stems that no reference has; `owner`: the text of each token;
    `lengths`: tokens of each text.
    """

    def __init__(self, summaries: Sequence[Text], references: Sequence[Text], settings: RougeOptions) -> None:
        self.references = len(references)
        self.summaries = len(summaries)
        raw = [list(_lines(text)) for text in chain(references, summaries)]
        lines = [_cut(text, settings) for text in raw]
        # Only ROUGE-L reads differently, and only under a byte limit; numbered together, equal stems get one number.
        reread = [] if settings.bytes is None else [_cut_for_lcs(text, settings.bytes) for text in raw]
        numbers, line = _numbered([*chain.from_iterable(lines), *chain.from_iterable(reread)], settings)
        counts = [len(text) for text in lines]
        end = int(np.searchsorted(line, sum(counts)))
        self._for_lcs = _by_text(numbers[:end], line[:end], counts)
        if reread:
            self._for_lcs = _by_text(numbers[end:], line[end:] - sum(counts), [len(text) for text in reread])
        self.owner = np.repeat(np.arange(len(raw)), counts)[line[:end]]
        self.lengths = np.bincount(self.owner, minlength=len(raw))
        self._known = int(numbers[:end][self.owner < self.references].max(initial=-1)) + 1
        self.tokens = np.where(numbers[:end] < self._known, numbers[:end], -1)

    def n_grams(self, n: int) -> Overlap:
        """N-grams of tokens, across the borders of sentences."""
        return self._overlap(self._gram(n), self.owner[: max(len(self.owner) - n + 1, 0)], self._windows(n))

    def skip_bigrams(self, skip: int | None, with_unigrams: bool) -> Overlap:
        """Ordered pairs of tokens with at most `skip` between them; as unigrams, all tokens but each text's last."""
        tokens, owner = self.tokens, self.owner
        longest = max(int(self.lengths.max()), 2)
        gaps = range(1, longest if skip is None else min(skip + 2, longest))
        pairs = [self._joined(tokens[:-gap], tokens[gap:], owner[:-gap] == owner[gap:]) for gap in gaps]
        owners = [owner[:-gap] for gap in gaps]
        counts = sum((self._windows(gap + 1) for gap in gaps), start=np.zeros_like(self.lengths))
        if with_unigrams:  # the program's loop over first words never reaches the last one
            counted = (owner[:-1] == owner[1:]) & (tokens[:-1] >= 0)
            beyond_pairs = self._known**2
            pairs.append(np.where(counted, beyond_pairs + tokens[:-1], -1))
            owners.append(owner[:-1])
            counts = counts + self._windows(2)
        return self._overlap(np.concatenate(pairs), np.concatenate(owners), counts)

    def longest_common_subsequences(self) -> Overlap:
        """Tokens of a reference sentence that stand in its LCS with any sentence of the summary.

        A token counts at most as often as both texts have it, so that ROUGE-L never exceeds ROUGE-1.
        """
        sentences = Sentences(self._for_lcs[: self.references])
        marked = sentences.in_common_with_each(self._for_lcs[self.references :])
        cells, cell = np.unique(np.stack([sentences.owner, sentences.token]), axis=1, return_inverse=True)
        reference, token = cells
        times = np.zeros((len(reference), self.summaries), dtype=np.int64)
        np.add.at(times, cell, marked.T)
        available = self._token_counts(int(token.max(initial=-1)) + 1)
        times = np.minimum(times, available[reference, token][:, None])
        times = np.minimum(times, available[self.references :, token].T)
        hits = [times[reference == m].sum(axis=0) for m in range(self.references)]
        in_references = np.bincount(sentences.owner, minlength=self.references)
        return Overlap(np.stack(hits, axis=1), in_references, self.lengths[self.references :])

    def weighted_common_subsequences(self, weight: float) -> Overlap:
        """Count tokens in common subsequences, runs of neighbours more: a run of n is worth n ** weight.

        The program raises what a reference is worth by the weight once more, and so do its published scores.
        """
        references, summaries = self._for_lcs[: self.references], self._for_lcs[self.references :]
        tokens = chain.from_iterable(chain.from_iterable(references))
        available = self._token_counts(max(tokens, default=-1) + 1).tolist()
        hits = [
            [
                hits_with_runs(reference, summary, available[m], available[self.references + p], weight)
                for m, reference in enumerate(references)
            ]
            for p, summary in enumerate(summaries)
        ]
        worth = [sum(len(sentence) ** weight for sentence in reference) ** weight for reference in references]
        own = np.power(self.lengths[self.references :], weight, dtype=np.float64)
        return Overlap(np.reshape(hits, (len(own), len(worth))), np.array(worth), own, weight)

    def _token_counts(self, kinds: int) -> _Ints:
        """(texts, kinds): how often each text has each of the first `kinds` tokens."""
        counted = (self.tokens >= 0) & (self.tokens < kinds)
        cells = self.owner[counted] * kinds + self.tokens[counted]
        return np.bincount(cells, minlength=len(self.lengths) * kinds).reshape(len(self.lengths), kinds)

    def _windows(self, n: int) -> _Ints:
        """In how many places of each text n tokens follow one another."""
        return np.maximum(self.lengths - n + 1, 0)

    def _gram(self, n: int) -> _Ints:
        """The n-gram that begins at each token, numbered among the references' distinct ones; -1 for all others."""
        if n == 1:
            return self.tokens
        shorter, last = self._gram(n - 1), self.tokens[n - 1 :]
        first_owner = self.owner[: len(last)]
        codes = self._joined(shorter[: len(last)], last, first_owner == self.owner[n - 1 :])
        return self._among_references(codes, first_owner)

    def _joined(self, first: _Ints, second: _Ints, unbroken: NDArray[np.bool_]) -> _Ints:
        """One code for two numbers that are both known and in one text; else -1."""
        return np.where(unbroken & (first >= 0) & (second >= 0), first * self._known + second, -1)

    def _among_references(self, codes: _Ints, owner: _Ints) -> _Ints:
        """Number codes by rank among the references' codes; -1 for those that no reference has."""
        distinct = np.unique(codes[(owner < self.references) & (codes >= 0)])
        if not len(distinct):
            return np.full(len(codes), -1)
        rank = np.minimum(np.searchsorted(distinct, codes), len(distinct) - 1)
        return np.where(distinct[rank] == codes, rank, -1)

    def _overlap(self, codes: _Ints, owner: _Ints, counts: _Ints) -> Overlap:
        """Count what is shared; `codes` says which unit stands in each place, -1 for one that no reference has."""
        units = self._among_references(codes, owner)
        shared = units >= 0
        kinds = int(units.max(initial=0)) + 1
        cells, times = np.unique(owner[shared] * kinds + units[shared], return_counts=True)
        text, unit = np.divmod(cells, kinds)
        begin = int(np.searchsorted(text, self.references))
        in_reference = np.zeros((self.references, kinds), dtype=np.int64)
        in_reference[text[:begin], unit[:begin]] = times[:begin]
        clipped = np.minimum(times[begin:], in_reference[:, unit[begin:]])
        hits = np.zeros((self.summaries, self.references), dtype=np.int64)
        np.add.at(hits, text[begin:] - self.references, clipped.T)
        return Overlap(hits, counts[: self.references], counts[self.references :])


def tokens_by_sentence(texts: Sequence[Text], settings: RougeOptions) -> list[list[list[int]]]:
    """Text by text, sentence by sentence, the numbers of its tokens' stems: equal stems have equal numbers."""
    lines = [[" ".join(sentence.split()).encode("utf-8", "surrogatepass") for sentence in text] for text in texts]
    return _by_text(*_numbered([*chain.from_iterable(lines)], settings), [len(text) for text in lines])


def _numbered(lines: Sequence[bytes], settings: RougeOptions) -> tuple[_Ints, _Ints]:
    """The tokens of all lines as the numbers of their stems, in order of first appearance; the line of each."""
    if settings.unicode:
        words = [word for line in lines for word in (*tokens(line.decode(errors="ignore")), _LINE_END)]
    else:
        letters = b"\n".join(lines).translate(_LETTERS).decode("ascii")
        words = letters.replace("\n", f" {_LINE_END} ").split()
    distinct = list(dict.fromkeys(chain([_LINE_END], words)))
    stems = [stem(word) if word.isascii() else word for word in distinct] if settings.stem else distinct
    number_of_stem = {stemmed: number for number, stemmed in enumerate(dict.fromkeys(stems))}
    number_of = dict(zip(distinct, map(number_of_stem.__getitem__, stems), strict=True))
    if settings.remove_stop_words:
        number_of.update(dict.fromkeys(SMART.intersection(distinct), -1))
    numbers = np.fromiter(map(number_of.__getitem__, words), np.int64, len(words))
    line = np.cumsum(numbers == 0)
    counted = numbers > 0  # 0 is the end of a line
    return numbers[counted] - 1, line[counted]


def _by_text(numbers: _Ints, line: _Ints, lines_of_text: Sequence[int]) -> list[list[list[int]]]:
    """Text by text, line by line, the numbers of its tokens."""
    flat = numbers.tolist()
    borders = np.searchsorted(line, np.arange(sum(lines_of_text) + 1)).tolist()
    lines = iter([flat[start:end] for start, end in pairwise(borders)])
    return [[next(lines) for _ in range(count)] for count in lines_of_text]


def _lines(text: Text) -> Iterator[bytes]:
    """The lines that the program reads: a sentence with line breaks in it is several, an empty one is none."""
    for sentence in text:
        yield from (line for line in sentence.encode("utf-8", "surrogatepass").split(b"\n") if line)


def _cut(lines: Sequence[bytes], settings: RougeOptions) -> list[bytes]:
    """The first `words` words, as white space parts them, or the first `bytes` bytes, line ends not counted."""
    if settings.words is not None:
        return list(_first_words(lines, settings.words))
    if settings.bytes is not None:
        return list(_first_bytes(lines, settings.bytes))
    return list(lines)


def _first_words(lines: Sequence[bytes], limit: int) -> Iterator[bytes]:
    for line in lines:
        words = _SPACE.split(line.rstrip(_WHITE))  # an indented line begins with an empty word, which counts
        if len(words) >= limit:
            yield b" ".join(words[:limit])
            return
        limit -= len(words) if line.strip(_WHITE) else 0
        yield line


def _first_bytes(lines: Sequence[bytes], limit: int) -> Iterator[bytes]:
    for line in lines:
        yield line[:limit]
        limit -= len(line)
        if limit <= 0:
            return


def _cut_for_lcs(lines: Sequence[bytes], limit: int) -> list[bytes]:
    """What ROUGE-L reads under a byte limit: the program forgets to add up there, so only a longer line stops it."""
    kept: list[bytes] = []
    for line in lines:
        kept.append(line[:limit])
        if len(line) >= limit:
            break
    return kept
