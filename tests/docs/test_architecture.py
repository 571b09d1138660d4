"""The package of docs/architecture.md adds one part of each kind, as the page has it."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from truemoment.worlds import make_world, write_world

ROOT = Path(__file__).resolve().parents[2]
FILE = re.compile(
    r"^```\{code-block\} \w+\n:caption: (?P<name>[\w./-]+)\n\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
EXAMPLES = ROOT / "examples" / "annotations.jsonl"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Install the package of the page, as pip does, and give the folder."""
    folder = tmp_path_factory.mktemp("theirs")
    for block in FILE.finditer((ROOT / "docs" / "architecture.md").read_text("utf-8")):
        path = folder / block["name"]
        path.parent.mkdir(exist_ok=True)
        path.write_text(block["body"])
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    about = folder / f"{project['name']}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("".join(groups))
    queries = [json.loads(line)["query_id"] for line in EXAMPLES.read_text().splitlines()]
    spans = (json.dumps({"name": query, "span": [0.0, 5.0]}) + "\n" for query in queries)
    (folder / "mine.jsonl").write_text("".join(spans))
    return folder


QUICKLY = """
import json
import sys
from pathlib import Path
from tests.quick import empty_pictures, quick_networks
from truemoment.cli import run
with quick_networks(Path("quick-networks")), empty_pictures():
    sys.exit(max(map(run, json.loads(sys.argv[1]))))
"""
"""Commands, whose networks of floors are trained for a few steps, and whose figures are saved empty."""


@pytest.fixture
def run(theirs):
    def run(*commands):
        path = {"PYTHONPATH": f"{theirs}:{ROOT / 'src'}:{ROOT}", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-c", QUICKLY, json.dumps(commands)]
        done = subprocess.run(command, cwd=theirs, env=path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_format_a_measure_and_a_protocol(run):
    """By hand: all answers begin at 0 s; The share of moments that begin within two seconds of it."""
    starts = [json.loads(line)["moments"][0][0] for line in EXAMPLES.read_text().splitlines()]
    share = 100 * sum(start <= 2 for start in starts) / len(starts)
    words = ["--annotations", str(EXAMPLES), "--measures", "StartWithin,s=2", "--protocol", "house-rules"]
    found = run(["evaluate", "mine.jsonl", *words])
    assert f"StartWithin,s=2  {share:.2f}" in found
    assert "mine.jsonl: spans (its lines have" in found
    assert "protocol:house-rules|hit:IoU>=m" in found


def test_a_command(run):
    assert re.search(r"^From other packages:\n  lengths +Print the median length", run(["--help"]), re.MULTILINE)
    moments = [json.loads(line)["moments"][0] for line in EXAMPLES.read_text().splitlines()]
    lengths = sorted(end - start for start, end in moments)
    median = (lengths[59] + lengths[60]) / 2
    assert run(["lengths", str(EXAMPLES)]) == f"{median:.1f} s\n"


def test_a_model_trains_and_is_audited_with_a_floor_and_a_check(run, theirs):
    """Its answers need the order of the video: the world has no bias, and on shuffled segments it loses a third."""
    pytest.importorskip("torch", exc_type=ImportError)
    world = make_world(100, location_prior=0.0, query_prior=0.0, perception=1.0, seed=0)
    write_world(world, theirs / "world")
    data = ("--annotations", "world/annotations.jsonl")
    features = ("--features", "world/features.npz")
    measured = ("--measures", "R@1,IoU=0.5", "--resamples", "200", "--permutations", "99", "--full")
    found = run(
        ["train", "two-ends.yaml", *data, *features, "-o", "run"],
        ["audit", "run/test-ood.jsonl", *data, "--split", "test-ood", "--model", "run", *measured],
    )
    assert "model  two-ends, " in found
    changed = re.search(r"R@1,IoU=0.5 changes from ([\d.]+) to ([\d.]+) \(segments shuffled\)", " ".join(found.split()))
    before, after = map(float, changed.groups())
    assert after < 0.7 * before
    assert re.search(r"^Last tenth +\d", found, re.MULTILINE)
    assert "The earliest answer starts at 0.0 s." in found
