"""How results become JSON: one measured value, and one encoder for all documents.

A document is made of plain mappings, dataclasses, named tuples and arrays; :func:`as_json` turns them into JSON
values. A number that is not finite becomes null, and a :class:`Measured` value gives the reason beside it.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.files import write_bytes
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.boundary.text import as_text, printable_json
from truemoment.base.version import __version__

NO_INTERVAL = "it does not vary from video to video, or some resamples have no query that counts"
"""Why an interval is undefined, where nothing else is known."""


@dataclass(frozen=True)
class Measured:
    """A measured value with its reason, interval and unit.

    Parameters
    ----------
    value
        The value; None or NaN where it is undefined.
    why
        Why it is undefined, else "".
    ci95
        95 % interval; None where none was computed, NaN ends where it is undefined.
    measure
        The measure's text; "" where the value is no measure's.
    unit
        ``fraction``, or another unit; "" for a plain number.
    n_queries, n_videos
        Queries (and their videos) that carry weight; None where they are stated elsewhere.
    on_threshold
        Queries whose best prediction lies on the threshold to within 1e-9 (rounding if IoUs are float32), so that the
        comparison and the last bit decide them; None for measures that no single IoU decides (all but R and dR).
    signature
        Convention, data and version.
    no_interval
        Why the interval is undefined.
    """

    value: float | None
    why: str = ""
    ci95: Sequence[float] | None = None
    measure: str = ""
    unit: str = "fraction"
    n_queries: int | None = None
    n_videos: int | None = None
    on_threshold: int | None = None
    signature: str = ""
    no_interval: str = NO_INTERVAL

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None and math.isfinite(self.value)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that JSON shows: those that are known, null and ``why`` for what is undefined."""
        entry: dict[str, Any] = {"measure": self.measure} if self.measure else {}
        entry["value"] = self.value if self.defined else None
        if self.unit:
            entry["unit"] = self.unit
        if not self.defined:
            entry["why"] = self.why
        if self.ci95 is not None:
            has_interval = all(math.isfinite(end) for end in self.ci95)
            entry["ci95"] = [float(end) for end in self.ci95] if has_interval else None
            if not has_interval:
                entry.setdefault("why", self.no_interval)
        counts = {"n_queries": self.n_queries, "n_videos": self.n_videos, "on_threshold": self.on_threshold}
        entry |= {name: count for name, count in counts.items() if count is not None}
        return entry | ({"signature": self.signature} if self.signature else {})


def document_head(schema: str) -> dict[str, Any]:
    """Return what every document begins with: its kind, and the version of the program that wrote it."""
    return {"schema": schema, "truemoment": __version__}


def as_json(value: Any) -> Any:  # noqa: ANN401 - a document contains whatever JSON can
    """Turn a value, and all values in it, into JSON values.

    Parameters
    ----------
    value
        Mappings, sequences, arrays, dataclasses and named tuples (by their fields), :class:`Measured`, paths, text,
        numbers, None. A number that is not finite becomes None.

    Raises
    ------
    TypeError
        If it contains a value of another type.

    Examples
    --------
    >>> as_json({"share": Measured(0.25), "p": np.array([0.5, np.nan])})
    {'share': {'value': 0.25, 'unit': 'fraction'}, 'p': [0.5, None]}
    """
    for kinds, convert in _CONVERSIONS:
        if isinstance(value, kinds):
            return convert(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"got a value of type {type(value).__name__}, expected one that JSON can represent")


def json_text(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return a document as the text of a JSON file, see :func:`as_json`."""
    compact = json.dumps(as_json(document), allow_nan=False, ensure_ascii=False)  # with an indent it is slow
    return printable_json(msgspec.json.format(compact, indent=2)) + "\n"


def write_document(path: AnyPath, document: Mapping[str, Any]) -> None:
    """Write a document as a JSON file."""
    write_bytes(path, json_text(document).encode())


_CONVERSIONS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((type(None), bool, int), lambda value: value),
    ((str, Path, OwnPath), lambda value: as_text(str(value))),
    (float, lambda value: float(value) if math.isfinite(value) else None),
    ((np.ndarray, np.generic), lambda value: as_json(value.tolist())),
    (Measured, lambda value: as_json(value.as_dict())),
    (Mapping, lambda value: {as_text(str(key)): as_json(item) for key, item in value.items()}),
    (
        (list, tuple),
        lambda value: as_json(value._asdict()) if hasattr(value, "_asdict") else [as_json(item) for item in value],
    ),
)
"""How values of each type are written; the first type that fits counts."""
