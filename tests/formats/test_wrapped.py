"""Lines that an editor broke at one width are paragraphs again, and the import says so; others stay as they are."""

import json
import textwrap
import time
from pathlib import Path

import pytest

from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.reading import read
from preferendum.formats.readers.topics import read_topics
from preferendum.formats.readers.wrapped import joined
from preferendum.formats.records import Topic
from preferendum.formats.sentences import cut_text

PARAGRAPHS = {
    "en": "Weeks of heavy rain have flooed large parts of the valley, and officials said on Monday that at least 12 "
    "people had died. More than 3,000 residents were moved to shelters in nearby towns, where food was handed out.",
    "de": "Wochenlanger Regen hat weite Teile des Tals überflutet, und die Behörden teilten am Montag mit, dass "
    "mindestens zwölf Menschen gestorben seien. Mehr als 3.000 Bewohner wurden in Unterkünfte gebracht.",
    "ru": "Недели сильных дождей затопили большую часть долины, и власти сообщили в понедельник, что погибли по "
    "меньшей мере двенадцать человек. Более трёх тысяч жителей были перевезены в убежища.",
    "hi": "कई हफ़्तों की भारी बारिश से घाटी के बड़े हिस्से डूब गए और अधिकारियों ने सोमवार को कहा कि कम से कम बारह लोगों की मौत हुई। "
    "तीन हज़ार से अधिक निवासियों को पास के शहरों के आश्रयों में पहुँचाया गया।",
    "ar": "أغرقت أسابيع من الأمطار الغزيرة أجزاء واسعة من الوادي وقال مسؤولون يوم الاثنين إن اثني عشر شخصا على الأقل "
    "لقوا حتفهم. ونقل أكثر من ثلاثة آلاف من السكان إلى ملاجئ في بلدات مجاورة.",
}
CHINESE = (
    "连续数周的暴雨淹没了山谷的大部分地区，官员周一表示至少有十二人死亡。"
    "三千多名居民被转移到附近城镇的避难所，红十字会在那里发放食物。"
)


def read_as_stored(path: Path) -> Topic:
    """The topic as an archive has it, whose sentences have places in the text."""
    draft = Draft()
    with path.open("rb") as file:
        read_topics(file, place(), draft, as_stored=True)
    return draft.topics[0].record


def place() -> Place:
    return Place(Complaints(), "d1.txt")


@pytest.mark.parametrize("width", [50, 60, 72, 80])
@pytest.mark.parametrize("language", PARAGRAPHS)
def test_lines_of_any_width_are_joined_in_any_script(language: str, width: int) -> None:
    whole = PARAGRAPHS[language]
    assert joined(place(), textwrap.fill(whole, width)) == whole
    assert joined(place(), "\n\n".join([textwrap.fill(whole, width)] * 2)) == f"{whole}\n\n{whole}"


def test_lines_of_chinese_are_joined_without_spaces() -> None:
    lines = [CHINESE[start : start + 20] for start in range(0, len(CHINESE), 20)]
    assert joined(place(), "\n".join(lines)) == CHINESE


@pytest.mark.parametrize("language", ["en", "de", "ru"])
def test_lines_that_are_all_indented_or_all_capitals_are_joined(language: str) -> None:
    whole = PARAGRAPHS[language]
    assert joined(place(), textwrap.indent(textwrap.fill(whole, 60), " " * 8)) == whole
    assert joined(place(), textwrap.fill(whole.upper(), 60)) == whole.upper()
    code = textwrap.indent("def double(number):\n    return 2 * number", "    ")
    assert joined(place(), code) == code


@pytest.mark.parametrize("hyphen", ["-", "\u2010", "\u00ad"])
def test_words_that_a_line_end_parts_are_whole_again(hyphen: str) -> None:
    lines = [
        f"Wochenlanger Regen hat weite Teile des Tals über{hyphen}",
        f"flutet, und die Behörden teilten am Montag mit, es{hyphen}",
        f"sen werde verteilt, und Decken. Mehr als 3.000 Be{hyphen}",
        "wohner wurden in Unterkünfte gebracht.",
    ]
    kept = hyphen if hyphen == "\u00ad" else ""
    assert joined(place(), "\n".join(lines)) == "".join(line.replace(hyphen, kept) for line in lines)


def test_a_hyphen_of_a_word_stays_at_a_line_end() -> None:
    text = "Weeks of heavy rain have flooded parts of the well-\nknown valley, and officials said on Monday that at\n"
    assert "well-known" in joined(place(), text + "least 12 people had died.")


def test_paragraphs_that_follow_each_other_without_an_empty_line_stay_apart() -> None:
    paragraph = textwrap.fill(PARAGRAPHS["en"], 72)
    assert joined(place(), f"{paragraph}\n{paragraph}") == f"{PARAGRAPHS['en']}\n{PARAGRAPHS['en']}"


@pytest.mark.parametrize(
    "text",
    [
        "The boat sails twice a day.\nA ticket costs four euros and is sold on board.\nDogs travel free.",
        "the boat sails twice a day .\na ticket costs four euros and is sold on board .\ndogs travel free .",
        "Island gets its first ferry\nThe harbour office said that the boat carries forty cars and costs millions.",
        "Harbour office announces a new ferry for the island\nResidents say that they were not heard",
        "- forty cars and two hundred people\n- three million euros for the boat alone\n- two crossings a day",
        "A line end that stands in a long paragraph was made by no editor, and nobody knows what it is doing there, "
        "though wit\nh some luck it means something. " * 3,
        "Roses are red\nviolets are blue\nand so are you",
        "ฝนตกหนักเมื่อวันจันทร์ทำให้น้ำท่วมหมู่บ้านหลายแห่ง\nมีผู้เสียชีวิตอย่างน้อยสิบสองคนจากน้ำท่วมในหุบเขา",
        "one\n" * 50,
        "\n\n \n",
    ],
)
def test_a_sentence_a_line_headings_lists_and_verse_stay(text: str) -> None:
    here = place()
    assert joined(here, text) == text
    assert not here.complaints.remarks


def test_the_import_shows_before_and_after_once_a_file_and_joins_no_given_sentences(tmp_path: Path) -> None:
    wrapped = textwrap.fill(PARAGRAPHS["en"], 60)
    topic = {
        "topic_id": "t",
        "documents": [{"id": "d1", "text": wrapped}, {"id": "d2", "sentences": [wrapped, "Two."]}],
        "summaries": [{"system": "x", "text": wrapped}, {"system": "y", "text": "Rain."}],
    }
    (tmp_path / "t.jsonl").write_text(json.dumps(topic), encoding="utf-8")

    bundle = read(tmp_path / "t.jsonl")

    assert [len(cut_text(document)) for document in bundle.topics[0].documents] == [2, 2]
    assert bundle.topics[0].documents[1].sentences == (wrapped, "Two.")
    assert bundle.topics[0].summaries[0].text == PARAGRAPHS["en"]
    assert "\n" in (read_as_stored(tmp_path / "t.jsonl").documents[0].text or "")
    (remark,) = bundle.remarks
    assert remark.said % remark.params == (
        '6 line ends inside of sentences were read as spaces: "ed large parts of the valley,\\nand officials said on '
        'Monday " became "ed large parts of the valley, and officials said on Monday "'
    )


@pytest.mark.parametrize("unit", ["a\n", "\n", "a b\n", "中\n", "a" * 60 + " b\n", "\u0301\n", ". \n"])
def test_half_a_million_hostile_characters_take_seconds(unit: str) -> None:
    begun = time.perf_counter()
    joined(place(), unit * (500_000 // len(unit)))
    assert time.perf_counter() - begun < 10
