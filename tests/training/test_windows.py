"""Training on windows of films: what an epoch is made of, how films are answered, that other runs stay as they were."""

import dataclasses

import msgspec
import numpy as np
import pytest
import torch

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.base.records import Annotations, Queries
from truemoment.evaluation.evaluate import evaluate
from truemoment.learning.training import checkpoints
from truemoment.learning.training.examples import WindowTable, make_long_video_table
from truemoment.learning.training.grounding import TrainedGrounder
from truemoment.learning.training.network import build_network
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import names, read_recipe
from truemoment.learning.training.run import Run
from truemoment.learning.training.variants import VariantGrid, make_variants
from truemoment.learning.training.vocabulary import make_vocabulary
from truemoment.learning.training.windows import AllCandidates, in_windows
from truemoment.media.features.base import Features
from truemoment.media.features.resampling import normalise, resample
from truemoment.searching.windowed import WindowedGrounder
from truemoment.searching.windows import LongVideo, Windows

from ..thorough import quick_are

HASHES = {
    "blind-tan": "9d97952eb687",
    "blind-tan-full": "9a6ba25fee6d",
    "mdd": "db19393524d9",
    "mdd-full": "8540e2cc5397",
    "tan2d": "bb1d783e8213",
    "tan2d-full": "1efaa8349f66",
    "tcn-dcm": "c07330dd3cbf",
    "tcn-dcm-full": "3a9a84cca9f1",
}
"""Hashes of the recipes before there were windows: read_recipe(name).hash at commit 8522793.

Those of full recipes are later: their text.tokens changed, see tests/training/test_recipes.py.
"""

WINDOWS = ("windows.seconds=30", "windows.negatives=0.5", "decode.nms=0.3")


@pytest.fixture(scope="module")
def films(world):
    """Annotations by split and features: the world's short videos, four to a film, one behind the other."""
    splits, frames, fps = {}, {}, world.features.fps
    for split in ("train", "val", "test-iid"):
        of, rows = world.splits[split], []
        ids = list(dict.fromkeys(of.video_id))
        for low in range(0, len(ids), 4):
            film, some, begin = f"{split}-film{low // 4}", ids[low : low + 4], 0
            frames[film] = np.concatenate([world.features[name] for name in some])
            for name in some:
                for row in np.flatnonzero(of.video_id == name):
                    moment = begin / fps + of.start_s[row], begin / fps + of.end_s[row]
                    rows.append((of.query_id[row], film, len(frames[film]) / fps, of.sentence[row], *moment))
                begin += len(world.features[name])
        splits[split] = Annotations.from_rows(rows, split=split)
    return splits, Features(frames, fps=fps)


@pytest.fixture
def make_film_run(films, tiny):
    """Make a make_run on films: make_film_run("tan2d", "train.epochs=3")."""
    splits, store = films

    def make(name="tan2d", *changes, seed=0, tests=None):
        recipe = tiny(name, *WINDOWS, *changes)
        sees = name != "blind-tan"
        return Run(
            recipe=recipe,
            seed=seed,
            train=splits["train"],
            val=splits["val"],
            tests=tests or {},
            features="films" if sees else "",
            store=store if sees else None,
        )

    return make


def epochs_of(run):
    vocabulary = make_vocabulary(run.recipe.text, run.train.queries.sentence, (), None)
    run = dataclasses.replace(run, vocabulary=vocabulary).learnable()
    network = build_network(run.recipe, vocabulary, run.n_dimensions)
    return run.family.task.prepare(run, network, lambda items, _: items), network, vocabulary


class TestRecipes:
    @pytest.mark.parametrize("name", HASHES)
    def test_recipes_without_windows_are_what_they_were(self, name):
        recipe = read_recipe(name)
        assert recipe.hash == HASHES[name]
        assert b"windows" not in msgspec.json.encode(recipe)

    def test_a_run_without_windows_is_written_and_read_as_it_was(self, make_run, tmp_path):
        perform(make_run("tan2d", "train.epochs=1"), tmp_path / "run")
        assert "windows" not in (tmp_path / "run" / "run.json").read_text()
        perform(make_run("tan2d", "train.epochs=1"), tmp_path / "run")

    def test_windows_are_part_of_the_hash(self):
        asked = [(), ("windows.seconds=25.6",), ("windows.negatives=0.6",), ("windows.negatives_from=anywhere",)]
        assert len({read_recipe("tan2d", changes).hash for changes in asked}) == len(asked)

    @pytest.mark.parametrize("name", ["tan2d-windows", "vlg-net-mad", "vlg-net-mad-full"])
    def test_the_recipe_of_windows_is_mads(self, name):
        """MAD, section 4 and A.2: 25.6 s at a stride of half, 70 % negatives, suppression at 0.3, 100 moments."""
        assert name in names()
        recipe = read_recipe(name)
        windows = recipe.windows
        assert (windows.seconds, windows.stride, windows.negatives, windows.negatives_from) == (25.6, 0.5, 0.7, "apart")
        assert (recipe.decode.nms, recipe.decode.top) == (0.3, 100)

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ("windows.second=3", "windows"),
            ("windows.seconds=0", r"windows\.seconds"),
            ("windows.stride=1.5", r"windows\.stride"),
            ("windows.stride=0", r"windows\.stride"),
            ("windows.negatives=2", r"windows\.negatives"),
            ("windows.negatives_from=afar", r"windows\.negatives_from"),
            ("windows.tail=long", r"windows\.tail"),
            ("windows=25", "windows"),
        ],
    )
    def test_what_no_window_is_is_refused_by_name(self, change, told):
        with pytest.raises(InputError, match=told):
            read_recipe("tan2d", [change])

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("ctrl", "ctrl learns from sliding windows itself; predict long videos with truemoment.searching.windowed"),
            ("acrn", "acrn learns from sliding windows itself"),
            ("wssl", "wssl learns without the times of moments, by which windows are drawn"),
        ],
    )
    def test_methods_that_cannot_learn_from_windows_are_refused_before_a_run_is_made(self, name, told):
        with pytest.raises(InputError, match=rf"{name}.yaml: field windows: {told}"):
            read_recipe(name, ["windows.seconds=8"])


class TestTables:
    def test_windows_are_resampled_as_short_videos_are(self):
        """The slow way: each window cut out of its film and resampled by itself; windows of three lengths."""
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((300, 5)).astype(np.float32)
        films = [LongVideo("a", 100, 5.0), LongVideo("b", 200, 5.0)]
        first = np.array([0, 80, 150, 3, 0, 199])
        length = np.array([20, 20, 33, 33, 20, 1])
        of = [films[k] for k in (0, 0, 1, 0, 1, 1)]
        low = first + [0 if film.video_id == "a" else 100 for film in of]
        table = WindowTable(rows, low, low + length, length / 5.0, lambda video: resample(video.rows, 16))
        found = table.take(np.array([5, 0, 2, 2, 1, 3, 4]))
        for at, window in enumerate([5, 0, 2, 2, 1, 3, 4]):
            low = first[window] + 100 * (of[window].video_id == "b")
            np.testing.assert_allclose(found[at], resample(rows[low : low + length[window]], 16), atol=1e-6)

    def test_films_lie_behind_each_other(self, films, tiny):
        _, store = films
        some = [LongVideo(name, len(store[name]) - 3, store.fps) for name in list(store)[:3]]
        table = make_long_video_table(store, [*some, some[0]], tiny("tan2d"))
        assert len(table.rows) == sum(film.n_rows for film in some)
        for film in some:
            begin = table.begins[film.video_id]
            expected = normalise(store[film.video_id])[: film.n_rows]
            np.testing.assert_array_equal(table.rows[begin : begin + film.n_rows], expected)

    def test_numbers_that_are_not_finite_are_told(self, tiny):
        store = Features({"a": np.full((40, 2), np.inf, dtype=np.float32)}, fps=1.0)
        with pytest.raises(InputError, match="not finite"):
            make_long_video_table(store, [LongVideo("a", 40, 1.0)], tiny("tan2d"))


class TestEpochs:
    def test_targets_and_features_are_of_the_same_window(self, make_film_run):
        """The slow way: each cell's seconds in the film against the reference, both within the window; 0 without it."""
        run = make_film_run("tan2d", "windows.negatives=0.4", "normalise=false")
        epochs, network, _ = epochs_of(run)
        pairs, told = epochs.epoch(3)
        drawn = epochs.draws.draw(np.random.default_rng([run.seed, 3, 1]))
        assert told["windows without the moment"] == drawn.negative.mean() > 0.2
        fps, seen = run.store.fps, 0
        for row in range(0, len(pairs), 5):
            of = epochs.draws.annotations
            low_s, high_s = drawn.first[row] / fps, drawn.end[row] / fps
            start, end = network.model.proposals.moments(high_s - low_s)
            reference = max(of.start_s[row], low_s), min(of.end_s[row], high_s)
            expected = temporal_iou(start + low_s, end + low_s, np.array(reference[0]), np.array(reference[1]))
            np.testing.assert_allclose(pairs.columns["iou"][row], 0 if drawn.negative[row] else expected, atol=1e-5)
            rows = run.store[of.video_id[row]][drawn.first[row] : drawn.end[row]]
            batch = pairs.__getitems__([row])
            np.testing.assert_allclose(batch.video[0].numpy(), resample(rows, run.recipe.rows), atol=1e-6)
            seen += not drawn.negative[row]
            assert drawn.negative[row] == (pairs.columns["iou"][row].max() == 0)
        assert 3 < seen < len(range(0, len(pairs), 5))

    def test_every_epoch_has_its_own_windows_and_repeats_them(self, make_film_run):
        epochs, *_ = epochs_of(make_film_run())
        one, again, other = (epochs.epoch(number)[0].table.low for number in (1, 1, 2))
        assert one.tolist() == again.tolist()
        assert (one != other).mean() > 0.5

    def test_whole_videos_are_the_same_in_every_epoch(self, make_run):
        epochs, *_ = epochs_of(make_run())
        assert epochs.epoch(1) == epochs.epoch(2)


@pytest.mark.parametrize("name", quick_are(["tcn-dcm"], ["tan2d", "blind-tan", "tcn-dcm", "vlg-net-mad"]))
def test_a_run_on_films_that_is_cut_off_ends_as_one_that_was_not(name, make_film_run, tmp_path):
    """2D-TAN; a model that sees no video; one that is shown windows of other films too; and VLG-Net."""
    whole = perform(make_film_run(name), tmp_path / "whole")
    assert whole.history[1].loss["total"] < whole.history[0].loss["total"]

    def cut(epoch):
        if epoch.epoch == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(make_film_run(name), tmp_path / "cut", on_epoch=cut)
    resumed = perform(make_film_run(name), tmp_path / "cut")
    for kept in ("loss", "val", "watched"):
        assert [getattr(epoch, kept) for epoch in resumed.history] == [getattr(epoch, kept) for epoch in whole.history]
    one, other = (checkpoints.read_tensors(tmp_path / run / "best.safetensors") for run in ("whole", "cut"))
    assert not [name for name in one if not torch.equal(one[name], other[name])]


def test_films_are_answered_and_the_run_is_read_back(make_film_run, films, tmp_path):
    splits, store = films
    test = splits["test-iid"]
    run = make_film_run("tan2d", "decode.top=50", tests={"test-iid": test})
    result = perform(run, tmp_path / "run")
    grounder = TrainedGrounder.load(tmp_path / "run", store=store)
    assert grounder.run.recipe == run.recipe
    answers = grounder.ground(test.queries, 50)
    assert answers.query_id.tolist() == test.queries.query_id.tolist()
    assert (answers.lengths > 10).all()  # more than a window of 30 s has room for at 0.3
    film_s = np.repeat(test.queries.duration_s, answers.lengths)
    assert (answers.end_s <= film_s + 1e-9).all()
    assert (answers.end_s - answers.start_s <= 30 + 1e-9).all()
    assert answers.end_s.max() > 60
    kept = {row.measure: float(row.value) for row in result.tests}
    assert evaluate(test, answers, ["mIoU"]).value("mIoU") == pytest.approx(kept["mIoU"], abs=1e-6)
    val = splits["val"]
    again = evaluate(val, grounder.ground(val.queries, 50), ["AxIoU@10"]).value("AxIoU@10")
    assert again == result.best.val["AxIoU@10"]


def test_vlg_net_on_films_is_evaluated_as_on_mad(make_film_run, films, tmp_path):
    """Windows, suppression at 0.3 and 100 moments; recall rises with depth and falls with IoU (vlg_net.md, 11.6)."""
    splits, store = films
    test = splits["test-iid"]
    perform(make_film_run("vlg-net-mad", "decode.top=100", "train.epochs=1"), tmp_path / "run")
    answers = TrainedGrounder.load(tmp_path / "run", store=store).ground(test.queries, 100)
    assert answers.lengths.min() > 10
    scores = evaluate(test, answers, protocol="mad-vlgnet")
    recall = np.array(
        [[scores.value(f"R@{k},IoU={iou}") for k in (1, 5, 10, 50, 100)] for iou in ("0.1", "0.3", "0.5")]
    )
    assert (np.diff(recall, axis=1) >= 0).all()
    assert (np.diff(recall, axis=0) <= 0).all()
    assert recall[2, 0] < recall[0, 4]


def test_a_film_as_long_as_its_window_is_a_short_video(make_film_run, films):
    """With one window a film, answers are those of the same network that is shown whole videos."""
    splits, store = films
    run = make_film_run("tan2d")
    _, network, vocabulary = epochs_of(run)
    queries = splits["val"].queries
    long = msgspec.structs.replace(run.recipe.windows, seconds=10_000.0)
    method = AllCandidates("2D-TAN", network, vocabulary, run.recipe, store)
    found = in_windows(method, long).ground(queries, 10)
    source = checkpoints.UsedAnnotations("", "", "", 1, 1)
    whole = msgspec.structs.replace(run.recipe, windows=msgspec.UNSET)
    record = checkpoints.RunRecord(whole, 0, source, source, "", "", store.n_dimensions, whole.text.size)
    expected = TrainedGrounder(record, network, vocabulary, store).ground(queries, 10)
    assert found.lengths.tolist() == expected.lengths.tolist()
    np.testing.assert_allclose(found.start_s, expected.start_s, atol=1e-9)
    np.testing.assert_allclose(found.score, expected.score, atol=1e-6)


def test_all_candidates_are_answered_or_the_best(make_film_run, films):
    splits, store = films
    run = make_film_run("tan2d")
    _, network, vocabulary = epochs_of(run)
    method = AllCandidates("2D-TAN", network, vocabulary, run.recipe, store)
    queries = splits["val"].queries
    n_cells = len(network.model.proposals.cells[0])
    every, some = method.ground(queries, 10**6), method.ground(queries, 7)
    assert set(every.lengths) == {n_cells}
    assert set(some.lengths) == {7}
    best = every.ranked_by_score()
    for column in ("start_s", "end_s", "score"):
        expected = getattr(best, column).reshape(len(queries), -1)[:, :7]
        assert getattr(some, column).tolist() == expected.ravel().tolist()
    start, end = network.model.proposals.moments(float(queries.duration_s[0]))
    first = {(round(s, 9), round(e, 9)) for s, e in zip(every.start_s[:n_cells], every.end_s[:n_cells], strict=True)}
    assert first == {(round(s, 9), round(e, 9)) for s, e in zip(start.tolist(), end.tolist(), strict=True)}


def test_a_film_without_a_window_is_not_answered(make_film_run, films):
    splits, store = films
    run = make_film_run("tan2d", "windows.tail=dropped", "windows.seconds=10000")
    _, network, vocabulary = epochs_of(run)
    method = AllCandidates("2D-TAN", network, vocabulary, run.recipe, store)
    found = in_windows(method, run.recipe.windows).ground(splits["val"].queries, 10)
    assert len(found) == len(splits["val"].queries)
    assert found.abstains.all()


@pytest.mark.parametrize("name", quick_are(["acrn", "ablr"], ["ctrl", "acrn", "ablr", "scdm", "drn"]))
def test_a_method_for_short_videos_answers_films_window_by_window(name, make_run, films, tmp_path):
    """Each window cut out of the film and answered by itself as a video; the moments of all of them, ranked."""
    splits, store = films
    perform(make_run(name, "train.epochs=1", "decode.nms=1"), tmp_path / "run")
    method = TrainedGrounder.load(tmp_path / "run", store=store)
    of = splits["test-iid"].queries
    one = Queries(of.query_id[:1], of.video_id[:1], of.duration_s[:1], of.sentence[:1])
    windows = Windows(window_s=20.0, stride_s=10.0)
    film, expected = store[one.video_id[0]], []
    for low, high in zip(*windows.rows_of(len(film), store.fps), strict=True):
        video = method.with_features(Features({"part": film[low:high]}, fps=store.fps))
        asked = Queries(one.query_id, ["part"], np.array([(high - low) / store.fps]), one.sentence)
        found = video.ground(asked, 20)
        shift = low / store.fps
        expected += zip(found.start_s + shift, found.end_s + shift, found.score, strict=True)
    found = WindowedGrounder(method, windows, nms=1.0, features=store, each=20).ground(one, 10_000)
    assert (np.diff(found.score) <= 0).all()
    moments = np.stack([found.start_s, found.end_s, found.score], axis=1)
    assert len(moments) == len(expected)
    order = np.lexsort(moments.round(3).T), np.lexsort(np.array(expected).round(3).T)
    np.testing.assert_allclose(moments[order[0]], np.array(expected)[order[1]], atol=1e-3)


def test_variants_are_of_whole_videos(make_film_run, tmp_path):
    with pytest.raises(UsageError, match="windows"):
        make_variants(make_film_run(), VariantGrid((0.01,), (0.5,)), tmp_path, measures="mIoU")
