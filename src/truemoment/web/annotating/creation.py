"""New studies: queries, videos and people go into the database, and queries are dealt."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from truemoment.base.boundary.files import atomic_folder, write_bytes
from truemoment.base.boundary.inputs import reading
from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.records import Annotations
from truemoment.base.version import __version__ as version
from truemoment.media.video.files import VIDEO_SUFFIXES, find_videos
from truemoment.web.annotating.events import append
from truemoment.web.annotating.instructions import DEFAULT, read_instructions
from truemoment.web.annotating.people import OWNER, Link, add_people, add_person
from truemoment.web.annotating.plan import StudyPlan, check_language
from truemoment.web.annotating.store import connect, create_database, written
from truemoment.web.annotating.study import StudyFolder, StudySettings, refuse_network
from truemoment.web.annotating.study_queries import StudyQuery, study_queries
from truemoment.web.annotating.video_seal import seal_videos


@dataclass(frozen=True)
class NewStudy:
    """A study that was made: settings, links of people, how many queries and videos, and videos without a file."""

    settings: StudySettings
    links: tuple[Link, ...]
    n_queries: int
    n_videos: int
    without_file: tuple[str, ...]


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
    queries = study_queries(annotations, plan, rng)
    files = find_videos(videos, [query.video_id for query in queries])
    with_video = [query for query in queries if query.video_id in files]
    if not any(query.kind == "query" for query in with_video):
        names = sorted({query.video_id for query in queries})
        raise MissingFileError(
            f"{videos}: contains none of the {len(names)} videos, expected files such as {names[0]}{VIDEO_SUFFIXES[0]}"
        )
    text = DEFAULT[plan.task] if plan.instructions is None else read_instructions(plan.instructions)
    settings = _settings(folder, plan, source, text)
    with written(folder), atomic_folder(folder) as fresh:
        study = StudyFolder(fresh)
        study.write_settings(settings)
        write_bytes(study.instructions, text.encode())
        create_database(study.database)
        connection = connect(study.database)
        with contextlib.closing(connection):
            connection.execute("BEGIN IMMEDIATE")
            _insert(connection, with_video, files)
            append(connection, "made", settings)
            add_person(connection, OWNER)
            links = add_people(connection, settings.people, settings) if settings.people else []
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode=DELETE")  # one file, while the folder gets its name
            seal_videos(study, connection)
    n_queries = sum(query.kind == "query" for query in with_video)
    without_file = tuple(sorted({query.video_id for query in queries} - set(files)))
    return NewStudy(settings, tuple(links), n_queries, len({query.video_id for query in with_video}), without_file)


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
        lang=check_language(plan.lang),
        controls=plan.controls,
        gold_iou=plan.gold_iou,
        practice=plan.practice,
    )


def _insert(connection: sqlite3.Connection, queries: list[StudyQuery], files: Mapping[str, Path]) -> None:
    videos = list(dict.fromkeys(query.video_id for query in queries))
    number = {video_id: at for at, video_id in enumerate(videos, start=1)}
    connection.executemany(
        "INSERT INTO videos (id, video_id, path) VALUES (?, ?, ?)",
        [(number[video], video, str(reading(files[video]).resolve())) for video in videos],
    )
    connection.executemany(
        "INSERT INTO queries (query_id, video, sentence, kind, hidden) VALUES (?, ?, ?, ?, ?)",
        [
            (
                query.query_id,
                number[query.video_id],
                query.sentence,
                query.kind,
                msgspec.json.encode(query.hidden).decode(),
            )
            for query in queries
        ],
    )
