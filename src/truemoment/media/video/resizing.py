"""Resizing of pictures as the image processors of models do it: by Pillow's filters, which widen as they reduce."""

from __future__ import annotations

import functools
import math
from types import ModuleType

import numpy as np

from truemoment.base.errors import MissingPackageError
from truemoment.media.video.frames import Pixels

TORCH_MODES = {2: "bilinear", 3: "bicubic"}
"""Filters by their numbers in Pillow that PyTorch has, too."""

SUPPORT = 3
"""Pixels of a resized picture, beyond which the bicubic filter of an earlier one does not reach."""


def resized_part(rgb: Pixels, size: tuple[int, int], part: tuple[slice, slice], resample: int) -> Pixels:
    """Resize a picture (H, W, 3) to height and width, and return a part of it, a range of rows and one of columns.

    PyTorch's filter on bytes takes a third of the time of Pillow's. It rounds otherwise: about 1 of 200 numbers differs
    by 1 of 255, few by 2. Pillow's is used without PyTorch, without AVX2, for other filters, and for small pictures.
    PyTorch resizes along the rows first; where a tall picture is squeezed, Pillow 13 does so last.

    Parameters
    ----------
    resample
        Number of Pillow's filter: 2 bilinear, 3 bicubic.
    """
    if rgb.shape[:2] == size:
        return np.ascontiguousarray(rgb[part])
    is_reduced = rgb.shape[0] >= size[0] and rgb.shape[1] >= size[1]
    torch = _torch() if is_reduced and resample in TORCH_MODES else None
    if torch is None:
        return _by_pillow(rgb, size, resample)[part]
    (height, width), (rows, columns) = rgb.shape[:2], part
    bottom, right = _reach(rows.stop, size[0] / height, height), _reach(columns.stop, size[1] / width, width)
    planes = torch.from_numpy(rgb[:bottom, :right].copy()).permute(2, 0, 1)[None]
    # PyTorch rounds down the size that it makes of a ratio, so that it must be a little more.
    scales = size[0] / height * (1 + 1e-9), size[1] / width * (1 + 1e-9)
    resized = torch.nn.functional.interpolate(planes, scale_factor=scales, mode=TORCH_MODES[resample], antialias=True)
    return np.ascontiguousarray(resized[0].permute(1, 2, 0)[part].numpy())


def _reach(end: int, scale: float, n_pixels: int) -> int:
    """Return how many pixels of a picture matter for those of a resized one before `end`."""
    return min(n_pixels, math.ceil((end + SUPPORT) / scale))


def _by_pillow(rgb: Pixels, size: tuple[int, int], resample: int) -> Pixels:
    try:
        from PIL import Image  # noqa: PLC0415 - only pictures need it
    except ModuleNotFoundError:
        raise MissingPackageError("pillow", "search", "making pictures ready for a model") from None
    height, width = size
    return np.asarray(Image.fromarray(rgb).resize((width, height), resample=resample))


@functools.cache
def _torch() -> ModuleType | None:
    """Return PyTorch if it is installed and its filter is quick here."""
    try:
        import torch  # noqa: PLC0415 - importing it takes seconds
    except ModuleNotFoundError:
        return None
    return torch if torch.backends.cpu.get_cpu_capability() in {"AVX2", "AVX512"} else None
