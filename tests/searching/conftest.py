"""Indexes of films of plain colours, and of drawn rows."""

import functools
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests of large indexes share drawn_indexes


@pytest.fixture(scope="session")
def settings():
    """Give the settings of an index of colours: settings(fps=2.0, ...)."""
    from truemoment.searching.layout import Settings, default_proposals

    def make(fps=2.0, **others):
        known = {
            "model": "colours",
            "encoder": "colours",
            "fingerprint": "c01075c01075c010",
            "n_dimensions": 3,
            "fps": fps,
            "proposals": default_proposals(fps),
        }
        return Settings(**(known | others))

    return make


@pytest.fixture(scope="session")
def drawn_once(tmp_path_factory, settings):
    """Give the maker of indexes of so many drawn videos, each written once; tests get copies."""
    from drawn_indexes import write_drawn

    return functools.cache(lambda n: write_drawn(tmp_path_factory.mktemp("drawn") / "index", settings, n).path)


@pytest.fixture
def draw(tmp_path, drawn_once):
    """Give the maker of an index of so many drawn videos, at tmp_path / "drawn"."""
    from truemoment.searching.index import Index

    return lambda n_videos: Index(shutil.copytree(drawn_once(n_videos), tmp_path / "drawn"))


@pytest.fixture
def build(tmp_path, colours, settings):
    """Build an index: build(paths, out=..., settings={...}, ...) -> the report; the index is tmp_path / "index"."""
    from truemoment.searching.building import build_index
    from truemoment.searching.writing import IndexWriter, list_videos

    def make(paths, *, out="index", made=None, model="colours", **options):
        with IndexWriter(tmp_path / out, settings(**(made or {}))) as writer:
            return build_index(writer, list_videos(paths).videos, colours.ColourLoader(model), **options)

    return make


@pytest.fixture
def index(copy_index):
    """An index of the films of this test, at tmp_path / "index"."""
    from truemoment.searching.index import Index

    return Index(copy_index("index"))


@pytest.fixture(scope="session")
def shards(painted):
    """Give shards of 4 s of a film, ten of them, and what must come of each."""
    import numpy as np

    from truemoment.media.video.frames import outline_of, stream_frames
    from truemoment.searching.extraction import Shard
    from truemoment.searching.writing import VideoFile

    path = painted / "a.mp4"
    outline = outline_of(path)
    rows = np.array([frame.mean(axis=(0, 1)) / 255 - 0.5 for _, frame in stream_frames(path, 2.0)], dtype=np.float32)
    made = [Shard(VideoFile("a", path, "1:a"), k, 8 * k, 8 * k + 8, 2.0, outline) for k in range(10)]
    return made, {("a", k): rows[8 * k : 8 * k + 8] for k in range(10)}
