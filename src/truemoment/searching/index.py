"""An index of videos on disk: the embeddings of their frames, for search.

It is a :class:`~truemoment.media.features.base.FeatureStore`, memory-mapped. The files of its folder are described in
:mod:`truemoment.searching.layout`; :mod:`truemoment.searching.writing` makes it.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, OwnPath, any_path
from truemoment.base.errors import InputError, MissingFileError
from truemoment.base.intervals import Ints
from truemoment.baselines.proposals import Proposals, read_proposals
from truemoment.media.features.base import Frames
from truemoment.media.features.reading import FileStore
from truemoment.media.video import identity_of
from truemoment.searching.layout import (
    ABOUT,
    MANIFEST,
    MEND,
    ROWS,
    SETTINGS,
    VIDEOS,
    Rows,
    VideoRecord,
    all_finite,
    count_pieces,
    is_file,
    mapped_pieces,
    norms_in,
    pieces_in,
    read_about,
    read_settings,
    refuse_other_norms,
    rows_in,
    spans_of,
)
from truemoment.searching.manifest import read_manifest, refuse_newer

SAMPLED_VIDEOS, SAMPLED_PIECES = 256, 16_384
"""Videos of a sample of the pieces, and pieces of all of them, at most."""


class Index(FileStore):
    """An index, to be searched; a FeatureStore of its videos.

    Parameters
    ----------
    path
        The folder.
    """

    def __init__(self, path: AnyPath | str) -> None:
        self.folder = OwnPath.of(any_path(path))
        path = reading(self.folder.path)
        self.settings = read_settings(self.folder)
        from_manifest = read_manifest(self.folder)
        self._by_manifest = from_manifest is not None
        self._videos = indexed_videos(self.folder) if from_manifest is None else from_manifest
        if not self._videos:
            raise InputError("contains no video yet", path=path, hint="index one: truemoment index VIDEO -o INDEX")
        folders = [folder for folder, _ in self._videos.values()]
        abouts = [self.folder / MANIFEST] if self._by_manifest else [folder / ABOUT for folder in folders]
        files = [self.folder / SETTINGS, *abouts]
        notes = [f"{about.video_id}: {note}" for _, about in self._videos.values() for note in about.notes]
        super().__init__("index", path, self._videos, files=files, fps=self.settings.fps, notes=notes)
        self.n_dimensions = self.settings.n_dimensions
        self.mend = MEND
        self._checked: set[str] = set()

    @functools.cached_property
    def proposals(self) -> Proposals:
        """Candidate moments whose norms are kept."""
        return read_proposals(self.settings.proposals)

    def about(self, video_id: str) -> VideoRecord:
        """Return the record of a video."""
        return self._videos[self._named(video_id)][1]

    def rows(self, video_id: str) -> Rows:
        """Return the rows of a video (F, D) as they lie on disk, memory-mapped."""
        return self._array(self._named(video_id))

    def spans(self, video_id: str) -> tuple[Ints, Ints]:
        """Return the first frame, and the one after the last, of each candidate moment of a video, (P,) each."""
        return spans_of(self.settings.proposals, len(self.rows(video_id)))

    def norms(self, video_id: str) -> Rows:
        """Return the length of the mean of each proposal's rows (P,), memory-mapped."""
        folder, _ = self._videos[self._named(video_id)]
        return norms_in(folder, len(self.spans(video_id)[0]))

    def pieces(self, video_id: str) -> Rows:
        """Return the means of the pieces of a video, of length 1, (C, D), memory-mapped."""
        return pieces_in(*self._videos[self._named(video_id)], self.settings)

    def n_pieces(self, video_id: str) -> int:
        """Return the number of pieces of a video."""
        return count_pieces(self.about(video_id).n_frames, self.settings.fps)

    def mapped_pieces(self, video_id: str) -> Rows:
        """Return the pieces of a video (C, D), memory-mapped; they are not checked for finite numbers."""
        return mapped_pieces(*self._videos[self._named(video_id)], self.settings)

    @functools.cached_property
    def piece_sample(self) -> Frames:
        """A sample of the pieces, (N, D): all, or some evenly spaced ones of a large index."""
        names = sorted(self)
        chosen = [names[at] for at in spread(len(names), SAMPLED_VIDEOS)]
        share = max(1, SAMPLED_PIECES // len(chosen))
        counts = [self.n_pieces(name) for name in chosen]
        most = share if sum(counts) > SAMPLED_PIECES else max(counts)
        parts = [
            self.pieces(name)[spread(count, most)].astype(np.float32)
            for name, count in zip(chosen, counts, strict=True)
        ]
        return np.concatenate(parts)

    def check(self, video_id: str) -> None:
        """Refuse a video whose rows are not finite, or whose norms are those of other rows; each is examined once.

        All rows are examined, and some of the norms.
        """
        name = self._named(video_id)
        if name in self._checked:
            return
        folder, about = self._videos[name]
        if self._by_manifest:
            refuse_newer(self.folder / MANIFEST, folder, about)
        rows = self.rows(name)
        if not all_finite(rows):
            raise InputError("contains numbers that are not finite", path=folder / ROWS, hint=MEND)
        refuse_other_norms(folder, rows, self.spans(name))
        self._checked.add(name)

    def path_of(self, video_id: str) -> Path:
        """Return the file of a video: at its recorded path, or beside the index under the same name."""
        about = self.about(video_id)
        path = Path(about.path)
        candidates = [candidate for candidate in (path, self.path.absolute().parent / path.name) if is_file(candidate)]
        for candidate in candidates:
            if identity_of(candidate) == about.identity:
                return candidate
        if candidates:
            raise MissingFileError(f"{candidates[0]}: was changed since it was indexed: index it again")
        raise MissingFileError(f"{path}: no such file; pictures need the video, {self.path} has only its embeddings")

    def _array(self, name: str) -> Rows:
        return rows_in(*self._videos[name], self.settings)


def spread(count: int, most: int) -> Ints:
    """Return up to `most` of the numbers below a count, evenly spaced."""
    return np.arange(count) if count <= most else np.arange(most) * count // most


def indexed_videos(index: AnyPath) -> dict[str, tuple[OwnPath, VideoRecord]]:
    """Return the folder and the record of each video of an index, by name, in order."""
    videos: dict[str, tuple[OwnPath, VideoRecord]] = {}
    for file in (OwnPath.of(index) / VIDEOS).glob(f"[!.]*/{ABOUT}"):
        about = read_about(file)
        videos[about.video_id] = (file.parent, about)
    return dict(sorted(videos.items()))
