"""Moments on a grid: which grid is found, and even moments on it are even by every figure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment import Annotations
from truemoment.base.cells import region_of
from truemoment.base.errors import InputError
from truemoment.studies.bias.grids import N_STEPS, Grid, draw_distinct, even_on_steps, grid_moments
from truemoment.studies.bias.locations import Locations
from truemoment.studies.bias.spread import constant_bias, evenness

pytestmark = pytest.mark.slow


def marked(moments):
    """Locations of (video, duration, start, end), a query each."""
    rows = [(f"q{n}", video, duration, "s", start, end) for n, (video, duration, start, end) in enumerate(moments)]
    return Locations.of(Annotations.from_rows(rows))


def even_sample(rng, n, durations, step_s, *, videos=None, to_the_end=False):
    """Moments drawn from a list of all that a grid has in their video; a video each, or of a few videos."""
    videos = n if videos is None else videos
    duration = rng.choice(durations, size=videos).tolist()
    chosen = []
    for row in range(n):
        video = row if videos == n else int(rng.integers(videos))
        times = [k * step_s for k in range(int(duration[video] / step_s + 1e-9) + 1)]
        if to_the_end and duration[video] - times[-1] > 1e-6:
            times.append(duration[video])
        pairs = [(start, end) for start in times for end in times if end > start]
        chosen.append((f"v{video}", duration[video], *pairs[rng.integers(len(pairs))]))
    return marked(chosen)


# ----------------------------------------------------------------------------- even moments are even

SIX, MANY, ODD = (30.0,), (150.0, 126.0, 138.0), (26.3, 28.9, 31.4, 33.0)


@pytest.mark.parametrize(
    ("n", "samples", "durations", "step_s", "more"),
    [
        pytest.param(5, 60, SIX, 5.0, {}, marks=pytest.mark.thorough),
        (30, 40, (25.0, *SIX), 5.0, {}),
        pytest.param(300, 20, SIX, 5.0, {}, marks=pytest.mark.thorough),
        (300, 20, SIX, 5.0, {"videos": 20}),  # most moments are asked for by several sentences, by chance
        pytest.param(3000, 5, MANY, 2.0, {}, marks=pytest.mark.thorough),
        (300, 20, ODD, 5.0, {}),  # the rest of the video is never marked
        (300, 20, ODD, 5.0, {"to_the_end": True}),
    ],
)
def test_even_moments_on_a_grid_have_no_bits_and_no_excess(n, samples, durations, step_s, more):
    # Held against all (start, end), as they were, 300 moments of six segments had 2.9 bits and an excess of -0.055, and
    # 3,000 on steps of 2 s 0.012 bits and -0.007.
    bits, excess, p_values = [], [], []
    for seed in range(samples):
        rng = np.random.default_rng([seed, n])
        where = even_sample(rng, n, durations, step_s, **more)
        even, constant = evenness(where, rng, draws=40), constant_bias(where, rng, draws=40)
        bits.append(even.below_even_bits)
        excess.append(constant.excess)
        p_values += [even.p_value, constant.p_value]
    for figures in (np.array(bits), np.array(excess)):
        assert abs(figures.mean()) < 4 * figures.std(ddof=1) / math.sqrt(samples)
    assert np.mean(np.array(p_values) < 0.05) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / len(p_values))


def test_rounded_times_are_as_even_as_others():
    # Twentieths of the video, in hundredths of a second: constants tie with them at IoU 0.5, and rounding breaks ties.
    excess, bits = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pairs = np.stack(np.triu_indices(20), axis=1)[rng.integers(210, size=200)] + [0, 1]
        duration = rng.uniform(20, 40, 200).round(2)
        times = (pairs * duration[:, None] / 20).round(2)
        where = marked([(f"v{n}", *of) for n, of in enumerate(np.column_stack([duration, times]).tolist())])
        even = evenness(where, rng, draws=40)
        assert even.grid == Grid(0.05, "share")
        bits.append(even.below_even_bits)
        excess.append(constant_bias(where, rng, draws=40).excess)
    for figures in (np.array(bits), np.array(excess)):
        assert abs(figures.mean()) < 4 * figures.std(ddof=1) / math.sqrt(20)


# ------------------------------------------------------------------------------- against loops and by hand


def slow_bits(where, step_s):
    """Sum of p log2(p / q) over regions; q is the mean of the even spreads of all videos, listed pair by pair."""
    p, q, even_bits = {}, {}, 0.0
    shortest = step_s / where.duration_s.max()

    def region(first, stop, n):
        return int(region_of(np.array([[first / n, stop / n]]), shortest, N_STEPS)[0])

    for (start, end), duration in zip(where.start_end_norm.tolist(), where.duration_s.tolist(), strict=True):
        n = round(duration / step_s)
        own = region(round(start * n), round(end * n), n)
        p[own] = p.get(own, 0) + 1 / len(where)
        pairs = [(a, b) for a in range(n) for b in range(a + 1, n + 1)]
        even_bits += math.log2(len(pairs)) / len(where)
        for pair in pairs:
            at = region(*pair, n)
            q[at] = q.get(at, 0) + 1 / len(pairs) / len(where)
    return sum(share * math.log2(share / q[at]) for at, share in p.items()), even_bits


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(6, 20))
def test_bits_on_segments_are_those_of_a_loop(seed, n):
    rng = np.random.default_rng(seed)
    where = even_sample(rng, n, (25.0, 30.0), 5.0)
    even = evenness(where, rng, draws=2)
    if even.grid == Grid(5.0, "seconds"):  # so few may lie on a coarser one, or on none
        assert (even.raw_bits, even.even_bits) == pytest.approx(slow_bits(where, 5.0), abs=1e-9)
        assert even.entropy_bits == pytest.approx(even.even_bits - even.below_even_bits, abs=1e-12)


def test_six_segments_have_log2_of_21_bits():
    # Every pair once, and one pair thrice more: 24 moments, log2(21) less the entropy of (4, 1, 1, ...) / 24.
    pairs = [(a, b) for a in range(6) for b in range(a + 1, 7)]
    moments = [(f"v{n}", 30.0, 5.0 * a, 5.0 * b) for n, (a, b) in enumerate([*pairs, *[(0, 1)] * 3])]
    even = evenness(marked(moments), np.random.default_rng(0), draws=2)
    entropy = 4 / 24 * math.log2(24 / 4) + 20 / 24 * math.log2(24)
    assert even.raw_bits == pytest.approx(math.log2(21) - entropy, abs=1e-12)
    assert even.even_bits == pytest.approx(math.log2(21), abs=1e-12)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 20))
def test_regions_of_a_grid_are_those_of_its_moments(n_steps, fewest, finer):
    fewest = min(fewest, n_steps)
    shortest = fewest / (n_steps + finer)
    moments = [(a / n_steps, b / n_steps) for a in range(n_steps) for b in range(a + fewest, n_steps + 1)]
    if shortest == 1:
        return
    counts = np.bincount(region_of(np.array(moments), shortest, N_STEPS), minlength=N_STEPS**2)
    share = even_on_steps(np.array([n_steps]), np.array([fewest]), shortest)
    np.testing.assert_allclose(share, counts / len(moments), atol=1e-12)


def test_chance_on_a_grid_is_what_a_plain_simulation_gives():
    # 200 moments in 40 videos of six segments; starts drawn one by one, those of one video and length apart. Both are
    # means of 200 draws, whose standard deviation is about 0.02.
    rng = np.random.default_rng(3)
    where = even_sample(rng, 200, SIX, 5.0, videos=40)
    edges = np.linspace(0, 1, 21)
    constants = np.array([[a, b] for a in edges for b in edges if b > a])
    kept = {}
    for video, (start, end) in zip(where.video.tolist(), (where.start_end_norm * 6).round().tolist(), strict=True):
        of_length = kept.setdefault((video, end - start), {})
        of_length[start] = of_length.get(start, 0) + 1
    best = []
    for _ in range(200):
        drawn = []
        for (_, length), counts in kept.items():
            starts = rng.permutation(int(7 - length))[: len(counts)]
            drawn += [(s, s + length) for s, n in zip(starts, counts.values(), strict=True) for _ in range(n)]
        moments = np.array(drawn)[:, None] / 6
        overlap = np.minimum(moments[..., 1], constants[:, 1]) - np.maximum(moments[..., 0], constants[:, 0])
        whole = np.diff(moments)[..., 0] + np.diff(constants)[:, 0] - np.maximum(overlap, 0)
        best.append((overlap / whole > 0.5 + 1e-9).mean(axis=0).max())
    found = constant_bias(where, np.random.default_rng(4), draws=200)
    assert found.even_value == pytest.approx(np.mean(best), abs=0.008)


def test_distinct_moments_of_a_video_stay_distinct():
    owner, n_places = np.repeat([0, 1, 2], [3, 2, 1]), np.repeat([3, 4, 5], [3, 2, 1])
    drawn = np.stack([draw_distinct(owner, n_places, np.random.default_rng(seed)) for seed in range(2400)])
    assert np.all(np.sort(drawn[:, :3], axis=1) == [0, 1, 2])
    assert np.all(drawn[:, 3] != drawn[:, 4])
    # Each of the 3! orders, the 4 x 3 pairs and the 5 places is as likely: standard deviations of 18, 14 and 20.
    for columns, n_expected in ((drawn[:, :3], 6), (drawn[:, 3:5], 12), (drawn[:, 5:], 5)):
        counts = np.unique(columns, axis=0, return_counts=True)[1]
        assert len(counts) == n_expected
        assert np.abs(counts - 2400 / n_expected).max() < 90


# ------------------------------------------------------------------------------------- which grid is found


def random_moments(n, *, decimals=None, seed=0):
    """Moments anywhere in videos of about 30 s, in rounded seconds."""
    rng = np.random.default_rng(seed)
    duration = rng.uniform(25, 35, n).round(2)
    times = np.sort(rng.random((n, 2)), axis=1) * (duration[:, None] - 2) + [0, 1]
    times = times if decimals is None else times.round(decimals)
    return [(f"v{row}", *of) for row, of in enumerate(np.column_stack([duration, times]).tolist())]


@pytest.mark.parametrize(
    ("durations", "step_s", "more", "expected"),
    [
        (SIX, 5.0, {}, Grid(5.0, "seconds")),  # 1/6 of the video as well: seconds, where both fit
        ((25.0, 30.0), 5.0, {}, Grid(5.0, "seconds")),  # 1/30 of the video as well, which is finer
        (MANY, 2.0, {}, Grid(2.0, "seconds")),
        (ODD, 5.0, {}, Grid(5.0, "seconds")),
        (ODD, 5.0, {"to_the_end": True}, Grid(5.0, "seconds", to_the_end=True)),
        ((12.8, 17.0667), 4.2666, {}, Grid(4.2666, "seconds")),
    ],
)
def test_the_grid_is_named(durations, step_s, more, expected):
    found = grid_moments(even_sample(np.random.default_rng(0), 100, durations, step_s, **more))
    assert found.grid == expected
    assert np.all((found.first >= 0) & (found.first <= found.last) & (found.last < found.n_steps))


def test_rounded_times_and_those_of_one_place_say_nothing():
    assert grid_moments(marked(random_moments(200))) is None
    assert grid_moments(marked(random_moments(200, decimals=1))) is None  # 300 steps a video: no figure shows it
    assert grid_moments(marked(random_moments(200, decimals=0))).grid == Grid(1.0, "seconds")
    assert grid_moments(marked([(f"v{n}", 10.0, 2.0, 5.0) for n in range(300)])) is None
    assert grid_moments(marked([("v", 10.0, 0.0, 3.7), ("v", 10.0, 3.7, 10.0)])) is None


def test_a_few_moments_off_the_grid_are_refused_with_a_reason():
    # One stray time would make the grid 0.1 s, or none, and even moments 3.6 bits uneven again.
    on = even_sample(np.random.default_rng(0), 99, SIX, 5.0)
    rows = [(f"v{n}", 30.0, *(30 * times).tolist()) for n, times in enumerate(on.start_end_norm)]
    where = marked([*rows, ("stray", 30.0, 2.3, 7.1)])
    for statistic in (evenness, constant_bias):
        with pytest.raises(InputError, match=r"98\.\d % of the moments are on a grid of 5 s and 1 is not"):
            statistic(where, np.random.default_rng(0), draws=2)
    half = marked([*rows, *random_moments(99)])
    assert evenness(half, np.random.default_rng(0), draws=2).grid is None


def test_a_shortest_moment_can_be_given_on_a_grid():
    rng = np.random.default_rng(0)
    moments = [("v", 30.0, 5.0 * start, 5.0 * end) for start in range(5) for end in range(start + 2, 7)]
    found = evenness(marked(moments), rng, draws=2, shortest_norm=0.3)
    assert found.grid == Grid(5.0, "seconds")
    assert found.raw_bits == pytest.approx(0, abs=1e-12)  # the 15 moments of two segments or more, each once
    assert found.even_bits == pytest.approx(math.log2(15))


@given(st.data())
def test_odd_files_are_counted_or_refused(data):
    """Whatever is marked in steps: steps lie in the video, and figures are finite."""
    step = data.draw(st.sampled_from([0.5, 1.0, 2.0, 7.0]))
    moments = []
    for n in range(data.draw(st.integers(2, 25))):
        duration = data.draw(st.sampled_from([3.0, 10.0, 10.01, 14.3, 700.0]))
        start = data.draw(st.integers(0, 9)) * step
        length = data.draw(st.sampled_from([step, 2 * step, 50 * step, 0.003]))
        moments.append((f"v{n % 7}", duration, min(start, duration - 0.001), start + length + 0.001))
    where = marked(moments)
    try:
        found = grid_moments(where)
        even = evenness(where, np.random.default_rng(0), draws=2)
        constant = constant_bias(where, np.random.default_rng(0), draws=2)
    except InputError:
        return
    assert math.isfinite(even.raw_bits)
    assert 0 <= constant.even_value <= 1
    if found is not None:
        assert np.all((found.first >= 0) & (found.first <= found.last) & (found.last < found.n_steps))


# ---------------------------------------------------------------------------------------------- as before


def test_off_a_grid_figures_are_what_they_were():
    # Computed by this package before it knew of grids (commit 89232cb).
    draws = np.random.default_rng(1).random((60 * 500, 2))
    moments, number = draws[draws[:, 1] - draws[:, 0] >= 0.05][:500], np.arange(500)
    where = Locations(moments, number, number, number)
    even = evenness(where, np.random.default_rng(0), draws=20)
    assert (even.below_even_bits, even.by_chance_bits) == (-0.01156719685034463, 0.4276068981064996)
    assert (even.entropy_bits, even.p_value, even.grid) == (-1.1390464872587185, 14 / 21, None)
    constant = constant_bias(where, np.random.default_rng(0), draws=20)
    assert (constant.value, constant.even_value, constant.p_value) == (0.4, 0.4122, 17 / 21)
    assert constant.grid is None


@pytest.mark.data
@pytest.mark.parametrize(
    ("dataset", "split", "grid"),
    [
        ("didemo", "val", "5 s"),
        ("qvhighlights", "val", "2 s"),
        ("human-charades", "test", "1/100 of the video"),
        ("charades-sta", "test", None),
        ("activitynet-captions", "val_2", None),
        ("tacos", "test", None),
    ],
)
def test_grids_of_the_field(data_dir, dataset, split, grid):
    # Issue 19, point 10: segments of 5 s and clips of 2 s; the re-annotations' files have whole per cent.
    from truemoment.data.datasets import load_annotations

    found = grid_moments(Locations.of(load_annotations(dataset, split, data_dir=data_dir)))
    assert (None if found is None else found.grid.name) == grid


@pytest.mark.data
def test_didemo_is_held_against_its_segments(data_dir):
    # docs/bias.md: 0.80 bits on its grid. Within each duration, log2 of its pairs less their entropy; a region holds
    # moments of both durations here and there, which takes off 0.00002 bits.
    from truemoment.data.datasets import load_annotations

    where = Locations.of(load_annotations("didemo", "val", data_dir=data_dir))
    found = evenness(where, np.random.default_rng(0), draws=20)
    bits = 0.0
    for length in (25, 30):
        of = where.duration_s == length
        _, counts = np.unique((where.start_end_norm[of] * length / 5).round(), axis=0, return_counts=True)
        share = counts / counts.sum()
        bits += of.mean() * (np.log2(length / 5 * (length / 5 + 1) / 2) + share @ np.log2(share))
    assert found.raw_bits == pytest.approx(bits, abs=1e-4)
    assert round(found.below_even_bits, 2) == 0.80
