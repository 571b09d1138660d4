"""What guessing reaches on a new split: every floor on its tests, compared with a guess that has learned nothing.

A *floor* is a baseline that never sees the video. Each is fitted on ``train`` of the new split and measured on its two
tests; if the dataset has a training and a test split, each is fitted and measured on these too. The *gain* of a floor
is its value minus that of Uniform, which draws start and end evenly. The strongest floor is selected on the test that
it is measured on, so the interval of its gain corrects for that selection
(:func:`~truemoment.evaluation.studentised.interval_of_least`): the gain is shown to be above 0 if that of any floor is
at level
0.05 / N for N floors (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.intervals import TIE, Floats, Ints
from truemoment.base.records import Annotations
from truemoment.baselines import BASELINES
from truemoment.baselines.floors import FloorResult, Setting, remeasured, run_floors
from truemoment.evaluation.measures import parse_measure
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.studentised import interval_of_least, resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, stream, sums_by_video
from truemoment.report.model import Cell, Table
from truemoment.report.words import UNDEFINED, counted, interval95_points, low_to_high, points
from truemoment.studies.bias.splitting import Resplit

MEASURES = ("R@1,IoU=0.5", "dR@1,IoU=0.5", "dR@1,IoU=0.3")
"""Measures of floors; the first is the headline."""

UNIFORM = "uniform"
"""The floor that gains are relative to."""

TESTS = ("test-iid", "test-ood")

RESAMPLES = 5000
"""Number of resamples of the videos: level 0.05 / N needs many."""

Z95 = 1.96
"""Number of standard errors above which a rise is reported."""


@dataclass(frozen=True, eq=False)
class Guessing:
    """What F floors reach on a test split by M measures, as fractions; undefined is NaN.

    Parameters
    ----------
    test, train
        The splits, without queries whose moment or duration is unknown.
    original
        Whether both are original splits of the dataset.
    error : (F, M)
        Standard error of each value, over videos and draws.
    gain, gain_ci95 : (F, M), (F, M, 2)
        Each value minus that of Uniform, and its 95 % interval, without correction; undefined for Uniform itself.
    strongest : (M,)
        Index of the floor with the highest value, Uniform excluded.
    left, left_ci95 : (M,), (M, 2)
        Gain of the strongest floor, and its 95 % interval, corrected for the selection of the strongest.
    left_out
        Floors that could not be fitted, with the reason.
    """

    test: Annotations
    train: Annotations
    original: bool
    floors: tuple[FloorResult, ...]
    error: Floats
    gain: Floats
    gain_ci95: Floats
    strongest: Ints
    left: Floats
    left_ci95: Floats
    left_out: tuple[str, ...] = ()

    @property
    def values(self) -> Floats:
        """Value of each floor at each measure, (F, M)."""
        return np.array([[of.scores.value(measure) for measure in MEASURES] for of in self.floors])

    def shown(self, m: int) -> Literal["left", "not shown", "undefined"]:
        """Return whether some floor is shown to be above Uniform at measure m."""
        low = self.left_ci95[m, 0]
        return "undefined" if not np.isfinite(low) else "left" if low > 0 else "not shown"


def guess(
    train: Annotations,
    tests: Sequence[Annotations],
    *,
    original: bool = False,
    engine: str = "lexicon",
    seed: int = 0,
    cache: Cache = NO_CACHE,
    on_status: Callable[[str], None] = lambda _: None,
) -> tuple[Guessing, ...]:
    """Run every floor on test splits, without queries whose moment or duration is unknown.

    Returns one result for each test that has queries left; none if `train` has no query left. `original` states whether
    these are original splits of the dataset.
    """
    measures, fit_on = tuple(parse_measure(measure) for measure in MEASURES), located(train)
    tests = [of for of in map(located, tests) if of.n_queries]
    if not tests or not fit_on.n_queries:
        return ()
    where = "the original " if original else ""
    setting = Setting(
        annotations=tests[0],
        measures=measures,
        protocol=get_protocol("default"),
        train=fit_on,
        engine=engine,
        seed=seed,
        cache=cache,
        on_status=lambda what: on_status(f"{what} on {where}{tests[0].split}"),
    )
    floors, left_out = run_floors(setting)
    found = [floors]
    for test in tests[1:]:
        on_status(f"floors on {where}{test.split}")
        found.append(remeasured(floors, test))
    return tuple(
        _judged(test, fit_on, tuple(of), tuple(left_out), seed, original=original)
        for test, of in zip(tests, found, strict=True)
    )


def located(annotations: Annotations) -> Annotations:
    """Return the queries whose moment and duration are known."""
    queries = annotations.queries
    known = (queries.duration_s > 0) & ~annotations.without_moment
    return annotations if np.all(known) else annotations.select_queries(known)


def _judged(
    test: Annotations,
    train: Annotations,
    floors: tuple[FloorResult, ...],
    left_out: tuple[str, ...],
    seed: int,
    *,
    original: bool,
) -> Guessing:
    others = [f for f, of in enumerate(floors) if of.name != UNIFORM]
    uniform = next(f for f, of in enumerate(floors) if of.name == UNIFORM)
    sums = np.stack([sums_by_video(of.scores)[0] for of in floors])  # (F, V, M)
    weight = sums_by_video(floors[0].scores)[1]
    n_measures, n = weight.shape[1], len(others)
    # Uniform less each other floor, whose least is that of the strongest; then the figures themselves.
    numerator = np.concatenate([*(sums[uniform] - sums[others]), *sums], axis=1)
    denominator = np.tile(weight, n + len(floors))
    drawn = resample_ratios(numerator, denominator, stream(seed, f"guessing {test.sha256}"), resamples=RESAMPLES)
    below, own = drawn[: n * n_measures], drawn[n * n_measures :]
    by_draw = np.stack([of.standard_error for of in floors])
    spread = np.hypot(by_draw[others], by_draw[uniform]).ravel()
    lower, upper = (end.reshape(n, n_measures) for end in below.bounds(LEVEL, spread))
    gain, gain_ci95 = np.zeros((len(floors), n_measures)), np.full((len(floors), n_measures, 2), np.nan)
    gain[others], gain_ci95[others] = -below.value.reshape(n, n_measures), np.stack([-upper, -lower], axis=-1)
    strongest = np.array(others)[gain[others].argmax(axis=0)]
    return Guessing(
        test=test,
        train=train,
        original=original,
        floors=floors,
        error=np.hypot(own.error.reshape(len(floors), n_measures), by_draw),
        gain=gain,
        gain_ci95=gain_ci95,
        strongest=strongest,
        left=gain[strongest, np.arange(n_measures)],
        left_ci95=-interval_of_least(below, n, spread)[:, ::-1],
        left_out=left_out,
    )


def guess_on_split(
    found: Resplit,
    *,
    original: tuple[Annotations, Sequence[Annotations]] | None = None,
    engine: str = "lexicon",
    seed: int = 0,
    cache: Cache = NO_CACHE,
    on_status: Callable[[str], None] = lambda _: None,
) -> tuple[Guessing, ...]:
    """Run every floor on test-iid and test-ood of a new split, and on `original`, a training split and test splits.

    Other parameters are as for :func:`guess`.
    """
    tests = [found.part(name) for name in TESTS if found.members[name].any()]
    new = guess(found.part("train"), tests, engine=engine, seed=seed, cache=cache, on_status=on_status)
    if original is None:
        return new
    train, tests = original[0], list(original[1])
    return new + guess(train, tests, original=True, engine=engine, seed=seed, cache=cache, on_status=on_status)


def new_tests(guessing: Sequence[Guessing]) -> tuple[Guessing, Guessing] | None:
    """Return what floors reach on test-iid and on test-ood of the new split; None unless both are measured."""
    by_name = {of.test.split: of for of in guessing if not of.original}
    return (by_name[TESTS[0]], by_name[TESTS[1]]) if set(TESTS) <= set(by_name) else None


def is_less(iid: Guessing, ood: Guessing) -> bool | None:
    """Return whether guessing gains less on test-ood than on test-iid, at the headline measure.

    None if the intervals of the two gains overlap, or one is undefined.
    """
    on_iid, on_ood = iid.left_ci95[0], ood.left_ci95[0]
    return True if on_ood[1] < on_iid[0] else False if on_ood[0] > on_iid[1] else None


def rising(iid: Guessing, ood: Guessing) -> list[tuple[int, int]]:
    """Return floors that score higher on test-ood than on test-iid beyond chance, with the measure that rises most."""
    rise = ood.values - iid.values
    beyond = rise > Z95 * np.hypot(ood.error, iid.error) + TIE
    return [
        (f, int(np.where(beyond[f], rise[f], -np.inf).argmax())) for f in np.flatnonzero(beyond.any(axis=1)).tolist()
    ]


# ----------------------------------------------------------------------------------------- report

UNKNOWN_GUESSING = "What guessing reaches is unknown: a split has too few moments or durations."


def summary(guessing: Sequence[Guessing]) -> str:
    """Return what guessing still reaches on test-ood, at the headline measure."""
    ood = next((of for of in guessing if not of.original and of.test.split == "test-ood"), None)
    if ood is None or ood.shown(0) == "undefined":
        return UNKNOWN_GUESSING
    strongest, gain = ood.floors[ood.strongest[0]], ood.left[0]
    score = f"{points(ood.values[ood.strongest[0], 0])} at {MEASURES[0]}"
    if ood.shown(0) == "left":
        found = (
            f"Guessing still helps on test-ood: {strongest.title}, which never sees a video, scores {score}, "
            f"{points(gain)} points above Uniform, which has learned nothing ({interval95_points(ood.left_ci95[0])})."
        )
    else:
        size = f"{counted(ood.test.n_queries, 'query', 'queries')} in {counted(ood.test.n_videos, 'video')}"
        found = (
            f"No floor is shown to be above Uniform, which has learned nothing, on test-ood ({size}): the strongest "
            f"other floor, {strongest.title}, scores {score}, a difference of {points(gain, sign='+')} points "
            f"({interval95_points(ood.left_ci95[0], sign='+')})."
        )
    if not BASELINES[strongest.name].learns:
        found += f" {strongest.title} has learned nothing from training either."
    others = [
        f"{points(of.left[0], sign='+')} on {'the original ' if of.original else ''}{of.test.split} "
        f"({of.floors[of.strongest[0]].title})"
        for of in guessing
        if of is not ood and of.shown(0) != "undefined"
    ]
    return found + (f" The strongest floor minus Uniform on other tests: {', '.join(others)}." if others else "")


def table(guessing: Sequence[Guessing], measure: str) -> Table:
    """Return what floors reach on each test, ordered by their value on test-ood.

    Parameters
    ----------
    guessing
        One test or more.
    measure
        One of :data:`~truemoment.studies.bias.guessing.MEASURES`.
    """
    m = MEASURES.index(measure)
    at = [{floor.name: f for f, floor in enumerate(of.floors)} for of in guessing]
    last = next((t for t, of in enumerate(guessing) if of.test.split == "test-ood" and not of.original), 0)
    ordered = sorted(at[last], key=lambda name: -np.nan_to_num(guessing[last].values[at[last][name], m]))
    ordered += [name for name in BASELINES if name not in ordered and any(name in of for of in at)]
    rows = []
    for name in ordered:
        title = next(of.floors[f[name]].title for of, f in zip(guessing, at, strict=True) if name in f)
        values = [
            points(of.values[f[name], m], 2) if name in f else UNDEFINED for of, f in zip(guessing, at, strict=True)
        ]
        gain = _gain(guessing[last], at[last][name], m) if name in at[last] else UNDEFINED
        rows.append(tuple(map(Cell, (title, *values, gain))))
    tests = [f"original {of.test.split}" if of.original else of.test.split for of in guessing]
    return Table("", (f"{measure}, %", *tests, f"{tests[last]} minus Uniform"), (("", tuple(rows)),))


def _gain(of: Guessing, f: int, m: int) -> str:
    ends = low_to_high(of.gain_ci95[f, m], 1, times=100, sign="+")
    return f"{points(of.gain[f, m], sign='+')} ({ends})" if ends else UNDEFINED


def document(guessing: Sequence[Guessing]) -> list[dict[str, Any]]:
    """Return what floors reach as JSON, one object a test; fractions, never percent."""
    return [
        {
            "dataset": of.test.dataset,
            "split": of.test.split,
            "original": of.original,
            "fitted_on_sha256": of.train.sha256,
            "n_queries": of.test.n_queries,
            "n_videos": of.test.n_videos,
            "left": [
                {
                    "measure": measure,
                    "strongest": of.floors[of.strongest[m]].name,
                    "over_uniform": of.left[m],
                    "over_uniform_ci95": _defined(of.left_ci95[m]),
                    "shown": of.shown(m),
                }
                for m, measure in enumerate(MEASURES)
            ],
            "floors": [
                {
                    "floor": floor.name,
                    "title": floor.title,
                    "measure": measure,
                    "value": of.values[f, m],
                    "spread": floor.spread[m],
                    "over_uniform": of.gain[f, m],
                    "over_uniform_ci95": _defined(of.gain_ci95[f, m]),
                }
                for f, floor in enumerate(of.floors)
                for m, measure in enumerate(MEASURES)
            ],
            "left_out": of.left_out,
        }
        for of in guessing
    ]


def _defined(ci95: Floats) -> Floats | None:
    return ci95 if np.all(np.isfinite(ci95)) else None
