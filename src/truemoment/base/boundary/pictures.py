"""Pictures of people: one picture of a PNG, JPEG, WebP, GIF or BMP file, as programs show it."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.files import read_bytes
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, MissingPackageError

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")

MOST_BYTES, MOST_PIXELS = 32 << 20, 80_000_000
"""Size of a file, and of the picture in it: a file of a few bytes can state any number of pixels."""


def read_picture(path: AnyPath) -> npt.NDArray[np.uint8]:
    """Return a picture file as pixels (H, W, 3), red, green and blue.

    Raises
    ------
    MissingFileError, InputError
        If there is no such file, or not one whole picture in it.
    """
    return decode_picture(read_bytes(path, most=MOST_BYTES), path)


def decode_picture(data: bytes, path: AnyPath) -> npt.NDArray[np.uint8]:
    """Return the content of a picture file as pixels (H, W, 3): turned as EXIF states, and on white where transparent.

    `path` names the file in errors.
    """
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415 - only pictures need it
    except ModuleNotFoundError:
        raise MissingPackageError("pillow", "search", "reading pictures") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a large size, which is refused, and of damage beside the pixels
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
            _refuse_size_and_count(picture, path)
            picture.load()
            return _on_white(Image, ImageOps.exif_transpose(picture))
    except InputError:
        raise
    except Image.DecompressionBombError:
        raise _too_large("more than twice as many", path) from None
    except UnidentifiedImageError:
        raise InputError("is no picture that can be read, expected PNG, JPEG, WebP, GIF or BMP", path=path) from None
    except Exception as error:  # of a decoder: each has its own
        reason = str(error) or type(error).__name__
        raise InputError(f"is a damaged or truncated picture ({reason})", path=path) from None


def _refuse_size_and_count(picture: Any, path: AnyPath) -> None:  # noqa: ANN401 - an optional package
    if picture.width * picture.height > MOST_PIXELS:
        raise _too_large(f"{picture.width:,} x {picture.height:,}", path)
    count = getattr(picture, "n_frames", 1)
    if count > 1 and picture.format != "MPO":  # a camera's JPEG with a second view of the same picture
        raise InputError(
            f"is animated and has {count:,} pictures, expected one",
            path=path,
            hint="save the picture to search for as a file of its own",
        )


def _too_large(size: str, path: AnyPath) -> InputError:
    return InputError(
        f"has {size} pixels, expected up to {MOST_PIXELS:,}", path=path, hint="save the picture in a smaller size"
    )


def _on_white(images: Any, picture: Any) -> npt.NDArray[np.uint8]:  # noqa: ANN401 - an optional package
    """Return a picture of any mode as red, green and blue."""
    if picture.mode.startswith("I"):  # 16 bits of grey, of which converting would keep the lowest 8
        high = (np.asarray(picture).astype(np.int64) >> 8).clip(0, 255).astype(np.uint8)
        return np.repeat(high[:, :, None], 3, axis=2)
    if "A" in picture.getbands() or "transparency" in picture.info:
        above = picture.convert("RGBA")
        picture = images.alpha_composite(images.new("RGBA", above.size, "white"), above)
    return np.array(picture.convert("RGB"))
