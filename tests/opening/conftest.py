"""A folder of results of each kind, with hostile files beside them, and its page."""

import contextlib
import json
import os
import shutil

import pytest

pytest.importorskip("starlette")

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.boundary.own_path import OwnPath
from truemoment.data.datasets.source import AnnotationSource
from truemoment.web.opening import work
from truemoment.web.opening.folder_site import open_folder

from ..browsing.conftest import Client

N_QUERIES = 12
CANARY = "a-secret-outside-the-folder"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def write_annotations(path, split=None):
    """Write queries whose moments are 10 to 20 s of 60 s."""
    more = {} if split is None else {"split": split}
    line = {"duration_s": 60.0, "sentence": "a person opens a door", "moments": [[10.0, 20.0]]} | more
    return write_lines(path, [{"query_id": f"q{k}", "video_id": f"v{k % 5}"} | line for k in range(N_QUERIES)])


def write_predictions(path, shift=0):
    """Write an answer a query with the score k / 100: that of query k is right where k + shift is even."""
    moments = ([10.0, 19.0 - shift] if (k + shift) % 2 == 0 else [40.0, 50.0] for k in range(N_QUERIES))
    rows = ({"query_id": f"q{k}", "moments": [[*moment, k / 100]]} for k, moment in enumerate(moments))
    return write_lines(path, rows)


@pytest.fixture(scope="session")
def audited(tmp_path_factory, empty_pictures):
    """A folder with annotations, two prediction files, and an audit of the first."""
    folder = tmp_path_factory.mktemp("results")
    write_annotations(folder / "mine.jsonl")
    write_predictions(folder / "ours.jsonl")
    write_predictions(folder / "theirs.jsonl", shift=1)
    with pytest.MonkeyPatch.context() as patch, empty_pictures():
        patch.setattr("truemoment.baselines.floors.FLOORS", ("predict-all", "uniform"))
        source = AnnotationSource(None, folder / "mine.jsonl")
        place = OwnPath(folder)
        work.perform("audit", [("ours", place / "ours.jsonl")], source, place / "ours.audit", lambda _: None)
    return folder


@pytest.fixture
def folder(tmp_path, audited):
    """A folder with a result of each kind, and hostile files."""

    shutil.copytree(audited, tmp_path / "results")
    folder = tmp_path / "results"
    (tmp_path / "secret.json").write_text(json.dumps({"schema": "truemoment/audit/2", "truemoment": CANARY}, indent=2))
    (folder / "figure.png").write_bytes(PNG)
    (folder / "notes.txt").write_text("nothing of ours")
    run = folder / "run"
    run.mkdir()
    (run / "run.json").write_text('{"recipe": {"model": "tan2d"}}')
    (run / "result.json").write_text('{"tests": [{"split": "test", "measure": "mIoU", "value": 0.5}]}')
    (run / "curves.png").write_bytes(PNG)
    study = folder / "study"
    study.mkdir()
    (study / "study.json").write_text('{"title": "Doors"}')
    (study / "study.sqlite").write_bytes(b"")
    hostile = folder / "hostile"
    hostile.mkdir()
    (hostile / "link.json").symlink_to(tmp_path / "secret.json")
    (hostile / "away").symlink_to(tmp_path)
    os.mkfifo(hostile / "pipe.jsonl")
    (hostile / "huge.json").write_bytes(b'{\n  "schema": "truemoment/audit/2",\n  "truemoment": "')
    os.truncate(hostile / "huge.json", 1 << 32)
    (hostile / "deep.json").write_text('{\n "schema": "truemoment/audit/2",\n "truemoment": "x", "a": ' + "[" * 100_000)
    (hostile / "lie.html").write_text(
        '<!DOCTYPE html><meta name="generator" content="truemoment 9"><title>lie</title><script>stolen()</script>'
    )
    (hostile / "<img src=x onerror=stolen()>.json").write_text(
        json.dumps(
            {
                "schema": "truemoment/audit/2",
                "truemoment": "x",
                "dataset": "<script>stolen()</script>\u202e",
                "findings": [{"check": "better-than-guessing", "verdict": "<b>bold</b>", "evidence": 3}],
                "measures": [{"measure": 3, "value": "x"}, []],
                "predictions": {"path": ["x"], "sha256": None},
            },
            indent=2,
        )
    )
    with contextlib.suppress(OSError):  # not on every file system
        write_predictions(hostile / os.fsdecode(b"bad\xff.jsonl"))
    return folder


@contextlib.contextmanager
def light_studies(empty_pictures):
    """Run the studies of a page in a thread of this process, with few floors, and draw nothing."""

    def run_here(perform, *arguments, on_status, check):
        check()
        return perform(*arguments, on_status)

    with pytest.MonkeyPatch.context() as patch, empty_pictures():
        patch.setattr(work, "run_apart", run_here)
        patch.setattr("truemoment.baselines.floors.FLOORS", ("predict-all", "uniform"))
        patch.setattr(Cache, "of_user", classmethod(lambda *_, **__: NO_CACHE))
        yield


@pytest.fixture
def opened(folder, tmp_path, empty_pictures):
    """Open the folder: (server, client)."""
    with (
        light_studies(empty_pictures),
        open_folder(folder, AnnotationSource(), cache=Cache(tmp_path / "cache")) as server,
        Client(server.app, server.tokens.owner) as client,
    ):
        yield server, client
