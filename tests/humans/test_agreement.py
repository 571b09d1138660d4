"""Agreement of annotators: against slow loops from the definitions, by its properties, on the real re-annotations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError, UsageError
from truemoment.data.datasets import load_annotations
from truemoment.evaluation import agreement
from truemoment.evaluation.agreement import (
    Annotators,
    agreement_by_query,
    boundary_alpha,
    moment_alpha,
    pairwise_iou,
)
from truemoment.worlds import make_world


def marked(moments, *, duration_s=100.0, per_video=1):
    """Annotations of queries, each a list of (start, end), an annotator a moment."""
    return Annotations.from_rows(
        (f"v{q // per_video}#{q % per_video}", f"v{q // per_video}", duration_s, f"s {q}", start, end, f"a{k}")
        for q, of_query in enumerate(moments)
        for k, (start, end) in enumerate(of_query)
    )


def drawn_moments(seed, n_queries, *, most=5, grid=20):
    """Draw queries with 2 to `most` annotators; moments on a grid, so that equal and disjoint ones occur."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_queries):
        centre = rng.integers(0, grid - 4)
        of_query = []
        for _ in range(int(rng.integers(2, most + 1))):
            start = int(np.clip(centre + rng.integers(-2, 3), 0, grid - 1))
            of_query.append((5.0 * start, 5.0 * min(start + int(rng.integers(1, 5)), grid)))
        found.append(of_query)
    return found


def slow_iou(a, b):
    overlap = min(a[1], b[1]) - max(a[0], b[0])
    return max(overlap, 0) / (a[1] - a[0] + b[1] - b[0] - max(overlap, 0))


def slow_alpha(moments, difference):
    """Krippendorff's coefficient as it is defined: over all ordered pairs of values, one at a time."""
    values = [value for of_query in moments for value in of_query]
    n = len(values)
    observed = sum(
        difference(a, b) / (len(of_query) - 1) for of_query in moments for a, b in itertools.permutations(of_query, 2)
    )
    expected = sum(difference(a, b) for a, b in itertools.permutations(values, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


class TestWhoCounts:
    ROWS = (
        ("two", "v", 30.0, "s", 1.0, 2.0, "a"),
        ("two", "v", 30.0, "s", 1.0, 3.0, "b"),
        ("one", "v", 30.0, "s", 1.0, 2.0, "a"),
        ("nobody", "v", 30.0, "s", 1.0, 2.0, ""),
        ("half-named", "v", 30.0, "s", 1.0, 2.0, "a"),
        ("half-named", "v", 30.0, "s", 1.0, 2.0, ""),
        ("twice", "v", 30.0, "s", 1.0, 2.0, "a"),
        ("twice", "v", 30.0, "s", 4.0, 5.0, "a"),
        ("twice", "v", 30.0, "s", 4.0, 5.0, "b"),
        ("nothing", "v", 30.0, "s", np.nan, np.nan, "a"),
    )

    def test_queries_left_out_are_counted(self):
        annotators = Annotators.of(Annotations.from_rows(self.ROWS))
        assert annotators.annotations.queries.query_id.tolist() == ["two"]
        assert annotators.left_out == {
            "one annotator": 1,
            "no annotator named": 2,
            "several moments of one annotator": 1,
            "no moment": 1,
        }

    @pytest.mark.parametrize(
        ("keep", "said"),
        [
            (("nobody",), "own/all: no annotators are named, expected two or more a query"),
            (("one", "nobody"), "own/all: no query has more than one annotator, expected two or more"),
            (
                ("one", "twice"),
                "own/all: no query has two or more annotators with one moment each; queries left out: one annotator "
                "(1), several moments of one annotator (1)",
            ),
        ],
    )
    def test_nothing_to_compare(self, keep, said):
        with pytest.raises(UsageError) as caught:
            Annotators.of(Annotations.from_rows(row for row in self.ROWS if row[0] in keep))
        assert str(caught.value) == said


class TestPairwiseIoU:
    @pytest.mark.parametrize("seed", range(3))
    def test_as_loops_say(self, seed, rng):
        moments = drawn_moments(seed, 40)
        of_query = []
        for of_one in moments:
            ious = [slow_iou(a, b) for a, b in itertools.combinations(of_one, 2)]
            n = len(ious)
            of_query.append((sum(ious) / n, sum(i >= 0.5 for i in ious) / n, sum(i == 0 for i in ious) / n))
        annotators = Annotators.of(marked(moments))
        np.testing.assert_allclose(agreement_by_query(annotators), of_query, atol=1e-12)
        found = pairwise_iou(annotators, rng, resamples=50)
        expected = np.mean(of_query, axis=0)
        np.testing.assert_allclose((found.mean, found.at_least_half, found.disjoint), expected, atol=1e-12)
        assert found.mean_ci95[0] < found.mean < found.mean_ci95[1]
        assert found.n_pairs == sum(len(of_one) * (len(of_one) - 1) // 2 for of_one in moments)

    def test_one_video_has_no_interval(self, rng):
        found = pairwise_iou(Annotators.of(marked(drawn_moments(0, 6), per_video=6)), rng)
        assert np.isnan(found.mean_ci95).all()


class TestAlpha:
    @pytest.mark.parametrize("seed", range(4))
    def test_moments_as_the_definition_says(self, seed, rng):
        moments = drawn_moments(seed, 25)
        found = moment_alpha(Annotators.of(marked(moments)), rng, resamples=20)
        assert found.ci95[0] < found.value < found.ci95[1]
        assert found.value == pytest.approx(slow_alpha(moments, lambda a, b: 1 - slow_iou(a, b)), abs=1e-12)
        assert found.n_moments == found.n_against == sum(map(len, moments))

    @pytest.mark.parametrize("seed", range(2))
    def test_boundaries_as_the_definition_says(self, seed, rng):
        moments = drawn_moments(seed, 25)
        found = boundary_alpha(Annotators.of(marked(moments)), rng, resamples=20)
        for column, alpha in enumerate(found):
            slow = slow_alpha(moments, lambda a, b, at=column: (a[at] - b[at]) ** 2)
            assert alpha.value == pytest.approx(slow, abs=1e-9)

    def test_moments_are_shares_of_their_videos(self, rng):
        moments = drawn_moments(1, 25)
        short = [[(start / 4, end / 4) for start, end in of_query] for of_query in moments]
        seconds = Annotators.of(marked(moments))
        quarter = Annotators.of(marked(short, duration_s=25.0))
        assert moment_alpha(quarter, rng).value == pytest.approx(moment_alpha(seconds, rng).value, abs=1e-12)

    def test_1_if_all_agree(self, rng):
        moments = [[of_query[0]] * 3 for of_query in drawn_moments(2, 30)]
        annotators = Annotators.of(marked(moments))
        found = moment_alpha(annotators, rng)
        assert found.value == 1
        assert found.ci95 == (1, 1)
        assert [alpha.value for alpha in boundary_alpha(annotators, rng)] == [1, 1]

    @pytest.mark.slow
    def test_0_if_moments_are_dealt_out_at_random(self):
        # 600 queries of 3: the standard error of alpha is some 0.01 (spread of the seeds below).
        values = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            ends = np.sort(rng.random((600, 3, 2)) * 100, axis=2)
            values.append(moment_alpha(Annotators.of(marked(ends.tolist())), rng, resamples=2).value)
        assert abs(np.mean(values)) < 0.01
        assert np.std(values) < 0.02

    def test_undefined_where_all_moments_are_one(self, rng):
        found = moment_alpha(Annotators.of(marked([[(0.0, 10.0)] * 2] * 3)), rng)
        assert np.isnan(found.value)

    def test_the_order_of_annotators_is_irrelevant(self):
        moments = drawn_moments(3, 30)
        turned = [of_query[::-1] for of_query in moments]
        here, there = (moment_alpha(Annotators.of(marked(of)), np.random.default_rng(0)) for of in (moments, turned))
        assert here.value == pytest.approx(there.value, abs=1e-12)
        assert here.ci95 == pytest.approx(there.ci95, abs=1e-12)

    @pytest.mark.slow
    def test_the_interval_is_near_that_of_whole_alphas_of_resampled_videos(self):
        moments = drawn_moments(5, 60, most=4)
        found = moment_alpha(Annotators.of(marked(moments)), np.random.default_rng(0), resamples=2000)
        rng = np.random.default_rng(1)
        distance = lambda a, b: 1 - slow_iou(a, b)  # noqa: E731 - the difference function, once
        values = [slow_alpha([moments[q] for q in rng.integers(60, size=60)], distance) for _ in range(60)]
        width = found.ci95[1] - found.ci95[0]
        assert width == pytest.approx(4 * np.std(values), rel=0.35)  # 60 resamples: the spread to some 10 %
        assert np.mean(values) == pytest.approx(np.mean(found.ci95), abs=0.35 * width)

    def test_a_sample_where_pairs_are_too_many(self, monkeypatch):
        rng = np.random.default_rng(0)
        ends = np.sort(rng.random((400, 2, 2)) * 100, axis=2)
        annotators = Annotators.of(marked(ends.tolist()))
        whole = moment_alpha(annotators, np.random.default_rng(0))
        monkeypatch.setattr(agreement, "MOST_PAIRS", 200 * 800)
        sampled = moment_alpha(annotators, np.random.default_rng(0))
        assert (whole.n_against, sampled.n_against) == (800, 200)
        assert sampled.expected == pytest.approx(whole.expected, abs=0.02)
        width, of_whole = (alpha.ci95[1] - alpha.ci95[0] for alpha in (sampled, whole))
        assert width > 1.05 * of_whole  # the sample's error is in it

    def test_unknown_durations_are_refused(self, rng):
        annotators = Annotators.of(marked(drawn_moments(0, 1), duration_s=np.nan))
        with pytest.raises(InputError, match=r"^field duration_s: got nan for query 'v0#0', expected the video's"):
            moment_alpha(annotators, rng)


def test_agreement_falls_with_the_noise_of_a_world():
    found = []
    for noise in (0.0, 0.1, 0.3):
        world = make_world(120, n_annotators=4, annotator_noise=noise, seed=1)
        annotators = Annotators.of(world.humans["test-ood"])
        rng = np.random.default_rng(0)
        found.append((pairwise_iou(annotators, rng).mean, moment_alpha(annotators, rng).value))
    assert found[0] == (1.0, 1.0)
    assert found[0] > found[1] > found[2]
    assert found[1][1] > found[2][1]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "split", "figures"),
    [("human-charades", "test", "0.521 57.0 6.7"), ("human-activitynet", "val_2", "0.442 44.4 15.2")],
)
def test_published_agreement(data_dir, name, split, figures, rng):
    # field.md, section 2.3: computed from the files without this package.
    if not (data_dir / name).is_dir():
        pytest.skip(f"no real files in {data_dir / name}")
    found = pairwise_iou(Annotators.of(load_annotations(name, split, data_dir=data_dir)), rng, resamples=2)
    assert f"{found.mean:.3f} {100 * found.at_least_half:.1f} {100 * found.disjoint:.1f}" == figures


def test_a_moment_that_begins_with_its_video_is_not_before_it():
    rows = [(name, "v", 30.0, "s", start, 9.0, who) for name, start in (("at", 0.0), ("ahead", -1.0)) for who in "ab"]
    assert Annotators.of(Annotations.from_rows(rows)).before_video.tolist() == [False, True]
