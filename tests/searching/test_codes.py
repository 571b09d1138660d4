"""Codes of pieces: what they keep of the exact first stage, what is refused, and what is made anew."""

import numpy as np
import pytest
from drawn_indexes import sentences_near, write_drawn

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.searching import codes
from truemoment.searching.codes import Codebook, PieceCodes, has_codes, make_codes, train_codebook
from truemoment.searching.first_stage import CodedFirstStage, FirstStage, first_stage_of
from truemoment.searching.index import Index

pytest.importorskip("faiss", exc_type=ImportError)


@pytest.fixture
def drawn(draw):
    return draw(40)


def test_a_code_is_the_nearest_centroid_of_each_part():
    """The definition by all distances, in NumPy; two codes a byte, the first in the low bits."""
    rng = np.random.default_rng(0)
    pieces = rng.standard_normal((500, 7))
    book = train_codebook(pieces)
    assert (book.n_parts, book.n_bytes) == (4, 2)  # 7 numbers are padded to 8
    padded = np.pad(pieces.astype(np.float32) - book.mean, ((0, 0), (0, 1))).reshape(500, 4, 1, 2)
    nearest = ((padded - book.centroids[None]) ** 2).sum(axis=3).argmin(axis=2)
    found = book.encode(pieces)
    assert np.array_equal(found & 15, nearest[:, ::2])
    assert np.array_equal(found >> 4, nearest[:, 1::2])


def test_the_same_pieces_and_seed_give_the_same_codebook():
    pieces = np.random.default_rng(0).standard_normal((300, 8))
    assert train_codebook(pieces).digest == train_codebook(pieces).digest != train_codebook(pieces, seed=1).digest


def test_the_first_stage_by_codes_keeps_the_videos_of_the_exact_one(drawn):
    assert not has_codes(drawn)
    n_pieces, n_coded = make_codes(drawn)
    assert n_pieces == n_coded == sum(len(drawn.pieces(name)) for name in drawn)
    vectors = sentences_near(drawn, 20)
    exact, coded = FirstStage(drawn).rank_videos(vectors, 5), first_stage_of(drawn).rank_videos(vectors, 5)
    for one, other in zip(exact, coded, strict=True):  # all pieces are re-ranked: only rounding differs
        assert [video.video_id for video in one] == [video.video_id for video in other]
        np.testing.assert_allclose([of.score for of in one], [of.score for of in other], rtol=1e-3)
    few = CodedFirstStage(drawn, reranked=40).best_videos(vectors, 5)
    kept = [len(few[s] & {of.video_id for of in exact[s]}) / 5 for s in range(20)]
    assert np.mean(kept) > 0.8


def test_some_videos_only(drawn):
    make_codes(drawn)
    names = [f"v{number:03}" for number in (3, 7, 20)]
    stage = CodedFirstStage(drawn, names)
    assert stage.n_pieces == sum(len(drawn.pieces(name)) for name in names)
    found = stage.rank_videos(sentences_near(drawn, 3), 10)
    expected = FirstStage(drawn, names).rank_videos(sentences_near(drawn, 3), 10)
    assert [[of.video_id for of in one] for one in found] == [[of.video_id for of in one] for one in expected]


def test_a_scene_that_comes_back_does_not_fill_the_list(tmp_path, settings):
    """v000 shows one scene for all its 75 pieces; the other videos show it once each, a little less clearly."""
    index = write_drawn(tmp_path / "index", settings, 5)
    scene = np.full(24, 3.0)
    from truemoment.searching.writing import IndexWriter, VideoFile

    with IndexWriter(tmp_path / "index", settings(n_dimensions=24)) as writer:
        long = VideoFile("long", tmp_path / "long.mp4", "long")
        rng = np.random.default_rng(0)
        writer.keep_part(long, 600, 0, scene + 0.01 * rng.standard_normal((600, 24)))
        writer.finish(long, 600, 600, 300.0)
    index = Index(tmp_path / "index")
    make_codes(index)
    vector = scene[None].astype(np.float32)
    greedy = CodedFirstStage(index, reranked=50, per_video=50).rank_videos(vector, 6)[0]
    fair = CodedFirstStage(index, reranked=50, per_video=3).rank_videos(vector, 6)[0]
    assert [of.video_id for of in greedy] == ["long"]
    assert len(fair) == 6
    with pytest.raises(UsageError, match="1 or more"):
        CodedFirstStage(index, per_video=0)


def test_files_of_codes_are_scanned_together(drawn, monkeypatch):
    """Small files and scans give what one gives."""
    make_codes(drawn)
    vectors = sentences_near(drawn, 5)
    one = PieceCodes(drawn).best(vectors, 10_000)
    monkeypatch.setattr(codes, "FILE_PIECES", 100)
    monkeypatch.setattr(codes, "SCAN_PIECES", 33)
    (drawn.path / "codes" / "pieces.npz").unlink()
    make_codes(drawn)
    assert len(list((drawn.path / "codes").glob("*.codes"))) == 6  # 40 videos of 15 pieces, 100 a file
    several = PieceCodes(drawn)
    assert [set(row.tolist()) for row in several.best(vectors, 10_000)] == [set(row.tolist()) for row in one]
    assert several.n_pieces == 600
    video, place = several.places(np.array([0, 14, 15, 599]))
    assert (video.tolist(), place.tolist()) == ([0, 0, 1, 39], [0, 14, 0, 14])


def test_new_videos_are_coded_with_the_same_codebook(tmp_path, settings, drawn, monkeypatch):
    monkeypatch.setattr(codes, "FILE_PIECES", 100)
    make_codes(drawn)
    before = {file.name: file.read_bytes() for file in (drawn.path / "codes").iterdir()}
    more = write_drawn(drawn.path, settings, 5, first=40)
    with pytest.raises(InputError, match="codes of other pieces than the index has"):
        PieceCodes(more)
    assert make_codes(more) == (675, 75)
    after = {file.name: file.read_bytes() for file in (drawn.path / "codes").iterdir()}
    assert {name for name in before if before[name] == after[name]} == {
        "codebook.npz",
        *(f"{number:04}.codes" for number in range(6)),
    }
    fresh = write_drawn(tmp_path / "fresh", settings, 45)
    make_codes(fresh)
    assert PieceCodes(more).n_pieces == PieceCodes(fresh).n_pieces


def test_a_changed_video_is_coded_again(settings, drawn):
    make_codes(drawn)
    changed = write_drawn(drawn.path, settings, 1, seed=9)
    with pytest.raises(InputError, match="codes of other pieces"):
        first_stage_of(changed)
    make_codes(changed)
    assert first_stage_of(changed).n_pieces == 600


def _cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def _other_book(path):
    book = train_codebook(np.random.default_rng(5).standard_normal((100, 24)))
    np.savez(path, mean=book.mean, centroids=book.centroids)


def _wrong_shape(path):
    np.savez(path, mean=np.zeros(3, np.float32), centroids=np.zeros((12, 16, 2), np.float32))


def _not_finite(path):
    np.savez(path, mean=np.full(24, np.nan, np.float32), centroids=np.zeros((12, 16, 2), np.float32))


@pytest.mark.parametrize(
    ("file", "damage", "told"),
    [
        ("0000.codes", _cut, "has 3,593 bytes, expected 3,600"),
        ("codebook.npz", _cut, "is no codebook"),
        ("codebook.npz", _other_book, "lists codes of another codebook"),
        ("codebook.npz", _wrong_shape, "expected finite float32 of shape (24,)"),
        ("codebook.npz", _not_finite, "expected finite float32"),
        ("pieces.npz", _cut, "is no list of coded pieces"),
        ("0000.codes", lambda path: path.unlink(), "no such file"),
    ],
)
def test_damaged_codes_are_refused_by_name(drawn, file, damage, told):
    make_codes(drawn)
    damage(drawn.path / "codes" / file)
    with pytest.raises((InputError, MissingFileError)) as error:
        first_stage_of(drawn)
    assert told in str(error.value)
    assert file.split(".")[0] in str(error.value) or "pieces.npz" in str(error.value)
    assert "\n" not in str(error.value)


def test_links_are_not_followed(drawn, tmp_path):
    make_codes(drawn)
    book = drawn.path / "codes" / "codebook.npz"
    book.rename(tmp_path / "elsewhere.npz")
    book.symlink_to(tmp_path / "elsewhere.npz")
    with pytest.raises(InputError, match="is a link"):
        first_stage_of(drawn)


def test_too_little_memory_is_told_before_it_is_used(drawn, monkeypatch):
    make_codes(drawn)
    monkeypatch.setattr(codes, "free_memory_mb", lambda: 0)
    with pytest.raises(InputError, match="needs 3,600 bytes of memory for the codes, 0 MB are free"):
        PieceCodes(drawn)


def test_too_few_pieces_for_codes(tmp_path, settings):
    index = write_drawn(tmp_path / "small", settings, 1, n_frames=40)
    with pytest.raises(InputError, match="has 5 pieces of video, expected 16 or more"):
        make_codes(index)


def test_per_video_needs_codes(drawn):
    with pytest.raises(UsageError, match="the index has none"):
        first_stage_of(drawn, per_video=2)


def test_a_codebook_is_what_its_numbers_are():
    ones, zeros = np.ones(4, np.float32), np.zeros((2, 16, 2), np.float32)
    assert Codebook(ones, zeros).digest != Codebook(2 * ones, zeros).digest
