"""A search in shares of an index: equal to a search of the whole index; on Ray: test_ray.py."""

import dataclasses

import msgspec
import numpy as np
import pytest
from drawn_indexes import sentences_near, write_drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment.base.errors import InputError
from truemoment.searching.codes import make_codes
from truemoment.searching.index import Index
from truemoment.searching.layout import Settings, default_proposals
from truemoment.searching.request import RankingOptions
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.shards import ShardedSearcher, shards_of
from truemoment.searching.stopping import calibrate, write_calibration

pytest.importorskip("faiss", exc_type=ImportError)
RANKING = RankingOptions(top=5, apart=2.0)
EXACT = RankingOptions(top=5, apart=2.0, exact=True)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index of 30 videos with codes and a calibration."""

    def made(**others):
        known = {"model": "drawn", "encoder": "drawn", "fingerprint": "0123456789abcdef", "fps": 2.0}
        return Settings(**known, proposals=default_proposals(2.0), **others)

    path = tmp_path_factory.mktemp("shared") / "index"
    index = write_drawn(path, made, 30)
    make_codes(index)
    write_calibration(path, calibrate(index, sentences_near(index, 40, seed=5), sentences="drawn"))
    return Index(path)


def in_shares(index, ranking, count, videos=None):
    """Search shares that this process opens, one after the other."""
    shares = [shard.open() for shard in shards_of(index, ranking, videos, count)]
    return ShardedSearcher(index, ranking, videos, lambda question: [share(question) for share in shares])


@settings(max_examples=6)
@given(
    count=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    n_videos=st.integers(1, 30),
    ranking=st.builds(
        RankingOptions, top=st.integers(1, 40), apart=st.sampled_from([0.0, 2.0, 30.0]), exact=st.just(True)
    ),
)
def test_any_number_of_shares_is_one_index_to_the_bit(index, count, seed, n_videos, ranking):
    rng = np.random.default_rng(seed)
    videos = rng.permutation(sorted(index))[:n_videos].tolist()
    vectors = sentences_near(index, 3, seed=seed)
    assert in_shares(index, ranking, count, videos).find(vectors) == IndexSearcher(index, ranking, videos).find(vectors)


def test_shares_that_select_videos_find_moments_as_good_or_better(index):
    vectors = sentences_near(index, 20, seed=8)
    exact, whole = (IndexSearcher(index, ranking).find(vectors) for ranking in (EXACT, RANKING))
    assert [retrieved.ended_by for retrieved in whole].count("rule") > 10
    for count in (1, 8):
        for best, alone, together in zip(exact, whole, in_shares(index, RANKING, count).find(vectors), strict=True):
            assert [moment.score for moment in together.moments] >= [moment.score for moment in alone.moments]
            assert together.n_videos >= alone.n_videos
            if alone.ended_by == "rule" and alone.moments == best.moments:
                assert together.moments == alone.moments


def test_every_video_is_in_one_share(index):
    for count in (1, 3, 30, 99):
        shares = shards_of(index, EXACT, None, count)
        names = [name for shard in shares for name in shard.identities]
        assert (len(shares), sorted(names)) == (min(count, 30), sorted(index))


def test_another_index_on_a_machine_is_refused(index):
    (shard,) = shards_of(index, EXACT, ["v001", "v002"], 1)
    for changed in (
        {"settings": msgspec.structs.replace(shard.settings, model="another")},
        {"identities": shard.identities | {"v001": "changed since"}},
        {"identities": shard.identities | {"missing": "0:1"}},
    ):
        with pytest.raises(InputError, match="differs from the index that is searched"):
            dataclasses.replace(shard, **changed).open()
