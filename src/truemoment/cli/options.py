"""Options that several verbs share, and how their output leaves the program."""

from __future__ import annotations

import functools
import os
import sys
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import click

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.boundary.documents import json_text
from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.inputs import will_write
from truemoment.base.boundary.text import printable
from truemoment.base.errors import UsageError
from truemoment.base.records import OnUnknown
from truemoment.cli import closed, completing
from truemoment.cli.command import headed
from truemoment.data.answers.reading import OneSided, Reading, Swapped, Which
from truemoment.data.formats.base import OnNegative
from truemoment.data.formats.prediction_files import NamedFile as NamedFile  # noqa: PLC0414 - verbs import it from here
from truemoment.data.formats.prediction_files import PredictionOptions as PredictionOptions  # noqa: PLC0414 - as above
from truemoment.learning.training.epochs import OWN_FILES, TRACKED, epoch_folders

F = TypeVar("F", bound=Callable[..., Any])

STANDARD_OUTPUT = Path("-")

MOST_RESAMPLES = 100_000
"""Resamples beyond which nothing is gained and memory is lost."""


FILE = click.Path(path_type=Path)
"""A file or folder, which need not exist."""


def together(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one, in the order of the help."""

    def decorate(function: F) -> F:
        for option in reversed(decorators):
            function = option(function)
        return function

    return decorate


MOST_SEED = 999_999_999


def count_option(
    name: str, default: int | None, text: str, *, least: int, most: int | None = None, metavar: str = "N"
) -> Callable[[F], F]:
    """An option with a whole number from `least` to `most`."""
    return click.option(
        name, type=click.IntRange(least, most), default=default, show_default=True, metavar=metavar, help=text
    )


def seed_option(of: str) -> Callable[[F], F]:
    """--seed, the seed of `of`."""
    return count_option("--seed", 0, f"Seed of {of}.", least=0, most=MOST_SEED)


data_dir_option = click.option(
    "--data-dir",
    type=FILE,
    metavar="DIR",
    callback=lambda _context, _parameter, folder: folder or _remembered_data_dir(),
    help="Folder that holds one folder a dataset. [default: the variable TRUEMOMENT_DATA, or that of 'truemoment "
    "config']",
)


def _remembered_data_dir() -> Path | None:
    """Return the folder that ``truemoment config`` remembers, unless the environment names one."""
    if os.environ.get("TRUEMOMENT_DATA"):
        return None
    from truemoment.cli.settings_file import read_settings

    remembered = read_settings().data_dir
    return None if remembered is None else Path(remembered)


dataset_option = click.option(
    "--dataset",
    metavar="NAME",
    shell_complete=completing.datasets,
    help="A dataset; 'truemoment datasets list' shows them.",
)

annotations_option = click.option(
    "--annotations",
    type=FILE,
    metavar="FILE",
    help="Your own annotations as JSON Lines, in place of --dataset.",
)

split_option = click.option(
    "--split", metavar="NAME", shell_complete=completing.splits, help="Split of the dataset, e.g. test-ood."
)


learning_options = together(
    dataset_option,
    annotations_option,
    data_dir_option,
    click.option(
        "--features",
        metavar="SOURCE",
        help="FILE.hdf5, a folder, FILE.npz, or perception:Q for Charades and ActivityNet.",
    ),
    click.option(
        "--test", "tests", multiple=True, metavar="NAME", help="Split to predict. [default: every test split]"
    ),
    click.option(
        "--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change the recipe, e.g. train.epochs=3."
    ),
)
"""What a recipe is trained on, and what is changed in it."""

measuring_options = together(
    click.option(
        "--protocol",
        metavar="NAME[,FIELD=VALUE...]",
        shell_complete=completing.protocols,
        help="Evaluation convention. [default: default; moment-detr for QVHighlights]",
    ),
    click.option(
        "--measures",
        metavar="'A; B'",
        shell_complete=completing.measures,
        help="Measures, separated by ';'. [default: the protocol's]",
    ),
)
"""What is measured, and how."""

READING = {
    "axis": ("A", "Unit of the numbers: seconds, fraction, percent, bins=N, frames=N or fps=F.", "seconds"),
    "which": (get_args(Which), "Words: which moments of an answer that lists several.", "last"),
    "one_sided": (get_args(OneSided), "Words: a start without an end, or an end without a start.", "ambiguous"),
    "swapped": (get_args(Swapped), "Words: a moment that ends before it starts.", "ambiguous"),
}
"""Options of reading by field: choices or the placeholder of a value, help, default."""


def _reading_options(function: F) -> F:
    @functools.wraps(function)
    def collected(
        *args: Any,  # noqa: ANN401 - a command's own
        format_: str | None,
        on_unknown: OnUnknown,
        on_negative: OnNegative,
        **others: Any,  # noqa: ANN401 - a command's own
    ) -> Any:  # noqa: ANN401 - a command's own
        settings = {name: value for name in READING if (value := others.pop(name)) is not None}
        reading = Reading(**settings) if settings else None
        return function(*args, how=PredictionOptions(format_, reading, on_unknown, on_negative), **others)

    for option in (
        click.option(
            "--on-negative",
            type=click.Choice(get_args(OnNegative)),
            default="refuse",
            show_default=True,
            help="Negative times.",
        ),
        click.option(
            "--on-unknown",
            type=click.Choice(get_args(OnUnknown)),
            default="refuse",
            show_default=True,
            help="Rows that belong to no query.",
        ),
        *(
            click.option(
                f"--{name.replace('_', '-')}",
                type=None if isinstance(kind, str) else click.Choice(kind),
                metavar=kind if isinstance(kind, str) else None,
                help=f"{text} [default: {default}]",
            )
            for name, (kind, text, default) in reversed(READING.items())
        ),
        click.option(
            "--format",
            "format_",
            metavar="F",
            shell_complete=completing.formats,
            help="Format of the file. [default: recognised from it]",
        ),
    ):
        collected = option(collected)
    return cast(F, collected)


reading_options = headed("Reading predictions", _reading_options)
"""How prediction files are read, as `how`: --format, --axis, --which, --one-sided, --swapped, --on-..."""

testing_options = together(
    count_option("--resamples", 1000, "Resamples of the videos, for intervals.", least=2, most=MOST_RESAMPLES),
    count_option("--permutations", 10_000, "Swaps of the permutation test.", least=1, most=10_000_000),
)
"""How intervals and tests are drawn."""

no_cache_option = click.option(
    "--no-cache", is_flag=True, help="Fit and run every floor again, and do not save the results."
)


def floors_cache(*, no_cache: bool = False) -> Cache:
    """Return what keeps floors: the user's cache, which warns once if nothing can be kept, or nothing."""
    return NO_CACHE if no_cache else Cache.of_user(lambda why: say(f"truemoment: {why}", err=True))


train_options = together(
    click.option("--fit-split", metavar="NAME", help="Split the floors are fitted on, or none. [default: train]"),
    click.option(
        "--fit-annotations", type=FILE, metavar="FILE", help="Your own annotations to fit on, in place of a split."
    ),
)
"""What floors are fitted on."""


worker_options = together(
    click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="This machine, or a Ray cluster (environment variable RAY_ADDRESS).",
    ),
    count_option(
        "--workers", None, "Number of worker processes. [default: 1; on a Ray cluster, all cores]", least=1, most=10_000
    ),
)
"""Where many jobs are done, and by how many processes."""


def engine_option(text: str) -> Callable[[F], F]:
    """The option --engine."""
    return click.option("--engine", default="lexicon", show_default=True, metavar="NAME", help=text)


fit_options = headed(
    "Floors", together(train_options, engine_option("What finds verbs: lexicon, spacy or spacy:MODEL."))
)
"""What blind baselines learn from."""


def json_option(text: str) -> Callable[[F], F]:
    """--json, a file or standard output."""
    return click.option("--json", "json_path", type=FILE, metavar="FILE", help=text)


output_options = together(
    json_option("Write JSON ('-': to standard output, and nothing else goes there)."),
    click.option("--table", "style", type=click.Choice(["md", "latex"]), help="The table as Markdown or LaTeX."),
    click.option("--quiet", is_flag=True, help="No notes, and no progress on standard error."),
)
"""Where results go."""


def open_page(path: Path) -> bool:
    """Open a page in the user's browser if there is a screen to open it on; return whether it does."""
    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(has_screen) and sys.stdout.isatty() and webbrowser.open(path.resolve().as_uri())


def refuse_page(html: Path | None, *, open_it: bool) -> None:
    """Refuse a page without a file to write it to."""
    if (open_it and html is None) or html == STANDARD_OUTPUT:
        raise UsageError("--html: expected the name of a file, to write (and open) the page")


def refuse_files(folders: Mapping[str, Path | None]) -> None:
    """Refuse folders to write to that are files or cannot be made, by option, before any work."""
    for option, folder in folders.items():
        if folder is None:
            continue
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{option} {folder}: is a file, expected a folder")
        there = next(of for of in (folder.absolute(), *folder.absolute().parents) if of.exists())
        if not there.is_dir():
            raise UsageError(f"{option} {folder}: cannot be made, {there} is a file")
        if not os.access(there, os.W_OK):
            raise UsageError(f"{option} {folder}: cannot be written, {there} is read-only")


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


def refuse_folder(out: Path) -> None:
    """Refuse a new folder that is not empty, or whose parent does not exist, before any work."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"-o {out}: is there already, expected a new or empty folder")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {out}: cannot be made, {out.parent} is no folder")


@contextmanager
def status_line(*, show: bool) -> Iterator[Callable[[str], None]]:
    """Say on standard error what is being done, and for how long, if there is someone to see it."""
    if not show:
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(bar_format="{desc} [{elapsed}]", leave=False) as bar:

        def on_status(what: str) -> None:
            bar.set_description_str(what)
            bar.update()

        yield on_status


def source_file(source: str | None) -> Path | None:
    """Return the file or folder that a source of features names, if it names one."""
    return Path(source) if source and os.path.exists(source) else None  # noqa: PTH110 - as in NamedFile.read


def say(line: str, *, err: bool = False) -> None:
    """Print a line on standard output or error, perhaps after a blank one; a name in it begins no other line."""
    if line.startswith("\n"):
        click.echo(err=err)
    click.echo(printable(" ".join(line.lstrip("\n").splitlines())), err=err)  # click would leave codes of colours out


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON document to a file, complete or not at all, or to standard output."""
    text = json_text(document)
    if path == STANDARD_OUTPUT:
        click.echo(text, nl=False)
        return
    write_text(path, text)
