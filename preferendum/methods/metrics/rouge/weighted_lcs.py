"""Common subsequences in which neighbours count more (ROUGE-W), as the official program finds and clips them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_Sentence = Sequence[int]


def hits_with_runs(
    reference: Sequence[_Sentence],
    summary: Sequence[_Sentence],
    in_reference: Sequence[int],
    in_summary: Sequence[int],
    weight: float,
) -> float:
    """What a summary's sentences share with a reference's: n ** weight for each run of n of the reference's tokens.

    `in_reference`, `in_summary`: how often each text has each token, by its number; what was matched so often is no
    match any more. As in the program, such a token neither makes a run longer nor ends it.
    """
    left_in_reference, left_in_summary = list(in_reference), list(in_summary)
    total = 0.0
    for sentence in reference:
        marked = {place for other in summary for place in _subsequence(sentence, other, weight)}
        run = 0
        for place in sorted(marked):
            token = sentence[place]
            if left_in_reference[token] < 1 or left_in_summary[token] < 1:
                continue
            left_in_reference[token] -= 1
            left_in_summary[token] -= 1
            run += 1
            if place + 1 not in marked:
                total += run**weight
                run = 0
    return total


def _subsequence(sentence: _Sentence, other: _Sentence, weight: float) -> Iterator[int]:
    """The places of a reference's sentence in its weighted common subsequence with a sentence of the summary.

    C.-Y. Lin, "ROUGE: a package for automatic evaluation of summaries", 2004, section 4. On the way back a match is
    taken wherever there is one; failing that, a token of the reference is given up before one of the summary.
    """
    worth = [[0.0] * (len(other) + 1) for _ in range(len(sentence) + 1)]
    above = [0] * (len(other) + 1)  # the lengths of runs that end in the row before
    for i, token in enumerate(sentence):
        runs = [0] * (len(other) + 1)
        for j, same in enumerate(other):
            if token == same:
                run = above[j]
                worth[i + 1][j + 1] = worth[i][j] + (run + 1) ** weight - run**weight
                runs[j + 1] = run + 1
            else:
                worth[i + 1][j + 1] = max(worth[i][j + 1], worth[i + 1][j])
        above = runs
    i, j = len(sentence), len(other)
    while i and j:
        if sentence[i - 1] == other[j - 1]:
            i, j = i - 1, j - 1
            yield i
        elif worth[i - 1][j] >= worth[i][j - 1]:
            i -= 1
        else:
            j -= 1
