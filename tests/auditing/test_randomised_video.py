"""The randomised-video check on a model: what it is shown, and what it answers then."""

import numpy as np
import pytest

from truemoment.base.errors import UsageError
from truemoment.base.records import Predictions
from truemoment.media.features.changed import CHANGES, ChangedFeatures
from truemoment.studies.audit.shuffled import SeesVideo, compare_shuffled, predict_on_changed
from truemoment.worlds import ToyGrounder, make_world


class Watcher:
    """Answers from where its video's first number is highest; remembers what it was shown."""

    name = "watcher"

    def __init__(self, features):
        self.features = features

    def with_features(self, features, /):
        return Watcher(features)

    def ground(self, queries, top=1):
        answers = {}
        for query_id, video_id, duration_s in zip(queries.query_id, queries.video_id, queries.duration_s, strict=True):
            rows = self.features[video_id][:, 0]
            edges = np.linspace(0, duration_s, len(rows) + 1)
            best = np.argsort(-rows, kind="stable")[:top]
            answers[query_id] = [(edges[b], edges[b + 1], float(rows[b])) for b in best]
        return Predictions.from_lists(answers)


@pytest.fixture(scope="module")
def world():
    return make_world(60, location_prior=0.0, query_prior=0.0, perception=0.9, seed=4)


def test_each_way_is_answered_on_its_own_features(world):
    queries = world.splits["test-iid"].queries
    told = []
    found = predict_on_changed(Watcher(world.features), queries, top=2, seed=5, on_status=told.append)
    assert tuple(found) == CHANGES
    assert told == [f"{way} videos" for way in CHANGES]
    for way, answers in found.items():
        store = world.features if way == "original" else ChangedFeatures(world.features, way, 5)
        alone = Watcher(store).ground(queries, 2)
        assert np.array_equal(answers.start_s, alone.start_s)
        assert np.array_equal(answers.score, alone.score)
    some = predict_on_changed(Watcher(world.features), queries, top=2, seed=5, changes=("frozen", "original"))
    assert tuple(some) == ("frozen", "original")
    assert np.array_equal(some["frozen"].start_s, found["frozen"].start_s)


def test_the_toy_method_is_one_that_sees(world):
    toy = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])
    assert isinstance(toy, SeesVideo)
    test = world.splits["test-iid"]
    found = predict_on_changed(toy, test.queries, top=1, seed=0)
    assert np.array_equal(found["original"].start_s, toy.ground(test.queries, 1).start_s)
    for way in CHANGES[1:]:
        assert compare_shuffled(test, found["original"], found[way]).share_unchanged < 0.7
    # Of a frozen video every row is the same, so that only words and priors are left: the answer hangs on nothing else.
    blind = predict_on_changed(toy, test.queries, top=1, seed=9, changes=("frozen",))["frozen"]
    assert np.array_equal(blind.start_s, found["frozen"].start_s)


def test_what_cannot_be_run_is_refused(world):
    queries = world.splits["test-iid"].queries
    with pytest.raises(UsageError, match="got change 'blurred', expected one of original"):
        predict_on_changed(Watcher(world.features), queries, top=1, seed=0, changes=("original", "blurred"))
    with pytest.raises(UsageError, match="watcher sees no video"):
        predict_on_changed(Watcher(None), queries, top=1, seed=0)
