"""About how long a command takes: announced before its work, and shown beside the time that has passed."""

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


def announce(name: str, options: Mapping[str, Any]) -> None:
    """Write on standard error about how long a command takes, where that is long, and remember it for the progress."""
    from truemoment.report.words import about

    seconds = _seconds(name, options)
    if seconds >= LONG_S:
        click.get_current_context().meta[_KEY] = seconds
        if not options.get("quiet"):
            click.echo(f"truemoment: this takes {about(seconds)}{SHORTER.get(name, '')}", err=True)


def expected_s() -> float | None:
    """Return about how long the running command takes in all; None where it is short, or nothing is known."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_KEY)


def _seconds(name: str, options: Mapping[str, Any]) -> float:
    if name == "demo":
        is_other = options["searching"] or options["collecting"] or options["browsing"]
        return 0.0 if is_other else DEMO_VIDEO_S * float(options["videos"])
    if name == "reproduce":
        from truemoment.data.datasets import has_data_folder

        return REPRODUCE_S if not options["tables"] and has_data_folder(options["data_dir"]) else 0.0
    if name in FOR_1000_QUERIES_S:
        return FOR_1000_QUERIES_S[name] * math.sqrt(_n_queries(options) / 1000)
    return 0.0


def _n_queries(options: Mapping[str, Any]) -> float:
    """Return about how many queries the named datasets and files have in all."""
    from truemoment.data.datasets import DATASETS

    names = [*options.get("datasets", ()), options.get("dataset")]
    counts = [split.n_queries or 0 for name in names if name in DATASETS for split in DATASETS[name].splits]
    given = options.get("annotations") or ()
    files = [Path(path) for path in (given if isinstance(given, tuple) else (given,))]
    return sum(counts) + sum(file.stat().st_size for file in files if file.is_file()) / BYTES_A_QUERY
