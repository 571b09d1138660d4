"""Search in hours of video: proposals of whole videos, scored exactly, and windows for methods made for short videos.

==========  =========================================================================================================
scoring     the cosine of mean-pooled proposals with sentences, without pooling each; on NumPy and PyTorch arrays
zero_shot   ZeroShot: a Grounder of frame and sentence vectors that nothing was learned for (MAD's CLIP baseline)
chunks      the short-video setting: videos cut into chunks, each annotation in the one it overlaps most
windows     windows of videos as videos of their own
windowed    Windowed: any method for short videos, asked window by window
layout      what lies in the folder of an index
index       Index: frame vectors of one's own videos, kept on disk
writing     IndexWriter: makes it part by part, interrupted and resumed
extraction  a part of a video, from its file to rows
engines     who does that: this process, several, or many machines
building    an index from videos, by these three
retrieval   the moments of an index that answer a sentence, of one video or of many
==========  =========================================================================================================
"""

from __future__ import annotations

from truemoment.searching.zero_shot import ZeroShot

__all__ = ["ZeroShot"]
