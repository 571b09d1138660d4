r"""The blind floor of clip retrieval: long sentences belong to long clips.

The score of a text of w words and a clip of d seconds is

.. math:: \frac{f(\log w, \log d)}{\sum_{w'} f(\log w', \log d)},

with f a kernel density of the pairs of the training split. A floor that does not read the text at all needs no
computing: it ranks the clips in one order for all texts, so R@K is exactly K / N.
"""

from __future__ import annotations

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Strings
from truemoment.baselines.base import fit_density
from truemoment.searching.clips.clips import Clips, clips_of
from truemoment.searching.clips.ranking import Similarities

MOST_WORDS = 60
"""Longer sentences count as so many words."""

SHORTEST_S = 0.1
"""Shorter clips count as so long."""


def by_lengths(train: Annotations, clips: Clips) -> Similarities:
    """Return similarities by length alone, learned from the sentences and moments of a training split.

    Raises
    ------
    InputError
        If `train` has no moment, or all its moments or sentences have one length.
    """
    known = clips_of(train)
    pairs = np.stack([np.log(_words(known.sentence)), _log_length(known)], axis=1)
    density = fit_density(pairs, train)
    words = np.arange(1, MOST_WORDS + 1)
    grid = np.stack(np.meshgrid(np.log(words), _log_length(clips), indexing="ij"), axis=-1)
    likelihood = density.evaluate(grid.reshape(-1, 2)).reshape(len(words), len(clips))
    score = (likelihood / np.maximum(likelihood.sum(axis=0), np.finfo(float).tiny)).astype(np.float32)
    row = _words(clips.sentence) - 1
    return Similarities(lambda rows: score[row[rows]], clips.n_texts, len(clips))


def _words(sentences: Strings) -> Ints:
    """Return the number of words of each sentence, 1 to 60."""
    return np.asarray(np.clip([len(sentence.split()) for sentence in sentences], 1, MOST_WORDS), dtype=np.int64)


def _log_length(clips: Clips) -> Floats:
    return np.log(np.maximum(clips.end_s - clips.start_s, SHORTEST_S))
