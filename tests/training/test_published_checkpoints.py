"""Published checkpoints: nothing of a file runs, each tensor has a name on both sides, what does not fit is refused."""

import argparse
import io
import json
import os
import pickle
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

from tests.models.detr_authors import FLASH_LOGITS, batch_of  # noqa: E402 - as above

from truemoment.base.boundary.torch_files import read_torch  # noqa: E402 - PyTorch may be missing
from truemoment.base.errors import InputError, UsageError  # noqa: E402 - as above
from truemoment.base.records import Queries  # noqa: E402 - as above
from truemoment.learning.models.published_names import PUBLISHED, UNUSED  # noqa: E402 - as above
from truemoment.learning.training.conversion import PublishedCheckpoint, write_run  # noqa: E402 - as above
from truemoment.learning.training.grounding import TrainedGrounder  # noqa: E402 - as above

from .authors_files import FLASH_FULL, FLASH_SMALL, FULL, MIDDLE, SMALL, content, numbers, shapes  # noqa: E402 - as above

MODELS = ("moment-detr", "qd-detr")
SIZES = {"small": SMALL, "middle": MIDDLE}
RECORDED = json.loads((Path(__file__).parents[1] / "models" / "detr_golden.json").read_text("utf-8"))
"""What the authors' programs make of files that are filled by the rule."""


@pytest.fixture
def save(tmp_path):
    """Write a value as `torch.save` does, and give its file."""

    def save(value, *, old=False):
        path = tmp_path / "model_best.ckpt"
        torch.save(value, path, _use_new_zipfile_serialization=not old)
        return path

    return save


def test_the_rule_of_the_weights():
    """The four numbers are those of the program that made the expected outputs."""
    assert numbers("video0", (2, 2)).ravel() == pytest.approx(
        [0.3237235376, -0.4823782758, -0.6262591028, 0.5281460179], abs=1e-10
    )


@pytest.mark.parametrize(
    ("model", "size", "n_tensors", "n_numbers"),
    [
        ("moment-detr", FULL, 92, 4_823_305),
        ("qd-detr", FULL, 178, 7_585_573),
        ("flash-vtg", FLASH_FULL, 212, 10_469_400),
    ],
)
def test_every_tensor_has_a_name_on_both_sides(model, size, n_tensors, n_numbers):
    """The counts are those of the authors' models, with unused places of words."""
    made, names = shapes(model, **size), PUBLISHED[model]
    used = [name for name in made if not name.startswith(UNUSED)]
    assert (len(made), sum(torch.Size(shape).numel() for shape in made.values())) == (n_tensors, n_numbers)
    assert len({names.ours(name) for name in used}) == len(used) == n_tensors - 3
    assert [names.published(names.ours(name)) for name in used] == used
    assert names.ours("transformer.decoder.layers.0.gate.weight") is names.published("gate") is None


@pytest.mark.parametrize("old", [False, True], ids=["today's form", "the form before PyTorch 1.6"])
@pytest.mark.parametrize("model", MODELS)
def test_sizes_and_options_come_from_the_file(save, model, old):
    read = PublishedCheckpoint.read(save(content(model, nheads=4), old=old), model)
    assert (read.n_dimensions, read.n_vector) == (SMALL["clip"], SMALL["word"])
    assert (read.options.nheads, read.options.seed, read.options.clip_length) == (4, 2018, 2.0)
    assert len(read.tensors) == len(shapes(model, **SMALL)) - 3
    assert read.notes[1] == "it was trained on the features slowfast_features, clip_features, in this order"


class Trap:
    """What makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize(("where", "old"), [("model", False), ("opt", True), ("optimizer", False), ("anything", True)])
def test_nothing_foreign_runs(save, tmp_path, where, old):
    """The same file makes the folder when Python's own reader opens it: the trap works."""
    marker = tmp_path / "was-run"
    path = save(content("moment-detr") | {where: Trap(marker)}, old=old)
    with pytest.raises(
        InputError, match=r"model_best\.ckpt: names posix\.mkdir, expected tensors, argparse\.Namespace and plain"
    ):
        PublishedCheckpoint.read(path, "moment-detr")
    assert not marker.exists()
    torch.load(path, weights_only=False)
    assert marker.exists()


def test_a_namespace_with_a_trap_in_it_is_refused(save, tmp_path):
    options = argparse.Namespace(nheads=Trap(tmp_path / "was-run"))
    with pytest.raises(InputError, match="names posix"):
        PublishedCheckpoint.read(save(content("moment-detr") | {"opt": options}), "moment-detr")
    assert not (tmp_path / "was-run").exists()


def bomb():
    """Return an archive of a few kilobytes that unpacks to 16 megabytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a/data.pkl", "w") as entry:
        entry.write(bytes(1 << 24))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", r"found no file of torch\.save"),
        (b"not a checkpoint", r"found no file of torch\.save"),
        (pickle.dumps({"model": 1}), r"found no file of torch\.save"),
        (bomb(), "unpacks to 16,777,216 bytes"),
    ],
    ids=["empty", "text", "bare pickle", "bomb"],
)
def test_files_that_are_none(tmp_path, monkeypatch, data, says):
    monkeypatch.setattr("truemoment.base.boundary.torch_files.FREE_BYTES", 1 << 20)
    path = tmp_path / "a.ckpt"
    path.write_bytes(data)
    with pytest.raises(InputError, match=says) as error:
        read_torch(path, argparse.Namespace)
    assert len(str(error.value)) < 300


def test_a_truncated_file(save):
    path = save(content("moment-detr"))
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(InputError, match=r"found no file of torch\.save"):
        read_torch(path, argparse.Namespace)


def with_weights(**others):
    """Return a checkpoint with other values of some tensors; None for none."""
    made = content("moment-detr")
    tensors = {**made["model"], **{name.replace("__", "."): value for name, value in others.items()}}
    return made | {"model": {name: value for name, value in tensors.items() if value is not None}}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (lambda: [1, 2], "field model: is no checkpoint of the authors, expected tensors by name"),
        (lambda: {"model": [1]}, "field model: is no checkpoint of the authors"),
        (
            lambda: with_weights(gate__weight=torch.zeros(2)),
            "field model: found 'gate.weight', which moment-detr does not have",
        ),
        (lambda: content("qd-detr"), "field model: found .*, which moment-detr does not have"),
        (
            lambda: with_weights(class_embed__bias=torch.tensor([0.0, torch.nan])),
            r"field model.class_embed.bias: has numbers that are not finite",
        ),
        (
            lambda: with_weights(class_embed__bias=torch.zeros(1).expand(10**12)),
            "field model.class_embed.bias: expected a tensor of floating-point numbers",
        ),
        (
            lambda: with_weights(class_embed__bias=torch.zeros(2, dtype=torch.int64)),
            "expected a tensor of floating-point",
        ),
        (lambda: with_weights(class_embed__bias=torch.zeros(2, device="meta")), "expected a tensor of floating-point"),
        (lambda: with_weights(class_embed__bias=torch.zeros(2).to_sparse()), "expected a tensor of floating-point"),
        (
            lambda: with_weights(input_vid_proj__0__LayerNorm__weight=torch.tensor(1.0)),
            "expected a tensor of floating-point",
        ),
        (lambda: with_weights(class_embed__bias="weights"), "expected a tensor of floating-point"),
        (lambda: content("moment-detr") | {"opt": 3}, "field opt: expected an argparse.Namespace"),
        (lambda: content("moment-detr", nheads="eight"), "field opt.nheads: "),
        (lambda: content("moment-detr", nheads=0), "field opt.nheads: "),
        (lambda: content("moment-detr", clip_length=float("nan")), "field opt.clip_length: "),
        (
            lambda: content("moment-detr", span_loss_type="ce"),
            r"field opt.span_loss_type: found 'ce' and shape \(2, 16\)",
        ),
        (
            lambda: with_weights(span_embed__layers__2__weight=torch.zeros(150, 16)),
            r"field opt.span_loss_type: found 'l1' and",
        ),
        (
            lambda: content("moment-detr", ctx_mode="video"),
            "field opt.ctx_mode: found 'video', expected rows with their places",
        ),
        (lambda: content("moment-detr", use_txt_pos=True), "field opt.use_txt_pos: found True, expected False"),
        (
            lambda: content("moment-detr", v_feat_dim=5),
            "found 8 columns of a video, expected up to 7: models with sound",
        ),
    ],
)
def test_what_is_refused(save, value, says):
    with pytest.raises(InputError, match=says):
        PublishedCheckpoint.read(save(value()), "moment-detr")


def test_another_model_is_refused_before_the_file_is_read(tmp_path):
    with pytest.raises(UsageError, match="--model: got 'tan2d', expected"):
        PublishedCheckpoint.read(tmp_path / "missing.ckpt", "tan2d")


@pytest.fixture
def world(tmp_path):
    """Write the recorded features of videos and sentences of a size, and give the queries."""

    def make(size):
        setting = RECORDED["settings"][size]
        for folder in ("video", "text"):
            (tmp_path / folder).mkdir()
        for at, (n_rows, n_words) in enumerate(zip(setting["lengths"], setting["words"], strict=True)):
            rows = numbers(f"video{at}", (n_rows, setting["dv"])).astype(np.float32)
            np.savez(tmp_path / "video" / f"v{at}.npz", features=rows)
            words = numbers(f"text{at}", (n_words, setting["dt"])).astype(np.float32)
            np.savez(tmp_path / "text" / f"qid{at}.npz", last_hidden_state=words)
        count = len(setting["lengths"])
        duration_s = 2.0 * np.array(setting["lengths"])
        return Queries([str(at) for at in range(count)], [f"v{at}" for at in range(count)], duration_s, ["a"] * count)

    return make


@pytest.mark.parametrize(
    ("model", "size"),
    [("moment-detr", "small"), ("moment-detr", "middle"), ("qd-detr", "small"), ("qd-detr", "middle")],
)
def test_the_run_answers_as_the_authors_program(save, world, tmp_path, model, size):
    """In float32, to 1e-5 of the video; QD-DETR with the mask of its code, by which answers depend on the batch.

    Ends are rounded to clips of 2 s, which is left out here but for a grid of a millionth of it.
    """
    golden, queries = RECORDED["golden"][f"{model} {size}"], world(size)
    checkpoint = PublishedCheckpoint.read(save(content(model, SIZES[size])), model)
    assert checkpoint.recipe().decode.grid_s == 2.0
    changes = ["decode.grid_s=2e-6", *(["settings.mask=published"] if model == "qd-detr" else [])]
    write_run(checkpoint, checkpoint.recipe(changes), tmp_path / "run")
    method = TrainedGrounder.load(tmp_path / "run", features=str(tmp_path / "video"), queries=str(tmp_path / "text"))
    answers = method.ground(queries)
    for at, (logits, spans) in enumerate(zip(golden["pred_logits"], golden["pred_spans"], strict=True)):
        score = 1 / (1 + np.exp(np.subtract(*np.transpose(logits)[::-1])))
        order = np.argsort(-score, kind="stable")
        centre, width = np.transpose(spans)[:, order]
        rows, duration_s = slice(*answers.offsets[at : at + 2]), queries.duration_s[at]
        assert answers.score[rows] == pytest.approx(score[order], abs=1e-5)
        assert answers.start_s[rows] / duration_s == pytest.approx(np.clip(centre - width / 2, 0, 1), abs=1e-5)
        assert answers.end_s[rows] / duration_s == pytest.approx(np.clip(centre + width / 2, 0, 1), abs=1e-5)


def test_flash_vtg_of_a_file_scores_as_the_authors_program(save, foreign_settings):
    """The recorded logits of points, and their sum, in float32; the file's settings are of a foreign class."""
    checkpoint = PublishedCheckpoint.read(save(content("flash-vtg", FLASH_FULL, cfg=foreign_settings)), "flash-vtg")
    model = checkpoint.network(checkpoint.recipe()).grounding_model.eval()
    with torch.no_grad():
        logits = model(batch_of("full", torch.float32, lengths=[75, 75, 75])).logits
    assert {point: logits[0, point].item() for point in FLASH_LOGITS} == pytest.approx(FLASH_LOGITS, abs=1e-5)
    assert logits.sum().item() == pytest.approx(13.25134893, abs=1e-3)


class Config(OrderedDict):
    """A dictionary that stops the program when it is read."""

    def __setstate__(self, state):
        raise SystemExit


@pytest.fixture
def foreign_settings(monkeypatch):
    """A dictionary of a class of nncore, as FlashVTG's options contain."""
    for name in ("nncore", "nncore.utils", "nncore.utils.config"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setattr(Config, "__module__", "nncore.utils.config")
    monkeypatch.setattr(sys.modules["nncore.utils.config"], "Config", Config, raising=False)
    settings = Config(model={"strides": (1, 2, 4, 8)})
    settings.frozen = False
    return settings


def test_sizes_of_flash_vtg(save):
    recipe = PublishedCheckpoint.read(save(content("flash-vtg", FLASH_SMALL, max_q_l=40)), "flash-vtg").recipe()
    settings = {"hidden": 16, "heads": 2, "dummies": 3, "dummy_layers": 2, "word_layers": 3, "encoder_layers": 1}
    assert recipe.settings.items() >= {**settings, "feedforward": 24, "kernel": 3, "score_layers": 4}.items()
    assert (recipe.text.most, recipe.rows, recipe.decode.nms) == (40, 75, 0.7)


def test_all_rows_of_a_video_need_a_bound(save):
    read = PublishedCheckpoint.read(save(content("flash-vtg", FLASH_SMALL, max_v_l=-1, max_q_l=-1)), "flash-vtg")
    with pytest.raises(InputError, match=r"field opt\.max_v_l: found -1, all rows of a video: give .*--set rows=N"):
        read.recipe()
    assert read.recipe(["rows=200"]).rows == 200


@pytest.mark.parametrize(
    ("value", "model", "says"),
    [
        (
            lambda: with_weights(input_vid_proj__0__net__1__weight=torch.zeros(8, 16)),
            "moment-detr",
            r"model.input_vid_proj.0.net.1.weight: found shape \(8, 16\), expected shape \(16, 8\)",
        ),
        (
            lambda: with_weights(class_embed__bias=None),
            "moment-detr",
            r"field model.class_embed.bias: found none, expected shape \(2,\)",
        ),
        (
            lambda: with_weights(class_embed__weight=None),
            "moment-detr",
            r"field model.class_embed.weight: found none, expected shape \(2, 16\)",
        ),
        (
            lambda: with_weights(input_vid_proj__1__net__1__weight=None),
            "moment-detr",
            r"field model.input_vid_proj.1.net.1.weight: found none, expected weights of moment-detr",
        ),
        (
            lambda: with_weights(query_embed__weight=torch.zeros(3)),
            "moment-detr",
            r"field model.query_embed.weight: found shape \(3,\)",
        ),
        (lambda: content("moment-detr", nheads=3), "moment-detr", r"model_best.ckpt: .*3 heads for 16"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(save, tmp_path, value, model, says):
    path = save(value())

    def convert():
        checkpoint = PublishedCheckpoint.read(path, model)
        write_run(checkpoint, checkpoint.recipe(), tmp_path / "run")

    with pytest.raises(InputError, match=says):
        convert()
    assert not (tmp_path / "run").exists()
