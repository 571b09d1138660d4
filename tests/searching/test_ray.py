"""What is done on a Ray cluster of this machine: parts of a film, shares of a search; and who else can reach it."""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from drawn_indexes import sentences_near

from truemoment.base.boundary.distribution.actors import ray_actors
from truemoment.base.boundary.distribution.cluster import ray_cluster
from truemoment.base.errors import InputError, UsageError
from truemoment.searching.building import embed_shards
from truemoment.searching.index import Index
from truemoment.searching.request import RankingOptions
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.shards import searched_by_ray

pytestmark = pytest.mark.slow

EXACT = RankingOptions(top=5, apart=2.0, exact=True)

STRANGER = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1]).internal_kv_keys(b'', None)"
"""Asks the head of a cluster what it has stored, without a token."""


@pytest.fixture(scope="module")
def ray_here(request, colours, tmp_path_factory):
    """Ray knows no cluster, and its workers find the encoder; gives a home folder."""
    request.getfixturevalue("no_cluster")
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(home))
        folders = [str(Path(colours.__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        patched.setenv("PYTHONPATH", os.pathsep.join(folders))
        yield home


@dataclass
class RayRun:
    """What came of all work on one cluster, and what a stranger saw meanwhile."""

    answers: dict = field(default_factory=dict)
    failure: str = ""
    too_many: str = ""
    searched: list = field(default_factory=list)
    results: list = field(default_factory=list)
    killed: int = 0
    addresses: set = field(default_factory=set)
    stranger: str = ""
    commands: str = ""
    folder: Path = Path()
    modes: list = field(default_factory=list)


@pytest.fixture(scope="module")
def ray_run(shards, colours, drawn_once, ray_here):
    """One cluster for all, as starting Ray takes seconds."""
    run = RayRun()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Ray's own
        with ray_cluster(2) as ray:
            _look_around(run, ray, ray_here)
            _ask_actors(run)
            with searched_by_ray(Index(drawn_once(5)), EXACT, None, 2) as searcher:
                run.searched = searcher.find(sentences_near(Index(drawn_once(5)), 5, seed=3))
            with pytest.raises(UsageError) as caught:
                searched_by_ray(Index(drawn_once(5)), EXACT, None, 3).__enter__()
            run.too_many = str(caught.value)
            for result in embed_shards("ray", iter(shards[0]), colours.ColourLoader("slow"), 2):
                run.results.append(result)
                if len(run.results) == 5:
                    run.killed = int(result.worker.rpartition(":")[2])
                    os.kill(run.killed, signal.SIGKILL)
    return run


def _look_around(run, ray, ray_here):
    """Keep where the cluster listens, what its commands have, and what a stranger is told."""
    of_ray = _descendants(os.getpid())
    run.addresses = _listened_at(of_ray)
    for pid in of_ray:
        with contextlib.suppress(OSError):
            run.commands += Path(f"/proc/{pid}/cmdline").read_text()
    run.folder = Path(ray._private.worker._global_node.get_session_dir_path())
    run.modes = [stat.S_IMODE(folder.stat().st_mode) for folder in run.folder.parents]
    ours = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_TOKEN"}
    run.stranger = subprocess.run(
        [sys.executable, "-c", STRANGER, ray.get_runtime_context().gcs_address],
        env={**ours, "RAY_AUTH_MODE": "disabled", "HOME": str(ray_here / "other")},
        capture_output=True,
        text=True,
        check=False,
    ).stderr


def _ask_actors(run):
    """Ask two parts who they are, after the death of one too, and after a failure; keep their answers."""

    def open_part(part):  # a local function, which Ray sends as it is
        def answer(question):
            if question == ("fail", part):
                raise ValueError("of the\nsecond line")
            return part, os.getpid()

        return answer

    with ray_actors(open_part, range, 2, needs="nothing") as ask:
        run.answers["before"] = ask("who")
        os.kill(run.answers["before"][1][1], signal.SIGKILL)
        run.answers["after a death"] = ask("who")
        with pytest.raises(InputError) as caught:
            ask(("fail", 1))
        run.failure = str(caught.value)
        run.answers["after a failure"] = ask("who")


def _descendants(pid):
    """All processes that a process has started, itself among them."""
    parents = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _listened_at(pids):
    """Addresses of this machine at which processes listen for TCP connections, as the kernel lists them (proc(5))."""
    sockets = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            with contextlib.suppress(OSError):
                sockets.add(str(link.readlink()))
    found = set()
    for file, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{file}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:  # it listens
                raw = bytes.fromhex(words[1].partition(":")[0])
                swapped = b"".join(raw[k : k + 4][::-1] for k in range(0, len(raw), 4))  # words of 4 bytes
                found.add(socket.inet_ntop(family, swapped).removeprefix("::ffff:"))
    return found


# ------------------------------------------------------------------------------------------------------ its work


def test_each_shard_is_done_once_though_a_worker_is_killed(shards, ray_run):
    rows = {(result.shard.video.video_id, result.shard.number): result.rows for result in ray_run.results}
    assert len(ray_run.results) == len(rows)
    assert set(rows) == set(shards[1])
    for key, expected in shards[1].items():
        np.testing.assert_allclose(rows[key], expected, atol=1e-6)
    assert ray_run.killed != os.getpid()
    assert not Path(f"/proc/{ray_run.killed}").exists()


def test_workers_find_what_one_process_finds(drawn_once, ray_run):
    index = Index(drawn_once(5))
    assert ray_run.searched == IndexSearcher(index, EXACT).find(sentences_near(index, 5, seed=3))


def test_a_worker_that_is_killed_begins_again(ray_run):
    before, after = ray_run.answers["before"], ray_run.answers["after a death"]
    assert [part for part, _ in before] == [0, 1]
    assert after[0] == before[0]
    assert after[1][0] == 1
    assert after[1][1] != before[1][1]


def test_what_fails_in_a_worker_is_one_line(ray_run):
    assert "\n" not in ray_run.failure
    assert "a worker of the cluster failed: second line" in ray_run.failure
    assert [part for part, _ in ray_run.answers["after a failure"]] == [0, 1]  # it still answers


def test_more_workers_than_cores_are_refused(ray_run):
    assert ray_run.too_many == "got 3 workers, expected up to 2: the cores of the cluster"


# --------------------------------------------------------------------------------------------- who can reach it


def test_it_listens_on_no_interface_but_loopback(ray_run):
    assert ray_run.addresses == {"127.0.0.1"}


def test_it_answers_nobody_without_its_token(ray_run):
    assert "AuthenticationError" in ray_run.stranger


def test_its_token_is_in_no_file_and_no_command(ray_run, ray_here):
    """Processes of other users see neither; the environment of a process is its user's own (proc(5))."""
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
    assert os.environ["RAY_AUTH_TOKEN"] not in ray_run.commands
    assert "gcs_server" in ray_run.commands
    assert not (ray_here / ".ray").exists()


def test_its_files_are_in_a_folder_of_its_user_and_go_with_it(ray_run):
    """Ray opens its folders to everybody, and they hold the sockets of its processes."""
    assert 0o700 in ray_run.modes
    assert not ray_run.folder.parent.parent.exists()
