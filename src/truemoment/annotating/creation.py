"""New studies: queries, videos and people go into the database, and queries are dealt."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import math
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.annotating.controls import absent_pairs, moved_moment
from truemoment.annotating.events import append
from truemoment.annotating.instructions import DEFAULT, read_instructions
from truemoment.annotating.people import OWNER, Link, add_people, add_person
from truemoment.annotating.store import connect, create_database, written
from truemoment.annotating.study import ControlShares, StudyFolder, StudySettings, Task, refuse_network
from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.files import atomic_folder, atomic_write, read_json_lines
from truemoment.inputs import reading
from truemoment.records import Annotations
from truemoment.version import __version__ as version
from truemoment.video.files import VIDEO_SUFFIXES, find_videos

MOST_SHARE = 0.5

NO_CONTROLS = ControlShares(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class StudyPlan:
    """What a new study is to be; fields are those of :class:`~truemoment.annotating.study.StudySettings`.

    Parameters
    ----------
    n_queries
        Number of queries, chosen by lot; None for all.
    gold
        Queries with agreed moments, as controls.
    only
        Ids of the queries to take; None for all.
    instructions
        Markdown file; None for the usual text.
    """

    task: Task = "mark"
    n_queries: int | None = None
    per_query: int = 5
    people: int = 20
    seed: int = 0
    gold: Annotations | None = None
    only: frozenset[str] | None = None
    controls: ControlShares = NO_CONTROLS
    same_video: str = "apart"
    several: bool = True
    review: str = "required"
    sound: bool = True
    instructions: Path | None = None
    title: str = ""
    practice: int = 3
    gold_iou: float = 0.5


@dataclass(frozen=True)
class NewStudy:
    """A study that was made: settings, links of people, how many queries and videos, and videos without a file."""

    settings: StudySettings
    links: tuple[Link, ...]
    n_queries: int
    n_videos: int
    n_without_file: int


@dataclass(frozen=True)
class _StudyQuery:
    query_id: str
    video_id: str
    sentence: str
    kind: str
    hidden: Mapping[str, Any]


def parse_controls(text: str) -> ControlShares:
    """Read shares of control tasks, e.g. ``gold=0.05,repeat=0.02,absent=0.03``; ``none`` has none."""
    shares = {"gold": 0.0, "repeat": 0.0, "absent": 0.0}
    for part in [] if text == "none" else text.split(","):
        name, _, value = part.strip().partition("=")
        if name not in shares or not re.fullmatch(r"0?\.\d+|0|0\.", value) or float(value) > MOST_SHARE:
            raise UsageError(
                f"--controls: got {part!r}, expected gold, repeat or absent = a share from 0 to {MOST_SHARE}"
            )
        shares[name] = float(value)
    return ControlShares(**shares)


class OnlyLine(msgspec.Struct):
    """A line of a file that names queries, e.g. notes of ``truemoment browse``; other fields are ignored."""

    query_id: str
    tags: list[str] | None = None


MARK_ANEW = "mark-anew"
"""Tag of the queries that are taken, in a file whose lines have tags."""


def read_only(path: Path) -> frozenset[str]:
    """Return the query ids in a file of JSON Lines; of lines with tags, those tagged :data:`MARK_ANEW`."""
    lines = [of for _, of in read_json_lines(path, OnlyLine)]
    found = frozenset(of.query_id for of in lines if of.tags is None or MARK_ANEW in of.tags)
    if not found:
        raise InputError("names no queries, expected lines with a query_id", path=path)
    return found


def new_study(folder: Path, annotations: Annotations, videos: Path, plan: StudyPlan, *, source: str) -> NewStudy:
    """Make the folder of a study, which must not exist, and deal its queries.

    Parameters
    ----------
    annotations
        Queries; their references are kept in the study, and are never shown to annotators.
    videos
        Folder of video files, named by video id.
    source
        What the annotations are, in words.
    """
    refuse_network(folder.parent if folder.parent.is_dir() else Path())
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: already exists, expected a new folder")
    if plan.people and plan.people < plan.per_query:
        raise UsageError(f"got {plan.people} people for {plan.per_query} answers per query, expected as many or more")
    rng = np.random.default_rng([plan.seed, 0])
    queries = _study_queries(annotations, plan, rng)
    files = find_videos(videos, [query.video_id for query in queries])
    found = [query for query in queries if query.video_id in files]
    if not any(query.kind == "query" for query in found):
        names = sorted({query.video_id for query in queries})
        raise MissingFileError(
            f"{videos}: contains none of the {len(names)} videos, expected files such as {names[0]}{VIDEO_SUFFIXES[0]}"
        )
    text = DEFAULT[plan.task] if plan.instructions is None else read_instructions(plan.instructions)
    settings = _settings(folder, plan, source, text)
    with written(folder), atomic_folder(folder) as fresh:
        made = StudyFolder(fresh)
        made.write_settings(settings)
        with atomic_write(made.instructions) as stream:
            stream.write(text.encode())
        create_database(made.database)
        connection = connect(made.database)
        with contextlib.closing(connection):
            connection.execute("BEGIN IMMEDIATE")
            _insert(connection, found, files)
            links = _first_people(connection, settings)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode=DELETE")  # one file, while the folder gets its name
    n_queries = sum(query.kind == "query" for query in found)
    n_without = len({query.video_id for query in queries} - set(files))
    return NewStudy(settings, tuple(links), n_queries, len({query.video_id for query in found}), n_without)


def _settings(folder: Path, plan: StudyPlan, source: str, text: str) -> StudySettings:
    name = folder.resolve().name
    return StudySettings(
        name=name,
        title=plan.title or f"A study of moments in videos: {name}",
        seed=plan.seed,
        source=source,
        truemoment=version,
        made_day=dt.datetime.now(dt.UTC).date().isoformat(),
        instructions_sha256=hashlib.sha256(text.encode()).hexdigest(),
        task=plan.task,
        per_query=plan.per_query,
        people=plan.people,
        same_video="apart" if plan.same_video == "apart" else "any",
        several=plan.several,
        review="required" if plan.review == "required" else "offered",
        sound=plan.sound,
        controls=plan.controls,
        gold_iou=plan.gold_iou,
        practice=plan.practice,
    )


def _study_queries(annotations: Annotations, plan: StudyPlan, rng: np.random.Generator) -> list[_StudyQuery]:
    """Return all queries of a study: those to be answered, practice, and the pools of controls."""
    entries = _entries(annotations)
    if plan.only is not None:
        unknown = sorted(plan.only - {entry.query_id for entry in entries})
        if unknown:
            raise InputError(f"got the query id {unknown[0]!r}, which the annotations do not have", field="query_id")
        entries = [entry for entry in entries if entry.query_id in plan.only]
    if plan.n_queries is not None and plan.n_queries < len(entries):
        chosen = sorted(rng.choice(len(entries), plan.n_queries, replace=False).tolist())
        entries = [entries[at] for at in chosen]
    gold = [] if plan.gold is None else _entries(plan.gold)
    golden = [
        _StudyQuery(f"gold/{of.query_id}", of.video_id, of.sentence, "gold", {"moments": of.hidden["moments"]})
        for of in gold
    ]
    n_practice = min(plan.practice, len(golden) // 2)
    lot = rng.permutation(len(golden)).tolist()
    practice = [
        _StudyQuery(f"practice/{at}", golden[at].video_id, golden[at].sentence, "practice", golden[at].hidden)
        for at in sorted(lot[:n_practice])
    ]
    golden = [golden[at] for at in sorted(lot[n_practice:])]
    if plan.task == "verify":
        entries = [entry for entry in entries if entry.hidden["moments"]]
        verify = [_with_shown(entry) for entry in [*practice, *entries, *golden] if entry.hidden["moments"]]
        return [*verify, *_wrong_pairs(entries, plan, annotations, rng)]
    return [*practice, *entries, *golden, *_absent(entries, plan, rng)]


def _entries(annotations: Annotations) -> list[_StudyQuery]:
    """Return the queries of annotations with their references."""
    found = []
    for low, high in pairwise(annotations.offsets.tolist()):
        moments = list(zip(annotations.start_s[low:high].tolist(), annotations.end_s[low:high].tolist(), strict=True))
        hidden = {"moments": [] if math.isnan(moments[0][0]) else moments}
        row = (annotations.query_id[low], annotations.video_id[low], annotations.sentence[low])
        found.append(_StudyQuery(*row, "query", hidden))
    return found


def _with_shown(entry: _StudyQuery) -> _StudyQuery:
    hidden = {**entry.hidden, "shown": list(entry.hidden["moments"][0])}
    return _StudyQuery(entry.query_id, entry.video_id, entry.sentence, entry.kind, hidden)


def _pool_size(n_queries: int, share: float, plan: StudyPlan) -> int:
    """Return how many controls a person may get at most."""
    load = n_queries * plan.per_query / plan.people if plan.people else n_queries
    return math.ceil(share * load) + 1 if share else 0


def _by_video(entries: list[_StudyQuery]) -> tuple[dict[int, str], dict[int, list[str]]]:
    """Return the name and the sentences of each video, by number."""
    number: dict[str, int] = {}
    sentences: dict[int, list[str]] = {}
    for entry in entries:
        sentences.setdefault(number.setdefault(entry.video_id, len(number)), []).append(entry.sentence)
    return {of: name for name, of in number.items()}, sentences


def _absent(entries: list[_StudyQuery], plan: StudyPlan, rng: np.random.Generator) -> list[_StudyQuery]:
    names, sentences = _by_video(entries)
    pairs = absent_pairs(sentences, _pool_size(len(entries), plan.controls.absent, plan), rng)
    return [
        _StudyQuery(f"absent/{number}", names[video], sentence, "absent", {"moments": []})
        for number, (video, sentence) in enumerate(pairs)
    ]


def _wrong_pairs(
    entries: list[_StudyQuery], plan: StudyPlan, annotations: Annotations, rng: np.random.Generator
) -> list[_StudyQuery]:
    """Return controls of a ``verify`` study: moved moments, and sentences of other videos."""
    duration = dict(zip(annotations.video_id.tolist(), annotations.duration_s.tolist(), strict=True))
    size = _pool_size(len(entries), plan.controls.absent, plan)
    moved: list[_StudyQuery] = []
    for at in rng.permutation(len(entries)).tolist():
        entry = entries[at]
        start_s, end_s = entry.hidden["moments"][0]
        place = moved_moment(start_s, end_s, duration.get(entry.video_id, math.nan), rng)
        if len(moved) < size and len(entry.hidden["moments"]) == 1 and place is not None:
            hidden = {"moments": [], "shown": list(place)}
            moved.append(_StudyQuery(f"moved/{len(moved)}", entry.video_id, entry.sentence, "moved", hidden))
    names, sentences = _by_video(entries)
    shown = {entry.video_id: entry.hidden["moments"][0] for entry in entries}
    other = [
        _StudyQuery(f"other/{at}", names[video], sentence, "other", {"moments": [], "shown": list(shown[names[video]])})
        for at, (video, sentence) in enumerate(absent_pairs(sentences, size, rng))
    ]
    return [*moved, *other]


def _insert(connection: sqlite3.Connection, queries: list[_StudyQuery], files: Mapping[str, Path]) -> None:
    videos = list(dict.fromkeys(query.video_id for query in queries))
    number = {video_id: at for at, video_id in enumerate(videos, start=1)}
    connection.executemany(
        "INSERT INTO videos (id, video_id, path) VALUES (?, ?, ?)",
        [(number[of], of, str(reading(files[of]).resolve())) for of in videos],
    )
    connection.executemany(
        "INSERT INTO queries (query_id, video, sentence, kind, hidden) VALUES (?, ?, ?, ?, ?)",
        [
            (of.query_id, number[of.video_id], of.sentence, of.kind, msgspec.json.encode(of.hidden).decode())
            for of in queries
        ],
    )


def _first_people(connection: sqlite3.Connection, settings: StudySettings) -> list[Link]:
    append(connection, "made", settings)
    add_person(connection, OWNER)
    return add_people(connection, settings.people, settings) if settings.people else []
