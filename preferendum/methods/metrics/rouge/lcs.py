"""Longest common subsequences of one text's sentences with those of several others, all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Sentences:
    """The sentences of all references in the bits of one integer, so that one step serves them all.

    Bit-parallel longest common subsequence: H. Hyyrö, "Bit-parallel LCS-length computation revisited", 2004. A bit
    between two sentences stays 0 and stops the carry. `owner`, `token` (b,): the reference and the token of each bit,
    without the bits between sentences.
    """

    def __init__(self, texts: Sequence[Sequence[Sequence[int]]]) -> None:
        owner: list[int] = []
        token: list[int] = []
        position: list[int] = []
        lengths: list[int] = []
        starts: list[int] = []
        bit = 0
        for reference, text in enumerate(texts):
            for sentence in text:
                owner += [reference] * len(sentence)
                token += sentence
                position += range(bit, bit + len(sentence))
                starts.append(bit)
                lengths.append(len(sentence))
                bit += len(sentence) + 1
        self.owner = np.array(owner, dtype=np.int64)
        self.token = np.array(token, dtype=np.int64)
        self._position = np.array(position, dtype=np.int64)
        self._bytes = bit // 8 + 1
        self._where: dict[int, int] = {}
        for place, number in zip(position, token, strict=True):
            self._where[number] = self._where.get(number, 0) | 1 << place
        self._all = _runs(starts, lengths)
        # Bits with a neighbour that many places above in the same sentence, for 1, 2, 4 ... places.
        distances = [1 << k for k in range(max(lengths, default=0).bit_length())]
        self._room = [(d, _runs(starts, [max(length - d, 0) for length in lengths])) for d in distances]

    def in_common_with_each(self, texts: Sequence[Sequence[Sequence[int]]]) -> NDArray[np.uint8]:
        """(texts, b): 1 where a reference's token is in its sentence's LCS with any sentence of the text."""
        marks = b"".join(self._in_common_with(text).to_bytes(self._bytes, "little") for text in texts)
        bits = np.unpackbits(
            np.frombuffer(marks, dtype=np.uint8).reshape(len(texts), self._bytes), axis=1, bitorder="little"
        )
        return bits[:, self._position]

    def _in_common_with(self, text: Sequence[Sequence[int]]) -> int:
        marked = 0
        for sentence in text:
            marked |= self._subsequence([self._where.get(number, 0) for number in sentence])
        return marked

    def _subsequence(self, places: Sequence[int]) -> int:
        """Mark the one LCS that the program finds; `places`: where each of the sentence's tokens stands.

        L(i, j), the length for the first i of these tokens and the first j of a reference sentence, is kept as bits:
        1 where L(i, j) = L(i, j - 1). On the way back a match is taken wherever there is one; failing that, a token
        of the reference is given up before one of the summary.
        """
        level = self._all
        grown: list[int] = []
        rows: list[int] = []
        for here in places:
            if here:
                step = level & here
                level = ((level + step) | (level - step)) & self._all
            elif not rows or not rows[-1]:
                continue  # of several tokens in a row that stand nowhere, or stand first, one or none says it all
            rows.append(here)
            grown.append(level ^ self._all)
        marked = 0
        reach = self._all
        for here, grew in zip(reversed(rows), reversed(grown), strict=True):
            reach &= here | grew
            for distance, room in self._room:
                reach |= (reach >> distance) & room
            highest = reach & ~((reach >> 1) & self._room[0][1])
            taken = highest & here
            marked |= taken
            reach ^= taken
        return marked


def _runs(starts: Sequence[int], lengths: Sequence[int]) -> int:
    """An integer with `lengths[k]` ones from bit `starts[k]` on."""
    ones = 0
    for start, length in zip(starts, lengths, strict=True):
        ones |= ((1 << length) - 1) << start
    return ones
