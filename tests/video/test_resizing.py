"""Resizing of pictures: Pillow's filters, by PyTorch where it is quicker."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("torch", exc_type=ImportError)

from truemoment.media.video import resizing  # noqa: E402 - what is tested may be missing
from truemoment.media.video.resizing import resized_part  # noqa: E402 - as above

Sides = st.tuples(st.integers(8, 150), st.integers(8, 150))


def by_passes(rgb, size, part, resample):
    """Resize by Pillow, rows before columns: of one call, Pillow 13 chooses the order."""
    rows = Image.fromarray(rgb).resize((size[1], rgb.shape[0]), resample=resample)
    return np.asarray(rows.resize((size[1], size[0]), resample=resample))[part]


@given(sides=Sides, resized=Sides, resample=st.sampled_from([2, 3]), seed=st.integers(0, 99), data=st.data())
def test_a_part_is_that_of_the_whole_picture_resized_by_pillow(sides, resized, resample, seed, data):
    size = tuple(map(min, zip(sides, resized, strict=True)))
    part = tuple(slice(start := data.draw(st.integers(0, n - 1)), data.draw(st.integers(start + 1, n))) for n in size)
    rgb = np.random.default_rng(seed).choice([0, 1, 254, 255], (*sides, 3)).astype(np.uint8)
    differences = np.abs(resized_part(rgb, size, part, resample) - by_passes(rgb, size, part, resample).astype(int))
    assert differences.max() <= 2  # of 255


def test_few_numbers_differ_from_pillows():
    rgb = np.random.default_rng(0).integers(0, 256, (360, 640, 3), np.uint8)
    size, part = (224, 398), (slice(0, 224), slice(87, 311))
    differences = resized_part(rgb, size, part, 3) != by_passes(rgb, size, part, 3)
    assert differences.mean() < 0.02  # 0.006 were measured


@pytest.mark.parametrize(
    ("size", "resample", "has_torch"), [((30, 30), 3, False), ((30, 30), 1, True), ((90, 30), 3, True)]
)
def test_pillow_resizes_what_pytorch_does_not(size, resample, has_torch, monkeypatch):
    if not has_torch:
        monkeypatch.setattr(resizing, "_torch", lambda: None)
    rgb = np.random.default_rng(0).integers(0, 256, (60, 80, 3), np.uint8)
    part = slice(3, 20), slice(4, 30)
    whole = np.asarray(Image.fromarray(rgb).resize(size[::-1], resample=resample))
    np.testing.assert_array_equal(resized_part(rgb, size, part, resample), whole[part])
