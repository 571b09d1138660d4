"""Windows of films: where they lie, what they show, and what is drawn to learn from (MAD, section 4 and A.2)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.base.records import Annotations
from truemoment.baselines.proposals import WindowedGrid
from truemoment.media.features.base import Features, FeatureStore, edges_of
from truemoment.searching.windows import LongVideo, Window, WindowDraws, WindowedFeatures, Windows


class Even:
    """A store that states no rows a second: the rows of a film cover it evenly."""

    name, fps, n_dimensions = "even", None, 1

    def __init__(self, rows):
        self.rows = rows

    def __contains__(self, video_id):
        return video_id in self.rows

    def __iter__(self):
        return iter(self.rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, video_id):
        return self.rows[video_id]

    def edges_s(self, video_id, duration_s):
        return edges_of(len(self.rows[video_id]), None, duration_s)


def films(n_rows, fps=5.0):
    """Films whose row i holds i."""
    return Features({name: np.arange(n, dtype=np.float32)[:, None] for name, n in n_rows.items()}, fps=fps)


class TestWindows:
    def test_those_of_mad_are_those_of_its_code(self):
        """clip_zero_shot.md, 2.1: starts 0, S, 2S ... strictly below tot_frames - W, W = 128, S = 64 at 5 fps."""
        windows = Windows(tail="dropped")
        for n_rows in (1, 127, 128, 129, 192, 193, 1000, 33_000):
            first, end = windows.rows_of(n_rows, 5.0)
            assert first.tolist() == list(range(0, max(n_rows - 128, 0), 64))
            assert (end - first == 128).all()
            n_cells = len(WindowedGrid().cells[0])
            assert len(first) * n_cells == int(WindowedGrid().count(np.array(n_rows / 5.0)))

    @pytest.mark.parametrize("tail", ["covered", "dropped"])
    def test_they_are_those_of_proposals(self, tail):
        """Proposals of the grid over films as long as a window and longer: 626 a window, at its first frame and on."""
        grid = WindowedGrid(tail=tail)
        for n_rows in (128, 129, 191, 192, 193, 1000, 2001):
            first, end = Windows(tail=tail).rows_of(n_rows, 5.0)
            start_s, end_s = grid.moments(n_rows / 5.0)
            assert len(first) * 626 == len(start_s)
            np.testing.assert_allclose(start_s.reshape(-1, 626).min(axis=1), first / 5.0)
            np.testing.assert_allclose(end_s.reshape(-1, 626).max(axis=1), end / 5.0)

    @given(
        n_rows=st.integers(1, 3000),
        fps=st.floats(0.2, 30),
        window_s=st.floats(0.5, 300),
        share=st.floats(0.05, 1),
    )
    def test_a_covered_film_is_covered(self, n_rows, fps, window_s, share):
        windows = Windows(window_s, share * window_s)
        if round(share * window_s * fps) < 1 or round(window_s * fps) < 1:
            with pytest.raises(UsageError, match="rows a second, expected a row or more"):
                windows.rows_of(n_rows, fps)
            return
        first, end = windows.rows_of(n_rows, fps)
        assert first[0] == 0
        assert end[-1] == n_rows
        assert (np.diff(first) > 0).all()
        assert (first[1:] <= end[:-1]).all()  # nothing lies between two
        assert (end - first == min(n_rows, round(window_s * fps))).all()
        dropped = Windows(window_s, share * window_s, "dropped").rows_of(n_rows, fps)[0]
        assert dropped.tolist() == first[:-1].tolist()

    @pytest.mark.parametrize(
        ("settings", "told"),
        [
            ({"window_s": 0.0}, "window"),
            ({"window_s": float("nan")}, "window"),
            ({"stride_s": 0.0}, "stride"),
            ({"stride_s": 30.0}, "no window would cover"),
            ({"tail": "padded"}, "covered"),
        ],
    )
    def test_what_covers_no_film_is_refused(self, settings, told):
        with pytest.raises(UsageError, match=told):
            Windows(**settings)


class TestLongVideo:
    def test_rows_behind_the_end_are_not_looked_at(self):
        """clip_zero_shot.md, 2.1 and 8.3: ceil(duration * fps) rows, and no more than there are."""
        store = films({"film": 100})
        assert [LongVideo.of(store, "film", seconds).n_rows for seconds in (20.0, 19.9, 19.81, 19.8, 30.0)] == [
            100,
            100,
            100,
            99,
            100,
        ]
        assert LongVideo.of(store, "film", float("nan")).n_rows == 100

    def test_rows_that_cover_the_film_evenly(self):
        film = LongVideo.of(Even({"film": np.zeros((50, 1), dtype=np.float32)}), "film", 100.0)
        assert (film.n_rows, film.fps) == (50, 0.5)

    def test_a_film_of_which_nothing_is_known_is_told(self):
        with pytest.raises(InputError, match="duration_s"):
            LongVideo.of(None, "film", float("nan"))
        with pytest.raises(InputError, match="'other'"):
            LongVideo.of(films({"film": 3}), "other", 3.0)


class TestWindowedFeatures:
    def test_windows_are_parts_of_their_films(self):
        store = films({"a": 300, "b": 40})
        parts = WindowedFeatures.of(store, Windows(), {"a": 60.0, "b": 8.0})
        assert isinstance(parts, FeatureStore)
        names = ["a[0-25.6]", "a[12.8-38.4]", "a[25.6-51.2]", "a[34.4-60]", "b[0-8]"]
        assert list(parts) == names
        assert (len(parts), parts.fps, parts.n_dimensions, "a" in parts, names[1] in parts) == (5, 5.0, 1, False, True)
        assert parts["a[12.8-38.4]"].ravel().tolist() == list(range(64, 192))
        assert parts["b[0-8]"].ravel().tolist() == list(range(40))
        edges = parts.edges_s("a[34.4-60]", 25.6)
        assert (edges[0], len(edges)) == (0.0, 129)
        assert edges[-1] == pytest.approx(25.6)

    def test_rows_that_cover_the_film_evenly_cover_its_windows(self):
        store = Even({"film": np.arange(50, dtype=np.float32)[:, None]})
        parts = WindowedFeatures.of(store, Windows(20.0, 10.0), {"film": 100.0})
        assert parts["film[10-30]"].ravel().tolist() == list(range(5, 15))
        assert parts.edges_s("film[10-30]", 20.0).tolist() == list(np.linspace(0, 20, 11))

    def test_a_film_is_read_once(self):
        class Counting(Even):
            asked = 0

            def __getitem__(self, video_id):
                self.asked += 1
                return super().__getitem__(video_id)

        store = Counting({"film": np.zeros((500, 1), dtype=np.float32)})
        parts = WindowedFeatures.of(store, Windows(), {"film": 600.0})
        assert store.asked == 0
        assert sum(len(parts[name]) for name in parts) > 500
        assert store.asked == 1

    def test_a_window_that_is_none_is_told(self):
        parts = WindowedFeatures.of_windows(films({"film": 9}), [Window("film", 20, 30, 5.0)])
        with pytest.raises(InputError, match="has no rows of 'film'"):
            parts["film"]
        with pytest.raises(InputError, match="end before"):
            parts["film[4-6]"]


def draws_of(moments, n_rows, *, fps=5.0, duration_s=None, **settings):
    """Draws for moments (start_s, end_s) of one film."""
    duration_s = n_rows / fps if duration_s is None else duration_s
    rows = [(f"film#{k}", "film", duration_s, "a door opens", start, end) for k, (start, end) in enumerate(moments)]
    return WindowDraws.of(Annotations.from_rows(rows), films({"film": n_rows}, fps), **settings)


class TestDraws:
    @given(
        n_rows=st.integers(2, 2000),
        span=st.tuples(st.floats(0, 1), st.floats(0, 1)),
        fps=st.floats(0.5, 30),
        negatives=st.sampled_from([0.0, 0.7, 1.0]),
        seed=st.integers(0, 9),
    )
    def test_a_window_holds_the_moment_or_none_of_it(self, n_rows, span, fps, negatives, seed):
        """A.2: t* in [t_e - W, t_s] for positives, outside [t_s - W, t_e] for negatives, always inside the film."""
        duration_s = n_rows / fps
        start_s, end_s = sorted(share * duration_s for share in span)
        if end_s - start_s < 1e-3:
            return
        draws = draws_of([(start_s, end_s)] * 20, n_rows, fps=fps, negatives=negatives)
        drawn = draws.draw(np.random.default_rng(seed))
        assert (drawn.first >= 0).all()
        assert (drawn.end <= n_rows).all()
        assert (drawn.end - drawn.first == min(max(round(25.6 * fps), 1), n_rows)).all()
        low, high = drawn.first / fps, drawn.end / fps
        iou = temporal_iou(low, high, np.array(start_s), np.array(end_s))
        slack = 2e-6 / fps  # a moment may pass the edge of a row by a millionth
        assert (iou[drawn.negative] < 1e-5).all()
        holds = (low <= start_s + slack) & (end_s <= high + slack)
        within = (start_s <= low + 1 / fps) & (high <= end_s + 1 / fps)
        assert np.where(draws.longer, within, holds)[~drawn.negative].all()
        if negatives == 1.0:
            assert (drawn.negative == ~draws.always_shown).all()

    @pytest.mark.slow
    def test_starts_are_even_over_all_that_hold_the_moment(self):
        """A.2: uniform in [t_e - W, t_s], and never before the film's start."""
        for (start_s, end_s), expected in (
            ((100.0, 104.0), range(520 - 128, 501)),
            ((2.0, 6.0), range(11)),
            ((394.0, 398.0), range(1990 - 128, 2000 - 128 + 1)),
        ):
            draws = draws_of([(start_s, end_s)] * 20_000, 2000, negatives=0.0)
            found = np.bincount(draws.draw(np.random.default_rng(1)).first, minlength=2000)
            assert np.flatnonzero(found).tolist() == list(expected)
            share = found[list(expected)] / 20_000
            # Bernoulli: five standard deviations of a share
            allowed = 5 * np.sqrt(1 / len(expected) / 20_000)
            np.testing.assert_allclose(share, 1 / len(expected), atol=allowed)

    def test_negatives_are_even_over_all_that_miss_the_moment(self):
        """A.2: outside [t_s - W, t_e]; W = 20 rows of 100, moment rows 50 to 59."""
        draws = draws_of([(50.0, 60.0)] * 20_000, 100, fps=1.0, window_s=20.0, negatives=1.0)
        found = np.bincount(draws.draw(np.random.default_rng(2)).first, minlength=100)
        expected = [*range(31), *range(60, 81)]
        assert np.flatnonzero(found).tolist() == expected
        np.testing.assert_allclose(found[expected] / 20_000, 1 / 52, atol=5 * np.sqrt(1 / 52 / 20_000))

    def test_negatives_of_the_code_lie_anywhere_and_are_learned_from_as_negatives(self):
        """vlg_net.md, 6.3: start uniform over the whole film, target all zeros, no rejection."""
        draws = draws_of([(50.0, 60.0)] * 5000, 100, fps=1.0, window_s=20.0, negatives=1.0, rule="anywhere")
        drawn = draws.draw(np.random.default_rng(3))
        assert sorted(set(drawn.first.tolist())) == list(range(81))
        assert draws.on_windows(drawn).without_moment.all()

    def test_the_share_of_negatives(self):
        """A.2: 70 % of the times; five standard deviations."""
        drawn = draws_of([(100.0, 104.0)] * 10_000, 2000).draw(np.random.default_rng(4))
        assert drawn.negative.mean() == pytest.approx(0.7, abs=5 * np.sqrt(0.21 / 10_000))

    def test_a_draw_depends_on_its_generator_alone(self):
        draws = draws_of([(100.0, 104.0)] * 50, 2000)
        one, same, other = (draws.draw(np.random.default_rng([0, epoch])) for epoch in (1, 1, 2))
        assert one.first.tolist() == same.first.tolist() != other.first.tolist()

    def test_a_film_without_room_for_a_negative_shows_the_moment(self):
        draws = draws_of([(10.0, 14.0), (1.0, 3.0)], 150, negatives=1.0)
        assert draws.always_shown.tolist() == [True, False]  # 150 - 128 rows: only a start at 15 or later is left
        assert draws.draw(np.random.default_rng(0)).negative.tolist() == [False, True]

    def test_a_short_film_is_its_own_window(self):
        draws = draws_of([(10.0, 14.0)], 100)
        drawn = draws.draw(np.random.default_rng(0))
        assert (drawn.first.tolist(), drawn.end.tolist(), drawn.negative.tolist()) == ([0], [100], [False])
        one = draws.on_windows(drawn)
        assert (one.start_s[0], one.end_s[0], one.duration_s[0]) == (10.0, 14.0, 20.0)

    def test_of_a_long_moment_a_part_is_shown_that_is_all_of_the_window(self):
        """vlg_net.md, 8.3: a random window inside the moment, in place of the code's wrong coordinates."""
        draws = draws_of([(100.0, 160.0)] * 300, 2000, negatives=0.0)
        drawn = draws.draw(np.random.default_rng(0))
        assert draws.longer.all()
        assert (drawn.first.min(), drawn.end.max()) == (500, 800)
        one = draws.on_windows(drawn)
        assert (one.start_s == 0).all()
        np.testing.assert_allclose(one.end_s, one.duration_s, rtol=1e-12)

    def test_moments_are_told_from_the_start_of_the_window(self):
        """The slow way: seconds less the window's start; no moment where the window has none of it."""
        moments = [(3.1 + 7 * k, 5.3 + 7.5 * k) for k in range(40)]
        draws = draws_of(moments, 2000, negatives=0.5)
        drawn = draws.draw(np.random.default_rng(5))
        one = draws.on_windows(drawn)
        for row, (start_s, end_s) in enumerate(moments):
            window = draws.windows(drawn)[row]
            assert one.video_id[row] == window.name
            if drawn.negative[row]:
                assert one.without_moment[row]
                assert window.start_s >= end_s or window.end / 5 <= start_s
            else:
                assert one.start_s[row] == pytest.approx(start_s - window.first / 5, abs=1e-9)
                assert one.end_s[row] == pytest.approx(end_s - window.first / 5, abs=1e-9)
        assert one.sentence.tolist() == draws.annotations.sentence.tolist()
        assert 10 <= drawn.negative.sum() <= 30

    def test_a_moment_behind_the_last_row_is_never_shown(self):
        draws = draws_of([(30.0, 34.0)], 140, duration_s=40.0, negatives=0.0)
        assert draws.on_windows(draws.draw(np.random.default_rng(0))).without_moment.tolist() == [True]

    def test_what_cannot_be_learned_from_is_left_out(self):
        draws = draws_of([(1.0, 2.0), (5.0, 5.0), (500.0, 501.0)], 140)
        assert draws.annotations.query_id.tolist() == ["film#0"]

    def test_a_share_that_is_none_is_refused(self):
        with pytest.raises(UsageError, match="share"):
            draws_of([(1.0, 2.0)], 140, negatives=1.5)
