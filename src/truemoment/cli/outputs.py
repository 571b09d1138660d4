"""Where results go: outputs that are refused before any work, progress, and files that are written."""

from __future__ import annotations

import os
import sys
import warnings
import webbrowser
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from truemoment.base.boundary.inputs import will_write
from truemoment.base.boundary.new_folder import refuse_folder as refuse_folder  # noqa: PLC0414 - as the others here
from truemoment.base.boundary.new_folder import refuse_no_parent as refuse_no_parent  # noqa: PLC0414 - as above
from truemoment.base.boundary.text import printable, short_line
from truemoment.base.errors import DataWarning, UsageError
from truemoment.base.request import Running
from truemoment.cli import closed
from truemoment.cli.expected import expected
from truemoment.learning.training.epochs import OWN_FILES, TRACKED, epoch_folders

if TYPE_CHECKING:
    from collections.abc import Callable

    from truemoment.base.boundary.caching import Cache
    from truemoment.base.boundary.own_path import AnyPath

R = TypeVar("R", bound=Running)
T = TypeVar("T")

STANDARD_OUTPUT = Path("-")


def open_page(path: Path) -> bool:
    """Open a page in the user's browser if there is a screen to open it on; return whether it does."""
    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(has_screen) and sys.stdout.isatty() and webbrowser.open(path.resolve().as_uri())


def refuse_page(html: Path | None, *, open_it: bool) -> None:
    """Refuse a page without a file to write it to."""
    if (open_it and html is None) or html == STANDARD_OUTPUT:
        raise UsageError("--html: expected the name of a file, to write (and open) the page")


def refuse_files(folders: Mapping[str, Path | None]) -> None:
    """Refuse output folders that are files or cannot be made, by option, before any work."""
    for option, folder in folders.items():
        if folder is None:
            continue
        if folder == STANDARD_OUTPUT:
            raise UsageError(f"{option} -: expected a folder")
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{option} {folder}: is a file, expected a folder")
        existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        if not existing.is_dir():
            raise UsageError(f"{option} {folder}: cannot be made, {existing} is a file")
        if not os.access(existing, os.W_OK):
            raise UsageError(f"{option} {folder}: cannot be written, {existing} is read-only")


def refuse_outputs(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Refuse outputs that would overwrite an input, or lie in a folder that is read, before any work."""
    read = {os.path.realpath(path): path for path in inputs if path is not None and "\0" not in str(path)}
    folders = [real for real in read if os.path.isdir(real)]  # noqa: PTH112 - pathlib raises at a name too long
    taken = set(read)
    outputs = list(outputs)
    if STANDARD_OUTPUT in outputs and "stdout" in closed:
        raise UsageError("--json -: standard output is closed")
    for path in outputs:
        if path is None or path == STANDARD_OUTPUT:
            continue
        real = os.path.realpath(path)
        if real in taken:
            raise UsageError(f"{path}: is read or written already, expected another file to write to")
        if not path.parent.is_dir():
            raise UsageError(f"{path}: cannot be written, {path.parent} is no folder")
        if inside := next((folder for folder in folders if Path(real).is_relative_to(folder)), None):
            raise UsageError(f"{path}: lies in {read[inside]}, which is read, expected another place")
        taken.add(real)
        will_write(path)


def files_of_run(run: Path) -> list[Path]:
    """Return the files and folders of a trained run that are its own; others may be written beside them."""
    return [run / name for name in (*OWN_FILES, TRACKED)] + [folder.path for folder in epoch_folders(run)]


@contextmanager
def status_line(*, show: bool) -> Iterator[Callable[[str], None]]:
    """Show on standard error the current step and its time, and how long it takes where that is known."""
    if not show:
        yield lambda _: None
        return
    from tqdm import tqdm

    from truemoment.report.words import about

    seconds, shorter = expected() or (None, "")
    total = "" if seconds is None else f" of {about(seconds)}"
    with ExitStack() as bars:
        bar: tqdm[Any] | None = None

        def on_status(what: str) -> None:
            nonlocal bar
            if bar is not None:
                bar.set_description_str(what)
                bar.update()
                return
            if seconds is not None:  # when work begins: most faults of the input were found before
                say(f"this takes {about(seconds)}{shorter}", err=True)
            bar = bars.enter_context(tqdm(desc=what, bar_format=f"{{desc}} [{{elapsed}}{total}]", leave=False))

        yield on_status


def progress_bar(what: str, unit: str, *, show: bool) -> Callable[[Iterable[T]], Iterable[T]]:
    """Return a function that wraps items in a progress bar."""
    if not show:
        return iter

    def track(items: Iterable[T]) -> Iterable[T]:
        from tqdm import tqdm

        return tqdm(items, desc=what, unit=unit, leave=False)

    return track


def say(line: str, *, err: bool = False) -> None:
    """Print a line on standard output or error, perhaps after a blank one; a name in it begins no other line."""
    if line.startswith("\n"):
        click.echo(err=err)
    click.echo(printable(" ".join(line.lstrip("\n").splitlines())), err=err)  # click would leave codes of colours out


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON document to a file, complete or not at all, or to standard output."""
    from truemoment.base.boundary.documents import json_text

    text = json_text(document)
    if path == STANDARD_OUTPUT:
        click.echo(text, nl=False)
        return
    write_text(path, text)


def write_text(path: str | AnyPath, text: str) -> None:
    """Write a text to a file, complete or not at all; what would steer a terminal or hide is written as an escape."""
    from truemoment.base.boundary import files

    files.write_text(path, text)


@contextmanager
def show_progress(request: R, *, show: bool) -> Iterator[R]:
    """Let a request show its progress and warnings on standard error."""
    with status_line(show=show) as on_status:
        yield replace(request, on_status=on_status, on_warning=warn, progress=show)


def warn(why: str) -> None:
    """Write a warning on standard error; only an error begins with the program's name."""
    say(f"warning: {why}", err=True)


@contextmanager
def show_warnings() -> Iterator[None]:
    """Show each warning on one line of standard error.

    Warnings of libraries are as Python shows them, with the line of code, only where somebody asks for warnings
    (``-W``, ``PYTHONWARNINGS``).
    """
    seen: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:  # noqa: ANN401 - of the module
        is_ours = issubclass(category, DataWarning)
        if sys.warnoptions and not is_ours:
            usual(message, category, *place)
            return
        text = str(message) if is_ours else f"{short_line(str(message))} ({category.__name__})"
        if text not in seen:
            seen.add(text)
            warn(text)

    with warnings.catch_warnings():
        usual = warnings.showwarning
        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = show  # type: ignore[assignment]  # it passes the rest on
        yield


def floors_cache() -> Cache:
    """Return the cache of floors: the user's cache, which warns once if nothing can be kept."""
    from truemoment.base.boundary.caching import Cache

    return Cache.of_user(warn)
