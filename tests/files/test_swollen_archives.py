"""Archives that claim to unpack to far more than they are, as a trap does, are refused before they are unpacked."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from truemoment import Scores
from truemoment.exceptions import InputError
from truemoment.features import SentenceFile, read_features
from truemoment.files import refuse_swollen


def swollen(path, n_bytes=1 << 29):
    """Half a gigabyte of zeros in half a megabyte."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("frames.npy", "w") as stream:
        for _ in range(n_bytes >> 20):
            stream.write(bytes(1 << 20))
    return path


@pytest.fixture(scope="module")
def trap(tmp_path_factory):
    return swollen(tmp_path_factory.mktemp("trap") / "trap.npz")


@pytest.mark.parametrize("read", [read_features, SentenceFile, Scores.load])
def test_they_are_refused_before_they_are_unpacked(read, trap):
    tracemalloc.start()
    with pytest.raises(InputError, match=r"trap.npz: .*claims to hold 536,870,912 bytes in [\d,]+, expected 200 times"):
        read(trap)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_what_is_packed_tightly_and_small_is_taken():
    stream = io.BytesIO()
    np.savez_compressed(stream, rows=np.zeros(1 << 24))  # 128 MiB in 130 kB
    assert refuse_swollen(stream) is stream
    assert stream.tell() == 0
