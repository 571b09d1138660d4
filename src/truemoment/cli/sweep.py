"""truemoment sweep: train methods over the values of a dial, and hold the curves against floors."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    data_dir_option,
    floors_cache,
    followed,
    output_options,
    refuse_files,
    refuse_outputs,
    told_path,
    write_json,
)
from truemoment.cli.train import prepare
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import UsageError
from truemoment.folders import lock_folder, refuse_links

if TYPE_CHECKING:
    from truemoment.records import Annotations
    from truemoment.reports.sweep import Series
    from truemoment.training.results import Row
    from truemoment.training.runs import Task
    from truemoment.training.sweep import Cell, Dial, Grid, Outcome
    from truemoment.worlds import WorldSettings

EXIT_EMPTY_CELLS = 1

WITH_ACTIONS = ("charades-sta", "charades-cd")
"""Datasets whose features can be simulated at a stated quality."""


@click.command("sweep")
@click.argument("recipes", nargs=-1, metavar="RECIPES...")
@click.option("--dial", "dial_text", metavar="NAME=V1,V2,...", help="perception, location-prior or query-prior.")
@click.option("--dataset", metavar="NAME", help="charades-cd or charades-sta, with simulated perception.")
@click.option("--world", "world_text", metavar="'A=V,B=V'", help="A synthetic world, e.g. 'videos=600,query_prior=1'.")
@click.option(
    "--world-seeds",
    type=click.Choice(["same", "each"]),
    default="same",
    show_default=True,
    help="One world for all seeds of training, or one for each.",
)
@data_dir_option
@click.option("--seeds", "seeds_text", default="0,1,2", show_default=True, metavar="S1,S2,...", help="Of training.")
@click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help="A value of every recipe, e.g. train.epochs=3."
)
@click.option(
    "--measures", metavar="'A; B'", help="Of the test splits. [default: R@1, dR@1 at 0.5 and 0.7, mIoU, AxIoU]"
)
@click.option("--headline", metavar="MEASURE", help="The one that is told. [default: the first measure]")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, metavar="N", help="Processes.")
@click.option(
    "--threads", type=click.IntRange(1, 1024), metavar="N", help="Of each process. [default: the cores, divided]"
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Goes on if it is there."
)
@click.option("--results", type=click.Path(path_type=Path), metavar="FILE.csv", help="Add the figures to a file.")
@click.option("--figures", type=click.Path(path_type=Path), metavar="DIR", help="Save the curves as PNG, SVG, PDF.")
@output_options
def command(
    recipes: tuple[str, ...],
    dial_text: str | None,
    dataset: str | None,
    world_text: str | None,
    world_seeds: Literal["same", "each"],
    data_dir: Path | None,
    seeds_text: str,
    changes: tuple[str, ...],
    measures: str | None,
    headline: str | None,
    jobs: int,
    threads: int | None,
    out: Path,
    results: Path | None,
    figures: Path | None,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Train RECIPES at each value of a dial, and tell score against dial, with floors beside.

    What a method scores at perception 0 it has without seeing: that is the shortcut.
    Each run is kept; a sweep that is broken off goes on with the same command.

    \b
    truemoment sweep tan2d blind-tan tcn-dcm mdd --dataset charades-cd \\
        --dial perception=0,0.15,0.3,0.6,1 -o sweep --figures sweep/figures
    truemoment sweep tan2d blind-tan --world videos=600,perception=1 --dial query-prior=0,0.5,1 -o sweep
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.workers import available_cores
    from truemoment.reports import sweep as report
    from truemoment.reports.drawing import save_drawings
    from truemoment.training.results import keep
    from truemoment.training.sweep import Dial, Grid, read_methods, train_cells

    # Mistakes in the options are told before files are read.
    if dial_text is None:
        raise UsageError("which dial? give --dial NAME=V1,V2,..., e.g. --dial perception=0,0.3,1")
    dial = Dial.read(dial_text)
    world = None if world_text is None else read_world(world_text, dial)
    seeds = _seeds(seeds_text)
    asked, told_measure = _measures(measures, headline)
    _check_source(dataset, world, dial, world_seeds)
    refuse_files({"-o": out, "--figures": figures})
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {told_path(out)}: cannot be made, {told_path(out.parent)} is no folder")
    own = [Path(text) for text in recipes if text.lower().endswith((".yaml", ".yml"))]
    written = [
        None if path is not None and path.parent == out and not out.exists() else path for path in (results, json_path)
    ]
    refuse_outputs([*own, out / "cells", out / "worlds", *files_of(dataset, data_dir)], written)
    grid = Grid(read_methods(recipes, changes), dial, seeds, out)
    click.get_current_context().with_resource(lock_folder(out))
    refuse_links(out, "cells/*/*/*", "worlds/*/*/*")

    show = not quiet and sys.stderr.isatty()
    site = Site(grid, dataset, data_dir, world, each_seed=world_seeds == "each")
    with followed(show=show) as tell:
        site.build(tell)
        material = {place: site.read(place) for place in site.places}
        done, missing = _finished(site, material, asked)
        floors, left_out, rows = _floors(site, material, asked, tell)
        rules, rows_of_rules = _rules(site, material, asked, tell)
    if done and not quiet:
        click.echo(f"{len(done)} of {len(grid.cells())} cells are finished already", err=True)
    threads = threads or max(1, available_cores() // jobs)
    with _told(len(missing), show=show, quiet=quiet, headline=told_measure) as tell_cell:
        for outcome in train_cells(missing, grid, site, measures="; ".join(asked), jobs=jobs, threads=threads):
            tell_cell(outcome, grid)
            done.append(outcome)
    swept = report.Swept(
        dial=dial.name,
        values=dial.values,
        seeds=seeds,
        source=_source(site),
        splits=_tests(material),
        measures=asked,
        headline=told_measure,
        methods=_methods(grid, done),
        floors=(*floors, *(of for of in rules if of.kind == "floor")),
        ceilings=tuple(of for of in rules if of.kind == "ceiling"),
        failed=tuple((of.cell.method, of.cell.value, of.cell.seed, of.failed) for of in done if of.failed),
        notes=(*left_out, *_notes(grid, done)),
    )
    if results is not None:
        keep(results, [*(row for of in done for row in of.rows), *rows, *rows_of_rules])
    if figures is not None:
        save_drawings(report.drawings(swept), figures)
    if json_path is not None:
        write_json(json_path, report.document(swept))
    if json_path != STANDARD_OUTPUT:
        click.echo("\n".join(report.lines(swept, style=style or "plain")))
    if swept.failed:
        raise click.exceptions.Exit(EXIT_EMPTY_CELLS)


# --------------------------------------------------------------------------------------------- options


def read_world(text: str, dial: Dial) -> WorldSettings:
    """Read ``NAME=VALUE,...``: settings of a world, without the one that the dial is."""
    from truemoment.training.sweep import DIALS
    from truemoment.worlds import WorldSettings
    from truemoment.worlds.world import read_settings

    try:
        given = read_settings(text)
    except UsageError as error:
        raise UsageError(f"--world: {error}") from None
    if DIALS[dial.name] in given:
        raise UsageError(f"--world: {dial.name} is what --dial turns, expected it in one of them")
    settings = WorldSettings(**given)
    if settings.n_videos < LEAST_VIDEOS:
        raise UsageError(f"--world videos: got {settings.n_videos}, expected {LEAST_VIDEOS} or more: four splits")
    return settings


WORLD_NOTE = "synthetic world: "

LEAST_VIDEOS = 10
"""Fewer leave a split of a world with next to nothing."""


def _seeds(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise UsageError(f"--seeds: got {text!r}, expected whole numbers, 0 or more, e.g. 0,1,2")
    seeds = tuple(int(part) for part in parts)
    if len(set(seeds)) < len(seeds):
        raise UsageError(f"--seeds: got {text}, expected each seed once")
    return seeds


def _measures(measures: str | None, headline: str | None) -> tuple[tuple[str, ...], str]:
    """Return the measures as they are printed, and the one that is told."""
    from truemoment.measures import parse_measure, parse_measures
    from truemoment.training.runs import MEASURES

    asked = tuple(dict.fromkeys(str(measure) for measure in parse_measures(measures or MEASURES)))
    told = asked[0] if headline is None else str(parse_measure(headline))
    if told not in asked:
        raise UsageError(f"--headline: {told} is not measured, expected one of {'; '.join(asked)}")
    return asked, told


def _check_source(dataset: str | None, world: WorldSettings | None, dial: Dial, world_seeds: str) -> None:
    """Refuse no source, two of them, and a dial that the source does not have."""
    if (dataset is None) == (world is None):
        raise UsageError("on what? give --dataset charades-cd, or --world 'videos=600', expected one of them")
    if dataset is None:
        return
    if world_seeds == "each":
        raise UsageError("--world-seeds: is for --world, a dataset is the same for every seed")
    if dial.name != "perception":
        raise UsageError(f"--dial {dial.name}: turns a world, expected --world; a dataset has perception alone")
    if dataset not in WITH_ACTIONS:
        raise UsageError(f"--dataset {dataset}: perception is simulated for {' and '.join(WITH_ACTIONS)} alone")


# ---------------------------------------------------------------------------------------------- the data


@dataclass(frozen=True)
class Site:
    """Where the data of each cell lie; it is sent to the processes that train.

    Parameters
    ----------
    grid
        What is trained.
    dataset, data_dir
        A dataset; None and nothing for a world.
    world
        Settings of the world, but for the dial.
    each_seed
        Whether each seed of training has a world of its own.
    """

    grid: Grid
    dataset: str | None
    data_dir: Path | None
    world: WorldSettings | None
    each_seed: bool

    def __call__(self, cell: Cell) -> tuple[Task, Mapping[str, Annotations]]:
        """Read what a cell learns from and what it answers, as ``truemoment train`` does."""
        task, tests = prepare(
            self.grid.recipe_of(cell),
            self.data(cell.value, cell.seed),
            features=self.features(cell) or None,
            train_split="train",
            select_split=None,
            force=False,
            tests=(),
            skip_missing=False,
            seed=cell.seed,
        )
        return dataclasses.replace(task, notes=(*task.notes, *self.notes(cell))), tests

    @property
    def turns_annotations(self) -> bool:
        """Whether the dial changes what is annotated, and so what floors score."""
        return self.grid.dial.name != "perception"

    @property
    def places(self) -> list[tuple[float | None, int]]:
        """Value and seed of each set of annotations; None for one that is the same at all values."""
        values = self.grid.dial.values if self.turns_annotations else (None,)
        return [
            (value, seed) for value in values for seed in (self.grid.seeds if self.each_seed else self.grid.seeds[:1])
        ]

    def settings(self, value: float, seed: int) -> WorldSettings:
        """Return the settings of the world of a cell."""
        from truemoment.training.sweep import DIALS
        from truemoment.worlds import WorldSettings

        of = self.world or WorldSettings()
        number = of.seed + seed if self.each_seed else of.seed
        changed: dict[str, Any] = {DIALS[self.grid.dial.name]: value, "seed": number}
        return dataclasses.replace(of, **changed)

    def world_folder(self, value: float | None, seed: int) -> Path:
        """Return the folder of the world of a cell; that of the first value where any is as good."""
        from truemoment.training.sweep import written

        value = self.grid.dial.values[0] if value is None else value
        number = self.settings(value, seed).seed
        return self.grid.folder / "worlds" / f"{self.grid.dial.name}={written(value)}" / f"seed-{number}"

    def data(self, value: float | None, seed: int) -> AnnotationSource:
        """Say where the annotations are."""
        if self.world is None:
            return AnnotationSource(self.dataset, None, None, self.data_dir)
        return AnnotationSource(None, self.world_folder(value, seed) / "annotations.jsonl", None, self.data_dir)

    def features(self, cell: Cell) -> str:
        """Say where the features are; nowhere for a method that sees no video."""
        from truemoment.models import get_family
        from truemoment.training.sweep import written

        if "video" not in get_family(self.grid.recipe_of(cell).model).needs:
            return ""
        if self.world is None:
            return f"perception:{written(cell.value)}"
        return str(self.world_folder(cell.value, cell.seed) / "features.npz")

    def notes(self, cell: Cell) -> tuple[str, ...]:
        """Say what world it is."""
        if self.world is None:
            return ()
        settings = dataclasses.asdict(self.settings(self.grid.dial.values[0], cell.seed))
        dial = self.grid.dial.name.replace("-", "_")
        settings[dial] = "any" if cell.value is None else cell.value
        return (WORLD_NOTE + ", ".join(f"{name}={value}" for name, value in settings.items()),)

    def build(self, tell: Callable[[str], None]) -> None:
        """Write the worlds that are not there."""
        import msgspec

        from truemoment.files import decode_json, read_bytes
        from truemoment.worlds import make_world, write_world

        if self.world is None:
            return
        for value in self.grid.dial.values:
            for seed in self.grid.seeds if self.each_seed else self.grid.seeds[:1]:
                folder, settings = self.world_folder(value, seed), self.settings(value, seed)
                path = folder / "world.json"
                if path.is_file():
                    there = decode_json(read_bytes(path), dict[str, Any], path=path)
                    asked = msgspec.to_builtins(dataclasses.asdict(settings))
                    if {name: there.get(name) for name in asked} != asked:
                        raise UsageError(f"{told_path(folder)}: holds another world; give -o another folder")
                    continue
                tell(f"world {self.grid.dial.name}={value:g}")
                write_world(make_world(**dataclasses.asdict(settings)), folder)

    def place_of(self, cell: Cell) -> tuple[float | None, int]:
        """Return which of the places a cell's annotations are at."""
        return cell.value if self.turns_annotations else None, cell.seed if self.each_seed else self.grid.seeds[0]

    def read(self, place: tuple[float | None, int]) -> dict[str, Annotations]:
        """Read the splits of a place: training, validation if there is one, and every test split."""
        from truemoment.datasets import get_dataset
        from truemoment.worlds.world import SPLITS

        names = list(SPLITS) if self.world is not None else [of.name for of in get_dataset(self.dataset or "").splits]
        data = self.data(*place)
        return {name: data.read(name) for name in names if name in ("train", "val") or name.startswith("test")}


# ---------------------------------------------------------------------------------- what comes of the cells

Material = Mapping[tuple[float | None, int], Mapping[str, "Annotations"]]
"""Splits of each place."""


def _tests(material: Material) -> tuple[str, ...]:
    return tuple(name for name in next(iter(material.values())) if name.startswith("test"))


def _floors(
    site: Site, material: Material, measures: tuple[str, ...], tell: Callable[[str], None]
) -> tuple[tuple[Series, ...], list[str], list[Row]]:
    """Run every floor at every place; return them, what could not be fitted, and their figures as rows."""
    from truemoment.floors import Setting, run_floors
    from truemoment.measures import parse_measure
    from truemoment.protocols import protocol_for_dataset
    from truemoment.reports.sweep import Series
    from truemoment.training.floors import CONFIG, floor_rows

    points: dict[str, dict[tuple[float | None, int], dict[tuple[str, str], float]]] = {}
    titles: dict[str, str] = {}
    notes: dict[str, None] = {}
    rows: list[Row] = []
    cache = floors_cache()
    top = max(method.recipe.decode.top for method in site.grid.methods)
    for place, splits in material.items():
        for test in _tests(material):
            setting = Setting(
                annotations=splits[test],
                measures=tuple(parse_measure(measure) for measure in measures),
                protocol=protocol_for_dataset(splits[test].dataset),
                top=top,
                train=splits["train"],
                seed=place[1],
                cache=cache,
                on_status=tell,
            )
            floors, left_out = run_floors(setting)
            notes |= dict.fromkeys(left_out)
            for floor in floors:
                titles[floor.name] = floor.title
                at = points.setdefault(floor.name, {}).setdefault(place, {})
                at |= {(test, measure): float(floor.scores.value(measure)) for measure in measures}
                rows += floor_rows(floor.name, floor.scores, seed=place[1], fitted_on=splits["train"])
    found = tuple(Series(name, titles[name], "floor", False, of, CONFIG) for name, of in points.items())
    return found, list(notes), rows


def _rules(
    site: Site, material: Material, measures: tuple[str, ...], tell: Callable[[str], None]
) -> tuple[tuple[Series, ...], list[Row]]:
    """Run the interval rules at every value and seed of simulated perception; return them, and their figures as rows.

    On a world, and where no method sees features, there are none.
    """
    from truemoment.datasets import data_folder
    from truemoment.measures import parse_measure
    from truemoment.reports.sweep import Series
    from truemoment.training.floors import CONFIG
    from truemoment.training.rule_figures import run_rules

    if site.dataset is None or not any(method.sees for method in site.grid.methods):
        return (), []
    tell("rules on action intervals")
    splits = next(iter(material.values()))
    tests = _tests(material)
    found = list(
        run_rules(
            {name: splits[name] for name in tests},
            folder=data_folder(site.data_dir) / "charades-sta",
            train=splits["train"],
            qualities=site.grid.dial.values,
            seeds=site.grid.seeds,
            measures=[parse_measure(measure) for measure in measures],
            top=max(method.recipe.decode.top for method in site.grid.methods),
        )
    )
    series = tuple(
        Series(
            of.name,
            of.title,
            of.kind,
            True,
            {(at.quality, at.seed): at.values for at in found if at.name == of.name},
            CONFIG,
        )
        for of in {of.name: of for of in found}.values()
    )
    return series, [row for of in found for row in of.rows]


def _finished(site: Site, material: Material, measures: tuple[str, ...]) -> tuple[list[Outcome], list[Cell]]:
    """Read the cells that are finished; return what came of them, and those that are not."""
    from truemoment.training.runs import HELD_OUT, hold_out
    from truemoment.training.sweep import Outcome, read_finished

    done, missing = [], []
    for cell in site.grid.cells():
        splits, recipe = material[site.place_of(cell)], site.grid.recipe_of(cell)
        learned = list(splits.values())
        if recipe.select.split == HELD_OUT or recipe.select.split not in splits:
            learned += hold_out(splits["train"], cell.seed)
        rows = read_finished(
            site.grid.folder_of(cell),
            recipe,
            seed=cell.seed,
            features=site.features(cell),
            learned={(of.dataset, of.split): of.sha256 for of in learned},
            wanted=[(name, splits[name].sha256[:8], measure) for name in _tests(material) for measure in measures],
        )
        if rows is None:
            missing.append(cell)
        else:
            done.append(Outcome(cell, rows))
    return done, missing


@contextmanager
def _told(n_cells: int, *, show: bool, quiet: bool, headline: str) -> Iterator[Callable[[Outcome, Grid], None]]:
    """Tell a line a cell, above a progress bar if there is someone to see it."""
    from tqdm import tqdm

    with tqdm(total=n_cells, desc="cells", leave=False, disable=not show) as bar:
        left = n_cells

        def tell(outcome: Outcome, grid: Grid) -> None:
            nonlocal left
            left -= 1
            if not quiet:
                bar.write(_cell_line(outcome, grid, headline, left), file=sys.stderr)
            bar.update()

        yield tell


def _cell_line(outcome: Outcome, grid: Grid, headline: str, left: int) -> str:
    """Say what came of a cell."""
    cell = outcome.cell
    at = "" if cell.value is None else f", {grid.dial.name} {cell.value:g}"
    figures = [
        f"{row.split} {100 * float(row.value):.2f}" for row in outcome.rows if row.measure == headline and row.value
    ]
    what = outcome.failed or f"{headline} {', '.join(figures) or 'undefined'}"
    return f"{cell.method}{at}, seed {cell.seed}: {what}; {outcome.seconds:.1f} s, {left} left"


def _methods(grid: Grid, done: list[Outcome]) -> tuple[Series, ...]:
    """Put the figures of each method together."""
    from truemoment.reports.sweep import Series

    families = [method.family for method in grid.methods]
    found = []
    for method, family in zip(grid.methods, families, strict=True):
        points = {
            (of.cell.value, of.cell.seed): {
                (row.split, row.measure): float(row.value) if row.value else float("nan") for row in of.rows
            }
            for of in sorted(done, key=lambda of: (of.cell.value or 0.0, of.cell.seed))
            if of.cell.method == method.name and not of.failed
        }
        title = family if families.count(family) == 1 else method.name
        found.append(Series(method.name, title, "method", method.sees, points, method.recipe.hash))
    return tuple(found)


def _notes(grid: Grid, done: list[Outcome]) -> list[str]:
    """Return what the runs say must be said, each once; their worlds are told already."""
    from truemoment.training.checkpoints import read_run

    said = [note for of in done if not of.failed for note in read_run(grid.folder_of(of.cell)).notes]
    return list(dict.fromkeys(note for note in said if not note.startswith(WORLD_NOTE)))


def _source(site: Site) -> dict[str, Any]:
    """Say what the sweep is on, as JSON."""
    if site.world is None:
        return {"dataset": site.dataset}
    settings = dataclasses.asdict(site.world)
    del settings[site.grid.dial.name.replace("-", "_")]
    return {"world": settings, "world_seeds": "each" if site.each_seed else "same"}
