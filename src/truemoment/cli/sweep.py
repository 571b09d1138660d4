"""truemoment sweep: train methods over the values of a dial, and compare the curves with floors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, PageOutput, bound, output_options
from truemoment.cli.options import (
    FILE,
    count_option,
    data_dir_option,
    floors_cache,
    refuse_files,
    refuse_outputs,
    status_line,
)
from truemoment.cli.trials import EXIT_WITHOUT_FIGURES, changes_option, read_seeds, seeds_option, trial_lines
from truemoment.data.datasets.source import files_of

if TYPE_CHECKING:
    from truemoment.base.boundary.distribution import Engine
    from truemoment.learning.training.sweep import Dial, SweepGrid
    from truemoment.learning.training.sweep_data import SweepData
    from truemoment.learning.training.trials import TrialOutcome


@dataclass(frozen=True)
class _Data:
    """The options of the data."""

    dataset: str | None
    world_text: str | None
    world_seeds: Literal["same", "each"]
    data_dir: Path | None

    def of(self, grid: SweepGrid) -> SweepData:
        """Return the data of a grid."""
        from truemoment.learning.training.sweep_data import SweepData, read_world

        world = None if self.world_text is None else read_world(self.world_text, grid.dial)
        return SweepData(grid, self.dataset, self.data_dir, world, each_seed=self.world_seeds == "each")


@dataclass(frozen=True)
class _Processes:
    """The options of the processes."""

    jobs: int | None
    threads: int | None
    engine: str

    def threads_each(self) -> int:
        """Return the threads of each process."""
        from truemoment.studies.meta.workers import available_cores

        if self.engine == "ray":
            return self.threads or 1  # Ray gives a core to each
        return self.threads or max(1, available_cores() // (self.jobs or 1))


@click.command("sweep", cls=Command)
@click.argument("recipes", nargs=-1, metavar="RECIPES...")
@click.option("--dial", "dial_text", metavar="NAME=V1,V2,...", help="perception, location-prior or query-prior.")
@bound(
    "data",
    _Data,
    click.option(
        "--dataset",
        metavar="NAME",
        help="charades-cd, charades-sta, activitynet-cd or activitynet-captions, with simulated perception.",
    ),
    click.option(
        "--world", "world_text", metavar="'A=V,B=V'", help="A synthetic world, e.g. 'videos=600,query_prior=1'."
    ),
    click.option(
        "--world-seeds",
        type=click.Choice(["same", "each"]),
        default="same",
        show_default=True,
        help="One world for all seeds of training, or one for each.",
    ),
    data_dir_option,
)
@seeds_option("0,1,2")
@changes_option
@click.option(
    "--measures", metavar="'A; B'", help="Measures on the test splits. [default: R@1, dR@1 at 0.5 and 0.7, mIoU, AxIoU]"
)
@click.option("--headline", metavar="MEASURE", help="Measure that the report shows. [default: the first measure]")
@bound(
    "processes",
    _Processes,
    count_option(
        "--jobs", None, "Number of worker processes. [default: 1; on a Ray cluster, all cores]", least=1, most=256
    ),
    count_option(
        "--threads", None, "Number of threads of each process. [default: the cores, divided]", least=1, most=1024
    ),
    click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="This machine, or a Ray cluster (environment variable RAY_ADDRESS).",
    ),
)
@click.option(
    "-o", "--out", type=FILE, required=True, metavar="DIR", help="Output folder. An existing sweep in it is resumed."
)
@click.option("--results", type=FILE, metavar="FILE.csv", help="Add the figures to a file.")
@click.option("--figures", type=FILE, metavar="DIR", help="Save the curves as PNG, SVG and PDF.")
@output_options
def command(
    recipes: tuple[str, ...],
    dial_text: str | None,
    data: _Data,
    seeds_text: str,
    changes: tuple[str, ...],
    measures: str | None,
    headline: str | None,
    processes: _Processes,
    out: Path,
    results: Path | None,
    figures: Path | None,
    output: Output,
) -> None:
    """Train RECIPES at each value of a dial, and report score against dial, with floors beside.

    The score of a method at perception 0, where it sees nothing, is its shortcut.
    Each run is saved; the same command resumes an interrupted sweep.

    \b
    truemoment sweep tan2d blind-tan tcn-dcm mdd --dataset charades-cd \\
        --dial perception=0,0.15,0.3,0.6,1 -o sweep --figures sweep/figures
    truemoment sweep tan2d blind-tan --world videos=600,perception=1 --dial query-prior=0,0.5,1 -o sweep
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.learning.training import report_sweep as reports
    from truemoment.learning.training.results import keep
    from truemoment.learning.training.sweep import Dial, SweepGrid, read_methods
    from truemoment.learning.training.sweep_run import Sweep, read_measures

    # Mistakes in the options are reported before files are read.
    if dial_text is None:
        raise UsageError("which dial? give --dial NAME=V1,V2,..., e.g. --dial perception=0,0.3,1")
    grid = SweepGrid((), Dial.read(dial_text), read_seeds(seeds_text), out)
    data.of(grid)
    names, shown = read_measures(measures, headline)
    _refuse_outputs(recipes, data, out, [results, output.json_path], figures)
    grid = SweepGrid(read_methods(recipes, changes), grid.dial, grid.seeds, out)
    click.get_current_context().with_resource(lock_folder(out))
    OwnPath(out).refuse_links()

    sweep = Sweep(data.of(grid), names, shown)
    with status_line(show=output.progress) as on_status:
        n_finished, n_missing = sweep.start(floors_cache(), on_status)
    if n_finished and not output.quiet:
        click.echo(f"{n_finished} of {n_finished + n_missing} cells are finished already", err=True)
    with trial_lines(n_missing, "cells", lambda of: _name(of, grid.dial), shown, output) as on_cell:
        for outcome in sweep.train(processes.jobs, processes.threads_each(), cast("Engine", processes.engine)):
            on_cell(outcome)
    result = sweep.result()
    if results is not None:
        keep(results, sweep.all_rows())
    page = PageOutput(html=None, open_it=False, figures=figures)
    deliver(reports.report(result), lambda: reports.document(result), output, page)
    if result.failed:
        raise click.exceptions.Exit(EXIT_WITHOUT_FIGURES)


def _refuse_outputs(
    recipes: tuple[str, ...], data: _Data, out: Path, files: list[Path | None], figures: Path | None
) -> None:
    """Refuse outputs that cannot be written, or would overwrite what is read."""
    refuse_files({"-o": out, "--figures": figures})
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {out}: cannot be made, {out.parent} is no folder")
    own = [Path(text) for text in recipes if text.lower().endswith((".yaml", ".yml"))]
    written = [None if path is not None and path.parent == out and not out.exists() else path for path in files]
    refuse_outputs([*own, out / "cells", out / "worlds", *files_of(data.dataset, data.data_dir)], written)


def _name(outcome: TrialOutcome, dial: Dial) -> str:
    trial = outcome.trial
    at = "" if trial.value is None else f", {dial.name} {trial.value:g}"
    return f"{trial.method}{at}, seed {trial.seed}"
