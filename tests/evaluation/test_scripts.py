"""One topic of ours in six languages: whatever the script, scores see the same words, so that its summaries are ordered
as in English."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.fit.chances import Chances
from preferendum.fit.similarity import nearest_to, similarity
from preferendum.metrics.registry import Need, lacking, metric
from preferendum.scoring.importance import score, share_words

NOBODY = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
#: How often each sentence is preferred.
VALUES = (0.8, 0.9, 0.75, 0.5, 0.45, 0.35, 0.4, 0.1)
SYSTEMS = ("main", "help", "aside")
#: The eight sentences of the source, then the summaries of the three systems.
TEXTS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "en": (
        (
            "Heavy rain flooded many villages in the valley on Monday.",
            "At least twelve people died in the flood.",
            "Three thousand residents were moved to shelters in nearby towns.",
            "The Red Cross handed out food and blankets.",
            "The mayor expects the water to fall at the weekend.",
            "All schools stay closed until further notice.",
            "Repairing the roads and bridges will take months.",
            "The local football team cancelled its match.",
        ),
        (
            "Heavy rain flooded many villages in the valley. At least twelve people died. "
            "Three thousand residents were moved to shelters.",
            "The Red Cross handed out food and blankets. The mayor expects the water to fall.",
            "The football team cancelled its match.",
        ),
    ),
    "zh": (
        (
            "周一的暴雨淹没了山谷中的许多村庄。",
            "至少有十二人在洪水中死亡。",
            "三千名居民被转移到附近城镇的避难所。",
            "红十字会发放了食物和毯子。",
            "市长预计水位将在周末下降。",
            "所有学校停课直至另行通知。",
            "修复道路和桥梁需要几个月时间。",
            "当地足球队取消了比赛。",
        ),
        (
            "暴雨淹没了山谷中的许多村庄。至少有十二人死亡。三千名居民被转移到避难所。",
            "红十字会发放了食物和毯子。市长预计水位将下降。",
            "足球队取消了比赛。",
        ),
    ),
    "ja": (
        (
            "月曜日の大雨で谷の多くの村が浸水した。",
            "洪水で少なくとも十二人が死亡した。",
            "三千人の住民が近くの町の避難所に移された。",
            "赤十字は食料と毛布を配った。",
            "市長は週末に水位が下がると見ている。",
            "すべての学校は追って知らせるまで休校となる。",
            "道路と橋の修理には数か月かかる。",
            "地元のサッカーチームは試合を中止した。",
        ),
        (
            "大雨で谷の多くの村が浸水した。少なくとも十二人が死亡した。三千人の住民が避難所に移された。",
            "赤十字は食料と毛布を配った。市長は水位が下がると見ている。",
            "サッカーチームは試合を中止した。",
        ),
    ),
    "hi": (
        (
            "सोमवार को भारी बारिश से घाटी के कई गाँव डूब गए।",
            "बाढ़ में कम से कम बारह लोगों की मौत हो गई।",
            "तीन हज़ार निवासियों को पास के शहरों के आश्रयों में पहुँचाया गया।",
            "रेड क्रॉस ने भोजन और कंबल बाँटे।",
            "महापौर को उम्मीद है कि सप्ताहांत में पानी उतर जाएगा।",
            "सभी स्कूल अगली सूचना तक बंद रहेंगे।",
            "सड़कों और पुलों की मरम्मत में महीनों लगेंगे।",
            "स्थानीय फ़ुटबॉल टीम ने अपना मैच रद्द कर दिया।",
        ),
        (
            "भारी बारिश से घाटी के कई गाँव डूब गए। कम से कम बारह लोगों की मौत हो गई। "
            "तीन हज़ार निवासियों को आश्रयों में पहुँचाया गया।",
            "रेड क्रॉस ने भोजन और कंबल बाँटे। महापौर को उम्मीद है कि पानी उतर जाएगा।",
            "फ़ुटबॉल टीम ने अपना मैच रद्द कर दिया।",
        ),
    ),
    "th": (
        (
            "ฝนตกหนักเมื่อวันจันทร์ทำให้น้ำท่วมหมู่บ้านหลายแห่งในหุบเขา",
            "มีผู้เสียชีวิตอย่างน้อยสิบสองคนจากน้ำท่วม",
            "ชาวบ้านสามพันคนถูกย้ายไปยังที่พักพิงในเมืองใกล้เคียง",
            "สภากาชาดแจกอาหารและผ้าห่ม",
            "นายกเทศมนตรีคาดว่าระดับน้ำจะลดลงในวันหยุดสุดสัปดาห์",
            "โรงเรียนทุกแห่งปิดจนกว่าจะมีประกาศเพิ่มเติม",
            "การซ่อมแซมถนนและสะพานจะใช้เวลาหลายเดือน",
            "ทีมฟุตบอลท้องถิ่นยกเลิกการแข่งขัน",
        ),
        (
            "ฝนตกหนักทำให้น้ำท่วมหมู่บ้านหลายแห่งในหุบเขา มีผู้เสียชีวิตอย่างน้อยสิบสองคน ชาวบ้านสามพันคนถูกย้ายไปยังที่พักพิง",
            "สภากาชาดแจกอาหารและผ้าห่ม นายกเทศมนตรีคาดว่าระดับน้ำจะลดลง",
            "ทีมฟุตบอลยกเลิกการแข่งขัน",
        ),
    ),
    "ar": (
        (
            "أغرقت أمطار غزيرة قرى كثيرة في الوادي يوم الاثنين.",
            "لقي اثنا عشر شخصا على الأقل حتفهم في الفيضان.",
            "نُقل ثلاثة آلاف من السكان إلى ملاجئ في بلدات مجاورة.",
            "وزع الصليب الأحمر الطعام والبطانيات.",
            "يتوقع رئيس البلدية أن تنخفض المياه في نهاية الأسبوع.",
            "تبقى جميع المدارس مغلقة حتى إشعار آخر.",
            "سيستغرق إصلاح الطرق والجسور شهورا.",
            "ألغى فريق كرة القدم المحلي مباراته.",
        ),
        (
            "أغرقت أمطار غزيرة قرى كثيرة في الوادي. لقي اثنا عشر شخصا على الأقل حتفهم. "
            "نُقل ثلاثة آلاف من السكان إلى ملاجئ.",
            "وزع الصليب الأحمر الطعام والبطانيات. يتوقع رئيس البلدية أن تنخفض المياه.",
            "ألغى فريق كرة القدم مباراته.",
        ),
    ),
}
OTHERS = [language for language in TEXTS if language != "en"]


def topic(language: str, tag: str | None = None) -> Evidence:
    sentences, summaries = TEXTS[language]
    texts = tuple(SummaryText(system, (text,)) for system, text in zip(SYSTEMS, summaries, strict=True))
    ids = tuple(f"d:{i}" for i in range(len(sentences)))
    return Evidence("t", ids, tuple(sentences), NOBODY, texts, language=language if tag is None else tag)


def scores(evidence: Evidence) -> dict[str, NDArray[np.float64]]:
    by_words = score(share_words(evidence), Chances(np.array(VALUES), np.array(VALUES), 0.1), 10)
    return {
        "importance": by_words.importance,
        "coverage": by_words.coverage,
        "js": metric("js").score(evidence),
    }


def order(values: NDArray[np.float64]) -> list[str]:
    assert np.isfinite(values).all()
    return [SYSTEMS[place] for place in np.argsort(-values)]


@pytest.mark.parametrize("name", ["importance", "coverage", "js"])
@pytest.mark.parametrize("language", OTHERS)
def test_a_topic_translated_orders_its_summaries_as_in_english(language: str, name: str) -> None:
    assert order(scores(topic(language))[name]) == order(scores(topic("en"))[name])


@pytest.mark.parametrize("language", OTHERS)
def test_a_topic_whose_language_nobody_names_is_read_in_its_script(language: str) -> None:
    for name, values in scores(topic(language, "")).items():
        assert order(values) == order(scores(topic("en"))[name])


@pytest.mark.parametrize("language", TEXTS)
def test_each_summary_is_most_like_a_sentence_that_it_repeats(language: str) -> None:
    evidence = topic(language)
    nearest, _ = nearest_to(similarity(evidence.sentences), [own.sentences[0] for own in evidence.summaries])
    assert [place in own for place, own in zip(nearest, ((0, 1, 2), (3, 4), (7,)), strict=True)] == [True] * 3


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("form", ["NFD", "NFKC", "NFKD"])
def test_a_source_in_another_form_of_unicode_is_the_same_text(
    language: str, form: Literal["NFD", "NFKC", "NFKD"]
) -> None:
    given = topic(language)
    other = replace(given, sentences=tuple(unicodedata.normalize(form, sentence) for sentence in given.sentences))
    assert scores(other)["js"] == pytest.approx(scores(given)["js"])
    assert scores(other)["coverage"] == pytest.approx(scores(given)["coverage"])


@pytest.mark.parametrize("language", TEXTS)
def test_rouge_sees_latin_letters_alone_unless_all_scripts_are_wanted(language: str) -> None:
    evidence = topic(language)
    by_reference = replace(evidence, references=(evidence.sentences[:3],))
    assert lacking(metric("rouge-1"), by_reference) == (None if language == "en" else Need.LATIN)
    assert lacking(metric("rouge-1:unicode"), by_reference) is None
    assert order(metric("rouge-2:unicode").score(by_reference))[0] == "main"
    assert "(tokens of any script)" in metric("rouge-2:unicode").signature
    if language == "en":
        assert metric("rouge-su4:unicode:f").score(by_reference) == pytest.approx(
            metric("rouge-su4:f").score(by_reference)
        )
