"""A fingerprint of large files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular
from truemoment.base.errors import InputError

BLOCK_BYTES = 1 << 16
BLOCKS = 64
"""Of each file so many blocks are examined, spread evenly, the first and the last among them."""

FILES = 64
"""Of so many files the content is examined, spread evenly; of the others name and size."""


def fingerprint(files: Iterable[AnyPath]) -> str:
    """Return 8 hexadecimal digits of the SHA-256 of names, sizes and a sample of the content of files.

    Files above 4 MiB are sampled (64 blocks of 64 KiB), since feature files have up to hundreds of gigabytes. It
    distinguishes versions of features; it is no proof against forgery.

    Examples
    --------
    >>> fingerprint([])
    'e3b0c442'
    """
    digest = hashlib.sha256()
    ordered = sorted(files, key=lambda path: path.name)
    step = max(1, -(-len(ordered) // FILES))
    for number, path in enumerate(ordered):
        try:
            size = path.stat().st_size
            digest.update(f"{path.name!a} {size}\n".encode())
            if number % step == 0:
                _add_sample(digest, path, size)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    return digest.hexdigest()[:8]


def _add_sample(digest: hashlib._Hash, path: AnyPath, size: int) -> None:
    last = max(size - BLOCK_BYTES, 0)
    whole = size <= BLOCKS * BLOCK_BYTES
    with open_regular(reading(path)) as stream:
        if whole:
            digest.update(stream.read(size))
            return
        for number in range(BLOCKS):
            stream.seek(last * number // (BLOCKS - 1))
            digest.update(stream.read(BLOCK_BYTES))
