"""Whether the videos that a study names may be read and shown to people.

A study names its videos by full paths, chosen when it was made. A study of another person could name any video of this
machine, and whoever has a link would see it. So a new study is sealed: ``videos.seal`` is a hash (HMAC) of its videos,
with a key that only this user has. Without a valid seal, the user names the folder of the videos again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import read_bytes, write_bytes
from truemoment.base.boundary.folders import lock_file, temporary_file
from truemoment.base.boundary.own_path import OwnPath, open_regular
from truemoment.base.errors import InputError, MissingFileError
from truemoment.media.video.files import find_videos
from truemoment.web.annotating.events import identity_of_study
from truemoment.web.annotating.store import connect, undamaged
from truemoment.web.annotating.study import StudyFolder

SEAL, KEY = "videos.seal", "key"

KEY_BYTES = 32


def seal_videos(study: StudyFolder, connection: sqlite3.Connection) -> None:
    """Write the seal of the videos that a study names now."""
    write_bytes(study.folder / SEAL, _seal_of(study, connection, _make_key()).encode() + b"\n")


def check_videos(study: StudyFolder, videos: Path | None) -> None:
    """Allow the videos of a study, or refuse a study whose videos this user did not choose."""
    with undamaged(study.database), contextlib.closing(connect(study.database, read_only=True)) as connection:
        if videos is None:
            refuse_unsealed(study, connection)
            return
        files = videos_in(videos, connection)
    with undamaged(study.database), contextlib.closing(connect(study.database)) as connection:
        choose_videos(study, connection, files)


def refuse_unsealed(study: StudyFolder, connection: sqlite3.Connection) -> None:
    """Refuse a study whose videos were not chosen by this user on this machine."""
    file = study.folder / SEAL
    seal = read_bytes(file).decode("ascii", "replace").strip() if file.is_file() else ""
    key = _read_key()  # a user without a key has chosen no videos, and gets none by looking
    if key is None or not hmac.compare_digest(seal.encode(), _seal_of(study, connection, key).encode()):
        problem = "was made on another machine or by another user, and names videos by their paths there"
        raise InputError(problem, path=study.path, hint="name the folder of its videos: --videos DIR")


def videos_in(videos: Path, connection: sqlite3.Connection) -> dict[str, Path]:
    """Return the files of a study's videos in a folder, by video.

    Raises
    ------
    MissingFileError
        If the folder has none of them.
    """
    ids = [str(row[0]) for row in connection.execute("SELECT video_id FROM videos")]
    files = find_videos(videos, ids)
    if ids and not files:
        raise MissingFileError(f"{videos}: contains none of the {len(ids)} videos of the study")
    return files


def choose_videos(study: StudyFolder, connection: sqlite3.Connection, files: Mapping[str, Path]) -> None:
    """Give a study the files of its videos, and seal it; a video without a file is not playable."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for (video_id,) in connection.execute("SELECT video_id FROM videos ORDER BY id").fetchall():
            path = str(files[video_id].resolve()) if video_id in files else ""
            connection.execute(
                "UPDATE videos SET path = ?, played = CASE WHEN played = '' THEN '' ELSE ? END, state = CASE "
                "WHEN ? = '' THEN 'not playable' WHEN state = 'not playable' THEN 'waiting' ELSE state END, "
                "why = CASE WHEN ? = '' THEN 'the file is missing' ELSE why END WHERE video_id = ?",
                (path, path, path, path, video_id),
            )
    seal_videos(study, connection)


def _seal_of(study: StudyFolder, connection: sqlite3.Connection, key: bytes) -> str:
    """Return the hash of the videos of a study with the key of a user, as hexadecimal digits."""
    rows = connection.execute("SELECT id, video_id, path, played FROM videos ORDER BY id").fetchall()
    other = next((row["played"] for row in rows if row["played"] not in ("", row["path"])), None)
    if other is not None:
        problem = f"plays {other!r}, which is no video of the study"
        raise InputError(problem, path=study.database, field="videos.played")
    named = [identity_of_study(connection), [(row["id"], row["video_id"], row["path"]) for row in rows]]
    return hmac.new(key, msgspec.json.encode(named), hashlib.sha256).hexdigest()


def _key_file() -> OwnPath:
    from platformdirs import user_data_path  # noqa: PLC0415 - only studies need it

    return OwnPath(user_data_path("truemoment")) / KEY


def _read_key() -> bytes | None:
    """Return the key of this user; None if it was never needed."""
    file = _key_file()
    try:
        key = file.content() if file.is_file() else None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path=file) from None
    if key is not None and len(key) != KEY_BYTES:
        raise InputError(f"has {len(key)} bytes, expected {KEY_BYTES}", path=file, hint="remove it")
    return key


def _make_key() -> bytes:
    """Return the key of this user, which is made when it is first needed."""
    file = _key_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with lock_file(file.path):
            if (key := _read_key()) is None:
                key = secrets.token_bytes(KEY_BYTES)
                with temporary_file(file.parent) as fresh:  # which no other user can read
                    with open_regular(fresh, "wb") as stream:
                        stream.write(key)
                    fresh.rename(file)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror or error})", path=file) from None
    return key
