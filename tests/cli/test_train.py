"""truemoment train, predict RUN, audit --model and variants on a small world, as a user types them."""

import json
import shlex
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
torch.set_num_threads(1)

from safetensors.numpy import load_file  # noqa: E402 - as below

from truemoment.base.boundary.folders import lock_folder  # noqa: E402 - as below
from truemoment.learning.training.results import read_rows  # noqa: E402 - PyTorch may be missing
from truemoment.worlds import make_world, write_world  # noqa: E402 - as above

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undrawn")]

TINY = [
    "--set=settings.n_clips=8",
    "--set=settings.hidden=16",
    "--set=settings.layers=1",
    "--set=rows=16",
    "--set=text.size=12",
    "--set=train.epochs=2",
    "--set=train.batch=16",
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    write_world(make_world(40, perception=0.9, seed=0), folder)
    return folder


@pytest.fixture
def words(world):
    """The words of a small run, up to its folder."""
    return ["train", "tan2d", *TINY, "--annotations", world / "annotations.jsonl", "--features", world / "features.npz"]


def test_train_predict_and_audit(call, words, world, tmp_path):
    """The issue's way from training to an audit that shows the model other videos."""
    run, results = tmp_path / "run", tmp_path / "results.csv"
    places = ["--results", results, "--json", tmp_path / "r.json", "--data-dir", tmp_path]
    status, out, err = call(*words, "-o", run, *places)
    assert status == 0, err
    own_words = ["--annotations", str(world / "annotations.jsonl"), "--data-dir", str(tmp_path)]
    assert shlex.split(out.splitlines()[-1])[3:7] == own_words  # for copying
    assert "test-iid" in out
    assert "test-ood" in out
    assert "R@1,IoU=0.5" in out
    assert "epoch 1/2" in err
    assert "epoch 2/2" in err
    rows = read_rows(results)
    assert {row.split for row in rows} == {"test-iid", "test-ood"}
    assert len(rows) == 12
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["schema"] == "truemoment/training/1"
    assert document == json.loads((run / "result.json").read_text())

    own = ["--annotations", world / "annotations.jsonl", "--split", "test-ood"]
    status, out, err = call("predict", "run", run, *own, "-o", tmp_path / "p.jsonl")
    assert status == 0, err
    assert (tmp_path / "p.jsonl").read_bytes() == (run / "test-ood.jsonl").read_bytes()
    status, out, err = call("predict", "run", run, *own, "--change", "reversed", "-o", tmp_path / "back.jsonl")
    assert status == 0, err
    assert (tmp_path / "back.jsonl").read_bytes() != (tmp_path / "p.jsonl").read_bytes()
    status, out, err = call("predict", "run", run, *own, "--chunks", "10", "-o", tmp_path / "10s.jsonl")
    assert status == 0, err
    head, *lines = map(json.loads, (tmp_path / "10s.jsonl").read_text().splitlines())
    assert head["made_by"]["chunks"] == "10 s; times count from the start of a chunk"
    assert len(lines) == len((run / "test-ood.jsonl").read_text().splitlines()) - 1
    assert all(0 <= start <= end <= 10 for line in lines for start, end, _ in line["moments"])

    quick = ["--resamples", "200", "--measures", "R@1,IoU=0.5", "--quiet"]
    status, out, err = call(
        "audit", run / "test-ood.jsonl", *own, "--model", run, *quick, "--json", tmp_path / "a.json"
    )
    assert status == 0, err
    audited = json.loads((tmp_path / "a.json").read_text())
    assert {"shuffled", "reversed", "frozen", "other-video"} == {of["way"] for of in audited["changed"]["ways"]}


def test_what_a_run_names_is_not_written_over(call, words, world, tmp_path):
    """Features that run.json names, and word vectors that a recipe names: no option tells that they are read."""
    run, vectors, features = tmp_path / "run", tmp_path / "glove.txt", world / "features.npz"
    vectors.write_text("a 0.1 0.2\nman 0.3 0.4\n")
    before = features.read_bytes(), vectors.read_bytes()
    assert call(*words, "-o", run, "--quiet")[0] == 0
    own = ["--annotations", world / "annotations.jsonl", "--split", "test-ood"]
    quick = ["--resamples", "200", "--permutations", "99", "--quiet", "--model", run]
    learned = [*words, "--set", f"text.vectors={vectors}", "--set", "text.size=2", "-o", tmp_path / "other"]
    for command in (
        ["predict", "run", run, *own, "-o", tmp_path / "p.jsonl", "--json", features],
        ["audit", run / "test-ood.jsonl", *own, *quick, "--json", features],
        ["audit", run / "test-ood.jsonl", *own, *quick, "--html", features],
        [*learned, "--json", vectors],
        [*learned, "--results", vectors],
    ):
        status, out, err = call(*command)
        assert (status, out) == (2, ""), command
        assert err.endswith(": is read or written already, expected another file to write to\n")
        assert (features.read_bytes(), vectors.read_bytes()) == before, command
        assert not (tmp_path / "p.jsonl").exists()
        assert not (tmp_path / "other").exists()  # nothing was trained first


def test_a_run_goes_on_only_as_it_was_asked_for(call, fails, words, tmp_path):
    assert call(*words, "-o", tmp_path / "run", "--quiet")[0] == 0
    assert call(*words, "-o", tmp_path / "run", "--quiet")[0] == 0
    told = fails(2, *words, "-o", tmp_path / "run", "--seed", "1", "--quiet")
    assert "another run" in told
    assert "seed" in told


def test_a_test_split_chooses_only_by_force_and_every_result_says_so(call, fails, words, world, tmp_path):
    told = fails(2, *words, "-o", tmp_path / "run", "--select-split", "test-iid")
    assert "--force" in told
    assert not (tmp_path / "run").exists()
    forced = ("--train-split", "test-ood", "--select-split", "test-iid", "--force", "--quiet")
    status, out, _ = call(*words, "-o", tmp_path / "run", *forced)
    assert status == 0
    note = (
        "by force: it was trained on test-ood; its epoch was chosen on test-iid; figures on these splits are too good"
    )
    assert note in " ".join(out.split())
    preds = tmp_path / "run" / "test-ood.jsonl"
    own = ["--annotations", world / "annotations.jsonl", "--split", "test-ood"]
    status, out, err = call("evaluate", preds, *own)
    assert status == 0
    assert "by force" in out + err
    status, out, err = call(
        "audit", preds, *own, "--resamples", "200", "--measures", "R@1,IoU=0.5", "--quiet", "--full"
    )
    assert "by force" in out + err


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (["--train-split", "test-ood"], "train on a test split"),
        (["--test", "val"], "training or validation data"),
        (["--select-split", "train"], "shares queries with train"),
        (["--train-split", "morning"], "morning"),
        (["--test", "evening"], "evening"),
        (["--features", "absent.hdf5"], "absent.hdf5"),
        (["--set", "settings.hiden=3"], "hiden"),
        (["--set", "rows=17"], "multiple"),
        (["--measures", "R@1"], "R@1"),
    ],
)
def test_mistakes_are_told_in_one_line_and_leave_nothing(fails, words, tmp_path, changed, told):
    assert told in fails(2, *words, "-o", tmp_path / "run", *changed)
    assert not (tmp_path / "run").exists()


def test_videos_without_features_are_listed_or_skipped(call, fails, words, world, tmp_path):
    more = tmp_path / "more.jsonl"
    row = {"video_id": "absent", "duration_s": 9, "sentence": "he sits", "moments": [[1, 2]], "split": "train"}
    more.write_text((world / "annotations.jsonl").read_text() + json.dumps(row) + "\n")
    asked = [more if word == world / "annotations.jsonl" else word for word in words]
    assert "absent" in fails(2, *asked, "-o", tmp_path / "run")
    status, _, err = call(*asked, "-o", tmp_path / "run", "--on-missing-video", "skip")
    assert status == 0
    assert "1 quer" in err


def test_a_blind_model_needs_no_features_and_takes_none(call, fails, words, tmp_path):
    blind = ["blind-tan" if word == "tan2d" else word for word in words]
    assert "sees no video" in fails(2, *blind, "-o", tmp_path / "run")
    assert call(*blind[:-2], "-o", tmp_path / "run", "--quiet")[0] == 0
    assert "--features" in fails(2, *words[:-2], "-o", tmp_path / "other")


def test_a_dataset_without_validation_holds_videos_out_and_says_so(call, words, world, tmp_path):
    lines = [json.loads(line) for line in (world / "annotations.jsonl").read_text().splitlines()]
    kept = [line for line in lines if line["split"] != "val"]
    path = tmp_path / "noval.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))
    asked = [path if word == world / "annotations.jsonl" else word for word in words]
    status, out, err = call(*asked, "-o", tmp_path / "run")
    assert status == 0, err
    assert "held out" in out
    assert "held out" in err


def test_predict_refuses_a_folder_that_is_no_run(fails, tmp_path, world):
    (tmp_path / "run").mkdir()
    own = ["--annotations", world / "annotations.jsonl", "--split", "val", "-o", tmp_path / "p.jsonl"]
    assert "run.json" in fails(2, "predict", "run", tmp_path / "run", *own)
    assert "run.json" in fails(2, "predict", "run", "http://localhost:1/v1", *own)


def test_variants_feed_the_study_of_selection(call, words, tmp_path):
    asked = ["variants", *words[1:], "--learning-rates", "0.01,0.001", "--nms", "1,0.5", "-o", tmp_path / "grid"]
    status, out, err = call(*asked)
    assert status == 0, err
    # 2 rates, 2 epochs, 2 thresholds, original and shuffled videos
    assert "16 variants" in out
    names = {path.stem for path in (tmp_path / "grid" / "val").glob("*.npz")}
    assert len(names) == 16
    assert "lr0.01-epoch2-nms0.5-shuffled" in names
    folders = ["--validation", tmp_path / "grid" / "val", "--test", tmp_path / "grid" / "test-ood"]
    status, out, err = call("meta", "selection", *folders, "--resamples", "20")
    assert status == 0, err
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "grid").rglob("*.npz")}
    assert call(*asked)[0] == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "grid").rglob("*.npz")} == before


def test_two_commands_in_one_folder_and_a_link_are_told_in_one_line(fails, words, tmp_path):
    run = tmp_path / "run"
    with lock_folder(run):  # as another command does that trains there
        told = fails(2, *words, "-o", run, "--quiet")
    assert told == f"{run}: is being written by another command, wait for its end"
    run.mkdir()
    (run / "best.safetensors").symlink_to(tmp_path / "mine")
    assert f"{run / 'best.safetensors'}: is a link, expected" in fails(2, *words, "-o", run, "--quiet")
    assert not (tmp_path / "mine").exists()


def test_ten_thousand_epochs_have_no_folders(fails, words, tmp_path):
    told = fails(2, *words, "-o", tmp_path / "run", "--set=train.epochs=10000")
    assert "train.epochs" in told
    assert "9999" in told


SHARED = {
    "tan2d": ["--set=settings.hidden=8", "--set=rows=16", "--set=train.epochs=2"],
    "tsp-prl": ["--set=train.epochs=1"],  # its policies learn in turns
    "wssl": [],  # one of its stages has no gradient of the anchors' logits
}


@pytest.mark.thorough  # tests/training/test_retrieval_runs.py has two processes in CI
@pytest.mark.parametrize("recipe", list(SHARED))
def test_two_processes_share_a_run(call, world, tmp_path, recipe):
    """docs/train.md: a batch is divided among the processes. Only one of them speaks and writes."""
    data = ["--annotations", str(world / "annotations.jsonl"), "--features", str(world / "features.npz")]
    words = ["train", recipe, *SHARED[recipe], "--set=train.batch=16", *data]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "truemoment"]
    places = ["-o", tmp_path / "two", "--json", tmp_path / "two.json"]
    done = subprocess.run([*launcher, *words, *places], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Test splits") == 1
    assert done.stderr.count("run: ") == done.stderr.count("epoch 1/") == 1
    assert json.loads((tmp_path / "two.json").read_text()) == json.loads((tmp_path / "two/result.json").read_text())
    if recipe == "tan2d":  # a mean over pairs, and 64 pairs: halves make the steps of one process
        assert "unused parameters" not in done.stderr
        status, _, err = call(*words, "-o", tmp_path / "one")
        assert status == 0, err
        one, two = (load_file(tmp_path / name / "best.safetensors") for name in ("one", "two"))
        assert all(abs(one[name] - two[name]).max() < 1e-5 for name in one)
