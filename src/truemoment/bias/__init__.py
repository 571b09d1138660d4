"""Location, verb and word biases of a dataset, and new splits that reduce them.

====================================  ==================================================================================
:mod:`~truemoment.bias.locations`     locations of moments, as shares of their videos
:mod:`~truemoment.bias.spread`        evenness of the locations, and the best constant prediction
:mod:`~truemoment.bias.grids`         grids of times, and even spreads on them
:mod:`~truemoment.bias.order`         order of a video's sentences, and what a table over it scores
:mod:`~truemoment.bias.distances`     distance between the locations of two splits
:mod:`~truemoment.bias.information`   information of the verb of a sentence about the location
:mod:`~truemoment.bias.verbs`         frequency of verbs, by split
:mod:`~truemoment.bias.statistics`    durations, queries, words: the columns of MAD's Tables 1 and 7
:mod:`~truemoment.bias.vocabulary`    the long tail of words, and the words that two splits share
:mod:`~truemoment.bias.uniqueness`    sentences unlike all others of their video, by METEOR
:mod:`~truemoment.bias.surveys`       all of these for a dataset
:mod:`~truemoment.bias.shifts`        how a test differs from training
:mod:`~truemoment.bias.splitting`     a dataset that is split again by such a shift
:mod:`~truemoment.bias.guarantees`    guarantees of a new split, inspected in the split itself
:mod:`~truemoment.bias.guessing`      what guessing reaches on its tests: every floor, compared with Uniform
:mod:`~truemoment.bias.resplitting`   splitting, guarantees and guessing in one call
====================================  ==================================================================================

``regions``, ``starts`` and ``chance`` are used by several of them.
"""

from __future__ import annotations

from truemoment.bias.distances import SplitDistance, split_distance
from truemoment.bias.grids import Grid
from truemoment.bias.guarantees import Inspection, Promise, inspect_split
from truemoment.bias.guessing import Guessing, guess_on_split
from truemoment.bias.information import VerbDivergence, VerbInformation, verb_information
from truemoment.bias.locations import Locations, length_shares
from truemoment.bias.resplitting import MeasuredResplit, resplit_and_measure
from truemoment.bias.shifts import LocationShift, Ranking, WordShift
from truemoment.bias.splitting import Plan, Resplit, resplit
from truemoment.bias.spread import ConstantBias, Evenness, constant_bias, evenness
from truemoment.bias.statistics import DatasetStatistics, dataset_statistics
from truemoment.bias.surveys import Survey, survey, survey_all
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
    "MeasuredResplit",
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
    "resplit_and_measure",
    "split_distance",
    "survey",
    "survey_all",
    "verb_information",
    "verb_use",
]
