"""Studies whose videos are stand-ins: files without pictures, and frame tables of 10 frames a second."""

import contextlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import msgspec
import numpy as np
import pytest

pytest.importorskip("starlette")

from starlette.testclient import TestClient

from truemoment.base.records import Annotations
from truemoment.media.video.files import identity_of
from truemoment.media.video.prepared import FRAMES, STRIP, VideoFrames
from truemoment.media.video.stamps import FrameTable
from truemoment.media.video.strips import StripLayout
from truemoment.web.annotating.creation import new_study
from truemoment.web.annotating.people import OWNER, new_link
from truemoment.web.annotating.plan import StudyPlan
from truemoment.web.annotating.serving import open_study
from truemoment.web.annotating.store import connect
from truemoment.web.annotating.study import ControlShares, StudyFolder
from truemoment.web.pages.sessions import cookie_name

BASE = "http://localhost"
OWN = {"Origin": BASE}
FPS, SECONDS = 10, 30


def annotations_of(n_videos, per_video, *, seed=0, words=("door", "cup", "shoe", "lamp", "book", "phone")):
    """Queries of videos that last 30 s, a reference moment each."""
    rng = np.random.default_rng(seed)
    rows = []
    for video in range(n_videos):
        for query in range(per_video):
            start = float(rng.integers(0, 200)) / 10
            sentence = f"the {words[video % len(words)]} {query}"
            rows.append((f"v{video}#{query}", f"v{video}", float(SECONDS), sentence, start, start + 5.0, ""))
    return Annotations.from_rows(rows, dataset="queries.jsonl")


def make_ready(folder):
    """Let all videos of a study be prepared: 300 frames, 10 a second."""
    study = StudyFolder(folder)
    table = FrameTable(Fraction(1, FPS), np.arange(FPS * SECONDS), FPS * SECONDS)
    runs = table.runs()
    with contextlib.closing(connect(study.database)) as connection:
        for row in connection.execute("SELECT id, path FROM videos").fetchall():
            media = study.media(row["id"])
            media.mkdir(parents=True)
            identity = identity_of(Path(row["path"]))
            layout = StripLayout([0.0], 1, 1, 1)
            frames = VideoFrames(
                runs.tick, runs.runs, runs.end, identity=identity, copy_why="", strip=layout, has_peaks=False
            )
            (media / FRAMES).path.write_bytes(msgspec.json.encode(frames))
            (media / STRIP).path.write_bytes(b"picture")
            connection.execute(
                "UPDATE videos SET state = 'ready', frames = ?, duration_s = ?, played = path, played_identity = ? "
                "WHERE id = ?",
                (len(table), table.duration_s, identity, row["id"]),
            )
    return study


@dataclass
class Served:
    """A study that is served in this process."""

    folder: Path
    study: StudyFolder
    server: object
    tokens: dict

    def client(self, name):
        """Return the browser of a person."""
        cookie = cookie_name(self.study.settings().name)
        return TestClient(
            self.server.app, base_url=BASE, headers=OWN, cookies={cookie: self.tokens[name]}, follow_redirects=False
        )


@pytest.fixture
def make_study(tmp_path):
    """Make a study: make_study(annotations, **plan) -> (folder, tokens by person)."""

    def make(annotations, *, name="study", controls=(0.0, 0.0, 0.0), **plan):
        videos = tmp_path / "videos"
        videos.mkdir(exist_ok=True)
        gold = plan.get("gold")
        ids = {*annotations.video_id, *(() if gold is None else gold.video_id)}
        for video_id in ids:
            (videos / f"{video_id}.mp4").write_bytes(f"video {video_id}".encode() * 50)
        folder = tmp_path / name
        settings = StudyPlan(controls=ControlShares(*controls), **plan)
        made = new_study(folder, annotations, videos, settings, source="queries.jsonl/all")
        make_ready(folder)
        return folder, {link.name: link.token for link in made.links}

    return make


@pytest.fixture
def served(make_study):
    """Serve a study: served(annotations, **plan) -> Served."""
    with contextlib.ExitStack() as stack:

        def serve(annotations, **plan):
            folder, tokens = make_study(annotations, **plan)
            study = StudyFolder(folder)
            server = stack.enter_context(open_study(study, base=BASE))
            tokens[OWNER] = server.store.write(lambda connection: new_link(connection, OWNER)).token
            return Served(folder, study, server, tokens)

        yield serve
