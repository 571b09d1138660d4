"""Windows in frames: the tables of the specification of CTRL (ctrl.md, section 8), and features of windows."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.baselines.targets import usable
from truemoment.data.datasets import load_annotations
from truemoment.learning.models import get_family
from truemoment.learning.models.base import Batch, Inputs, VideoRows
from truemoment.learning.models.sliding_windows import WindowPool, means_of_rows, positives, window_slots

from ..thorough import quick_are

pytestmark = pytest.mark.slow


CHARADES, ACTIVITYNET = (64, 128, 256, 512), (128, 256, 512, 1024, 2048)


def video(n_rows=60, duration_s=30.0, width=3, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n_rows, width)).astype(np.float32)
    return VideoRows(rows, np.linspace(0.0, duration_s, n_rows + 1), duration_s)


# ---- Windows


def test_steps_are_a_fifth_of_the_length():
    """Section 2.1: 12 frames for 64, 25 for 128; 63 (not 64) of 320 would be a rounding error of 1 - 0.8."""
    for length, step in ((64, 12), (128, 25), (256, 51), (512, 102), (320, 64)):
        start = 24 * WindowPool((length,)).windows_s(60.0)[:, 0]
        np.testing.assert_allclose(np.diff(start), step)
        assert start[0] == 0
        assert start[-1] + length <= 60 * 24 < start[-1] + length + step


def test_a_window_that_ends_with_the_video_counts():
    pool = WindowPool((64, 128))
    assert len(pool.windows_s(128 / 24)) == 6 + 1
    assert len(pool.windows_s(127.9 / 24)) == 6


def test_a_video_shorter_than_every_window_is_one_window():
    assert WindowPool(CHARADES).windows_s(2.5).tolist() == [[0.0, 2.5]]


@pytest.mark.parametrize(("lengths", "overlap"), [((), 0.8), ((0,), 0.8), ((64,), 1.0), ((64,), -0.1)])
def test_impossible_windows_are_refused(lengths, overlap):
    with pytest.raises(UsageError, match="expected"):
        WindowPool(lengths, overlap)


def test_a_video_of_a_day_is_refused():
    with pytest.raises(UsageError, match="more than 65,536 windows of 64 frames"):
        WindowPool(CHARADES).windows_s(86_400.0)


def test_pairs_are_those_of_the_two_thresholds():
    """Section 3.1: IoU > 0.5 and less than 0.15 of the window outside; a window inside the moment has 0 outside."""
    windows = np.array([[0.0, 10.0], [0.0, 5.0], [0.0, 5.5], [-1.5, 8.5], [-1.4, 8.6], [1.0, 7.0]])
    found = positives(windows, np.array([[0.0, 10.0]]), least_iou=0.5, most_outside=0.15)
    assert found.tolist() == [[True, False, True, False, True, True]]


@dataclass(frozen=True)
class Row:
    """A row of the table of section 8: windows of a query (median), ceilings and queries with a pair in percent."""

    split: str
    lengths: tuple[int, ...]
    median: int
    ceilings: str
    n_pairs: int | None = None
    with_pair: str | None = None


TABLE = [
    Row("charades-cd/train", (128, 256), 35, "98.88 91.24 18.65", 29_997, "91.2"),
    Row("charades-cd/train", CHARADES, 95, "99.99 95.70 19.34", 39_276, "99.7"),
    Row("charades-cd/test-iid", CHARADES, 95, "100.00 94.17 18.47"),
    Row("charades-cd/test-ood", CHARADES, 95, "99.85 95.88 18.09"),
    Row("activitynet-cd/test-iid", CHARADES, 427, "64.22 49.64 10.28", with_pair="61.4"),
    # The table has 90.79, 75.81, 14.93 and 84.4. It gives no window to four queries on videos below 128 frames, to
    # which the rule above the table gives one. Without these windows our figures are those of the table.
    Row("activitynet-cd/test-iid", ACTIVITYNET, 202, "90.91 75.86 14.96", with_pair="84.5"),
    Row("activitynet-cd/test-ood", ACTIVITYNET, 235, "94.11 87.22 15.91", with_pair="87.8"),
]


@pytest.mark.parametrize(
    "row",
    quick_are(
        ["charades-cd/test-ood 64 to 512", "activitynet-cd/test-iid 128 to 2048"],
        {f"{row.split} {row.lengths[0]} to {row.lengths[-1]}": row for row in TABLE},
    ),
)
def test_what_the_windows_can_do(row, data_dir):
    """Section 8, table: share of queries whose best window has an IoU above 0.5, 0.7 and 0.9; pairs to learn from."""
    annotations = load_annotations(*row.split.split("/"), data_dir=data_dir)
    annotations = annotations.select_rows(usable(annotations))
    pool, best, n_pairs, n_windows = WindowPool(row.lengths), [], [], []
    windows = {seconds: pool.windows_s(seconds) for seconds in set(annotations.duration_s.tolist())}
    columns = (annotations.duration_s, annotations.start_s, annotations.end_s)
    for seconds, start, end in zip(*(column.tolist() for column in columns), strict=True):
        windows_s, moment = windows[seconds], np.array([[max(start, 0), min(end, seconds)]])
        best.append(temporal_iou(*windows_s.T, *moment[0]).max())
        n_pairs.append(int(positives(windows_s, moment, least_iou=0.5, most_outside=0.15).sum()))
        n_windows.append(len(windows_s))
    assert " ".join(f"{100 * np.mean(np.array(best) > least):.2f}" for least in (0.5, 0.7, 0.9)) == row.ceilings
    assert np.median(n_windows) == row.median
    assert row.n_pairs in (None, sum(n_pairs))
    assert row.with_pair in (None, f"{100 * np.mean(np.array(n_pairs) > 0):.1f}")


def test_contexts_in_charades_cd(data_dir):
    """acrn.md, section 8: of windows of 64 to 512 frames 57 % have two real contexts, 43 % have one, 1 % have none."""
    train = load_annotations("charades-cd", "train", data_dir=data_dir)
    real = []
    for seconds in dict(zip(train.video_id.tolist(), train.duration_s.tolist(), strict=True)).values():
        one = VideoRows(np.zeros((1, 1), dtype=np.float32), np.array([0.0, seconds]), seconds)
        real.append(window_slots(one, WindowPool(CHARADES).windows_s(seconds), 128 / 24).real.sum(axis=1) - 1)
    shares = np.bincount(np.concatenate(real)) / len(np.concatenate(real))
    assert [round(100 * share) for share in shares] == [1, 43, 57]


# ---- Features of windows


def test_means_are_those_of_a_loop():
    """Section 8: the rows whose centre lies in [start, end); if there is none, the row that contains the middle."""
    shown = video(n_rows=23)
    rng = np.random.default_rng(1)
    low = rng.uniform(0, 29, (40, 3))
    high = np.minimum(low + rng.uniform(0.05, 8, (40, 3)), 30)
    centres = (shown.edges_s[1:] + shown.edges_s[:-1]) / 2
    expected, n_without = np.empty((40, 3, 3)), 0
    for at in np.ndindex(40, 3):
        inside = (low[at] <= centres) & (centres < high[at])
        if not inside.any():
            middle = (low[at] + high[at]) / 2
            inside = (shown.edges_s[:-1] <= middle) & (middle < shown.edges_s[1:])
            n_without += 1
        expected[at] = shown.rows[inside].mean(axis=0)
    assert n_without > 5
    np.testing.assert_allclose(means_of_rows(shown, low, high), expected, atol=1e-6)


def test_windows_after_the_last_row_show_the_last_row():
    shown = video(n_rows=10)._replace(edges_s=np.arange(11) * 1.0)  # rows of 10 s, in a video of 30 s
    np.testing.assert_allclose(means_of_rows(shown, np.array([20.0]), np.array([25.0]))[0], shown.rows[-1])


def test_a_context_that_the_video_does_not_have_is_the_window():
    shown = video()
    windows = np.array([[0.0, 10.0], [5.0, 12.0], [10.0, 20.0], [22.0, 26.0]])
    slots, real = window_slots(shown, windows, 5.0)
    assert real.tolist() == [[False, True, True], [True, True, True], [True, True, True], [True, True, False]]
    np.testing.assert_array_equal(slots[0, 0], slots[0, 1])
    np.testing.assert_array_equal(slots[3, 2], slots[3, 1])
    np.testing.assert_allclose(slots[1, 0], shown.rows[:10].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(slots[2, 2], shown.rows[40:50].mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("name", ["ctrl", "acrn"])
def test_moving_the_content_by_a_window_step_moves_scores_and_offsets(name):
    """Section 9, 3: no absolute position enters the model; away from the borders, where contexts are other ones."""
    family = get_family(name)
    torch.manual_seed(0)
    model = family.build(family.settings(lengths=(128,), context=48, semantic=16, hidden=8), Inputs(3, 4)).eval()
    step = 25 / 24  # seconds; 25 rows at 24 rows a second
    shown = video(n_rows=960, duration_s=40.0)
    moved = shown._replace(rows=np.roll(shown.rows, 25, axis=0))

    def found(of):
        windows_s = torch.from_numpy(model.windows_s(40.0))[None]
        batch = Batch(
            words=torch.ones(1, 1, 4),
            n_words=torch.tensor([1]),
            word_numbers=torch.tensor([[2]]),
            video=torch.from_numpy(model.see(of, 1))[None],
            windows_s=windows_s,
            duration_s=torch.tensor([40.0], dtype=torch.float64),
        )
        with torch.no_grad():
            return [column[0] for column in model.answer(batch, model(batch))[:3]]

    one, other = found(shown), found(moved)
    inner = slice(3, -4)  # windows with both contexts, before and after the move
    after = slice(4, -3)
    torch.testing.assert_close(other[2][after], one[2][inner], rtol=0, atol=1e-6)
    for end in (0, 1):
        torch.testing.assert_close(40 * other[end][after], 40 * one[end][inner] + step, rtol=0, atol=1e-5)
    assert one[2].std() > 1e-4  # windows differ
