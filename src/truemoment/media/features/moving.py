"""Changed videos in which moments move: noise before a video, a part cut away, another video joined to it.

===============  ===================================================================================================
prepended-noise  rows of noise before the first row, with the mean and the standard deviation of each number of the
                 video; ``prepended-noise:S`` sets the seconds, in place of a third of the median video
truncated        the first or the last part is cut away: a row is drawn evenly from those before the video's first
                 moment and after its last, and is cut away with all rows beyond it
concatenated     another video of the split before or after the video, each with probability 1/2
===============  ===================================================================================================

Unlike in :mod:`~truemoment.media.features.changed`, references and durations change with the features. Rows are never
cut, so references move by a whole number of rows, exactly as the features do.

Prepended noise is the out-of-distribution test of TCN-DCM (Yang et al. 2021; Xun-Yang/Causal_Video_Moment_Retrieval at
f2cf09f: 10 and 15 s on Charades-STA, 30 and 60 s on ActivityNet Captions without moments of half the video or more; the
noise of all videos is one standard normal array). Hidden Challenges (Otani et al. 2020, section 7) proposes to truncate
or concatenate videos, to diversify places in training; it states no rule, and the rules here are our own.

:func:`write_moved` writes::

    FOLDER/annotations.jsonl    references in the time of the changed videos
    FOLDER/features/            their features, in the format of :mod:`truemoment.media.features.own`
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from truemoment.base.boundary.files import atomic_folder
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.known_names import GIVES_DURATIONS, one_of_known
from truemoment.base.records import Annotations
from truemoment.data.references import write_annotations
from truemoment.media.features.base import FeatureStore, Frames, edges_of
from truemoment.media.features.derived import DerivedFeatures
from truemoment.media.features.own import DType, write_store
from truemoment.media.features.resampling import resample
from truemoment.media.features.shuffling import generator_of

NOISE, TRUNCATED, CONCATENATED = MOVES = ("prepended-noise", "truncated", "concatenated")
"""Changes that move moments, see the top of :mod:`truemoment.media.features.moving`."""

REFERENCES, FEATURES = "annotations.jsonl", "features"
"""Names in a folder of changed videos."""

MOST_NOISE_S = 1e5
"""Maximum length of the noise, in seconds."""


class Edit(NamedTuple):
    """The rows of a changed video: some of its own, and others before and after them.

    Parameters
    ----------
    first, end
        Rows of the video that remain; those from the number of its rows on repeat the last one.
    before, after
        Number of rows that are put before and after these.
    other
        The video that those rows show; "" for noise.
    shift_s
        Seconds by which its moments move.
    duration_s
        Duration of the changed video.
    """

    first: int
    end: int
    before: int
    after: int
    other: str
    shift_s: float
    duration_s: float

    @property
    def n_rows(self) -> int:
        """Number of rows of the changed video."""
        return self.before + self.end - self.first + self.after


class _Video(NamedTuple):
    """A video of a split: its rows, the length of a row, its duration, and where its moments lie."""

    n_rows: int
    row_s: float
    duration_s: float
    first_start_s: float
    last_end_s: float


def checked_move(move: str) -> tuple[str, float | None]:
    """Return the change and the seconds of noise (None: not given) of a change in words.

    Examples
    --------
    >>> checked_move("prepended-noise:10"), checked_move("truncated")
    (('prepended-noise', 10.0), ('truncated', None))
    """
    kind, colon, text = move.partition(":")
    if kind not in MOVES or (colon and kind != NOISE):
        raise UsageError(f"unknown change {move!r}, expected {one_of_known(move, [*MOVES, f'{NOISE}:SECONDS'])}")
    if not colon:
        return kind, None
    try:
        seconds = float(text)
    except ValueError:
        seconds = np.nan
    if not 0 < seconds <= MOST_NOISE_S:
        raise UsageError(f"{move}: got {text!r}, expected seconds above 0, {MOST_NOISE_S:,.0f} at most")
    return kind, seconds


def plan_edits(store: FeatureStore, annotations: Annotations, move: str, seed: int = 0) -> dict[str, Edit]:
    """Return how each video of a split changes; the draws depend on the seed, the ids and the references.

    Raises
    ------
    UsageError
        If there is no such change, the seed is negative, or there is no second video to join.
    InputError
        If a video has no features or no duration.
    """
    kind, noise_s = checked_move(move)
    if seed < 0:
        raise UsageError(f"got seed {seed}, expected 0 or above")
    videos = dict(_videos(store, annotations))
    if kind == CONCATENATED and len(videos) == 1:
        raise UsageError(f"{move}: {annotations.dataset}/{annotations.split} has one video, expected two or more")
    if noise_s is None and videos:
        noise_s = float(np.median([video.duration_s for video in videos.values()])) / 3
    edits, ids = {}, sorted(videos)
    for place, video_id in enumerate(ids):
        video, rng = videos[video_id], generator_of(video_id, [seed])
        if kind == NOISE:
            edits[video_id] = _prepended(video, noise_s or 0.0)
        elif kind == TRUNCATED:
            edits[video_id] = _truncated(video, rng)
        else:
            drawn = int(rng.integers(len(ids) - 1))
            other = ids[drawn + (drawn >= place)]  # step over the video itself
            edits[video_id] = _joined(video, other, videos[other], is_first=bool(rng.integers(2)))
    return edits


def _videos(store: FeatureStore, annotations: Annotations) -> Iterator[tuple[str, _Video]]:
    """Yield the videos of a split by id, in order of the file."""
    ids, first, of_row = np.unique(annotations.video_id, return_index=True, return_inverse=True)
    start, end = np.full(len(ids), np.inf), np.full(len(ids), -np.inf)
    np.fmin.at(start, of_row, np.fmin(annotations.start_s, annotations.end_s))
    np.fmax.at(end, of_row, np.fmax(annotations.start_s, annotations.end_s))
    for v in np.argsort(first).tolist():
        video_id, duration_s = str(ids[v]), float(annotations.duration_s[first[v]])
        if not duration_s > 0:
            raise InputError(
                f"found {duration_s:g} for video {video_id!r}, expected seconds above 0; {GIVES_DURATIONS}",
                field="duration_s",
            )
        edges = store.edges_s(video_id, duration_s)
        row_s = float(edges[-1] - edges[0]) / (len(edges) - 1)
        yield video_id, _Video(len(edges) - 1, row_s, duration_s, float(start[v]), float(end[v]))


def _prepended(video: _Video, seconds: float) -> Edit:
    before = round(seconds / video.row_s)
    shift_s = before * video.row_s
    return Edit(0, video.n_rows, before, 0, "", shift_s, video.duration_s + shift_s)


def _truncated(video: _Video, rng: np.random.Generator) -> Edit:
    """Cut at a row that is drawn from those that no moment of the video reaches; a row always remains."""
    edges = np.arange(video.n_rows + 1) * video.row_s
    early = np.flatnonzero(edges[1:-1] <= video.first_start_s)
    late = 1 + np.flatnonzero((edges[1:-1] >= video.last_end_s) & (edges[1:-1] < video.duration_s))
    free = np.concatenate([early, late])
    if not len(free) or not np.isfinite(video.first_start_s):
        return Edit(0, video.n_rows, 0, 0, "", 0.0, video.duration_s)
    drawn = int(rng.integers(len(free)))
    row = int(free[drawn])
    if drawn < len(early):
        cut_s = float(edges[row + 1])
        return Edit(row + 1, video.n_rows, 0, 0, "", -cut_s, video.duration_s - cut_s)
    return Edit(0, row, 0, 0, "", 0.0, float(edges[row]))


def _joined(video: _Video, other: str, joined: _Video, *, is_first: bool) -> Edit:
    """Join a video; features that end before the video repeat their last row, so that the other begins after it."""
    end = max(video.n_rows, int(np.ceil(video.duration_s / video.row_s - 1e-6)))
    n_other = max(1, round(joined.n_rows * joined.row_s / video.row_s))
    before, after = (0, n_other) if is_first else (n_other, 0)
    return Edit(0, end, before, after, other, before * video.row_s, (end + n_other) * video.row_s)


def move_references(annotations: Annotations, edits: Mapping[str, Edit]) -> Annotations:
    """Return the references of a split in the time of its changed videos, without ratings of clips."""
    of_row = [edits[video_id] for video_id in annotations.video_id.tolist()]
    shift_s = np.array([edit.shift_s for edit in of_row])
    return dataclasses.replace(
        annotations,
        duration_s=np.array([edit.duration_s for edit in of_row]),
        start_s=annotations.start_s + shift_s,
        end_s=annotations.end_s + shift_s,
        saliency=None,
    )


@dataclasses.dataclass(frozen=True, eq=False)
class MovedFeatures(DerivedFeatures):
    """A FeatureStore with the videos of another one, changed so that their moments move.

    Parameters
    ----------
    store
        The original features.
    edits
        How each video changes, as :func:`plan_edits` returns it.
    move
        Name of the change.
    seed
        Seed of the noise, 0 or above.

    Examples
    --------
    >>> from truemoment.media.features import Features
    >>> store = Features({"v": np.arange(4, dtype=np.float32)[:, None]}, fps=1.0)
    >>> annotations = Annotations.from_rows([("v#0", "v", 4.0, "a door opens", 2.0, 3.0)])
    >>> moved, references = MovedFeatures.of(store, annotations, "truncated", seed=1)
    >>> moved["v"].ravel().tolist()
    [2.0, 3.0]
    >>> references.start_s.tolist(), references.end_s.tolist(), references.duration_s.tolist()
    ([0.0], [1.0], [2.0])
    """

    edits: Mapping[str, Edit]
    move: str
    seed: int = 0

    @classmethod
    def of(
        cls, store: FeatureStore, annotations: Annotations, move: str, seed: int = 0
    ) -> tuple[MovedFeatures, Annotations]:
        """Return the changed videos of a split and its references there."""
        edits = plan_edits(store, annotations, move, seed)
        return cls(store, edits, move, seed), move_references(annotations, edits)

    @property
    def name(self) -> str:
        """Name of the store, the change, and the seed."""
        return f"{self.store.name} ({self.move}, seed={self.seed})"

    def __contains__(self, video_id: object) -> bool:
        return video_id in self.edits

    def __iter__(self) -> Iterator[str]:
        return iter(self.edits)

    def __len__(self) -> int:
        return len(self.edits)

    def __getitem__(self, video_id: str) -> Frames:
        """Return the rows of a changed video, (T, D)."""
        edit, rows = self._edit(video_id), self.store[video_id]
        own = rows[np.minimum(np.arange(edit.first, edit.end), len(rows) - 1)]
        n_more = edit.before + edit.after
        if not n_more:
            return own
        if edit.other:
            more = resample(self.store[edit.other], n_more)
        else:
            rng = generator_of(video_id, [self.seed])
            more = rows.mean(axis=0) + rows.std(axis=0) * rng.standard_normal((n_more, rows.shape[1]))
        return np.concatenate([more[: edit.before], own, more[edit.before :]]).astype(np.float32)

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the edges of the rows in seconds, (T + 1,); `duration_s` is that of the changed video."""
        return edges_of(self._edit(video_id).n_rows, self.fps, duration_s)

    def _edit(self, video_id: str) -> Edit:
        try:
            return self.edits[video_id]
        except KeyError:
            raise InputError(f"has no rows of {video_id!r}", path=self.name) from None


def write_moved(
    folder: Path,
    features: MovedFeatures,
    references: Annotations,
    *,
    dtype: DType = "float32",
    progress: Callable[[list[str]], Iterable[str]] = lambda ids: ids,
    on_complete: Callable[[], None] = lambda: None,
) -> None:
    """Write changed videos and their references, complete or not at all; the options are those of `write_store`."""
    with atomic_folder(folder, on_complete) as new_folder:
        write_annotations(new_folder / REFERENCES, references)
        write_store(new_folder / FEATURES, features, dtype=dtype, progress=progress)
