"""Pieces stay in order on the track and in the film, wherever their evidence puts their edges."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment.media.audio import cuts, placing
from truemoment.media.audio.alignment import Piece, faults_of
from truemoment.media.audio.cuts import SureLine, place_cut
from truemoment.media.audio.pieces import MatchedRun
from truemoment.media.audio.placing import Placing
from truemoment.media.audio.refining import DelayLine
from truemoment.worlds.described.damage import Damage

DURATION_S = 400.0


class Drawn:
    """Stands for the evidence of a line: drawn, so that edges may lie anywhere."""

    def __init__(self, _film, _track, line, form, _sure_s):
        self.line, self.form = line, form

    def evidence_up_to(self, start_s, n_frames):
        rng = np.random.default_rng([int(1e6 * abs(of)) for of in (start_s, *self.line[:2])])
        steps = rng.normal(0.0, 1.0, abs(n_frames)) * 10 ** rng.uniform(0, 3)
        return np.concatenate([[0.0], np.cumsum(steps)])


def lines(rate):
    """Lines of about one rate: windows of 20 s give it to some millionths, bands to less."""
    off = st.floats(-1e-3, 1e-3) | st.floats(-1e-6, 1e-6)
    return st.builds(
        lambda off, delay_s, by_waveform: DelayLine(rate * (1 + off), delay_s, 0.0, 9, 9, by_waveform),
        off,
        st.floats(-120, 120),
        st.booleans(),
    )


@settings(max_examples=100)
@given(lines(1.0), lines(1.0), st.floats(0, 100), st.floats(-10, 100))
def test_the_second_edge_of_a_cut_is_not_before_the_first(before, after, low_s, length_s):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "Explained", Drawn)
        sure = [SureLine(before, (low_s - 30, low_s)), SureLine(after, (low_s + length_s, low_s + length_s + 30))]
        end, start = place_cut(None, None, *sure, (low_s, low_s + length_s))
    pieces = [Piece((end.at_s - 500, end.at_s), *before[:3]), Piece((start.at_s, start.at_s + 500), *after[:3])]
    assert not faults_of(pieces)


# Runs: the start of the first window after the run before (they may overlap), number of windows, jump of the delay.
runs = st.lists(st.tuples(st.floats(-25, 60), st.integers(1, 6), st.floats(-60, 60)), min_size=1, max_size=5)


@settings(max_examples=100)
@given(runs, st.sampled_from([1.0, 25 / 24, 24 / 25]), st.floats(-20, 20))
def test_pieces_are_in_order_whatever_runs_are_found(made, rate, delay_s):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "Explained", Drawn)
        patch.setattr(placing, "refine", lambda _, line, __: line._replace(rate=rate_near(line), n_agreeing=9))
        patch.setattr(placing, "is_heard", lambda *_: True)
        sound = SimpleNamespace(duration_s=DURATION_S)
        placed = Placing(SimpleNamespace(film=sound, track=sound), rate, 0.0, [])
        at_s = 0.0
        for gap_s, n, jump_s in made:
            starts = at_s + gap_s + 15.0 * np.arange(n)
            delay_s += jump_s
            placed.add(MatchedRun(starts, np.full(n, delay_s)))
            at_s = float(starts[-1])
        pieces = placed.pieces()
    assert not faults_of(pieces)


def rate_near(line):
    """The exact rate of a run: some millionths from that of the others, by its delay."""
    return line.rate * (1 + 1e-5 * np.sin(1000 * line.delay_s))


def test_a_run_without_a_part_of_its_own_is_left_out_and_its_neighbours_meet(monkeypatch):
    """The edges of a run of one window between two others cross: the cut before it lies behind the cut after it."""
    sound = SimpleNamespace(duration_s=DURATION_S)
    placed = Placing(SimpleNamespace(film=sound, track=sound), 1.0, 0.0, [])
    monkeypatch.setattr(placing, "refine", lambda _, line, __: line._replace(n_agreeing=9))
    monkeypatch.setattr(placing, "is_heard", lambda *_: True)
    for start_s, n, delay_s in ((0.0, 6, 0.0), (90.0, 1, 10.0), (105.0, 6, 20.0)):
        placed.add(MatchedRun(start_s + 15.0 * np.arange(n), np.full(n, delay_s)))
    edges = {(0.0, 10.0): (112.0, 112.0), (10.0, 20.0): (103.0, 103.0), (0.0, 20.0): (105.0, 105.0)}

    def place(_film, _track, before, after, _between_s):
        return tuple(cuts.Edge(at_s, 0.1) for at_s in edges[before.line.delay_s, after.line.delay_s])

    monkeypatch.setattr(placing, "place_cut", place)
    monkeypatch.setattr(placing, "reach_of", lambda _film, _track, _of, end_s: cuts.Edge(end_s, 0.0))
    assert [piece.track_s for piece in placed.pieces()] == [(0.0, 105.0), (105.0, 380.0)]


def test_an_insertion_between_lines_of_rates_some_millionths_apart_does_not_overlap_in_the_film(made_film):
    # As film016 of benchmarks/collect_scale.py: rates of 0.9999998 and 1.00000003, an overlap of 3 microseconds.
    at_s = 0.5 * made_film.script.duration_s
    track, (first, second) = made_film.damaged(Damage(insertions=((at_s, 9.0),)))
    end_s, start_s = first.track_s[1], second.track_s[0]
    before = DelayLine(1 - 2e-7, first.delay_s + 1e-5, 0.0)
    after = DelayLine(1 + 1e-7, second.delay_s - 2.1e-5, 0.0)
    sure = SureLine(before, (end_s - 60, end_s - 15)), SureLine(after, (start_s + 40, start_s + 60))
    end, start = place_cut(made_film.recording, track, *sure, (end_s - 15, start_s + 40))
    assert (end.at_s, start.at_s) == pytest.approx((end_s, start_s), abs=0.1)
    pieces = [Piece((10.0, end.at_s), *before[:3]), Piece((start.at_s, start.at_s + 60), *after[:3])]
    assert not faults_of(pieces)
