"""About how long a command takes: written when its work begins, and shown beside the time that has passed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from truemoment.base.errors import TrueMomentError
from truemoment.base.request import several

LONG_S = 10.0
"""A command that takes less is not announced."""

FOR_1000_QUERIES_S: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"audit": (1.2, 1), "audit again": (1.0, 0.5), "bias": (4, 0.5), "compare": (1.3, 1), "resplit": (16, 0.5)}
)
"""Seconds on two cores, as docs/how-long.md has them, and the power of the number of queries with which they grow.

An audit and a comparison train a network; "audit again" is an audit whose floors are in the cache.
"""

DEMO_VIDEO_S = 0.0275
"""Seconds of a video of the demo."""

FILM_HOUR_S: Mapping[str, float] = MappingProxyType({"collect align": 23, "collect run": 40})
"""Seconds for an hour of film, without a recogniser."""

BYTES_A_QUERY = 150
"""Of a file of annotations."""

CACHED = "; some seconds where the floors of this split are in the cache"
BESIDES: Mapping[str, str] = MappingProxyType(
    {"audit": CACHED, "compare": CACHED, "leaderboard": CACHED, "collect run": ", and as long as the recogniser hears"}
)
"""When a command takes less or more than that."""

BESIDES_MODEL = "; and as long as the model answers"
"""The same of ``audit --model``, which also asks the model on changed videos and in other orders."""

_KEY = "truemoment.expected_s"


def expect(name: str, options: Mapping[str, Any]) -> None:
    """Keep about how long a command takes with the running context, for what shows its progress."""
    context = click.get_current_context()
    groups = [*_groups(context)]
    full_name = " ".join([*groups, name])
    seconds = 0.0
    with contextlib.suppress(TrueMomentError, OSError):  # the command itself refuses what is wrong
        seconds = _SECONDS[full_name](full_name, options) if full_name in _SECONDS else 0.0
    if seconds >= LONG_S:
        asks = full_name == "audit" and options.get("model") is not None
        context.meta[_KEY] = seconds, BESIDES.get(full_name, "") + (BESIDES_MODEL if asks else "")


def expected() -> tuple[float, str] | None:
    """Return the seconds that the running command takes, and when it takes less or more; None where it is short."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_KEY)


def left(done: int, seconds: float, rest: int) -> float | None:
    """Return the seconds for the rest of some work of which a part is done; None where it is short."""
    rest_s = seconds / max(done, 1) * rest
    return rest_s if done and rest_s >= LONG_S else None


def _groups(context: click.Context) -> Iterator[str]:
    """Yield the names of the groups of a command, without the program: annotate demo is not demo."""
    parent = context.parent
    if parent is not None and parent.parent is not None:
        yield from _groups(parent)
        yield parent.info_name or parent.command.name or ""


def _of_queries(name: str, options: Mapping[str, Any]) -> float:
    seconds, power = FOR_1000_QUERIES_S[name]
    return seconds * float((_n_queries(options) / 1000) ** power)


def _of_leaderboard(_: str, options: Mapping[str, Any]) -> float:
    """Return the time of an audit a file, the first of which fits the floors, and of a comparison."""
    from truemoment.studies.leaderboard.entries import read_entries

    entries = read_entries(Path(options["folder"]), options["data_dir"])
    data = {"dataset": entries.source.dataset, "annotations": entries.source.annotations}
    n_files = sum(map(len, entries.files))
    return _of_queries("audit", data) + n_files * _of_queries("audit again", data)


def _of_tables(_: str, options: Mapping[str, Any]) -> float:
    """Return the time of the tables that are named, or of all, as far as their datasets are there."""
    from truemoment.data.datasets import data_folder, has_data_folder
    from truemoment.reproduction import TABLES

    if not has_data_folder(options["data_dir"]):
        return 0.0
    folder = data_folder(options["data_dir"])
    seconds = 0.0
    by_default = [name for name, table in TABLES.items() if not table.only_named]
    for table in [TABLES[name] for name in options["tables"] or by_default if name in TABLES]:
        n_there = sum((folder / dataset).is_dir() for dataset in table.datasets)
        seconds += table.seconds * n_there / max(1, len(table.datasets))
    return seconds


def _of_films(name: str, options: Mapping[str, Any]) -> float:
    """Return the time of a film, or of as many as a list has as long as its first."""
    from truemoment.collection.tasks import read_tasks
    from truemoment.media.audio.sources import parse_source, stated_length_s

    films = [options["film"]]
    if options.get("films_list") is not None:
        films = [task.film for task in read_tasks(options["films_list"])]
    if not films or films[0] is None:
        return 0.0
    hours = len(films) * stated_length_s(parse_source(films[0])) / 3600
    return FILM_HOUR_S[name] * hours / (options.get("workers") or 1)


_SECONDS: Mapping[str, Callable[[str, Mapping[str, Any]], float]] = MappingProxyType(
    {
        **dict.fromkeys(FOR_1000_QUERIES_S, _of_queries),
        **dict.fromkeys(FILM_HOUR_S, _of_films),
        "leaderboard": _of_leaderboard,
        "demo": lambda _, options: (
            0.0
            if options["searching"] or options["collecting"] or options["browsing"]
            else DEMO_VIDEO_S * float(options["videos"])
        ),
        "reproduce": _of_tables,
    }
)
"""Returns the seconds of a command with some options, by its name."""


def _n_queries(options: Mapping[str, Any]) -> float:
    """Return about how many queries the named datasets and files have in all."""
    from truemoment.data.datasets import DATASETS

    names = several(options.get("dataset"))
    counts = [split.n_queries or 0 for name in names if name in DATASETS for split in DATASETS[name].splits]
    files = [Path(path) for path in several(options.get("annotations"))]
    return sum(counts) + sum(file.stat().st_size for file in files if file.is_file()) / BYTES_A_QUERY
