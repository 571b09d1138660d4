"""What the commands that ask a served model share: how they are interrupted, and how they end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import open_regular
from truemoment.cli.outputs import say

if TYPE_CHECKING:
    from truemoment.learning.served.prediction import ServedPrediction

EXIT_NOT_ALL = 1


@contextmanager
def report_saved(raws: Iterable[Path]) -> Iterator[None]:
    """Report, if a run is interrupted, how many raw answers are saved."""
    try:
        yield
    except KeyboardInterrupt:
        for raw in raws:
            lines = 0
            if raw.is_file():
                with open_regular(updating(raw)) as stream:
                    lines = sum(1 for _ in stream) - 1
            saved = f"{max(0, lines)} raw answers are saved in {raw}"
            say(f"truemoment: {saved}; the same command resumes from there", err=True)
        raise


def warn_and_exit(predictions: Mapping[str, ServedPrediction]) -> None:
    """Write warnings, each after a prefix; exit with status 1 if a query has no answer."""
    from truemoment.learning.training.report_prediction import warnings

    for prefix, prediction in predictions.items():
        for line in warnings(prediction):
            say(f"{prefix}{line}", err=True)
    if any(prediction.answers.unanswered for prediction in predictions.values()):
        click.get_current_context().exit(EXIT_NOT_ALL)
