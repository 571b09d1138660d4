"""Pairs of queries and windows: which are learned from, how batches are drawn, and what is answered."""

import numpy as np
import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.learning.models.base import VideoRows
from truemoment.learning.training.examples import read_sentences
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.network import build_network
from truemoment.learning.training.performing import perform
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.learning.training.window_pairs import WindowsToAnswer, distinct_batches, windows_to_learn

from ..thorough import quick_are


@pytest.fixture(scope="module")
def made(world, tiny):
    """Recipe, model, vocabulary and pairs to learn from on the world."""
    recipe, vocabulary = tiny("ctrl"), TokenVocabulary(("person", "door"))
    model = build_network(recipe, vocabulary, world.features.n_dimensions).model
    first = world.splits["train"]
    sentences = read_sentences(first.queries, vocabulary, recipe, model.needs)
    return model, first, *windows_to_learn(first, world.features, sentences, recipe, model)


def test_pairs_are_found_one_by_one(made):
    """ctrl.md, section 3.1: every window of the video of every query, by both thresholds."""
    model, first, pairs, log = made
    expected = set()
    for row in range(len(first)):
        start, end = max(first.start_s[row], 0), min(first.end_s[row], first.duration_s[row])
        for low, high in model.windows_s(float(first.duration_s[row])).tolist():
            inside = max(0.0, min(high, end) - max(low, start)) / (high - low)
            iou = temporal_iou(np.array(low), np.array(high), np.array(start), np.array(end))
            if iou > 0.5 and 1 - inside < 0.15:
                expected.add((row, low, high))
    windows = pairs.columns["windows_s"][:, 0].tolist()
    assert {(row, *window) for row, window in zip(pairs.query.tolist(), windows, strict=True)} == expected
    assert len(pairs) == len(expected) > len(first)
    without = 1 - len({row for row, *_ in expected}) / len(first)
    assert log["queries without a window"] == pytest.approx(without)
    assert sum(log[f"windows with {count} contexts"] for count in range(3)) == pytest.approx(1)


def test_a_pair_has_its_own_sentence_slots_and_moment(made, world):
    _, first, pairs, _ = made
    rows = [0, len(pairs) // 2, len(pairs) - 1]
    batch = pairs.__getitems__(rows)
    assert batch.video.shape == (3, 1, 3, world.features.n_dimensions)
    for at, row in enumerate(rows):
        query = pairs.query[row]
        window = batch.windows_s[at].numpy()
        video_id, seconds = str(first.video_id[query]), float(first.duration_s[query])
        features, edges = world.features[video_id], world.features.edges_s(video_id, seconds)
        features = features / np.linalg.norm(features, axis=1, keepdims=True)
        centres = (edges[1:] + edges[:-1]) / 2
        inside = (centres >= window[0, 0] - 1e-6) & (centres < window[0, 1] - 1e-6)
        np.testing.assert_allclose(batch.video[at, 0, 1], features[inside].mean(axis=0), atol=1e-5)
        moment = batch.moment[at].numpy() * seconds
        np.testing.assert_allclose(moment, [first.start_s[query], first.end_s[query]], atol=1e-4)
        offsets = moment - window[0]
        assert np.abs(offsets).sum() <= window[0, 1] - window[0, 0]  # section 7, check 7


def test_no_moment_is_twice_in_a_batch_and_an_epoch_is_a_pass_over_all_pairs(made):
    """ctrl.md, section 3.2."""
    _, _, pairs, _ = made
    drawn = np.random.default_rng(0).permutation(len(pairs))
    moments = [pairs.moment[drawn[low : low + 16]] for low in range(0, len(drawn), 16)]
    assert any(len(set(of.tolist())) < len(of) for of in moments)  # the rule has something to do
    for seed in range(3):
        order = pairs.order(16, np.random.default_rng(seed))
        assert sorted(order.tolist()) == list(range(len(pairs)))
        for low in range(0, len(order), 16):
            batch = pairs.moment[order[low : low + 16]].tolist()
            assert len(set(batch)) == len(batch)
        assert order.tolist() == pairs.order(16, np.random.default_rng(seed)).tolist()


def test_moments_are_one_where_video_and_both_ends_are(made):
    _, first, pairs, _ = made
    of_moment = {}
    for query, moment in zip(pairs.query.tolist(), pairs.moment.tolist(), strict=True):
        of_moment.setdefault(moment, set()).add((first.video_id[query], first.start_s[query], first.end_s[query]))
    assert all(len(of) == 1 for of in of_moment.values())
    assert len(set().union(*of_moment.values())) == len(of_moment)


def test_a_moment_with_more_pairs_than_batches_keeps_its_places():
    order = np.arange(6)
    found = distinct_batches(order, np.zeros(6, dtype=np.int64), 3, np.random.default_rng(0))
    assert found.tolist() == order.tolist()


def test_every_pair_of_two_is_drawn_together_about_as_often():
    """An exchange keeps draws even: of 12 pairs in batches of 2, each is beside each other of the 10 in 1 of 10."""
    moment = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    counts = np.zeros((12, 12))
    rng = np.random.default_rng(0)
    for _ in range(3000):
        for one, other in distinct_batches(rng.permutation(12), moment, 2, rng).reshape(-1, 2).tolist():
            counts[one, other] += 1
            counts[other, one] += 1
    apart = moment[:, None] != moment
    assert not counts[~apart].any()
    np.testing.assert_allclose(counts[apart] / 3000, 0.1, atol=0.025)


def test_windows_to_answer_are_those_of_each_video(made, world, tiny, queries_of):
    model, *_ = made
    names = dict.fromkeys(world.splits["val"].video_id.tolist())
    shown = [world.features[name] for name in list(names)[:2]]
    videos = [VideoRows(of, np.linspace(0, s, len(of) + 1), s) for of, s in zip(shown, (12.0, 30.0), strict=True)]
    sentences = read_sentences(
        queries_of("a door", "a person", "door"), TokenVocabulary(("door",)), tiny("ctrl"), model.needs
    )
    pairs = WindowsToAnswer(sentences, np.array([1, 0, 1]), videos, model)
    batch = pairs.__getitems__([0, 1, 2])
    counts = [len(model.windows_s(seconds)) for seconds in (30.0, 12.0, 30.0)]
    assert torch.isfinite(batch.windows_s[..., 0]).sum(dim=1).tolist() == counts
    assert batch.video.shape[:3] == (3, max(counts), 3)
    assert batch.duration_s.tolist() == [30.0, 12.0, 30.0]
    np.testing.assert_array_equal(batch.video[1, : counts[1]], model.see(videos[0], 1))
    assert not batch.video[1, counts[1] :].any()
    assert torch.equal(batch.video[0], batch.video[2])


@pytest.mark.parametrize("name", quick_are(["acrn"], ["ctrl", "acrn"]))
def test_a_run_is_resumed_to_the_bit_and_answers_within_videos(name, make_run, world, tmp_path):
    whole = perform(make_run(name), tmp_path / "whole")
    assert whole.history[1].loss["total"] < whole.history[0].loss["total"]

    def cut(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(make_run(name), tmp_path / "cut", on_epoch=cut)
    perform(make_run(name), tmp_path / "cut")
    one, other = ((tmp_path / folder / "best.safetensors").read_bytes() for folder in ("whole", "cut"))
    assert one == other
    queries = world.splits["test-ood"].queries
    found = TrainedGrounder.load(tmp_path / "whole", store=world.features).ground(queries, top=5)
    assert found.lengths.min() >= 1
    assert (found.start_s >= 0).all()
    assert (found.end_s <= np.repeat(queries.duration_s, found.lengths) + 1e-9).all()


def test_windows_that_fit_no_moment_are_refused(make_run, tmp_path):
    with pytest.raises(UsageError, match=r"no window of \(4,\) frames fits a moment of .*: change settings.lengths"):
        perform(make_run("ctrl", "settings.lengths=[4]"), tmp_path / "run")
