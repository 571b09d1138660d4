"""truemoment bench: train the methods of a paper's table, and compare them with floors and published figures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.request import In, Out, Request, Resumed, argument, number, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import floors_cache, say, status_line
from truemoment.cli.parts import Output, PageOutput
from truemoment.cli.threads import threads_of_workers
from truemoment.cli.trials import EXIT_WITHOUT_FIGURES, read_seeds, trial_lines
from truemoment.studies.request import data_dir

if TYPE_CHECKING:
    from truemoment.reproduction.bench.tables import BenchTable

DEFAULT_QUALITY = 0.3
"""Quality of simulated features where no others are given."""


@dataclass(frozen=True, kw_only=True)
class BenchRequest(Request):
    """The table, and how its methods are trained."""

    table_name: str = argument(metavar="TABLE")
    out: Resumed[Path] = option(
        "Folder of the runs. Existing runs in it are used.", name="-o --out", metavar="DIR", required=True
    )
    dataset: str | None = option("charades-cd or activitynet-cd. [default: charades-cd]", metavar="NAME")
    data_dir: Path | None = data_dir()
    features: In[str | None] = option("Features of the videos, as for truemoment train.", metavar="SOURCE")
    perception: float | None = option(
        "Quality of simulated features, 0 to 1. [default: 0.3, without --features]", limits=(0, 1), metavar="Q"
    )
    methods_text: str | None = option(
        "Recipes to train. [default: all of the table]", name="--methods", metavar="A,B,..."
    )
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
    engine: Literal["local", "ray"] = option(
        "This machine, or a Ray cluster (environment variable RAY_ADDRESS).", "local", rare=True
    )
    workers: int | None = number(
        "Number of worker processes. [default: 1; on a Ray cluster, all cores]", None, 1, 10000
    )
    threads: int | None = number(
        "Number of threads of each process. [default: the cores, divided]", None, 1, 1024, rare=True
    )
    budget_hours: float | None = option(
        "Stop training after H hours; the same command resumes it. [default: no limit]",
        limits=(0, None),
        is_open=True,
        metavar="H",
    )
    results: Out[Path | None] = option("File to which the figures are added, as CSV.", metavar="FILE.csv")

    def dataset_of(self, table: BenchTable) -> str:
        """Return the dataset, by default the first of the table."""
        dataset = self.dataset or table.datasets[0]
        if dataset not in table.datasets:
            raise UsageError(f"--dataset {dataset}: is not in this table, expected {' or '.join(table.datasets)}")
        return dataset

    def source_of_features(self) -> str:
        """Return the source of the features: a file, or simulated perception."""
        from truemoment.media.features.base import SIMULATED

        if self.features is None:
            return f"{SIMULATED}{DEFAULT_QUALITY if self.perception is None else self.perception:g}"
        if self.perception is not None:
            raise UsageError("--features and --perception: expected one of them")
        if self.features.startswith(SIMULATED):
            raise UsageError(f"--features {self.features}: expected --perception Q for simulated features")
        return self.features

    def end_time(self) -> float | None:
        """Return the time at which training ends; None for no end."""
        return None if self.budget_hours is None else time.time() + 3600 * self.budget_hours

    def recipes(self, table: BenchTable) -> tuple[str, ...]:
        """Return the recipes to train, by default all of the table."""
        return table.recipes if self.methods_text is None else tuple(map(str.strip, self.methods_text.split(",")))

    def inputs(self) -> list[Path]:
        """Return the recipes, the finished runs, and the files of the dataset."""
        from truemoment.data.datasets.source import files_of
        from truemoment.reproduction.bench.tables import get_bench

        table = get_bench(self.table_name)
        files, names = [], []
        for text in self.recipes(table):
            is_file = text.lower().endswith((".yaml", ".yml"))
            files += [Path(text)] if is_file else []
            names.append(Path(text).stem if is_file else text)
        return [*files, *(self.out / name for name in names), *files_of(self.dataset_of(table), self.data_dir)]


@binder.command("bench")
def command(request: BenchRequest, page: PageOutput, output: Output) -> None:
    """Train the methods of TABLE, and compare them with blind baselines and published figures.

    TABLE is closer-look. Finished runs are read and the others are trained: the same command resumes an
    interrupted one.

    \b
    truemoment bench closer-look --data-dir data -o bench --workers 2
    truemoment bench closer-look --features i3d.hdf5 --methods tan2d,drn --seeds 0 --budget-hours 8 -o bench
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.learning.training.results import keep
    from truemoment.learning.training.sweep import read_methods
    from truemoment.learning.training.sweep_run import read_measures
    from truemoment.reproduction.bench import report as reports
    from truemoment.reproduction.bench.grid import BenchGrid
    from truemoment.reproduction.bench.running import Bench
    from truemoment.reproduction.bench.tables import get_bench

    # Mistakes in the options are reported before files are read.
    until = request.end_time()
    table = get_bench(request.table_name)
    seeds, dataset, features = read_seeds(request.seeds_text), request.dataset_of(table), request.source_of_features()
    names, _ = read_measures(request.measures, table.headline)
    recipes = request.recipes(table)
    methods = read_methods(recipes, (*table.changes_on(dataset, recipes), *request.changes))
    grid = BenchGrid(methods, seeds, request.out, dataset, request.data_dir, features)
    click.get_current_context().with_resource(lock_folder(request.out))
    OwnPath(request.out).refuse_links()

    bench = Bench(table, grid, names)
    n_finished, n_missing = bench.start()
    if n_finished and not output.quiet:
        say(f"{n_finished} of {n_finished + n_missing} runs are finished already", err=True)
    with trial_lines(
        n_missing, "runs", lambda outcome: f"{outcome.trial.method}, seed {outcome.trial.seed}", table.headline, output
    ) as on_trial:
        threads = request.threads or threads_of_workers(request.engine, request.workers)
        for outcome in bench.train(workers=request.workers, engine=request.engine, threads=threads, until=until):
            on_trial(outcome)
            if request.results is not None:
                keep(request.results, outcome.rows)
    with status_line(show=output.progress) as on_status:
        bench.compare(floors_cache(), on_status)
        result = bench.result(on_status)
    if request.results is not None:
        keep(request.results, bench.all_rows())
    deliver(reports.report(result), lambda: reports.document(result), output, page)
    if result.failed:
        raise click.exceptions.Exit(EXIT_WITHOUT_FIGURES)
