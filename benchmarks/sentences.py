"""Where sentences end, in treebanks of Universal Dependencies: our cutting and that of kept splitters.

    python -m benchmarks.sentences FOLDER [--sentences 1000]

FOLDER holds `*.conllu` files with `# text = ...` lines, such as the parallel treebanks (PUD) of
https://github.com/UniversalDependencies. A text is ten sentences in their order, joined by a space (Chinese, Japanese,
Thai: by nothing). F is of the borders inside of texts, in percent: a border is the number of visible characters before
it. Splitters that are not installed, or lack a language, have no figure.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path

from preferendum.formats.sentences import cut

UNSPACED = ("zh", "ja", "th")
SENTENCES_OF_A_TEXT = 10

Splitter = Callable[[str, str], Sequence[str]]


def _sentencex(text: str, language: str) -> Sequence[str]:
    return list(import_module("sentencex").segment(language, text))


def _pysbd(text: str, language: str) -> Sequence[str]:
    if language not in import_module("pysbd.languages").LANGUAGE_CODES:
        return []
    return list(import_module("pysbd").Segmenter(language=language, clean=False).segment(text))


def _nupunkt(text: str, language: str) -> Sequence[str]:
    spans = import_module("nupunkt").sentence_spans(text) if language == "en" else ()
    return [text[start:end] for start, end in spans]


def _syntok(text: str, language: str) -> Sequence[str]:
    if language not in ("en", "de", "es"):
        return []
    paragraphs = import_module("syntok.segmenter").process(text)
    return ["".join(word.spacing + word.value for word in own) for paragraph in paragraphs for own in paragraph]


SPLITTERS: dict[str, Splitter] = {
    "sentencex": _sentencex,
    "pysbd": _pysbd,
    "nupunkt": _nupunkt,
    "syntok": _syntok,
}


def texts_of(path: Path, most: int) -> Iterator[tuple[str, ...]]:
    """Ten sentences each."""
    lines = path.read_text(encoding="utf-8").splitlines()
    sentences = [line.removeprefix("# text = ").strip() for line in lines if line.startswith("# text = ")]
    for start in range(0, min(len(sentences), most), SENTENCES_OF_A_TEXT):
        yield tuple(sentences[start : min(start + SENTENCES_OF_A_TEXT, most)])


def borders(sentences: Sequence[str]) -> set[int]:
    """After how many visible characters sentences end, but for the last one."""
    return set(accumulate(len("".join(sentence.split())) for sentence in sentences[:-1]))


def f_of(texts: Sequence[tuple[str, ...]], language: str, splitter: Splitter) -> float | None:
    """F of the borders; None where the splitter gives nothing."""
    right = given = wanted = 0
    for text in texts:
        pieces = splitter(("" if language in UNSPACED else " ").join(text), language)
        if not pieces:
            return None
        right += len(borders(pieces) & borders(text))
        given += len(borders(pieces))
        wanted += len(borders(text))
    return 200 * right / (given + wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sentences", type=int, default=1000, help="of each treebank, the first (default: 1000)")
    arguments = parser.parse_args()
    ours: Splitter = lambda text, language: [piece.text for piece in cut(text, language)]  # noqa: E731
    splitters = {"ours": ours, **{f"{name} {made}": SPLITTERS[name] for name, made in _versions()}}
    seconds = dict.fromkeys(splitters, 0.0)
    print("| treebank | borders | " + " | ".join(splitters) + " |")
    print("|---|---|" + "---|" * len(splitters))
    for path in sorted(arguments.folder.glob("*.conllu")):
        texts = list(texts_of(path, arguments.sentences))
        language = path.name.split("_")[0]
        cells = []
        for name, splitter in splitters.items():
            begun = time.perf_counter()
            value = f_of(texts, language, splitter)
            seconds[name] += time.perf_counter() - begun
            cells.append("" if value is None else f"{value:.1f}")
        wanted = sum(len(borders(text)) for text in texts)
        print(f"| {path.name.split('-ud-')[0]} | {wanted} | " + " | ".join(cells) + " |", flush=True)
    print("| seconds | | " + " | ".join(f"{value:.1f}" for value in seconds.values()) + " |")


def _versions() -> Iterator[tuple[str, str]]:
    for name in SPLITTERS:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


if __name__ == "__main__":
    main()
