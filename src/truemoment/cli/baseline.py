"""truemoment baseline: write the predictions of a baseline, and measure them."""

from __future__ import annotations

from dataclasses import replace

from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.parts import Output, Threads
from truemoment.studies.baseline.request import BaselineRequest


@binder.command("baseline")
def command(request: BaselineRequest, _threads: Threads, output: Output) -> None:
    """Run a baseline on a split.

    \b
    NAME is predict-all, best-constant, bias-based, mean-map, prior-only, action-aware,
    sentence-neighbours, sentence-network, order-table, paragraph-network, uniform,
    random-chance, order-by-start, split-constant or oracle.

    With --repeats the mean and spread of N runs are reported; the first run is written.

    \b
    truemoment baseline action-aware --dataset charades-sta --split test -o blind.jsonl
    truemoment baseline uniform --dataset charades-sta --split test --repeats 100
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.baseline.run import run

    result = run(replace(request, progress=output.progress))
    deliver(result.report(), result.document, output)
