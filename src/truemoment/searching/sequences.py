r"""Sequences: moments of one video in the order of their sentences, each beginning soon after the one before ends.

A sequence of the sentences :math:`s_1, ..., s_k` has moments :math:`m_1, ..., m_k` of one video, with

.. math:: 0 \le \mathrm{start}(m_{j+1}) - \mathrm{end}(m_j) \le g

for a gap g. Its score is the mean of the scores of its moments. What a sentence has in common with every picture adds
the same to all sequences, so the mean ranks them as the excess over the medians does, and it has the range of a score.
The match of a sequence is the least of its moments: a sequence is there only if all its moments are.

All sequences of candidate moments are compared, without listing the pairs. From the last sentence back, the best sum
from each moment on is

.. math:: V_k(m) = \mathrm{score}_k(m), \qquad
          V_j(m) = \mathrm{score}_j(m)
                   + \max \{V_{j+1}(n) : \mathrm{end}(m) \le \mathrm{start}(n) \le \mathrm{end}(m) + g\}.

The maximum depends on the end of m only. It is a sliding maximum over the frames, so the work is linear in moments,
frames and sentences. Scores have six decimals and are added as whole numbers: the result is that of all pairs.

Two sequences whose first moments are too near each other count as one, and the better one is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Ints, best_kept
from truemoment.baselines.proposals import span_seconds
from truemoment.media.features.base import Frames
from truemoment.searching.first_stage import VideoRanking
from truemoment.searching.index import Index
from truemoment.searching.retrieval import DECIMALS, FoundMoment, best_first, moment_scores
from truemoment.searching.unit_vectors import unit

NONE = np.iinfo(np.int64).min // 2
"""Sum where no sequence begins."""

POOL = 10
"""Videos that the first stage ranks for each sentence, for each one that is scored."""


@dataclass(frozen=True, eq=False)
class BestSequences:
    """The best sequence from each candidate moment of a video on.

    Parameters
    ----------
    total : (P,)
        Sum of the scores; :data:`NONE` where no sequence begins.
    end : (P,)
        The frame after the last of each moment.
    later
        For each later sentence, the last one first: the best sum from each frame on, and the moment that begins it.
    gap
        Frames between two moments at most.
    """

    total: Ints
    end: Ints
    later: list[tuple[Ints, Ints]]
    gap: int

    def moments(self, first: int) -> list[int]:
        """Return the moments of the best sequence that begins with one: of equal ones the earlier, then the longer."""
        moments = [first]
        for best, moment in reversed(self.later):
            start = int(self.end[moments[-1]])
            moments.append(int(moment[start + best[start : start + self.gap + 1].argmax()]))
        return moments


def best_sequences(scores: Ints, first: Ints, end: Ints, gap: int) -> BestSequences:
    """Return the best sequence from each candidate moment on.

    Parameters
    ----------
    scores : (S, P)
        Score of each moment for each sentence, whole numbers.
    first, end : (P,)
        First frame of each moment, and the one after the last.
    gap
        Frames between two moments at most, 0 or more.

    Examples
    --------
    >>> scores, first, end = np.array([[5, 3, 0], [9, 1, 2]]), np.array([0, 1, 4]), np.array([2, 3, 6])
    >>> best = best_sequences(scores, first, end, 1)
    >>> (best.total > NONE).tolist(), int(best.total[1]), best.moments(1)
    ([False, True, False], 5, [1, 2])
    """
    n_frames = int(end.max(initial=0)) + 1
    total, later = scores[-1], []
    for score in scores[-2::-1]:
        best, moment = np.full(n_frames, NONE), np.zeros(n_frames, dtype=np.int64)
        np.maximum.at(best, first, total)
        tops = np.flatnonzero(total == best[first])
        tops = tops[np.argsort(end[tops], kind="stable")]
        moment[first[tops]] = tops  # the longest is written last
        later.append((best, moment))
        ahead = sliding_max(best, gap + 1)[end]
        total = np.where(ahead > NONE, score + ahead, NONE)
    return BestSequences(total, end, later, gap)


def sliding_max(values: Ints, width: int) -> Ints:
    """Return the maximum of each value and the next ones, `width` in all, in three steps a value (van Herk 1992).

    Examples
    --------
    >>> sliding_max(np.array([3, 1, 4, 1, 5]), 2).tolist()
    [3, 4, 4, 5, 5]
    """
    n, width = len(values), min(width, len(values))
    blocks = np.concatenate([values, np.full(-n % width + width, NONE)]).reshape(-1, width)
    rising = np.maximum.accumulate(blocks, axis=1).ravel()
    falling = np.maximum.accumulate(blocks[:, ::-1], axis=1)[:, ::-1].ravel()
    return np.asarray(np.maximum(falling[:n], rising[width - 1 : n + width - 1]))


def search_sequences(
    index: Index,
    sentence_vectors: Frames,
    top: int,
    *,
    gap_s: float,
    apart_s: float,
    medians: Sequence[float],
    videos: Iterable[str] | None = None,
    track: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> list[FoundMoment]:
    """Find the best sequences of an index.

    Parameters
    ----------
    index
        The index.
    sentence_vectors : (S, D)
        Vectors of the sentences in their order, in the space of the index's encoder.
    top
        Number of sequences.
    gap_s
        Seconds from the end of a moment to the start of the next, at most.
    apart_s
        Seconds between the first moments of two sequences at least, else the worse sequence goes.
    medians
        Median score of each sentence.
    videos
        Which videos; by default all.
    track
        Wraps the videos, e.g. in a progress bar.

    Returns
    -------
    list
        Sequences, best first; of equal ones the longer first moment of a video, and videos by name. Each has its
        moments as `parts`, and runs from the start of the first to the end of the last.
    """
    fps, units = index.settings.fps, 10**DECIMALS
    margin, n_sentences = apart_s / 2 * fps, len(sentence_vectors)
    sequences: list[FoundMoment] = []
    for name in track(sorted(index if videos is None else videos)):
        first, end = index.spans(name)
        if not len(first):
            continue
        scores = moment_scores(index, name, sentence_vectors, medians)
        gap = int(min(gap_s * fps + 1e-6, end.max()))
        best = best_sequences(np.rint(scores * units).astype(np.int64), first, end, gap)
        order = np.argsort(first - end, kind="stable")  # long moments first, as in a search for one sentence
        order = order[best.total[order] > NONE]
        if not len(order) or (
            len(sequences) >= top and best.total.max() < round(sequences[top - 1].score * n_sentences * units)
        ):
            continue
        ends = first[order] - margin, end[order] + margin
        kept = best_kept(best.total[order].astype(float), *ends, threshold=0, top=top)
        start_s, end_s = span_seconds(first, end, fps, index.about(name).duration_s)
        for begin in order[kept].tolist():
            parts = tuple(
                FoundMoment(name, float(start_s[p]), float(end_s[p]), float(scores[s, p]))
                for s, p in enumerate(best.moments(begin))
            )
            mean = int(best.total[begin]) / (n_sentences * units)
            sequences.append(FoundMoment(name, parts[0].start_s, parts[-1].end_s, mean, parts=parts))
        if len(sequences) >= top:  # else nothing goes yet
            sequences = best_first(sequences)[:top]
    return best_first(sequences)


def videos_of_sequences(first_stage: VideoRanking, sentence_vectors: Frames, many: int) -> list[str]:
    """Return the `many` videos whose best pieces for all sentences have the largest sum of scores.

    A video that is not among the :data:`POOL` times `many` best of a sentence counts with the last one of these.
    """
    totals: dict[str, float] = {}
    for ranked in first_stage.rank_videos(unit(sentence_vectors), POOL * many):
        for video in ranked:
            totals[video.video_id] = totals.get(video.video_id, 0.0) + video.score - ranked[-1].score
    return sorted(sorted(totals, key=lambda name: (-totals[name], name))[:many])
