"""truemoment convert-checkpoint: from a published file to predictions, and one line for what is refused."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

from safetensors.numpy import load_file  # noqa: E402 - PyTorch may be missing

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))  # the maker of published files
from authors_files import SMALL, content, numbers, options, weight  # noqa: E402 - as above

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undrawn")]


@pytest.fixture
def published(tmp_path):
    """Write a published checkpoint, features of 12 videos of 14 s in two sources, words, and 24 queries about them."""
    torch.save(content("qd-detr", SMALL), tmp_path / "best.ckpt")
    for folder in ("slow", "clip", "text"):
        (tmp_path / folder).mkdir()
    lines = []
    for video in range(12):
        for folder, width in (("slow", 4), ("clip", 2)):
            np.savez(tmp_path / folder / f"v{video}.npz", features=numbers(f"{folder}{video}", (7, width)))
        for at in range(2):
            name = f"v{video}#{at}"
            np.savez(tmp_path / "text" / f"qid{name}.npz", last_hidden_state=numbers(name, (3, 5)))
            moment = [2 * at, 2 * at + 2 + video % 5]
            row = {"video_id": f"v{video}", "sentence": "a door opens", "duration_s": 14, "moments": [moment]}
            lines.append(json.dumps(row | {"split": "test" if video < 8 else "train"}) + "\n")
    (tmp_path / "mine.jsonl").write_text("".join(lines))
    return tmp_path


def test_a_run_predicts_also_on_changed_videos_as_an_audit_asks(call, published, monkeypatch):
    monkeypatch.chdir(published)
    mine = ("--annotations", "mine.jsonl", "--split", "test")
    sources = ("--features", "slow,clip", "--queries", "text")
    status, out, err = call("convert-checkpoint", "best.ckpt", "--model", "qd-detr", "-o", "run", *sources)
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "best.ckpt: qd-detr, 149 tensors, 16,589 numbers"  # 17,133 less 544 places of words
    assert json.loads(Path("run/run.json").read_text())["features"] == "slow,clip"
    status, _, err = call("predict", "run", "run", *mine, "-o", "preds.jsonl")
    assert status == 0, err
    made_by = json.loads(Path("preds.jsonl").read_text().splitlines()[0])["made_by"]
    assert made_by["trained_on"].startswith("weights of others/best.ckpt#")
    assert "note: weights of others: best.ckpt, SHA-256" in err
    status, _, err = call("predict", "run", "run", *mine, "-o", "shuffled.jsonl", "--change", "shuffled")
    assert status == 0, err
    first, other = (Path(name).read_text().splitlines()[1:] for name in ("preds.jsonl", "shuffled.jsonl"))
    assert [json.loads(line)["query_id"] for line in first] == [json.loads(line)["query_id"] for line in other]
    assert first != other


def test_a_run_predicts_films_window_by_window(call, published, monkeypatch):
    """A query about a film of 60 s is answered on windows of 14 s, with the rows of its own words."""
    monkeypatch.chdir(published)
    Path("film").mkdir()
    np.savez("film/f.npz", features=numbers("film", (30, 6)))
    row = {"query_id": "v0#0", "video_id": "f", "sentence": "a door opens", "duration_s": 60, "moments": [[20, 28]]}
    Path("film.jsonl").write_text(json.dumps(row | {"split": "test"}) + "\n")
    words = ("--features", "film", "--queries", "text", "--set=windows.seconds=14", "--set=windows.stride=1")
    assert call("convert-checkpoint", "best.ckpt", "--model", "qd-detr", "-o", "run", *words, "--quiet")[0] == 0
    status, _, err = call("predict", "run", "run", "--annotations", "film.jsonl", "--split", "test", "-o", "p.jsonl")
    assert status == 0, err
    moments = json.loads(Path("p.jsonl").read_text().splitlines()[1])["moments"]
    assert len(moments) == 10
    assert max(end for _, end, *_ in moments) > 14
    assert all(time % 2 == 0 for moment in moments for time in moment[:2])


def test_training_starts_from_published_weights(call, published, monkeypatch):
    """One epoch at a rate of a billionth leaves them as they are."""
    monkeypatch.chdir(published)
    assert call("convert-checkpoint", "best.ckpt", "--model", "qd-detr", "-o", "run", "--quiet")[0] == 0
    sizes = ("hidden=16", "heads=2", "feedforward=24", "encoder_layers=1", "slots=4")
    changes = ("text.vectors=queries", "normalise=each", "train.epochs=1", "train.learning_rate=1e-9")
    changed = [f"--set={change}" for change in (*(f"settings.{size}" for size in sizes), *changes)]
    sources = ("--annotations", "mine.jsonl", "--features", "slow,clip", "--queries", "text", "--fps", "0.5")
    words = ("train", "qd-detr-full", *changed, *sources, "--test", "none", "--from", "run", "-o", "further")
    status, _, err = call(*words)
    assert status == 0, err
    before, after = (load_file(f"{folder}/best.safetensors") for folder in ("run", "further"))
    assert all(after[name] == pytest.approx(before[name], abs=1e-7) for name in before if name.startswith("model."))


def test_the_tensors_alone(call, published):
    words = ("convert-checkpoint", published / "best.ckpt", "--model", "qd-detr")
    assert call(*words, "--safetensors", published / "out.safetensors")[0] == 0
    tensors = load_file(published / "out.safetensors")
    expected = weight("transformer.decoder.layers.0.ca_qpos_proj.weight", (16, 16))
    assert len(tensors) == 149
    assert tensors["decoder.0.cross_query_place.weight"] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-o", "run", "--model", "moment-detr"], "which moment-detr does not have"),
        (["-o", "run", "--model", "tan2d"], "--model: got 'tan2d', expected"),
        (["--model", "qd-detr"], "what is written? give -o RUN or --safetensors FILE, one of them"),
        (["--model", "qd-detr", "--safetensors", "out.bin"], "expected a name that ends in .safetensors"),
        (["-o", "clip", "--model", "qd-detr"], "is there already, expected a new or empty folder"),
        (["-o", "run", "--model", "qd-detr", "--features", "slow"], "got 4 numbers a row, expected 6 as in training"),
        (["-o", "run", "--model", "qd-detr", "--queries", "slow"], "got 4 numbers a row of words, expected 5"),
        (["-o", "run", "--model", "qd-detr", "--set", "rows=none"], "field rows"),
    ],
)
def test_what_is_refused(fails, published, monkeypatch, words, says):
    monkeypatch.chdir(published)
    assert says in fails(2, "convert-checkpoint", "best.ckpt", *words)
    assert not (published / "run").exists()


def test_a_run_without_features_asks_for_them(call, fails, published, monkeypatch):
    monkeypatch.chdir(published)
    torch.save(content("moment-detr", SMALL) | {"opt": options(SMALL, clip_length=1)}, "best.ckpt")
    assert call("convert-checkpoint", "best.ckpt", "--model", "moment-detr", "-o", "run", "--quiet") == (0, "", "")
    words = ("predict", "run", "run", "--annotations", "mine.jsonl", "--split", "test", "-o", "preds.jsonl")
    assert "give --queries DIR" in fails(2, *words)
    assert "names no features: give --features" in fails(2, *words, "--queries", "text")
