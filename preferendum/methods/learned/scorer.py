"""The full PrefScore: f(d, s) is a linear layer on what BERT makes of [CLS] d [SEP] s [SEP].

G. Luo, H. Li, Y. He & F. S. Bao, "PrefScore: pairwise preference learning for reference-free summarization quality
assessment", COLING 2022, section 2.1. The Bradley-Terry model says which of two summaries is better (equations 1 and
2). Models are loaded from local folders only. No other module needs torch and transformers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from preferendum.evidence import Evidence
from preferendum.methods.learned.presets import PRESETS, Preferred, Preset, cut_by_turns, documents, joined

logging.disable_progress_bar()

DESCRIPTION, HEAD = "prefscore.json", "prefscore_head.safetensors"
RELEASED_CHECKPOINT = "model.pth"
"""What the authors' program writes: the weights of its scorer, to be put beside the BERT that it began with."""


class NoModel(ValueError):
    """A folder does not hold what it should; the message says what."""


class Scorer(torch.nn.Module):
    """The siamese network's one half. `forward`: (n,) scores of n documents and summaries."""

    def __init__(self, encoder: Any, tokenizer: Any, preset: Preset, device: str) -> None:
        super().__init__()
        self.encoder, self.tokenizer, self.preset = encoder, tokenizer, preset
        self.head = torch.nn.Linear(encoder.config.hidden_size, 1)
        self.tokens = min(preset.tokens, encoder.config.max_position_embeddings)
        self.to(device)

    def forward(self, texts: Sequence[str], summaries: Sequence[str]) -> torch.Tensor:
        outputs = self.encoder(**self._inputs(texts, summaries))
        read = outputs.pooler_output if self.preset.by_pooler else outputs.last_hidden_state[:, 0]
        return self.head(read).squeeze(-1)

    def _inputs(self, texts: Sequence[str], summaries: Sequence[str]) -> Any:
        cut = slice(self.preset.characters)
        texts, summaries = [text[cut] for text in texts], [summary[cut] for summary in summaries]
        if self.preset.by_turns:
            pairs = [self._cut(text, summary) for text, summary in zip(texts, summaries, strict=True)]
            rows = [self._row(document, summary) for document, summary in pairs]
            inputs = self.tokenizer.pad(rows, padding=True, return_tensors="pt")
        else:
            inputs = self.tokenizer(
                texts, summaries, padding=True, truncation="longest_first", max_length=self.tokens, return_tensors="pt"
            )
        return inputs.to(self.head.weight.device)

    def _cut(self, text: str, summary: str) -> tuple[Sequence[int], Sequence[int]]:
        numbers = [self.tokenizer(own, add_special_tokens=False, verbose=False)["input_ids"] for own in (text, summary)]
        return cut_by_turns(numbers[0], numbers[1], self.tokens - 3)

    def _row(self, document: Sequence[int], summary: Sequence[int]) -> dict[str, list[int]]:
        first, between = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        ids = [first, *document, between, *summary, between]
        types = [0] * (len(document) + 2) + [1] * (len(summary) + 1)
        return {"input_ids": ids, "token_type_ids": types, "attention_mask": [1] * len(ids)}


def begin(folder: Path, preset: Preset, seed: int, device: str = "cpu") -> Scorer:
    """A scorer that has learnt nothing yet, on the language model of a folder. Raises `NoModel`."""
    torch.manual_seed(seed)
    return Scorer(*_pretrained(folder), preset, device)


def load(folder: Path, device: str = "cpu") -> Scorer:
    """The scorer that `save` stored there, or the released weights with their BERT. Raises `NoModel`."""
    if (folder / DESCRIPTION).is_file():
        preset = PRESETS[json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["preset"]]
        scorer = Scorer(*_pretrained(folder), preset, device)
        scorer.head.load_state_dict(load_file(folder / HEAD))
    elif (folder / RELEASED_CHECKPOINT).is_file():
        scorer = Scorer(*_pretrained(folder), PRESETS["released"], device)
        _take_over(scorer, torch.load(folder / RELEASED_CHECKPOINT, map_location=device, weights_only=True))
    else:
        raise NoModel(f"{folder}: found neither {DESCRIPTION} nor {RELEASED_CHECKPOINT}; expected a trained scorer")
    scorer.eval()
    return scorer


def save(scorer: Scorer, folder: Path) -> None:
    """The encoder, its tokenizer, the linear layer, and the preset that they belong to."""
    scorer.encoder.save_pretrained(folder)
    scorer.tokenizer.save_pretrained(folder)
    save_file({name: weights.contiguous() for name, weights in scorer.head.state_dict().items()}, folder / HEAD)
    description = {"format": 1, "preset": scorer.preset.name}
    (folder / DESCRIPTION).write_text(json.dumps(description) + "\n", encoding="utf-8")


def _pretrained(folder: Path) -> tuple[Any, Any]:
    if not (folder / "config.json").is_file():
        raise NoModel(f"{folder}: found no config.json; expected the folder of a language model")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # every word would be unknown, without a complaint
        raise NoModel(f"{folder}: found no vocabulary; expected vocab.txt or tokenizer.json")
    return AutoModel.from_pretrained(folder, local_files_only=True), tokenizer


def _take_over(scorer: Scorer, weights: dict[str, torch.Tensor]) -> None:
    """The released scorer calls the encoder `model` and the linear layer `fc`."""
    named = {"model.": scorer.encoder, "fc.": scorer.head}
    for prefix, module in named.items():
        own = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        own.pop("embeddings.position_ids", None)  # written by older transformers, and no weight
        module.load_state_dict(own)


def fit(
    scorer: Scorer,
    pairs: Sequence[Preferred],
    seed: int,
    steps: int | None = None,
    progress: Callable[[int, float], None] = lambda _step, _loss: None,
) -> int:
    """Fine-tune all weights on the pairs; the number of steps that were taken, at most `steps` of them.

    `progress` hears each step and its loss; what it raises stops the training.
    """
    preset = scorer.preset
    optimizer = torch.optim.Adam(scorer.parameters(), lr=preset.learning_rate)
    scorer.train()
    taken = 0
    for batch in _batches(pairs, preset, np.random.default_rng(seed)):
        if taken in (steps, preset.steps):
            break
        texts, better, worse = ([getattr(pair, name) for pair in batch] for name in Preferred._fields)
        margins = scorer(texts, better) - scorer(texts, worse)
        loss = torch.nn.functional.softplus(-margins).mean()  # -log of the probability of equation 1
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        taken += 1
        progress(taken, loss.item())
    scorer.eval()
    return taken


def _batches(pairs: Sequence[Preferred], preset: Preset, rng: np.random.Generator) -> Iterator[list[Preferred]]:
    epoch = 0
    while preset.epochs is None or epoch < preset.epochs:
        order = rng.permutation(len(pairs)).tolist()
        for start in range(0, len(order), preset.batch):
            yield [pairs[k] for k in order[start : start + preset.batch]]
        epoch += 1


@torch.no_grad()
def scores(scorer: Scorer, topic: Evidence, batch: int = 16) -> NDArray[np.float64]:
    """(summaries,): the mean of f over the topic's documents; not a number without any."""
    texts = documents(topic)
    summaries = [joined(summary.sentences) for summary in topic.summaries]
    if not texts or not summaries:
        return np.full(len(summaries), np.nan)
    rows = [(text, summary) for summary in summaries for text in texts]
    values = [
        scorer([text for text, _ in part], [summary for _, summary in part]).cpu().numpy()
        for part in (rows[start : start + batch] for start in range(0, len(rows), batch))
    ]
    return np.asarray(np.concatenate(values).reshape(len(summaries), len(texts)).mean(axis=1), dtype=np.float64)
