"""What a split made anew promises, looked at in the split itself.

A promise is *kept*, or *not kept*; where a split is too small for a test to tell, that is said. Indistinguishable
means that a test finds no difference: with few videos it finds none either, so each says how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np

from truemoment.bias.distances import SplitDistance, split_distance
from truemoment.bias.locations import Locations
from truemoment.bias.splitting import Resplit, parts_known
from truemoment.datasets.resplit_folder import ASIDE, SPLITS
from truemoment.exceptions import InputError
from truemoment.intervals import TIE
from truemoment.records import Annotations
from truemoment.uncertainty import LEVEL, holm

FEWEST_VIDEOS = 20
"""Videos of a split below which a test that finds no difference says nothing."""

FRACTION_OFF = 0.02
"""How far the share of a split may lie from what was asked for."""


@dataclass(frozen=True)
class Promise:
    """Something a split promises.

    Parameters
    ----------
    name
        ``no-shared-video``, ``every-query-once``, ``fractions``, ``iid-alike``, ``ood-differs``, ``new-words``,
        ``less-to-guess``.
    kept
        Whether it is; None where it cannot be told.
    said
        In words, with its figures.
    """

    name: str
    kept: bool | None
    said: str


@dataclass(frozen=True, eq=False)
class Inspection:
    """A split made anew, looked at.

    Parameters
    ----------
    promises
        What it promises.
    distances
        (one split, another) -> how far apart their moments lie; None where one has no moment with a place.
    warnings
        What a user of the split should know, in words.
    """

    promises: tuple[Promise, ...]
    distances: Mapping[tuple[str, str], SplitDistance | None]
    warnings: tuple[str, ...]


def inspect_split(
    found: Resplit,
    rng: np.random.Generator,
    *,
    permutations: int = 1000,
    tell: Callable[[str], None] = lambda _: None,
) -> Inspection:
    """Look at a split.

    Parameters
    ----------
    found
        The split.
    rng
        Generator of the permutations.
    permutations
        How many a test.
    tell
        Told what is being done.

    Raises
    ------
    UsageError
        If `permutations` is less than 1.
    """
    parts = {name: found.part(name) for name in SPLITS if found.members[name].any()}
    where = {name: _locations(part) for name, part in parts.items()}
    pairs = list(combinations(parts, 2))
    distances: dict[tuple[str, str], SplitDistance | None] = {}
    for (a, b), own in zip(pairs, rng.spawn(len(pairs)), strict=True):
        tell(f"{a} against {b}")
        one, other = where[a], where[b]
        both = one is not None and other is not None
        distances[a, b] = split_distance(one, other, own, permutations=permutations) if both else None  # type: ignore[arg-type]  # neither is None where both are there
    promises = [
        _no_shared_video(parts),
        _once(found),
        _fractions(found),
        _iid_alike(parts, distances),
        *([] if found.plan.location is None else [_ood_differs(distances, parts["test-ood"].n_videos)]),
        *([] if found.plan.new is None else [_new_terms(found)]),
    ]
    return Inspection(tuple(promises), MappingProxyType(distances), _warnings(found))


def _locations(part: Annotations) -> Locations | None:
    try:
        return Locations.of(part)
    except InputError:  # no moment of it has a place
        return None


def _no_shared_video(parts: Mapping[str, Annotations]) -> Promise:
    videos = {name: set(part.video_id) for name, part in parts.items()}
    shared = {(a, b): len(videos[a] & videos[b]) for a, b in combinations(videos, 2)}
    n_shared = sum(shared.values())
    said = "No video stands in two splits." if not n_shared else f"{n_shared} videos stand in two splits."
    return Promise("no-shared-video", n_shared == 0, said)


def _once(found: Resplit) -> Promise:
    times = np.sum(list(found.members.values()), axis=0)
    kept = bool(np.all(times == 1))
    n_aside = int(found.members[ASIDE].sum()) if ASIDE in found.members else 0
    beside = f", or is put aside ({n_aside:,})" if n_aside else ""
    said = f"Each of {len(times):,} queries stands in one split{beside}."
    return Promise("every-query-once", kept, said if kept else f"{int(np.sum(times != 1)):,} queries do not.")


def _fractions(found: Resplit) -> Promise:
    plan = found.plan
    asked = {
        "train": 1 - plan.ood - plan.val - plan.iid,
        "val": plan.val,
        "test-iid": plan.iid,
        "test-ood": plan.ood,
    }
    reached = {name: float(found.members[name].mean()) for name in asked}
    largest = np.unique(found.annotations.queries.video_id.astype(str), return_counts=True)[1].max()
    allowed = max(FRACTION_OFF, float(largest) / found.annotations.n_queries)
    # What is put aside is taken from train, and is told by itself.
    off = [name for name in asked if name != "train" and abs(reached[name] - asked[name]) > allowed + TIE]
    said = ", ".join(f"{name} {100 * reached[name]:.1f} % (asked for {100 * asked[name]:g} %)" for name in asked)
    return Promise("fractions", not off, f"Shares of the queries: {said}.")


def _iid_alike(parts: Mapping[str, Annotations], distances: Mapping[tuple[str, str], SplitDistance | None]) -> Promise:
    pairs = {pair: of for pair, of in distances.items() if "test-ood" not in pair and of is not None}
    if len(pairs) < len(list(combinations(SPLITS[:3], 2))):
        return Promise("iid-alike", None, "Without moments in train, val and test-iid there is nothing to compare.")
    corrected = holm(np.array([of.energy_p for of in pairs.values()]))
    told_apart = [f"{a} and {b}" for (a, b), p in zip(pairs, corrected.tolist(), strict=True) if p <= LEVEL]
    n_videos = {name: part.n_videos for name, part in parts.items() if name != "test-ood"}
    videos = ", ".join(f"{n:,} videos in {name}" for name, n in n_videos.items())
    if told_apart:
        said = f"Told apart by where their moments lie: {', '.join(told_apart)} (smallest p = {corrected.min():.3f})."
        return Promise("iid-alike", kept=False, said=f"{said} Another --seed deals other videos.")
    if min(n_videos.values()) < FEWEST_VIDEOS:
        few = f"A test finds no difference, but with so few videos it finds none in any case ({videos})."
        return Promise(
            "iid-alike", None, f"Whether train, val and test-iid differ in where moments lie is unknown. {few}"
        )
    farthest, of = max(pairs.items(), key=lambda pair: pair[1].energy)
    said = (
        "No difference is found between where the moments of train, val and test-iid lie (energy distance, whole "
        f"videos permuted: smallest p = {corrected.min():.2f} after Holm's correction; {videos}). The farthest two, "
        f"{' and '.join(farthest)}, lie {of.energy:.4f} apart, where chance gives {of.energy_by_chance:.4f}."
    )
    return Promise("iid-alike", kept=True, said=said)


def _ood_differs(distances: Mapping[tuple[str, str], SplitDistance | None], n_videos: int) -> Promise:
    """`n_videos` are those of test-ood."""
    of = distances.get(("train", "test-ood"))
    if of is None:
        return Promise("ood-differs", None, "Without moments in train and test-ood there is nothing to compare.")
    times = of.energy / of.energy_by_chance if of.energy_by_chance > 0 else np.inf
    said = (
        f"Moments of test-ood lie elsewhere than those of train: energy distance {of.energy:.4f}, "
        f"{times:,.0f} times what chance gives, p = {of.energy_p:.3f}."
    )
    if of.energy_p > LEVEL:
        said = (
            f"Moments of test-ood are not shown to lie elsewhere than those of train: energy distance {of.energy:.4f}, "
            f"by chance {of.energy_by_chance:.4f}, p = {of.energy_p:.2f}, {n_videos:,} videos in test-ood."
        )
        return Promise("ood-differs", None if n_videos < FEWEST_VIDEOS else False, said)
    return Promise("ood-differs", kept=True, said=said)


def _new_terms(found: Resplit) -> Promise:
    """Whether every query of test-ood holds a new term, and no other split one."""
    terms, new = found.ranking.terms or (), set(found.terms)
    holds = np.array([not new.isdisjoint(of) for of in terms], dtype=bool)
    ood = found.members["test-ood"]
    elsewhere = int(sum((holds & found.members[name]).sum() for name in SPLITS if name != "test-ood"))
    lacking = int((ood & ~holds).sum())
    kind = "words" if found.plan.new is None else found.plan.new.new
    if kind == "compositions" and not (elsewhere or lacking):
        rest = np.any([found.members[name] for name in SPLITS if name != "test-ood"], axis=0)
        unknown = int((ood & ~parts_known(found.ranking, found.terms, rest)).sum())
        if unknown:
            said = f"{unknown:,} queries of test-ood hold new compositions only of words that no other split composes."
            return Promise("new-words", kept=False, said=said)
    if elsewhere or lacking:
        said = (
            f"{lacking:,} queries of test-ood hold none of the new {kind}, and {elsewhere:,} of other splits hold one."
        )
        return Promise("new-words", kept=False, said=said)
    said = f"Each query of test-ood holds one of {len(new):,} new {kind}, and no query of train, val or test-iid does"
    if kind == "compositions":
        said += "; both words of one of them stand in other compositions there"
    return Promise("new-words", kept=True, said=f"{said}.")


def _warnings(found: Resplit) -> tuple[str, ...]:
    if ASIDE not in found.members:
        return ()
    drawn, drawable = len(found.terms), len(found.ranking.drawn)
    every = " Every one that may be drawn was: another seed changes nothing." if drawn == drawable else ""
    return (
        f"{100 * float(found.members[ASIDE].mean()):.0f} % of the queries are put aside, in no split; train keeps "
        f"{100 * float(found.members['train'].mean()):.0f} %.{every}",
    )
