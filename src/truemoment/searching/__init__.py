"""Search in hours of video: proposals of whole videos, scored exactly, and windows for methods made for short videos.

===============  ====================================================================================================
scoring          the cosine of mean-pooled proposals with sentences, without pooling each; on NumPy and PyTorch arrays
zero_shot        ZeroShot: a Grounder of frame and sentence vectors without training (MAD's CLIP baseline)
chunks           the short-video setting: long videos cut into chunks, each annotation in the one it overlaps most
windows          windows of long videos as videos of their own
windowed         WindowedGrounder: any method for short videos, applied window by window
layout           the files of an index
index            Index: frame vectors of one's own videos on disk
writing          IndexWriter: writes it part by part; interrupted work is resumed
extraction       a part of a video, from its file to rows
building         an index from videos, by these three: this process, several, or many machines
indexing         an index made or extended by one model or several
several_models   the models of an index, and one list of theirs
retrieval        the moments of an index for a sentence, of one video or of many
sequences        moments of one video in the order of their sentences
narrowing        which videos are searched: filters
listing          which moments are listed
selecting        what stands out, what is avoided, and near copies
speech           what is said in the videos of an index: passages ranked for words
fusion           one list of several: of models, and of what is said
encoder_options  the model of an index, as far as a user chooses it
shards           a search by several machines, each of which scores a share of the videos
session          from what a user names to moments: indexes are made where there are none, models loaded once
query_picture    a picture in place of a sentence
pictures         pictures and clips of moments
split_search     predictions for every query of a split
===============  ====================================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.base.lazy import lazy

if TYPE_CHECKING:
    from truemoment.searching.chunks import chunk_annotations, length_sweep
    from truemoment.searching.extraction import Loader
    from truemoment.searching.index import Index
    from truemoment.searching.retrieval import first_stage_recall, search_index
    from truemoment.searching.zero_shot import ZeroShot
else:
    __getattr__ = lazy(
        __name__,
        {
            "Index": "index",
            "Loader": "extraction",
            "ZeroShot": "zero_shot",
            "chunk_annotations": "chunks",
            "first_stage_recall": "retrieval",
            "length_sweep": "chunks",
            "search_index": "retrieval",
        },
    )

__all__ = ["Index", "Loader", "ZeroShot", "chunk_annotations", "first_stage_recall", "length_sweep", "search_index"]
