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
