"""About how long a command takes: written when its work begins, and shown beside the time that has passed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

LONG_S = 10.0
"""A command that takes less is not announced."""

FOR_1000_QUERIES_S: Mapping[str, float] = MappingProxyType({"audit": 11, "bias": 4, "compare": 7, "resplit": 16})
"""Seconds on two cores, as docs/how-long.md has them; they grow with the root of the number of queries."""

REPRODUCE_S, DEMO_VIDEO_S = 900.0, 0.0275
"""Seconds of all tables, and of a video of the demo."""

BYTES_A_QUERY = 150
"""Of a file of annotations."""

SHORTER = MappingProxyType({"audit": "; some seconds where the floors of this split are in the cache"})
"""When a command takes less than usual."""

_KEY = "truemoment.expected_s"


def expect(name: str, options: Mapping[str, Any]) -> None:
    """Keep about how long a command takes with the running context, for what shows its progress."""
    context = click.get_current_context()
    is_in_group = context.parent is not None and context.parent.parent is not None  # annotate demo is not demo
    if not is_in_group and (seconds := _seconds(name, options)) >= LONG_S:
        context.meta[_KEY] = seconds, SHORTER.get(name, "")


def expected() -> tuple[float, str] | None:
    """Return the seconds that the running command takes, and when it takes less; None where it is short."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_KEY)


def _seconds(name: str, options: Mapping[str, Any]) -> float:
    if name == "demo":
        is_other = options["searching"] or options["collecting"] or options["browsing"]
        return 0.0 if is_other else DEMO_VIDEO_S * float(options["videos"])
    if name == "reproduce":
        return 0.0 if options["tables"] else REPRODUCE_S * _share_of_tables(options["data_dir"])
    if name in FOR_1000_QUERIES_S:
        return FOR_1000_QUERIES_S[name] * math.sqrt(_n_queries(options) / 1000)
    return 0.0


def _share_of_tables(data_dir: Path | None) -> float:
    """Return the share of the tables whose datasets are there."""
    from truemoment.data.datasets import data_folder, has_data_folder
    from truemoment.reproduction import TABLES

    if not has_data_folder(data_dir):
        return 0.0
    folder = data_folder(data_dir)
    needed = [[folder / name for name in table.datasets] for table in TABLES.values() if table.datasets]
    return sum(all(path.is_dir() for path in paths) for paths in needed) / max(1, len(needed))


def _n_queries(options: Mapping[str, Any]) -> float:
    """Return about how many queries the named datasets and files have in all."""
    from truemoment.data.datasets import DATASETS

    names = [*options.get("datasets", ()), options.get("dataset")]
    counts = [split.n_queries or 0 for name in names if name in DATASETS for split in DATASETS[name].splits]
    given = options.get("annotations") or ()
    files = [Path(path) for path in (given if isinstance(given, tuple) else (given,))]
    return sum(counts) + sum(file.stat().st_size for file in files if file.is_file()) / BYTES_A_QUERY
