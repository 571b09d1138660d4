"""What every outcome must satisfy, whatever the input was: from what happened to the rules that it breaks."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

from tests.hostile.child import Outcome
from tests.hostile.place import CANARY

Snapshot = dict[str, tuple[int, ...]]

FORBIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
ALLOWED = {"\n", "\t", "\u200d"}

KEY = ".local/share/truemoment/key"
"""The key of a user in the home folder, which a command may make that makes or serves a study."""


@dataclass(frozen=True)
class Happened:
    """A command that has ended.

    Parameters
    ----------
    words, writes
        The command, and what it may write.
    named
        One of these words must be in an error's line; empty if any will do.
    hears
        Whether its standard streams were open.
    before, after
        Files of the place.
    place, home, temporary, outside
        Folders.
    """

    words: list[str]
    writes: tuple[str, ...]
    named: tuple[str, ...]
    hears: bool
    outcome: Outcome
    before: Snapshot
    after: Snapshot
    place: Path
    home: Path
    temporary: Path


def snapshot(folder: Path) -> Snapshot:
    """Return what tells a changed file from an unchanged one, for all files below a folder."""
    found: Snapshot = {}
    folders = [""]
    for inside in folders:  # it grows
        with os.scandir(os.path.join(folder, inside)) as entries:  # noqa: PTH118 - names may be no UTF-8, many
            for entry in entries:
                state = entry.stat(follow_symlinks=False)
                is_folder = stat.S_ISDIR(state.st_mode)
                name = os.path.join(inside, entry.name)  # noqa: PTH118
                of_file = () if is_folder else (state.st_size, state.st_mtime_ns, state.st_ino)
                found[name] = (stat.S_IFMT(state.st_mode), *of_file)
                if is_folder:
                    folders.append(name)
    return found


def broken_rules(of: Happened) -> list[str]:
    """Return the rules that are broken."""
    rules = (_ends_well, _one_line, _clean_text, _nothing_changed, _no_leftovers, _valid_json, _safe_pages, _no_secret)
    return [found for rule in rules for found in rule(of)]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _ends_well(of: Happened) -> Iterator[str]:
    last = of.outcome.err.rstrip().rpartition(b"\n")[2]
    if of.outcome.status == -signal.SIGALRM and re.match(rb"epoch \d+/\d{3,}: ", last):
        return  # a recipe may ask for hundreds of epochs or more: it is at work
    if of.outcome.status not in (0, 1, 2):
        yield f"status {of.outcome.status}, expected 0, 1 or 2"


def _one_line(of: Happened) -> Iterator[str]:
    if of.outcome.status != 2 or not of.hears:
        return
    lines = _text(of.outcome.err).splitlines() or [""]
    errors = [line for line in lines if line.startswith("truemoment: ")]
    if len(errors) != 1 or errors != lines[-1:]:
        yield f"{len(errors)} error lines, expected one, behind what was reported of the work"
    elif of.named and not any(name in errors[0] for name in of.named):
        yield f"the error names none of {', '.join(of.named)}"
    if of.outcome.out:
        yield "output on standard output with status 2"


def _clean_text(of: Happened) -> Iterator[str]:
    for name, data in (("output", of.outcome.out), ("error", of.outcome.err)):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            yield f"{name} is not UTF-8"
            continue
        hidden = {char for char in text if unicodedata.category(char) in FORBIDDEN} - ALLOWED
        if hidden:
            yield f"{name} contains {sorted(map(ascii, hidden))}"
        if any(line.startswith("FORGED") for line in text.splitlines()):
            yield f"{name} contains a forged line"
        if "Traceback" in text:
            yield f"{name} contains a traceback"


def _may_write(of: Happened, name: str) -> bool:
    return any(name == allowed or name.startswith(f"{allowed}/") for allowed in of.writes)


def _new(of: Happened) -> list[str]:
    return [name for name in of.after if name not in of.before]


def _nothing_changed(of: Happened) -> Iterator[str]:
    for name, state in of.before.items():
        if of.after.get(name) != state and not _may_write(of, name):
            yield f"{name!r} was changed or removed"


def _no_leftovers(of: Happened) -> Iterator[str]:
    for name in _new(of):
        if not _may_write(of, name) and of.outcome.status == 2:
            yield f"{name!r} was written with status 2"
        if Path(name).name == "pwned":
            yield f"{name!r}: a payload was run"
    for path in of.temporary.iterdir():
        yield f"{path.name!r} is left in the temporary folder"
    for path in of.home.rglob("*"):
        name = path.relative_to(of.home).as_posix()
        is_key = of.outcome.status != 2 and (name == KEY or KEY.startswith(f"{name}/"))
        if not is_key and not name.startswith(".cache"):
            yield f"{name!r} is left in the home folder"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _valid_json(of: Happened) -> Iterator[str]:
    places = [place for option, place in pairwise(of.words) if option == "--json"]
    if of.outcome.status not in (0, 1) or not of.hears or places[-1:] != ["-"]:  # the last one counts
        return
    if {"-h", "--help"} & set(of.words):  # it prints the help instead
        return
    try:
        json.loads(of.outcome.out, parse_constant=_refuse_constant)
    except ValueError as error:
        yield f"standard output is no JSON: {error}"


class _Page(HTMLParser):
    """Counts the scripts of a page, and collects what would run without one."""

    def __init__(self) -> None:
        super().__init__()
        self.n_scripts = 0
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at a tag."""
        self.n_scripts += tag == "script"
        for name, value in attrs:
            if name.startswith("on") or (value or "").strip().lower().startswith("javascript:"):
                self.found.append(f"<{tag} {name}={value!r}>")


def _safe_pages(of: Happened) -> Iterator[str]:
    for name in _new(of):
        if name.endswith(".html"):
            page = _Page()
            page.feed((of.place / name).read_text(encoding="utf-8"))
            if page.n_scripts > 1 or page.found:
                yield f"{name}: {page.n_scripts} scripts, {page.found}"


def _no_secret(of: Happened) -> Iterator[str]:
    secret = CANARY.encode()
    if secret in of.outcome.out or secret in of.outcome.err:
        yield "the output shows a secret"
    for name in _new(of):
        path = of.place / name
        if path.is_file() and not path.is_symlink() and secret in path.read_bytes():
            yield f"{name!r} contains a secret"
