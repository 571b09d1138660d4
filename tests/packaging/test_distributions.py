"""The wheel has every file of the package, the sdist what its tests need, lock files what pyproject.toml asks for."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WITHOUT_A_LOCK = {"torch"}
"""requirements/README.md gives the reason."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True)
    return folder


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        about = Parser().parsestr(wheel.read(metadata).decode())
    source = ROOT / "src"
    expected = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    expected = {name for name in expected if "__pycache__" not in name}
    assert {name for name in names if ".dist-info/" not in name} == expected
    kinds = {".csv", ".css", ".j2", ".js", ".json", ".safetensors", ".sql", ".svg", ".toml", ".txt", ".typed", ".yaml"}
    assert kinds <= {Path(name).suffix for name in names}
    assert "truemoment/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "MIT"


@pytest.mark.slow
def test_the_sdist_has_what_its_tests_need(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames()}
    for folder in ("tests", "docs", "examples", "tools", "benchmarks", "requirements", ".ci", ".github"):
        expected = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
        tracked = {name for name in expected if not re.search(r"__pycache__|_build/|_cache/|/\.", name)}
        assert tracked <= names, sorted(tracked - names)[:5]
    assert {"conftest.py", "pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "Dockerfile"} <= names


def needed(extra=None):
    """Return what the core or an extra asks for, with the extras that it contains."""
    texts = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    found = []
    for requirement in map(Requirement, texts):
        parts = requirement.extras if requirement.name == "truemoment" else ()
        found += [inner for part in sorted(parts) for inner in needed(part)] if parts else [requirement]
    return found


def locked(name):
    """Return the version of each package of a lock file; several where markers choose."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert not re.search(r"://|index-url|find-links|^-e", text)  # where packages come from is no fact of ours
    versions = {}
    for line in text.replace("\\\n", "").splitlines():
        if not line.strip() or line.strip().startswith("#"):
            continue
        entry, *hashes = line.split("--hash=sha256:")
        requirement = Requirement(entry.strip())
        (version,) = requirement.specifier
        assert version.operator == "=="
        assert hashes, line
        versions.setdefault(requirement.name.lower(), []).append(version.version)
    return versions


@pytest.mark.parametrize(("name", "extras"), [("core.txt", [None]), ("ci.txt", [None, "dev"])])
def test_lock_files_have_what_the_project_asks_for(name, extras):
    versions = locked(name)
    for requirement in (found for extra in extras for found in needed(extra)):
        if requirement.name not in WITHOUT_A_LOCK:
            pins = versions.get(requirement.name.lower(), [])
            assert pins, f"{requirement.name}: not in requirements/{name}; write it again (requirements/README.md)"
            assert all(requirement.specifier.contains(pin, prereleases=True) for pin in pins), requirement
    assert not [package for package in versions if package.startswith(("nvidia-", "cuda-")) or package == "torch"]


def test_declared_pythons_are_those_that_run():
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    for workflow in ("ci.yml", "release.yml"):
        text = (ROOT / ".github" / "workflows" / workflow).read_text(encoding="utf-8")
        (matrix,) = re.findall(r"python: \[(.*)\]", text)
        assert re.findall(r'"(.*?)"', matrix) == declared
        uses = re.findall(r"uses: (.*)", text)
        assert uses
        assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action) for action in uses), uses
