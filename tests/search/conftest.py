"""Indexes of films of plain colours."""

import pytest


@pytest.fixture
def settings():
    """Give the settings of an index of colours: settings(fps=2.0, ...)."""
    from truemoment.search.index import Settings, default_proposals

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


@pytest.fixture
def build(tmp_path, colours, settings):
    """Build an index: build(paths, out=..., settings={...}, ...) -> the report; the index is tmp_path / "index"."""
    from truemoment.search.extraction import build_index
    from truemoment.search.index import IndexWriter, list_videos

    def make(paths, *, out="index", made=None, model="colours", **options):
        with IndexWriter(tmp_path / out, settings(**(made or {}))) as writer:
            return build_index(writer, list_videos(paths), colours.ColourLoader(model), **options)

    return make
