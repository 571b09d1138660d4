"""Videos of an index shared among machines, and the answers of all machines merged into one.

A video belongs to the shard that a hash of its name gives, so that every machine knows its own without asking. Each
machine scores its videos exactly; the merged list is therefore that of one index on all videos, wherever that one
scores the same videos.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from truemoment.base.errors import UsageError
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.stopping import Reason, RetrievedMoments

MOST_SHARDS = 4096

_SHARD = re.compile(r"(\d{1,4})/(\d{1,4})", re.ASCII)


@dataclass(frozen=True, order=True)
class IndexShard:
    """One of n shares of the videos of an index.

    Parameters
    ----------
    number, count
        Which, from 1, of how many.

    Examples
    --------
    >>> shard = IndexShard.read("2/3")
    >>> str(shard), shard.holds("film 1"), [IndexShard(k, 3).holds("film 1") for k in (1, 2, 3)].count(True)
    ('2/3', False, 1)
    """

    number: int
    count: int

    @classmethod
    def read(cls, text: str) -> IndexShard:
        """Read "3/8"."""
        found = _SHARD.fullmatch(text)
        number, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= count <= MOST_SHARDS:
            raise UsageError(f"--shard: got {text!r}, expected K/N with K from 1 to N, N up to {MOST_SHARDS:,}: 3/8")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def holds(self, video_id: str) -> bool:
        """Whether a video belongs to it."""
        digest = hashlib.sha256(video_id.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1

    def videos_of(self, videos: Iterable[str]) -> list[str]:
        """Return its share of videos, by name."""
        return sorted(video for video in videos if self.holds(video))


def refuse_gaps(shards: Sequence[IndexShard], n_silent: int) -> None:
    """Refuse shards that overlap, are of different numbers, or leave a gap that no silent machine could fill.

    Parameters
    ----------
    shards
        Of the machines that answered.
    n_silent
        Machines that did not.
    """
    counts = sorted({shard.count for shard in shards})
    there = sorted(shards)
    answering = ", ".join(map(str, there))
    if len(counts) > 1:
        raise UsageError(f"--shards: got shards {answering}, expected shares of one number")
    if repeated := [str(shard) for number, shard in enumerate(there[1:]) if there[number] == shard]:
        raise UsageError(f"--shards: shard {repeated[0]} answers twice, expected each once")
    if counts and len(there) + n_silent != counts[0]:
        missing = [f"{k}/{counts[0]}" for k in range(1, counts[0] + 1) if IndexShard(k, counts[0]) not in there]
        what = f"{', '.join(missing)} missing" if missing else f"{n_silent} more than there are"
        raise UsageError(f"--shards: got shards {answering}, expected all of {counts[0]}: {what}")


def merged(answers: Sequence[RetrievedMoments], top: int) -> RetrievedMoments:
    """Merge what several shards found for one sentence: by score, equal scores by video, then as they come."""
    moments: list[FoundMoment] = [moment for answer in answers for moment in answer.moments]
    reasons = {answer.ended_by for answer in answers}
    ended_by: Reason = "limit" if "limit" in reasons else "rule" if "rule" in reasons else "all"
    best = sorted(moments, key=lambda of: (-of.score, of.video_id))[:top]
    return RetrievedMoments(best, sum(answer.n_videos for answer in answers), ended_by)
