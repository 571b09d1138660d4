"""Location, verb and word biases of a dataset, and new splits that reduce them.

===========================================  ======================================================================
:mod:`~truemoment.studies.bias.locations`    locations of moments, as shares of their videos
:mod:`~truemoment.studies.bias.spread`       evenness of the locations, and the best constant prediction
:mod:`~truemoment.studies.bias.grids`        grids of times, and even spreads on them
:mod:`~truemoment.studies.bias.order`        order of a video's sentences, and scores of a table over it
:mod:`~truemoment.studies.bias.distances`    distance between the locations of two splits
:mod:`~truemoment.studies.bias.information`  information of the verb of a sentence about the location
:mod:`~truemoment.studies.bias.statistics`   durations, queries, words: the columns of MAD's Tables 1 and 7
:mod:`~truemoment.studies.bias.vocabulary`   the long tail of words, the words that two splits share, and verbs
:mod:`~truemoment.studies.bias.uniqueness`   sentences unlike all others of their video, by METEOR
:mod:`~truemoment.studies.bias.surveys`      all of these for a dataset
:mod:`~truemoment.studies.bias.shifts`       how a test differs from training
:mod:`~truemoment.studies.bias.splitting`    a dataset that is split again by such a shift
:mod:`~truemoment.studies.bias.guarantees`   guarantees of a new split, inspected in the split itself
:mod:`~truemoment.studies.bias.guessing`     scores of guessing on its tests: every floor, compared with Uniform
:mod:`~truemoment.studies.bias.resplitting`  splitting, guarantees and guessing in one call
===========================================  ======================================================================

``chance`` is used by several of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.base.lazy import lazy

if TYPE_CHECKING:
    from truemoment.studies.bias.guarantees import inspect_split
    from truemoment.studies.bias.shifts import LocationShift, WordShift
    from truemoment.studies.bias.splitting import Plan, resplit
    from truemoment.studies.bias.surveys import survey
else:
    __getattr__ = lazy(
        __name__,
        {
            "LocationShift": "shifts",
            "Plan": "splitting",
            "WordShift": "shifts",
            "inspect_split": "guarantees",
            "resplit": "splitting",
            "survey": "surveys",
        },
    )

__all__ = ["LocationShift", "Plan", "WordShift", "inspect_split", "resplit", "survey"]
