"""What the commands that train many runs share: seeds, and a line for each run that ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from truemoment.base.errors import UsageError
from truemoment.base.request import MOST_SEED
from truemoment.cli.expected import left
from truemoment.report.words import about

if TYPE_CHECKING:
    from truemoment.cli.parts import Output
    from truemoment.learning.training.trials import TrialOutcome

EXIT_WITHOUT_FIGURES = 1
"""Exit status if the loss of a run was not finite."""


def read_seeds(text: str) -> tuple[int, ...]:
    """Read the value of --seeds."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= len(str(MOST_SEED)) for part in parts):
        raise UsageError(f"--seeds: got {text!r}, expected whole numbers, 0 or more, e.g. 0,1,2")
    seeds = tuple(int(part) for part in parts)
    if len(set(seeds)) < len(seeds):
        raise UsageError(f"--seeds: got {text}, expected each seed once")
    return seeds


@contextmanager
def trial_lines(
    n_trials: int, what: str, name_of: Callable[[TrialOutcome], str], headline: str, output: Output
) -> Iterator[Callable[[TrialOutcome], None]]:
    """Write a line for each trial, above a progress bar.

    Parameters
    ----------
    n_trials
        How many are to be trained.
    what
        What they are called.
    name_of
        Names one of them.
    headline
        Measure that is shown.
    """
    from tqdm import tqdm

    with tqdm(total=n_trials, desc=what, leave=False, disable=not output.progress) as bar:
        began, done = time.monotonic(), 0

        def on_trial(outcome: TrialOutcome) -> None:
            nonlocal done
            done += 1
            if not output.quiet:
                rest_s = left(done, time.monotonic() - began, n_trials - done)
                rest = f"{n_trials - done}" if rest_s is None else f"{about(rest_s)} for the {n_trials - done}"
                bar.write(_line(outcome, name_of(outcome), headline, rest), file=sys.stderr)
            bar.update()

        yield on_trial


def _line(outcome: TrialOutcome, name: str, headline: str, rest: str) -> str:
    figures = [
        f"{row.split} {100 * float(row.value):.2f}" for row in outcome.rows if row.measure == headline and row.value
    ]
    what = outcome.failed or outcome.unfinished or f"{headline} {', '.join(figures) or 'undefined'}"
    return f"{name}: {what}; {outcome.seconds:.1f} s, {rest} left"
