"""Whether the first answers move with the moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import NO_INTERVAL, Measured
from truemoment.base.intervals import Floats
from truemoment.base.records import numbers_of
from truemoment.baselines.floors import join_measures, remeasured
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import why_undefined
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import LEVEL
from truemoment.report.model import Block, Cell, Level, Table
from truemoment.report.words import interval95_points, low_to_high, number, p_number, p_value, points
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.checks.better_than_guessing import why_undecided
from truemoment.studies.audit.checks.changed_videos import changed_videos
from truemoment.studies.audit.entries import difference, measured
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.moved import GUESSES, Moved, PlacedAnswers, following, place_answers
from truemoment.studies.audit.resampling import PairedDifference, intervals
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.setup import ORIGINAL
from truemoment.studies.audit.table_cells import figure_cell, points_cell

NAME = "follows-moments"

FEWEST_VIDEOS = 10
"""Number of videos below which the answers are not compared with a guess."""


class Against(NamedTuple):
    """Shares of the first answers that move with the moment and that stay, where these two places are apart.

    Parameters
    ----------
    guess
        One of :data:`truemoment.studies.audit.moved.GUESSES`.
    follow, stay, difference
        The two shares, and the first less the second; NaN below :data:`FEWEST_VIDEOS`.
    ci95 : (2,)
        95 % interval of the difference.
    n_queries, n_videos
        Number of queries that count, and of their videos.
    """

    guess: str
    follow: float
    stay: float
    difference: float
    ci95: Floats
    n_queries: int
    n_videos: int


class MovedResult(NamedTuple):
    """Answers where moments move, beside those of every guess.

    Parameters
    ----------
    against
        The answers beside each of the guesses.
    ci95 : (M, 2)
        95 % intervals of `scores`.
    floor_names : (M,)
        Name of the strongest floor of each measure.
    over_floor
        `scores` less those of the floor.
    fall
        The figures on the original videos less `scores`.
    n_moved
        Number of queries whose moment or whose video's duration is another.
    """

    change: str
    moved: Moved
    against: tuple[Against, ...]
    scores: Scores
    ci95: Floats
    floor: Scores
    floor_names: tuple[str, ...]
    over_floor: PairedDifference
    fall: PairedDifference
    n_moved: int

    @property
    def least(self) -> Against | None:
        """The guess that the answers differ from least; None if too few answers differ from each guess."""
        known = [guess for guess in self.against if np.isfinite(guess.difference)]
        return min(known, key=lambda guess: guess.difference, default=None)


def moved_results(results: Results) -> tuple[MovedResult, ...]:
    """Compare the answers where moments move with the method's own unmoved answers, and with every floor there."""
    return tuple(_result(results, change, moved) for change, moved in results.setup.controls.moved.items())


def _result(results: Results, change: str, moved: Moved) -> MovedResult:
    setup = results.setup
    results.on_status(f"{change} videos: floors")
    draws = f"moved {moved.annotations.sha256}"  # the same under any name of the folder
    answers = setup.controls.changed[ORIGINAL] if moved.is_model else setup.predictions
    placed = place_answers(setup.annotations, moved.annotations, answers)
    scores = evaluate(moved.annotations, moved.predictions, setup.measures, setup.protocol)
    original = replace(results.evaluate(answers), annotations_sha256=scores.annotations_sha256)  # the queries are equal
    rows = range(len(setup.measures))
    floors = [
        (floor.scores, [floor.name_at(m) for m in rows]) for floor in remeasured(results.floors, moved.annotations)
    ]
    against = _against(results, moved, placed, draws)
    for guess in (compared.guess for compared in against if compared.n_queries):  # others are where the moment is
        stay = evaluate(moved.annotations, placed.staying[guess], setup.measures, setup.protocol)
        floors.append((stay, [f"own answers {guess}" for _ in rows]))
    values = np.array([[scored.value(measure) for measure in setup.measures] for scored, _ in floors])
    strongest = np.argmax(np.nan_to_num(values, nan=-1.0), axis=0).tolist()
    floor = join_measures([(floors[f][0], m) for m, f in enumerate(strongest)])
    return MovedResult(
        change=change,
        moved=moved,
        against=against,
        scores=scores,
        ci95=intervals([scores], results.stream(draws), setup.resamples)[0],
        floor=floor,
        floor_names=tuple(floors[f][1][m] for m, f in enumerate(strongest)),
        over_floor=results.paired(scores, floor, f"{draws} over floor"),
        fall=results.paired(original, scores, f"{draws} fall"),
        n_moved=int(placed.has_moved.sum()),
    )


def _against(results: Results, moved: Moved, placed: PlacedAnswers, draws: str) -> tuple[Against, ...]:
    setup = results.setup
    video = numbers_of(setup.annotations.queries.video_id)
    compared = []
    for guess in GUESSES:
        counted = following(moved, placed, guess, setup.protocol.ranking)
        follow, stay, apart = (np.bincount(video, marked).astype(np.float64) for marked in counted)
        has = apart > 0
        n_queries, n_videos = int(apart.sum()), int(has.sum())
        if n_videos < FEWEST_VIDEOS:
            compared.append(Against(guess, np.nan, np.nan, np.nan, np.full(2, np.nan), n_queries, n_videos))
            continue
        rng = results.stream(f"{draws} {guess}")
        drawn = resample_ratios((follow - stay)[has, None], apart[has, None], rng, resamples=setup.resamples)
        ci95 = np.clip(np.concatenate(drawn.bounds(LEVEL)), -1, 1)
        shares = float(follow.sum()) / n_queries, float(stay.sum()) / n_queries
        compared.append(Against(guess, *shares, float(drawn.value[0]), ci95, n_queries, n_videos))
    return tuple(compared)


def look(results: Results) -> AuditFinding | None:
    """State how many answers follow and how many stay; the check passes if more follow, on each kind of videos."""
    moved = results.cached(moved_results)
    if not moved:
        return None
    known = [(result, least) for result in moved if (least := result.least) is not None]
    if not known:
        return AuditFinding(
            NAME,
            "note",
            "Moved moments show nothing: answers that follow differ from those that stay in too few videos.",
        )
    least = min((guess for _, guess in known), key=lambda guess: guess.difference)
    unshown = [result.change for result, guess in known if not guess.ci95[0] > 0]
    level: Level = "serious" if unshown else "good"
    holds: bool | None = not unshown
    figures = "; ".join(
        f"{result.change}: {_share(guess.follow)} follow, {_share(guess.stay)} stay {guess.guess}"
        for result, guess in known
    )
    verdict = (
        f"First answers on videos in which the moments move: {figures}. The smallest difference is "
        f"{points(least.difference, sign='+')} points, {interval95_points(least.ci95, sign='+')}"
    )
    if why := why_undecided(results):
        level, holds = "warning", None
        verdict += f"; {why}."
    elif unshown:
        verdict += f". Answers are not shown to follow the moments on these videos: {', '.join(unshown)}."
    else:
        verdict += "."
    model = results.cached(changed_videos)
    if model is not None and not model.agrees and any(result.moved.is_model for result, _ in known):
        level, holds = "warning" if level == "good" else level, None
        verdict += f" {model.disagreement}"
    lines = tuple(line for result in moved for line in _evidence(results, result))
    return AuditFinding(NAME, level, verdict, lines, least.difference, holds)


def _share(value: float) -> str:
    return f"{number(100 * value, 1)} %"


def _evidence(results: Results, result: MovedResult) -> Iterator[str]:
    m, measure, percent = results.headline, results.measure, results.setup.protocol.percent
    over, fall = result.over_floor, result.fall
    for guess in result.against:
        if np.isfinite(guess.difference):
            yield (
                f"{result.change}: {_share(guess.follow)} of {guess.n_queries:,} answers follow, {_share(guess.stay)} "
                f"stay {guess.guess}: {points(guess.difference, sign='+')} points, "
                f"{interval95_points(guess.ci95, sign='+')}"
            )
        else:
            yield (
                f"{result.change}: an answer that follows differs from one that stays {guess.guess} in "
                f"{guess.n_videos:,} videos; {FEWEST_VIDEOS} are needed"
            )
    if np.isfinite(over.difference[m]):
        yield (
            f"{result.change}: {measure} {percent(result.scores.value(measure))}, "
            f"{points(-fall.difference[m], sign='+')} from the original videos, "
            f"{interval95_points(-fall.ci95[m][::-1], sign='+')}"
        )
        yield (
            f"{result.change}: strongest floor there {percent(result.floor.value(measure))} ({result.floor_names[m]}): "
            f"{points(over.difference[m], sign='+')}, {interval95_points(over.ci95[m], sign='+')}, {p_value(over.p[m])}"
        )
    yield f"{result.change}: moment or duration changed for {result.n_moved:,} of {len(result.scores):,} queries"


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the figures where moments move."""
    moved, m, measure = results.cached(moved_results), results.headline, results.measure
    if not moved:
        return {}
    rows = [
        (
            Cell(result.change),
            figure_cell(results, measure, result.scores.value(measure), result.ci95[m]),
            Cell(results.setup.protocol.percent(result.floor.value(measure)), result.floor_names[m]),
            points_cell(float(result.over_floor.difference[m]), result.over_floor.ci95[m], measure),
            Cell(p_number(result.over_floor.p[m])),
            *(
                (Cell(""), Cell(""), Cell(""))
                if (least := result.least) is None
                else (
                    Cell(number(100 * least.follow, 1)),
                    Cell(number(100 * least.stay, 1), least.guess),
                    Cell(
                        points(least.difference, sign="+"),
                        low_to_high(least.ci95, 1, times=100, sign="+") or NO_INTERVAL,
                    ),
                )
            ),
        )
        for result in moved
    ]
    headings = (
        *("videos", f"{measure}, %", "strongest floor there, %", "difference, points", "p"),
        *("follow, %", "stay, %", "follow less stay, points"),
    )
    caption = (
        "The same method on videos in which the moments move, with 95 % intervals. First answers follow if they move "
        "with the moment, and stay if they do not, to within a tenth of the video; only queries count where the two "
        "places are a fifth of the video apart."
    )
    return {SCORE: (Table(caption, headings, (("", tuple(rows)),)),)}


def document(results: Results) -> dict[str, Any]:
    """Return the figures where moments move, the strongest floors there, and where the answers lie."""
    setup = results.setup
    why = f"answers that follow differ from those that stay in fewer than {FEWEST_VIDEOS} videos"
    return {
        "moved": [
            {
                "change": result.change,
                "sha256": result.moved.annotations.sha256,
                "n_moved": result.n_moved,
                "against": [
                    {
                        "guess": guess.guess,
                        "n_queries": guess.n_queries,
                        "n_videos": guess.n_videos,
                        "follow": Measured(guess.follow, why),
                        "stay": Measured(guess.stay, why),
                        "difference": Measured(guess.difference, why, guess.ci95.tolist()),
                    }
                    for guess in result.against
                ],
                "measures": [
                    figure.as_dict()
                    | {
                        "floor": result.floor_names[m],
                        "floor_value": Measured(result.floor.value(measure), why_undefined(measure)),
                        "over_floor": difference(result.over_floor, measure, m),
                        "fall": difference(result.fall, measure, m),
                    }
                    for m, (measure, figure) in enumerate(
                        zip(setup.measures, measured(result.scores, result.ci95), strict=True)
                    )
                ],
            }
            for result in results.cached(moved_results)
        ]
    }


CHECK = Check(
    name=NAME,
    title="Moved moments",
    looks_at="the same method on videos in which the moments move (`--changed`, `--model` with `--change`)",
    look=look,
    passes="on each more answers follow than stay, whichever way a guess stays: the 95 % intervals lie above 0",
    figure="the smallest of these differences",
    blocks=blocks,
    document=document,
)
