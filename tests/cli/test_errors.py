"""What goes wrong: the exit status, and one line on standard error that says what and what was expected."""

import ast
import errno
import importlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import truemoment.cli.group
from truemoment.base.boundary.text import short_line
from truemoment.base.errors import UsageError
from truemoment.cli import run
from truemoment.cli.running import EXTRAS
from truemoment.data.datasets import NO_DATA_FOLDER
from truemoment.evaluation.measures import FAMILIES
from truemoment.evaluation.protocols import CONVENTION_FIELDS, PROTOCOLS

FORMATS = (
    "native, moment-detr, results-by-video, csv, json, parquet, unitime, cone, ego4d-nlq, tvr, videomind, time-r1, "
    "timechat, timelens, lmms-eval, vlmevalkit, vtimellm, next-gqa, et-bench, momentseeker, answers, "
    "activitynet-challenge, fiftyone"
)


UNKNOWN = "unknown dataset 'x', expected one that 'truemoment datasets list' shows"


class TestUsage:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--protocol", "mine"], f"unknown protocol 'mine', expected one of {', '.join(PROTOCOLS)}"),
            (
                ["--protocol", "default,a=b"],
                f"protocol 'default,a=b': got the key 'a', expected one of {', '.join(CONVENTION_FIELDS)}",
            ),
            (["--protocol", "default,top=x"], "top: got 'x', expected a whole number or none"),
            (["--protocol", "default,top"], "protocol 'default,top': got 'top', expected KEY=VALUE"),
            (["--measures", "xyz"], f"'xyz': unknown measure xyz, expected one of {', '.join(FAMILIES)}"),
            (["--measures", "mIoU; R@1"], "'R@1': option IoU is missing, expected IoU=...; did you mean R@1,IoU=0.5?"),
            (["--measures", " ; "], "' ; ': got no measure, expected some separated by ';'"),
            (["--format", "xml"], f"unknown format 'xml', expected one of {FORMATS}"),
            (["--measures", "HIT@1,min=Good"], "HL-mAP and HIT@1 need clip ratings, and the annotations have none"),
        ],
    )
    def test_of_evaluate(self, evaluate_fails, options, said):
        assert evaluate_fails(*options) == short_line(said)

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            (["--nope"], "--nope"),
            (["--figures", ""], "--figures"),  # of a variable that is not set: it was the current folder
            (["extra"], "extra"),
            (["--resamples", "1"], "--resamples"),
            (["--resamples", "x"], "--resamples"),
            (["--seed", "-1"], "--seed"),
            (["--seed", "1000000000"], "--seed"),
            (["--table", "html"], "'md', 'latex'"),
            (["--on-unknown", "x"], "'refuse', 'ignore'"),
            (["--on-negative", "x"], "'refuse', 'clip'"),
            (["--json"], "--json"),
        ],
    )
    def test_what_the_parser_of_options_says(self, evaluate_fails, options, named):
        # Its words are click's and change with its version; what is at fault and where to look must stand there.
        said = evaluate_fails(*options)
        assert named in said
        assert said.endswith("--help)")

    def test_a_split_that_the_file_lacks(self, evaluate_fails, annotations):
        assert (
            evaluate_fails("--split", "dev")
            == f"{annotations}: has no queries of split 'dev'; expected one of test, train"
        )

    @pytest.mark.parametrize(
        ("words", "named", "see"),
        [
            (["xyz"], "'xyz'", "truemoment"),
            (["--nope"], "--nope", "truemoment"),
            (["evaluate"], "PREDICTIONS", "truemoment evaluate"),
            (["datasets", "xyz"], "'xyz'", "truemoment datasets"),
            (["datasets", "info"], "NAME", "truemoment datasets info"),
            (["protocols", "show"], "NAME", "truemoment protocols show"),
            (["measures", "list", "xyz"], "xyz", "truemoment measures list"),
        ],
    )
    def test_what_the_parser_of_words_says(self, fails, words, named, see):
        said = fails(2, *words)
        assert named in said
        assert said.endswith(f"(see {see} --help)")

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["protocols", "show", "x"], f"unknown protocol 'x', expected one of {', '.join(PROTOCOLS)}"),
            (["datasets", "info", "x"], UNKNOWN),
            (["datasets", "check", "x"], UNKNOWN),
            (["datasets", "fetch", "x"], UNKNOWN),
        ],
    )
    def test_unknown_names(self, fails, words, said):
        assert fails(2, *words) == said

    @pytest.mark.parametrize("words", [[], ["datasets"], ["protocols"], ["measures"]])
    def test_a_group_alone_shows_its_help_laid_out(self, call, words):
        # The help folded into one line is no answer.
        status, out, err = call(*words)
        assert status in (0, 2)
        assert any(line.startswith(("Usage: ", "usage: ")) for line in (out + err).splitlines())
        assert {"Commands:", "Measure and compare models:"} & set((out + err).splitlines())


class TestWhichAnnotations:
    WHICH = "which annotations? give --dataset NAME with --split NAME, or --annotations FILE"

    def test_none(self, fails, predictions):
        assert fails(2, "evaluate", predictions) == self.WHICH

    def test_both(self, evaluate_fails):
        said = evaluate_fails("--dataset", "tacos", "--split", "val")
        assert said == "got --dataset and --annotations, expected one of them"

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--dataset", "tacos"], "which split? give --split NAME; tacos has train, val, test"),
            (["--dataset", "x", "--split", "y"], UNKNOWN),
            (["--dataset", "tacos", "--split", "x"], "tacos has no split 'x', expected one of train, val, test"),
            (
                ["--dataset", "tacos", "--split", "val"],
                NO_DATA_FOLDER,
            ),
            (
                ["--dataset", "tacos", "--split", "val", "--data-dir", "/no/such"],
                "/no/such is not a folder, expected a folder with one folder per dataset",
            ),
        ],
    )
    def test_of_a_dataset(self, fails, predictions, options, said):
        assert fails(2, "evaluate", predictions, *options) == said

    def test_a_data_folder_without_the_dataset(self, fails, predictions, tmp_path):
        said = fails(2, "evaluate", predictions, "--dataset", "tacos", "--split", "val", "--data-dir", tmp_path)
        assert said == (
            f"tacos: {tmp_path}/tacos (no such folder) is missing, expected val.json; "
            "'truemoment datasets fetch tacos' downloads it or prints the steps"
        )

    def test_the_variable_is_heeded(self, fails, predictions, tmp_path, monkeypatch):
        monkeypatch.setenv("TRUEMOMENT_DATA", str(tmp_path))
        said = fails(2, "evaluate", predictions, "--dataset", "tacos", "--split", "val")
        assert said.startswith(f"tacos: {tmp_path}/tacos (no such folder) is missing")


class TestFiles:
    def test_missing(self, fails, annotations, predictions, tmp_path):
        none = tmp_path / "none.jsonl"
        assert fails(2, "evaluate", none, "--annotations", annotations) == f"{none}: no such file"
        assert fails(2, "evaluate", predictions, "--annotations", none) == f"{none}: no such file"

    def test_folders(self, fails, annotations, predictions, tmp_path):
        said = f"{tmp_path}: is a folder, expected a file"
        assert fails(2, "evaluate", tmp_path, "--annotations", annotations) == said
        assert fails(2, "evaluate", predictions, "--annotations", tmp_path) == said

    def test_malformed(self, fails, annotations, tmp_path):
        path = tmp_path / "p.jsonl"
        path.write_text('{"query_id": "v#0", "moments": [["1", 2]]}\n')
        assert fails(2, "evaluate", path, "--annotations", annotations) == (
            f"{path}:1: field moments[0][0]: got text, expected a number"
        )

    def test_mistakes_in_options_are_told_before_files_are_read(self, fails):
        said = fails(2, "evaluate", "/no/such", "--annotations", "/no/such", "--measures", "xyz")
        assert said.startswith("'xyz': unknown measure")

    @pytest.mark.parametrize("option", ["--json", "--save-scores"])
    def test_nowhere_to_write(self, evaluate, tmp_path, option):
        status, _, err = evaluate(option, tmp_path / "none" / "x")
        assert status == 2
        assert err.startswith(f"truemoment: {tmp_path}/none/x: cannot be written, {tmp_path}/none is no folder")
        status, _, err = evaluate(option, tmp_path)
        assert status == 2
        assert err == f"truemoment: {option} {tmp_path}: is a folder, expected a file\n"

    def test_odd_letters_in_a_name_stay_on_one_line(self, fails, annotations):
        said = fails(2, "evaluate", "/no/such\nfile\x1b[31m\r", "--annotations", annotations)
        assert said.endswith(": no such file")
        assert "\x1b" not in said


class TestInterruption:
    @pytest.fixture
    def interrupted(self, monkeypatch):
        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("truemoment.data.formats.prediction_files.read_predictions", interrupt)

    @pytest.mark.usefixtures("interrupted")
    def test_status_130(self, evaluate):
        status, out, err = evaluate()
        assert (status, out) == (130, "")
        # The line end that a terminal needs behind ^C may come first.
        assert err.lstrip("\n") == "truemoment: interrupted; nothing half-written remains\n"


class TestBugs:
    @pytest.fixture
    def broken(self, monkeypatch):
        def fail(*_, **__):
            raise ZeroDivisionError("first\nsecond \x1b[31m")

        monkeypatch.setattr("truemoment.studies.evaluate.run.measure", fail)

    @pytest.mark.usefixtures("broken")
    def test_status_3_and_one_line(self, evaluate):
        status, out, err = evaluate()
        assert (status, out) == (3, "")
        assert err == "truemoment: a bug of ours: ZeroDivisionError: first second \\x1b[31m (--debug shows where)\n"

    @pytest.mark.usefixtures("broken")
    def test_debug_shows_where(self, annotations, predictions, capfd):
        words = ["evaluate", str(predictions), "--annotations", str(annotations)]
        assert run(words, debug=True) == 3
        err = capfd.readouterr().err
        assert err.startswith("Traceback (most recent call last):\n")
        assert "ZeroDivisionError: first" in err
        assert err.splitlines()[-1].startswith("truemoment: a bug of ours: ZeroDivisionError: first second")

    def test_debug_shows_where_an_error_of_the_user_arose(self, capfd):
        assert run(["protocols", "show", "x"], debug=True) == 2
        err = capfd.readouterr().err
        assert err.startswith("Traceback (most recent call last):\n")
        assert err.splitlines()[-1].startswith("truemoment: unknown protocol 'x'")

    def test_our_errors_are_no_bugs(self, evaluate, monkeypatch):
        def refuse(*_, **__):
            raise UsageError("two\nlines")

        monkeypatch.setattr("truemoment.studies.evaluate.run.measure", refuse)
        assert evaluate() == (2, "", "truemoment: two lines\n")

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
    def test_a_full_disk_is_no_bug_of_ours(self, evaluate, tmp_path, monkeypatch, number):
        def full(*_, **__):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr("truemoment.base.boundary.own_path.os.replace", full)
        status, _, err = evaluate("--json", tmp_path / "report.json", "--quiet")
        assert status == 2
        assert err == f"truemoment: {tmp_path}/report.json: cannot be written ({os.strerror(number)})\n"


NO_MEMORY = "there is not enough memory for this; end other programs, or process less at a time"
NOT_LOADED = "a package cannot be loaded, or fails ({}); is it whole, and is there enough memory?"


MAPPED = ImportError("libx.so: failed to map segment", name="_C", path="/x/_C.so")
OF_C = SystemError("error return without exception set")
TOO_MANY = os.strerror(errno.EMFILE)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), NO_MEMORY),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried ..."), NO_MEMORY),  # PyTorch's
        (RuntimeError("can't start new thread"), NO_MEMORY),  # Python's
        (RuntimeError("could not create a primitive"), NO_MEMORY),  # oneDNN, in PyTorch
        (MAPPED, NOT_LOADED.format(MAPPED)),
        (OF_C, NOT_LOADED.format(OF_C)),
        (OSError(errno.EMFILE, TOO_MANY, "f.npz"), f"f.npz: {TOO_MANY}; allow more (ulimit -n)"),
        (OSError(errno.EMFILE, TOO_MANY), f"{TOO_MANY}; allow more (ulimit -n)"),
        (
            UnicodeEncodeError("utf-8", "a\udcff", 1, 2, "surrogates not allowed"),
            r"a\xff: is not valid UTF-8; rename the file",
        ),
        (
            ValueError("embedded null byte"),
            "a path in a file contains the character NUL, which no file name can contain",
        ),
    ],
)
def test_what_the_machine_lacks_or_a_name_is_not_is_no_bug_of_ours(fails, monkeypatch, error, said):
    def fail(_):
        raise error

    monkeypatch.setattr(truemoment.cli.group.cli, "invoke", fail)
    assert fails(2, "measures", "list") == said


def test_a_package_that_fails_while_it_is_imported_is_no_bug_of_ours(fails, monkeypatch, tmp_path):
    # PyTorch does for TORCH_LOGS=x.
    (tmp_path / "fails_at_once.py").write_text("def look():\n    raise ValueError('invalid settings')\n\nlook()\n")
    monkeypatch.syspath_prepend(tmp_path)

    def load(_):
        importlib.import_module("fails_at_once")

    monkeypatch.setattr(truemoment.cli.group.cli, "invoke", load)
    told = "a package cannot be loaded (ValueError: invalid settings); is a variable of the environment wrong?"
    assert fails(2, "measures", "list") == told


class PanicException(BaseException):
    """Error of a library in Rust that it cannot handle, as safetensors raises it where memory runs out."""


def test_a_panic_of_a_package_is_one_line(fails, monkeypatch):
    def fail(_):
        raise PanicException("PyObject pointer is null")

    monkeypatch.setattr(truemoment.cli.group.cli, "invoke", fail)
    told = "a package cannot be loaded, or fails (PyObject pointer is null); is it whole, and is there enough memory?"
    assert fails(2, "measures", "list") == told


@pytest.mark.parametrize(
    "error", [RuntimeError("x"), ValueError("x"), ImportError("x", name="truemoment.base.boundary.files")]
)
def test_other_errors_are(fails, monkeypatch, error):
    def fail(_):
        raise error

    monkeypatch.setattr(truemoment.cli.group.cli, "invoke", fail)
    assert fails(3, "measures", "list") == f"a bug of ours: {type(error).__name__}: x (--debug shows where)"


@pytest.mark.parametrize("words", [["evaluate", "a\0b"], ["index", "f.mp4", "--json", "a\0b"], ["search", "a\0b", "x"]])
def test_a_character_nul(fails, words):
    assert fails(2, *words) == r"a\x00b: got a character NUL, expected a path or text"


class TestLength:
    """An error is two lines of a terminal: 240 characters."""

    def test_a_long_value_keeps_file_and_what_to_do(self, fails, annotations, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        path = Path("p.jsonl")
        path.write_text(json.dumps({"query_id": "q" * 5000, "moments": [[1, 2]]}) + "\n")
        said = fails(2, "evaluate", path, "--annotations", annotations, "--split", "test")
        assert len(said) <= 240
        assert said.startswith(f"{path}:1: 1 of 1 rows belong to no query of mine.jsonl/test, the first is query 'qqq")
        assert said.endswith("on-unknown ignore leaves them out")

    def test_a_long_path_keeps_its_ends(self, fails, annotations):
        said = fails(2, "evaluate", f"/no/{'x' * 200}/{'y' * 200}/preds.jsonl", "--annotations", annotations)
        assert len(said) <= 240
        assert said.startswith("/no/xxx")
        assert said.endswith("yyy/preds.jsonl: no such file")


@pytest.mark.parametrize("package", ["torch", "accelerate", "safetensors", "h5py", "yaml"])
def test_a_missing_package_of_models_is_told_with_its_extra(fails, monkeypatch, package):
    def missing(_):
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr(truemoment.cli.group.cli, "invoke", missing)
    assert fails(2, "measures", "list") == f"this needs the package {package}: pip install 'truemoment[models]'"


CORE_NAMES = {"numpy", "msgspec", "click", "tabulate", "tqdm", "pooch", "requests", "lemminflect", "snowballstemmer"}
CORE_NAMES |= {"platformdirs", "threadpoolctl", "matplotlib", "contourpy", "jinja2", "markupsafe", "truemoment"}
"""What the core imports: the dependencies of pyproject.toml, and markupsafe of jinja2."""

OTHERS = {"_typeshed": "for types only", "vosk": "no extra has it", "espeakng_loader": "no extra for users has it"}


def test_every_optional_package_that_is_imported_has_an_extra():
    """`open` and `browse` ended as a bug of ours on a plain installation: h11 was imported and had no extra here."""
    imported = set()
    for path in Path(truemoment.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add((node.module or "").partition(".")[0])
    optional = imported - CORE_NAMES - set(sys.stdlib_module_names) - set(OTHERS)
    assert {"h11", "torch"} < optional
    assert optional - set(EXTRAS) == set()


def test_every_extra_that_is_named_exists():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])


@pytest.fixture
def without(tmp_path):
    """Run a command in a folder of its own, as where a package is not installed: without("h11", "open", ".")."""

    def run(package, *words):
        code = (
            f"import sys; sys.modules[{package!r}] = None; from truemoment.cli import run; sys.exit(run(sys.argv[1:]))"
        )
        words = [sys.executable, "-c", code, *words]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    return run


@pytest.mark.parametrize("words", [["open", "."], ["browse", "a.jsonl", "--annotations", "a.jsonl"]])
def test_a_page_without_a_package_of_pages_names_the_install_line(without, tmp_path, words):
    (tmp_path / "a.jsonl").write_text('{"video_id": "a", "sentence": "b", "moments": [[1, 2]], "duration_s": 9.0}\n')
    assert without("h11", *words) == "truemoment: this needs the package h11: pip install 'truemoment[pages]'\n"


@pytest.mark.parametrize(
    ("option", "package"), [("--search", "torch"), ("--browse", "torch"), ("--collect", "rapidfuzz")]
)
def test_a_demo_without_a_package_is_refused_before_any_work(without, tmp_path, option, package):
    """With the extra `pages` alone, `demo --browse` rendered its videos and then named another extra."""
    said = without(package, "demo", option, "--no-open", "--out", "demo")
    assert f"needs the package {package}: pip install 'truemoment[" in said
    assert not (tmp_path / "demo").exists()


def test_another_missing_package_is_a_bug_of_ours(fails, monkeypatch):
    def missing(_):
        raise ModuleNotFoundError("No module named 'else'", name="else")

    monkeypatch.setattr(truemoment.cli.group.cli, "invoke", missing)
    assert "a bug of ours" in fails(3, "measures", "list")


def test_a_link_that_leads_to_itself_is_no_bug(evaluate, monkeypatch):
    """Python before 3.13 raises a RuntimeError of its own where such a path is made absolute."""

    def follow(*_, **__):
        raise RuntimeError("Symlink loop from '/mine/loop'")

    monkeypatch.setattr("truemoment.studies.evaluate.run.measure", follow)
    assert evaluate() == (2, "", "truemoment: '/mine/loop': is a link that leads to itself\n")
