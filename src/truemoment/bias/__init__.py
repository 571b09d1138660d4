"""What a dataset gives away before anybody looks at a video: locations, verbs, words; and splits that do not.

====================================  ==================================================================================
:mod:`~truemoment.bias.locations`     where moments lie, as shares of their videos
:mod:`~truemoment.bias.evenness`      how unevenly they are spread, and what one constant answer gains by it
:mod:`~truemoment.bias.distances`     how far apart the locations of two splits lie
:mod:`~truemoment.bias.information`   what the verb of a sentence tells of the location
:mod:`~truemoment.bias.verbs`         which verbs are used, by split
:mod:`~truemoment.bias.statistics`    durations, queries, words: the columns of MAD's Tables 1 and 7
:mod:`~truemoment.bias.vocabulary`    the long tail of words, and what two splits share of them
:mod:`~truemoment.bias.uniqueness`    sentences unlike all others of their video, by METEOR
:mod:`~truemoment.bias.survey`        all of these for a dataset
:mod:`~truemoment.bias.shifts`        in what a test may differ from training
:mod:`~truemoment.bias.resplit`       a dataset split anew by such a shift
:mod:`~truemoment.bias.guarantees`    what such a split promises, looked at in the split itself
====================================  ==================================================================================
"""

from __future__ import annotations

from truemoment.bias.distances import SplitDistance, split_distance
from truemoment.bias.evenness import ConstantBias, Evenness, constant_bias, evenness
from truemoment.bias.guarantees import Inspection, Promise, inspect
from truemoment.bias.information import VerbInformation, verb_information
from truemoment.bias.locations import Locations, length_shares
from truemoment.bias.resplit import Plan, Resplit, resplit
from truemoment.bias.shifts import LocationShift, WordShift
from truemoment.bias.survey import Survey, survey

__all__ = [
    "ConstantBias",
    "Evenness",
    "Inspection",
    "LocationShift",
    "Locations",
    "Plan",
    "Promise",
    "Resplit",
    "SplitDistance",
    "Survey",
    "VerbInformation",
    "WordShift",
    "constant_bias",
    "evenness",
    "inspect",
    "length_shares",
    "resplit",
    "split_distance",
    "survey",
    "verb_information",
]
