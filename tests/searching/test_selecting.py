"""What a search lists: all that stands out, the earliest of it, nothing that is avoided, and near copies once."""

import dataclasses

import numpy as np
import pytest
from drawn_indexes import N_DIMENSIONS, sentences_near

from truemoment.base.errors import UsageError
from truemoment.searching.index import Index
from truemoment.searching.listing import MomentListing
from truemoment.searching.median_scores import median_scores
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import search_index
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.selecting import find_listed
from truemoment.searching.unrelated import STANDS_OUT, Unrelated, with_matches
from truemoment.searching.writing import IndexWriter, VideoFile

RANKING = RankingOptions(top=4, apart=5.0)
RANKED_400 = dataclasses.replace(RANKING, top=400)


@pytest.fixture(scope="module")
def drawn(drawn_once):
    return Index(drawn_once(30))


@pytest.fixture(scope="module")
def unrelated(drawn):
    """Sentences that are near what all rows have in common, so that those near a moment stand out."""
    return Unrelated.of(drawn, 3.0 + np.random.default_rng(0).standard_normal((60, N_DIMENSIONS)))


@pytest.fixture
def listed(drawn, unrelated):
    def find(vectors, avoided=None, ranking=RANKING, **options):
        searcher = IndexSearcher(drawn, ranking)
        return find_listed(searcher, unrelated, MomentListing(**options), np.atleast_2d(vectors), avoided)

    return find


def test_every_and_first_by_the_definition(drawn, unrelated, listed):
    """Every moment of an exhaustive search whose match reaches the limit; the earliest of these in each video."""
    n_every = 0
    for vector in sentences_near(drawn, 2, seed=4, noise=0.2):
        everything = search_index(drawn, vector[None], 10_000, apart_s=5.0)[0]
        matched = with_matches(drawn, unrelated, vector, median_scores(drawn, vector)[0], everything)
        expected = [moment for moment in matched if moment.match >= STANDS_OUT]
        answer = listed(vector, every=True)
        assert (answer.moments, answer.n_videos, answer.ended_by) == (expected, 30, "all")
        first = listed(vector, first=True).moments
        assert set(first) <= set(expected)
        starts = {name: min(m.start_s for m in expected if m.video_id == name) for name in {m[0] for m in expected}}
        assert {moment.video_id: moment.start_s for moment in first} == starts
        assert len(first) == len(starts)
        n_every += len(expected)
    assert n_every > 3


def test_every_looks_at_candidates_where_they_are_limited(listed, drawn):
    vector = sentences_near(drawn, 1, seed=4, noise=0.2)
    few = listed(vector, every=True, ranking=RankingOptions(candidates=3))
    assert (few.n_videos, few.ended_by) == (3, "limit")


def test_what_stands_out_for_an_avoided_sentence_is_left_out(drawn, unrelated, listed):
    vector = sentences_near(drawn, 1, seed=4, noise=0.2)
    ranked = listed(vector, ranking=dataclasses.replace(RANKING, top=400, exact=True)).moments
    avoided = np.stack([drawn[ranked[0].video_id][:20].mean(axis=0), vector[0]]).astype(np.float32)
    for vectors in (avoided[:1], avoided):
        bad = set()
        for other in vectors:
            matched = with_matches(drawn, unrelated, other, median_scores(drawn, other)[0], ranked)
            bad |= {moment[:3] for moment in matched if moment.match >= STANDS_OUT}
        exact = dataclasses.replace(RANKING, exact=True)
        found = listed(vector, avoided=vectors, avoid=["a"] * len(vectors), ranking=exact)
        assert found.moments == [moment for moment in ranked if moment[:3] not in bad][:4]
    assert ranked[0][:3] in bad


def test_a_sequence_has_the_least_match_of_its_moments(drawn, unrelated, listed):
    vectors = sentences_near(drawn, 2, seed=9)
    for moment in listed(vectors, then="b", gap=20.0).moments:
        assert moment.match == min(part.match for part in moment.parts)
    stand_out = listed(vectors, then="b", gap=1000.0, every=True).moments
    assert all(part.match >= STANDS_OUT for moment in stand_out for part in moment.parts)
    median, ranked = median_scores(drawn, vectors[0])[0], listed(vectors, then="b", ranking=RANKED_400).moments
    avoided = [with_matches(drawn, unrelated, vectors[0], median, moment.parts) for moment in ranked]
    kept = [m for m, parts in zip(ranked, avoided, strict=True) if max(part.match for part in parts) < STANDS_OUT]
    assert listed(vectors, avoided=vectors[:1], then="b", avoid="a").moments == kept[:4]


def test_near_copies_are_listed_once_and_counted(tmp_path, settings):
    rng = np.random.default_rng(5)
    rows = 1.0 + np.repeat(rng.standard_normal((12, N_DIMENSIONS)), 10, axis=0)
    with IndexWriter(tmp_path / "index", settings(n_dimensions=N_DIMENSIONS)) as writer:
        for number, noise in enumerate((0.0, 0.01, 0.01, 2.0)):  # two near copies of v0, and another film
            film = VideoFile(f"v{number}", tmp_path / f"v{number}.mp4", str(number))
            writer.keep_part(film, 120, 0, rows + noise * rng.standard_normal(rows.shape))
            writer.finish(film, 120, 120, 60.0)
    index = Index(tmp_path / "index")
    vector = rows[20:30].mean(axis=0)[None].astype(np.float32)
    searcher = IndexSearcher(index, RankingOptions(top=2, apart=5.0))
    plain, folded = (find_listed(searcher, None, MomentListing(fold=fold), vector).moments for fold in (None, 0.999))
    assert {moment.video_id for moment in plain} < {"v0", "v1", "v2"}
    assert (folded[0][:4], folded[0].copies) == (plain[0][:4], 2)
    assert folded[1].video_id == "v3"  # of another film, though at the same time
    deeper = find_listed(IndexSearcher(index, RankingOptions(top=3)), None, MomentListing(fold=0.999), vector).moments
    assert deeper[:2] == folded  # how many copies are counted does not depend on what follows
    pair = np.concatenate([vector, rows[50:60].mean(axis=0)[None].astype(np.float32)])
    (sequence, *_) = find_listed(searcher, None, MomentListing(fold=0.999, then="b"), pair).moments
    assert sequence.copies == 2


def test_what_stands_out_is_unknown_in_short_indexes(drawn):
    searcher = IndexSearcher(drawn, RANKING)
    for options in ({"every": True}, {"first": True}, {"avoid": "a"}):
        with pytest.raises(UsageError, match=rf"--{next(iter(options))}: expected two minutes of video"):
            find_listed(searcher, None, MomentListing(**options), sentences_near(drawn, 1))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"then": " "}, "--then: got an empty sentence"),
        ({"then": "\udcff red"}, r"--then: got '\xff red', expected text in UTF-8"),
        ({"avoid": ["a"] * 10}, "--avoid: got 10 sentences, expected 9 at most"),
        ({"gap": float("nan")}, "--gap: got nan, expected seconds"),
        ({"fold": 0.0}, "--fold: got 0, expected a cosine"),
        ({"every": True, "first": True}, "got --every and --first"),
    ],
)
def test_what_is_no_listing(options, problem):
    with pytest.raises(UsageError) as error:
        MomentListing(**options)
    assert problem in str(error.value)
