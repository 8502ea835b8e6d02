"""Writes the demo study's topics: the WikiNews documents and references, their two systems and public summarizers.

    python annotate/demo/summarize.py TOPICS.jsonl >annotate/demo/wikinews.jsonl

TOPICS.jsonl holds the three WikiNews topics of the MultiLing 2011 pilot. The summarizers are sumy's (and lead and
random), each at the length of the pilot's summaries: as many of its best sentences as fit into 250 words, in document
order. Needs the `bench` dependencies; kept so that anyone can see how the demo's systems came about.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
from sumy.nlp.stemmers import Stemmer
from sumy.summarizers.kl import KLSummarizer
from sumy.summarizers.lex_rank import LexRankSummarizer
from sumy.summarizers.lsa import LsaSummarizer
from sumy.summarizers.luhn import LuhnSummarizer
from sumy.summarizers.sum_basic import SumBasicSummarizer
from sumy.summarizers.text_rank import TextRankSummarizer
from sumy.utils import get_stop_words

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from evaluation.text import split_sentences, tokens

WORDS = 250
SEED = 2011
TITLES = {
    "M000": "The Indian Ocean tsunami of 2004: toll and aid",
    "M001": "The London bombings of July 2005",
    "M002": "Iran seizes Royal Navy personnel, 2007",
}
DATE = re.compile(r"(\w+day, )?\w+ \d{1,2}, \d{4}")
Texts = Sequence[Sequence[str]]  # documents as sentences


class Words:
    """Our tokens for sumy, whose own tokenizer would need a download."""

    def to_words(self, sentence: str) -> list[str]:
        return tokens(sentence)


def lead(documents: Texts, count: int) -> list[str]:
    """The first sentences of the documents in turn: every document's first, then every document's second ..."""
    longest = max(map(len, documents))
    turns = [document[i] for i in range(longest) for document in documents if i < len(document)]
    return turns[:count]


def at_random(documents: Texts, count: int) -> list[str]:
    sentences = [sentence for document in documents for sentence in document]
    random.Random(SEED).shuffle(sentences)  # noqa: S311
    return sentences[:count]


def sumys(summarizer: Any) -> Callable[[Texts, int], list[str]]:
    """A summarizer of sumy as a function of documents and a number of sentences."""
    summarizer.stop_words = get_stop_words("english")

    def summarize(documents: Texts, count: int) -> list[str]:
        paragraphs = [Paragraph([Sentence(text, Words()) for text in document]) for document in documents]
        return [str(sentence) for sentence in summarizer(ObjectDocumentModel(paragraphs), count)]

    return summarize


def systems() -> dict[str, Callable[[Texts, int], list[str]]]:
    stemmer = Stemmer("english")
    return {
        "lead": lead,
        "random": at_random,
        "LexRank": sumys(LexRankSummarizer(stemmer)),
        "LSA": sumys(LsaSummarizer(stemmer)),
        "TextRank": sumys(TextRankSummarizer(stemmer)),
        "Luhn": sumys(LuhnSummarizer(stemmer)),
        "SumBasic": sumys(SumBasicSummarizer(stemmer)),
        "KL-Sum": sumys(KLSummarizer(stemmer)),
    }


def within_budget(summarize: Callable[[Texts, int], list[str]], documents: Texts) -> str:
    """The longest summary of whole sentences that the summarizer makes within the budget."""
    sizes = range(1, sum(map(len, documents)))
    summaries = (summarize(documents, size) for size in sizes)
    fitting = list(takewhile(lambda summary: len(" ".join(summary).split()) <= WORDS, summaries))
    return "\n".join(fitting[-1])


def body(text: str) -> list[str]:
    """A document's sentences without its headline (the first line) and a line that is only its date."""
    lines = [line for line in text.split("\n")[1:] if not DATE.fullmatch(line.strip())]
    return [sentence for line in lines for sentence in split_sentences(line)]


def main() -> None:
    for line in Path(sys.argv[1]).read_text().splitlines():
        topic = json.loads(line)
        topic["title"] = TITLES[topic["topic_id"]]
        documents = [body(document["text"]) for document in topic["documents"]]
        for summary in topic["summaries"]:
            summary["system"] = f"MultiLing {summary['system']}"
        topic["summaries"] += [
            {"system": name, "text": within_budget(summarize, documents)} for name, summarize in systems().items()
        ]
        print(json.dumps(topic, ensure_ascii=False))


if __name__ == "__main__":
    main()
