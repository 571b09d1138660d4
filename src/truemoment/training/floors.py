"""Figures of blind baselines as rows beside those of trained methods."""

from __future__ import annotations

from truemoment.records import Annotations
from truemoment.scores import Scores
from truemoment.training.hardware import commit
from truemoment.training.results import ResultRow
from truemoment.version import __version__

CONFIG = "floor"
"""Text in place of the hash of a recipe."""


def floor_rows(name: str, scores: Scores, *, seed: int, fitted_on: Annotations | None) -> tuple[ResultRow, ...]:
    """Return the figures of a floor as rows, one a measure.

    Parameters
    ----------
    name
        As ``truemoment baseline`` calls it.
    scores
        On one split.
    seed
        Of its draws.
    fitted_on
        What it learned from; None for nothing.
    """
    fitted = "" if fitted_on is None else f"fitted on {fitted_on.dataset}/{fitted_on.split}#{fitted_on.sha256[:8]}"
    made_by = commit()
    return tuple(
        ResultRow(
            recipe=name,
            config=CONFIG,
            seed=seed,
            dataset=scores.dataset,
            split=scores.split,
            data=scores.annotations_sha256[:8],
            features="none",
            measure=figure.measure,
            value="" if figure.value is None else f"{figure.value:.6f}",
            n_queries=figure.n_queries or 0,
            chosen_on="",
            epoch=0,
            seconds=0.0,
            commit=made_by,
            hardware="",
            truemoment=__version__,
            notes=fitted,
        )
        for figure in scores.measured()
    )
