"""The full PrefScore on a tiny BERT with random weights: what is read, learnt, saved and loaded."""

import csv
import io
import math
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from preferendum.cli.__main__ import main  # noqa: E402 - what comes before may skip
from preferendum.evidence import SummaryText  # noqa: E402
from preferendum.formats import read  # noqa: E402
from preferendum.methods.learned import scorer as learned  # noqa: E402
from preferendum.methods.learned.presets import PAPER, RELEASED, Preferred  # noqa: E402
from tests.evaluation.conftest import Run  # noqa: E402
from tests.evaluation.test_learned_pairs import TOPIC  # noqa: E402

torch.set_num_threads(1)  # many small matrices
DEMO = Path(__file__).parents[2] / "annotate" / "demo" / "wikinews.jsonl"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT that knows single letters and no word."""
    folder = tmp_path_factory.mktemp("bert")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *string.ascii_lowercase, ".", ","]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=96,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def scored(scorer: Any, *summaries: str) -> list[float]:
    own = replace(TOPIC, summaries=tuple(SummaryText(f"s{k}", (text,)) for k, text in enumerate(summaries)))
    return learned.scores(scorer, own).tolist()


def test_a_score_is_the_mean_over_documents_and_no_other_text_changes_it(tiny: Path) -> None:
    scorer = learned.begin(tiny, PAPER, 0).eval()

    one, other = scored(scorer, "quakes hit", "a much longer summary, with more to say.")

    with torch.no_grad():
        alone = scorer(["Quakes hit Chile. Aid came."], ["quakes hit"]), scorer(["It rained."], ["quakes hit"])
    assert one == pytest.approx(np.mean([float(value) for value in alone]), abs=1e-5)
    assert one != pytest.approx(other, abs=1e-4)
    assert scored(scorer, "quakes hit") == pytest.approx([one], abs=1e-5)
    assert math.isnan(
        learned.scores(scorer, replace(TOPIC, sentences=(), sentence_ids=(), summaries=(SummaryText("s", ("x",)),)))[0]
    )


def test_in_the_paper_both_texts_are_cut_by_turns(tiny: Path) -> None:
    scorer = learned.begin(tiny, PAPER, 0).eval()

    inputs = scorer._inputs(["a " * 200, "a " * 200, "a b"], ["b " * 200, "b c", "c"])
    both_long, short_summary, short = map(scorer.tokenizer.convert_ids_to_tokens, inputs["input_ids"].tolist())

    assert both_long == ["[CLS]", *"a" * 47, "[SEP]", *"b" * 46, "[SEP]"]
    assert short_summary == ["[CLS]", *"a" * 91, "[SEP]", "b", "c", "[SEP]"]
    assert short == ["[CLS]", "a", "b", "[SEP]", "c", "[SEP]", *["[PAD]"] * 90]
    assert inputs["token_type_ids"].sum(dim=1).tolist() == [47, 3, 2]
    assert inputs["attention_mask"].sum(dim=1).tolist() == [96, 96, 6]


def test_released_the_longer_text_is_cut_and_neither_is_read_beyond_4000_characters(tiny: Path) -> None:
    scorer = learned.begin(tiny, RELEASED, 0).eval()

    inputs = scorer._inputs(["a " * 200, "d" * 4000 + " a"], ["b c", "b"])
    long, cut = map(scorer.tokenizer.convert_ids_to_tokens, inputs["input_ids"].tolist())

    assert long == ["[CLS]", *"a" * 91, "[SEP]", "b", "c", "[SEP]"]
    assert cut[:5] == ["[CLS]", "[UNK]", "[SEP]", "b", "[SEP]"]


def test_short_texts_are_read_as_the_tokenizer_itself_reads_a_pair(tiny: Path) -> None:
    paper, released = (learned.begin(tiny, preset, 0).eval() for preset in (PAPER, RELEASED))

    mine, theirs = (scorer._inputs(["a cat", "dog"], ["b", "c d e"]) for scorer in (paper, released))

    for name in ("input_ids", "token_type_ids", "attention_mask"):
        assert mine[name].tolist() == theirs[name].tolist()
    with torch.no_grad():
        assert paper(["a"], ["b"]).item() != pytest.approx(released(["a"], ["b"]).item(), abs=1e-6)  # another layer


def test_training_teaches_which_of_two_summaries_is_better(tiny: Path) -> None:
    pairs = [Preferred("a b c", f"a {letter} c", "x x x") for letter in string.ascii_lowercase[:12]]
    fast = replace(PAPER, learning_rate=3e-3, epochs=40)
    losses: list[float] = []

    scorer = learned.begin(tiny, fast, 0)
    steps = learned.fit(scorer, pairs, 0, progress=lambda _step, loss: losses.append(loss))

    assert steps == len(losses) == 40
    assert losses[0] == pytest.approx(math.log(2), abs=0.3)
    assert losses[-1] < 0.1
    with torch.no_grad():
        assert scorer(["a b c"], ["a z c"]).item() > scorer(["a b c"], ["x x x"]).item()


def test_training_stops_after_so_many_steps_and_is_the_same_again_with_the_same_seed(tiny: Path) -> None:
    pairs = [Preferred("a b c", "a b", letter) for letter in string.ascii_lowercase]

    def weights(seed: int) -> list[float]:
        scorer = learned.begin(tiny, RELEASED, seed)
        assert learned.fit(scorer, pairs, seed, steps=5) == 5
        return scored(scorer, "a b", "c")

    assert weights(0) == weights(0)
    assert weights(0) != weights(1)


@pytest.mark.parametrize("preset", [PAPER, RELEASED], ids=lambda preset: preset.name)
def test_a_saved_scorer_is_loaded_with_its_preset_and_scores_the_same(tiny: Path, tmp_path: Path, preset: Any) -> None:
    scorer = learned.begin(tiny, preset, 3).eval()
    learned.save(scorer, tmp_path)

    again = learned.load(tmp_path)

    assert again.preset is preset
    assert scored(again, "a b", "c") == pytest.approx(scored(scorer, "a b", "c"), abs=1e-6)
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".bin", ".pth", ".pkl")]


def test_weights_of_the_released_program_are_read_beside_their_bert(tiny: Path, tmp_path: Path) -> None:
    scorer = learned.begin(tiny, RELEASED, 3).eval()
    learned.save(scorer, tmp_path)
    (tmp_path / learned.DESCRIPTION).unlink()
    own = {"model": scorer.encoder, "fc": scorer.head}
    state = {f"{name}.{key}": value for name, module in own.items() for key, value in module.state_dict().items()}
    torch.save(state | {"model.embeddings.position_ids": torch.arange(96)}, tmp_path / learned.RELEASED_CHECKPOINT)
    expected = scored(scorer, "a b", "c")
    transformers.BertModel(scorer.encoder.config).save_pretrained(tmp_path)

    assert scored(learned.load(tmp_path), "a b", "c") == pytest.approx(expected, abs=1e-6)


def test_a_folder_without_a_model_is_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(learned.NoModel, match=r"found no config\.json"):
        learned.begin(tmp_path, PAPER, 0)
    transformers.BertConfig().save_pretrained(tmp_path)
    with pytest.raises(learned.NoModel, match="found no vocabulary"):
        learned.begin(tmp_path, PAPER, 0)
    with pytest.raises(learned.NoModel, match=r"found neither prefscore\.json nor model\.pth"):
        learned.load(tiny)


def test_from_references_to_a_table_that_a_study_imports(tiny: Path, tmp_path: Path, run: Run) -> None:
    asked = ["prefscore-train", str(DEMO), "--model", str(tiny), "--save", str(tmp_path / "m"), "--steps", "3"]
    report = run.json(*asked, "--preset", "released")
    assert (report["preset"], report["steps"]) == ("released", 3)

    assert main(["prefscore", str(DEMO), "--model", str(tmp_path / "m"), "--output", str(tmp_path / "scores.csv")]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "scores.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 3 * 10
    assert {row["metric"] for row in rows} == {"prefscore"}
    assert all(math.isfinite(float(row["score"])) for row in rows)

    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "topics.jsonl").write_bytes(DEMO.read_bytes())
    (tmp_path / "scores.csv").rename(tmp_path / "study" / "scores.csv")
    first = read(tmp_path / "study").topics[0].summaries[0]
    assert first.metrics["prefscore"] == pytest.approx(float(rows[0]["score"]))


def test_a_folder_that_is_no_scorer_is_refused_by_the_command(tiny: Path, run: Run) -> None:
    assert "expected a trained scorer" in run.refused("prefscore", str(DEMO), "--model", str(tiny))
