"""Features of videos: rows of numbers in order of time, in every format of the field.

====================  ==============================================================================================
``FILE.hdf5``, .h5    a dataset a video, or a group a video that holds one (:mod:`truemoment.media.features.hdf5`)
``FOLDER``            a file a video, NPY or NPZ (:mod:`truemoment.media.features.folder`)
``FOLDER``            our own format, with a ``features.json`` in it (:mod:`truemoment.media.features.own`)
``FOLDER``            an index of one's own videos, made by ``truemoment index`` (:mod:`truemoment.searching.index`)
``FILE.npz``          all videos in one file, as synthetic worlds are written (:mod:`truemoment.media.features.npz`)
``perception:Q``      simulated for Charades from its annotated actions, and for ActivityNet Captions and ActivityNet-CD
                      from the words of sentences; Q is the quality, from 0 to 1
``SOURCE,SOURCE``     several of these, joined row by row (:mod:`truemoment.media.features.joined`)
====================  ==============================================================================================

Each is a :class:`~truemoment.media.features.base.FeatureStore`; :func:`truemoment.searching.opening.open_features`
opens any of them. Files are read on demand and memory-mapped where possible. No pickle is loaded and no link is
followed.
"""

from __future__ import annotations

from truemoment.media.features.alignment import FeatureAlignment, check
from truemoment.media.features.base import Features, FeatureStore, Frames
from truemoment.media.features.changed import CHANGES, ChangedFeatures
from truemoment.media.features.folder import FolderStore
from truemoment.media.features.hdf5 import HDF5Store
from truemoment.media.features.joined import JoinedFeatures
from truemoment.media.features.npz import read_features, write_features
from truemoment.media.features.own import OwnStore, write_store
from truemoment.media.features.resampling import normalise, resample
from truemoment.media.features.sentences import SentenceFile, SentenceStore, SentenceVectors, write_sentences

__all__ = [
    "CHANGES",
    "ChangedFeatures",
    "FeatureAlignment",
    "FeatureStore",
    "Features",
    "FolderStore",
    "Frames",
    "HDF5Store",
    "JoinedFeatures",
    "OwnStore",
    "SentenceFile",
    "SentenceStore",
    "SentenceVectors",
    "check",
    "normalise",
    "read_features",
    "resample",
    "write_features",
    "write_sentences",
    "write_store",
]
