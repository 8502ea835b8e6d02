"""What columns, and the answers in them, are called: by us, by other tools, and in the languages of the pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from preferendum.formats.answers import NEITHER, TIE

#: Columns for the question, where several were asked about a pair.
ASPECTS = ("dimension", "criterion", "aspect", "kriterium", "critère", "criterio", "critério", "観点", "维度")
#: What a column may be, and the words for it. A word may stand before `_id` or `_name`.
NAMES = {
    "topic": "topic item example instance case thema sujet tema argomento tópico トピック 主题 题目 موضوع id key nr no",
    "document": "document doc source article input prompt context passage story post dialogue question instruction "
    "dokument artikel quelle texte_source documento articulo artículo articolo artigo fuente fonte 文書 記事 原文 "
    "文档 文章 وثيقة مقال",
    "reference": "reference target gold ref ground_truth highlights referenz référence referencia riferimento "
    "referência 参照 参考 مرجع",
    "system": "system sys model method generator policy engine systeme système modell modelle modèle sistema modelo "
    "modello méthode método metodo システム モデル 系统 模型 نظام نموذج",
    "text": "summary output response answer text completion generation generated prediction hypothesis "
    "zusammenfassung ausgabe antwort résumé réponse resumen respuesta riassunto risposta resumo resposta 要約 回答 "
    "摘要 ملخص",
    "a": "a left first links gauche izquierda sinistra esquerda 左",
    "b": "b right second rechts droite derecha destra direita 右",
    "winner": "winner choice preferred preference label better vote verdict result outcome judgment judgement "
    "which_is_better which_one_is_better gewinner wahl besser präferenz gagnant vainqueur choix préférence ganador "
    "elección preferencia vincitore scelta preferenza vencedor escolha preferência 勝者 選択 胜者 选择 更好 偏好 "
    "结果 فائز اختيار",
    "annotator": "annotator worker user rater judge labeler labeller evaluator participant coder voter reviewer "
    "annotatorin bewerter bewerterin teilnehmer annotateur évaluateur participant anotador evaluador participante "
    "annotatore valutatore partecipante avaliador 注釈者 評価者 标注者 标注员 评估者 参与者 مقيم مشارك",
    "dimension": " ".join((*ASPECTS, "quality")),
    "metric": "metric metrik métrique métrica metrica 指標 指标",
    "score": "score rating value points note punkte wertung puntuación punteggio nota 点数 评分 分数 درجة",
    "assessor": "assessor",
}
_ROLE = {word: role for role, words in NAMES.items() for word in words.split()}
#: Words for a topic that many tables use for a row.
WEAK = frozenset(("id", "key", "nr", "no"))
#: What may stand around a word.
_AROUND = re.compile(r"_(?:id|ids|name|text|nr|no)$|^(?:the|source|reference|gold|system|model|generated)_(?=[a-z])")

#: What stands beside a word for one of two, or of more, that are compared: `system_1`, `left_model`.
_BARE = {word: role for role in ("a", "b") for word in NAMES[role].split()}
_BESIDE = {**_BARE, "1": "a", "2": "b", "3": "c", "c": "c"}
_SYSTEMS = frozenset(NAMES["system"].split())
_OTHERS = (
    "candidate option side variant version kandidat candidat candidato opción opzione opção 候補 候选 选项 "
    f"{NAMES['text']}"
)
_COMPARED = _SYSTEMS.union(_OTHERS.split())
#: Before the name of what is compared: `preferred_system`.
_PREFERRED = frozenset(("winner", "winning", "preferred", "better"))

#: What a column of those that were not preferred is called, alone or before the name of what is compared.
_BEATEN = frozenset(
    ("loser", "losing", "worse", "beaten", "verlierer", "perdant", "perdedor", "perdente", "敗者", "败者", "خاسر")
)

#: What tools call an answer, and its letter.
ANSWERS = {
    **dict.fromkeys(("a", "left", "first", "model_a", "system_a", "output_a", "leftvote"), "a"),
    **dict.fromkeys(("b", "right", "second", "model_b", "system_b", "output_b", "rightvote"), "b"),
    **dict.fromkeys((TIE, "equal", "draw", "same", "both", "tievote"), TIE),
    **dict.fromkeys((NEITHER, "none", "tie (bothbad)", "both bad", "both_bad", "both-bad", "bothbad"), NEITHER),
    "bothbad_vote": NEITHER,
}
_TIES = (
    "a=b b=a equallygood nopreference gleich unentschieden égalité empate igual pareggio uguale 引き分け 同じ "
    "平局 相同 一样 تعادل"
)
#: The same without spaces and brackets, as people write it.
_WRITTEN = {
    **dict.fromkeys(("1", "a>b", "b<a", "a>>b", "b<<a"), "a"),
    **dict.fromkeys(("2", "b>a", "a<b", "b>>a", "a<<b"), "b"),
    **dict.fromkeys(_TIES.split(), TIE),
}

_KEPT = 1024


def word_of(name: str) -> str:
    """A name as it may stand among the words: `Doc-ID` is `doc`, `systemName` is `system`."""
    word = _plain(name)
    return word if word in _ROLE else _AROUND.sub("", word)


@lru_cache(_KEPT)
def role_of(column: str) -> str:
    """What a column of this name is; "" where the name does not say."""
    if side := side_of(column):
        return side if side in NAMES else ""
    first, _underscore, rest = _side_word(column).partition("_")
    return "winner" if first in _PREFERRED and rest in _COMPARED else _ROLE.get(word_of(column), "")


@lru_cache(_KEPT)
def side_of(name: str) -> str:
    """Which of the things that are compared a name means: `a`, `b`, or `c` for one more; "" where it means none."""
    return _BARE.get(_side_word(name)) or _compared(name)[1]


def is_of_systems(column: str) -> bool:
    """Whether the name of a side says that systems stand there: `model_a` does, `response_a` does not."""
    return _compared(column)[0] in _SYSTEMS


def is_loser(column: str) -> bool:
    """Whether a column is called as the ones that were not preferred are: `loser`, `losing_model`."""
    first, _underscore, rest = _side_word(column).partition("_")
    return first in _BEATEN and (not rest or rest in _COMPARED)


def letter_of(answer: str) -> str:
    """The letter of an answer as people and tools write it; "" for what is none."""
    word = answer.strip().casefold()
    written = ANSWERS.get(word) or _WRITTEN.get(re.sub(r"[\s\[\]]+", "", word))
    return written or side_of(answer.strip()).replace("c", "")


def called(row: Mapping[str, Any], role: str) -> Any:
    """The value of the first column with this role by its name; None where there is none."""
    return next((row[column] for column in row if role_of(column) == role and word_of(column) not in WEAK), None)


def _compared(name: str) -> tuple[str, str]:
    """What a name says is compared, and which of it: `left_model` is a `model`, and `a`."""
    word = _side_word(name)
    before, _, last = word.rpartition("_")
    first, _, after = word.partition("_")
    parted = [(before, last), (after, first)]
    if last == word and (word[-1:].isdecimal() or not word[:1].isascii()):  # `system1`, and scripts without spaces
        parted.append((word[:-1], word[-1:]))
    return next(((thing, _BESIDE[side]) for thing, side in parted if thing in _COMPARED and side in _BESIDE), ("", ""))


def _side_word(name: str) -> str:
    return re.sub(r"_(?:id|name)$", "", _plain(name))


@lru_cache(_KEPT)
def _plain(name: str) -> str:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", unicodedata.normalize("NFKC", name))
    return re.sub(r"[\W_]+", "_", parted.casefold()).strip("_")
