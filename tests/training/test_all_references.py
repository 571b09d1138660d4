"""Runs that learn from all references of a query and from ratings of clips, and answer with ratings."""

import dataclasses
import math

import numpy as np
import pytest

from truemoment.base.errors import InputError
from truemoment.base.records import Annotations, Saliency
from truemoment.baselines.targets import clip_ratings, moments_of_queries
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.learning.models.base import TIMES
from truemoment.learning.training.grounding import TASK
from truemoment.learning.training.network import build_network
from truemoment.learning.training.performing import perform
from truemoment.learning.training.progress import unseen
from truemoment.learning.training.run import Run
from truemoment.learning.training.video_pairs import WholeVideos
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.media.features.base import Features

SEVEN = [(2.0 * at, 2.0 * at + 2.0) for at in range(7)]
UNUSABLE, OUTSIDE = (5.0, 5.0), (30.0, 40.0)


def split_of(name, windows_of, *, rated=True):
    """A query a video of 20 s, in clips of 2 s; the first clip of each window is rated 1, 2, 3 by three people."""
    rows = [
        (f"{name}{query}", f"{name}-{query}", 20.0, f"person {query} opens", *window)
        for query, windows in enumerate(windows_of)
        for window in windows
    ]
    clips = [[int(start // 2) for start, _ in windows if start < 20] for windows in windows_of]
    flat = np.array([clip for clips_of in clips for clip in clips_of])
    saliency = Saliency(np.cumsum([0, *map(len, clips)]), flat, np.tile([1, 2, 3], (len(flat), 1)), 2.0)
    annotations = Annotations.from_rows(rows, split=name)
    return dataclasses.replace(annotations, saliency=saliency if rated else None)


TRAIN = split_of("train", [SEVEN, [(4.0, 8.0)], [UNUSABLE, (6.0, 22.0)], [UNUSABLE], *[[(2.0, 6.0)]] * 12])
VAL = split_of("val", [[(0.0, 4.0), (8.0, 12.0)]] * 4)


def store_of(*splits, n_rows=10):
    rng = np.random.default_rng(0)
    videos = [video for split in splits for video in dict.fromkeys(split.video_id.tolist())]
    rows = {video: rng.standard_normal((n_rows, 6)).astype(np.float32) for video in videos}
    return Features(rows, fps=n_rows / 20)


def run_of(tiny, model="moment-detr", *changes, n_rows=10):
    recipe = tiny(model, "rows=10", *changes)
    words = TokenVocabulary(("person", "opens"))
    store = store_of(TRAIN, VAL, n_rows=n_rows)
    return Run(recipe, 0, TRAIN, VAL, {"val": VAL}, "memory", store, vocabulary=words, caution="by force: a test")


def prepared(run):
    run = run.learnable()
    return WholeVideos.prepare(run, build_network(run.recipe, run.vocabulary, run.n_dimensions), unseen)


def test_a_query_is_kept_if_any_reference_is_usable():
    needs = frozenset({"video", "moments", "ratings"})
    assert TASK.learnable(TRAIN, needs)[:4].tolist() == [True, True, True, False]
    assert TASK.learnable(TRAIN, frozenset({"moment"}))[:4].tolist() == [True, True, False, False]


def test_ratings_and_moments_are_times():
    """What learns without times does not see them: WSSL's guarantee."""
    assert {"moments", "ratings"} <= TIMES


def test_moments_of_queries_are_the_usable_ones():
    moments = moments_of_queries(TRAIN)
    assert moments.shape == (16, 7, 2)
    np.testing.assert_allclose(moments[0, :, 0], np.arange(7) / 10, rtol=1e-6)
    np.testing.assert_allclose(moments[2, 0], [0.3, 1.0], rtol=1e-6)
    assert np.isnan(moments[2, 1:]).all()
    assert np.isnan(moments[3]).all()


def test_ratings_are_sums_and_unknown_elsewhere():
    ratings = clip_ratings(TRAIN, 4)
    assert np.array_equal(ratings[0], [6, 6, 6, 6])
    assert np.array_equal(ratings[1], [math.nan, math.nan, 6, math.nan], equal_nan=True)
    assert np.isnan(clip_ratings(split_of("other", [[(0.0, 2.0)]], rated=False), 4)).all()


def test_five_of_seven_moments_are_drawn_by_seed_and_epoch(tiny):
    data = prepared(run_of(tiny))
    drawn = [data.epoch(number)[0].columns["moments"] for number in range(1, 40)]
    assert all(moments.shape == (15, 5, 2) for moments in drawn)
    starts = [np.rint(10 * moments[0, :, 0]).astype(int).tolist() for moments in drawn]
    assert all(len(set(start)) == 5 and start == sorted(start) for start in starts)
    assert {at for start in starts for at in start} == set(range(7))
    np.testing.assert_array_equal(data.epoch(3)[0].columns["moments"], drawn[2])
    np.testing.assert_array_equal(drawn[0][1:], drawn[1][1:])  # of the others nothing is drawn


def test_with_fewer_slots_fewer_moments_are_drawn(tiny):
    data = prepared(run_of(tiny, "moment-detr", "settings.slots=3"))
    assert data.epoch(1)[0].columns["moments"].shape[1] == 3


def test_rows_that_are_not_the_rated_clips_are_refused(tiny):
    with pytest.raises(InputError, match="video 'train-0': got 5 rows for 20 s, expected 10, one for each rated clip"):
        prepared(run_of(tiny, n_rows=5))


@pytest.mark.slow
def test_ratings_go_into_the_file_and_are_measured(tiny, tmp_path):
    result = perform(run_of(tiny, "qd-detr"), tmp_path / "run")
    assert {"margin", "rank", "negative", "span", "span_0"} <= result.history[0].loss.keys()
    answers, _ = read_predictions(tmp_path / "run" / "val.jsonl", VAL)
    assert np.diff(answers.saliency_offsets).tolist() == [10] * 4
    assert 0 < evaluate(VAL, answers, ["HL-mAP,min=Fair"]).value("HL-mAP,min=Fair") <= 1
