"""The noise of a collection, as people who reviewed it found it: settings for simulated films."""

from __future__ import annotations

from dataclasses import replace

from truemoment.collection.review_file import Review
from truemoment.worlds.film_noise import CollectionNoise

MEDIAN_OF_NORMAL = 0.674490
"""Median of the absolute value of a normal variable with standard deviation 1."""


def noise_of_review(review: Review) -> CollectionNoise:
    """Return the noise that a review found; what it did not ask or resolve keeps its default.

    Jitter is the median error of the start that was seen, as of a normal variable. A lag and its sign cannot be seen
    from it, and stays 0; reviewers do not report joined sentences.

    Parameters
    ----------
    review
        Estimates of a review, see :mod:`truemoment.collection.estimates`.
    """
    value_of = {(figure.name, figure.statistic): figure.value for figure in review.figures if figure.value is not None}
    noise = CollectionNoise()
    if (dialogue := value_of.get(("dialogue", "share"))) is not None:
        noise = replace(noise, dialogue_share=dialogue)
    if (wrong := value_of.get(("wrong words", "share"))) is not None:
        noise = replace(noise, word_error=wrong)
    if (error_s := value_of.get(("collected and seen, start", "median"))) is not None:
        noise = replace(noise, jitter_s=error_s / MEDIAN_OF_NORMAL, shift_s=0.0)
    return noise
