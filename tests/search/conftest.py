"""Films of plain colours, and an encoder that sees the mean colour: what must be found is known without a model.

The encoder stands in a module of its own that worker processes can import.
"""

import importlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

RED, GREEN, BLUE, GREY = (200, 30, 30), (30, 200, 30), (30, 30, 200), (110, 110, 110)

MODULE = '''
"""An encoder whose vectors are mean colours, from -1/2 to 1/2."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truemoment.exceptions import UsageError
from truemoment.search.extraction import Loader

WORDS = {"red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1)}


class Colours:
    name, fingerprint, n_dimensions = "colours", "c01075c01075c010", 3

    def prepare(self, rgb):
        return np.float32(rgb.mean(axis=(0, 1)).reshape(3, 1, 1) / 255 - 0.5)

    def images(self, batch):
        return batch.reshape(len(batch), 3)

    def sentences(self, texts):
        return np.array([np.sum([WORDS.get(w, (0, 0, 0)) for w in text.split()], axis=0) for text in texts], np.float32)


@dataclass(frozen=True)
class ColourLoader(Loader):
    """"slow": a tenth of a second a batch; "fatal:FILE": ends its process as long as FILE is there."""

    def load(self):
        if self.model == "slow":
            time.sleep(0.1)
        if self.model.startswith("fatal:"):
            file = Path(self.model.removeprefix("fatal:"))
            if file.exists():
                file.unlink() if file.suffix == ".once" else None
                os._exit(9)
        return Colours()


def load_encoder(text, *, device=None):
    if text != "colours":
        raise UsageError(f"no model {text}")
    return Colours()
'''


@pytest.fixture(scope="session")
def colours(tmp_path_factory):
    """Give the module of the encoder, which other processes can import too."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "colours_of_tests.py").write_text(MODULE)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield importlib.import_module("colours_of_tests")
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def paint():
    """Give a maker of films: paint(path, [(colour, seconds), ...])."""
    av = pytest.importorskip("av")

    def make(path, shots, fps=5):
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libx264", rate=fps, options={"preset": "ultrafast", "crf": "10"})
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            for colour, seconds in shots:
                pixels = np.full((48, 64, 3), colour, dtype=np.uint8)
                for _ in range(round(seconds * fps)):
                    container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
            container.mux(stream.encode(None))
        return path

    return make


@pytest.fixture(scope="session")
def painted(tmp_path_factory, paint):
    """Three films, made once; tests get copies."""
    folder = tmp_path_factory.mktemp("painted")
    paint(folder / "a.mp4", [(GREY, 20), (RED, 8), (BLUE, 12)])
    paint(folder / "b.mp4", [(GREEN, 10), (BLUE, 30)])
    paint(folder / "c.mp4", [(BLUE, 4), (GREY, 30), (RED, 8), (GREEN, 18)])
    return folder


@pytest.fixture
def films(tmp_path, painted):
    """Three films: two of them show red, 8 s long."""
    return Path(shutil.copytree(painted, tmp_path / "films"))


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
