"""Re-annotations of Hidden Challenges: CSV files of what several workers marked for queries of another dataset.

The files (mayu-ot/hidden-challenges-MR at e0c4546, ``data/raw/{charades,activitynet}/re-annotated``) have the columns
``HITId, video_id, description, start, end``, a row per worker, `start` and `end` in per cent of the video. Durations
and query ids come from the original dataset.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from truemoment.base.boundary.files import read_number
from truemoment.base.boundary.tables import read_csv
from truemoment.base.errors import InputError
from truemoment.base.intervals import norm_to_seconds
from truemoment.base.papers import HIDDEN_CHALLENGES
from truemoment.base.records import Annotations, Queries
from truemoment.data.datasets.base import Dataset, SourceFile, Split, required_file
from truemoment.data.datasets.faults import normalised_sentence

COMMIT = "e0c4546b5a614a20b680765fd4ad250564327b6a"
OWNER = f"https://raw.githubusercontent.com/mayu-ot/hidden-challenges-MR/{COMMIT}/data/raw"
HOMEPAGE = "https://github.com/mayu-ot/hidden-challenges-MR"
LICENCE = "MIT (owner's repository); sentences as in the original dataset"
COUNTED_IN = "Hidden Challenges (2020), section 5; videos counted in the released files"
NOTES = (
    "Times are per cent of the video in the files; durations and query ids come from the original dataset, whose "
    "folder lies beside this one.",
    "Query ids are the original's, so its predictions can be scored here: --on-unknown ignore leaves out the others.",
    "worker-1, worker-2, ... number the answers to one query in file order: the files do not say who gave which, so "
    "worker-1 of two queries need not be one person.",
)

REANNOTATES = MappingProxyType({"human-charades": "charades-sta", "human-activitynet": "activitynet-captions"})
"""Whose queries were annotated again; the split has the same name."""

_COLUMNS = ("video_id", "description", "start", "end")


@dataclass(frozen=True)
class MarkedMoment:
    """A row of a file: the moment (fractions of the video) that one worker marked; `line` is the row's last line."""

    path: Path
    line: int
    video_id: str
    sentence: str
    start_norm: float
    end_norm: float


def read_marked(path: Path) -> Iterator[MarkedMoment]:
    """Yield the rows of one file."""
    for line, record in read_csv(path, _COLUMNS, strict=True):
        for column in ("video_id", "description"):
            if not record[column]:
                raise InputError("got nothing, expected text", path=path, line=line, field=column)
        percent = [read_number(record[column]) for column in ("start", "end")]
        for column, value in zip(("start", "end"), percent, strict=True):
            if not 0 <= value <= 100:  # NaN neither
                problem = f"got {record[column]!r}, expected per cent of the video, 0 to 100"
                raise InputError(problem, path=path, line=line, field=column)
        start_norm, end_norm = (value / 100 for value in percent)
        yield MarkedMoment(path, line, record["video_id"], record["description"], start_norm, end_norm)


class QueryFinder:
    """Finds the query of the original dataset by video and sentence.

    Examples
    --------
    >>> original = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 5.0)])
    >>> QueryFinder(original).find("v", " A door opens.")
    0
    """

    def __init__(self, original: Annotations) -> None:
        self.queries: Queries = original.queries
        self._called = f"{original.dataset}/{original.split}"
        self._as_written: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._normalised: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for row, (video_id, sentence) in enumerate(zip(self.queries.video_id, self.queries.sentence, strict=True)):
            self._as_written[video_id, sentence].append(row)
            self._normalised[video_id, normalised_sentence(sentence)].append(row)

    def find(self, video_id: str, sentence: str) -> int:
        """Return the row of the query: by the exact sentence, else without outer blanks, case and a last full stop."""
        rows = self._as_written.get((video_id, sentence)) or self._normalised.get(
            (video_id, normalised_sentence(sentence)), []
        )
        if len(rows) == 1:
            return rows[0]
        if not rows:
            raise InputError(f"got {sentence[:60]!r} of video {video_id!r}, which is not in {self._called}")
        ids = ", ".join(self.queries.query_id[rows])
        raise InputError(f"got {sentence[:60]!r}, which matches several queries of {self._called}: {ids}")


def with_workers(
    marked: Iterable[MarkedMoment], original: Annotations, video_id_of: Callable[[str], str], *, dataset: str
) -> Annotations:
    """Return re-annotations as annotations of a dataset: queries in file order, a row per worker.

    Ids and durations are those of the original; `video_id_of` maps a video id of the files to one of the original.
    """
    finder = QueryFinder(original)
    of_query: defaultdict[int, list[MarkedMoment]] = defaultdict(list)
    for row in marked:
        try:
            query = finder.find(video_id_of(row.video_id), row.sentence)
        except InputError as error:
            raise InputError(error.problem, path=row.path, line=row.line, field="description") from None
        if math.isnan(finder.queries.duration_s[query]):
            problem = f"the duration of video {finder.queries.video_id[query]!r} is not known in {original.dataset}"
            raise InputError(f"{problem}, and times are per cent of it", path=row.path, line=row.line)
        of_query[query].append(row)
    rows = []
    for query, workers in of_query.items():
        query_id, video_id, duration_s, _ = (
            getattr(finder.queries, name)[query] for name in ("query_id", "video_id", "duration_s", "sentence")
        )
        start_s, end_s = (
            norm_to_seconds(np.array(times), np.asarray(duration_s)).tolist()
            for times in ([row.start_norm for row in workers], [row.end_norm for row in workers])
        )
        sentence = workers[0].sentence
        rows += [
            (query_id, video_id, float(duration_s), sentence, start, end, f"worker-{number}")
            for number, (start, end) in enumerate(zip(start_s, end_s, strict=True), start=1)
        ]
    return Annotations.from_rows(rows, dataset=dataset, split=original.split)


def reannotated(
    name: str,
    title: str,
    split: Split,
    files: tuple[SourceFile, ...],
    *,
    read_original: Callable[[Path, str], Annotations],
    video_id_of: Callable[[str], str],
) -> Dataset:
    """Return a dataset of re-annotations; `video_id_of` maps a video id of its files to one of the original dataset."""

    def read(folder: Path, split_name: str) -> Annotations:
        paths = [required_file(folder, file.name, dataset=name) for file in files]
        marked = [row for path in paths for row in read_marked(path)]
        original = read_original(folder.parent / REANNOTATES[name], split_name)
        return with_workers(marked, original, video_id_of, dataset=name)

    return Dataset(
        name=name,
        title=f"{title}, re-annotated (Hidden Challenges)",
        papers=(HIDDEN_CHALLENGES,),
        homepage=HOMEPAGE,
        licence=LICENCE,
        access="open",
        files=files,
        splits=(split,),
        read=read,
        notes=NOTES,
    )
