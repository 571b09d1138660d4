"""truemoment bench: train the methods of a paper's table, and compare them with floors and published figures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, PageOutput, bound, output_options, page_options
from truemoment.cli.options import (
    FILE,
    count_option,
    data_dir_option,
    floors_cache,
    refuse_files,
    refuse_outputs,
    source_file,
    status_line,
    worker_options,
)
from truemoment.cli.trials import EXIT_WITHOUT_FIGURES, changes_option, read_seeds, seeds_option, trial_lines
from truemoment.data.datasets.source import files_of

if TYPE_CHECKING:
    from truemoment.base.boundary.distribution import Engine
    from truemoment.reproduction.bench.tables import BenchTable

DEFAULT_QUALITY = 0.3
"""Quality of simulated features where no others are given."""


@dataclass(frozen=True)
class _BenchData:
    """The options of the data."""

    dataset: str | None
    data_dir: Path | None
    features: str | None
    perception: float | None

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


@dataclass(frozen=True)
class _BenchWork:
    """The options of the work."""

    engine: str
    workers: int | None
    threads: int | None
    budget_hours: float | None

    def threads_each(self) -> int:
        """Return the threads of each process."""
        from truemoment.studies.meta.workers import available_cores

        if self.engine == "ray":
            return self.threads or 1  # Ray gives a core to each
        return self.threads or max(1, available_cores() // (self.workers or 1))

    def until(self) -> float | None:
        """Return the time at which training ends; None for no end."""
        return None if self.budget_hours is None else time.time() + 3600 * self.budget_hours


@click.command("bench", cls=Command)
@click.argument("table_name", metavar="TABLE")
@click.option("-o", "--out", type=FILE, required=True, metavar="DIR", help="Folder of the runs. Those in it are used.")
@bound(
    "data",
    _BenchData,
    click.option("--dataset", metavar="NAME", help="charades-cd or activitynet-cd. [default: charades-cd]"),
    data_dir_option,
    click.option("--features", metavar="SOURCE", help="Features of the videos, as for truemoment train."),
    click.option(
        "--perception",
        type=click.FloatRange(0, 1),
        metavar="Q",
        help=f"Quality of simulated features, 0 to 1. [default: {DEFAULT_QUALITY:g}, without --features]",
    ),
)
@click.option("--methods", "methods_text", metavar="A,B,...", help="Recipes to train. [default: all of the table]")
@seeds_option("0,1,2")
@changes_option
@click.option(
    "--measures", metavar="'A; B'", help="Measures on the test splits. [default: R@1, dR@1 at 0.5 and 0.7, mIoU, AxIoU]"
)
@bound(
    "work",
    _BenchWork,
    worker_options,
    count_option(
        "--threads", None, "Number of threads of each process. [default: the cores, divided]", least=1, most=1024
    ),
    click.option(
        "--budget-hours",
        type=click.FloatRange(0, min_open=True),
        metavar="H",
        help="Stop training after H hours. The same command resumes it.",
    ),
)
@click.option("--results", type=FILE, metavar="FILE.csv", help="Add the figures to a file.")
@page_options
@output_options
def command(
    table_name: str,
    out: Path,
    data: _BenchData,
    methods_text: str | None,
    seeds_text: str,
    changes: tuple[str, ...],
    measures: str | None,
    work: _BenchWork,
    results: Path | None,
    page: PageOutput,
    output: Output,
) -> None:
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
    until = work.until()
    table = get_bench(table_name)
    seeds, dataset, features = read_seeds(seeds_text), data.dataset_of(table), data.source_of_features()
    names, _ = read_measures(measures, table.headline)
    recipes = table.recipes if methods_text is None else tuple(name.strip() for name in methods_text.split(","))
    _refuse_outputs(recipes, data, dataset, out, [results, output.json_path, page.html], page)
    methods = read_methods(recipes, (*table.changes_on(dataset, recipes), *changes))
    grid = BenchGrid(methods, seeds, out, dataset, data.data_dir, features)
    click.get_current_context().with_resource(lock_folder(out))
    OwnPath(out).refuse_links()

    bench = Bench(table, grid, names)
    n_finished, n_missing = bench.start()
    if n_finished and not output.quiet:
        click.echo(f"{n_finished} of {n_finished + n_missing} runs are finished already", err=True)
    with trial_lines(
        n_missing, "runs", lambda of: f"{of.trial.method}, seed {of.trial.seed}", table.headline, output
    ) as on_trial:
        for outcome in bench.train(
            workers=work.workers, engine=cast("Engine", work.engine), threads=work.threads_each(), until=until
        ):
            on_trial(outcome)
            if results is not None:
                keep(results, outcome.rows)
    with status_line(show=output.progress) as on_status:
        bench.compare(floors_cache(), on_status)
        result = bench.result(on_status)
    if results is not None:
        keep(results, bench.all_rows())
    deliver(reports.report(result), lambda: reports.document(result), output, page)
    if result.failed:
        raise click.exceptions.Exit(EXIT_WITHOUT_FIGURES)


def _refuse_outputs(
    recipes: tuple[str, ...], data: _BenchData, dataset: str, out: Path, files: list[Path | None], page: PageOutput
) -> None:
    """Refuse outputs that cannot be written, or would overwrite what is read."""
    page.refuse()
    refuse_files({"-o": out})
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {out}: cannot be made, {out.parent} is no folder")
    own = [Path(text) for text in recipes if text.lower().endswith((".yaml", ".yml"))]
    stems = [path.stem for path in own]
    runs = [out / name for name in recipes if not name.lower().endswith((".yaml", ".yml"))]
    written = [None if path is not None and path.parent == out and not out.exists() else path for path in files]
    read = [*own, *runs, *(out / stem for stem in stems), source_file(data.features), *files_of(dataset, data.data_dir)]
    refuse_outputs(read, written)
