#!/bin/sh
# snowballstemmer 3.1.1, PyStemmer 3.1.0, nltk 3.10.4 and snowballstemmer 2.2.0, seen 2026-11-28
#
# One would guess: "the English Snowball stemmer" is one algorithm, and libraries differ at most in rare words.
# What happens: the algorithm itself changed with Snowball 3. nltk has the old one, as snowballstemmer 2.2.0 had; the
#   present snowballstemmer and PyStemmer have the new one. They differ on common words of news: added is "ad" or "add",
#   evening "even" or "evening", international "intern" or "internat", organization "organ" or "organiz". Old
#   collisions are gone: university/universe, lateral/later, paste/past, internal/intern.
#   Worse, snowballstemmer hands over to PyStemmer where that is installed: 2.2.0 then answers as the new one does.
# What it means: stemmed word overlap (ROUGE, concept matching, retrieval) changes with the library, its release, or
#   a package installed beside it, with no setting touched. Pin the stemmer with the numbers, and do not mix two in one comparison.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
pip="$room/venv/bin/python -m pip --quiet --disable-pip-version-check install --no-compile"
$pip --target "$room/new" snowballstemmer==3.1.1 || exit 2
$pip --target "$room/old" snowballstemmer==2.2.0 || exit 2
$pip --target "$room/compiled" PyStemmer==3.1.0 || exit 2
$pip --target "$room/nltk" nltk==3.10.4 || exit 2
cat > "$room/stem.py" <<'PYTHON'
import sys

WORDS = "added evening international internal organization university universe lateral paste erring police".split()
name = sys.argv[1]
if name.startswith("snowballstemmer"):
    import snowballstemmer

    stem = snowballstemmer.stemmer("english").stemWord
elif name.startswith("PyStemmer"):
    import Stemmer

    stem = Stemmer.Stemmer("english").stemWord
else:
    from nltk.stem.snowball import SnowballStemmer

    stem = SnowballStemmer("english").stem
print(f"{name}:", *map(stem, WORDS))
PYTHON
new="add evening internat internal organiz universiti univers lateral paste err polic"
old="ad even intern intern organ univers univers later past er polic"
check() { # the folders to import from, the name to print, the stems that we saw
    seen=$(PYTHONPATH="$1" "$room/venv/bin/python" "$room/stem.py" "$2")
    echo "$seen"
    [ "$seen" = "$2: $3" ] || { echo "Changed: seen before was $3" >&2; exit 1; }
}
check "$room/new" "snowballstemmer 3.1.1" "$new"
check "$room/compiled" "PyStemmer 3.1.0" "$new"
check "$room/nltk" "nltk 3.10.4" "$old"
check "$room/old" "snowballstemmer 2.2.0" "$old"
check "$room/old:$room/compiled" "snowballstemmer 2.2.0 beside PyStemmer 3.1.0" "$new"
