"""Text as it is taken: UTF-8, NFC, lines that end in \\n, and nothing that breaks a database, a page or a normaliser.

Bidirectional and zero-width characters are kept as data; pages isolate them where they show them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place, shown

BOM = b"\xef\xbb\xbf"
#: The marks of UTF-16.
UTF16 = (b"\xff\xfe", b"\xfe\xff")
MARKS = 30

_NONCHARACTERS = "".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef" + re.escape(_NONCHARACTERS) + "]")
# What old programs left of typographic quotes and dashes; browsers read them in the same way (WHATWG HTML, 13.2.5.80).
# U+0085 is not among them: it may be an ellipsis, and it may be a line end.
_WINDOWS = {
    code: bytes([code]).decode("cp1252")
    for code in range(0x80, 0xA0)
    if code not in (0x81, 0x85, 0x8D, 0x8F, 0x90, 0x9D)
}
_LEFT_BY_WINDOWS = re.compile(f"[{''.join(map(chr, _WINDOWS))}]")
# Bytes that are not UTF-8, as `surrogateescape` keeps them.
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_NO_MARK = (
    r"[\udc80-\udc81\udc83\udc86-\udc8a\udc8c-\udc90\udc98-\udc9a\udc9c-\udc9f\udca1-\udcaa\udcac-\udcba\udcbc-\udcff]"
)
_L = r"[^\W\d_]"
# Those that are surely Windows-1252: they mean the same in every code page of Windows (quotes, dashes, an ellipsis) or,
# in a word, in all for Latin letters (é and ü, but not ñ, which may be ń). DOS and old Macintoshes wrote letters with
# the same bytes, so that each stands where its mark does. No neighbour may be a letter or a part of one.
_SURELY_WINDOWS = re.compile(
    rf"""(?<!{_NO_MARK})(?:
    \udc92                                                                      # ’
    | (?<!{_L})[\udc82\udc84\udc8b\udc91\udc93\udca7\udcab]                     # ‚ „ ‹ ‘ “ § « before a word
    | (?:(?<!{_L})|(?!.{_L}))                                                   # … ” • – — ™ › © ® ° ± · » not in one
      [\udc85\udc94-\udc97\udc99\udc9b\udca0\udca9\udcae\udcb0\udcb1\udcb7\udcbb]
    | (?<={_L}{{2}})(?:\udc96(?=[A-Z])|\udc97(?={_L}{{2}}))                     # Paris–London, rock—roll
    | [\udc80\udca3](?=\s?\d) | (?<=\d)\udc80 | (?<=\d\s)\udc80                 # € and £ beside a number
    | (?:(?<={_L}{{2}})|(?=.{_L}{{2}})|(?<={_L})(?=.{_L}))                      # Ä É Ó Ö Ü ß ä é ó ö ü in a word
      [\udcc4\udcc9\udcd3\udcd6\udcdc\udcdf\udce4\udce9\udcf3\udcf6\udcfc]
    )(?!{_NO_MARK})""",
    re.DOTALL | re.VERBOSE,
)
# A German quotation ends with the mark that begins an English one.
_GERMAN = re.compile(r"(?<!\w)[\udc82\udc84][^\udc80-\udc91\udc93-\udc9f]{1,500}[\udc91\udc93](?!\w)")
_ENDS = re.compile(r"^[\udc82\udc84]|[\udc91\udc93]$")
# With more of them than this, a text is looked at for too long, and is hardly one.
_MOST_CORRECTED = 10_000
_MEANINGLESS_C1 = re.compile("[\x81\x85\x8d\x8f\x90\x9d]")
# Finds where it is worth looking: the exact set of marks is large and slow to search for.
_PERHAPS_MARKS = re.compile(f"[^\x00-\u02ff]{{{MARKS + 1}}}")
_INVISIBLE = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))
# What shows nothing in other categories: Unicode's Default_Ignorable_Code_Point (fillers of Hangul, selectors of
# variants, ...), and Braille's blank.
_SHOWS_NOTHING = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_UNSEEN = re.compile(rf"[\s\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|{_SHOWS_NOTHING.pattern}")
_NAMED = {
    "\0": "NUL",
    "\r": "a carriage return without a line feed",
    "\x0b": "a vertical tab",
    "\x0c": "a form feed",
    "\x1a": "Ctrl-Z",
    "\x1b": "escape",
    "\x7f": "delete",
    "\x85": "NEL, an old line end",
}


def decode(place: Place, data: bytes, *, start: bool) -> str | None:
    """The text; None and a complaint unless it is UTF-8, but for bytes that are surely Windows-1252, which are
    remarked on. `start`: of the file, maybe with a byte order mark.
    """
    if start and data.startswith(UTF16):
        place.refuse("UTF-16 text", "UTF-8 (in Excel: save as “CSV UTF-8”)")
        return None
    try:
        return data.removeprefix(BOM).decode() if start else data.decode()
    except UnicodeDecodeError:
        text = data.removeprefix(BOM if start else b"").decode(errors="surrogateescape")
    corrected, places = text, [match.start() for match in _NOT_UTF8.finditer(text)]
    if len(places) <= _MOST_CORRECTED:
        corrected = _GERMAN.sub(lambda quoted: _ENDS.sub(_as_windows, quoted[0]), text)
        corrected = _SURELY_WINDOWS.sub(_as_windows, corrected)
    if bad := _NOT_UTF8.search(corrected):
        before = text[: bad.start()].encode(errors="surrogateescape")
        inside = before.count(b"\n")
        place = place if not inside else place.at(place.line + inside)
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        place.refuse(
            "the byte 0x%(byte)s at byte %(column)s of the line, which is not UTF-8",
            "UTF-8 text (this may be another encoding, such as Windows-1252, Windows-1251, GBK or Shift-JIS: save it "
            "as UTF-8)",
            byte=f"{ord(bad[0]) & 0xFF:02X}",
            column=column,
        )
        return None
    first = shown(corrected[max(places[0] - 10, 0) : places[0] + 10])
    place.remark_counted(
        "%(count)s bytes that are not UTF-8, read as Windows-1252: %(first)s", len(places), first=first
    )
    return corrected


def _as_windows(match: re.Match[str]) -> str:
    return match[0].encode(errors="surrogateescape").decode("cp1252")


def clean(place: Place, text: str) -> str | None:
    """The text as it is stored, or None and a complaint. Where `place` has no field, its line is the text's first."""
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not text.isascii() and (left := _LEFT_BY_WINDOWS.findall(text)):
        text = text.translate(_WINDOWS)
        place.remark(
            "%(count)s characters such as U+%(code)04X read as Windows-1252", count=len(left), code=ord(left[0])
        )
    if bad := _FORBIDDEN.search(text):
        _refuse_at(
            place, text, bad.start(), _described(bad[0]), "text without control characters except tab and newline"
        )
        return None
    if text.isascii():
        return text
    if _PERHAPS_MARKS.search(text) and (run := _long_run_of_marks().search(text)):
        _refuse_at(place, text, run.start(), f"more than {MARKS} combining marks in a row", "ordinary text")
        return None
    return unicodedata.normalize("NFC", text)


def without_c1(place: Place, text: str) -> str:
    """A long text with a space for each C1 control character that means nothing in Windows-1252, which is remarked on.

    Texts crawled from the web sometimes contain one; that is no reason to refuse a whole collection.
    """
    if text.isascii():
        return text
    text, count = _MEANINGLESS_C1.subn(" ", text)
    if count:
        place.remark("%(count)s control characters (U+0080 to U+009F) were replaced by spaces", count=count)
    return text


def replace_forbidden(text: str) -> tuple[str, int]:
    """The text with a space for each forbidden character and old Windows quotes repaired, and how many spaces."""
    return _FORBIDDEN.subn(" ", text.translate(_WINDOWS) if not text.isascii() else text)


def blank(text: str) -> bool:
    """Nothing to be seen: spaces and invisible characters only. Such a text is no title and no name, wherever typed."""
    if not text or text.isspace():
        return True
    return not text.isascii() and all(
        unicodedata.category(character) in _INVISIBLE or _SHOWS_NOTHING.match(character) for character in text
    )


#: A word, or so many characters of one: to put combining marks in order takes the square of their number.
_WORD = re.compile(r"\S{1,1000}")


def visible(text: str) -> str:
    """What a reader sees of a text but its white space: equal for two texts that nobody can tell apart by reading."""
    return _UNSEEN.sub("", "".join(unicodedata.normalize("NFC", word) for word in _WORD.findall(text)))


def name(place: Place, text: str, characters: int = limits.NAME_CHARACTERS) -> str | None:
    """A name that people and URLs can carry: one line, something visible, no space at either end."""
    cleaned = clean(place, text)
    if cleaned is None:
        return None
    if blank(cleaned):
        place.refuse("an empty name" if not cleaned else "a name of invisible characters", "a name")
    elif len(cleaned) > characters:
        place.refuse(
            "a name of %(count)s characters: %(name)s",
            "at most %(limit)s characters",
            count=len(cleaned),
            limit=characters,
            name=shown(cleaned),
        )
    elif "\n" in cleaned or "\t" in cleaned:
        place.refuse("%(name)s, with a tab or a newline in it", "a name on one line", name=shown(cleaned))
    elif cleaned != cleaned.strip():
        place.refuse("%(name)s, with a space at the start or end", "the name without the space", name=shown(cleaned))
    else:
        return cleaned
    return None


def _refuse_at(place: Place, text: str, position: int, actual: str, expected: str) -> None:
    before = text[:position]
    column = position - (before.rfind("\n") + 1) + 1
    if place.field:
        place.refuse("%(what)s at character %(position)s", expected, what=actual, position=position + 1)
    else:
        place = place.at(max(place.line, 1) + before.count("\n"))
        place.refuse("%(what)s at character %(position)s of the line", expected, what=actual, position=column)


def _described(character: str) -> str:
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return f"U+{code:04X}, half of a surrogate pair"
    if character in _NAMED:
        return f"U+{code:04X} ({_NAMED[character]})"
    kind = "a control character" if unicodedata.category(character) == "Cc" else "not a character"
    return f"U+{code:04X} ({kind})"


@cache
def _long_run_of_marks() -> re.Pattern[str]:
    """A run of marks that would make normalising slow: 400,000 alternating ones cost half a minute."""
    codes = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
    marks = [
        code for code in codes if unicodedata.category(chr(code)) in ("Mn", "Me") or unicodedata.combining(chr(code))
    ]
    return re.compile("[" + "".join(_ranges(marks)) + f"]{{{MARKS + 1}}}")


def _ranges(codes: list[int]) -> list[str]:
    """The sorted codes as ranges of a regular expression's set."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return [f"{chr(first)}-{chr(last)}" for first, last in ranges]
