"""Filters, facets and order of the queries: masks over columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.evaluation.error_kinds import KINDS
from truemoment.web.browsing.looking import AnswerColumns, SystemColumns

SORTS = (
    "kind",
    "loss",
    "confidence",
    "iou",
    "best",
    "rank",
    "offset",
    "floor",
    "length",
    "share",
    "duration",
    "n_words",
    "agreement",
    "fits",
    "id",
)
"""What queries are sorted by; ``kind`` is by kind and then by falling loss, ``id`` by the hash of the id, and
``confidence`` by the score that the method itself gives its first answer."""

VIEWS = MappingProxyType({"confident-and-wrong": "-confidence"})
"""Views, and the order of each: first answers that are wrong, the one with the highest score first."""

WRONG_BELOW = 0.5
"""IoU below which the view of confident and wrong answers lists a first answer."""

RANGES = ("iou", "length", "share", "duration", "n_words", "agreement", "fits")
"""Columns that are filtered by a range."""

MOST_VERBS = 60
"""Verbs that a facet lists."""


@dataclass(frozen=True)
class QuerySelection:
    """A selection of queries and their order.

    Parameters
    ----------
    system
        Number of the method whose kinds, IoUs and ranks are meant.
    kinds
        Positions in :data:`~truemoment.evaluation.error_kinds.KINDS`; empty for all.
    hidden
        Whether only queries count whose hit is at a lower rank.
    floor
        Whether the strongest floor hits; "" for both.
    words, verb
        Words that the sentence contains, each as a part of it; its first verb, "" for all.
    ranges
        Least and largest value by column of :data:`RANGES`.
    wrong, right
        Numbers of a method whose first answer is wrong, and of one whose first answer is a hit; None for any.
    noted, tag
        Whether only queries with a note count, and those with a tag; "" for all.
    view
        One of :data:`VIEWS`; "" for all queries.
    sort, falling
        Column of :data:`SORTS`, and whether the largest comes first.
    """

    system: int = 0
    kinds: tuple[int, ...] = ()
    hidden: bool = False
    floor: Literal["", "hit", "miss"] = ""
    words: str = ""
    verb: str = ""
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    wrong: int | None = None
    right: int | None = None
    noted: bool = False
    tag: str = ""
    view: str = ""
    sort: str = "kind"
    falling: bool = False


@dataclass(frozen=True, eq=False)
class Tagged:
    """Notes and tags of the queries, as masks.

    Parameters
    ----------
    noted : (Q,)
        Which queries have a note or a tag.
    tags
        Which queries have each tag.
    """

    noted: Bools
    tags: dict[str, Bools]


@dataclass(frozen=True, eq=False)
class Facets:
    """Number of queries that each choice of a filter would list, with all other filters unchanged."""

    kinds: dict[str, int]
    hidden: int
    floor: dict[str, int]
    verbs: dict[str, int]
    differ: list[tuple[int, int, int]]
    tags: dict[str, int]
    noted: int
    views: dict[str, int]


_COLUMNS: Mapping[str, Callable[[AnswerColumns, SystemColumns], Floats]] = MappingProxyType(
    {
        "loss": lambda _, system: 1 - system.errors.iou,
        "confidence": lambda _, system: system.confidence,
        "iou": lambda _, system: system.errors.iou,
        "best": lambda _, system: system.errors.best_iou,
        "rank": lambda _, system: np.where(system.errors.rank_of_hit > 0, system.errors.rank_of_hit, np.nan).astype(
            np.float64
        ),
        "offset": lambda _, system: np.abs(system.offset_s),
        "floor": lambda looked, _: (
            np.zeros(looked.n_queries) if looked.floor_errors is None else looked.floor_errors.iou
        ),
        "length": lambda looked, _: looked.length_s,
        "share": lambda looked, _: looked.share,
        "duration": lambda looked, _: looked.duration_s,
        "n_words": lambda looked, _: looked.n_words.astype(np.float64),
        "agreement": lambda looked, _: looked.agreement,
        "fits": lambda looked, _: looked.fits,
        "id": lambda looked, _: looked.place.astype(np.float64),
    }
)


def column(looked: AnswerColumns, name: str, system: int) -> Floats:
    """Return a column of :data:`SORTS` but ``kind``, (Q,); NaN where it has no value."""
    return _COLUMNS[name](looked, looked.systems[system])


def _parts(looked: AnswerColumns, selection: QuerySelection, tagged: Tagged) -> dict[str, Bools]:
    """Return the mask of each filter that is set."""
    system = looked.systems[selection.system]
    parts: dict[str, Bools] = {"counts": system.errors.counts}
    if selection.kinds:
        parts["kind"] = np.isin(system.errors.kind, selection.kinds)
    if selection.hidden:
        parts["hidden"] = system.errors.rank_of_hit > 1
    if selection.floor and looked.floor_errors is not None:
        parts["floor"] = (looked.floor_errors.kind == 0) == (selection.floor == "hit")
    if selection.words.split():
        parts["words"] = np.all([looked.contains(word) for word in selection.words.split()], axis=0)
    if selection.verb:
        names, number = looked.verb_numbers
        parts["verb"] = number == (names.index(selection.verb) if selection.verb in names else -1)
    for name, (low, high) in selection.ranges.items():
        values = column(looked, name, selection.system)
        with np.errstate(invalid="ignore"):
            parts[name] = (values >= low) & (values <= high)
    if selection.wrong is not None:
        parts["differ"] = ~looked.systems[selection.wrong].hit
    if selection.right is not None:
        hits = looked.systems[selection.right].hit
        parts["differ"] = parts["differ"] & hits if "differ" in parts else hits
    if selection.noted:
        parts["noted"] = tagged.noted
    if selection.tag:
        parts["tag"] = tagged.tags.get(selection.tag, np.zeros(looked.n_queries, dtype=bool))
    if selection.view:
        parts["view"] = _confident_and_wrong(system)
    return parts


def _confident_and_wrong(system: SystemColumns) -> Bools:
    """Return the queries whose first answer has a score and an IoU below the threshold, (Q,)."""
    return np.asarray(np.isfinite(system.confidence) & (system.errors.iou < WRONG_BELOW))


def _all(parts: dict[str, Bools], n_queries: int, without: str = "") -> Bools:
    mask = np.ones(n_queries, dtype=bool)
    for name, part in parts.items():
        if name != without:
            mask &= part
    return mask


def select(looked: AnswerColumns, selection: QuerySelection, tagged: Tagged) -> tuple[Ints, Facets]:
    """Return the queries of a selection in its order, (N,), and the facets."""
    parts = _parts(looked, selection, tagged)
    rows = np.flatnonzero(_all(parts, looked.n_queries))
    return rows[_order(looked, selection, rows)], _facets(looked, selection, tagged, parts)


def _order(looked: AnswerColumns, selection: QuerySelection, rows: Ints) -> Ints:
    place = looked.place[rows]
    if selection.sort == "kind":
        kinds = looked.systems[selection.system].errors.kind[rows]
        kinds = np.where(kinds == KINDS.index("hit"), len(KINDS), kinds)  # what went wrong comes first
        loss = column(looked, "loss", selection.system)[rows]
        return np.lexsort((place, -loss, -kinds if selection.falling else kinds))
    values = column(looked, selection.sort, selection.system)[rows]
    values = -values if selection.falling else values
    return np.lexsort((place, values))  # NaN last


def _facets(looked: AnswerColumns, selection: QuerySelection, tagged: Tagged, parts: dict[str, Bools]) -> Facets:
    system, n_queries = looked.systems[selection.system], looked.n_queries
    by_kind = np.bincount(system.errors.kind[_all(parts, n_queries, "kind")], minlength=len(KINDS))
    by_verb = _all(parts, n_queries, "verb")
    floor = _all(parts, n_queries, "floor")
    differ = _all(parts, n_queries, "differ")
    hits = [system.hit for system in looked.systems]
    pairs = [(a, b) for a in range(len(hits)) for b in range(len(hits)) if a != b]
    n_floor = 0 if looked.floor_errors is None else int((floor & (looked.floor_errors.kind == 0)).sum())
    tag = _all(parts, n_queries, "tag")
    return Facets(
        kinds=dict(zip(KINDS, by_kind.tolist(), strict=True)),
        hidden=int((_all(parts, n_queries, "hidden") & (system.errors.rank_of_hit > 1)).sum()),
        floor={} if looked.floor_errors is None else {"hit": n_floor, "miss": int(floor.sum()) - n_floor},
        verbs=_verbs(looked, by_verb),
        differ=[(a, b, int((differ & ~hits[a] & hits[b]).sum())) for a, b in pairs],
        tags={name: int((tag & mask).sum()) for name, mask in sorted(tagged.tags.items())},
        noted=int((_all(parts, n_queries, "noted") & tagged.noted).sum()),
        views={view: int((_all(parts, n_queries, "view") & _confident_and_wrong(system)).sum()) for view in VIEWS},
    )


def _verbs(looked: AnswerColumns, mask: Bools) -> dict[str, int]:
    names, number = looked.verb_numbers
    counts = np.bincount(number[mask], minlength=len(names))
    commonest = np.argsort(-counts, kind="stable")[:MOST_VERBS]
    return {names[at]: int(counts[at]) for at in commonest.tolist() if counts[at] and names[at]}
