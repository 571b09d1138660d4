"""No verb writes over what it reads: refused before any work, and every byte stays."""

import json
import sys
import warnings
from pathlib import Path

import pytest

from truemoment.base.boundary.terminal import clean_streams
from truemoment.base.errors import UsageError
from truemoment.cli.outputs import files_of_run, refuse_outputs, say, show_warnings

MAD = ["--dataset", "mad", "--split", "test", "--data-dir", "data"]
FEATURES = ["frames.h5", "--sentences", "sentences.h5"]
SERVED = ["http://localhost:8000/v1", "--model", "m"]
OWN = ["--annotations", "films.jsonl"]


@pytest.fixture
def material(call, films):
    """Films and their index, annotations, features, a dataset, a run and a sweep, all below the working folder."""
    assert call("index", films, "-o", "all.index", "--model", "colours", "--quiet")[0] == 0
    row = {"video_id": "a", "duration_s": 40, "sentence": "red", "moments": [[20, 28]]}
    Path("films.jsonl").write_text(json.dumps(row) + "\n")
    for name in ("data/mad/annotations", "data/mad", "run/epoch-0003", "sweep/worlds"):
        Path(name).mkdir(parents=True, exist_ok=True)
    files = (
        "frames.h5",
        "sentences.h5",
        "data/mad/MAD_test.json",
        "data/mad/annotations/MAD_test.json",
        "run/run.json",
        "run/epoch-0003/history.json",
    )
    for name in (*files, "data/mad/CLIP_frames_features_5fps.h5", "a.jsonl", "b.jsonl", "figures.csv"):
        Path(name).write_text("not to be lost")
    Path("own.yaml").write_text("model: tan2d")


def contents():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


COMMANDS = [
    ["index", "films/a.mp4", "--json", "films/a.mp4"],
    ["index", "films", "-o", "all.index", "--json", "films/../films/b.mp4"],
    ["index", "films", "-o", "all.index", "--json", "all.index/index.json"],
    ["search", "red", "all.index", "--html", "films/a.mp4"],
    ["search", "red", "all.index", "--csv", "all.index/index.json"],
    ["search", "red", "all.index", "--json", "all.index/new.json"],
    ["search", "red", "all.index", "--clips", "all.index/videos"],
    ["search", "red", "all.index", "--thumbnails", "all.index"],
    ["search", "red", "films/a.mp4", "--index", "all.index", "--csv", "films/c.mp4"],
    ["search", "red", "films/a.mp4", "--model", "colours", "--csv", "films/a.mp4"],
    ["search", "split", "all.index", *OWN, "-o", "all.index/index.json"],
    ["search", "split", "all.index", *OWN, "-o", "x.jsonl", "--json", "films/b.mp4"],
    ["search", "split", *FEATURES, *MAD, "-o", "data/mad/MAD_test.json"],
    ["search", "split", *FEATURES, *MAD, "-o", "data/mad/annotations/MAD_test.json"],
    ["search", "split", *FEATURES, *MAD, "-o", "x.jsonl", "--json", "frames.h5"],
    ["search", "split", *FEATURES, *MAD, "-o", "x.jsonl", "--json", "sentences.h5"],
    ["predict", "run", "run", *MAD, "-o", "data/mad/MAD_test.json"],
    ["predict", "run", "run", *MAD, "-o", "run/run.json"],
    ["predict", "run", "run", *MAD, "-o", "x.jsonl", "--json", "run/epoch-0003/history.json"],
    ["predict", "run", "run", *MAD, "--features", "frames.h5", "-o", "x.jsonl", "--json", "frames.h5"],
    ["predict", "endpoint", *SERVED, "--prompt", "text-only", *MAD, "-o", "data/mad/MAD_test.json"],
    ["predict", "endpoint", *SERVED, "--videos", "films", *OWN, "-o", "x.jsonl", "--raw", "films/a.mp4"],
    ["train", "tan2d", *MAD[:2], *MAD[4:], "--features", "frames.h5", "--json", "frames.h5"],
    ["train", "own.yaml", *OWN, "--results", "own.yaml"],
    ["train", "tan2d", *OWN, "-o", "run", "--json", "run/run.json"],
    [
        "sweep",
        "tan2d",
        "--world",
        "videos=600",
        "--dial",
        "perception=0,1",
        "-o",
        "sweep",
        "--json",
        "sweep/worlds/x.json",
    ],
    ["reproduce", "mad-2", "--data-dir", "data", "--json", "data/mad/MAD_test.json"],
    ["reproduce", "mad-2", "--data-dir", "data", "--json", "data/mad/CLIP_frames_features_5fps.h5"],
    ["baseline", "uniform", *MAD, "-o", "data/mad/annotations/MAD_test.json"],
    ["evaluate", "a.jsonl", *MAD, "--save-scores", "data/mad/MAD_test.json"],
    ["convert", "a.jsonl", "--to", "csv", "-o", "a.jsonl"],
    ["audit", "a.jsonl", *OWN, "--model", "run", "--json", "run/run.json"],
    ["audit", "a.jsonl", *OWN, "--model", "run", "--features", "frames.h5", "--html", "frames.h5"],
    ["compare", "a.jsonl", "b.jsonl", *OWN, "--published", "figures.csv", "--json", "figures.csv"],
    ["humans", *OWN, "--official", "mad/test", "--data-dir", "data", "--json", "data/mad/MAD_test.json"],
    ["bias", *MAD[:2], *MAD[4:], "--html", "data/mad/MAD_test.json"],
    ["features", "frames.h5", "--json", "frames.h5"],
    ["datasets", "check", "films.jsonl", "--json", "films.jsonl"],
    ["datasets", "check", "mad", "--data-dir", "data", "--json", "data/mad/MAD_test.json"],
]


@pytest.mark.usefixtures("in_colours", "material")
def test_what_is_read_is_not_written_over(fails):
    before = contents()
    for words in COMMANDS:
        told = fails(2, *words)
        refused = "is read or written already, expected another", "which is read, expected another"
        assert any(part in told for part in refused), words
        assert contents() == before, words


@pytest.mark.parametrize("written", ["model/config.json", "model/new.json", "model/model.safetensors"])
def test_a_model_is_not_written_over(fails, films, tmp_path, monkeypatch, written):
    monkeypatch.chdir(tmp_path)
    for name in ("config.json", "model.safetensors"):
        Path("model").mkdir(exist_ok=True)
        (Path("model") / name).write_text("not to be lost")
    before = contents()
    for words in (["index", films, "-o", "all.index"], ["search", "red", films / "a.mp4"]):
        told = fails(2, *words, "--model", "model", "--json", written, *(["--quiet"] if words[0] == "search" else []))
        assert told.endswith("which is read, expected another place")
        assert contents() == before


def test_beside_what_is_a_run_s_own_other_files_may_stand(tmp_path):
    for name in ("run.json", "epoch-0001/history.json", "preds.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    refuse_outputs(files_of_run(tmp_path), [tmp_path / "preds.jsonl", tmp_path / "new.json"])
    (tmp_path / "tracked").mkdir()
    for name in ("run.json", "result.json", "epoch-0001/history.json", "epoch-0001", "curves.png", "tracked/mine.json"):
        with pytest.raises(UsageError, match=r"which is read|is read or written already"):
            refuse_outputs(files_of_run(tmp_path), [tmp_path / name])


def test_folders_of_the_user_in_a_run_may_be_written(tmp_path):
    for name in ("epoch-0001", "epoch-notes"):
        (tmp_path / name).mkdir()
    refuse_outputs(files_of_run(tmp_path), [tmp_path / "epoch-notes" / "figures.json"])
    with pytest.raises(UsageError, match="which is read"):
        refuse_outputs(files_of_run(tmp_path), [tmp_path / "epoch-0001" / "figures.json"])


def test_below_a_folder_that_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("run/epoch", "run-2"):
        Path(name).mkdir(parents=True)
    refuse_outputs([Path("run")], [Path("run-2/x"), Path("x"), Path("-"), None])
    Path("link").symlink_to("run/epoch")
    for name in ("run/x", "run/epoch/x", "run-2/../run/x", "link/x"):
        with pytest.raises(UsageError, match=r"lies in run, which is read, expected another place$"):
            refuse_outputs([Path("run")], [Path(name)])
    with pytest.raises(UsageError, match="run: is read or written already"):
        refuse_outputs([Path("run")], [Path("run")])


def test_a_name_begins_no_other_line(capsys):
    with clean_streams():
        say("note: a\x07\x1b[31m\nFORGED\u2028.mp4", err=True)
        say(str(Path("電影　é\udcff.mp4")))
    assert capsys.readouterr() == ("電影　é\\xff.mp4\n", "note: a\\x07\\x1b[31m FORGED .mp4\n")


@pytest.mark.parametrize(
    "words",
    [
        ["train", "blind-tan", *OWN, "--results", "-"],
        ["sweep", "tan2d", "--world", "videos=30", "--dial", "perception=1", "-o", "sweep", "--results", "-"],
        ["evaluate", "a.jsonl", *OWN, "--save-scores", "-"],
        ["evaluate", "a.jsonl", *OWN, "--fields", "sentence=text", "--save-fields", "-"],
        ["retrieve", *FEATURES, *OWN, "--save-similarities", "-"],
        ["collect", "align", "films/a.mp4", "films/b.mp4", "-o", "-"],
        ["convert", "a.jsonl", "--to", "csv", "-o", "./-"],
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
@pytest.mark.usefixtures("in_colours", "material")
def test_no_file_is_named_as_standard_output_is(fails, words):
    # Each wrote a file whose name is "-".
    told = fails(2, *words)
    assert told.endswith(f"{words[-2]} -: cannot go to standard output, expected the name of a file")
    assert not Path("-").exists()


def test_a_warning_of_a_library_is_one_line(capsys, monkeypatch):
    def warn_twice():
        with show_warnings():
            warnings.simplefilter("always")
            for _ in range(2):
                warnings.warn("a library\nsays so", UserWarning, stacklevel=1)

    monkeypatch.setattr(sys, "warnoptions", [])
    warn_twice()  # Python would write a path of ours and a line of code
    assert capsys.readouterr().err == "warning: a library says so (UserWarning)\n"
    monkeypatch.setattr(sys, "warnoptions", ["default"])  # of somebody who looks for it
    with pytest.warns(UserWarning, match="a library"):
        warn_twice()
