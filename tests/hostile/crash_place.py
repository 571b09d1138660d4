"""What long commands read beside the files of the place: films, a noisy source, weights, Charades-CD, a server."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from tests.hostile.place import make_place
from tests.training.authors_files import content

from truemoment.data import datasets
from truemoment.data.datasets.base import SourceFile
from truemoment.worlds.described.film import DescribedSettings, make_described

FILM, TRACK, BENCH_DATA = "described/film.mp4", "described/described.m4a", "bench-data"
VERBS = ("closes a door", "opens a book", "holds a cup")
CLASSES = ("Closing a door", "Opening a book", "Holding a cup")


def make_crash_place(folder: Path) -> None:
    """Write the whole files and those of the long commands into a new folder, and go there."""
    make_place(folder)
    add_long(folder)


def add_long(folder: Path) -> None:
    """Add the files of the long commands to the whole files of a folder, and go there."""
    os.chdir(folder)
    make_described(Path("described"), minutes=1, seed=3, settings=DescribedSettings(pictures=False))
    mine = Path("mine.jsonl").read_text()
    torch.save(content("moment-detr"), "published.ckpt")
    Path("noisy.jsonl").write_text(mine.replace('_id": "', '_id": "noisy-'))
    _charades(Path(BENCH_DATA))


def _charades(root: Path) -> None:
    """Write Charades-CD of a few videos, with the classes of Charades."""
    sta, cd = root / "charades-sta", root / "charades-cd"
    sta.mkdir(parents=True)
    cd.mkdir()
    (sta / "Charades_v1_classes.txt").write_text("".join(f"c{k:03d} {name}\n" for k, name in enumerate(CLASSES)))
    rng, rows = np.random.default_rng(5), ["id,actions,length\n"]
    for part, n_videos in (("train", 8), ("val", 4), ("test_iid", 4), ("test_ood", 4)):
        entries = {}
        for number in range(n_videos):
            starts = np.sort(rng.uniform(0, 24, 3)).round(1).tolist()
            times = [[start, round(start + rng.uniform(3, 6), 1)] for start in starts]
            video = f"{part.replace('_', '').upper()}{number}"
            rows.append(f"{video},{';'.join(f'c{k:03d} {a} {b}' for k, (a, b) in enumerate(times))},30.0\n")
            sentences = [f"a person {verb}." for verb in VERBS]
            entries[video] = {"sentences": sentences, "timestamps": times, "video_duration": 30.0}
        (cd / f"charades_{part}.json").write_text(json.dumps(entries))
    (sta / "Charades_v1_train.csv").write_text("".join(rows))
    (sta / "Charades_v1_test.csv").write_text(rows[0])


CONTENT = np.random.default_rng(0).bytes(300_000)


class _Slow(http.server.BaseHTTPRequestHandler):
    """Sends its file in pieces, so that a download lasts."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        with contextlib.suppress(OSError):
            for at in range(0, len(CONTENT), 10_000):
                self.wfile.write(CONTENT[at : at + 10_000])
                threading.Event().wait(0.01)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def tacos_from_here() -> Iterator[None]:
    """Let TACoS have three files of a server on this machine, for processes that are forked meanwhile."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address, sha256 = f"http://127.0.0.1:{server.server_port}", hashlib.sha256(CONTENT).hexdigest()
    files = tuple(SourceFile(f"{name}.json", sha256, f"{address}/{name}") for name in ("train", "val", "test"))
    tacos = dataclasses.replace(datasets.get_dataset("tacos"), files=files)
    with (
        mock.patch.object(datasets, "DATASETS", {**datasets.DATASETS, "tacos": tacos}),
        mock.patch.dict("os.environ", {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}),
    ):
        yield
    server.shutdown()
