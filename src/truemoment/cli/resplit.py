"""truemoment resplit: split a dataset anew, so that guessing where moments usually lie helps less."""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    data_dir_option,
    floors_cache,
    followed,
    no_cache_option,
    output_options,
    refuse_folder,
    refuse_outputs,
    seed_option,
    told_path,
    write_json,
    write_text,
)
from truemoment.datasets import DATASETS, get_dataset, load_annotations, own, read_own_annotations
from truemoment.datasets.resplit_folder import DATASHEET, ResplitSource, write_members
from truemoment.datasets.source import files_of
from truemoment.exceptions import MissingFileError, UsageError
from truemoment.files import atomic_folder, read_number
from truemoment.records import Annotations
from truemoment.text import as_text

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
SHIFTS = ("location", "words", "compositions")
PLACES = ("start-end", "start-length", "middle-length", "middle-log-length", "seconds")


@click.command("resplit")
@click.option("--dataset", metavar="NAME", help="A dataset; 'truemoment datasets list' shows them.")
@click.option(
    "--annotations",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Your own annotations, in place of --dataset.",
)
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Only this split of the dataset. [default: all]")
@data_dir_option
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder to write; must be new."
)
@click.option(
    "--shift",
    "shifts",
    multiple=True,
    type=click.Choice(SHIFTS),
    help="In what test-ood differs; location and one of the others go together. [default: location]",
)
@click.option(
    "--ood", type=SHARE, default=0.2, show_default=True, metavar="SHARE", help="Share of the queries for test-ood."
)
@click.option("--val", type=SHARE, default=0.05, show_default=True, metavar="SHARE", help="... for val.")
@click.option("--iid", type=SHARE, default=0.05, show_default=True, metavar="SHARE", help="... for test-iid.")
@click.option(
    "--marked",
    type=SHARE,
    metavar="SHARE",
    help="Share of the queries, least dense, marked for test-ood. [default: as many as fill it]",
)
@click.option(
    "--longest",
    metavar="SHARE|none",
    help="Videos with a moment of this share of them or more stay out of test-ood. [default: 0.5]",
)
@click.option(
    "--ties",
    type=click.Choice(["ood", "rest"]),
    help="Where videos go of which exactly half is marked. [default: rest; ood for new words or compositions]",
)
@click.option(
    "--place", type=click.Choice(PLACES), default="start-end", show_default=True, help="What density is taken over."
)
@click.option("--width", type=float, metavar="WIDTH", help="Standard deviation of the kernels. [default: Scott's rule]")
@click.option(
    "--engine", default="lexicon", show_default=True, metavar="NAME", help="What finds words: lexicon, spacy."
)
@click.option(
    "--permutations",
    type=click.IntRange(99, 1_000_000),
    default=1000,
    show_default=True,
    metavar="N",
    help="Of each test between splits.",
)
@seed_option("what is drawn: new words, the videos of val and test-iid, and what floors draw")
@no_cache_option
@output_options
def command(
    dataset: str | None,
    annotations: Path | None,
    splits: tuple[str, ...],
    data_dir: Path | None,
    out: Path,
    shifts: tuple[str, ...],
    ood: float,
    val: float,
    iid: float,
    marked: float | None,
    longest: str | None,
    ties: Literal["ood", "rest"] | None,
    place: str,
    width: float | None,
    engine: str,
    permutations: int,
    seed: int,
    no_cache: bool,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Split a dataset anew into train, val, test-iid and test-ood; DIR is then a dataset of its own.

    Every floor of the audit is fitted on the new train and measured on the new tests: what is left to guess.

    \b
    truemoment resplit --annotations mine.jsonl -o mine-cd
    truemoment audit preds.jsonl --dataset mine-cd --split test-ood
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.bias.guarantees import inspect_split
    from truemoment.bias.guessing import guess_on_split
    from truemoment.bias.shifts import LocationShift, Shift, WordShift
    from truemoment.bias.splitting import Plan, resplit
    from truemoment.language import get_engine
    from truemoment.reports import resplit as report
    from truemoment.reports.drawing import save_drawings
    from truemoment.reports.guessing import with_guessing

    # Mistakes in the options are told before files are read.
    asked = dict.fromkeys(shifts or ("location",))
    chosen: list[Shift] = [
        LocationShift(place, width) if shift == "location" else WordShift(shift)  # type: ignore[arg-type]  # choices
        for shift in asked
    ]
    of_location = {"--marked": marked, "--longest": longest, "--width": width}
    given = [name for name, value in of_location.items() if value is not None]
    if "location" not in asked and (given or place != "start-end"):
        raise UsageError(f"{(given or ['--place'])[0]}: belongs to a shift of location, and none is asked for")
    plan = Plan(ood, val, iid, tuple(chosen), marked, _share(longest), ties)
    reader = get_engine(engine)
    refuse_outputs([annotations, *files_of(dataset, data_dir)], [json_path])
    told, out = told_path(out), Path(os.path.realpath(out))  # behind a link
    if out.name in DATASETS:
        raise UsageError(f"-o {told_path(out)}: is the name of a dataset, expected another one")
    refuse_folder(out)
    if json_path is not None and json_path != STANDARD_OUTPUT:
        real = Path(os.path.realpath(json_path))
        if out in (real, real.parent):
            raise UsageError(f"--json {told_path(json_path)}: lies in the folder to be made, expected another place")

    source, parts = _read(dataset, annotations, splits, data_dir, out)
    whole = Annotations.joined(parts)
    original = _original(dataset, annotations, source, data_dir)
    with followed(show=not quiet and sys.stderr.isatty()) as tell:
        tell("splitting")
        splitting, inspecting = np.random.default_rng(seed).spawn(2)
        found = resplit(whole, splitting, plan, reader)
        guessing = guess_on_split(
            found,
            original=original,
            engine=engine,
            seed=seed,
            cache=floors_cache(no_cache=no_cache),
            tell=tell,
        )
        inspection = with_guessing(
            inspect_split(found, inspecting, permutations=permutations, tell=tell), guessing, plan
        )
        tell("writing")
        document = report.document(
            found, inspection, guessing, source=source, seed=seed, permutations=permutations, engine=reader.name
        )
        sheet = report.datasheet(
            found,
            inspection,
            guessing,
            source=source,
            seed=seed,
            permutations=permutations,
            name=out.name,
            command=shlex.join(["truemoment", *sys.argv[1:]]),
        )
        with atomic_folder(out) as folder:
            write_members(folder, {name: found.part(name) for name in found.members})
            save_drawings([report.densities(found)], folder, ("png", "svg"))
            write_text(folder / "datasheet.md", sheet)
            write_json(folder / DATASHEET, document)
    if json_path is not None:
        write_json(json_path, document)
    if json_path != STANDARD_OUTPUT:
        click.echo("\n".join(report.lines(found, inspection, guessing, style=style or "plain")))
    if not quiet:
        click.echo(f"\nwritten to {told}: use it as --dataset {told}", err=json_path == STANDARD_OUTPUT)


def _share(text: str | None) -> float | None:
    """Read a share, or "none"; half of the video where nothing is asked for."""
    if text == "none":
        return None
    value = 0.5 if text is None else read_number(text)
    if not 0 < value < 1:
        raise UsageError(f"--longest: got {text!r}, expected a share of more than 0 and less than 1, or none")
    return value


def _read(
    dataset: str | None, annotations: Path | None, splits: Sequence[str], data_dir: Path | None, out: Path
) -> tuple[ResplitSource, list[Annotations]]:
    """Read all that is to be split, and say where it comes from, as seen from the folder."""
    if dataset is not None and annotations is not None:
        raise UsageError("got --dataset and --annotations, expected one of them")
    if dataset is None and annotations is None:
        raise UsageError("what is to be split? give --dataset NAME or --annotations FILE")
    if annotations is not None:
        if splits:
            raise UsageError("got --split with --annotations, expected all of the file to be split")
        if annotations.exists() and not annotations.is_file():
            raise UsageError(f"{told_path(annotations)}: is no file, expected one that stays: the folder refers to it")
        seen_from_folder = os.path.relpath(os.path.realpath(annotations), out)
        if as_text(seen_from_folder) != seen_from_folder:
            raise UsageError(f"{told_path(annotations)}: is no text as a name, expected one that a datasheet can hold")
        whole = read_own_annotations(annotations)
        return ResplitSource(annotations=seen_from_folder, splits={"all": whole.sha256}), [whole]
    of = get_dataset(dataset or "")
    if of.name not in DATASETS:
        raise UsageError(f"{of.name} is split anew already, expected the dataset it was made of")
    names = list(dict.fromkeys(splits)) or [split.name for split in of.splits if not split.merges]
    for name in names:
        if any(part in names for part in of.split(name).merges):
            raise UsageError(f"{of.name}: {name} is made of other splits asked for, expected each query once")
    parts = []
    for name in names:
        try:
            parts.append(load_annotations(of.name, name, data_dir=data_dir))
        except MissingFileError:
            if splits or name == names[0]:
                raise
            click.echo(f"{of.name}: {name} is not at hand and is left out", err=True)
    return ResplitSource(dataset=of.name, splits={part.split: part.sha256 for part in parts}), parts


def _original(
    dataset: str | None, annotations: Path | None, source: ResplitSource, data_dir: Path | None
) -> tuple[Annotations, list[Annotations]] | None:
    """Read the training split and the test splits that were there before, of those that were read; None without."""
    if annotations is not None:
        names, read = own.splits_of(annotations), functools.partial(read_own_annotations, annotations)
    else:
        names = set(source.splits)
        read = functools.partial(load_annotations, get_dataset(dataset or "").name, data_dir=data_dir)
    if "train" not in names:
        return None
    train = read("train")
    learned = set(train.query_id)  # lines of a file that name no split belong to all
    tests = [read(name) for name in sorted(names) if name.startswith("test")]
    tests = [test for test in tests if learned.isdisjoint(test.query_id)]
    return (train, tests) if tests else None
