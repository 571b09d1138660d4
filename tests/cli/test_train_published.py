"""Training as on QVHighlights: two sources of features, rows of words, no test file (detr.md, sections 2 and 12)."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
torch.set_num_threads(1)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undrawn")]

VIDEOS = {"train": ("a", "b", "c", "d"), "val": ("e", "f"), "test": ("g",)}
WIDTHS = {"slowfast_features": 6, "clip_features": 4}
WORDS = "clip_text_features"


def line(number, video, **more):
    return {"qid": number, "query": f"query {number}", "vid": video, "duration": 150, **more}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with annotations, features and rows of words as they are published; the test file has no windows."""
    monkeypatch.chdir(tmp_path)
    folder, rng = tmp_path / "data" / "qvhighlights", np.random.default_rng(0)
    folder.mkdir(parents=True)
    for name in (*WIDTHS, WORDS):
        (tmp_path / name).mkdir()
    number = 0
    for split, videos in VIDEOS.items():
        lines = []
        for video in videos:
            for _ in range(4):
                start = 2 * int(rng.integers(60))
                windows = {} if split == "test" else {"relevant_windows": [[start, start + 20]]}
                lines.append(line(number, video, **windows))
                rows = {"last_hidden_state": rng.standard_normal((5, 8)).astype("f4"), "pooler_output": np.zeros(8)}
                np.savez(tmp_path / WORDS / f"qid{number}.npz", **rows)
                number += 1
            for name, width in WIDTHS.items():
                n_rows = 75 if name == "clip_features" else 74
                np.savez(tmp_path / name / f"{video}.npz", features=rng.standard_normal((n_rows, width)).astype("f4"))
        (folder / f"highlight_{split}_release.jsonl").write_text("".join(json.dumps(of) + "\n" for of in lines))
    return tmp_path


RECIPE = """\
model: tan2d
settings: {n_clips: 15, hidden: 8, layers: 1, kernel: 3}
rows: 75
normalise: each
text: {vectors: queries, most: 3}
train: {epochs: 4, batch: 8, learning_rate: 0.001}
select: {measure: mAP, every: 2}
decode: {nms: 1, top: 10, grid_s: 2.0}
"""

DATA = ("--dataset", "qvhighlights", "--data-dir", "data")
SOURCES = ("--features", "slowfast_features,clip_features", "--fps", "0.5", "--queries", WORDS)


@pytest.fixture
def words(place):
    (place / "mine.yaml").write_text(RECIPE)
    return ["train", "mine.yaml", *DATA, *SOURCES]


def test_train_predict_and_train_further(call, fails, words, place):
    (place / "data" / "qvhighlights" / "highlight_test_release.jsonl").rename(place / "kept.jsonl")
    status, out, err = call(*words, "-o", "run", "--json", "trained.json")
    assert status == 0, err
    assert "note: qvhighlights/test is not predicted: its file is missing" in err
    assert ["; val mAP" in text for text in err.splitlines() if text.startswith("epoch ")] == [False, True, False, True]
    assert "val (chosen on)" in out
    record = json.loads((place / "run" / "run.json").read_text())
    slowfast, clip = record["features_name"].split(",")
    assert slowfast.startswith("folder:slowfast_features#")
    assert clip.startswith("folder:clip_features#")
    assert (record["n_dimensions"], record["n_vector"], record["queries"]) == (10, 8, WORDS)

    (place / "kept.jsonl").rename(place / "data" / "qvhighlights" / "highlight_test_release.jsonl")
    status, out, err = call("predict", "run", "run", *DATA, "--split", "test", "-o", "p.jsonl", "--json", "p.json")
    assert status == 0, err
    _, *answers = map(json.loads, (place / "p.jsonl").read_text().splitlines())
    assert len(answers) == 4
    assert all(time % 2 == 0 for of in answers for start, end, _ in of["moments"] for time in (start, end))

    swapped = [text.replace("slowfast_features,clip", "clip_features,slowfast") for text in words]
    told = fails(2, *swapped, "-o", "run", "--quiet")
    assert "another run (it differs in features, features_name)" in told
    status, out, err = call(*words, "--from", "run", "--set", "train.epochs=2", "--test", "none", "-o", "more")
    assert status == 0, err
    assert json.loads((place / "more" / "run.json").read_text())["started_from"].startswith("run#")
    assert "started from the weights of run#" in out
    assert not (place / "more" / "test.jsonl").exists()
    assert "is a run of tan2d" in fails(2, "train", "ctrl", *DATA, *SOURCES[:4], "--from", "run", "-o", "other")


def damage(place, name, array, key="features"):
    np.savez(place / f"{name}.npz", **{key: array})


BAD = {
    "a video of another width": (
        lambda place: damage(place, "clip_features/b", np.ones((75, 5), "f4")),
        [],
        "'b': got 5 numbers a row, expected 4",
    ),
    "a video of another clock": (
        lambda place: damage(place, "clip_features/b", np.ones((150, 4), "f4")),
        [],
        "'b': has 74 and 150 rows in these sources, expected a difference of 2",
    ),
    "all videos at another clock": (lambda _: None, ["--fps", "1"], "by the durations there are about 0.4933"),
    "a video missing in one source": (
        lambda place: (place / "slowfast_features" / "e.npz").unlink(),
        [],
        "there are no features of video 'e' in folder:slowfast_features",
    ),
    "a number that is not finite": (
        lambda place: damage(place, "clip_features/a", np.full((75, 4), np.nan, "f4")),
        [],
        "'a': 75 of 75 rows have numbers that are not finite",
    ),
    "a query without rows": (
        lambda place: (place / WORDS / "qid17.npz").unlink(),
        [],
        "clip_text_features: has no rows of 1 of 8 queries: '17'",
    ),
    "rows of words that are not finite": (
        lambda place: damage(place, f"{WORDS}/qid3", np.full((5, 8), np.inf, "f4"), "last_hidden_state"),
        [],
        "5 of 5 rows have numbers that are not finite",
    ),
    "no rows of words": (lambda _: None, ["--set", "text.vectors=learned"], "got a recipe with 'learned'"),
    "a test split beside none": (lambda _: None, ["--test", "none", "--test", "test"], "--test: got none, test"),
    "a test split that was named": (
        lambda place: (place / "data" / "qvhighlights" / "highlight_test_release.jsonl").unlink(),
        ["--test", "test"],
        "is missing, expected highlight_test_with_gt.jsonl or highlight_test_release.jsonl",
    ),
    "no run to start from": (lambda _: None, ["--from", "clip_features"], "is no folder of a training run"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_one_line_and_nothing_is_written(fails, words, place, name):
    change, options, told = BAD[name]
    change(place)
    assert told in fails(2, *words, *options, "-o", "run", "--quiet")
    assert not (place / "run").exists() or not any((place / "run").iterdir())


def test_features_checks_all_sources(call, place):
    words = ["features", SOURCES[1], "--fps", "0.5", *DATA, "--split", "train"]
    status, out, err = call(*words, "-o", "own", "--dtype", "float16", "--json", "fit.json")
    assert status == 0, err
    assert "every video has features" in out
    own = json.loads((place / "own" / "features.json").read_text())
    assert (own["n_dimensions"], own["source_widths"], own["fps"]) == (10, [6, 4], 0.5)
    (place / "clip_features" / "c.npz").unlink()
    status, out, err = call(*words)
    assert status == 1
    assert "c (there are no features of video 'c' in folder:clip_features" in " ".join(out.split())


def test_no_output_overwrites_a_source(fails, words, place):
    before = (place / "clip_features" / "a.npz").read_bytes()
    told = fails(2, *words, "-o", "run", "--json", "clip_features/a.npz")
    assert "clip_features, which is read" in told
    assert (place / "clip_features" / "a.npz").read_bytes() == before
