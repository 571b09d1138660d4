"""truemoment retrieve: JSON, own similarities, and what is refused."""

import json

import numpy as np
import pytest

from truemoment.cli import run
from truemoment.worlds import FilmSettings, make_films, write_films

FRAMES, SENTENCES = "CLIP_B32_frames_features_5fps.h5", "CLIP_B32_language_features_MAD_test.h5"


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """Two simulated films for training and two for the test, whose sentences lie near their frames."""
    folder = tmp_path_factory.mktemp("films")
    settings = FilmSettings(minutes=8, n_sentences=30, nearness=1.0)
    write_films(folder, make_films({"train": 2, "test": 2}, settings, np.random.default_rng(0)))
    return folder


def words(films, *more):
    mad = films / "mad"
    given = ["retrieve", mad / FRAMES, "--fps", 5, "--sentences", mad / SENTENCES]
    return [str(word) for word in [*given, "--dataset", "mad", "--split", "test", "--data-dir", films, *more]]


def test_features_and_saved_similarities_agree(films, tmp_path, capsys):
    saved = tmp_path / "all.npz"
    assert run(words(films, "--json", "-", "--save-similarities", saved, "--quiet")) == 0
    found = json.loads(capsys.readouterr().out)
    values = {of["measure"]: of["value"] for of in found["measures"]}
    assert values["t2c:R@1"] > 0.95  # specification, section 8: at nearness 1, 0.98 or more of 1,000 clips
    assert found["pool"]["n_videos"] == 2
    assert all(of["blind_floor"] is not None for of in found["measures"])
    assert run(["retrieve", str(saved), "--json", "-", "--quiet"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert {of["measure"]: of["value"] for of in again["measures"]} == values
    assert {of["measure"]: of["ci95"] for of in again["measures"]} == {
        of["measure"]: of["ci95"] for of in found["measures"]
    }


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--margin-s", "-1"], "--margin-s: got -1, expected seconds of 0 or more"),
        (["--measures", "R@1"], "unknown measure 'R@1', expected t2c: or c2t:"),
        (["--tie", "nan"], "--tie: got nan, expected a difference of 0 or more"),
        (["--tie", "1e308"], "--tie: got 1e+308, expected a difference of 0 or more, up to 1e+30"),
        (["--split", "nowhere"], "nowhere"),
        (["--fit-split", "val"], "MAD_val.json is missing"),
    ],
)
def test_bad_input_is_one_line(films, capsys, more, message):
    assert run(words(films, *more)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_a_file_without_similarities(films, tmp_path, capsys):
    (tmp_path / "x.npz").write_bytes(b"nonsense")
    assert run(["retrieve", str(tmp_path / "x.npz")]) == 2
    assert "x.npz" in capsys.readouterr().err
    assert run(["retrieve", str(films / "mad" / FRAMES)]) == 2
    assert "is not a file of similarities (NPZ)" in capsys.readouterr().err


def learning(films, out, *more):
    mad = films / "mad"
    given = ["train", "mean-pool", "--dataset", "mad", "--data-dir", films, "--features", mad / FRAMES, "-o", out]
    texts = [word for of in ("train", "test") for word in ("--sentences", mad / SENTENCES.replace("test", of))]
    small = ["--fps", 5, "--select-split", "held out", "--set", "train.epochs=1", "--set", "train.batch=8", "--quiet"]
    return [str(word) for word in [*given, *texts, *small, *more]]


@pytest.mark.parametrize("margin", ["1", "-1", "nan"])
def test_a_margin_that_nothing_uses_is_refused(fails, films, margin):
    # It was ignored: with --model the recipe of the run sets the margin, and similarities are there already.
    told = fails(2, *words(films, "--model", "run", "--margin-s", margin))
    assert told == f"--margin-s: got {margin}, but the recipe of --model sets it; leave it out"
    told = fails(2, "retrieve", "similarities.npz", "--margin-s", margin)
    assert told == f"--margin-s: got {margin}, but the similarities are given; leave it out"


def test_a_trained_model_ranks_clips(films, tmp_path, capsys):
    pytest.importorskip("torch", exc_type=ImportError)
    out = tmp_path / "run"
    assert run(learning(films, out, "--json", "-")) == 0
    trained = json.loads(capsys.readouterr().out)
    figures = {row["measure"]: float(row["value"]) for row in trained["figures"]}
    assert {of["measure"] for of in trained["beside_zero_shot"]} == set(figures)
    for source in (words(films, "--model", out), ["retrieve", str(out / "test.npz")]):
        assert run([*source, "--json", "-", "--quiet"]) == 0
        found = {of["measure"]: of["value"] for of in json.loads(capsys.readouterr().out)["measures"]}
        # Some clips have the same frames: rounding decides their ties, by one clip of 67 or half of one.
        assert {name: found[name] for name in figures} == pytest.approx(figures, abs=1 / 66)
    (tmp_path / "preds.jsonl").touch()
    assert (
        run(
            [
                "predict",
                "run",
                str(out),
                "--dataset",
                "mad",
                "--split",
                "test",
                "--data-dir",
                str(films),
                "-o",
                "x.jsonl",
            ]
        )
        == 2
    )
    assert "ranks clips: use truemoment retrieve --model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--sentences", "nowhere.h5"], "nowhere.h5"),
        (["--set", "settings.tune=towers"], "settings.tune: the model learns from pictures: give --features pictures:"),
        (["--measures", "R@1,IoU=0.5"], "unknown measure 'R@1,IoU=0.5', expected t2c: or c2t:"),
        (["--set", "select.measure=mIoU"], "unknown measure 'mIoU', expected t2c: or c2t:"),
        (["--mix", "mad:train=1.5"], "--mix: got a share of 1.5"),
        (["--mix", "mad:test", "--test", "test"], "data: mad-test has 2 of the films of mad/test"),
    ],
)
def test_bad_input_of_training_is_one_line(films, tmp_path, capsys, more, message):
    pytest.importorskip("torch", exc_type=ImportError)
    assert run(learning(films, tmp_path / "run", *more)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
    assert not (tmp_path / "run").exists()


def test_a_model_of_words_takes_no_vectors_of_sentences(films, tmp_path, capsys):
    pytest.importorskip("torch", exc_type=ImportError)
    line = learning(films, tmp_path / "run", "--set", "rows=32")
    line[1] = "tan2d"
    assert run(line) == 2
    assert "tan2d reads words, expected no --sentences" in capsys.readouterr().err
