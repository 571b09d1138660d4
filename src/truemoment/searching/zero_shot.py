"""ZeroShot: answer with the proposals whose mean frame is nearest to the sentence; nothing is learned.

The zero-shot CLIP baseline of MAD (Soldan et al. 2022, section 4.1; Soldelli/MAD, baselines/0ShotCLIP), for any encoder
that puts frames and sentences into one space:

1. the proposals of the whole video, in spans of frames;
2. of each the cosine of its mean frame with the sentence (:mod:`truemoment.searching.scoring`);
3. non-maximum suppression over the whole video: what overlaps a better one by an IoU of more than 0.3 goes;
4. the first `top` that are left.

Conventions, where the paper says nothing and the published code is ambiguous or fails: a video has
``ceil(duration * fps)`` frames but no more than there are rows, so that no proposal is empty; proposals of one score
come by number; overlaps are computed of whole frames, so that rounding suppresses nothing; copies of a proposal in
overlapping windows are scored once (suppression would remove them).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.base.intervals import Floats, Ints, best_kept
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.proposals import FrameProposals, Proposals, WindowedGrid, span_seconds
from truemoment.media.features.alignment import TOLERANCE_NORM, TOLERANCE_ROWS
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.reading import fault_of_numbers
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.scoring import join_frames, span_norms, span_scores

SCORES_AT_ONCE = 1 << 23
"""Approximate number of scores in memory (64 MiB); it sets how many sentences of a video are scored at a time."""

SHOWN = 3
"""Number of videos without features that an error names."""


@dataclass(frozen=True, eq=False)
class ZeroShot:
    """Answer with the proposals of the whole video whose mean frame is nearest to the sentence.

    Parameters
    ----------
    frames
        Frame vectors of the videos. Their rows a second are those of the proposals; where the store states none, the
        durations have to agree.
    sentences
        Vectors of the queries, in the same space.
    proposals
        The scheme. Of one that is no arithmetic on frames, rows are those nearest to the times.
    nms
        IoU above which the lower-ranked of two answers goes.
    name
        Its name in reports.
    device
        Where scores are computed, as PyTorch calls it ("cpu", "cuda"); None for NumPy.
    track
        Wraps the list of videos (id and duration), e.g. in a progress bar.

    Raises
    ------
    UsageError
        If `nms` is not from 0 to 1, or features and proposals state different frames a second.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment.media.features import Features
    >>> from truemoment.media.features.sentences import SentenceVectors
    >>> video = np.tile(np.array([0.0, 0.0, 1.0], dtype=np.float32), (300, 1))  # a minute at 5 frames a second
    >>> video[100:106], video[106:120] = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    >>> sentences = SentenceVectors({"q": np.array([3.0, 7.0, 0.0], dtype=np.float32)})
    >>> asked = Queries(["q"], ["video"], [60.0], ["somebody runs, then falls"])
    >>> answers = ZeroShot(Features({"video": video}, fps=5.0), sentences).ground(asked, top=1)
    >>> answers.start_s, answers.end_s, answers.score.round(4)
    (array([20.]), array([24.]), array([1.]))
    """

    frames: FeatureStore
    sentences: SentenceStore
    proposals: Proposals = field(default_factory=WindowedGrid)
    nms: float = 0.3
    name: str = "CLIP"
    device: str | None = None
    track: Callable[[list[tuple[str, float]]], Iterable[tuple[str, float]]] = list

    def __post_init__(self) -> None:
        """Refuse an NMS threshold out of range, and features at another rate than the proposals."""
        if not 0 <= self.nms <= 1:
            raise UsageError(f"got an IoU of {self.nms:g} for non-maximum suppression, expected 0 to 1")
        if isinstance(self.proposals, FrameProposals) and self.frames.fps not in (None, self.proposals.fps):
            raise UsageError(
                f"{self.frames.name}: got {self.frames.fps:g} rows a second and proposals at {self.proposals.fps:g} "
                f"frames a second, expected the same; windowed-grid:fps={self.frames.fps:g} would fit"
            )

    def fit(self, train: Annotations, val: Annotations | None = None) -> ZeroShot:
        """Return itself: nothing is learned."""
        del train, val
        return self

    def with_features(self, frames: FeatureStore) -> ZeroShot:
        """Return the same method, looking at other frame vectors (shuffled ones, say)."""
        return dataclasses.replace(self, frames=frames)

    def ground(self, queries: Queries, top: int = 100) -> Predictions:
        """Answer each query with up to `top` proposals; the score is the cosine.

        A video without a proposal (no longer than a window, with the tail dropped) is abstained from.

        Raises
        ------
        UsageError
            If `top` is not 1 or more.
        InputError
            If a video has no frame vectors or a query no sentence vector, their numbers of dimensions differ, a number
            is not finite, all of a video's or a sentence's are 0, or a duration does not fit the rows.
        """
        if top < 1:
            raise UsageError(f"got top={top}, expected 1 or more")
        self._refuse_missing(queries)
        wanted = self._vectors(queries)
        rows_of: dict[tuple[str, float], list[int]] = {}
        for row, (video_id, duration_s) in enumerate(zip(queries.video_id, queries.duration_s.tolist(), strict=True)):
            rows_of.setdefault((video_id, duration_s if duration_s > 0 else 0.0), []).append(row)
        nothing = np.zeros(0)
        answers: list[tuple[Floats, Floats, Floats]] = [(nothing, nothing, nothing)] * len(queries)
        for video in self.track(list(rows_of)):
            frames = self._frames(video[0])
            try:
                spans = candidates(self.proposals, len(frames), self.frames.fps, video[1])
            except InputError as error:
                raise InputError(f"video {video[0]!r}: {error.problem}", path=self.frames.name) from None
            rows = rows_of[video]
            for row, (kept, score) in zip(rows, self._best(frames, wanted[rows], spans, top), strict=True):
                answers[row] = spans.start_s[kept], spans.end_s[kept], score
        offsets = np.cumsum([0, *(len(score) for _, _, score in answers)])
        start_s, end_s, score = (np.concatenate([nothing, *(answer[part] for answer in answers)]) for part in range(3))
        return Predictions(queries.query_id, offsets, start_s, end_s, score, self.name)

    def _best(self, frames: Frames, wanted: Frames, spans: CandidateSpans, top: int) -> Iterator[tuple[Ints, Floats]]:
        """Yield for each sentence (S, D) the numbers and scores of the candidates that are kept, best first."""
        means, first, end = join_frames(frames, spans.first, spans.end)
        placed, spoken, first, end = map(self._place, (means, wanted, first, end))
        norms = span_norms(placed, first, end)
        at_once = max(SCORES_AT_ONCE // max(len(spans.first), 1), 1)
        for low in range(0, len(wanted), at_once):
            table = span_scores(placed, spoken[low : low + at_once], first, end, norms)
            for score in np.asarray(table if self.device is None else table.cpu()):
                kept = best_kept(score, *spans.compared, threshold=self.nms, top=top)
                yield kept, score[kept]

    def _place(self, array: npt.NDArray[Any]) -> Any:  # noqa: ANN401 - an array of NumPy or of PyTorch
        """Bring an array to the device."""
        if self.device is None:
            return array
        try:
            import torch  # noqa: PLC0415 - only where a device is named
        except ModuleNotFoundError:
            raise MissingPackageError("torch", "search", "scoring on a device") from None
        try:
            return torch.from_numpy(np.require(array, requirements=("C", "W"))).to(self.device)
        except (RuntimeError, AssertionError) as error:  # no such device, or a build of PyTorch without it
            raise UsageError(f"device {self.device!r} cannot be used ({str(error).splitlines()[0]})") from None

    def _frames(self, video_id: str) -> Frames:
        """Return the frame vectors of a video (F, D); refuse numbers that are not finite."""
        frames = self.frames[video_id]
        if fault := fault_of_numbers(frames):
            problem = f"video {video_id!r}: {fault}"
            raise InputError(problem, path=self.frames.name)
        if not frames.any():
            problem = f"video {video_id!r}: all {len(frames)} rows are 0, so that no moment is nearer than another"
            raise InputError(problem, path=self.frames.name)
        return frames

    def _vectors(self, queries: Queries) -> Frames:
        """Return the sentence vectors (Q, D); refuse numbers that are not finite, and another width."""
        vectors = self.sentences.vectors(queries)
        if len(queries) and vectors.shape[1] != self.frames.n_dimensions:
            raise InputError(
                f"got sentence vectors of {vectors.shape[1]} numbers and frame vectors of {self.frames.n_dimensions} "
                f"({self.frames.name}), expected both of one encoder",
                path=self.sentences.name,
            )
        if problem := fault_of_numbers(vectors, "sentence vectors"):
            raise InputError(problem, path=self.sentences.name)
        if not (defined := vectors.any(axis=1)).all():
            problem = f"{int((~defined).sum())} of {len(vectors)} sentence vectors are 0, that of query "
            problem += f"{str(queries.query_id[int(np.argmin(defined))])!r} first"
            raise InputError(problem, path=self.sentences.name)
        return vectors

    def _refuse_missing(self, queries: Queries) -> None:
        videos = list(dict.fromkeys(queries.video_id))
        missing = [video_id for video_id in videos if video_id not in self.frames]
        if missing:
            some = ", ".join(map(repr, missing[:SHOWN])) + (", ..." if len(missing) > SHOWN else "")
            problem = f"{len(missing):,} of {len(videos):,} videos have no frame vectors: {some}"
            raise InputError(problem, path=self.frames.name)


class CandidateSpans(NamedTuple):
    """Proposals of one video, by the rows that represent them.

    Parameters
    ----------
    first, end : (P,)
        First row, and first row after it.
    start_s, end_s : (P,)
        Seconds.
    compared : (P,) each
        Starts and ends that overlaps are computed of.
    """

    first: Ints
    end: Ints
    start_s: Floats
    end_s: Floats
    compared: tuple[npt.NDArray[Any], npt.NDArray[Any]]


def candidates(proposals: Proposals, n_rows: int, fps: float | None, duration_s: float) -> CandidateSpans:
    """Lay a scheme out on the rows of a video.

    Parameters
    ----------
    proposals
        The scheme. Of one that is arithmetic on frames, a row is a frame; of another, a proposal has the rows from
        ``round(rate * start)`` to ``round(rate * end)``, one at least.
    n_rows
        F, 1 or more.
    fps
        Rows a second; None where rows cover the video evenly.
    duration_s
        Duration of the video; 0 where it is not known.

    Returns
    -------
    CandidateSpans
        Distinct ones, none of them beyond the rows or the duration.

    Examples
    --------
    >>> spans = candidates(WindowedGrid(tail="covered"), 30, 5.0, 5.9)
    >>> len(spans.first), float(spans.end_s.max())
    (90, 5.9)
    """
    if duration_s <= 0 and (fps is None or not isinstance(proposals, FrameProposals)):
        raise InputError("the duration is not known, and is needed where rows or proposals are parts of the video")
    if not isinstance(proposals, FrameProposals):
        start_s, end_s = proposals.moments(duration_s)
        rate = n_rows / duration_s if fps is None else fps
        first = np.round(start_s * rate).astype(np.int64)
        end = np.maximum(np.round(end_s * rate).astype(np.int64), first + 1)
        seen = first < n_rows
        first, end, start_s, end_s = first[seen], np.minimum(end[seen], n_rows), start_s[seen], end_s[seen]
        return CandidateSpans(first, end, start_s, end_s, (start_s, end_s))
    n_frames = int(np.ceil(duration_s * proposals.fps)) if duration_s > 0 else n_rows
    if fps is None and abs(n_rows - n_frames) > max(TOLERANCE_NORM * n_frames, TOLERANCE_ROWS):
        raise InputError(
            f"got {n_rows:,} rows for {duration_s:g} s, expected about {n_frames:,}: "
            f"the proposals are at {proposals.fps:g} frames a second"
        )
    first, end = proposals.spans(min(n_frames, n_rows))
    start_s, end_s = span_seconds(first, end, proposals.fps, duration_s if duration_s > 0 else np.nan)
    return CandidateSpans(first, end, start_s, end_s, (first, end))
