"""What a study asks its annotators about themselves, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from preferendum.formats.checks import shapes

QuestionKind = Literal["text", "number", "one", "several", "scale"]

MOST_QUESTIONS = 30
MOST_OPTIONS = 100
LONGEST_QUESTION = 300
LONGEST_OPTION = 100
LONGEST_ANSWER = 500
LARGEST = 1e15
#: Fewer people than this are never shown as a group.
FEWEST = 3


@dataclass(frozen=True, slots=True)
class Question:
    """One question; its text identifies it in all versions of a questionnaire.

    `options`: of kinds one, several and scale; those of a scale are its steps in their order.
    """

    text: Annotated[str, shapes.words(LONGEST_QUESTION)]
    kind: QuestionKind
    options: Annotated[tuple[str, ...], shapes.listed(shapes.words(LONGEST_OPTION), MOST_OPTIONS)] = ()
    required: bool = False

    @property
    def has_options(self) -> bool:
        return self.kind in ("one", "several", "scale")

    @property
    def is_askable(self) -> bool:
        """Whether it has a text, and two or more options, each once, if its kind has any."""
        least = 2 if self.has_options else 0
        return bool(self.text) and "" not in self.options and least <= len(self.options) == len(set(self.options))

    def allows(self, answer: Any) -> bool:
        """Whether this can be an answer: a text, a number, an option, some options, or a step from 1 on."""
        match self.kind:
            case "text":
                return isinstance(answer, str) and 0 < len(answer) <= LONGEST_ANSWER
            case "number":
                return isinstance(answer, int | float) and not isinstance(answer, bool) and abs(answer) <= LARGEST
            case "one":
                return isinstance(answer, str) and answer in self.options
            case "several":
                is_list = isinstance(answer, list) and all(isinstance(option, str) for option in answer)
                return is_list and 0 < len(answer) == len(set(answer) & set(self.options))
            case "scale":
                return isinstance(answer, int) and not isinstance(answer, bool) and 1 <= answer <= len(self.options)

    def chosen(self, answer: Any) -> list[str]:
        """The options that an answer names."""
        if self.kind == "scale":
            return [self.options[answer - 1]]
        return list(answer) if self.kind == "several" else [answer] if self.kind == "one" else []


def groups(
    question: Question, answered: Mapping[int, Mapping[str, Any]], everyone: frozenset[int]
) -> dict[str, Set[int]]:
    """Group everyone: those who named each option, and all others under ""; nothing without two groups.

    Neither a group nor all who are in none of them are fewer than `FEWEST`: subtraction would show them.
    """
    given = {key: answered[key].get(question.text) for key in everyone & answered.keys()}
    chosen = {key: question.chosen(answer) for key, answer in given.items() if question.allows(answer)}
    named = {option: {key for key, options in chosen.items() if option in options} for option in question.options}
    shown = {option: own for option, own in named.items() if min(len(own), len(everyone - own)) >= FEWEST}
    while shown and 0 < len(everyone.difference(*shown.values())) < FEWEST:
        del shown[min(shown, key=lambda option: len(shown[option]))]
    others = everyone.difference(*shown.values())
    return {**shown, "": others} if shown and others else dict(shown)


def why_unfit(questions: Sequence[Question], answers: Mapping[str, Any]) -> str:
    """The text of a question without the answer that it requires, or with one that it does not allow; "" if all fit."""
    by_text = {question.text: question for question in questions}
    for text, answer in answers.items():
        if text not in by_text or not by_text[text].allows(answer):
            return text
    return next((own.text for own in questions if own.required and own.text not in answers), "")
