"""truemoment sweep: train methods over the values of a dial, and compare the curves with floors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.request import InDataset, Out, OutFolder, Request, Resumed, argument, number, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import floors_cache, say, status_line
from truemoment.cli.parts import Output, PageOutput
from truemoment.cli.threads import threads_of_workers
from truemoment.cli.trials import EXIT_WITHOUT_FIGURES, read_seeds, trial_lines
from truemoment.studies.request import data_dir

if TYPE_CHECKING:
    from truemoment.learning.training.sweep import Dial, SweepGrid
    from truemoment.learning.training.sweep_data import SweepData
    from truemoment.learning.training.trials import TrialOutcome


@dataclass(frozen=True, kw_only=True)
class SweepRequest(Request):
    """The recipes, and the dial."""

    recipes: tuple[str, ...] = argument(metavar="RECIPES...", required=False)
    dial_text: str | None = option(
        "Dial and its values; NAME is perception, location-prior or query-prior.",
        name="--dial",
        metavar="NAME=V1,V2,...",
    )
    dataset: InDataset[str | None] = option(
        "charades-cd, charades-sta, activitynet-cd or activitynet-captions, with simulated perception.", metavar="NAME"
    )
    world_text: str | None = option(
        "A synthetic world, e.g. 'videos=600,query_prior=1'.", name="--world", metavar="'A=V,B=V'"
    )
    world_seeds: Literal["same", "each"] = option("One world for all seeds of training, or one for each.", "same")
    data_dir: Path | None = data_dir()
    seeds_text: str = option("Training seeds.", "0,1,2", name="--seeds", metavar="S1,S2,...")
    changes: tuple[str, ...] = option(
        "Change a value of every recipe, or of one: train.epochs=5, drn:settings.hidden=32.",
        (),
        name="--set",
        metavar="[RECIPE:]KEY=VALUE",
    )
    measures: str | None = option(
        "Measures on the test splits. [default: R@1, dR@1 at 0.5 and 0.7, mIoU, AxIoU]", metavar="'A; B'"
    )
    headline: str | None = option("Measure that the report shows. [default: the first measure]", metavar="MEASURE")
    jobs: int | None = number(
        "Number of worker processes. [default: 1; on a Ray cluster, all cores]", None, 1, 256, name="--workers --jobs"
    )
    threads: int | None = number(
        "Number of threads of each process. [default: the cores, divided]", None, 1, 1024, rare=True
    )
    engine: Literal["local", "ray"] = option(
        "This machine, or a Ray cluster (environment variable RAY_ADDRESS).", "local", rare=True
    )
    out: Resumed[Path] = option(
        "Output folder. An existing sweep in it is resumed.", name="-o --out", metavar="DIR", required=True
    )
    results: Out[Path | None] = option("File to which the figures are added, as CSV.", metavar="FILE.csv")
    figures: OutFolder[Path | None] = option("Save the curves as PNG, SVG and PDF.", metavar="DIR")

    def data(self, grid: SweepGrid) -> SweepData:
        """Return the data of a grid."""
        from truemoment.learning.training.sweep_data import SweepData, read_world

        world = None if self.world_text is None else read_world(self.world_text, grid.dial)
        return SweepData(grid, self.dataset, self.data_dir, world, each_seed=self.world_seeds == "each")

    def inputs(self) -> list[Path]:
        """Return the recipes, and the finished cells and worlds."""
        own = [Path(text) for text in self.recipes if text.lower().endswith((".yaml", ".yml"))]
        return [*own, self.out / "cells", self.out / "worlds"]


@binder.command("sweep")
def command(request: SweepRequest, output: Output) -> None:
    """Train RECIPES at each value of a dial, and report the score at each value, with floors beside.

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
    if request.dial_text is None:
        raise UsageError("which dial? give --dial NAME=V1,V2,..., e.g. --dial perception=0,0.3,1")
    grid = SweepGrid((), Dial.read(request.dial_text), read_seeds(request.seeds_text), request.out)
    request.data(grid)
    names, shown = read_measures(request.measures, request.headline)
    grid = SweepGrid(read_methods(request.recipes, request.changes), grid.dial, grid.seeds, request.out)
    click.get_current_context().with_resource(lock_folder(request.out))
    OwnPath(request.out).refuse_links()

    sweep = Sweep(request.data(grid), names, shown)
    with status_line(show=output.progress) as on_status:
        n_finished, n_missing = sweep.start(floors_cache(), on_status)
    if n_finished and not output.quiet:
        say(f"{n_finished} of {n_finished + n_missing} cells are finished already", err=True)
    with trial_lines(n_missing, "cells", lambda outcome: _name(outcome, grid.dial), shown, output) as on_cell:
        threads = request.threads or threads_of_workers(request.engine, request.jobs)
        for outcome in sweep.train(request.jobs, threads, request.engine):
            on_cell(outcome)
    result = sweep.result()
    if request.results is not None:
        keep(request.results, sweep.all_rows())
    page = PageOutput(figures=request.figures)
    deliver(reports.report(result), lambda: reports.document(result), output, page)
    if result.failed:
        raise click.exceptions.Exit(EXIT_WITHOUT_FIGURES)


def _name(outcome: TrialOutcome, dial: Dial) -> str:
    trial = outcome.trial
    at = "" if trial.value is None else f", {dial.name} {trial.value:g}"
    return f"{trial.method}{at}, seed {trial.seed}"
