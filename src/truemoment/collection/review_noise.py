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
    from it, and stays 0; joined sentences are not asked for.

    Parameters
    ----------
    review
        Estimates of a review, see :mod:`truemoment.collection.estimates`.
    """
    found = {(of.name, of.statistic): of.value for of in review.figures if of.value is not None}
    noise = CollectionNoise()
    if (dialogue := found.get(("dialogue", "share"))) is not None:
        noise = replace(noise, dialogue_share=dialogue)
    if (wrong := found.get(("wrong words", "share"))) is not None:
        noise = replace(noise, word_error=wrong)
    if (error_s := found.get(("collected and seen, start", "median"))) is not None:
        noise = replace(noise, jitter_s=error_s / MEDIAN_OF_NORMAL, shift_s=0.0)
    return noise
