"""Hidden Challenges (Otani et al. 2020), section 4: 2D-TAN and SCDM on randomised videos.

The authors' notebooks (mayu-ot/hidden-challenges-MR at e0c4546, notebooks/report, "[Sanity check]" and "How
randomization change the output") print 72 scores on the original and on shuffled videos, and 12 shares of first answers
that are the same or nearly the same on both. The length of the shuffled segments is not published.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from truemoment.reproduction.base import PublishedTable, Reproduced, TableInputs, data_signature, unchecked
from truemoment.reproduction.hidden_challenges import PAPER
from truemoment.reproduction.hidden_challenges_runs import DATASETS, PROTOCOL, RANDOMISED, SHUFFLED, TestRuns
from truemoment.reproduction.run_folders import RunFolder
from truemoment.reproduction.systems import SYSTEMS, RunFigure, System, TrainedMethods
from truemoment.studies.audit.shuffled import compare_shuffled
from truemoment.studies.compare.comparison import PublishedFigure

SLIGHT_NORM: Mapping[str, float] = MappingProxyType({"2D-TAN": 0.05, "SCDM": 0.1})
"""Displacement below which the notebook calls an answer slightly changed, start and end together, by method."""

OTHER_SEGMENTS = "not judged: the length of the authors' segments is not published; ours are 16 per video"
RANDOM = " (random)"
NOT_STATED = 'how "random" differs from "shuffle" is not published'

RANDOMISED_SYSTEMS: Mapping[str, tuple[System, ...]] = MappingProxyType(
    {name + ending: SYSTEMS[name] for name in SLIGHT_NORM for ending in ("", RANDOMISED, " (shuffle)")}
)


def measure_share(runs: TestRuns, run: RunFolder, figure: PublishedFigure) -> RunFigure | None:
    """Return the share of a run's first answers that shuffled videos leave as they are, or nearly so."""
    test = runs.test(figure.dataset)
    original, shuffled = (runs.predictions(run, figure.dataset, ending) for ending in ("", SHUFFLED))
    if test is None or original is None or shuffled is None:
        return None
    moved = compare_shuffled(test, original.predictions, shuffled.predictions)
    signature = f"{figure.measure}|{data_signature([test])}"
    if "slightly" not in figure.measure:
        return RunFigure(moved.share_unchanged, signature, original.remark)
    bound = SLIGHT_NORM[figure.method.partition(" (")[0]]
    return RunFigure(moved.share_within(bound), signature, f"slightly: by less than {bound:g} of the video")


def randomised(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Scores of both systems on the original and on randomised videos."""
    measure = TestRuns(inputs).measure_scores([figure.measure for figure in figures])
    original = TrainedMethods(inputs, RANDOMISED_SYSTEMS, PROTOCOL, measure)
    shuffled = replace(original, not_judged=OTHER_SEGMENTS)
    for figure in figures:
        yield from (shuffled if figure.method.endswith(RANDOMISED) else original).rows(figure)


def unchanged(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Shares of first answers that randomised videos leave as they are."""
    runs = TestRuns(inputs)
    systems = TrainedMethods(
        inputs, RANDOMISED_SYSTEMS, PROTOCOL, functools.partial(measure_share, runs), OTHER_SEGMENTS
    )
    for figure in figures:
        if figure.method.endswith(RANDOM):
            yield unchecked(figure, "not defined", NOT_STATED)
        else:
            yield from systems.rows(figure)


TABLES = (
    PublishedTable(
        "hidden-challenges-randomised",
        "Two systems that see the video, on the original and on randomised videos",
        f"{PAPER}, Figure 5, by the authors' notebooks",
        DATASETS,
        "hidden_challenges_randomised.csv",
        randomised,
    ),
    PublishedTable(
        "hidden-challenges-unchanged",
        "Share of first answers that randomised videos do not change",
        f"{PAPER}, section 4, by the authors' notebooks",
        DATASETS,
        "hidden_challenges_unchanged.csv",
        unchanged,
    ),
)
