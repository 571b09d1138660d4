"""truemoment mixtures: train a recipe on shares of a clean and a noisy set, and compare them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import (
    Learning,
    Output,
    PageOutput,
    Workers,
    learning_options,
    output_options,
    page_options,
    workers_options,
)
from truemoment.cli.options import (
    FILE,
    count_option,
    refuse_files,
    refuse_outputs,
    source_file,
    status_line,
)
from truemoment.cli.trials import EXIT_WITHOUT_FIGURES, trial_lines

if TYPE_CHECKING:
    from truemoment.base.boundary.distribution import Engine
    from truemoment.learning.training.mixture_grid import MixtureGrid
    from truemoment.learning.training.recipes import Recipe
    from truemoment.learning.training.run import RunSources


@click.command("mixtures", cls=Command)
@click.argument("recipe", metavar="RECIPE")
@click.option(
    "--grid",
    "grid_name",
    default="table5",
    show_default=True,
    metavar="NAME",
    help="Rows: table5, table6, study or FILE.yaml.",
)
@click.option("-o", "--out", type=FILE, required=True, metavar="DIR", help="Folder of the runs. Those in it are used.")
@learning_options
@click.option(
    "--sentences", multiple=True, metavar="FILE", help="Vectors of the sentences, for models that rank clips."
)
@click.option(
    "--fps", type=click.FloatRange(0, min_open=True), metavar="F", help="Rows a second of features that state none."
)
@click.option(
    "--mix",
    multiple=True,
    metavar="NAME[:SPLIT]",
    help="A source of the mixture; the clean one first. [default: the recipe's]",
)
@click.option("--simulated", is_flag=True, help="Use simulated films with known truth, which are written to DIR/films.")
@click.option(
    "--noise",
    type=click.FloatRange(0, 10),
    default=1.0,
    show_default=True,
    metavar="F",
    help="Strength of the noise of simulated films; 0 for none.",
)
@count_option("--seeds", 3, "Number of training seeds, from 0.", least=1, most=100)
@click.option(
    "--measures",
    metavar="'A; B'",
    help="Measures on the test splits; the first is compared. [default: R@1, R@5, R@10 at 0.5, mIoU; R@K of clips]",
)
@click.option("--force", is_flag=True, help="Allow films of a test split in a source. Every result then says so.")
@workers_options
@count_option("--threads", None, "Number of threads of each process. [default: the cores, divided]", least=1, most=1024)
@click.option("--results", type=FILE, metavar="FILE.csv", help="Add the figures to a file.")
@page_options
@output_options
def command(
    recipe: str,
    grid_name: str,
    out: Path,
    learning: Learning,
    sentences: tuple[str, ...],
    fps: float | None,
    mix: tuple[str, ...],
    simulated: bool,
    noise: float,
    seeds: int,
    measures: str | None,
    force: bool,
    processes: Workers,
    threads: int | None,
    results: Path | None,
    page: PageOutput,
    output: Output,
) -> None:
    """Train RECIPE on each row of a grid of mixtures, and compare the rows over films.

    A row is a share of each source, as in Tables 5 and 6 of MAD. The first source is the clean set, the
    second the noisy one. Finished runs are read and the others are trained: the same command resumes.

    \b
    truemoment mixtures tan2d-mixtures --simulated --grid study -o study --workers 2
    truemoment mixtures vlg-net-mad --grid table5 --mix clean.jsonl --mix mad --annotations clean.jsonl \\
        --features films.h5 -o mixtures
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.learning.training import report_mixtures as reports
    from truemoment.learning.training.mixture_study import MixtureStudy
    from truemoment.learning.training.mixtures import read_mix, with_sources
    from truemoment.learning.training.recipes import read_recipe
    from truemoment.learning.training.results import keep
    from truemoment.learning.training.run import RunSources
    from truemoment.studies.meta.workers import available_cores

    # Mistakes in the options are reported before files are read.
    page.refuse()
    refuse_files({"-o": out})
    loaded = with_sources(read_recipe(recipe, learning.changes), read_mix(mix))
    names = loaded.family.task.mixture_measures(measures)
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {out}: cannot be made, {out.parent} is no folder")
    read = [
        *learning.files(),
        *map(source_file, sentences),
        *(Path(source.annotations or "") for source in loaded.data or ()),
    ]
    refuse_outputs(read, [results, output.json_path, page.html])
    click.get_current_context().with_resource(lock_folder(out))
    OwnPath(out).refuse_links()
    with status_line(show=output.progress) as on_status:
        if simulated:
            grid = _simulated(loaded, grid_name, out, seeds, noise, learning, on_status)
        else:
            given = RunSources(
                learning.source, learning.features, tests=learning.tests, force=force, sentences=sentences, fps=fps
            )
            grid = _given(loaded, grid_name, out, seeds, given)
        study = MixtureStudy(grid, names)
        n_finished, n_missing = study.start()
    if n_finished and not output.quiet:
        click.echo(f"{n_finished} of {n_finished + n_missing} runs are finished already", err=True)
    each = threads or (1 if processes.engine == "ray" else max(1, available_cores() // (processes.workers or 1)))
    with trial_lines(
        n_missing, "runs", lambda outcome: f"{outcome.trial.method}, seed {outcome.trial.seed}", names[0], output
    ) as line:
        for outcome in study.train(workers=processes.workers, engine=cast("Engine", processes.engine), threads=each):
            line(outcome)
            if results is not None:
                keep(results, outcome.rows)
    result = study.result()
    deliver(reports.report(result), lambda: reports.document(result), output, page)
    if result.failed:
        raise click.exceptions.Exit(EXIT_WITHOUT_FIGURES)


def _simulated(
    loaded: Recipe,
    grid_name: str,
    out: Path,
    seeds: int,
    noise: float,
    learning: Learning,
    on_status: Callable[[str], None],
) -> MixtureGrid:
    """Write simulated films, and return the rows on them."""
    import dataclasses

    import msgspec

    from truemoment.data.datasets.source import AnnotationSource
    from truemoment.learning.training.mixture_grid import MixtureGrid, read_grid
    from truemoment.learning.training.run import RunSources
    from truemoment.learning.training.simulated_mixtures import (
        ANNOTATIONS,
        FEATURES,
        SENTENCES,
        StudyFilms,
        study_sources,
        write_study_films,
    )

    if learning.dataset or learning.annotations or learning.features or loaded.data:
        raise UsageError("--simulated: has films of its own, expected no --dataset, --annotations, --features or --mix")
    sources = study_sources(out / "films")
    rows = read_grid(grid_name, sources)
    films = StudyFilms()
    films = dataclasses.replace(films, noise=films.noise.scaled(noise))
    write_study_films(OwnPath(out) / "films", films, on_status)
    folder = out / "films"
    films_as_sources = RunSources(
        AnnotationSource(annotations=folder / ANNOTATIONS),
        str(folder / FEATURES),
        sentences=(str(folder / SENTENCES),) if "sentence" in loaded.family.needs else (),
    )
    recipe = msgspec.structs.replace(loaded, data=sources)
    return _of(MixtureGrid(recipe, rows, tuple(range(seeds)), out, films_as_sources))


def _given(loaded: Recipe, grid_name: str, out: Path, seeds: int, sources: RunSources) -> MixtureGrid:
    """Return the rows on the sources of a recipe."""
    from truemoment.learning.training.mixture_grid import MixtureGrid, read_grid

    if not loaded.data:
        raise UsageError("which sources? give --mix NAME for each, or a block data: in the recipe, or --simulated")
    return _of(MixtureGrid(loaded, read_grid(grid_name, loaded.data), tuple(range(seeds)), out, sources))


def _of(grid: MixtureGrid) -> MixtureGrid:
    return grid.with_equal_steps() if grid.recipe.steps == "equal" else grid
