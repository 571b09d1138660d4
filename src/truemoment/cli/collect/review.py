"""truemoment collect review: a page on which people review a sample of the collected sentences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.request import In, Out, Request, argument, number, option, seed
from truemoment.cli import binder
from truemoment.cli.delivery import deliver, suggest
from truemoment.cli.outputs import refuse_page, write_text
from truemoment.cli.parts import Output


@dataclass(frozen=True, kw_only=True)
class ReviewRequest(Request):
    """The collection, and the sample."""

    out: In[Path] = argument(metavar="OUT")
    page: Out[Path] = option("The page, one file.", name="--html", metavar="PAGE", required=True)
    sample: int = number("Number of sentences.", 400, 1)
    most_per_film: int = number("Largest number of sentences of a film.", 8, 1)
    seed: int = seed("the sample")


@binder.command("review")
def command(request: ReviewRequest, output: Output) -> None:
    """Write a page on which people review a sample of the sentences: dialogue, words, times said and seen.

    The page works offline and saves the answers as JSON Lines, for truemoment collect estimate.

    \b
    truemoment collect review OUT --html review.html
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report_review as reports
    from truemoment.collection.review_page import review_page
    from truemoment.collection.review_sample import draw_sample

    refuse_page(request.page, open_it=False)
    drawn = draw_sample(request.out, request.sample, most_per_film=request.most_per_film, seed=request.seed)
    write_text(request.page, review_page(drawn, f"Review of {request.out.resolve().name}"))
    deliver(reports.report_of_sample(drawn, str(request.out)), lambda: reports.document_of_sample(drawn), output)
    words = ["truemoment", "collect", "estimate", str(request.out), "answers.jsonl"]
    suggest(f"open {request.page} in a browser, save the answers, and then:", words, output)
