r"""Whether the answers are distributed like the training moments, or like the references of the audited split.

The first answers of a method that finds moments are distributed like the references of the split. Those of a method
that guesses are distributed like its training moments. Both distances are energy distances of (start, end) in fractions
of the video (:mod:`truemoment.studies.bias.distances`); the figure is

.. math:: E(\mathrm{answers}, \mathrm{references}) - E(\mathrm{answers}, \mathrm{training\ moments}),

above 0 if the answers are nearer to the training moments. Its interval is computed by resampling the videos of the
audited split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.cells import cell_of, n_cells
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import numbers_of
from truemoment.baselines.base import locations
from truemoment.evaluation.uncertainty import interval95, resample_sums
from truemoment.report.charts import Cloud, Clouds
from truemoment.report.model import Block, Level
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.bias.distances import energy_distances
from truemoment.studies.evaluate.first_answers import first_answers

if TYPE_CHECKING:
    pass

NAME = "training-places"

N_STEPS = 20
"""Number of steps of a video: moments are counted in cells of 5 % of it."""


class PlaceDistances(NamedTuple):
    """Energy distances of the first answers, fractions of the video, with their 95 % intervals, (2,)."""

    to_references: float
    to_training: float
    references_ci95: Floats
    training_ci95: Floats
    difference_ci95: Floats  # of the first distance less the second
    between: float  # distance of the references from the training moments


def places(results: Results) -> PlaceDistances | None:
    """Measure the distances; None without training moments, or without an answer in a video."""
    setup = results.setup
    if setup.splits.train is None:
        return None
    results.on_status("places of the answers")
    first = first_answers(setup.annotations, setup.predictions, ranking=setup.protocol.ranking)
    duration_s = setup.annotations.queries.duration_s
    answers = np.stack([np.clip(times / duration_s, 0, 1) for times in (first.start_s, first.end_s)], axis=1)
    known = answers[:, 1] > answers[:, 0]  # not so where there is no answer, or none in the video
    try:
        training, references = locations(setup.splits.train)[0], locations(setup.annotations)
    except InputError:  # no moment has a place
        return None
    if not known.any():
        return None
    video = numbers_of(setup.annotations.queries.video_id)
    query = setup.annotations.query_of_row[references[1]]
    n_videos = int(video.max()) + 1
    columns = [_by_video(video[known], answers[known], n_videos), _by_video(video[query], references[0], n_videos)]
    whole = [column.sum(axis=0, keepdims=True) for column in columns]
    drawn = resample_sums(np.concatenate(columns, axis=1), results.stream(NAME), resamples=setup.resamples)
    drawn_answers, drawn_references = np.split(drawn, 2, axis=1)
    training_counts = np.bincount(cell_of(training, N_STEPS), minlength=n_cells(N_STEPS))[None].astype(np.float64)
    moments = np.concatenate([answers[known], references[0], training])

    def distances(a: Floats, b: Floats) -> Floats:
        return energy_distances(a, b, moments, N_STEPS)

    to_references, to_training = distances(drawn_answers, drawn_references), distances(drawn_answers, training_counts)
    return PlaceDistances(
        to_references=float(distances(*whole)[0]),
        to_training=float(distances(whole[0], training_counts)[0]),
        references_ci95=interval95(to_references),
        training_ci95=interval95(to_training),
        difference_ci95=interval95(to_references - to_training),
        between=float(distances(whole[1], training_counts)[0]),
    )


def _by_video(video: Ints, start_end_norm: Floats, n_videos: int) -> Floats:
    """Count moments by video and cell, (V, K)."""
    width = n_cells(N_STEPS)
    counts = np.bincount(video * width + cell_of(start_end_norm, N_STEPS), minlength=n_videos * width)
    return np.asarray(counts.reshape(n_videos, width).astype(np.float64))


def look(results: Results) -> AuditFinding | None:
    """State which moments the answers are distributed like."""
    result, setup = results.cached(places), results.setup
    if result is None or setup.splits.train is None:
        return None
    low, high = result.difference_ci95
    split, train = setup.annotations.split, setup.splits.train.split
    distances = (
        f"energy distance {result.to_references:.4f} to the references of {split} "
        f"({_ends(result.references_ci95)}), {result.to_training:.4f} to the moments of {train} "
        f"({_ends(result.training_ci95)}; 95 % intervals)"
    )
    level: Level = "warning" if low > 0 else "good" if high < 0 else "note"
    verdict = f"not shown to be nearer to the moments of {train} than to those of {split}"
    if low > 0:
        verdict = f"distributed like the moments of {train}, not like those of {split}"
    elif high < 0:
        verdict = f"distributed like the references of {split}, not like the moments of {train}"
    verdict = f"The first answers are {verdict}: {distances}."
    line = f"the references of {split} are {result.between:.4f} from the moments of {train}"
    return AuditFinding(NAME, level, verdict, (line,), result.to_references - result.to_training, not low > 0)


def _ends(ci95: Floats) -> str:
    return f"{ci95[0]:.4f} to {ci95[1]:.4f}"


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw the places of moments and answers."""
    chart = Clouds(
        "densities",
        "Where moments lie",
        "Each point is a start and an end as shares of the video. The first answers of a method that finds moments are "
        "distributed like the references; those of a method that guesses, like the training moments. After Closer "
        "Look, Fig. 2 and 4.",
        tuple(_clouds(results)),
    )
    return {SCORE: (chart,)}


def document(results: Results) -> dict[str, Any]:
    """Return the distances of the first answers to the references and to the training moments."""
    distances = results.cached(places)
    if distances is None:
        return {"places": None}
    return {
        "places": {
            "to_references": Measured(distances.to_references, "", distances.references_ci95.tolist()),
            "to_training": Measured(distances.to_training, "", distances.training_ci95.tolist()),
            "difference": Measured(
                distances.to_references - distances.to_training, "", distances.difference_ci95.tolist()
            ),
            "references_to_training": Measured(distances.between),
        }
    }


def _clouds(results: Results) -> list[Cloud]:
    """Return moments as shares of the video, (N, 2), of train, references, first answers and those of the floor."""
    setup, train = results.setup, results.setup.splits.train
    clouds = [
        Cloud(f"references of {split.split}", _norm(split.start_s, split.end_s, split.duration_s))
        for split in (train, setup.annotations)
        if split is not None
    ]
    duration_s = setup.annotations.queries.duration_s
    for title, answers in (
        ("first answers", setup.predictions),
        ("first answers of the floor", results.floors[int(results.verdict.strongest[results.headline])].predictions),
    ):
        first = first_answers(setup.annotations, answers, ranking=setup.protocol.ranking)
        clouds.append(Cloud(title, _norm(first.start_s, first.end_s, duration_s)))
    return clouds


def _norm(start_s: Floats, end_s: Floats, duration_s: Floats) -> Floats:
    """Return moments as shares of the video, clipped to it, without those that are missing, empty or swapped."""
    proper = (end_s > start_s) & (duration_s > 0)  # NaN is neither
    times = np.stack([start_s[proper], end_s[proper]], axis=1) / duration_s[proper, None]
    return np.asarray(np.clip(times, 0, 1))


CHECK = Check(
    name=NAME,
    title="Places of the answers",
    looks_at="whether the first answers are distributed like the training moments or like the references",
    look=look,
    passes="they are not shown to be nearer to the training moments",
    figure="energy distance to the references, less that to the training moments",
    blocks=blocks,
    document=document,
)
