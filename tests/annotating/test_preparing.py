"""Videos of a study on a disk that is full, and videos that play after all."""

import contextlib
import importlib
import sqlite3
from pathlib import Path

import pytest

from truemoment.base.errors import InputError
from truemoment.web.annotating import creation, preparing
from truemoment.web.annotating.preparing import prepare_one, prepare_study, record_outcome, waiting_videos
from truemoment.web.annotating.store import StorageError, Store
from truemoment.web.annotating.study import StudyFolder

from ..thorough import quick_are
from .conftest import annotations_of

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_no_fault_of_the_video(monkeypatch, tmp_path):
    def fail(_, folder):
        try:
            FULL.write_bytes(b"picture")
        except OSError:
            raise InputError("cannot be written", path=folder) from None

    monkeypatch.setattr(preparing, "prepare_video", fail)
    with pytest.raises(InputError, match="the disk is full"):
        prepare_one(1, "v0.mp4", str(tmp_path))


def test_a_video_that_did_not_play_is_tried_again(make_study):
    folder, _ = make_study(annotations_of(2, 1), people=1, per_query=1, practice=0)
    study = StudyFolder(folder)
    with contextlib.closing(Store(study.database)) as store:
        outcome = preparing.VideoOutcome(1, None, "is no video")
        store.write(lambda connection: record_outcome(connection, outcome))
        assert store.read(waiting_videos) == []  # the server leaves it
        seen = []
        prepare_study(study, store, on_done=seen.append)  # whoever runs `prepare` has perhaps replaced the file
        assert [of.video for of in seen] == [1]


CRASHING = """
import os
from truemoment.web.annotating.preparing import VideoOutcome

def prepare(video, path, folder):
    if video == 1:
        os.abort()  # as a decoder that crashes
    return VideoOutcome(video, None, "is no video")
"""


@pytest.mark.parametrize("workers", quick_are([2], [1, 2]))
def test_a_video_that_ends_its_process_is_not_playable_and_the_others_are_prepared(
    make_study, monkeypatch, tmp_path, workers
):
    folder, _ = make_study(annotations_of(2, 1), people=1, per_query=1, practice=0)
    study = StudyFolder(folder)
    (tmp_path / "crashing.py").write_text(CRASHING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)  # also that of the processes
    with contextlib.closing(Store(study.database)) as store:
        store.write(lambda connection: connection.execute("UPDATE videos SET state = 'waiting'"))
        seen = []
        prepare = importlib.import_module("crashing").prepare
        prepare_study(study, store, workers=workers, on_done=seen.append, prepare=prepare)
    assert {of.video: of.why for of in seen} == {1: preparing.PROCESS_ENDED, 2: "is no video"}


def test_a_video_that_ends_its_process_leaves_the_server_alone(make_study, monkeypatch, tmp_path):
    folder, _ = make_study(annotations_of(2, 1), people=1, per_query=1, practice=0)
    study = StudyFolder(folder)
    with contextlib.closing(Store(study.database)) as store:
        store.write(lambda connection: connection.execute("UPDATE videos SET state = 'waiting'"))
        (tmp_path / "crashing.py").write_text(CRASHING, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)  # also that of the process
        background = preparing.BackgroundPreparation(study, store, importlib.import_module("crashing").prepare)
        background.start()
        background._thread.join(60)
        found = store.read(
            lambda connection: connection.execute("SELECT state, why FROM videos ORDER BY id").fetchall()
        )
        background.stop()
    assert [row["state"] for row in found] == ["not playable", "not playable"]
    assert "the process that read it ended" in found[0]["why"]
    assert found[1]["why"] == "is no video"


def test_a_study_that_cannot_be_written_is_one_line_and_leaves_nothing(make_study, monkeypatch, tmp_path):
    def fail(_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(creation, "create_database", fail)
    with pytest.raises(StorageError, match="study: cannot be written"):
        make_study(annotations_of(2, 1), people=1, per_query=1)
    assert not (tmp_path / "study").exists()
