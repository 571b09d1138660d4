"""The verdict: the array code against slow loops, its promises by simulation, and its words."""

import dataclasses
import math

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.baselines.floors import FloorResult
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import resample_sums
from truemoment.studies.audit import Splits
from truemoment.studies.audit.checks import better_than_guessing, skill
from truemoment.studies.audit.verdict import DRAWS, LITTLE, Verdict, judge_floors

MEASURES = parse_measures("R@1,IoU=0.5; mIoU; AxIoU@10")


def scores_of(values, video, weight=1.0):
    """Scores of M measures by query, (M, Q), on videos of these numbers."""
    values = np.atleast_2d(np.asarray(values, dtype=float))
    names = np.array([f"v{v}" for v in video], dtype=object)
    return Scores(
        MEASURES[: len(values)],
        get_protocol("default"),
        np.array([f"q{q}" for q in range(values.shape[1])], dtype=object),
        names,
        values * weight,
        np.broadcast_to(np.asarray(weight, dtype=float), values.shape).copy(),
        np.full(len(values), -1),
    )


def judged(own, floors, ceiling, video, *, spread=None, resamples=20, seed=0, weight=1.0):
    found = [scores_of(values, video, weight) for values in (own, *floors, ceiling)]
    if spread is None:
        spread = np.zeros((len(floors), len(found[0].measures)))
    return judge_floors(
        found[0], found[1:-1], found[-1], np.array(spread), np.random.default_rng(seed), resamples=resamples
    )


@pytest.fixture(scope="module")
def drawn():
    """Three floors and a method by two measures, on 12 videos of one to four queries, with weights."""
    rng = np.random.default_rng(5)
    video = np.repeat(np.arange(12), rng.integers(1, 5, 12))
    own, *floors = (rng.random((2, len(video))) * high for high in (1.0, 0.6, 0.7, 0.65))
    weight = rng.integers(1, 4, (2, len(video)))
    return own, floors, np.ones_like(own), video, weight


# ---- Against slow loops


def test_figures_are_those_of_loops(drawn):
    own, floors, ceiling, video, weight = drawn
    found = judged(own, floors, ceiling, video, weight=weight)
    for m in range(2):

        def figure(values, m=m):
            total = sum(value * w for value, w in zip(values[m], weight[m], strict=True))
            return total / sum(weight[m])

        figures = [figure(floor) for floor in floors]
        strongest = figures.index(max(figures))
        assert found.strongest[m] == strongest
        assert found.difference[m] == pytest.approx(figure(own) - max(figures))
        assert found.against[:, m] == pytest.approx([figure(own) - f for f in figures])
        assert found.skill[m] == pytest.approx((figure(own) - max(figures)) / (1 - max(figures)))


def test_intervals_are_those_against_each_floor_put_together(drawn):
    """Berger (1982): the lowest lower end at 0.05; Bonferroni: the lowest upper end at 0.05 / 3. Floor by floor."""
    own, floors, ceiling, video, weight = drawn
    spread = np.array([[0.0, 0.01], [0.02, 0.0], [0.03, 0.005]])
    found = judged(own, floors, ceiling, video, weight=weight, spread=spread)

    def by_video(values, m):
        return np.bincount(video, values[m] * weight[m])[:, None]

    for m in range(2):
        of_difference, of_skill = [], []
        for f, floor in enumerate(floors):
            gain, room = by_video(own, m) - by_video(floor, m), by_video(ceiling, m) - by_video(floor, m)
            step = 1e-6  # how the skill moves with the floor's figure, by a small change of it
            total = by_video(np.ones_like(own), m).sum()
            skills = [(gain.sum() - e * total) / (room.sum() - e * total) for e in (-step, step)]
            slope = abs(skills[1] - skills[0]) / (2 * step)
            for found_of, below, allowed in (
                (of_difference, by_video(np.ones_like(own), m), spread[f, m]),
                (of_skill, room, spread[f, m] * slope),
            ):
                ratios = resample_ratios(gain, below, np.random.default_rng(0), resamples=DRAWS * 20)
                low = ratios.bounds(0.05, allowed)[0][0]
                high = ratios.bounds(0.05 / 3, allowed)[1][0]
                found_of.append((low, high, *(float(end[0]) for end in ratios.bounds(0.05, allowed))))
        assert found.ci95[m] == pytest.approx(np.min(of_difference, axis=0)[:2])
        assert found.against_ci95[:, m] == pytest.approx(np.array(of_difference)[:, 2:])
        assert found.skill_ci95[m] == pytest.approx(np.min(of_skill, axis=0)[:2], rel=1e-6)  # the slope is a difference


def test_the_strongest_floor_is_chosen_anew_in_each_resample(drawn):
    own, floors, ceiling, video, weight = drawn
    found = judged(own, floors, ceiling, video, weight=weight)
    times = resample_sums(np.eye(12), np.random.default_rng(0), resamples=DRAWS * 20).round()
    count = np.zeros((3, 2))
    for drawn_times in times:
        for m in range(2):
            figures = [np.bincount(video, floor[m] * weight[m]) @ drawn_times for floor in floors]
            count[int(np.argmax(figures)), m] += 1
    assert found.strongest_in == pytest.approx(count / len(times))
    assert found.strongest_in.sum(axis=0) == pytest.approx([1, 1])


def test_a_split_without_a_query_that_counts_has_no_verdict():
    found = judged([[1.0, 0, 1]], [[[0, 0, 1.0]]], [[1.0, 1, 1]], [0, 1, 2], weight=np.zeros((1, 3)))
    assert found.kind(0) == "undefined"
    assert np.isnan([found.difference[0], found.skill[0], found.resolves[0], *found.ci95[0]]).all()
    assert not found.is_little(0)


# ---- What it promises


@pytest.mark.parametrize("share", [0.0, 0.2, 0.7])
def test_the_skill_of_a_method_that_finds_a_share_is_that_share(share):
    """Skill = (f + t (c - f) - f) / (c - f) = t in expectation, for hits and for graded values alike.

    1,000 worlds of 200 queries; 3 standard errors of their mean. The hits of guesses are drawn anew for each method.
    """
    found = []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        chance = rng.beta(1, 2, 200)
        finds = rng.random(200) < share
        guess, floor = ((rng.random(200) < chance).astype(float) for _ in range(2))
        graded, graded_floor = (rng.beta(2, 4, 200) for _ in range(2))
        own = np.stack([np.where(finds, 1.0, guess), np.where(finds, 0.9, graded)])
        floors = np.stack([floor, graded_floor])
        ceiling = np.stack([np.ones(200), np.full(200, 0.9)])
        found.append((own.mean(axis=1) - floors.mean(axis=1)) / (ceiling.mean(axis=1) - floors.mean(axis=1)))
        if seed < 3:  # the same formula as the verdict's
            verdict = judged(own, [floors], ceiling, np.arange(200), resamples=2)
            assert verdict.skill == pytest.approx(found[-1])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(1000)
    assert np.all(np.abs(mean - share) < 3 * error + 0.002)  # a ratio of means is biased by about 1 / 200 of its spread


def test_the_skill_is_undefined_where_the_references_are_not_above_the_floor():
    own, floor = [[1.0, 0, 1, 0]], [[1.0, 1, 0, 1]]
    found = judged(own, [floor], floor, [0, 1, 2, 3])
    assert np.isnan(found.skill[0])
    assert np.isnan(found.skill_ci95).all()
    assert found.difference[0] == pytest.approx(0.5 - 0.75)


def test_a_spread_widens_the_interval(drawn):
    own, floors, ceiling, video, weight = drawn
    without = judged(own, floors, ceiling, video, weight=weight)
    spread = np.full((3, 2), 0.05)
    with_it = judged(own, floors, ceiling, video, weight=weight, spread=spread)
    for name in ("ci95", "skill_ci95"):
        assert np.all(getattr(with_it, name)[:, 0] < getattr(without, name)[:, 0])
        assert np.all(getattr(with_it, name)[:, 1] > getattr(without, name)[:, 1])
    for name in ("difference", "skill", "strongest_in", "resolves", "against"):
        assert getattr(with_it, name).tolist() == getattr(without, name).tolist()


def test_more_floors_can_only_take_the_title_away(drawn):
    """Another floor lowers the lower end or leaves it; the upper end is corrected for one more."""
    own, floors, ceiling, video, weight = drawn
    fewer = judged(own, floors[:2], ceiling, video, weight=weight)
    more = judged(own, floors, ceiling, video, weight=weight)
    assert np.all(more.ci95[:, 0] <= fewer.ci95[:, 0] + 1e-12)
    assert np.all(more.difference <= fewer.difference + 1e-12)


# ---- Its words


def verdict_with(ci95, skill_ci95, margin=0.0):
    nothing = np.zeros(1)
    return Verdict(
        strongest=np.zeros(1, dtype=np.int64),
        strongest_in=np.ones((1, 1)),
        difference=nothing,
        against=np.zeros((1, 1)),
        against_ci95=np.array([[ci95]]),
        highest=np.array([ci95[1:]]),
        resolves=nothing,
        skill=nothing,
        skill_ci95=np.array([skill_ci95]),
        margin=np.full(1, margin),
    )


NAN = math.nan


@pytest.mark.parametrize(("ci95", "kind"), [((0.01, 0.4), "better"), ((-0.4, -0.01), "worse")])
def test_what_another_training_could_make_is_not_decided(ci95, kind):
    beyond, within = (verdict_with(ci95, ci95, margin) for margin in (0.009, 0.01))
    assert (beyond.kind(0), beyond.within_margin(0)) == (kind, None)
    assert (within.kind(0), within.within_margin(0)) == ("not decided", 0)


def test_worse_than_one_floor_beyond_its_margin_is_worse():
    two = dataclasses.replace(
        verdict_with((-0.4, -0.02), (-0.4, -0.02)), highest=np.array([[-0.02], [-0.01]]), margin=np.array([0.03, 0.0])
    )
    assert (two.kind(0), two.within_margin(0)) == ("worse", None)


@pytest.mark.parametrize(
    ("ci95", "skill_ci95", "kind", "little"),
    [
        ((0.01, 0.4), (0.01, 0.5), "better", False),
        ((0.01, 0.1), (0.01, LITTLE - 0.001), "better", True),
        ((0.01, 0.1), (0.01, LITTLE), "better", False),  # below it, not at it
        ((0.0, 0.1), (0.0, 0.5), "not decided", False),
        ((-0.1, 0.0), (-0.1, 0.0), "not decided", True),
        ((-0.1, 0.1), (-0.1, 0.1), "not decided", True),
        ((-0.2, -0.1), (-0.3, -0.1), "worse", True),
        ((0.01, 0.1), (NAN, NAN), "better", False),
        ((NAN, NAN), (NAN, NAN), "undefined", False),
        ((-0.1, NAN), (-0.1, 0.1), "undefined", True),
    ],
)
def test_the_whole_interval_is_classified(ci95, skill_ci95, kind, little):
    verdict = verdict_with(ci95, skill_ci95)
    assert (verdict.kind(0), verdict.is_little(0)) == (kind, little)


@pytest.fixture
def told(with_floors, constant):
    """Give the findings of R@1,IoU=0.5 by query, of a method and floors on 60 videos of 4 queries."""
    rows = [(f"v{v}#{k}", f"v{v}", 40.0, "a door opens", 0.0, 10.0) for v in range(60) for k in range(4)]
    test = Annotations.from_rows(rows, dataset="invented", split="test")
    train = Annotations.from_rows(  # moments in ten places, as floors need
        [
            (f"t{q}", f"t{v}", 40.0, text, 3.0 * (n % 10), 3.0 * (n % 10) + 10)
            for n, (q, v, _, text, *_) in enumerate(rows)
        ],
        dataset="invented",
        split="train",
    )

    def make(own, floors, n_videos=60):
        few = test.select_queries(np.arange(240) < 4 * n_videos)
        answers = constant(few, 0.0, 10.0)
        results = with_floors(few, answers, {}, splits=Splits(train=train))

        def scores(hits):
            table = np.asarray(hits, dtype=float)[None, : 4 * n_videos]
            return dataclasses.replace(results.evaluate(answers), numerator=table)

        floors = [FloorResult(name, name, "floor", scores(hits), answers) for name, hits in floors.items()]
        results.__dict__["_floors"] = tuple(floors), ()
        results.__dict__["scores"] = scores(own)
        return better_than_guessing.look(results), skill.look(results)

    return make


def hits(share, seed):
    return np.random.default_rng(seed).random(240) < share


def test_better(told):
    found, of_skill = told(hits(0.8, 0), {"one": hits(0.2, 1), "two": hits(0.3, 2)})
    assert found.verdict.startswith("Better than the 2 blind baselines tried: ")
    assert " points above two at R@1,IoU=0.5 (" in found.verdict
    assert (found.level, found.holds) == ("good", True)
    assert (of_skill.level, of_skill.holds) == ("good", True)
    assert of_skill.figure == pytest.approx((hits(0.8, 0).mean() - hits(0.3, 2).mean()) / (1 - hits(0.3, 2).mean()))


def test_better_but_little(told):
    """The method finds 20 of the 240 queries and answers the others as the floor does: a skill of about 0.1."""
    floor = hits(0.3, 1)
    own = floor | (np.arange(240) % 12 == 0)
    found, of_skill = told(own, {"one": floor})
    assert found.verdict.startswith("Better than the 1 blind baseline tried, but little: ")
    assert (found.level, found.holds) == ("warning", True)
    assert (of_skill.level, of_skill.holds) == ("note", True)


def test_worse(told):
    found, of_skill = told(hits(0.1, 0), {"one": hits(0.5, 1), "two": hits(0.05, 2)})
    assert found.verdict.startswith("Worse than the strongest of the 2 blind baselines tried: ")
    assert " points below one at " in found.verdict
    assert (found.level, found.holds) == ("serious", False)
    assert (of_skill.level, of_skill.holds) == ("warning", False)


def test_not_decided_says_what_the_split_can_show(told):
    """Hits drawn apart with chances of 0.5 and 0.42: on 240 queries the difference is no more than its error."""
    found, _ = told(hits(0.5, 0), {"one": hits(0.42, 1)})
    assert found.verdict.startswith("Not decided against the 1 blind baseline tried: ")
    assert "the smallest difference that can be detected with 80 % power is " in found.verdict
    assert (found.level, found.holds) == ("serious", False)


def test_at_most_a_little_better(told):
    """The two differ on ten queries, in both directions: no skill of 0.2 is left in the interval."""
    own = hits(0.5, 0)
    floor = own ^ (np.arange(240) % 24 == 0)
    found, _ = told(own, {"one": floor})
    assert found.verdict.startswith("Not decided, and at most a little better than the 1 blind baseline tried: ")
    assert (found.level, found.holds) == ("serious", False)


def test_few_videos_are_a_warning_though_better(told):
    found, _ = told(np.ones(240), {"one": hits(0.3, 1)}, n_videos=49)
    assert (found.level, found.holds) == ("warning", True)
    assert found.verdict.endswith(" With only 49 videos, the verdict depends much on the choice of videos.")
    assert told(np.ones(240), {"one": hits(0.3, 1)}, n_videos=50)[0].level == "good"


def test_no_word_calls_anybody_a_guesser(told):
    """People's second annotations can be audited as predictions; the words must be true of them too."""
    for own, floor in ((0.8, 0.2), (0.1, 0.5), (0.5, 0.47), (0.5, 0.5)):
        for finding in told(hits(own, 0), {"one": hits(floor, 1)}):
            assert "guesser" not in finding.verdict
