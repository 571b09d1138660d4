"""Run the commands of a case, reduce what they wrote, and tell how two such outcomes differ."""

import contextlib
import hashlib
import io
import json
import math
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from commands import Case

from inputs import write_inputs
from truemoment.cli import run

HERE = Path(__file__).parent
OLD = HERE / "old"
EXAMPLES = HERE.parents[1] / "examples"

DRAWN = "~drawn"
"""Key of what stands in a golden file for what a seed decides."""

TEXT, TEXTS, UNSTABLE = "~text", "~texts", "~not held"
"""What stands for sentences, for lists of them, and for what no seed decides: paths, times, versions."""

NOTHING = "~nothing"
"""What stands for a key that is not there with every seed."""

SENTENCES = frozenset(
    {"said", "notes", "title", "text", "message", "why", "hint", "headline", "claim", "evidence", "found", "question"}
)
WORDS_OF_A_SENTENCE = 5
NOT_HELD = frozenset({"seconds", "waited", "commit", "hardware", "path", "command"})
HELD_BY_CONTENT = frozenset({".jsonl", ".csv", ".json"})

RELATIVE = 1e-9
"""Figures without draws agree to the last digits, in which processors differ."""


def prepare(folder: Path) -> None:
    """Write all that commands read into a folder."""
    folder.mkdir(parents=True)
    write_inputs(folder)
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    if OLD.is_dir():
        shutil.copytree(OLD, folder / "old")


def outcome(case: Case, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Run a case in a prepared folder, which becomes the working directory, and reduce what comes of it."""
    before = set(_files(folder))
    commands = []
    with contextlib.chdir(folder):
        for words in case.commands:
            Path("found.json").unlink(missing_ok=True)
            commands.append(_run(words.replace("{seed}", str(seed)), exact_files=case.exact_files))
    written = sorted(set(_files(folder)) - before - {"found.json"})
    files = {_named(name): _content(folder / name, exact=case.exact_files) for name in written}
    return {"commands": commands, "files": files}


def _run(words: str, *, exact_files: bool) -> dict[str, Any]:
    """Run one command; of what it prints, help is kept, and the first column of a list."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(shlex.split(words))
    kept: dict[str, Any] = {"status": status}
    if status > 1:
        kept["lines_of_error"] = len(err.getvalue().splitlines())
    if Path("found.json").is_file():
        not_held = NOT_HELD if exact_files else NOT_HELD | {"sha256"}
        kept["json"] = reduced(json.loads(Path("found.json").read_text("utf-8")), not_held)
    elif words.endswith(("--help", "--help-all")):
        kept["text"] = out.getvalue().splitlines()
    elif words.rsplit(maxsplit=1)[-1] in {"list", "--list"} and (names := _first_column(out.getvalue())):
        kept["names"] = names
    return kept


def _first_column(printed: str) -> list[str]:
    """Names in the first column of every table that was printed."""
    names, in_table = [], False
    for line in printed.splitlines():
        if re.fullmatch(r"-+(  +-+)*", line):
            in_table = True
        elif not line.strip():
            in_table = False
        elif in_table and not line.startswith(" "):
            names.append(line.split("  ")[0])
    return [name for name in names if " " not in name]  # the others are words for people


def _files(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _named(name: str) -> str:
    """Return the name of a file without the hash of a temporary path."""
    return re.sub(r"-[0-9a-f]{8}(?=/)", "-HASH", name)


def _content(path: Path, *, exact: bool) -> Any:
    """Return what is held of a file: the hash of its content, its number of lines, or no more than its being there."""
    if path.suffix not in HELD_BY_CONTENT:
        return "there"
    text = path.read_text("utf-8")
    if not exact:
        return {"lines": len(text.splitlines())} if path.suffix != ".json" else "there"
    return {"sha256": hashlib.sha256(_without_last_digits(_without_version(text)).encode()).hexdigest()}


def _without_last_digits(text: str) -> str:
    """Round decimal numbers to six digits: the last ones depend on the processor."""
    return re.sub(r"-?[0-9]+\.[0-9]+(e-?[0-9]+)?", lambda found: f"{float(found[0]):.6g}", text)


def _without_version(text: str) -> str:
    return re.sub(r'("truemoment": ?)"[^"]*"', r'\1"VERSION"', text)


def reduced(value: Any, not_held: frozenset[str], key: str = "") -> Any:
    """Reduce a JSON document: sentences, paths, times and versions go, all else stays."""
    if isinstance(value, dict):
        return {name: reduced(of, not_held, name) for name, of in value.items()}
    if isinstance(value, list):
        if value and all(_is_sentence(item, key) for item in value):
            return TEXTS
        return TEXTS if not value and key in SENTENCES else [reduced(item, not_held, key) for item in value]
    if key in not_held or (key == "truemoment" and isinstance(value, str)):
        return UNSTABLE
    if _is_sentence(value, key):
        return TEXT
    return re.sub(r"\|truemoment:[^|]*", "", value) if isinstance(value, str) else value


def _is_sentence(value: Any, key: str) -> bool:
    if not isinstance(value, str):
        return False
    return key in SENTENCES or len(value.split()) >= WORDS_OF_A_SENTENCE or (" " in value and value.endswith("."))


# ------------------------------------------------------------------------------------------------- comparison


def merged(outcomes: Sequence[Any], repeat: Any, seeds: Sequence[int]) -> Any:
    """Merge the outcomes of all seeds, and a repeat of the first, into what the test expects.

    What differs between the first and its repeat is not held; what differs between seeds is drawn.
    """
    first, everything = outcomes[0], [*outcomes, repeat]
    if all(isinstance(of, dict) for of in everything):
        keys = dict.fromkeys(key for of in everything for key in of)
        return {key: merged([of.get(key, NOTHING) for of in outcomes], repeat.get(key, NOTHING), seeds) for key in keys}
    if all(isinstance(of, list) and len(of) == len(first) for of in everything):
        return [merged([of[i] for of in outcomes], repeat[i], seeds) for i in range(len(first))]
    if repeat != first:
        return UNSTABLE
    if all(of == first for of in outcomes) or list(outcomes) == list(seeds):
        return first
    numbers = [_number(of) for of in outcomes]
    if None not in numbers:
        return _drawn_number(numbers)
    return {DRAWN: sorted({_kind(of) for of in outcomes})}


def _drawn_number(values: Sequence[float]) -> dict[str, Any]:
    """Mean over seeds, standard error of one run, and how far one run may lie from the mean.

    That is 3 standard errors of the difference between one run and the mean, or as far as the farthest seed lay:
    figures of few draws are far from normal.
    """
    mean = math.fsum(values) / len(values)
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    farthest = max(abs(value - mean) for value in values)
    within = max(3 * error * math.sqrt(1 + 1 / len(values)), farthest)
    return {DRAWN: mean, "standard_error": _short(error), "within": _short(within * 1.0001)}


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> float | None:
    """Return a number, also one that a table holds as text."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+\.\d+", value):
        return float(value)
    return float(value) if _is_number(value) else None


def _kind(value: Any) -> str:
    if value == NOTHING:
        return "nothing"
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if _is_number(value):
        return "number"
    return {str: "string", list: "list", dict: "object"}[type(value)]


def differences(expected: Any, found: Any, path: str = "$") -> Iterator[str]:
    """Give a line for each place in which an outcome is not as recorded."""
    if isinstance(expected, dict) and DRAWN in expected:
        yield from _drawn_differences(expected, found, path)
    elif isinstance(expected, dict) and isinstance(found, dict):
        for key, of in expected.items():
            yield from differences(of, found.get(key, NOTHING), f"{path}.{key}")
        for key in found.keys() - expected.keys():
            yield f"{path}.{key}: found {_told(found[key])}, expected no such key"
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{path}: found {len(found)} items, expected {len(expected)}: {_told(expected)}"
        for i, (of, other) in enumerate(zip(expected, found, strict=False)):
            yield from differences(of, other, f"{path}[{i}]")
    elif (expected != UNSTABLE or found == NOTHING) and not _same(expected, found):
        yield f"{path}: found {_told(found)}, expected {_told(expected)}"


def _drawn_differences(expected: dict[str, Any], found: Any, path: str) -> Iterator[str]:
    drawn = expected[DRAWN]
    if _is_number(drawn):
        number = _number(found)
        if number is None or not abs(number - drawn) <= expected["within"]:
            yield f"{path}: found {_told(found)}, expected {drawn} within {expected['within']} (drawn)"
    elif _kind(found) not in drawn:
        yield f"{path}: found {_told(found)}, expected {drawn} (drawn)"


def _same(expected: Any, found: Any) -> bool:
    if _is_number(expected) and _is_number(found):
        return math.isclose(expected, found, rel_tol=RELATIVE, abs_tol=1e-12)
    return type(expected) is type(found) and expected == found


def _told(value: Any) -> str:
    if value == NOTHING:
        return "nothing"
    text = json.dumps(value)
    return text if len(text) <= 160 else f"{text[:157]}..."


def drawn_figures(recorded: Any, path: str = "$") -> Iterator[tuple[str, dict[str, float]]]:
    """Give path, mean and standard error of every figure that is drawn in a golden file."""
    if isinstance(recorded, dict) and DRAWN in recorded:
        if _is_number(recorded[DRAWN]):
            yield path, recorded
    elif isinstance(recorded, dict):
        for key, of in recorded.items():
            yield from drawn_figures(of, f"{path}.{key}")
    elif isinstance(recorded, list):
        for i, of in enumerate(recorded):
            yield from drawn_figures(of, f"{path}[{i}]")


def moved(before: Any, after: Any, n_seeds: int) -> list[str]:
    """Return a line for each drawn figure whose mean over seeds moved by more than 3 standard errors."""
    old, lines = dict(drawn_figures(before)), []
    for path, new in drawn_figures(after):
        if path in old:
            error = math.hypot(new["standard_error"], old[path]["standard_error"]) / math.sqrt(n_seeds)
            if abs(new[DRAWN] - old[path][DRAWN]) > 3 * error:
                lines.append(f"{path}: mean {new[DRAWN]}, before {old[path][DRAWN]}, standard error {error:.3g}")
    return lines


@contextlib.contextmanager
def away_from_home(cache: Path) -> Iterator[None]:
    """Let commands see no data, and keep what they cache in a folder."""
    before = {name: os.environ.pop(name, None) for name in ("TRUEMOMENT_DATA", "TRUEMOMENT_CACHE")}
    os.environ["TRUEMOMENT_CACHE"] = str(cache)
    try:
        yield
    finally:
        del os.environ["TRUEMOMENT_CACHE"]
        os.environ.update({name: value for name, value in before.items() if value is not None})
