"""Change one operator, constant, condition or result at a time, and count the changes that a test notices.

python tools/mutate.py [--n 150] [--seed 0] [--below evaluation baselines base/boundary] [--out mutants.jsonl]

A mutant is one change in one module. Its tests are those of the test files that import the module, of the test folder
of its package, and of those that import its package, nearest first, and the examples of its docstrings: first the
quick tests, then those marked slow. The first failure ends them. A mutant that survives is a line that no test holds,
or a change without effect.
The same seed gives the same mutants as long as the modules stay the same. The tests run in a copy of the tree, one
process a mutant.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis")
BATCHES = (6, 12, 18)
"""Test files of a mutant that are collected together: most mutants are killed by the nearest."""
STAGES = ("not slow and not thorough", "slow and not thorough")
"""Marks of the tests of a mutant, cheapest first."""
PRELOADED = (
    *("numpy", "pytest", "hypothesis", "jsonschema", "msgspec", "click", "requests", "starlette.applications"),
    *("scipy.stats", "filelock", "jinja2", "tabulate", "tqdm", "threadpoolctl", "httpx"),
)
"""What tests import and no mutant changes: loaded once, before processes fork. Nothing that starts threads."""

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
KINDS = ("compare", "arithmetic", "constant", "return", "condition")


@dataclass(frozen=True)
class Mutant:
    """One change: the module, the place in its text, and the text before and after."""

    module: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str


def changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.AST]]:
    """Yield the kind of each change of a node, the node that is replaced, and what replaces it."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        other = copy.deepcopy(node)
        other.ops[0] = COMPARISONS[type(node.ops[0])]()
        yield "compare", node, other
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _is_text(node):
        yield "arithmetic", node, ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", node, ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "constant", node, ast.Constant(node.value + 1)
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "return", node, ast.Return(ast.Constant(None))
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "condition", node, ast.BoolOp(other_op, node.values)
    elif isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(node.test, ast.Compare | ast.Constant):
        yield "condition", node.test, ast.UnaryOp(ast.Not(), node.test)


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(of, ast.JoinedStr) or _is_string(of) for of in (node.left, node.right))


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def code_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree that run: no annotation, no message of an error, no assertion."""
    yield node
    for name, value in ast.iter_fields(node):
        skipped = name in {"annotation", "returns", "decorator_list", "type_comment", "type_params"}
        if skipped or (isinstance(value, ast.AST) and isinstance(value, ast.JoinedStr)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_out(child):
                yield from code_nodes(child)


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return True
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def mutants_of(path: Path, root: Path) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in code_nodes(ast.parse(data)):
        for kind, old, new in changes(node):
            assert old.end_lineno is not None and old.end_col_offset is not None  # noqa: S101, PT018 - it was parsed
            start = starts[old.lineno - 1] + old.col_offset
            end = starts[old.end_lineno - 1] + old.end_col_offset
            text = ast.unparse(ast.fix_missing_locations(new))
            after = text if isinstance(old, ast.stmt) else f"({text})"
            module = path.relative_to(root).as_posix()
            yield Mutant(module, old.lineno, kind, start, end, data[start:end].decode(), after)


def sampled(root: Path, below: list[str], n: int, seed: int) -> list[Mutant]:
    """Draw mutants: each kind equally often, as far as there are so many."""
    package = root / "src" / "truemoment"
    paths = sorted(path for folder in below for path in (package / folder).rglob("*.py"))
    by_kind: dict[str, list[Mutant]] = {kind: [] for kind in KINDS}
    for path in paths:
        for mutant in mutants_of(path, root):
            by_kind[mutant.kind].append(mutant)
    draw = random.Random(seed)  # noqa: S311 - nothing here is secret
    for of in by_kind.values():
        draw.shuffle(of)
    turns = (of[turn] for turn in range(n) for of in by_kind.values() if turn < len(of))
    return [mutant for mutant, _ in zip(turns, range(n), strict=False)]


def imported(path: Path) -> set[str]:
    """Return what of the package a test file imports, also inside functions, and the modules that it patches."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {of.name for of in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{of.name}" for of in node.names}
    return {name for name in names if name.startswith("truemoment")}


def tests_of(mutant: Mutant, root: Path, imports: dict[Path, set[str]]) -> list[str]:
    """Return the test files of a mutant's module, nearest first, and the module for its examples."""
    name = mutant.module.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    package, stem = name.rpartition(".")[0], name.rpartition(".")[2]
    named = [path for path in imports if stem in path.stem]
    direct = [path for path, names in imports.items() if name in names]
    at_home = [path for path in imports if path.parent.name == package.rpartition(".")[2]]
    beside = [path for path, names in imports.items() if package in names]
    rooms = {path.parent for path in (*named, *direct)}
    others = [path for path in imports if path.parent in rooms]

    def rank(path: Path) -> tuple[bool, int, str]:
        return (path.parent.name not in name.split("."), path.stat().st_size, str(path))

    kinds = (named, direct, at_home, beside, others)
    ordered = dict.fromkeys(path for paths in kinds for path in sorted(paths, key=rank))
    near = [mutant.module, *(path.relative_to(root).as_posix() for path in ordered)]
    return near[: sum(BATCHES)]


def survives(mutant: Mutant, folder: Path, tests: list[str], cpu_s: int) -> tuple[str, float, str]:
    """Run the tests of a mutant stage by stage; return how they ended, the processor time, and the test that failed."""
    used = 0.0
    for marks in STAGES:
        outcome, seconds, failed = _run(mutant, folder, tests, marks, cpu_s)
        used += seconds
        if outcome != "survived":
            break
    return outcome, used, failed


def _run(mutant: Mutant, folder: Path, tests: list[str], marks: str, cpu_s: int) -> tuple[str, float, str]:
    path = folder / mutant.module
    whole = path.read_bytes()
    path.write_bytes(whole[: mutant.start] + mutant.after.encode() + whole[mutant.end :])
    out = folder / "output.txt"
    try:
        child = os.fork()
        if child == 0:
            _be_child(folder, tests, marks, out, cpu_s)
        began = time.monotonic()
        while (done := os.wait4(child, os.WNOHANG))[0] == 0:
            if time.monotonic() - began > 6 * cpu_s:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
    finally:
        path.write_bytes(whole)
    used = done[2].ru_utime + done[2].ru_stime
    status = os.waitstatus_to_exitcode(done[1])
    text = out.read_text("utf-8", errors="replace")
    failed = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if status == 0:
        return "survived", used, ""
    if status in {-signal.SIGXCPU, -signal.SIGKILL}:
        return ("killed" if used < 0.9 * cpu_s else "time"), used, ""
    return "killed", used, failed[0][:160] if failed else text[-160:]


def _be_child(folder: Path, tests: list[str], marks: str, out: Path, cpu_s: int) -> None:
    """Run tests in this process, and end it."""
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
        number = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(number, 1)
        os.dup2(number, 2)
        os.chdir(folder)
        sys.path.insert(0, str(folder / "src"))
        os.environ["PYTHONPATH"] = str(folder / "src")
        sys.dont_write_bytecode = True
        import pytest

        options = [
            "-x",
            "-q",
            "-m",
            marks,
            "-p",
            "no:cacheprovider",
            "--tb=line",
            "-p",
            "no:xdist",
        ]
        options += ["--override-ini=addopts=--import-mode=importlib --doctest-modules"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        options += [f"--basetemp={folder / 'tmp'}"]
        at = 0
        for size in BATCHES:
            files, at = tests[at : at + size], at + size
            if files and (status := int(pytest.main([*options, *files]))) not in {0, 5}:
                os._exit(status)
        os._exit(0)
    except BaseException as error:
        print(repr(error), flush=True)
        os._exit(99)


def main() -> None:
    """Draw mutants, run their tests, and print how many were killed."""
    arguments = argparse.ArgumentParser(prog="python tools/mutate.py")
    arguments.add_argument("--n", type=int, default=150, help="mutants")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--below", nargs="+", default=["evaluation", "baselines", "base/boundary"])
    arguments.add_argument("--root", type=Path, default=ROOT, help="tree that is mutated (in a copy)")
    arguments.add_argument("--cpu", type=int, default=40, help="processor seconds for a stage of a mutant")
    arguments.add_argument("--out", type=Path, default=Path("mutants.jsonl"), help="a line a mutant; resumed")
    given = arguments.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            __import__(name)
    root = given.root.resolve()
    lines = given.out.read_text("utf-8").splitlines() if given.out.exists() else []
    counts = Counter(json.loads(line)["outcome"] for line in lines)
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary, given.out.open("a", encoding="utf-8") as out:
        folder = Path(temporary) / "tree"
        shutil.copytree(root, folder, ignore=LEFT_OUT, symlinks=True)
        imports = {path: imported(path) for path in sorted((folder / "tests").rglob("test_*.py"))}
        for number, mutant in enumerate(sampled(root, given.below, given.n, given.seed)):
            if number < len(lines):
                continue
            tests = tests_of(mutant, folder, imports)
            outcome, seconds, failed = survives(mutant, folder, tests, given.cpu)
            counts[outcome] += 1
            line = asdict(mutant) | {
                "outcome": outcome,
                "cpu_s": round(seconds, 1),
                "failed": failed,
                "tests": len(tests),
            }
            out.write(json.dumps(line) + "\n")
            out.flush()
            print(
                number,
                outcome,
                f"{seconds:.0f} s",
                mutant.module,
                mutant.line,
                mutant.kind,
                mutant.after[:60],
                flush=True,
            )
    print(f"{counts.total()} mutants: {dict(counts)}; killed {counts['killed'] / max(1, counts.total()):.1%}")


if __name__ == "__main__":
    main()
