"""truemoment collect estimate: the quality of a collection, from the answers of reviewers."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, output_options
from truemoment.cli.options import FILE, count_option, refuse_outputs, seed_option


@click.command("estimate", cls=Command)
@click.argument("out", metavar="OUT", type=FILE)
@click.argument("answers", metavar="ANSWERS...", type=FILE, nargs=-1, required=True)
@count_option("--resamples", 1000, "Number of resamples of the films, for intervals.", least=2, most=100_000)
@seed_option("the resamples")
@output_options
def command(out: Path, answers: tuple[Path, ...], resamples: int, seed: int, output: Output) -> None:
    """Estimate dialogue, wrong words and errors of times from ANSWERS, and add them to the data card.

    ANSWERS are files that the page of truemoment collect review saved, of one or more reviewers.

    \b
    truemoment collect estimate OUT answers.jsonl
    truemoment collect estimate OUT ann.jsonl ben.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report_review as reports
    from truemoment.collection.estimates import estimate_review

    refuse_outputs([out, *answers], [output.json_path])
    found = estimate_review(out, answers, resamples=resamples, seed=seed)
    deliver(reports.report_of_estimates(found, str(out)), lambda: reports.document_of_estimates(found), output)
