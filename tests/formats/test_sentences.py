"""Texts become sentences: what a reader would cut, and what no hostile text may break."""

import re

import nupunkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.formats import sentences
from preferendum.formats.records import Text
from preferendum.formats.sentences import count, cut, cut_text


def split(text: str, language: str = "") -> list[str]:
    return [sentence.text for sentence in cut(text, language)]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


HOSTILE = {
    "ten thousand parentheses": "(" * 10_000,
    "a title without end": "Mr. " * 2_500,
    "nothing": "",
    "only spaces": " " * 10_000,
    "only line breaks": "\n" * 10_000,
    "combining marks": "a" + "\u0301\u0327" * 50_000,
    "dots": "." * 10_000,
    "quotation marks": '"' * 10_000,
    "opened and never closed": "„Ja. " * 2_500,
    "abbreviations": "U.S. " * 2_500,
    "one word": "a" * 100_000,
    "NUL": "\0 A. \0 B.",
    "lone surrogates": "\ud800 Eins. Zwei \udfff.",
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("language", ["en", "de", "zh", "xx"])
def test_no_text_breaks_the_cutting(hostile: str, language: str) -> None:
    kept = "".join("".join(split(hostile, language)).split())
    assert kept == ("".join(hostile.split()) if words(hostile) else "")


@pytest.mark.parametrize(
    "hostile",
    [
        *("(", "!", "?!", "ab!!cd??", "1.)", ".”", "“a", "«", "Mr. ", "a. B ", '"Hi." ', "\n", "a\u0301", "„Ja. "),
        *("a. b ", "A. ", "12. Aa ", "Das Haus. 1. ", "。1", "「。1", ";  Α", "м. Аа", ". “", "a.\n"),
    ],
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_half_a_million_hostile_characters_are_cut_like_ten_thousand(hostile: str, language: str) -> None:
    """Whatever takes quadratic time never comes back from this."""
    few, many = (hostile * (size // len(hostile)) for size in (10_000, 500_000))

    assert len(cut(many, language)) == pytest.approx(50 * len(cut(few, language)), rel=0.02, abs=50)


@pytest.mark.parametrize("unit", ["a! ", "A! ", "! ", "Mr. ", "a? ! ", 'A." ', "A! bcd\ne\n", "A. B\n"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_no_library_sees_more_ends_than_one_in_eight_characters(
    unit: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take microseconds for each: all they do is in proportion to the ends and to the characters."""
    seen: list[int] = []

    def count_ends(line: str, _language: str) -> list[tuple[int, int]]:
        seen.append(len(sentences._END.findall(line)) + 1)
        return []

    monkeypatch.setattr(sentences, "_english_spans", count_ends)
    monkeypatch.setattr(sentences, "_other_spans", count_ends)
    for size in (100, 1_000, 10_000):
        seen.clear()
        cut((unit * size)[:size], language)
        assert sum(seen) <= 51 + size / 8


@pytest.mark.parametrize("language", ["en", "de"])
def test_where_a_sentence_would_end_every_few_characters_only_lines_are_cut(language: str) -> None:
    line = "A! B? " * 100
    assert split(f"{line}\n  {line}", language) == [line.strip()] * 2
    assert split("No! Yes! No! Why? Ha! Go!", language) == ["No!", "Yes!", "No!", "Why?", "Ha!", "Go!"]


@given(st.text(alphabet="aB 1,;:()\"'”»-", max_size=60), st.sampled_from(["", ".", "!", "?", "…", "..."]))
def test_a_line_that_the_library_is_spared_is_one_that_it_would_not_cut(line: str, end: str) -> None:
    spared, spans = line + end, nupunkt.sentence_spans(line + end, dynamic_abbrev=False)
    assert [spared[a:b] for a, b in spans] == ([spared.strip()] if spared.strip() else [])


@given(st.text(max_size=300), st.sampled_from(["en", "de", "fr", "ar", "ja", ""]))
def test_every_sentence_stands_where_it_says_and_no_word_is_lost(text_: str, language: str) -> None:
    end = 0
    for sentence in cut(text_, language):
        assert text_[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip()
        assert words(sentence.text)
        assert not words(text_[end : sentence.start])
        end = sentence.end
    assert not words(text_[end:])


@given(st.lists(st.text(max_size=40), max_size=3))
def test_line_breaks_are_hard_borders(lines: list[str]) -> None:
    whole = split("\n".join(lines))

    assert whole == [sentence for line in lines for sentence in split(line)]


def test_english_is_cut_as_a_reader_would() -> None:
    assert split(
        '2005/01/08 Tsunami aid\nThe U.S. Army paid approx. $3.5 million to Mr. Smith. "Is it true?" he asked. Yes!'
    ) == [
        "2005/01/08 Tsunami aid",
        "The U.S. Army paid approx. $3.5 million to Mr. Smith.",
        '"Is it true?" he asked.',
        "Yes!",
    ]


def test_a_run_of_marks_ends_its_sentence_however_long_it_is() -> None:
    assert split(f"No{'!' * 50} Why{'?' * 50} Page {'.' * 50} 25 is it.", "en") == [
        f"No{'!' * 50}",
        f"Why{'?' * 50}",
        f"Page {'.' * 50} 25 is it.",
    ]


def test_a_piece_that_begins_in_lower_case_goes_back_to_the_one_before_it() -> None:
    assert split("Was it Yahoo! or another one? nobody knew. The end.") == [
        "Was it Yahoo! or another one? nobody knew.",
        "The end.",
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_holds_no_word_is_no_sentence(language: str) -> None:
    assert split('Er kam. "…" Und ging.\n* * *\n– Nein!', language)[-1] == "– Nein!"
    assert all(words(s) for s in split('Er kam. "…" Und ging.\n* * *\n– Nein!', language))
    assert split("---\n...", language) == []


def test_a_stray_quotation_mark_stays_with_the_sentence_that_it_closes() -> None:
    assert split('He said: "They came. They saw. ". Then he left.') == [
        'He said: "They came.',
        'They saw. ".',
        "Then he left.",
    ]


def test_other_languages_are_cut_by_their_own_rules() -> None:
    assert split("Das ist z. B. gut. Dr. Müller kam am 3. Mai.", "de-AT") == [
        "Das ist z. B. gut.",
        "Dr. Müller kam am 3. Mai.",
    ]
    assert split("你好。我是学生。", "zh-Hans") == ["你好。", "我是学生。"]


TITLES_AND_THE_LIKE = [
    ("fr", "Le ministre a reçu M. Dupont lundi.|L’art. 5 le dit.|Le Pr. Blanc vient."),
    ("de", "Der 35. Kommandeur kam am 3. Mai.|Im XIX. Jahrhundert gab es das.|Er ist 35.|Danach ging er.|Siehe S. 12."),
    ("de", "„Kommst du?“ fragte er.|„Nein!“ rief sie.|Er lachte."),
    ("es", "Vino la Sra. López.|Está en la pág. 5.|Lo dijo J. L. Borges.|—¿Vienes? —preguntó él."),
    ("it", "Parla l’avv. Neri.|S. Francesco è a pag. 5 del libro.|È arrivata la dott.ssa Verdi."),
    ("pt", "A Av. Brasil é longa.|O Exmo. Senhor chegou à pág. 3.|Assim é.|Depois saiu."),
    ("ru", "А. С. Пушкин родился в Москве.|Школа им. Ленина.|В ст. 5 сказано.|Это я.|Он ушёл."),
    ("pl", "Był ks. Jan i św. Anna.|Szkoła im. Kopernika.|W art. 5 ust. 2 tak jest.|Przyszedł dr. Kowalski."),
    ("nl", "De heer drs. Jansen en mevr. De Vries.|Zie blz. 3 van het boek.|Dat is ds. Visser."),
    ("sv", "Dr. Berg läser t.ex. Strindberg.|Se s. 12 i boken."),
    ("da", "Han kom den 5. Maj.|Han spiller i 1. Division.|Han er 35.|Det er godt."),
    ("cs", "Byl v 18. Století.|Přišel MUDr. Svoboda a sv. Václav.|Viz str. 3 knihy."),
    ("tr", "Sn. Yılmaz geldi.|3. Murat ve II. Abdülhamid öldü.|Av. Mehmet No. 5 evde."),
    ("el", "Ο κ. Παπαδόπουλος ήρθε.|Ο Γ. Σεφέρης έγραψε π.χ. Ποιήματα.|Τι κάνεις;|Καλά είμαι."),
    ("fi", "5. Toukokuuta tuli tri Nieminen.|Esim. Helsinki on iso."),
    ("hu", "Dr. Nagy jött.|III. Béla kb. Ötven éves."),
    ("hi", "डॉ. शर्मा आए।|प्रो. गुप्ता बोले।"),
    ("bn", "ড. ইউনূস এলেন।|মো. করিম গেলেন।"),
    ("uk", "Це м. Київ, вул. Хрещатик.|Був проф. Іваненко."),
    ("km", "ភ្លៀងធ្លាក់ខ្លាំង។|ទឹកជន់លិចភូមិ ផ្ទះ។ល។ និងផ្លូវ។|មនុស្សដប់ពីរនាក់បានស្លាប់។"),
    ("ja", "水が引いた。|16日に雨が降った。|彼は「雨だ。16日だ。」と言った。"),
    ("es", "La Cía. Norte y la Univ. Central lo saben.|Costó aprox. 20 euros.|Fue el 3 feb. 2020 en Lima."),
    ("it", "L’Univ. Bocconi è a Milano.|Nacque nel 50 a.C. a Roma.|Morì il 3 sett. 1920 a Bari."),
    ("de", "Die Fa. Bosch und Dipl.-Ing. Vogt kamen.|Dr. phil. Klein und die Abg. Schulz gingen."),
    ("pt", "O Min. Barroso e o Dep. Lira falaram.|A Sta. Rita ajuda.|Foi em 3 out. 2020 em Lisboa."),
    ("pl", "W 1989 r. Polska odzyskała wolność.|Urodził się w 1900 r.|Red. Lis i min. Bem wyszli.|Było ok. 200 osób."),
    ("nl", "De fam. Bos kwam op 3 okt. 2020 aan.|Dat was in Leiden.|'s Avonds is het stil."),
    ("tr", "Öğr. Ayşe ve Bşk. Kaya geldi.|M.Ö. 300 yılında kuruldu.|Sonra yıkıldı."),
    ("ru", "Были книги, ручки и т. д.|Все молчали.|Пришли Иванов и др.|Зам. Петров ушёл 3 окт. 2020 года."),
    ("uk", "Яблука, груші і т. д.|Усі мовчали.|Інж. Коваль прийшов 3 жовт. 2020 року."),
    ("fr", "La Cie. Générale est là.|C’était le 3 févr. 2020 à Lyon."),
    ("ko", "그는 “가겠다.”라고 말했다.|“왜?” 하고 그녀가 물었다.|아무도 없었다."),
]


@pytest.mark.parametrize(("language", "wanted"), TITLES_AND_THE_LIKE, ids=[tag for tag, _ in TITLES_AND_THE_LIKE])
def test_titles_initials_ordinals_and_abbreviations_end_no_sentence(language: str, wanted: str) -> None:
    sentences_of = wanted.split("|")
    assert split(("" if language == "ja" else " ").join(sentences_of), language) == sentences_of


LOWER_CASE = [
    ("en", "the minister came . he saw mr. smith , i.e. a friend .|nato left in 1999 ."),
    ("de", "der minister kam am 3. mai .|er sprach mit dr. müller ."),
    ("fr", "le ministre a reçu m. dupont lundi .|ils ont parlé du budget ."),
    ("ru", "президент приехал в москву.|он говорил с проф. ивановым.|потом уехал."),
    ("tr", "cumhurbaşkanı geldi .|dün dr. ahmet ile konuştu ."),
    ("el", "ο πρωθυπουργός έφτασε χθες .|μίλησε με τον κ. παπαδόπουλο ."),
    ("ka", "ის მოვიდა.|მერე წავიდა."),
    ("en", "the mayor said `` we will rebuild . ''|people left .|`` why ? ''|nobody knew ."),
]


@pytest.mark.parametrize(("language", "wanted"), LOWER_CASE, ids=[tag for tag, _ in LOWER_CASE])
def test_a_text_without_capitals_ends_its_sentences_at_full_stops(language: str, wanted: str) -> None:
    sentences_of = wanted.replace(" . he", " .|he").split("|")
    assert split(" ".join(sentences_of), language) == sentences_of


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_in_a_text_with_capitals_a_small_letter_ends_nothing(language: str) -> None:
    for text in ("Er kam ca. fünf Mal. Dann ging er.", "Он купил яблок и т. д. потом ушёл. Он вернулся."):
        assert len(split(text, language)) == 2


def test_a_line_longer_than_a_window_is_cut_as_if_there_were_none() -> None:
    sentence = "Dies ist ein Satz über Politik und über Geld."
    many = 3 * sentences.WINDOW // len(sentence)
    word = "Haus" * (sentences.WINDOW // 2 + 2)

    assert split(" ".join([sentence] * many), "de") == [sentence] * many
    assert split(f"{word}. Ende.", "de") == [f"{word}.", "Ende."]


def test_a_short_quotation_stays_whole_and_a_long_one_is_cut_inside() -> None:
    sentence = "Dies ist ein Satz über Politik und über Geld."
    short = f"Sie sagte: „{sentence} {sentence}“ Dann ging sie."
    long = f"Sie sagte: „{' '.join([sentence] * 6)}“ Dann ging sie. „Gut.“"

    assert split(short, "de") == [f"Sie sagte: „{sentence} {sentence}“", "Dann ging sie."]
    assert split(long, "de") == [
        f"Sie sagte: „{sentence}",
        *[sentence] * 4,
        f"{sentence}“",
        "Dann ging sie.",
        "„Gut.“",
    ]


def test_paragraphs_are_counted_over_lines_that_hold_something() -> None:
    assert [(s.text, s.paragraph) for s in cut("One. Two.\n\n   \nThree.")] == [("One.", 0), ("Two.", 0), ("Three.", 1)]


def test_an_empty_language_is_english() -> None:
    assert split("Mr. Smith came. He left.", "") == split("Mr. Smith came. He left.", "en-GB")


def test_what_was_given_cut_is_never_cut_again_and_stands_on_lines_of_its_own() -> None:
    text = Text("d7", sentences=("Already cut. By you.", "As given, "))
    whole = "Already cut. By you.\nAs given, "

    assert [(whole[c.start : c.end], c.paragraph) for c in cut_text(text)] == [
        ("Already cut. By you.", 0),
        ("As given, ", 1),
    ]
    assert count(text) == 2


def test_the_language_decides_how_texts_are_cut() -> None:
    chinese = Text("d", text="你好。我是学生。")

    assert [c.text for c in cut_text(chinese, "zh")] == ["你好。", "我是学生。"]
    assert count(chinese, "en") == 1
