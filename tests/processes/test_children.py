"""Processes that are started in a folder of a stranger import none of its modules."""

import importlib.util
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.hostile.modules import plant_modules

import truemoment.__main__ as program
from truemoment.base.boundary.processes import SAFE_PATH, own_imports_only, run_apart
from truemoment.base.errors import TrueMomentError, UsageError

from ..thorough import quick_are

TRUEMOMENT = Path(sys.executable).with_name("truemoment")

POOL = """
import os
from truemoment.base.boundary.processes import RestartingPool, end_with_parent, processes

if __name__ == "__main__":
    with processes(2, end_with_parent) as pool:
        assert list(pool.map(abs, [-1, -2])) == [1, 2]
    pool = RestartingPool(1, end_with_parent)
    assert pool.submit(abs, -3).result() == 3
    pool.close()
    assert "PYTHONSAFEPATH" not in os.environ  # a program that uses TrueMoment starts its own processes as before
"""

UNGUARDED = """
from truemoment.base.boundary.processes import RestartingPool, end_with_parent, processes

print("begun", __file__, flush=True)
with processes(2, end_with_parent) as pool:
    assert list(pool.map(abs, [-1, -2])) == [1, 2]
pool = RestartingPool(1, end_with_parent)
assert pool.submit(abs, -3).result() == 3
pool.close()
assert __spec__ is None and __file__.endswith("mine.py")
"""

CLUSTER = """
from truemoment.base.boundary.distribution import JobRunner, begin_worker, by_ray

if __name__ == "__main__":
    work = JobRunner(do=abs, begin=begin_worker, given_up=lambda *_: None, needs="nothing")
    assert sorted(by_ray(iter([-1, -2]), work, 1)) == [1, 2]
"""


@pytest.fixture(name="foreign")
def foreign_fixture(tmp_path):
    """A folder of a stranger, and the file that is there when one of its modules was imported."""
    folder, pwned = tmp_path / "foreign", tmp_path / "pwned"
    plant_modules(folder, pwned)
    return folder, pwned


def run(words, folder, **more):
    """Run a program in a folder, without variables that say where modules are."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", SAFE_PATH)} | more
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("script", quick_are(["pool"], {"pool": POOL, "ray": CLUSTER}))
def test_a_program_that_uses_the_package(foreign, tmp_path, script):
    if script is CLUSTER and importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    folder, pwned = foreign
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "mine.py").write_text(script)
    done = run([sys.executable, tmp_path / "scripts" / "mine.py"], folder)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not pwned.exists(), pwned.read_text()


@pytest.mark.slow
def test_a_script_without_a_guard_runs_once(tmp_path):
    """``multiprocessing`` imports the main program in each process; Python's guard against it is easily forgotten."""
    (tmp_path / "mine.py").write_text(UNGUARDED)
    done = run([sys.executable, tmp_path / "mine.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("begun") == 1


@pytest.mark.thorough
def test_a_server_with_a_worker(foreign, films):
    """Pages start processes that read videos."""
    folder, pwned = foreign
    words = ["search", "page", films / "a.mp4", "--model", "scenes", "--no-open", "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", SAFE_PATH)}
    with subprocess.Popen(
        [TRUEMOMENT, *words], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        link = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        assert urlopen(link.split("#")[0]).status == 200  # noqa: S310 - our own server
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0, server.stderr.read()
    assert not pwned.exists(), pwned.read_text()


def test_the_variable_is_as_before_afterwards(monkeypatch):
    for before in (None, "", "0"):
        monkeypatch.delenv(SAFE_PATH, raising=False)
        if before is not None:
            monkeypatch.setenv(SAFE_PATH, before)
        with own_imports_only(), own_imports_only():
            assert os.environ[SAFE_PATH] == "1"
        assert os.environ.get(SAFE_PATH) == before


def test_the_current_folder_leaves_the_path_of_python_m(monkeypatch, tmp_path):
    """``python -m`` puts it first; the folder in which the package itself was found stays."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), "/elsewhere"])
    program.leave_current_folder_out()
    assert sys.path == ["/elsewhere"]
    home = str(Path(program.truemoment.__path__[0]).parent)
    monkeypatch.setattr(sys, "path", [home, "/elsewhere"])
    program.leave_current_folder_out()
    assert sys.path == [home, "/elsewhere"]


def work_apart(kind, say):
    """Work of the tests of run_apart."""
    say("begun")
    if kind == "refused":
        raise UsageError("which annotations?")
    if kind == "broken":
        raise ValueError("7")
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    while kind == "endless":
        time.sleep(0.1)
    return os.getpid()


@pytest.fixture(name="importable")
def importable_fixture(monkeypatch):
    """The process that is started imports this file, however the tests were started."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))


@pytest.mark.usefixtures("importable")
def test_work_apart_returns_says_and_is_refused_in_words():
    said = []
    assert run_apart(work_apart, "well", on_status=said.append, check=lambda: None) != os.getpid()
    assert said == ["begun"]
    for kind, words in (
        ("refused", "which annotations"),
        ("broken", "a bug of ours: ValueError: 7"),
        ("killed", "ended"),
    ):
        with pytest.raises(TrueMomentError, match=words):
            run_apart(work_apart, kind, on_status=said.append, check=lambda: None)


@pytest.mark.usefixtures("importable")
def test_work_apart_ends_when_it_is_cancelled():
    said = []

    def check():
        if said:
            raise KeyError("cancelled")

    children = set(multiprocessing.active_children())
    with pytest.raises(KeyError, match="cancelled"):
        run_apart(work_apart, "endless", on_status=said.append, check=check)
    assert set(multiprocessing.active_children()) == children
