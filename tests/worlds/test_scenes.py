"""Rendered films: what their annotations say is what they show."""

import numpy as np
import pytest

pytest.importorskip("av")

from truemoment.base.errors import InputError, UsageError
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.video.frames import duration_of, stream_frames
from truemoment.worlds.descriptions import ASPECT, COLOURS, GROUNDS, SHAPES, Scene, Thing, codes_of, truth
from truemoment.worlds.scenes import (
    COLOUR_VALUES,
    OUTLINE,
    draw_picture,
    plan_video,
    render_video,
    video_frames,
)

MIDDLE = (ASPECT / 2, 0.5)


def alone(shape, colour, ground, *, radius=0.3, place=MIDDLE, enters=0.0):
    return Scene(ground, (Thing(shape, colour, True, radius, place, place, enters=enters),), 5)


# ---- Pictures


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "ring"])
@pytest.mark.parametrize("colour", ["red", "white", "black"])
def test_the_middle_of_a_thing_has_its_colour(shape, colour):
    picture = draw_picture(alone(shape, colour, "water"))
    assert picture.shape == (120, 160, 3)
    assert picture.dtype == np.uint8
    assert picture[60, 80] == pytest.approx(255 * np.array(COLOUR_VALUES[colour]), abs=1)


def test_a_ring_is_open():
    with_ring = draw_picture(alone("ring", "red", "snow"))
    assert with_ring[60, 80].min() > 150
    assert with_ring[60, 80 + int(0.72 * 0.3 * 120)] == pytest.approx(255 * np.array(COLOUR_VALUES["red"]), abs=1)


BAND = 2 * OUTLINE / 0.3
"""Of a radius of 0.3, so much is the dark line and the light one."""

TIP = 1.05 + BAND / 0.36
"""Of a star: 0.36 is how steeply the distance grows along it, 0.264 / hypot(0.264, 1.05 - 0.364)."""

REACHES = {  # up, down and to a side, in radii: where the formula of the distance has the value BAND
    "circle": (0.95 + BAND, 0.95 + BAND, 0.95 + BAND),
    "ring": (0.95 + BAND, 0.95 + BAND, 0.95 + BAND),
    "square": (0.82 + BAND, 0.82 + BAND, 0.82 + BAND),
    "cross": (0.95 + BAND, 0.95 + BAND, 0.95 + BAND),
    "diamond": ((1 + 1.65 * BAND) / 0.95, (1 + 1.65 * BAND) / 0.95, (1 + 1.65 * BAND) / 1.35),
    "triangle": (1.1 + 2 * BAND, 0.6 + BAND, (0.55 + 0.5 * (0.6 + BAND) + BAND) / 0.866),
    "star": (TIP, TIP * np.cos(np.pi / 5), TIP * np.sin(2 * np.pi / 5)),
    "heart": (0.32 + 0.52 + BAND, 0.9 + np.sqrt(2) * BAND, 0.45 + 0.52 + BAND),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_thing_reaches_as_far_as_its_formula_says(shape):
    bare = draw_picture(Scene("snow", (), 5), height=480, width=640).astype(int)
    painted = np.abs(draw_picture(alone(shape, "red", "snow"), height=480, width=640).astype(int) - bare).sum(-1) > 0
    rows, columns = np.nonzero(painted)
    up, down, side = REACHES[shape]
    expected = (up, down, side, side)
    measured = np.array([240 - rows.min(), rows.max() + 1 - 240, 320 - columns.min(), columns.max() + 1 - 320]) / 144
    assert measured == pytest.approx(expected, abs=2 / 144)  # a pixel on either side


def test_shapes_and_grounds_look_different():
    shapes = [draw_picture(alone(shape, "red", "snow")).astype(int) for shape in SHAPES]
    grounds = [draw_picture(Scene(ground, (), 5)).astype(int) for ground in GROUNDS]
    for pictures, least in ((shapes, 3), (grounds, 15)):
        for k, one in enumerate(pictures):
            for other in pictures[:k]:
                assert np.abs(one - other).mean() > least


def test_a_thing_that_is_not_there_yet():
    scene = alone("star", "red", "sand", enters=0.5)
    assert np.array_equal(draw_picture(scene, 0.49), draw_picture(Scene("sand", (), 5)))
    assert not np.array_equal(draw_picture(scene, 0.5), draw_picture(Scene("sand", (), 5)))


def test_things_at_the_edge_and_pictures_of_any_size():
    for place in ((0.0, 0.0), (ASPECT, 1.0), (-3.0, 0.5)):
        assert draw_picture(alone("heart", "red", "night", place=place), 1.0, 48, 64).shape == (48, 64, 3)


# ---- Films


@pytest.mark.parametrize("seed", range(5))
def test_a_sentence_is_true_of_its_moments_and_of_no_other_time(seed):
    film = plan_video(np.random.default_rng(seed), minutes=3)
    start = 0
    of_film = film.annotations("film")
    for shot in film.shots:
        for share in (0.0, 0.25, 0.6, 0.99):
            true = truth(codes_of([shot.scene], [share]), film.descriptions)[0]
            frame = start + share * shot.n_frames
            time_s = frame / film.fps
            inside = {
                int(query.split("#")[1])
                for query, first_s, end_s in zip(of_film.query_id, of_film.start_s, of_film.end_s, strict=True)
                if first_s <= time_s < end_s
            }
            assert set(np.flatnonzero(true).tolist()) == inside
        start += shot.n_frames


def test_what_a_film_is_made_of():
    film = plan_video(np.random.default_rng(0), minutes=5)
    assert film.n_frames == 5 * 60 * 12
    annotations = film.annotations("film")
    n_moments = np.diff(annotations.offsets)
    assert annotations.n_queries == len(film.shots) // 4 == len(set(film.sentences))
    assert (n_moments == 2).sum() == annotations.n_queries // 4
    assert set(n_moments) == {1, 2}
    lengths_s = np.array([shot.n_frames / film.fps for shot in film.shots])
    assert lengths_s.min() >= 4
    assert lengths_s.max() < 13
    entering = [shot for shot in film.shots if shot.first_frame]
    assert entering
    assert all(shot.event is not None and 0.25 < shot.first_frame / shot.n_frames <= 0.5 for shot in entering)
    assert annotations.end_s.max() <= annotations.duration_s[0] == 300


@pytest.mark.parametrize(("minutes", "n_events", "n_shots"), [(0.1, None, 1), (0.5, 2, None), (0.5, 1, None)])
def test_short_films(minutes, n_events, n_shots):
    film = plan_video(np.random.default_rng(1), minutes, n_events=n_events)
    assert film.n_frames == round(minutes * 720)
    assert len(film.sentences) == (n_events or 1)
    assert n_shots in {None, len(film.shots)}


def test_a_written_film_shows_its_frames(tmp_path):
    path = tmp_path / "a film.mp4"
    annotations = render_video(path, np.random.default_rng(3), minutes=0.3, height=48, width=64)
    film = plan_video(np.random.default_rng(3), minutes=0.3)
    assert annotations.sha256 == film.annotations("a film").sha256
    assert set(annotations.video_id) == {"a film"}
    assert annotations.dataset == "scenes"
    assert duration_of(path) == pytest.approx(annotations.duration_s[0], abs=1e-6)
    drawn = list(video_frames(film, 48, 64))
    shown = [pixels for _, pixels in stream_frames(path, 12)]
    assert len(drawn) == len(shown) == film.n_frames
    apart = [np.abs(one.astype(int) - other).mean() for one, other in zip(drawn, shown, strict=True)]
    assert max(apart) < 12  # what coding loses; another scene is far off
    cuts = np.cumsum([shot.n_frames for shot in film.shots])[:-1]
    assert all(np.abs(shown[cut].astype(int) - shown[cut - 1]).mean() > 12 for cut in cuts.tolist())


def test_the_same_seed_gives_the_same_film(tmp_path):
    films = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        films.append(render_video(tmp_path / name / "film.mp4", np.random.default_rng(4), 0.2, height=64, width=64))
    assert films[0].sha256 == films[1].sha256
    assert (tmp_path / "one" / "film.mp4").read_bytes() == (tmp_path / "other" / "film.mp4").read_bytes()


def test_its_annotations_are_measured(tmp_path):
    from truemoment import Predictions

    annotations = render_video(tmp_path / "film.mp4", np.random.default_rng(5), 0.5, height=32, width=32)
    heads = annotations.offsets[:-1]
    found = {annotations.query_id[row]: [(annotations.start_s[row], annotations.end_s[row], 1.0)] for row in heads}
    scores = evaluate(annotations, Predictions.from_lists(found), "R@1,IoU=0.7")
    assert scores.value("R@1,IoU=0.7") == 1.0


@pytest.mark.parametrize(
    "wish",
    [
        {"minutes": 0},
        {"minutes": float("nan")},
        {"minutes": 1e6},
        {"fps": 0},
        {"fps": 1000},
        {"n_events": 0},
        {"n_events": 99},
        {"height": 33},
        {"width": 8},
    ],
)
def test_impossible_films(tmp_path, wish):
    with pytest.raises(UsageError):
        render_video(tmp_path / "film.mp4", np.random.default_rng(0), **{"minutes": 0.2, **wish})
    assert not list(tmp_path.iterdir())


def test_a_film_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        render_video(tmp_path / "none" / "film.mp4", np.random.default_rng(0), 0.1)


def test_all_colours_can_be_drawn():
    assert set(COLOUR_VALUES) == set(COLOURS)
