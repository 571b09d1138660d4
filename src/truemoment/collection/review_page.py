"""The page on which people review sampled sentences: one file, offline, with a script that saves the answers."""

from __future__ import annotations

import dataclasses
import itertools

from truemoment.base.version import __version__ as version
from truemoment.collection.review_sample import ReviewSample
from truemoment.report.render.html import page_environment
from truemoment.report.roles import stylesheet
from truemoment.report.words import clock


def review_page(sample: ReviewSample, title: str) -> str:
    """Return the page of a sample.

    The page has sentences and times, and no picture or sound: the reviewer opens the files of a film from the page,
    which stay on the reviewer's machine. The saved file has a line a sentence, as
    :class:`~truemoment.collection.review_answers.ReviewAnswer`.
    """
    environment = page_environment()
    environment.filters["clock"] = clock
    items = [dataclasses.asdict(sentence) | {"number": k} for k, sentence in enumerate(sample.sentences)]
    films = [(name, list(group)) for name, group in itertools.groupby(items, key=lambda item: str(item["film"]))]
    names = ("id", "film_s", "rate", "delay_s")
    return environment.get_template("review.html.j2").render(
        title=title,
        films=films,
        data=[{name: item[name] for name in names} for item in items],
        n=len(items),
        colours=stylesheet(),
        version=version,
    )
