"""truemoment collect estimate: the quality of a collection, from the answers of reviewers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from truemoment.base.request import In, Request, argument, number, seed
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.parts import Output


@dataclass(frozen=True, kw_only=True)
class EstimateRequest(Request):
    """The collection, and the reviews."""

    out: In[Path] = argument(metavar="OUT")
    answers: In[tuple[Path, ...]] = argument(metavar="ANSWERS...")
    resamples: int = number("Number of resamples of the films, for intervals.", 1000, 2, 100000)
    seed: int = seed("the resamples")


@binder.command("estimate")
def command(request: EstimateRequest, output: Output) -> None:
    """Estimate dialogue, wrong words and errors of times from ANSWERS, and add them to the data card.

    ANSWERS are files that the page of truemoment collect review saved, of one or more reviewers.

    \b
    truemoment collect estimate OUT answers.jsonl
    truemoment collect estimate OUT ann.jsonl ben.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report_review as reports
    from truemoment.collection.estimates import estimate_review

    estimates = estimate_review(request.out, request.answers, resamples=request.resamples, seed=request.seed)
    deliver(reports.report_of_estimates(estimates, str(request.out)), lambda: msgspec.to_builtins(estimates), output)
