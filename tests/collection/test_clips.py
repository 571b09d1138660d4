"""LSMDC's clips in the time of their films: made films with still shots, and files in LSMDC's form."""

from __future__ import annotations

import json

import numpy as np
import pytest

from truemoment.base.errors import InputError
from truemoment.cli import run
from truemoment.collection.clips import place_clips
from truemoment.data.datasets import load_annotations
from truemoment.data.datasets.clip_lines import read_clip_lines
from truemoment.media.features.base import Features
from truemoment.media.features.npz import write_features

FPS = 5.0


def made_film(rng, minutes=20, width=32):
    """Frames of still shots of 1 to 8 s: a direction that all share, one a shot, and some noise."""
    shots = []
    while sum(map(len, shots)) < minutes * 60 * FPS:
        shot = rng.normal(size=width)
        shots.append(np.tile(shot, (int(rng.integers(5, 40)), 1)))
    frames = np.concatenate(shots)
    common = rng.normal(size=width) * 2
    return (common + frames + 0.3 * rng.normal(size=frames.shape)).astype(np.float32)


def cut_clips(rng, film, delay_s, n=60, noise=0.3):
    """Clips of 2 to 6 s with noise of their own, and where their names say they start."""
    clips, named_s = [], []
    for _ in range(n):
        length = int(rng.integers(10, 30))
        first = int(rng.integers(200, len(film) - length - 200))
        clips.append(
            (film[first : first + length] + noise * rng.normal(size=(length, film.shape[1]))).astype(np.float32)
        )
        named_s.append(first / FPS - delay_s(first / FPS))
    return clips, np.array(named_s)


@pytest.mark.parametrize("delay_s", [-30.0, -4.2, 0.0, 0.9, 17.0, 61.4])
@pytest.mark.parametrize("noise", [0.3, 0.8])
def test_sixty_clips_of_a_film(delay_s, noise):
    # Specification of collect, section 15.11: the film's delay right to 0.1 s, in all twelve settings.
    rng = np.random.default_rng(3)
    film = made_film(rng)
    clips, named_s = cut_clips(rng, film, lambda _: delay_s, noise=noise)
    placed = place_clips(film, clips, named_s, FPS)
    assert placed.film_delay_s == pytest.approx(delay_s, abs=0.1)
    assert (np.abs(placed.found_s - delay_s) <= 0.3).mean() >= 0.9
    assert placed.n_edited == 0


def test_the_place_is_that_of_a_slow_loop():
    rng = np.random.default_rng(0)
    film = made_film(rng, minutes=2)
    clips, named_s = cut_clips(rng, film, lambda _: 1.0, n=5)
    placed = place_clips(film, clips, named_s, FPS)
    unit = film / np.linalg.norm(film, axis=1, keepdims=True)
    mean = unit.mean(axis=0)
    for clip, start_s, found_s in zip(clips, named_s, placed.found_s, strict=True):
        own = clip / np.linalg.norm(clip, axis=1, keepdims=True) - mean
        scores = [np.sum(own * (unit[o : o + len(own)] - mean)) for o in range(len(film) - len(own) + 1)]
        assert (start_s + found_s) * FPS == pytest.approx(np.argmax(scores), abs=0.51)


def test_clips_after_an_edit_keep_its_delay():
    rng = np.random.default_rng(1)
    film = made_film(rng, minutes=40)
    clips, named_s = cut_clips(rng, film, lambda time_s: 2.0 if time_s < 1500 else 12.0, n=80)
    placed = place_clips(film, clips, named_s, FPS)
    late = named_s > 1500
    assert placed.film_delay_s == pytest.approx(2.0, abs=0.1)
    assert np.abs(placed.delay_s[late] - 12.0).max() < 0.2
    assert np.abs(placed.delay_s[named_s < 1450] - 2.0).max() < 0.2


def test_a_clip_that_is_not_in_the_film_is_flagged():
    rng = np.random.default_rng(2)
    film = made_film(rng)
    clips, named_s = cut_clips(rng, film, lambda _: 1.0, n=20)
    clips[4] = rng.normal(size=clips[4].shape).astype(np.float32)
    clips[5] = np.ones((len(film) + 5, film.shape[1]), dtype=np.float32)  # longer than the film
    placed = place_clips(film, clips, named_s, FPS)
    assert placed.flagged[[4, 5]].all()
    assert placed.delay_s[[4, 5]].tolist() == [placed.film_delay_s] * 2


def clock(time_s):
    ms = round(1000 * time_s)
    return f"{ms // 3_600_000:02d}.{ms // 60_000 % 60:02d}.{ms // 1000 % 60:02d}.{ms % 1000:03d}"


@pytest.fixture
def files(tmp_path):
    """A film, its clips and LSMDC's annotations, at a delay of 3 s."""
    rng = np.random.default_rng(7)
    film = made_film(rng, minutes=10)
    clips, named_s = cut_clips(rng, film, lambda _: 3.0, n=12)
    names, lines = [], []
    for clip, start_s in zip(clips, named_s, strict=True):
        end_s = start_s + len(clip) / FPS
        names.append(f"0001_Some_Film_{clock(start_s)}-{clock(end_s)}")
        times = (start_s + 0.2, end_s - 0.2, start_s, end_s)
        lines.append("\t".join([names[-1], *map(clock, times), "SOMEONE opens a door."]))
    write_features(tmp_path / "films.npz", Features({"0001_Some_Film": film}, fps=FPS))
    write_features(tmp_path / "clips.npz", Features(dict(zip(names, clips, strict=True)), fps=FPS))
    (tmp_path / "annos.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def collect(files, *more):
    words = ["collect", "clips", files / "films.npz", files / "clips.npz", "--annotations", files / "annos.csv"]
    return run([str(word) for word in [*words, "-o", files / "mad" / "MAD_test.json", *more]])


def test_the_file_is_read_as_mad(files, capsys):
    (files / "mad").mkdir()
    assert collect(files, "--json", "-") == 0
    (film,) = json.loads(capsys.readouterr().out)["films"]
    assert film["delay_s"] == pytest.approx(3.0, abs=0.1)
    annotations = load_annotations("mad", "test", data_dir=files)
    lines = read_clip_lines(files / "annos.csv")
    assert annotations.n_queries == 12
    delay = [of["delay_s"] for of in film["clips"]]
    expected = [line.extracted_s[0] + d for line, d in zip(lines, delay, strict=True)]
    assert sorted(annotations.start_s) == pytest.approx(sorted(expected), abs=2e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n", "a.csv:1: found 2 fields between tabs, expected 6"),
        ("film\t" + "00.00.01.000\t" * 4 + "x\n", "expected a name with times: FILM_00.01.02.345-00.01.06.789"),
        ("f_00.00.02.000-00.00.01.000\t" + "00.00.01.000\t" * 4 + "x\n", "field clip: found 2 to 1 s"),
        (
            "f_00.00.01.000-00.00.02.000\t1\t00.00.02.000\t00.00.01.000\t00.00.02.000\tx\n",
            "field start_aligned: found '1'",
        ),
        ("\n\n", "has no clip"),
        ("\xff\n", "is no text in UTF-8"),
    ],
)
def test_what_is_no_annotation(tmp_path, text, message):
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read_clip_lines(tmp_path / "a.csv")
    assert message in str(caught.value)


def test_bad_input_is_one_line_and_writes_nothing(files, capsys):
    (files / "mad").mkdir()
    write_features(files / "clips.npz", Features({"other": np.ones((9, 32), dtype=np.float32)}, fps=FPS))
    assert collect(files) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "none of its 12 clips has vectors of clip and film" in err
    write_features(files / "clips.npz", Features({"other": np.ones((9, 32), dtype=np.float32)}, fps=1.0))
    assert collect(files) == 2
    assert "expected one rate" in capsys.readouterr().err
    assert not (files / "mad" / "MAD_test.json").exists()
