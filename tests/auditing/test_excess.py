"""What is found where the sentence network misses: planted hits, simulations, and networks out of fold."""

import hashlib
import math

import numpy as np
import pytest

from truemoment.base.boundary.caching import Cache
from truemoment.base.records import Predictions
from truemoment.baselines.network_row import excess
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.studies.audit.checks import excess_where_blind_misses as check

pytestmark = pytest.mark.slow


MEASURE = parse_measures("R@1,IoU=0.5")[0]


def test_the_excess_is_that_of_a_loop():
    rng = np.random.default_rng(0)
    hits = (rng.random((60, 3)) < 0.5).astype(float)
    video = np.array([f"v{q // 4}" for q in range(60)], dtype=object)
    (value,), ((low, high),) = excess(hits, video, np.random.default_rng(1), resamples=200)
    missed = [(own, second) for own, first, second in hits.tolist() if first == 0]
    assert value == pytest.approx(sum(own - second for own, second in missed) / len(missed))
    assert low < value < high


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_simulated_methods_are_recovered(share):
    """A method that finds a share t and else guesses as the networks do has the excess of the module's formula.

    Chances p differ by query; of those that the first network misses, the second one misses sum (1 - p)^2 / sum
    (1 - p). 400 worlds of 60 videos with four queries; the interval holds the truth in 95 % of them, 3 standard errors
    allowed; a method that finds nothing is called better in 2.5 % at most, again but for 3 standard errors.
    """
    rng, covered, better = np.random.default_rng(3), 0, 0
    video = np.array([f"v{q // 4}" for q in range(240)], dtype=object)
    for _ in range(400):
        chance = rng.beta(1, 2, 240)
        own, first, second = (rng.random(240) < chance for _ in range(3))
        hits = np.stack([own | (rng.random(240) < share), first, second], axis=1).astype(float)
        truth = share * np.sum((1 - chance) ** 2) / np.sum(1 - chance)
        _, ((low, high),) = excess(hits, video, rng, resamples=200)
        covered += low <= truth <= high
        better += low > 0
    assert covered >= 400 * (0.95 - 3 * math.sqrt(0.95 * 0.05 / 400))
    assert better <= 400 * (0.025 + 3 * math.sqrt(0.025 * 0.975 / 400)) if share == 0 else better > 200


def test_hits_are_counted_where_the_networks_of_the_floor_miss(plain_audit):
    """Against loops over the queries, with the answers of the two fitted networks by R@1."""
    results = plain_audit.results
    found = results.cached(check.network_excess)
    assert (str(found.measure), found.out_of_fold) == ("R@1,IoU=0.5", False)
    queries = results.annotations.queries
    answers = [network.for_measures([MEASURE])[0].ground(queries) for network in results.networks]
    tables = [evaluate(results.annotations, of, [MEASURE]) for of in (results.setup.predictions, *answers)]
    hits = np.stack([of.numerator[0] for of in tables], axis=1)
    missed = hits[hits[:, 1] == 0]
    assert (found.n_missed, found.n_hit) == (len(missed), len(hits) - len(missed))
    assert found.where_missed == pytest.approx(missed.mean(axis=0))
    assert found.where_hit == pytest.approx(hits[hits[:, 1] == 1].mean(axis=0))
    assert (found.where_missed[1], found.where_hit[1]) == (0, 1)
    assert found.excess == pytest.approx(found.where_missed[0] - found.where_missed[2])
    # Classes: as many queries in each, by the probability that the first network gives its answer.
    score = dict(zip(answers[0].query_id, answers[0].score[answers[0].offsets[:-1]], strict=True))
    order = sorted(range(len(hits)), key=lambda q: score[queries.query_id[q]])
    classes = np.array_split(order, check.N_CLASSES)
    assert found.n_queries.tolist() == [len(of) for of in classes]
    for row, of in enumerate(classes):
        assert found.probability[row] == pytest.approx(np.mean([score[queries.query_id[q]] for q in of]))
        assert found.hits[row] == pytest.approx(hits[of].mean(axis=0))


def test_a_method_that_sees_finds_what_the_network_misses(plain_audit):
    [found] = [of for of in plain_audit.findings if of.check == check.NAME]
    where = plain_audit.results.cached(check.network_excess)
    assert found.holds is True
    assert found.figure == where.least <= where.excess  # a floor may find more of what the network misses
    missed, hit = 100 * where.where_missed[0], 100 * where.where_hit[0]
    words = (
        f"The method hits {missed:.0f} % of the queries that the sentence network misses (where it hits: {hit:.0f} %). "
    )
    assert found.verdict.startswith(words)


@pytest.mark.parametrize(
    ("headline", "hit"),
    [
        ("R@1,IoU=0.7", "R@1,IoU=0.7"),
        ("R@5,IoU=0.3", "R@1,IoU=0.3"),  # a list measure: a hit of the first answer
        ("dR@1,IoU=0.7", "R@1,IoU=0.7"),
        ("mIoU", "R@1,IoU=0.5"),
        ("mAP", "R@1,IoU=0.5"),
    ],
)
def test_a_hit_is_r1_at_the_headline_s_iou(headline, hit):
    assert str(check.hit_of(parse_measures(headline)[0])) == hit


# ---- Its words


def test_a_floor_that_hits_where_the_networks_miss_has_no_excess(invented, constant, with_floors, monkeypatch):
    """Constants hit up to 11 points more of what the networks miss on Charades-STA than the second network does."""
    test = invented("test", 60, 0)
    early, late = constant(test, 0.0, 10.0), constant(test, 25.0, 35.0)
    monkeypatch.setattr(check, "network_answers", lambda *_: (early, early))
    results = with_floors(test, late, {"early": early, "late": late})
    found, where = check.look(results), results.cached(check.network_excess)
    assert (where.excess, where.floor.name, where.floor.where_missed, where.floor.excess) == (1.0, "late", 1.0, 0.0)
    assert (found.figure, found.holds, found.level) == (0.0, False, "warning")
    assert "The closest floor, late, hits 100 %: 0.0 points" in found.verdict


def planted(results, ci95, *, n_missed=50, n_hit=50):
    nothing = np.full(3, math.nan)
    results._cache[check.network_excess] = check.NetworkExcess(
        measure=MEASURE,
        out_of_fold=False,
        n_missed=n_missed,
        n_hit=n_hit,
        where_missed=np.array([0.3, 0.0, 0.1]) if n_missed else nothing,
        where_hit=np.array([0.8, 1.0, 0.7]) if n_hit else nothing,
        excess=0.2,
        ci95=np.array(ci95),
        floor=check.FloorExcess("a floor", 0.05, 0.25, np.array(ci95) + 0.05),
        probability=np.array([0.2, 0.6]),
        n_queries=np.array([50, 50]),
        hits=np.array([[0.3, 0.0, 0.1], [0.8, 1.0, 0.7]]),
    )
    return check.look(results)


@pytest.fixture
def results(invented, constant, with_floors):
    test = invented("test", 10, 0)
    return with_floors(test, constant(test, 0.0, 10.0), {"floor": constant(test, 0.0, 10.0)})


@pytest.mark.parametrize(
    ("ci95", "level", "holds"),
    [
        ((0.11, 0.3), "good", True),
        ((0.05, 0.3), "note", True),
        ((0.0, 0.3), "warning", False),
        ((-0.1, 0.1), "serious", False),
    ],
)
def test_the_level_follows_the_interval(results, ci95, level, holds):
    found = planted(results, ci95)
    assert (found.level, found.holds, found.figure) == (level, holds, 0.2)
    assert "A second sentence network hits 10 % of them, so the excess is +20.0" in found.verdict


def test_a_network_that_misses_nothing_or_everything(results):
    assert planted(results, (math.nan, math.nan), n_missed=0).verdict.endswith("the sentence network misses no query.")
    found = planted(results, (0.1, 0.3), n_hit=0)
    assert found.verdict.startswith("The method hits 30 % of the queries that the sentence network misses. A second ")


# ---- Without a training split


def place_of(query_id):
    """One of the two places of the split's moments, as a hash of the query's id deals them."""
    start = 25.0 * (hashlib.sha256(query_id.encode()).digest()[0] % 2)
    return start, start + 10.0


class Watched:
    """Stands for the network: answers each query by its id, and checks what it was fitted on and asked."""

    fitted = 0

    def __init__(self, *_):
        self.train = None

    def fit(self, train):
        Watched.fitted += 1
        self.train = train
        return self

    def ground(self, queries):
        assert self.train is not None
        assert not set(queries.video_id) & set(self.train.video_id)
        assert len(set(queries.video_id) | set(self.train.video_id)) == 30
        return Predictions.from_lists({q: [(*place_of(q), 0.5)] for q in queries.query_id})


@pytest.fixture
def unfitted(invented, references_as_answers, with_floors, monkeypatch, tmp_path):
    """Give the maker of results without a training split, with a cache of their own."""
    monkeypatch.setattr(check, "ExpectedValue", Watched)
    monkeypatch.setattr(Watched, "fitted", 0)
    test = invented("test", 30, 0)

    def make(**more):
        return with_floors(test, references_as_answers(test), {}, cache=Cache(tmp_path / "cache"), **more)

    return make


def test_networks_out_of_fold_never_answer_a_video_they_learned_from(unfitted):
    """Each query is answered once by each network, and with its own answer."""
    results = unfitted()
    found = results.cached(check.network_excess)
    assert found.out_of_fold
    pairs = zip(results.annotations.query_id, results.annotations.start_s, strict=True)
    n_hit = sum(place_of(query_id)[0] == start for query_id, start in pairs)
    assert (found.n_hit, found.n_missed) == (n_hit, 60 - n_hit)
    assert (found.where_missed[0], found.where_missed[2], found.excess) == (1.0, 0.0, 1.0)
    assert Watched.fitted == 2 * check.N_FOLDS
    assert "which learned from four fifths of the videos" in check.look(results).evidence[1]


def test_networks_out_of_fold_are_kept(unfitted):
    """The same audit trains none of them again; one of another seed trains its own."""
    first = unfitted().cached(check.network_excess)
    again = unfitted().cached(check.network_excess)
    assert Watched.fitted == 2 * check.N_FOLDS
    assert (again.excess, again.n_missed) == (first.excess, first.n_missed)
    assert again.hits.tolist() == first.hits.tolist()
    unfitted(seed=1).cached(check.network_excess)
    assert Watched.fitted == 4 * check.N_FOLDS


def test_a_single_video_has_no_others_to_learn_from(invented, constant, with_floors):
    test = invented("test", 1, 0)
    assert check.look(with_floors(test, constant(test, 0.0, 10.0), {})) is None
