"""Guarantees of a new split, verified in the split itself.

A promise is kept, not kept, or unknown where the split is too small for a test. A test that finds no difference proves
little on few videos, so each promise names their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import TIE
from truemoment.base.records import Annotations
from truemoment.data.datasets.resplit_folder import ASIDE, SPLITS
from truemoment.evaluation.uncertainty import LEVEL, holm
from truemoment.report.words import counted, interval95_points, p_value, percent, points
from truemoment.studies.bias.distances import SplitDistance, split_distance
from truemoment.studies.bias.guessing import MEASURES, UNKNOWN_GUESSING, Guessing, is_less, new_tests, rising
from truemoment.studies.bias.locations import Locations
from truemoment.studies.bias.splitting import Resplit, parts_known

FEWEST_VIDEOS = 20
"""Number of videos of a split below which a test that finds no difference is not evidence."""

FRACTION_OFF = 0.02
"""Allowed difference between the share of a split and the planned share."""


@dataclass(frozen=True)
class Promise:
    """A guarantee of a split.

    Parameters
    ----------
    name
        ``no-shared-video``, ``every-query-once``, ``fractions``, ``iid-alike``, ``ood-differs``, ``new-words``,
        ``less-to-guess``.
    is_kept
        Whether the promise is kept; None if unknown.
    """

    name: str
    is_kept: bool | None
    finding: str


@dataclass(frozen=True, eq=False)
class Inspection:
    """The guarantees of a new split, and the distances between the moments of its splits, by pair.

    A distance is None if a split has no moment with a location.
    """

    promises: tuple[Promise, ...]
    distances: Mapping[tuple[str, str], SplitDistance | None]
    warnings: tuple[str, ...]


def inspect_split(
    split: Resplit,
    rng: np.random.Generator,
    guessing: Sequence[Guessing] | None = None,
    *,
    permutations: int = 1000,
    on_status: Callable[[str], None] = lambda _: None,
) -> Inspection:
    """Inspect the guarantees of a split; with scores of floors in `guessing`, also that it gains less on test-ood.

    A split by words alone does not guarantee anything about guessing.
    """
    parts = {name: split.part(name) for name in SPLITS if split.members[name].any()}
    places = {name: _locations(part) for name, part in parts.items()}
    pairs = list(combinations(parts, 2))
    distances: dict[tuple[str, str], SplitDistance | None] = dict.fromkeys(pairs)
    for (a, b), child in zip(pairs, rng.spawn(len(pairs)), strict=True):
        on_status(f"distance between {a} and {b}")
        first, second = places[a], places[b]
        if first is not None and second is not None:
            distances[a, b] = split_distance(first, second, child, permutations=permutations)
    promises = [
        _no_shared_video(parts),
        _once(split),
        _fractions(split),
        _iid_alike(parts, distances),
        *([] if split.plan.location is None else [_ood_differs(distances, parts["test-ood"].n_videos)]),
        *([] if split.plan.new is None else [_new_terms(split)]),
        *([] if split.plan.location is None or guessing is None else [_less_to_guess(guessing)]),
    ]
    warnings = (*_warnings(split), *_floor_warnings(guessing or ()))
    return Inspection(tuple(promises), MappingProxyType(distances), warnings)


def _locations(part: Annotations) -> Locations | None:
    try:
        return Locations.of(part)
    except InputError:  # no moment of it has a place
        return None


def _no_shared_video(parts: Mapping[str, Annotations]) -> Promise:
    videos = {name: set(part.video_id) for name, part in parts.items()}
    shared = {(a, b): len(videos[a] & videos[b]) for a, b in combinations(videos, 2)}
    n_shared = sum(shared.values())
    finding = (
        "No video is in two splits."
        if not n_shared
        else f"{counted(n_shared, 'video is', 'videos are')} in two splits."
    )
    return Promise("no-shared-video", n_shared == 0, finding)


def _once(split: Resplit) -> Promise:
    times = np.sum(list(split.members.values()), axis=0)
    is_kept = bool(np.all(times == 1))
    n_aside = int(split.members[ASIDE].sum()) if ASIDE in split.members else 0
    remark = f", or is put aside ({n_aside:,})" if n_aside else ""
    finding = f"Each of {len(times):,} queries is in one split{remark}."
    if not is_kept:
        finding = f"{counted(int(np.sum(times != 1)), 'query is', 'queries are')} not in one split."
    return Promise("every-query-once", is_kept, finding)


def _fractions(split: Resplit) -> Promise:
    plan = split.plan
    shares_planned = (1 - plan.ood - plan.val - plan.iid, plan.val, plan.iid, plan.ood)
    planned = dict(zip(SPLITS, shares_planned, strict=True))
    share = {name: float(split.members[name].mean()) for name in planned}
    largest = np.unique(split.annotations.queries.video_id.astype(str), return_counts=True)[1].max()
    allowed = max(FRACTION_OFF, float(largest) / split.annotations.n_queries)
    # Queries that are put aside are taken from train; a warning reports them.
    names = [name for name in planned if name != "train" and abs(share[name] - planned[name]) > allowed + TIE]
    shares = ", ".join(f"{name} {percent(share[name], 1)} (planned {100 * planned[name]:g} %)" for name in planned)
    return Promise("fractions", not names, f"Shares of the queries: {shares}.")


def _iid_alike(parts: Mapping[str, Annotations], distances: Mapping[tuple[str, str], SplitDistance | None]) -> Promise:
    pairs = {pair: distance for pair, distance in distances.items() if "test-ood" not in pair and distance is not None}
    if len(pairs) < len(list(combinations(SPLITS[:3], 2))):
        return Promise("iid-alike", None, "Unknown without moments in train, val and test-iid.")
    corrected = holm(np.array([distance.energy_p for distance in pairs.values()]))
    different = [f"{a} and {b}" for (a, b), p in zip(pairs, corrected.tolist(), strict=True) if p <= LEVEL]
    n_videos = {name: part.n_videos for name, part in parts.items() if name != "test-ood"}
    videos = ", ".join(f"{n:,} videos in {name}" for name, n in n_videos.items())
    if different:
        finding = f"Their moments differ: {', '.join(different)} (smallest {p_value(corrected.min())})."
        return Promise("iid-alike", is_kept=False, finding=f"{finding} Another --seed selects other videos.")
    if min(n_videos.values()) < FEWEST_VIDEOS:
        finding = "No difference is found between the moments of train, val and test-iid, but there are too few videos "
        return Promise("iid-alike", None, f"{finding}for a test ({videos}).")
    splits, distance = max(pairs.items(), key=lambda pair: pair[1].energy)
    finding = (
        "No difference is found between the moments of train, val and test-iid (energy distance, whole videos "
        f"permuted: smallest {p_value(corrected.min())} after Holm's correction; {videos}). The largest distance is "
        f"{distance.energy:.4f}, between {' and '.join(splits)} (by chance {distance.energy_by_chance:.4f})."
    )
    return Promise("iid-alike", is_kept=True, finding=finding)


def _ood_differs(distances: Mapping[tuple[str, str], SplitDistance | None], n_videos: int) -> Promise:
    distance = distances.get(("train", "test-ood"))
    if distance is None:
        return Promise("ood-differs", None, "Unknown without moments in train and test-ood.")
    times = distance.energy / distance.energy_by_chance if distance.energy_by_chance > 0 else np.inf
    if distance.energy_p > LEVEL:
        finding = (
            f"Moments of test-ood are not shown to differ from those of train: energy distance {distance.energy:.4f}, "
            f"by chance {distance.energy_by_chance:.4f}, {p_value(distance.energy_p)}, {n_videos:,} videos in test-ood."
        )
        return Promise("ood-differs", None if n_videos < FEWEST_VIDEOS else False, finding)
    finding = (
        f"Moments of test-ood differ from those of train: energy distance {distance.energy:.4f}, {times:,.0f} times "
        f"the distance by chance, {p_value(distance.energy_p)}."
    )
    return Promise("ood-differs", is_kept=True, finding=finding)


def _new_terms(split: Resplit) -> Promise:
    terms, new = split.ranking.terms or (), set(split.terms)
    has_new = np.array([not new.isdisjoint(query_terms) for query_terms in terms], dtype=bool)
    ood = split.members["test-ood"]
    n_others = int(sum((has_new & split.members[name]).sum() for name in SPLITS if name != "test-ood"))
    n_without = int((ood & ~has_new).sum())
    kind = "words" if split.plan.new is None else split.plan.new.new
    if kind == "compositions" and not (n_others or n_without):
        rest = np.any([split.members[name] for name in SPLITS if name != "test-ood"], axis=0)
        unknown = int((ood & ~parts_known(split.ranking, split.terms, rest)).sum())
        if unknown:
            finding = (
                f"{counted(unknown, 'query of test-ood has', 'queries of test-ood have')} only new compositions of "
                "words that no other split composes."
            )
            return Promise("new-words", is_kept=False, finding=finding)
    if n_others or n_without:
        finding = (
            f"{counted(n_without, 'query of test-ood has', 'queries of test-ood have')} none of the new {kind}; "
            f"{n_others:,} of other splits {'has' if n_others == 1 else 'have'} one."
        )
        return Promise("new-words", is_kept=False, finding=finding)
    finding = f"Each query of test-ood has one of {len(new):,} new {kind}; no query of train, val or test-iid has one"
    if kind == "compositions":
        finding += "; both words of the composition occur there in other compositions"
    return Promise("new-words", is_kept=True, finding=f"{finding}.")


def _warnings(split: Resplit) -> tuple[str, ...]:
    if ASIDE not in split.members:
        return ()
    n_terms, n_candidates = len(split.terms), len(split.ranking.candidates)
    note = " All possible terms are drawn, so another seed changes nothing." if n_terms == n_candidates else ""
    return (
        f"{100 * float(split.members[ASIDE].mean()):.0f} % of the queries are put aside, in no split; train has "
        f"{100 * float(split.members['train'].mean()):.0f} %.{note}",
    )


# ------------------------------------------------------------------------------------------------ guessing


def _less_to_guess(guessing: Sequence[Guessing]) -> Promise:
    name, tests = "less-to-guess", new_tests(guessing)
    if tests is None or "undefined" in {test.status(0) for test in tests}:
        return Promise(name, None, UNKNOWN_GUESSING)
    is_kept = is_less(*tests)
    verdict = {True: "gains less", None: "is not shown to gain less", False: "gains more"}[is_kept]
    iid, ood = (
        f"{points(test.best_gain[0], sign='+')} points ({interval95_points(test.best_gain_ci95[0], sign='+')})"
        for test in tests
    )
    return Promise(
        name,
        is_kept,
        f"Guessing {verdict} on test-ood than on test-iid: at {MEASURES[0]}, the strongest floor minus Uniform is "
        f"{iid} on test-iid and {ood} on test-ood.",
    )


def _floor_warnings(guessing: Sequence[Guessing]) -> list[str]:
    left_out = list(dict.fromkeys(f"{reason}." for result in guessing for reason in result.left_out))
    tests = new_tests(guessing)
    higher = [] if tests is None else rising(*tests)
    if tests is None or not higher:
        return left_out
    iid, ood = (test.values for test in tests)
    floors = tests[1].floors
    figures = [f"{floors[f].title} {points(iid[f, m])} to {points(ood[f, m])} at {MEASURES[m]}" for f, m in higher]
    warning = f"Floors that score higher on test-ood than on test-iid: {'; '.join(figures)}."
    if any(floors[f].name == "predict-all" for f, _ in higher):
        warning += (
            " PredictAll hits moments longer than the threshold: use a higher threshold, or keep their videos out of "
            "test-ood (--longest)."
        )
    return [*left_out, warning]
