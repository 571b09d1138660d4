"""Answers of NExT-GQA as JSON: ``{VIDEO_QID: [start, end]}``, in seconds; a Gaussian mask's are shares of the video.

An empty list is no answer. Source: doc-doc/NExT-GQA, ``code/TempGQA/eval_ground.py``; its files ``..._gs.json`` need
``--axis fraction``, and its program rounds their seconds to one decimal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format
from truemoment.data.formats.head import ITEM, Head
from truemoment.data.formats.rows import FileRow, reader

_KEY = re.compile(r"[^\s>]+_\d+")


def _recognise(head: Head) -> str | None:
    key, kind = head.first_key or ("", None)
    numbers = kind == "list" and head.kind_at("*", ITEM) == "other"
    return 'its keys are "VIDEO_QID", its values [start, end]' if numbers and _KEY.fullmatch(key) else None


def _rows(path: AnyPath, _progress: bool) -> Iterator[FileRow]:
    for key, times in read_json_mapping(path, list[float]).items():
        if len(times) not in (0, 2):
            raise InputError(f"got {len(times)} numbers, expected [start, end]", path=path, field=key)
        yield FileRow(key, moments=[times] if times else [], within=f"{key}.")


FORMAT = Format("next-gqa", "NExT-GQA JSON ({VIDEO_QID: [start, end]})", _recognise, reader(_rows, field="moment"))
