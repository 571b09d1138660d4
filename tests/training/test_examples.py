import os
import tempfile

import numpy as np
import pytest

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.base.records import Annotations
from truemoment.baselines.proposals import SparseMap
from truemoment.baselines.targets import cell_ious, usable
from truemoment.learning.training import examples
from truemoment.learning.training.examples import make_pairs, make_table, other_videos
from truemoment.learning.training.network import build_network
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.media.features import ChangedFeatures, Features, JoinedFeatures


def test_a_target_is_the_iou_in_seconds(world):
    """The slow way: each cell's seconds against the reference, clipped to the video as 2D-TAN's loader does."""
    train, proposals = world.splits["train"], SparseMap(8)
    found = cell_ious(train, proposals)
    for row in range(0, len(train), 17):
        length = train.duration_s[row]
        start, end = proposals.moments(length)
        low, high = max(train.start_s[row], 0), min(train.end_s[row], length)
        np.testing.assert_allclose(found[row], temporal_iou(start, end, np.array(low), np.array(high)), atol=1e-6)


def test_faulty_references_are_not_learned_from():
    rows = [
        ("a#0", "a", 10.0, "good", 2.0, 5.0),
        ("a#1", "a", 10.0, "past the end", 8.0, 12.0),
        ("a#2", "a", 10.0, "behind the end", 11.0, 12.0),
        ("a#3", "a", 10.0, "swapped", 5.0, 2.0),
        ("a#4", "a", 10.0, "empty", 3.0, 3.0),
        ("a#5", "a", float("nan"), "no duration", 3.0, 4.0),
    ]
    assert usable(Annotations.from_rows(rows)).tolist() == [True, True, False, False, False, False]


def test_the_other_video_is_never_the_same(world):
    ids = world.splits["train"].video_id.tolist()
    for seed in range(5):
        found = other_videos(ids, np.random.default_rng(seed))
        assert all(ids[at] != of for at, of in zip(found.tolist(), ids, strict=True))


def test_every_other_pair_is_drawn_about_as_often():
    """Uniform over the pairs of other videos (tcn_dcm.md, 3.2): of b 1 in 3, of c 2 in 3, for pairs of a."""
    ids = ["a", "b", "c", "c"]
    rng = np.random.default_rng(0)
    drawn = [ids[other_videos(ids, rng)[0]] for _ in range(3000)]
    assert drawn.count("b") / 3000 == pytest.approx(1 / 3, abs=0.04)


def test_one_video_has_no_other():
    with pytest.raises(UsageError, match="one"):
        other_videos(["a", "a"], np.random.default_rng(0))


def test_batches_are_cut_to_their_longest_sentence(world, tiny):
    recipe = tiny("mdd")
    queries = world.splits["val"].queries
    vocabulary = TokenVocabulary(("person", "door"))
    model = build_network(recipe, vocabulary, world.features.n_dimensions).model
    pairs = make_pairs(queries, world.features, vocabulary, recipe, model)
    batch = pairs.__getitems__([0, 3])
    assert batch.numbers.shape == (2, int(batch.n_words.max()))
    assert batch.video.shape == (2, recipe.rows, world.features.n_dimensions)
    assert batch.verbs.shape[0] == 2
    assert (batch.verbs < batch.n_words[:, None]).all()
    assert (batch.nouns < batch.n_words[:, None, None]).all()


def test_heads_are_cut_with_their_sentences(world, tiny):
    """In a chain each word depends on the word before; a head behind the last word of a cut sentence is none."""
    recipe = tiny("vlg-net", "text.most=2")
    queries = world.splits["val"].queries
    vocabulary = TokenVocabulary(("person", "door"))
    model = build_network(recipe, vocabulary, world.features.n_dimensions).model
    batch = make_pairs(queries, world.features, vocabulary, recipe, model).__getitems__([0, 3, 5])
    assert batch.heads.tolist() == [[-1, 0]] * 3
    assert batch.verbs is None


def test_a_head_behind_the_end_is_none(tiny, monkeypatch, queries_of):
    monkeypatch.setattr(examples, "word_heads", lambda *_: [(2, 0, -1), (1, -1)])
    recipe = tiny("vlg-net", "text.most=2")
    table = examples.read_sentences(
        queries_of("a b c", "a b"), TokenVocabulary(("a", "b", "c")), recipe, frozenset({"heads"})
    )
    assert table.heads.tolist() == [[-1, 0], [1, -1]]


def test_features_that_are_not_there_or_not_finite_are_told(tiny):
    store = Features({"a": np.full((4, 2), np.nan, dtype=np.float32)}, fps=1.0)
    recipe = tiny("tan2d")
    model = build_network(recipe, TokenVocabulary(()), 2).model
    for video_id, message in (("b", "'b'"), ("a", "not finite")):
        queries = Annotations.from_rows([("q", video_id, 4.0, "a door", 0.0, 1.0)]).queries
        with pytest.raises(InputError, match=message):
            make_table(store, queries, recipe, model)


def test_rows_that_are_seen_as_they_are_are_read_when_they_are_picked(world, tiny, monkeypatch):
    """A large table of them is not made; a step gets the same numbers."""
    recipe, queries, read = tiny("tan2d"), world.splits["val"].queries, []
    model = build_network(recipe, TokenVocabulary(()), world.features.n_dimensions).model
    table = make_table(world.features, queries, recipe, model)

    class Watched(Features):
        def __getitem__(self, video_id):
            read.append(video_id)
            return super().__getitem__(video_id)

    store = Watched(world.features.by_video, world.features.fps)
    monkeypatch.setattr(examples, "ON_DEMAND_BYTES", 1)
    make_table(store, queries, recipe, model)
    assert read  # this model resamples rows, which is work: done once
    read.clear()
    monkeypatch.setattr(type(model), "sees_rows", True)
    on_demand = make_table(store, queries, recipe, model)
    assert not read
    numbers = np.array([2, 0, 2])
    np.testing.assert_array_equal(on_demand.take(numbers), table.take(numbers))
    assert on_demand.number == table.number
    assert set(read) == {list(table.number)[number] for number in numbers}


def test_the_sources_of_a_row_are_normalised_one_by_one(tiny):
    """The part of each source has length 1 (less the published epsilon), also of changed features."""
    rows = np.random.default_rng(0).standard_normal((16, 5)).astype(np.float32)
    joined = JoinedFeatures((Features({"v": rows[:, :3]}, 1.0), Features({"v": 9 * rows[:, 3:]}, 1.0)))
    for store in (joined, ChangedFeatures(joined, "reversed")):
        seen = examples.read_rows(store, "v", 16.0, tiny("tan2d", "normalise=each")).rows
        for part in (seen[:, :3], seen[:, 3:]):
            np.testing.assert_allclose(np.linalg.norm(part, axis=1), 1.0, atol=1e-4)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="space cannot be reserved")
class TestATableInATemporaryFile:
    """Tables of more than a number of bytes are mapped from a file; here, all are."""

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        monkeypatch.setattr(examples, "MOST_BYTES", 0)

    def test_its_space_is_reserved_before_it_is_written(self, monkeypatch):
        """Point 12: a small TMPDIR ended the process by SIGBUS. Blocks of 512 bytes that the file has on the disk."""
        files = []

        def temporary(original=tempfile.TemporaryFile):
            files.append(original())
            monkeypatch.setattr(files[0], "close", lambda: None)
            return files[0]

        monkeypatch.setattr(tempfile, "TemporaryFile", temporary)
        table = examples.empty_table((1000, 1000))
        on_disk = 512 * os.fstat(files[0].fileno()).st_blocks
        monkeypatch.undo()
        files[0].close()
        assert on_disk >= 4_000_000
        assert table.shape == (1000, 1000)
        assert not table.any()

    def test_no_room_is_told_in_one_line(self, monkeypatch, tmp_path):
        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "posix_fallocate", full)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        with pytest.raises(InputError) as caught:
            examples.empty_table((1000, 1000))
        assert str(caught.value) == (
            f"{tmp_path}: has no room for 4,000,000 bytes of features (No space left on device); name a folder with "
            "more room by the variable TMPDIR"
        )
