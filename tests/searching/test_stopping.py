"""The calibrated rule that ends a search, and a manifest of a large index."""

import msgspec
import numpy as np
import pytest
from drawn_indexes import sentences_near, write_drawn

from truemoment.base.errors import InputError, UsageError
from truemoment.searching import manifest
from truemoment.searching.first_stage import FirstStage
from truemoment.searching.index import Index, indexed_videos
from truemoment.searching.manifest import read_manifest, write_manifest
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import search_index
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.stopping import calibrate, search_until, write_calibration


@pytest.fixture
def drawn(draw):
    return draw(30)


def slow_delta(index, vector, top):
    """The definition, each moment and piece pooled by itself: the k-th best moment less the best piece, at most."""
    unit = vector.astype(np.float64) / np.linalg.norm(vector)
    best = search_index(index, vector[None], top)[0]
    pieces = {name: (index.pieces(name).astype(np.float64) @ unit).max() for name in index}
    return max(best[-1].score - pieces[of.video_id] for of in best)


def test_delta_is_the_quantile_of_what_each_sentence_needs(drawn):
    vectors = sentences_near(drawn, 12)
    found = calibrate(drawn, vectors, sentences="drawn", top=3, n_videos=1000, quantile=0.8)
    expected = np.quantile([slow_delta(drawn, vector, 3) for vector in vectors], 0.8, method="higher")
    assert found.delta == pytest.approx(max(expected, 0), abs=2e-3)  # pieces are of half precision
    assert (found.top, found.n_videos, found.n_sentences, found.sentences) == (3, 30, 12, "drawn")
    fewer = calibrate(drawn, vectors, sentences="drawn", n_videos=5, quantile=0.8, seed=3)
    assert (fewer.n_videos, fewer.seed) == (5, 3)


def test_a_search_stops_where_it_is_complete(drawn):
    """Searches for the very sentences are complete at the largest quantile; of others 97 % at least (scale, item 2)."""
    sample = sentences_near(drawn, 30, seed=5)
    calibration = calibrate(drawn, sample, sentences="drawn", quantile=0.999)
    exact = search_index(drawn, sample, 5)
    found = search_until(drawn, sample, calibration, FirstStage(drawn), 5, most=30)
    assert [one.moments for one in found] == exact
    assert {one.ended_by for one in found} <= {"rule", "all"}
    others = sentences_near(drawn, 34, seed=6)
    exact = search_index(drawn, others, 5)
    found = search_until(drawn, others, calibration, FirstStage(drawn), 5, most=30)
    assert np.mean([one.moments == best for one, best in zip(found, exact, strict=True)]) >= 0.97
    assert 1 < np.mean([one.n_videos for one in found]) < 20
    wide = msgspec.structs.replace(calibration, delta=2.0)  # no cosine is so far above another
    for one, best in zip(search_until(drawn, others, wide, FirstStage(drawn), 5, most=30), exact, strict=True):
        assert (one.moments, one.n_videos, one.ended_by) == (best, 30, "all")


def test_the_largest_number_of_videos_ends_a_search_and_is_told(drawn):
    calibration = calibrate(drawn, sentences_near(drawn, 5), sentences="drawn")
    wide = msgspec.structs.replace(calibration, delta=2.0)
    found = search_until(drawn, sentences_near(drawn, 3), wide, FirstStage(drawn), 5, most=4)
    assert [(one.n_videos, one.ended_by) for one in found] == [(4, "limit")] * 3
    with pytest.raises(UsageError, match="expected 1 or more"):
        search_until(drawn, sentences_near(drawn, 3), wide, FirstStage(drawn), 5, most=0)


def test_a_calibration_is_kept_in_the_index_and_used(drawn):
    vectors = sentences_near(drawn, 4)
    ranking = RankingOptions(top=5, apart=5.0)
    assert {one.ended_by for one in IndexSearcher(drawn, ranking).find(vectors)} == {"limit"}
    write_calibration(drawn.path, calibrate(drawn, vectors, sentences="drawn"))
    again = Index(drawn.path)
    assert again.settings.calibration.sentences == "drawn"
    assert "rule" in {one.ended_by for one in IndexSearcher(again, ranking).find(vectors)}
    more = IndexSearcher(again, RankingOptions(top=6, apart=5.0))  # it is calibrated for 5 moments
    assert (more.calibration, more.most) == (None, 20)
    exact = IndexSearcher(again, RankingOptions(top=5, apart=5.0, exact=True)).find(vectors)
    assert {(one.ended_by, one.n_videos) for one in exact} == {("all", 30)}


def test_a_damaged_calibration_is_refused(drawn):
    write_calibration(drawn.path, calibrate(drawn, sentences_near(drawn, 4), sentences="drawn"))
    file = drawn.path / "index.json"
    text = file.read_text()
    file.write_text(text.replace('"quantile": 0.99', '"quantile": 99'))
    with pytest.raises(InputError, match="calibration"):
        Index(drawn.path)


@pytest.mark.parametrize(("quantile", "n_videos"), [(0.0, 5), (1.0, 5), (0.9, 0)])
def test_samples_that_are_none(drawn, quantile, n_videos):
    with pytest.raises(UsageError, match="quantile"):
        calibrate(drawn, sentences_near(drawn, 2), sentences="drawn", quantile=quantile, n_videos=n_videos)


class TestManifest:
    @pytest.fixture
    def large(self, drawn, monkeypatch):
        monkeypatch.setattr(manifest, "LEAST_VIDEOS", 10)
        write_manifest(drawn.path, {name: about for name, (_, about) in indexed_videos(drawn.path).items()})
        return drawn.path

    def test_opening_reads_one_file(self, large, monkeypatch):
        expected = indexed_videos(large)
        monkeypatch.setattr("truemoment.searching.index.indexed_videos", None)  # no folder is read
        index = Index(large)
        assert {name: index.about(name) for name in index} == {name: about for name, (_, about) in expected.items()}
        index.check("v003")

    def test_small_indexes_have_none(self, drawn):
        write_manifest(drawn.path, {name: about for name, (_, about) in indexed_videos(drawn.path).items()})
        assert read_manifest(drawn.path) is None

    def test_it_is_ignored_when_videos_came_later(self, large, settings):
        assert read_manifest(large) is not None
        index = write_drawn(large, settings, 1, first=30)
        assert len(index) == 31
        assert read_manifest(large) is None

    def test_it_must_say_what_the_folder_says(self, large):
        about = next((large / "videos").glob("v003-*")) / "about.json"
        about.write_text(about.read_text().replace('"duration_s": 60.0', '"duration_s": 61.0'))
        with pytest.raises(InputError, match=r"manifest.msgpack: has another record of video 'v003'"):
            Index(large).check("v003")

    def test_damage_is_refused_in_one_line(self, large):
        file = large / "manifest.msgpack"
        for content in (b"", b"\xc1", file.read_bytes()[:-5], msgspec.msgpack.encode({"changed_ns": 1})):
            file.write_bytes(content)
            with pytest.raises(InputError, match=r"manifest.msgpack: is no manifest") as error:
                Index(large)
            assert "\n" not in str(error.value)
