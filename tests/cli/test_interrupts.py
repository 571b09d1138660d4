"""Ctrl-C at any moment of a start: one line, status 130, no traceback and no crash."""

import os
import subprocess
import sys

import pytest

from truemoment.cli import interrupts, run
from truemoment.cli.group import cli

from ..thorough import quick_are

pytestmark = [pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them"), pytest.mark.slow]

LINE = "truemoment: interrupted; nothing half-written remains\n"

START = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's "&" hands down that it is ignored
"""

AT_AN_IMPORT = """
class Interrupt:
    left = int(sys.argv.pop(1))

    def find_spec(self, *_):
        Interrupt.left -= 1
        if Interrupt.left == 0:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from truemoment.cli import main
main(sys.argv[1:])
"""

# Imports at which the signal comes, of those that the start of a command makes. Before the sixth there are the package,
# its base, its version and the entry point, which import nothing else. PyTorch crashes where its import raises an
# interrupt.
MOMENTS = {
    "--help": [6, 30],
    "evaluate": [20, 60, 200],
    "audit": [90, 240],
    "index": [300, 1200],
}


def python(code, *words):
    """Run code whose output waits in a buffer, as it does in a pipe."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    words = [sys.executable, "-c", START + code, *map(str, words)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=env)
    return done.returncode, done.stdout, done.stderr


QUICK_MOMENTS = {"--help 6", "evaluate 60", "audit 240", "index 1200"}


@pytest.mark.parametrize(
    "start", quick_are(QUICK_MOMENTS, [f"{of} {at}" for of, moments in MOMENTS.items() for at in moments])
)
def test_during_the_start_of_a_command(annotations, predictions, tmp_path, start):
    verb, moment = start.split()
    if verb == "index":
        pytest.importorskip("transformers")
    words = {
        "--help": [],
        "evaluate": [predictions, "--annotations", annotations, "--split", "test"],
        "audit": [predictions, "--annotations", annotations, "--split", "test", "--html", tmp_path / "page.html"],
        "index": [predictions, "--model", "scenes", "-o", tmp_path / "an.index"],
    }[verb]
    assert python(AT_AN_IMPORT, moment, verb, *words) == (130, "", LINE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.jsonl", "preds.jsonl"]


def test_during_the_work():
    code = """
import time
from truemoment.cli import main
from truemoment.cli.group import cli
cli.invoke = lambda _: (os.kill(os.getpid(), signal.SIGINT), time.sleep(10))
main(sys.argv[1:])
"""
    assert python(code, "measures", "list") == (130, "", LINE)


def test_nothing_is_imported_before_it_is_handled():
    code = "before = set(sys.modules)\nimport truemoment.cli\nprint(*sorted(set(sys.modules) - before))"
    ours = ["truemoment", "truemoment.base", "truemoment.base.version", "truemoment.cli"]
    assert python(code)[1].split() == ["__future__", *ours]


def test_where_a_file_is_being_written_it_waits_for_the_import(tmp_path):
    (tmp_path / "slow.py").write_text("os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(0.05)\nis_whole = True\n")
    code = """
import builtins, time
from pathlib import Path
builtins.os, builtins.signal, builtins.time = os, signal, time
from truemoment.cli.interrupts import handle_interrupts
from truemoment.base.boundary.files import atomic_write
from truemoment.base.boundary.inputs import command_inputs
sys.path.insert(0, sys.argv[1])
handle_interrupts()
try:
    with command_inputs(), atomic_write(Path(sys.argv[1]) / "half"):
        import slow
        time.sleep(10)
except KeyboardInterrupt:
    print(slow.is_whole, [name for name in os.listdir(sys.argv[1]) if "slow" not in name and "cache" not in name])
"""
    assert python(code, tmp_path) == (130, "True []\n", "")


def test_where_python_can_only_ignore_it_it_comes_again():
    code = """
import time
from truemoment.cli.interrupts import handle_interrupts
class Ends:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
handle_interrupts()
try:
    Ends()
    time.sleep(10)
except KeyboardInterrupt:
    print("came")
"""
    assert python(code) == (130, "came\n", "")


def test_after_the_work_it_changes_nothing():
    code = """
import atexit
from truemoment.cli import main
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
main(["--version"])
"""
    status, out, err = python(code)
    assert (status, out.split()[0], err) == (0, "truemoment", "")


def test_where_it_is_ignored_it_stays_so():
    code = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
from truemoment.cli.interrupts import end_at_once, handle_interrupts
handle_interrupts()
end_at_once(0)
print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)
"""
    assert python(code) == (0, "True\n", "")


@pytest.mark.parametrize("error", [ImportError("numpy.core failed"), SystemError("no exception set"), OSError(4, "x")])
def test_an_error_that_comes_of_an_interrupt_is_the_interrupt(capfd, monkeypatch, error):
    def fail(*_):
        monkeypatch.setattr(interrupts._Process, "interrupted", True)
        raise error

    monkeypatch.setattr(cli, "invoke", fail)
    assert run(["measures", "list"]) == 130
    assert capfd.readouterr() == ("", LINE)


def test_what_fails_after_the_work_is_not_shown():
    # Where memory ends, a callback of PyTorch wrote its traceback behind the line of the error.
    code = """
import atexit
from truemoment.cli import main
atexit.register(lambda: 1 / 0)
main(["--version"])
"""
    status, out, err = python(code)
    assert (status, out.split()[0], err) == (0, "truemoment", "")
