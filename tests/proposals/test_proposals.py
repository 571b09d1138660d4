"""Proposal schemes: against constructions step by step, and what every scheme keeps to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import (
    DiagonalMap,
    FrameProposals,
    MultiScale,
    SlidingWindows,
    SparseMap,
    WindowedGrid,
    _distinct,
    read_proposals,
)

SCHEMES = {
    "sliding windows": SlidingWindows(),
    "sliding windows, thirds": SlidingWindows(lengths=(1.0, 0.3), overlap=0.75),
    "sliding windows, a hair too long": SlidingWindows(lengths=(0.3333333335,), overlap=0.0),
    "sparse map of 16": SparseMap(),
    "sparse map of 64": SparseMap(64),
    "sparse map of 1": SparseMap(1),
    "sparse map of 21": SparseMap(21),
    "diagonals": DiagonalMap(64, (5, 8, 8, 8)),
    "more diagonals than clips": DiagonalMap(9, (3, 8)),
    "windowed grid": WindowedGrid(),
    "short windows": WindowedGrid(window_frames=32, stride_frames=8, fps=3.0, n_clips=16, diagonals=(3, 2)),
    "covered tail": WindowedGrid(tail="covered"),
    "short windows, covered tail": WindowedGrid(32, 12, 3.0, 16, (3, 2), tail="covered"),
    "several scales": MultiScale((WindowedGrid(16, 8, 3.0, 16), WindowedGrid(64, 32, 3.0, 16, tail="covered"))),
}


def pairs(columns):
    """(first, last) of each cell, or (start, end) of each moment, as a list."""
    return list(zip(*(column.tolist() for column in columns), strict=True))


# ---- What every scheme keeps to


@pytest.mark.parametrize("name", SCHEMES)
@given(duration_s=st.floats(0.05, 300.0))
def test_any_scheme_on_any_video(name, duration_s):
    scheme = SCHEMES[name]
    start, end = scheme.moments(duration_s)
    assert int(scheme.count(np.array(duration_s))) == len(start) == len(end)
    assert np.all(start >= 0)
    assert np.all(start < end)
    assert np.all(end <= duration_s)
    assert np.issubdtype(start.dtype, np.float64)
    assert np.issubdtype(end.dtype, np.float64)


@pytest.mark.parametrize("name", SCHEMES)
def test_count_takes_many_durations_at_once(name):
    durations = np.array([0.5, 3.0, 12.3, 25.6, 25.7, 60.0, 471.3, 6600.0])
    counts = SCHEMES[name].count(durations)
    assert counts.shape == durations.shape
    assert counts.dtype == np.int64
    assert counts.tolist() == [len(SCHEMES[name].moments(duration_s)[0]) for duration_s in durations]


@pytest.mark.parametrize("name", SCHEMES)
def test_any_proposal_by_number(name):
    scheme, duration_s = SCHEMES[name], 123.4
    start, end = scheme.moments(duration_s)
    number = np.random.default_rng(0).integers(len(start), size=300)
    some_start, some_end = scheme.moments(duration_s, number)
    assert np.array_equal(some_start, start[number])
    assert np.array_equal(some_end, end[number])
    none_start, none_end = scheme.moments(duration_s, np.zeros(0, dtype=np.int64))
    assert (len(none_start), len(none_end)) == (0, 0)


# ---- Sliding windows


@pytest.mark.parametrize("lengths", [(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), (0.25,), (1 / 3, 0.07)])
@pytest.mark.parametrize("overlap", [0.0, 0.5, 0.75])
def test_sliding_windows_against_a_slow_loop(lengths, overlap):
    # A window begins a share 1 - overlap of its length after the one before, as long as it ends within the video.
    expected = []
    for length in lengths:
        k = 0
        while k * length * (1 - overlap) + length <= 1 + 1e-9:
            expected.append((k * length * (1 - overlap) * 50, (k * length * (1 - overlap) + length) * 50))
            k += 1
    found = SlidingWindows(lengths=lengths, overlap=overlap).moments(50.0)
    np.testing.assert_allclose(np.transpose(found), expected, rtol=0, atol=1e-6)


def test_sliding_windows_by_hand():
    # Halves of 8 s with half overlap begin at 0, 2 and 4 s; the last step, 6 s, would end past the video.
    assert pairs(SlidingWindows(lengths=(0.5,)).moments(8.0)) == [(0, 4), (2, 6), (4, 8)]
    # Default: windows of k tenths begin every k / 20: floor((1 - k / 10) / (k / 20)) + 1 = floor(20 / k) - 1 of them.
    assert SlidingWindows().count(np.zeros(2)).tolist() == [sum(20 // k - 1 for k in range(1, 11))] * 2


def test_default_windows_cover_every_part_of_the_video():
    start, end = SlidingWindows().moments(100.0)
    for length in (10, 20, 50, 100):  # lengths that fit a whole number of times
        chosen = np.isclose(end - start, length)
        edges = np.sort(start[chosen]), np.sort(end[chosen])
        assert edges[0][0] == 0
        assert edges[1][-1] == 100
        assert np.all(edges[0][1:] <= edges[1][:-1])  # none begins after the one before has ended


@pytest.mark.parametrize("lengths", [(), (0.0,), (0.5, 1.5), (-0.1,), (float("nan"),)])
def test_impossible_window_lengths(lengths):
    with pytest.raises(UsageError, match="expected shares of the video, above 0 up to 1"):
        SlidingWindows(lengths=lengths)


@pytest.mark.parametrize("overlap", [1.0, -0.1, float("nan")])
def test_impossible_overlap(overlap):
    with pytest.raises(UsageError, match="expected 0 to below 1"):
        SlidingWindows(overlap=overlap)


# ---- 2D-TAN's sparse map

# Scale lists of 2D-TAN's released settings for N = 16, 64, 128 (specs/tan2d.md, 2.2); N = 32 and 256 go on likewise.
SCALE_LISTS = {16: (16,), 32: (16, 8), 64: (16, 8, 8), 128: (16, 8, 8, 8), 256: (16, 8, 8, 8, 8)}


def by_scales(n_clips, scales):
    """Walk the pyramid: scale g has `scales[g]` diagonals, 2^g apart and with a start every 2^g clips."""
    cells, offset, step = set(), -1, 1
    for many in scales:
        for _ in range(many):
            offset += step
            for first in range(0, n_clips, step):
                if first + offset < n_clips:
                    cells.add((first, first + offset))
        step *= 2
    return cells


@pytest.mark.parametrize("n_clips", SCALE_LISTS)
def test_sparse_map_against_the_pyramid(n_clips):
    cells = pairs(SparseMap(n_clips).cells)
    assert len(set(cells)) == len(cells)
    assert set(cells) == by_scales(n_clips, SCALE_LISTS[n_clips])
    assert (0, n_clips - 1) in cells  # the whole video is always a cell


@pytest.mark.parametrize(("n_clips", "diagonals"), [(16, (15,)), (32, (15, 8)), (64, (15, 8, 8)), (128, (15, 8, 8, 8))])
def test_2d_tans_map_by_its_diagonals(n_clips, diagonals):
    """vlg_net.md, section 10: the pooling counts [15] and [15, 8, 8] are 2D-TAN's map."""
    cells = pairs(DiagonalMap(n_clips, diagonals).cells)
    assert len(set(cells)) == len(cells)
    assert set(cells) == set(pairs(SparseMap(n_clips).cells))


@pytest.mark.parametrize(("n_clips", "count"), [(64, 626), (256, 3101)])
def test_vlg_nets_map(n_clips, count):
    """vlg_net.md, section 5: cells on MAD, where they are those of a window, and on TACoS."""
    cells = pairs(DiagonalMap(n_clips, (5, 8, 8, 8)).cells)
    assert len(cells) == count
    assert set(cells) == by_scales(n_clips, (6, 8, 8, 8))
    assert n_clips != 64 or cells == pairs(WindowedGrid().cells)


def test_sparse_map_offsets_and_steps():
    # specs/tan2d.md, 2.2, word for word: which diagonals there are, and how far apart starts lie on them.
    first, last = SparseMap(128).cells
    steps = dict.fromkeys(range(16), 1)
    steps |= dict.fromkeys(range(17, 32, 2), 2)
    steps |= dict.fromkeys(range(35, 64, 4), 4)
    steps |= dict.fromkeys(range(71, 128, 8), 8)
    assert sorted(set((last - first).tolist())) == sorted(steps)
    for offset, step in steps.items():
        assert first[last - first == offset].tolist() == list(range(0, 128 - offset, step))


@pytest.mark.parametrize(("n_clips", "count"), [(16, 136), (64, 1104), (128, 2548)])
def test_sparse_map_counts(n_clips, count):
    # Valid cells, specs/tan2d.md, 2.2.
    assert SparseMap(n_clips).count(np.array([10.0, 500.0])).tolist() == [count, count]


def test_small_maps_hold_every_cell():
    for n_clips in range(1, 17):
        assert len(SparseMap(n_clips).cells[0]) == n_clips * (n_clips + 1) // 2


def test_sparse_map_seconds():
    # Cell (a, b) covers a / N to (b + 1) / N of the video (specs/tan2d.md, 2.2): two clips of 5 s.
    assert pairs(SparseMap(2).moments(10.0)) == [(0, 5), (0, 10), (5, 10)]


@pytest.mark.parametrize("n_clips", [0, -3])
def test_a_map_without_clips(n_clips):
    with pytest.raises(UsageError, match=f"got {n_clips} clips, expected 1 or more"):
        SparseMap(n_clips)


# ---- Windows of a long video


def slow_windows(duration_s, window, stride, fps):
    """Start frames: 0, S, 2S, ... strictly below ceil(duration * fps) - W (specs/clip_zero_shot.md, 2.1)."""
    limit = int(np.ceil(duration_s * fps)) - window
    starts, at = [], 0
    while at < limit:
        starts.append(at)
        at += stride
    return starts


def slow_grid(n_clips, counts):
    """Cells diagonal by diagonal, with a running offset and stride (specs/clip_zero_shot.md, 2.2)."""
    cells = [(i, i) for i in range(n_clips)]
    offset, stride = 0, 1
    for many in counts:
        for _ in range(many):
            offset += stride
            i = 0
            while i + offset < n_clips:
                cells.append((i, i + offset))
                i += stride
        stride *= 2
    return cells


@pytest.mark.parametrize("duration_s", [1.0, 25.59, 25.6, 25.61, 38.4, 38.41, 51.2, 64.03, 300.0])
@pytest.mark.parametrize("settings", [(128, 64, 5.0, 64, (5, 8, 8, 8)), (32, 8, 3.0, 16, (3, 2)), (10, 25, 2.0, 5, ())])
def test_windowed_grid_against_slow_loops(duration_s, settings):
    window, stride, fps, n_clips, counts = settings
    clip = window // n_clips
    expected = [
        ((at + i * clip) / fps, (at + (j + 1) * clip) / fps)
        for at in slow_windows(duration_s, window, stride, fps)
        for i, j in slow_grid(n_clips, counts)
    ]
    assert pairs(WindowedGrid(*settings).moments(duration_s)) == expected


def test_windowed_grid_offsets():
    # The lists of specs/clip_zero_shot.md, 2.2: offsets by group, and 64 + 305 + 204 + 52 + 1 = 626.
    first, last = WindowedGrid().cells
    offset = last - first
    groups = [[0], [1, 2, 3, 4, 5], [7, 9, 11, 13, 15, 17, 19, 21], [25, 29, 33, 37, 41, 45, 49, 53], [61]]
    assert list(dict.fromkeys(offset.tolist())) == [o for group in groups for o in group]
    assert [int(np.isin(offset, group).sum()) for group in groups] == [64, 305, 204, 52, 1]
    assert len(first) == 626
    # Shortest 0.4 s and longest 24.8 s (the same page): the whole window of 25.6 s is no proposal.
    start, end = WindowedGrid().moments(26.0)
    assert len(start) == 626
    assert ((end - start).min(), (end - start).max()) == pytest.approx((0.4, 24.8), abs=1e-12)


@pytest.mark.parametrize(
    ("n_clips", "diagonals", "count"),
    [(64, (15, 8, 8), 1104), (16, (15,), 136), (128, (15, 8, 8, 8), 2548), (256, (5, 8, 8, 8), 3101)],
)
def test_other_grids(n_clips, diagonals, count):
    # Anchor counts of specs/clip_zero_shot.md, 9; the first three are 2D-TAN's maps, built another way.
    cells = pairs(WindowedGrid(window_frames=n_clips, n_clips=n_clips, diagonals=diagonals).cells)
    assert len(cells) == count
    if n_clips < 256:
        assert sorted(cells) == sorted(pairs(SparseMap(n_clips).cells))


def test_a_video_no_longer_than_a_window_has_no_proposal():
    # 128 frames at 5 a second are 25.6 s; the 129th frame makes the first window (specs/clip_zero_shot.md, 2.1).
    assert WindowedGrid().count(np.array([0.1, 25.6, 25.6 + 1e-6, 38.4, 38.5])).tolist() == [0, 0, 626, 626, 2 * 626]


def test_proposals_in_an_overlap_appear_twice():
    # specs/clip_zero_shot.md, 2.2: the windows' stride is a multiple of every diagonal's, so proposals that lie wholly
    # within the 64 frames that two windows share appear in both. By a slow count: cells with both ends in a half.
    start, end = WindowedGrid().moments(38.5)
    moments = pairs((start, end))
    in_second_half = sum(i >= 32 for i, j in slow_grid(64, (5, 8, 8, 8)))
    assert len(moments) - len(set(moments)) == in_second_half


# ---- Windows that cover the tail


def slow_covered(n_frames, window, stride, clip, cells):
    """First and end frames, window by window: as published, and one window more that ends with the last frame.

    Where a video is shorter than a window, what goes on past its end is cut, and what begins there is none.
    """
    starts = [at for at in range(0, n_frames, stride) if at < n_frames - window]
    starts.append(max(n_frames - window, 0))
    spans = [(at + i * clip, min(at + (j + 1) * clip, n_frames)) for at in starts for i, j in cells]
    spans = [(first, end) for first, end in spans if first < n_frames]
    return list(dict.fromkeys(spans)) if n_frames < window else spans


GRIDS = [(128, 64, 64, (5, 8, 8, 8)), (32, 12, 16, (3, 2)), (16, 24, 8, (2,)), (24, 5, 8, (2, 2)), (8, 1, 4, (1, 1))]


@pytest.mark.parametrize("grid", GRIDS)
@settings(max_examples=25)
@given(n_frames=st.integers(1, 300))
def test_a_covered_tail_against_slow_loops(grid, n_frames):
    window, stride, n_clips, counts = grid
    grid = WindowedGrid(window, stride, 4.0, n_clips, counts, tail="covered")
    duration_s = (n_frames - 0.5) / 4  # the last frame is cut short
    expected = slow_covered(n_frames, window, stride, window // n_clips, slow_grid(n_clips, counts))
    assert int(grid.count(np.array(duration_s))) == len(expected)
    assert pairs(grid.moments(duration_s)) == [(first / 4, min(end / 4, duration_s)) for first, end in expected]
    # Every frame lies in a proposal, where windows leave no gap between them.
    if stride <= window:
        assert {frame for first, end in expected for frame in range(first, end)} == set(range(n_frames))


def test_durations_short_and_long_at_once():
    grid = WindowedGrid(32, 16, 4.0, 16, (3, 2), tail="covered")
    duration_s = np.array([0.1, 6.9, 0.1, 8.0, 3.3, 50.0])
    counts = [len(grid.moments(d)[0]) for d in duration_s]
    assert grid.count(duration_s).tolist() == counts
    assert len(set(counts)) == 5


def test_a_video_of_no_frames_has_no_proposal():
    assert WindowedGrid(tail="covered").count(np.array([0.0])).tolist() == [0]
    assert pairs(WindowedGrid(tail="covered").spans(0)) == pairs(WindowedGrid().spans(0)) == []


def test_an_unknown_tail():
    with pytest.raises(UsageError, match="got tail 'cut', expected dropped or covered"):
        WindowedGrid(tail="cut")


# ---- Spans of frames: every proposal once


FRAMED = {
    f"{grid}, {tail}": WindowedGrid(*grid[:2], 4.0, *grid[2:], tail=tail)
    for grid in GRIDS
    for tail in ("dropped", "covered")
}
FRAMED["two scales"] = MultiScale(
    (WindowedGrid(16, 8, 4.0, 8, (2,)), WindowedGrid(64, 32, 4.0, 16, (3, 2), tail="covered"))
)
FRAMED["the same twice"] = MultiScale((WindowedGrid(16, 8, 4.0, 8, (2,)), WindowedGrid(16, 8, 4.0, 8, (2,))))


@pytest.mark.parametrize("name", FRAMED)
@settings(max_examples=25)
@given(n_frames=st.integers(1, 400))
def test_spans_are_the_moments_without_copies(name, n_frames):
    # specs/clip_zero_shot.md, 2.2: de-duplication changes nothing; the first of each stays in its place.
    scheme = FRAMED[name]
    assert isinstance(scheme, FrameProposals)
    first, end = scheme.spans(n_frames)
    start_s, end_s = scheme.moments(n_frames / 4)
    expected = list(dict.fromkeys(zip((4 * start_s).tolist(), (4 * end_s).tolist(), strict=True)))
    assert list(zip(first.tolist(), end.tolist(), strict=True)) == expected
    assert np.all((first >= 0) & (first < end) & (end <= n_frames))


def test_spans_of_a_long_film():
    # By slow counts: what a window shares with the one before it are the cells that lie in both halves' overlap.
    cells = slow_grid(64, (5, 8, 8, 8))
    shared = sum((i + 32, j + 32) in set(cells) for i, j in cells)
    n_windows = len(slow_windows(6600, 128, 64, 5.0))
    assert len(WindowedGrid().spans(33_000)[0]) == n_windows * 626 - (n_windows - 1) * shared
    assert n_windows == 514  # 321,764 proposals, of which 190,436 differ


# ---- Proposals near a moment


@pytest.mark.parametrize("name", FRAMED)
@settings(max_examples=25)
@given(n_frames=st.integers(1, 400), start=st.floats(-10, 110), length=st.floats(0, 60))
def test_no_proposal_elsewhere_overlaps(name, n_frames, start, length):
    scheme, duration_s = FRAMED[name], n_frames / 4
    start_s, end_s = scheme.moments(duration_s)
    number = scheme.overlapping(duration_s, start, start + length)
    assert np.all(np.diff(number) > 0)
    assert np.all((number >= 0) & (number < len(start_s)))
    elsewhere = np.setdiff1d(np.arange(len(start_s)), number)
    assert not np.any((start_s[elsewhere] < start + length) & (end_s[elsewhere] > start))


def test_few_of_many_are_near():
    assert len(WindowedGrid().overlapping(6600.0, 3000.0, 3004.0)) <= 5 * 626


# ---- Several scales


def test_grids_that_do_not_go_together():
    with pytest.raises(UsageError, match="got windows at 2 and 5 frames a second, expected one or more, all at one"):
        MultiScale((WindowedGrid(), WindowedGrid(fps=2.0)))
    with pytest.raises(UsageError, match="got no window, expected one or more"):
        MultiScale(())


def test_any_numbers_of_several_scales():
    scheme = SCHEMES["several scales"]
    start, end = scheme.moments(120.0)
    number = np.random.default_rng(0).integers(0, len(start), 50)  # in any order, some twice
    assert [column.tolist() for column in scheme.moments(120.0, number)] == [
        start[number].tolist(),
        end[number].tolist(),
    ]


# ---- Impossible windows


@pytest.mark.parametrize(
    "settings",
    [{"window_frames": 0}, {"stride_frames": 0}, {"n_clips": 0}, {"fps": 0.0}, {"fps": float("nan")}, {"fps": -5.0}],
)
def test_impossible_windows(settings):
    with pytest.raises(UsageError, match="is not above 0"):
        WindowedGrid(**settings)


def test_clips_that_are_no_whole_number_of_frames():
    with pytest.raises(UsageError, match="got 60 clips in 128 frames, expected a divisor"):
        WindowedGrid(n_clips=60)


# ---- By name


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("sparse-map:16", SparseMap(16)),
        ("sparse-map:128", SparseMap(128)),
        ("sliding-windows", SlidingWindows()),
        ("windowed-grid", WindowedGrid()),
        ("windowed-grid:window=256", WindowedGrid(256, 128)),
        (
            "windowed-grid:stride=10,window=32,clips=16,fps=2.5,tail=covered",
            WindowedGrid(32, 10, 2.5, 16, tail="covered"),
        ),
        ("windowed-grid:tail=dropped", WindowedGrid()),
        (
            "windowed-grid:window=64,tail=covered+windowed-grid:window=256",
            MultiScale((WindowedGrid(64, 32, tail="covered"), WindowedGrid(256, 128))),
        ),
        ("windowed-grid+windowed-grid", MultiScale((WindowedGrid(), WindowedGrid()))),
    ],
)
def test_schemes_by_name(text, scheme):
    assert read_proposals(text) == scheme


@pytest.mark.parametrize(
    "text", ["", "sparse-map", "sparse-map:", "sparse-map:-1", "sparse-map:1.5", "sliding-windows:3", "Sparse-map:16"]
)
def test_unknown_schemes(text):
    with pytest.raises(UsageError) as caught:
        read_proposals(text)
    assert str(caught.value) == f"got proposals {text!r}, expected sparse-map:N, sliding-windows or windowed-grid"


def test_a_map_too_large_to_lay_out_is_refused():
    # 100,000 clips would take 10 GB before the first proposal is known.
    with pytest.raises(UsageError):
        read_proposals("sparse-map:100000")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("windowed-grid:", "got proposals 'windowed-grid:', expected sparse-map:N"),
        (
            "windowed-grid:windows=3",
            "got the key 'windows', expected one of window, stride",
        ),
        ("windowed-grid:fps=5,fps=5", "got the key 'fps' twice, expected it once"),
        ("windowed-grid:window=1.5", "window: got '1.5', expected a whole number"),
        ("windowed-grid:window=" + "9" * 5000, "expected a whole number"),
        ("windowed-grid:window=128,clips=60", "got 60 clips in 128 frames, expected a divisor"),
        ("windowed-grid:window=100000,clips=100000", "got 100000 clips in a window, expected 4096 or less"),
        ("windowed-grid:stride=1e308", "stride: got '1e308', expected a whole number below 1e+15"),
        ("windowed-grid:fps=1e9", "got 1e+09 frames a second, expected 1000 or less"),
        ("windowed-grid:fps=five", "fps: got 'five', expected a number"),
        ("windowed-grid:fps=inf", "fps: got 'inf', expected a number"),
        ("windowed-grid:tail=cut", "tail: got 'cut', expected dropped or covered"),
        ("windowed-grid+sparse-map:16", "got 'sparse-map:16' among windowed grids joined by '+'"),
        ("windowed-grid+", "got '' among windowed grids joined by '+'"),
        ("windowed-grid:fps=2+windowed-grid", "got windows at 2 and 5 frames a second"),
        ("sparse-map:" + "9" * 5000, "expected a whole number"),
    ],
)
def test_what_cannot_be_read(text, problem):
    with pytest.raises(UsageError) as caught:
        read_proposals(text)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="windowed-grid:=+,0123456789.fpstailcovered", max_size=40))
def test_any_text_is_read_or_refused(text):
    for tail in (text, f"windowed-grid:{text}"):
        try:
            scheme = read_proposals(tail)
        except UsageError:
            continue
        assert scheme is not None


def test_spans_are_alike_only_where_both_ends_are():
    """(0, 4) and (1, 1) are two: a product of the ends would not tell them apart."""
    first, end = _distinct(np.array([0, 1, 0, 1]), np.array([4, 1, 4, 2]))
    assert list(zip(first.tolist(), end.tolist(), strict=True)) == [(0, 4), (1, 1), (1, 2)]
