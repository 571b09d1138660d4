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

from truemoment.studies.bias.distances import SplitDistance, split_distance
from truemoment.studies.bias.grids import Grid
from truemoment.studies.bias.guarantees import Inspection, Promise, inspect_split
from truemoment.studies.bias.guessing import Guessing, guess_on_split
from truemoment.studies.bias.information import VerbDivergence, VerbInformation, verb_information
from truemoment.studies.bias.locations import Locations, length_shares
from truemoment.studies.bias.resplitting import MeasuredResplit, resplit_and_measure
from truemoment.studies.bias.shifts import LocationShift, Ranking, WordShift
from truemoment.studies.bias.splitting import Plan, Resplit, resplit
from truemoment.studies.bias.spread import ConstantBias, Evenness, constant_bias, evenness
from truemoment.studies.bias.statistics import DatasetStatistics, dataset_statistics
from truemoment.studies.bias.surveys import Survey, survey, survey_all
from truemoment.studies.bias.vocabulary import LongTail, Overlap, VerbUse, Vocabulary, long_tail, overlap, verb_use

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
