"""Nothing is lost: a server that is killed while people save has stored all that it acknowledged, and none twice."""

import contextlib
import ctypes
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from truemoment.base.errors import InputError
from truemoment.web.annotating.exporting import export_study
from truemoment.web.annotating.rebuilding import differences
from truemoment.web.annotating.serving import back_up
from truemoment.web.annotating.store import connect, opened
from truemoment.web.annotating.study import StudyFolder, file_system_of, refuse_network
from truemoment.web.pages.sessions import cookie_name

from .conftest import annotations_of

CLIENTS = 20
QUICK_KILLS, ALL_KILLS = 2, 50


def free_port():
    with contextlib.closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@contextlib.contextmanager
def server_process(folder, port):
    words = [sys.executable, "-m", "truemoment", "annotate", "serve", str(folder), "--port", str(port), "--no-open"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if "link of the owner" in line:
                break
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()


class Person(threading.Thread):
    """Saves changes of one task without end, and repeats what was not acknowledged, as the page does."""

    def __init__(self, port, cookie, token, task, stop):
        super().__init__(daemon=True)
        self.base, self.stop, self.task = f"http://127.0.0.1:{port}", stop, task
        self.headers = {"Cookie": f"{cookie}={token}", "Origin": self.base, "Content-Type": "application/json"}
        self.acknowledged, self.version, self.again, self.faults = {}, 0, 0, []

    def run(self):
        number = 0
        while not self.stop.is_set():
            number += 1
            key = f"t{self.task:04d}-{number:010d}"
            answer = {"verdict": "marked", "moments": [{"first": number % 200, "last": 250}]}
            sent = json.dumps({"key": key, "base": self.version, "active_s": number, **answer}).encode()
            while not self.stop.is_set():
                request = urllib.request.Request(  # noqa: S310 - our own server
                    f"{self.base}/api/tasks/{self.task}/answer", sent, self.headers, method="PUT"
                )
                try:
                    with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310 - as above
                        found = json.load(response)
                except urllib.error.HTTPError as error:
                    self.faults.append(error.read())
                    return
                except (OSError, ValueError, http.client.HTTPException):
                    time.sleep(0.02)
                    continue
                self.version = found["version"]
                self.again += bool(found.get("again"))
                self.acknowledged[key] = found["version"]
                break


def wait_for(clients, count):
    """Wait until so many more saves are acknowledged, on a busy machine 30 s at most."""
    begin = sum(len(client.acknowledged) for client in clients)
    end = time.monotonic() + 30
    while sum(len(client.acknowledged) for client in clients) < begin + count and time.monotonic() < end:
        time.sleep(0.005)


def kill_and_check(make_study, kills):
    people = {"people": CLIENTS, "per_query": 1, "practice": 0}
    folder, tokens = make_study(annotations_of(CLIENTS, 1), **people)
    study = StudyFolder(folder)
    port = free_port()
    with contextlib.closing(connect(study.database)) as connection:
        tasks = {
            row["name"]: row["id"]
            for row in connection.execute(
                "SELECT p.name, min(t.id) AS id FROM tasks t JOIN people p ON p.id = t.person GROUP BY p.id"
            )
        }
    stop = threading.Event()
    cookie = cookie_name("study")
    clients = [Person(port, cookie, tokens[name], task, stop) for name, task in tasks.items()]
    rng = np.random.default_rng(0)
    for round_ in range(kills):
        with server_process(folder, port):
            if not round_:
                for client in clients:
                    client.start()
            wait_for(clients, int(rng.integers(1, 60)))
    stop.set()
    for client in clients:
        client.join(timeout=10)
    assert not [fault for client in clients for fault in client.faults]
    acknowledged = {key: version for client in clients for key, version in client.acknowledged.items()}
    with contextlib.closing(connect(study.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rows = connection.execute("SELECT key, task, body FROM events WHERE kind = 'answer' ORDER BY seq").fetchall()
        stored = {row["key"]: json.loads(row["body"])["version"] for row in rows}
        assert len(stored) == len(rows)  # none twice
        assert acknowledged.items() <= stored.items()  # acknowledged = stored, with the same version
        assert len(stored) - len(acknowledged) <= CLIENTS  # one a client was under way
        assert differences(connection) == []
    return len(acknowledged), sum(client.again for client in clients)


@pytest.mark.slow
def test_a_server_killed_while_people_save_loses_nothing(make_study):
    n_acknowledged, _ = kill_and_check(make_study, QUICK_KILLS)
    assert n_acknowledged > 20


@pytest.mark.slow
@pytest.mark.skipif("TRUEMOMENT_KILLS" not in os.environ, reason="50 kills take minutes: set TRUEMOMENT_KILLS")
def test_fifty_kills(make_study, capsys):
    n_acknowledged, n_again = kill_and_check(make_study, ALL_KILLS)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{ALL_KILLS} kills: {n_acknowledged} answers acknowledged and stored, {n_again} repeats recognised\n"
        )


def test_a_copy_while_it_is_served_opens(served):
    study = served(annotations_of(2, 1), people=1, per_query=1, practice=0)
    client = study.client("w01")
    body = {"key": "a" * 16, "base": 0, "verdict": "absent", "moments": []}
    assert client.put("/api/tasks/1/answer", json=body).status_code == 200
    for _ in range(2):
        copy = back_up(study.study)
    with contextlib.closing(connect(copy)) as connection:
        assert connection.execute("SELECT verdict FROM answers").fetchone()[0] == "absent"
        assert differences(connection) == []


def test_a_newer_study_is_refused(make_study):
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    study = StudyFolder(folder)
    with contextlib.closing(connect(study.database)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(InputError, match="form 2, expected 1"):
        connect(study.database)
    text = study.settings_file.content().decode().replace("truemoment/study/1", "truemoment/study/2")
    study.settings_file.path.write_bytes(text.encode())
    with pytest.raises(InputError, match="truemoment/study/2"):
        study.settings()


@pytest.mark.parametrize(
    ("is_there", "instead", "field"),
    [
        ('"seed": 0', '"seed": -1', "seed"),  # no generator takes it: found by the hunt, seed 77, input 14,605
        ('"per_query": 1', '"per_query": -1', "per_query"),
        ('"gold_iou": 0.5', '"gold_iou": 7', "gold_iou"),
        ('"absent": 0.03', '"absent": 3', "controls.absent"),
    ],
)
def test_settings_that_mean_nothing_are_refused(make_study, is_there, instead, field):
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1, controls=(0.05, 0.02, 0.03))
    study = StudyFolder(folder)
    text = study.settings_file.content().decode()
    assert is_there in text
    study.settings_file.path.write_bytes(text.replace(is_there, instead).encode())
    with pytest.raises(InputError, match=rf"study\.json:\d+: field {re.escape(field)}: got "):
        study.settings()


def test_files_of_two_studies_are_refused(make_study):
    folders = [make_study(annotations_of(1, 1), name=name, people=1, per_query=1)[0] for name in ("one", "other")]
    one, other = map(StudyFolder, folders)
    assert one.settings() != other.settings()
    one.settings_file.path.write_bytes(other.settings_file.content())
    with pytest.raises(
        InputError, match=r"study\.json: field \w+: got .*, but the study in study\.sqlite was made with"
    ):
        one.settings()


def test_a_study_that_cannot_be_written_is_exported(make_study, tmp_path):
    study = StudyFolder(make_study(annotations_of(1, 1), people=1, per_query=1)[0])
    (study.folder / "exported.json").mkdir()
    with opened(study.database) as connection:
        export_study(study, connection, tmp_path / "out")
    assert (tmp_path / "out" / "datasheet.md").is_file()


def test_a_network_file_system_is_refused(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nserver:/x {tmp_path}/net nfs4 rw 0 0\n")
    (tmp_path / "net" / "study").mkdir(parents=True)
    assert file_system_of(tmp_path / "net" / "study", mounts) == "nfs4"
    assert file_system_of(tmp_path, mounts) == "ext4"
    monkeypatch.setattr("truemoment.web.annotating.study.file_system_of", lambda _: "nfs4")
    with pytest.raises(InputError, match="network file system"):
        refuse_network(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs inotify")
def test_a_new_study_has_no_rollback_journal_while_it_is_first_written(make_study):
    # A command that was killed then left one, with which every other command refuses the study.
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    with contextlib.closing(sqlite3.connect(folder / "study.sqlite")) as connection:
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)  # as `annotate new` leaves it
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(watch, os.fsencode(folder), 0x100)  # files that are made
    with contextlib.closing(connect(StudyFolder(folder).database)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    made = os.read(watch, 1 << 16)
    os.close(watch)
    assert b"study.sqlite-wal" in made
    assert b"study.sqlite-journal" not in made
