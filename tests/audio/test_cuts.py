"""Edges of pieces along known lines: cuts, insertions and parts that are replaced, by seed."""

from dataclasses import replace

import numpy as np
import pytest

from truemoment.media.audio.cuts import SureLine, is_heard, place_cut, reach_of
from truemoment.media.audio.recording import Recording, record
from truemoment.media.audio.refining import DelayLine
from truemoment.media.audio.sources import Source
from truemoment.worlds.described.damage import Damage
from truemoment.worlds.described.writing import write_sound

from ..thorough import quick_are

RATE_HZ = 16_000


def line_of(piece):
    return DelayLine(piece.rate, piece.delay_s, 0.0)


def edges(film, track, true, *, by_waveform=True):
    """Place the edges between two true pieces, each known but for 30 s before and behind its end."""
    first, second = true
    end_s, start_s = first.track_s[1], second.track_s[0]
    lines = (line_of(of)._replace(by_waveform=by_waveform) for of in true)
    before = SureLine(next(lines), (first.track_s[0] + 10, end_s - 30))
    after = SureLine(next(lines), (start_s + 30, second.track_s[1] - 10))
    return place_cut(film, track, before, after, (end_s - 30, start_s + 30)), (end_s, start_s)


def drawn_edit(seed, duration_s):
    """A cut or an insertion of 5 to 120 s, and at which bit rate the track goes through MP3: half of them do."""
    rng = np.random.default_rng(seed)
    at, length = float(rng.uniform(0.25, 0.6)) * duration_s, float(rng.uniform(5, 120))
    if seed % 2:
        return Damage(cuts=((at, min(length, 0.3 * duration_s)),)), (None, 64_000, 32_000)[seed % 3]
    return Damage(insertions=((at, length),)), (None, 64_000, 32_000)[seed % 3]


def through_mp3(track, bitrate, folder):
    write_sound(folder / "track.mp3", track.between(0, len(track.stored)), RATE_HZ, "mp3", bitrate)
    return record(Source(folder / "track.mp3"))


@pytest.mark.parametrize("seed", quick_are([0, 1], range(30)))  # an insertion, a cut through MP3
def test_cuts_and_insertions_of_5_to_120_s_are_placed_within_a_tenth_of_a_second(made_film, tmp_path, seed):
    damage, bitrate = drawn_edit(seed, made_film.script.duration_s)
    track, true = made_film.damaged(damage, seed=seed)
    if bitrate:
        track = through_mp3(track, bitrate, tmp_path)
    found, places = edges(made_film.recording, track, true)
    for edge, place in zip(found, places, strict=True):
        assert abs(edge.at_s - place) <= 0.1  # specification of collect, 4.4
        assert abs(edge.at_s - place) <= edge.error_s


def test_a_part_that_is_replaced_leaves_a_gap_on_both_sides(made_film):
    at = 0.45 * made_film.script.duration_s
    track, true = made_film.damaged(Damage(cuts=((at, 20.0),), insertions=((at, 12.0),)))
    found, places = edges(made_film.recording, track, true)
    assert places[1] - places[0] == pytest.approx(12.0)
    assert [edge.at_s for edge in found] == pytest.approx(places, abs=0.15)


def test_a_line_reaches_to_the_end_under_the_narrator_and_over_silence(made_film):
    track, (piece,) = made_film.damaged(Damage(gain_db=-20, compression=4))
    line = SureLine(line_of(piece), (90.0, 120.0))
    for end_s in piece.track_s:
        assert reach_of(made_film.recording, track, line, end_s) == (end_s, 0.0)


def test_a_film_is_heard_along_its_own_line_alone(made_film):
    track, (piece,) = made_film.damaged(Damage(gain_db=-20, compression=4))
    for by_waveform in (True, False):
        line = line_of(piece)._replace(by_waveform=by_waveform)
        assert is_heard(made_film.recording, track, SureLine(line, (90.0, 120.0)))
        other = line._replace(delay_s=piece.delay_s + 12)
        assert not is_heard(made_film.recording, track, SureLine(other, (90.0, 120.0)))


def test_a_line_ends_where_other_sound_begins(made_film):
    track, (piece,) = made_film.damaged()
    rng = np.random.default_rng(0)
    samples = track.between(0, len(track.stored))
    low, high = (round(edge_s * RATE_HZ) for edge_s in (40.0, 200.0))
    power = np.sqrt(np.mean(samples**2)) * 0.1
    samples[:low], samples[high:] = (rng.standard_normal(n, np.float32) * power for n in (low, len(samples) - high))
    line = SureLine(line_of(piece), (90.0, 120.0))
    for end_s, wanted in zip(piece.track_s, (40.0, 200.0), strict=True):
        edge = reach_of(made_film.recording, Recording.of(samples, RATE_HZ), line, end_s)
        assert abs(edge.at_s - wanted) <= edge.error_s == pytest.approx(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", quick_are([0], range(4)))
def test_edges_of_time_stretched_tracks_lie_within_the_error_that_is_stated(made_film, seed):
    damage, _ = drawn_edit(seed, made_film.script.duration_s)
    damage = replace(damage, rate=(25 / 24, 24 / 25)[seed % 2], stretched=True)
    track, true = made_film.damaged(damage, seed=seed)
    found, places = edges(made_film.recording, track, true, by_waveform=False)
    for edge, place in zip(found, places, strict=True):
        assert edge.error_s >= 1.0  # specification of collect, 4.4
        assert abs(edge.at_s - place) <= edge.error_s
