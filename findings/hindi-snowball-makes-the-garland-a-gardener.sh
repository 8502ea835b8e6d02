#!/bin/sh
# PyStemmer 3.1.0 and snowballstemmer 3.1.1, seen 2026-11-28
#
# One would guess: a light stemmer takes endings of number and case off a noun, and other nouns keep apart from it.
# What happens: Snowball's Hindi takes any final vowel for an ending, of words however short: माला (garland) and माली
#   (gardener) are one stem, and so are पता (address) and पति (husband), राजा (king) and the name राजू. बाती (wick) is left with
#   its first letter, the stem of गाना (song) is ग. Nepali's makes one consonant of नदी (river).
# What it means: texts about other things share words. Overlap of stems in Hindi (ROUGE, retrieval, coverage) is higher than
#   overlap of words for the wrong reason, so compare words, or say how often distinct nouns fall together.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
pip="$room/venv/bin/python -m pip --quiet --disable-pip-version-check install --no-compile"
$pip --target "$room/compiled" PyStemmer==3.1.0 || exit 2
$pip --target "$room/plain" snowballstemmer==3.1.1 || exit 2
cat > "$room/stem.py" <<'PYTHON'
import importlib
import sys

name, attribute = sys.argv[1].split(":")
made = getattr(importlib.import_module(name), attribute)
hindi, nepali = made("hindi"), made("nepali")
PAIRS = [("माला", "माली"), ("पता", "पति"), ("राजा", "राजू")]
stems = [(hindi.stemWord(a), hindi.stemWord(b)) for a, b in PAIRS]
short = [hindi.stemWord("बाती"), hindi.stemWord("गाना"), nepali.stemWord("नदी")]
for (a, b), (stem, other) in zip(PAIRS, stems):
    print(f"{name}: {a} -> {stem}, {b} -> {other}")
print(f"{name}: बाती -> {short[0]}, गाना -> {short[1]}, नदी -> {short[2]}")
if any(stem != other for stem, other in stems) or short != ["ब", "ग", "न"]:
    sys.exit("Changed: the Hindi or the Nepali stemmer keeps these words apart.")
PYTHON
PYTHONPATH="$room/compiled" "$room/venv/bin/python" "$room/stem.py" Stemmer:Stemmer || exit 1
PYTHONPATH="$room/plain" "$room/venv/bin/python" "$room/stem.py" snowballstemmer:stemmer || exit 1
