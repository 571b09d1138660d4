"""truemoment collect review: a page on which people review a sample of the collected sentences."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.base.boundary.files import write_text
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver, suggest
from truemoment.cli.groups import Output, output_options
from truemoment.cli.options import FILE, count_option, refuse_outputs, refuse_page, seed_option


@click.command("review", cls=Command)
@click.argument("out", metavar="OUT", type=FILE)
@click.option("--html", "page", type=FILE, required=True, metavar="PAGE", help="The page, one file.")
@count_option("--sample", 400, "Number of sentences.", least=1)
@count_option("--most-per-film", 8, "Largest number of sentences of a film.", least=1)
@seed_option("the sample")
@output_options
def command(out: Path, page: Path, sample: int, most_per_film: int, seed: int, output: Output) -> None:
    """Write a page on which people review a sample of the sentences: dialogue, words, times said and seen.

    The page works offline and saves the answers as JSON Lines, for truemoment collect estimate.

    \b
    truemoment collect review OUT --html review.html
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report_review as reports
    from truemoment.collection.review_page import review_page
    from truemoment.collection.review_sample import draw_sample

    refuse_page(page, open_it=False)
    refuse_outputs([out], [page, output.json_path])
    drawn = draw_sample(out, sample, most_per_film=most_per_film, seed=seed)
    write_text(page, review_page(drawn, f"Review of {out.resolve().name}"))
    deliver(reports.report_of_sample(drawn, str(out)), lambda: reports.document_of_sample(drawn), output)
    words = ["truemoment", "collect", "estimate", str(out), "answers.jsonl"]
    suggest(f"open {page} in a browser, save the answers, and then:", words, output)
