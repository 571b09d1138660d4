"""The command line as a process of its own: what only a process shows."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from truemoment import __version__
from truemoment.worlds import make_world, write_world

from ..thorough import quick_are

pytestmark = pytest.mark.slow

MODULE = [sys.executable, "-m", "truemoment"]
SCRIPT = Path(sysconfig.get_path("scripts")) / "truemoment"


def run(*words, **options):
    return subprocess.run(
        [*MODULE, *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
        **options,
    )


@pytest.mark.skipif(not SCRIPT.exists(), reason=f"no console script at {SCRIPT}")
def test_the_console_script():
    done = subprocess.run([str(SCRIPT), "--version"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"truemoment {__version__}\n", "")


def test_statuses(annotations, tmp_path):
    refused = run("evaluate", tmp_path / "none", "--annotations", annotations)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"truemoment: {tmp_path / 'none'}: no such file\n"
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"video_id": "v", "sentence": "a", "duration_s": 9, "moments": [[5, 2]]}\n')
    assert run("datasets", "check", bad, "--quiet").returncode == 1


def test_debug_stands_anywhere():
    done = run("protocols", "show", "--debug", "x")
    assert done.returncode == 2
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.splitlines()[-1].startswith("truemoment: unknown protocol 'x'")


def test_nothing_heavy_is_imported_with_the_package():
    # DESIGN.md, __init__.py: importing it loads NumPy and nothing heavier.
    heavy = ["torch", "pandas", "scipy", "matplotlib", "pyarrow", "pooch", "requests", "tabulate", "tqdm", "click"]
    code = f"import sys, truemoment; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_nothing_is_left_in_the_temporary_folder(tmp_path):
    """PyTorch makes a folder there when its compiler is imported, as by transformers, accelerate and its optimisers."""
    code = """
import contextlib
from truemoment import cli
from truemoment.cli import interrupts
interrupts.end_at_once = lambda status: None
with contextlib.suppress(SystemExit):
    cli.main(["--version"])
import torch._dynamo
"""
    environment = {name: value for name, value in os.environ.items() if name != "TORCHINDUCTOR_CACHE_DIR"}
    environment["TMPDIR"] = str(tmp_path)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60, env=environment)
    assert list(tmp_path.iterdir()) == []


def test_no_help_loads_numpy():
    # Importing NumPy takes as long as the rest of `truemoment evaluate --help`.
    code = """
import sys, click
from click.testing import CliRunner
from truemoment.cli.group import cli

def helps(command, *words):
    done = CliRunner().invoke(cli, [*words, "--help"])
    print(*words, done.exit_code, "numpy" in sys.modules)
    context = click.Context(command)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        helps(command.get_command(context, name), *words, name)

helps(cli)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    helps = done.stdout.splitlines()
    assert len(helps) > 50
    assert next((line for line in helps if not line.endswith("0 False")), None) is None


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals as POSIX has them")
class TestPosix:
    @pytest.mark.parametrize("words", [["measures", "list"], ["--help"]])
    def test_a_reader_that_has_gone(self, words):
        # As behind "| head -1": no error, and no status that means something else (1 is a failed check).
        reader, writer = os.pipe()
        os.close(reader)
        with subprocess.Popen([*MODULE, *words], stdout=writer, stderr=subprocess.PIPE, text=True) as process:
            os.close(writer)
            _, err = process.communicate(timeout=60)
        assert err == ""
        assert process.returncode == 0

    @pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
    @pytest.mark.parametrize("options", [[], ["--format", "native"]])
    def test_a_pipe_in_place_of_a_file(self, annotations, predictions, options):
        # "<(zcat preds.jsonl.gz)" can be read only once, and a prediction file is read and hashed.
        words = [*MODULE, "evaluate", "PIPE", "--annotations", str(annotations), "--split", "test", *options]
        line = " ".join(map(shlex.quote, words)).replace("PIPE", f"<(cat {shlex.quote(str(predictions))})")
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith(": is a pipe, expected a file; write its content to a file first\n")
        assert len(done.stderr.splitlines()) == 1

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_nowhere_to_print(self):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*MODULE, "measures", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
            )
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "No space left on device" in done.stderr
        assert "a bug of ours" not in done.stderr

    @pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
    @pytest.mark.parametrize(
        ("verb", "streams"),
        [
            *(("evaluate", streams) for streams in (">&-", "2>&-", "<&- >&- 2>&-")),
            *(pytest.param(verb, "2>&-", marks=pytest.mark.thorough) for verb in ("convert", "audit", "bias")),
        ],
    )
    def test_streams_that_are_closed(self, tmp_path, annotations, predictions, verb, streams):
        # What is opened next gets the number of a stream that is closed; errors of libraries would be written into it.
        own = ["--annotations", str(annotations)]
        words = {
            "evaluate": [str(predictions), *own, "--split", "test", "--json", "out"],
            "convert": [str(predictions), "--to", "csv", "-o", "out"],
            "audit": [str(predictions), *own, "--split", "test", "--permutations", "99", "--json", "out"],
            "bias": [*own, "--permutations", "99", "--json", "out"],
        }[verb]
        line = f"{shlex.join([*MODULE, verb, *words])} {streams}"
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, bool(done.stdout), done.stderr) == (0, " >&-" not in f" {streams}", "")
        assert (tmp_path / "out").read_text().startswith("{" if verb != "convert" else "query_id")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    @pytest.mark.parametrize("words", [["measures", "list"], ["protocols", "show", "x"], []])
    def test_nowhere_to_print_anything(self, words):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([*MODULE, *words], stdout=full, stderr=full, check=False, timeout=60)
        assert done.returncode == 2  # and not 120, Python's own for a stream that it cannot write out

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a limit of memory as Linux has it")
    def test_little_memory(self):
        # A gigabyte of zeros, under a limit of 600 MB in all.
        code = "from truemoment.cli import main\nimport sys, numpy\nfrom truemoment.cli.group import cli\n"
        code += "cli.invoke = lambda _: numpy.ones(2**27)\nmain(['measures', 'list'])"
        line = f"ulimit -v 600000; {shlex.join([sys.executable, '-c', code])}"
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            ["bash", "-c", line], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        told = "truemoment: there is not enough memory for this; end other programs, or process less at a time\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", told)

    @pytest.mark.parametrize("encoding", quick_are(["ascii:strict"], ["utf-8:strict", "ascii:strict"]))
    def test_names_that_are_no_text_where_output_is_strict(self, tmp_path, annotations, predictions, encoding):
        mine, preds = (os.fsencode(tmp_path) + name for name in (b"/mine\xff.jsonl", "/préds".encode() + b"\xff.jsonl"))
        try:
            Path(os.fsdecode(mine)).write_bytes(annotations.read_bytes())
            Path(os.fsdecode(preds)).write_bytes(predictions.read_bytes())
        except OSError:
            pytest.skip("this file system refuses such names")
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        own = [b"--annotations", mine, b"--split", b"test"]
        out = os.fsencode(tmp_path) + b"/out\xff"
        for words in (
            [b"evaluate", preds, *own, b"--json", out + b".json", b"--save-scores", out + b".npz"],
            [b"convert", preds, b"--to", b"native", b"-o", out + b".jsonl", *own],
            [b"baseline", b"uniform", *own, b"-o", out + b".parquet"],
        ):
            done = subprocess.run([*MODULE, *words], env=environment, capture_output=True, check=False, timeout=60)
            assert done.returncode == 0, done.stderr
            assert done.stderr == b""
            assert rb"mine\xff.jsonl" in done.stdout or rb"ds\xff.jsonl" in done.stdout
        missing = subprocess.run(
            [*MODULE, b"evaluate", b"no\xff\xc3\xa9", *own],
            env=environment,
            capture_output=True,
            check=False,
            timeout=60,
        )
        shown = "no\\xffé" if encoding.startswith("utf-8") else r"no\xff\xe9"
        assert (missing.returncode, missing.stderr.decode()) == (2, f"truemoment: {shown}: no such file\n")

    def test_a_name_that_is_no_text(self, tmp_path, annotations, predictions):
        # File names on Linux are bytes; this one is not UTF-8.
        path = os.fsencode(tmp_path) + b"/p\xff.jsonl"
        try:
            Path(os.fsdecode(path)).write_bytes(predictions.read_bytes())
        except OSError:
            pytest.skip("this file system refuses such names")
        words = ["evaluate", os.fsdecode(path), "--annotations", str(annotations), "--split", "test", "--json", "-"]
        done = subprocess.run([*MODULE, *words], capture_output=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.decode("utf-8", "replace"))["match"]["rows"] == 3


def test_json_that_nobody_can_get_is_an_error(annotations, predictions):
    """A program that starts this one may have closed standard output; JSON that was asked for would be lost."""
    words = ["evaluate", predictions, "--annotations", annotations, "--split", "test", "--json", "-"]
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", *MODULE, *map(str, words)]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (2, "truemoment: --json -: standard output is closed\n")


def test_a_current_folder_that_was_removed_is_named(tmp_path):
    words = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", *map(str, [SCRIPT, "bias"])]
    done = subprocess.run(
        [*words, "--annotations", "mine.jsonl"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "truemoment: the current folder was removed; change to another one\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("verb", quick_are(["features"], ["features", "resplit"]))
def test_a_new_folder_is_not_left_where_its_report_cannot_be_printed(tmp_path, verb):
    """The same command would refuse the folder."""
    write_world(make_world(60, seed=1), tmp_path)
    words = {
        "features": ["features", "features.npz", "--annotations", "annotations.jsonl", "--split", "test-ood"],
        "resplit": ["resplit", "--annotations", "annotations.jsonl", "--permutations", "99", "--no-cache"],
    }[verb]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*MODULE, *words, "-o", "new"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=240,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "truemoment: standard output: No space left on device"
    assert not (tmp_path / "new").exists()


def test_docstrings_that_were_removed_are_named():
    code = "from truemoment.media.video.encoders import load_encoder; load_encoder('scenes')"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "PYTHONOPTIMIZE=2 (python -OO) removes the docstrings that transformers reads: unset it" in done.stderr
