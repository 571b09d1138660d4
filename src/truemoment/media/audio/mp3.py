"""The number of frames that the head of an MP3 states, by a tag of Xing, LAME or Fraunhofer in its first frame."""

from __future__ import annotations

import re
from typing import BinaryIO

ID3_HEAD = 10
"""Bytes before a tag of names and pictures, which may be megabytes long."""

SEARCHED_BYTES = 1 << 16

_FIRST_FRAME = re.compile(rb"\xff[\xe2-\xff]", re.DOTALL)

_XING = re.compile(rb"(?:Xing|Info)...(.)(....)", re.DOTALL)
"""Its flags, whose lowest bit announces the number of frames, and that number."""

_VBRI = re.compile(rb"VBRI.{10}(....)", re.DOTALL)

TAG_BYTES = 80
"""From the start of the first frame, in which the tag begins after 13 to 36 bytes."""


def stated_frames(stream: BinaryIO) -> int | None:
    """Return the number of frames that an MP3 states; None if it states none, so that its length is an estimate.

    Examples
    --------
    >>> import io
    >>> stated_frames(io.BytesIO(bytes.fromhex("fffb9064") + bytes(32) + b"Xing" + bytes.fromhex("00000001 0000002a")))
    42
    """
    head = stream.read(ID3_HEAD)
    skipped = 0
    if head.startswith(b"ID3") and len(head) == ID3_HEAD:
        skipped = ID3_HEAD + sum((byte & 0x7F) << 7 * place for place, byte in enumerate(reversed(head[6:])))
    stream.seek(skipped)
    part = stream.read(SEARCHED_BYTES)
    first = _FIRST_FRAME.search(part)
    if first is None:
        return None
    frame = part[first.start() : first.start() + TAG_BYTES]
    xing, vbri = _XING.search(frame), _VBRI.search(frame)
    if xing is not None and xing[1][0] & 1:
        return int.from_bytes(xing[2], "big") or None
    return int.from_bytes(vbri[1], "big") or None if vbri is not None else None
