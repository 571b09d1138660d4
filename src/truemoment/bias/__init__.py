"""What a dataset gives away before anybody looks at a video: locations, verbs, words; and splits that do not.

====================================  ==================================================================================
:mod:`~truemoment.bias.locations`     where moments lie, as shares of their videos
:mod:`~truemoment.bias.spread`        how unevenly they are spread, and what one constant answer gains by it
:mod:`~truemoment.bias.grids`         whether moments lie on a grid, and what is even there
:mod:`~truemoment.bias.distances`     how far apart the locations of two splits lie
:mod:`~truemoment.bias.information`   what the verb of a sentence tells of the location
:mod:`~truemoment.bias.verbs`         which verbs are used, by split
:mod:`~truemoment.bias.statistics`    durations, queries, words: the columns of MAD's Tables 1 and 7
:mod:`~truemoment.bias.vocabulary`    the long tail of words, and what two splits share of them
:mod:`~truemoment.bias.uniqueness`    sentences unlike all others of their video, by METEOR
:mod:`~truemoment.bias.surveys`       all of these for a dataset
:mod:`~truemoment.bias.shifts`        in what a test may differ from training
:mod:`~truemoment.bias.splitting`     a dataset split anew by such a shift
:mod:`~truemoment.bias.guarantees`    what such a split promises, looked at in the split itself
:mod:`~truemoment.bias.guessing`      what is left to guess on its tests: every floor beside Uniform
====================================  ==================================================================================

``cells``, ``regions``, ``starts`` and ``chance`` hold what several of them need.
"""

from __future__ import annotations

from truemoment.bias.distances import SplitDistance, split_distance
from truemoment.bias.grids import Grid
from truemoment.bias.guarantees import Inspection, Promise, inspect_split
from truemoment.bias.guessing import Guessing, guess_on_split
from truemoment.bias.information import VerbDivergence, VerbInformation, verb_information
from truemoment.bias.locations import Locations, length_shares
from truemoment.bias.shifts import LocationShift, Ranking, WordShift
from truemoment.bias.splitting import Plan, Resplit, resplit
from truemoment.bias.spread import ConstantBias, Evenness, constant_bias, evenness
from truemoment.bias.statistics import DatasetStatistics, dataset_statistics
from truemoment.bias.surveys import Survey, survey
from truemoment.bias.verbs import VerbUse, verb_use
from truemoment.bias.vocabulary import LongTail, Overlap, Vocabulary, long_tail, overlap

__all__ = [
    "ConstantBias",
    "DatasetStatistics",
    "Evenness",
    "Grid",
    "Guessing",
    "Inspection",
    "LocationShift",
    "Locations",
    "LongTail",
    "Overlap",
    "Plan",
    "Promise",
    "Ranking",
    "Resplit",
    "SplitDistance",
    "Survey",
    "VerbDivergence",
    "VerbInformation",
    "VerbUse",
    "Vocabulary",
    "WordShift",
    "constant_bias",
    "dataset_statistics",
    "evenness",
    "guess_on_split",
    "inspect_split",
    "length_shares",
    "long_tail",
    "overlap",
    "resplit",
    "split_distance",
    "survey",
    "verb_information",
    "verb_use",
]
