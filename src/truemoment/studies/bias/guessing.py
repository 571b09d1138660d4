"""Scores of every floor on the tests of a new split, compared with a guess that has learned nothing.

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
    """Scores of F floors on a test split by M measures, as fractions; undefined is NaN.

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
    best_gain, best_gain_ci95 : (M,), (M, 2)
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
    best_gain: Floats
    best_gain_ci95: Floats
    left_out: tuple[str, ...] = ()

    @property
    def values(self) -> Floats:
        """Value of each floor at each measure, (F, M)."""
        return np.array([[floor.scores.value(measure) for measure in MEASURES] for floor in self.floors])

    def status(self, m: int) -> Literal["left", "not shown", "undefined"]:
        """Return whether some floor is shown to be above Uniform at measure m."""
        low = self.best_gain_ci95[m, 0]
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

    Returns one result for each test that has such queries; none if `train` has none. `original` states whether
    these are original splits of the dataset.
    """
    measures, fit_on = tuple(parse_measure(measure) for measure in MEASURES), located(train)
    tests = [test for test in map(located, tests) if test.n_queries]
    if not tests or not fit_on.n_queries:
        return ()
    origin = "the original " if original else ""
    setting = Setting(
        annotations=tests[0],
        measures=measures,
        protocol=get_protocol("default"),
        train=fit_on,
        engine=engine,
        seed=seed,
        cache=cache,
        on_status=lambda text: on_status(f"{text} on {origin}{tests[0].split}"),
    )
    floors, left_out = run_floors(setting)
    results = [floors]
    for test in tests[1:]:
        on_status(f"floors on {origin}{test.split}")
        results.append(remeasured(floors, test))
    return tuple(
        _judged(test, fit_on, tuple(row), tuple(left_out), seed, original=original)
        for test, row in zip(tests, results, strict=True)
    )


def located(annotations: Annotations) -> Annotations:
    """Return the queries whose moment and duration are known."""
    queries = annotations.queries
    is_known = (queries.duration_s > 0) & ~annotations.without_moment
    return annotations if np.all(is_known) else annotations.select_queries(is_known)


def _judged(
    test: Annotations,
    train: Annotations,
    floors: tuple[FloorResult, ...],
    left_out: tuple[str, ...],
    seed: int,
    *,
    original: bool,
) -> Guessing:
    others = [f for f, floor in enumerate(floors) if floor.name != UNIFORM]
    uniform = next(f for f, floor in enumerate(floors) if floor.name == UNIFORM)
    sums = np.stack([sums_by_video(floor.scores)[0] for floor in floors])  # (F, V, M)
    weight = sums_by_video(floors[0].scores)[1]
    n_measures, n = weight.shape[1], len(others)
    # Uniform less each other floor, whose least is that of the strongest; then the figures themselves.
    numerator = np.concatenate([*(sums[uniform] - sums[others]), *sums], axis=1)
    denominator = np.tile(weight, n + len(floors))
    estimate = resample_ratios(numerator, denominator, stream(seed, f"guessing {test.sha256}"), resamples=RESAMPLES)
    differences, values = estimate[: n * n_measures], estimate[n * n_measures :]
    by_draw = np.stack([floor.standard_error for floor in floors])
    spread = np.hypot(by_draw[others], by_draw[uniform]).ravel()
    lower, upper = (end.reshape(n, n_measures) for end in differences.bounds(LEVEL, spread))
    gain, gain_ci95 = np.zeros((len(floors), n_measures)), np.full((len(floors), n_measures, 2), np.nan)
    gain[others], gain_ci95[others] = -differences.value.reshape(n, n_measures), np.stack([-upper, -lower], axis=-1)
    strongest = np.array(others)[gain[others].argmax(axis=0)]
    return Guessing(
        test=test,
        train=train,
        original=original,
        floors=floors,
        error=np.hypot(values.error.reshape(len(floors), n_measures), by_draw),
        gain=gain,
        gain_ci95=gain_ci95,
        strongest=strongest,
        best_gain=gain[strongest, np.arange(n_measures)],
        best_gain_ci95=-interval_of_least(differences, n, spread)[:, ::-1],
        left_out=left_out,
    )


def guess_on_split(
    split: Resplit,
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
    tests = [split.part(name) for name in TESTS if split.members[name].any()]
    results = guess(split.part("train"), tests, engine=engine, seed=seed, cache=cache, on_status=on_status)
    if original is None:
        return results
    train, tests = original[0], list(original[1])
    return results + guess(train, tests, original=True, engine=engine, seed=seed, cache=cache, on_status=on_status)


def new_tests(guessing: Sequence[Guessing]) -> tuple[Guessing, Guessing] | None:
    """Return the results on test-iid and on test-ood of the new split; None unless both are measured."""
    by_name = {result.test.split: result for result in guessing if not result.original}
    return (by_name[TESTS[0]], by_name[TESTS[1]]) if set(TESTS) <= set(by_name) else None


def is_less(iid: Guessing, ood: Guessing) -> bool | None:
    """Return whether guessing gains less on test-ood than on test-iid, at the headline measure.

    None if the intervals of the two gains overlap, or one is undefined.
    """
    on_iid, on_ood = iid.best_gain_ci95[0], ood.best_gain_ci95[0]
    return True if on_ood[1] < on_iid[0] else False if on_ood[0] > on_iid[1] else None


def rising(iid: Guessing, ood: Guessing) -> list[tuple[int, int]]:
    """Return floors that score higher on test-ood than on test-iid beyond chance, with the measure that rises most."""
    rise = ood.values - iid.values
    is_rise = rise > Z95 * np.hypot(ood.error, iid.error) + TIE
    return [
        (f, int(np.where(is_rise[f], rise[f], -np.inf).argmax())) for f in np.flatnonzero(is_rise.any(axis=1)).tolist()
    ]


# ----------------------------------------------------------------------------------------- report

UNKNOWN_GUESSING = "The scores of guessing are unknown: a split has too few moments or durations."


def summary(guessing: Sequence[Guessing]) -> str:
    """Return the finding on guessing on test-ood, at the headline measure."""
    ood = next((result for result in guessing if not result.original and result.test.split == "test-ood"), None)
    if ood is None or ood.status(0) == "undefined":
        return UNKNOWN_GUESSING
    strongest, gain = ood.floors[ood.strongest[0]], ood.best_gain[0]
    score = f"{points(ood.values[ood.strongest[0], 0])} at {MEASURES[0]}"
    if ood.status(0) == "left":
        text = (
            f"Guessing still helps on test-ood: {strongest.title}, which never sees a video, scores {score}, "
            f"{points(gain)} points above Uniform, which has learned nothing "
            f"({interval95_points(ood.best_gain_ci95[0])})."
        )
    else:
        size = f"{counted(ood.test.n_queries, 'query', 'queries')} in {counted(ood.test.n_videos, 'video')}"
        text = (
            f"No floor is shown to be above Uniform, which has learned nothing, on test-ood ({size}): the strongest "
            f"other floor, {strongest.title}, scores {score}, a difference of {points(gain, sign='+')} points "
            f"({interval95_points(ood.best_gain_ci95[0], sign='+')})."
        )
    if not BASELINES[strongest.name].learns:
        text += f" {strongest.title} has learned nothing from training either."
    others = [
        f"{points(result.best_gain[0], sign='+')} on {'the original ' if result.original else ''}{result.test.split} "
        f"({result.floors[result.strongest[0]].title})"
        for result in guessing
        if result is not ood and result.status(0) != "undefined"
    ]
    return text + (f" The strongest floor minus Uniform on other tests: {', '.join(others)}." if others else "")


def table(guessing: Sequence[Guessing], measure: str) -> Table:
    """Return the table of the values of floors on each test, ordered by their value on test-ood.

    Parameters
    ----------
    guessing
        One test or more.
    measure
        One of :data:`~truemoment.studies.bias.guessing.MEASURES`.
    """
    m = MEASURES.index(measure)
    at = [{floor.name: f for f, floor in enumerate(result.floors)} for result in guessing]
    last = next((t for t, result in enumerate(guessing) if result.test.split == "test-ood" and not result.original), 0)
    ordered = sorted(at[last], key=lambda name: -np.nan_to_num(guessing[last].values[at[last][name], m]))
    ordered += [name for name in BASELINES if name not in ordered and any(name in rows for rows in at)]
    rows = []
    for name in ordered:
        title = next(result.floors[f[name]].title for result, f in zip(guessing, at, strict=True) if name in f)
        values = [
            points(result.values[f[name], m], 2) if name in f else UNDEFINED
            for result, f in zip(guessing, at, strict=True)
        ]
        gain = _gain(guessing[last], at[last][name], m) if name in at[last] else UNDEFINED
        rows.append(tuple(map(Cell, (title, *values, gain))))
    tests = [f"original {result.test.split}" if result.original else result.test.split for result in guessing]
    return Table("", (f"{measure}, %", *tests, f"{tests[last]} minus Uniform"), (("", tuple(rows)),))


def _gain(result: Guessing, f: int, m: int) -> str:
    ends = low_to_high(result.gain_ci95[f, m], 1, times=100, sign="+")
    return f"{points(result.gain[f, m], sign='+')} ({ends})" if ends else UNDEFINED


def document(guessing: Sequence[Guessing]) -> list[dict[str, Any]]:
    """Return the values of floors as JSON, one object a test; fractions, never percent."""
    return [
        {
            "dataset": result.test.dataset,
            "split": result.test.split,
            "original": result.original,
            "fitted_on_sha256": result.train.sha256,
            "n_queries": result.test.n_queries,
            "n_videos": result.test.n_videos,
            "left": [
                {
                    "measure": measure,
                    "strongest": result.floors[result.strongest[m]].name,
                    "over_uniform": result.best_gain[m],
                    "over_uniform_ci95": _defined(result.best_gain_ci95[m]),
                    "shown": result.status(m),
                }
                for m, measure in enumerate(MEASURES)
            ],
            "floors": [
                {
                    "floor": floor.name,
                    "title": floor.title,
                    "measure": measure,
                    "value": result.values[f, m],
                    "spread": floor.spread[m],
                    "over_uniform": result.gain[f, m],
                    "over_uniform_ci95": _defined(result.gain_ci95[f, m]),
                }
                for f, floor in enumerate(result.floors)
                for m, measure in enumerate(MEASURES)
            ],
            "left_out": result.left_out,
        }
        for result in guessing
    ]


def _defined(ci95: Floats) -> Floats | None:
    return ci95 if np.all(np.isfinite(ci95)) else None
