"""Studies of somebody else: they send nothing from outside, write nothing there, and remove nothing."""

import contextlib
import os
import shutil
import sqlite3
import struct

import pytest

from truemoment.base.errors import InputError, MissingFileError
from truemoment.media.video.files import identity_of
from truemoment.media.video.prepared import COPY, FRAMES, PEAKS, STRIP
from truemoment.web.annotating.preparing import prepare_one
from truemoment.web.annotating.serving import back_up, open_study
from truemoment.web.annotating.store import connect
from truemoment.web.annotating.study import StudyFolder
from truemoment.web.annotating.video_seal import SEAL, check_videos

from .conftest import annotations_of

SECRET = b"the secret of a file outside"
IS_LINK = "is a link, expected a file or folder that TrueMoment has made"


@pytest.fixture(name="outside")
def outside_fixture(tmp_path):
    """A folder outside with files of the names that a video's folder has."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in (FRAMES, STRIP, PEAKS, COPY):
        (outside / name).write_bytes(SECRET)
    return outside


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", [FRAMES, STRIP, PEAKS])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_no_file_outside_is_sent(served, outside, name, kind):
    study = served(annotations_of(1, 2), people=1, per_query=1, practice=0)
    clients = [study.client(person) for person in ("w01", "owner")]
    media = study.folder / "media" / "1"
    if kind == "folder":
        shutil.rmtree(media)
        media.symlink_to(outside)
    else:
        (media / name).unlink(missing_ok=True)
        (media / name).symlink_to(outside / name)
    for client in clients:
        answer = client.get(f"/media/1/{name}")
        assert (answer.status_code, SECRET in answer.content) == (404, False)


def test_a_copy_outside_is_not_played(served, outside):
    study = served(annotations_of(1, 2), people=1, per_query=1, practice=0)
    identity = identity_of(outside / COPY)
    study.server.store.write(
        lambda connection: connection.execute("UPDATE videos SET played = '', played_identity = ?", (identity,))
    )
    client = study.client("owner")
    (study.folder / "media" / "1" / COPY).symlink_to(outside / COPY)
    answer = client.get("/media/1")
    assert (answer.status_code, SECRET in answer.content) == (404, False)


@pytest.mark.parametrize("link", ["media", "media/1", *(f"media/1/{name}" for name in (FRAMES, STRIP, PEAKS))])
def test_preparing_writes_nothing_outside(make_study, outside, link, paint, tmp_path):
    """Preparing replaced copy.mp4, frames.json, strip.jpg and peaks.bin where a link led."""
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1, practice=0)
    shutil.rmtree(folder / "media")
    if link.startswith("media/"):
        (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside / link.rsplit("/", 1)[-1] if "." in link else outside)
    before = contents(outside)
    film = paint(tmp_path / "a.mp4", [((200, 30, 30), 2)])
    outcome = prepare_one(1, str(film), StudyFolder(folder).media(1))
    assert IS_LINK in outcome.why
    assert contents(outside) == before
    with pytest.raises(InputError, match=IS_LINK), open_study(StudyFolder(folder)):
        pass


def test_a_backup_is_written_through_no_link(make_study, outside):
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    (folder / "backups").symlink_to(outside)
    with pytest.raises((InputError, FileExistsError)):
        back_up(StudyFolder(folder))
    assert set(contents(outside)) == {FRAMES, STRIP, PEAKS, COPY}


def test_a_journal_removes_no_file(make_study, tmp_path):
    """A rollback journal names a super-journal, which SQLite removes after it has played the journal back."""
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    for name in ("study.sqlite-wal", "study.sqlite-shm"):
        (folder / name).unlink(missing_ok=True)
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    name, magic = os.fsencode(mine), bytes.fromhex("d9d505f920a163d7")  # https://www.sqlite.org/fileformat2.html
    n_pages = (folder / "study.sqlite").stat().st_size // 4096
    head = magic + struct.pack(">IIIII", 0, 0, n_pages, 512, 4096)
    end = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    (folder / "study.sqlite-journal").write_bytes(head.ljust(512, b"\0") + end)
    with pytest.raises(InputError, match=r"study.sqlite-journal: is a rollback journal"):
        connect(StudyFolder(folder).database)
    assert mine.exists()
    with contextlib.closing(sqlite3.connect(folder / "study.sqlite")) as connection:  # that it would have gone
        connection.execute("SELECT * FROM videos").fetchall()
    assert not mine.exists()


def test_a_database_with_another_name_is_not_written(make_study, tmp_path):
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    os.link(folder / "study.sqlite", tmp_path / "mine.sqlite")
    with pytest.raises(InputError, match=r"study.sqlite: has another name \(a hard link\)"):
        connect(StudyFolder(folder).database)
    with contextlib.closing(connect(StudyFolder(folder).database, read_only=True)):
        pass


def test_a_trigger_of_somebody_else_is_refused(make_study):
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    with contextlib.closing(sqlite3.connect(folder / "study.sqlite")) as connection:
        connection.execute("CREATE TRIGGER a AFTER INSERT ON events BEGIN UPDATE videos SET played = '/etc/x'; END")
    with pytest.raises(InputError, match="has other tables or triggers than the database of a study"):
        connect(StudyFolder(folder).database)


@pytest.mark.parametrize("name", ["../close?", "..", "w01\n", "w1/2", "", "\u202ew01"])
def test_a_person_of_another_name_is_refused(make_study, name):
    """The owner's page sent POST /api/owner/close?/revoke, which closes the study."""
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    with contextlib.closing(sqlite3.connect(folder / "study.sqlite")) as connection, connection:
        connection.execute("UPDATE people SET name = ? WHERE name = 'w01'", (name,))
    with pytest.raises(
        InputError, match=r"study.sqlite.*people.name.*expected a name as TrueMoment gives it, e.g. 'w07'"
    ):
        connect(StudyFolder(folder).database)


# ------------------------------------------------------------------------------------------- the videos


@pytest.fixture(name="moved")
def moved_fixture(make_study, monkeypatch, tmp_path):
    """A study that another user made: its folder, and that of its videos."""
    folder, _ = make_study(annotations_of(2, 1), people=1, per_query=1, practice=0)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "of another user"))
    return folder, tmp_path / "videos"


def test_the_videos_of_a_study_of_somebody_else_are_named_again(moved, tmp_path):
    folder, videos = moved
    study = StudyFolder(folder)
    hint = r"was made on another machine or by another user.*; name the folder of its videos: --videos DIR"
    with pytest.raises(InputError, match=hint), open_study(study):
        pass
    there = tmp_path / "there"
    videos.rename(there)
    (there / "v1.mp4").unlink()
    with pytest.raises(MissingFileError, match="contains none of the 2 videos of the study"):
        check_videos(study, folder)
    with open_study(study, videos=there) as server:
        rows = server.store.read(
            lambda connection: [tuple(row) for row in connection.execute("SELECT path, played, state, why FROM videos")]
        )
    path = str(there / "v0.mp4")
    assert rows == [(path, path, "ready", ""), ("", "", "not playable", "the file is missing")]
    with open_study(study):  # this user has chosen them now
        pass


@pytest.mark.parametrize("why", ["videos", "form", "trigger", "person"])
def test_a_study_that_is_refused_stays_as_it_was(moved, why):
    """To open a database to write it makes its write-ahead log, by a number in the file."""
    folder, _ = moved
    study = StudyFolder(folder)
    with contextlib.closing(sqlite3.connect(study.database.path)) as connection, connection:
        match why:
            case "form":
                connection.execute("PRAGMA user_version=99")
            case "trigger":
                connection.execute("CREATE TRIGGER a AFTER INSERT ON events BEGIN DELETE FROM people; END")
            case "person":
                connection.execute("UPDATE people SET name = '..' WHERE name = 'w01'")
    with contextlib.closing(sqlite3.connect(study.database.path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    before = study.database.content()
    for videos in (None, folder):
        with pytest.raises(InputError if why != "videos" or videos is None else MissingFileError):
            check_videos(study, videos)
    with pytest.raises(InputError) if why != "videos" else contextlib.nullcontext():
        connect(study.database, read_only=why == "videos").close()
    assert study.database.content() == before


def test_a_changed_path_breaks_the_seal(make_study):
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    study = StudyFolder(folder)
    with contextlib.closing(connect(study.database)) as connection:
        connection.execute("UPDATE videos SET played = '/etc/hostname'")
    with pytest.raises(InputError, match="plays '/etc/hostname', which is no video of the study"):
        check_videos(study, None)
    with contextlib.closing(connect(study.database)) as connection:
        connection.execute("UPDATE videos SET played = '', path = '/etc/hostname'")
    with pytest.raises(InputError, match="--videos DIR"):
        check_videos(study, None)
    (folder / SEAL).unlink()
    with pytest.raises(InputError, match="--videos DIR"):
        check_videos(study, None)


def test_the_key_is_private(make_study, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    key = tmp_path / "data" / "truemoment" / "key"
    assert key.stat().st_mode & 0o077 == 0
    assert len(key.read_bytes()) == 32
    key.write_bytes(b"short")
    with pytest.raises(InputError, match="key: has 5 bytes, expected 32; remove it"):
        check_videos(StudyFolder(folder), None)


def test_a_refused_study_writes_nothing_for_the_user(make_study, monkeypatch, tmp_path):
    """A user who has no key gets none by a study of somebody else."""
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "of another user"))
    with pytest.raises(InputError, match="--videos DIR"):
        check_videos(StudyFolder(folder), None)
    assert not (tmp_path / "of another user").exists()
