"""Alignment of made films with known damage: 20 ms, edges to 0.15 s, the right number of pieces."""

import numpy as np
import pytest

from truemoment.media.audio import aligning
from truemoment.media.audio.aligning import AlignSettings, align_sounds
from truemoment.media.audio.alignment import Piece
from truemoment.media.audio.checking import PaperSettings
from truemoment.media.audio.placing import Placing
from truemoment.media.audio.rates import RateScore
from truemoment.worlds.described.damage import Damage

MINUTES = 4

QUICK = PaperSettings(n_windows=8, search_s=5.0, most_delay_s=40.0)
"""8 windows in place of 20, searched within 5 s in place of 30, delays up to 40 s in place of 120: quicker."""

ROBUST, PAPER = (AlignSettings(method, paper=QUICK) for method in ("robust", "paper"))

HALF_S = 30.0 * MINUTES

ONE_PIECE = {
    "late": Damage(offset_s=37.5),
    "50 ppm": Damage(rate=1 + 50e-6),
    "0.1 %": Damage(rate=1.001),
    "PAL": Damage(rate=25 / 24, noise_db=-20),
    "25/23.976": Damage(rate=25 / 23.976),
    "PAL with its pitch kept": Damage(rate=25 / 24, stretched=True),
    "part": Damage(part_s=(60.0, 200.0), offset_s=0.0),
    "band, compressed, soft": Damage(band_hz=(300, 3400), compression=4, gain_db=-20),
}
SEVERAL_PIECES = {
    "cut": Damage(cuts=((HALF_S, 10.5),)),
    "insertion": Damage(insertions=((HALF_S, 30.0),)),
    "cut and PAL": Damage(cuts=((HALF_S, 12.0),), rate=25 / 24),
}


def check(film, damage, **mix):
    """Compare an alignment with the truth; return it."""
    track, true = film.damaged(damage, **mix)
    found = align_sounds(film.recording, track, ROBUST)
    assert len(found.pieces) == len(true)
    for piece, of in zip(found.pieces, true, strict=True):
        times = np.linspace(max(piece.track_s[0], of.track_s[0]), min(piece.track_s[1], of.track_s[1]), 100)
        error = np.abs((piece.rate - of.rate) * times + piece.delay_s - of.delay_s)
        assert error.max() <= 0.020
        assert np.abs(np.array(piece.track_s) - of.track_s).max() <= 0.15
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("damage", ONE_PIECE.values(), ids=ONE_PIECE)
def test_each_damage_alone(made_film, damage):
    found = check(made_film, damage)
    assert found.verdict == "aligned"


def test_a_part_shorter_than_a_window_before_a_cut_in_bands_that_the_narrator_covers(film_of, monkeypatch):
    # As benchmarks/collect_scale.py: 22 s before a cut were lost, and 2.5 s of them taken into the part behind it; and
    # number 29, of another speed, was refused for the scores of its windows.
    monkeypatch.setattr(aligning, "score_rates", lambda *_: [RateScore("25/24", 25 / 24, 0.36, 0.21)])
    check(film_of(1.5, 75), Damage(cuts=((22.0, 12.0),), rate=25 / 24))


@pytest.mark.thorough
@pytest.mark.parametrize("damage", SEVERAL_PIECES.values(), ids=SEVERAL_PIECES)
def test_cuts_and_insertions(made_film, damage):
    found = check(made_film, damage)
    assert found.verdict == "aligned in pieces"
    assert not found.paper.passed


def drawn_damage(seed, duration_s):
    rng = np.random.default_rng(seed)
    kind = int(rng.integers(3))
    at = float(rng.uniform(0.35, 0.6)) * duration_s
    return Damage(
        cuts=((at, float(rng.uniform(5, 60))),) if kind == 0 else (),
        insertions=((at, float(rng.uniform(10, 60))),) if kind == 1 else (),
        rate=float(rng.choice([1.0, 1.0 + 2e-4 * rng.random(), 1.001, 25 / 24, 24 / 25])),
        offset_s=float(rng.uniform(-30, 60)),
        noise_db=None if rng.random() < 0.5 else -20.0,
        compression=float(rng.choice([1.0, 4.0])),
        gain_db=float(rng.uniform(-12, 3)),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [11, 1, 0])  # a cut, an insertion, neither
def test_damages_at_random(film_of, seed):
    film = film_of(6, seed)
    check(film, drawn_damage(seed, film.script.duration_s), seed=seed)


def test_paper_verdict_and_piece(film_of):
    film = film_of(2)
    track, _ = film.damaged()
    found = align_sounds(film.recording, track, PAPER)
    assert found.paper.passed
    assert found.paper.within == QUICK.n_windows
    assert [(piece.rate, round(piece.delay_s, 4)) for piece in found.pieces] == [(1.0, -3.0)]  # as the damage has it


@pytest.mark.thorough
def test_paper_fails_on_another_speed_and_says_which(made_film):
    track, _ = made_film.damaged(Damage(rate=25 / 24))
    found = align_sounds(made_film.recording, track, PAPER)
    assert (found.pieces, found.verdict, found.paper.delay_s) == ((), "other speed", None)
    assert "(25/24)" in found.why


@pytest.mark.thorough  # tests/collection/test_pipeline.py has such a film
def test_another_film_is_none(made_film, film_of):
    track, _ = film_of(2, seed=9).damaged()
    found = align_sounds(made_film.recording, track, ROBUST)
    assert found.verdict == "not this film"
    assert found.pieces == ()
    assert "25/24: median 0." in found.why


@pytest.mark.thorough
@pytest.mark.parametrize("pieces", [(), (Piece((80.3, 80.7), 1.0, -80.34, 0.0),)], ids=["none", "0.4 s"])
def test_what_is_alike_for_a_moment_is_none(made_film, monkeypatch, pieces):
    # Two of 650 simulated films: another film's track was alike for a while; nothing, or 0.4 s, was confirmed.
    track, _ = made_film.damaged()
    monkeypatch.setattr(Placing, "pieces", lambda _: pieces)
    found = align_sounds(made_film.recording, track, ROBUST)
    assert (found.verdict, found.pieces, found.rate_candidate) == ("not this film", (), "")
