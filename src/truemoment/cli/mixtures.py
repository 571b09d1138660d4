"""truemoment mixtures: train a recipe on shares of a clean and a noisy set, and compare them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.request import In, Out, Request, Resumed, argument, number, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import say, status_line
from truemoment.cli.parts import Output, PageOutput
from truemoment.cli.threads import threads_of_workers
from truemoment.cli.trials import EXIT_WITHOUT_FIGURES, trial_lines
from truemoment.learning.training.request import Learning
from truemoment.studies.request import Workers

if TYPE_CHECKING:
    from truemoment.learning.training.mixture_grid import MixtureGrid
    from truemoment.learning.training.recipes import Recipe
    from truemoment.learning.training.run import RunSources


@dataclass(frozen=True, kw_only=True)
class MixturesRequest(Request):
    """The recipe, and the rows of the grid."""

    recipe: str = argument(metavar="RECIPE")
    grid_name: str = option("Rows: table5, table6, study or FILE.yaml.", "table5", name="--grid", metavar="NAME")
    out: Resumed[Path] = option(
        "Folder of the runs. Existing runs in it are used.", name="-o --out", metavar="DIR", required=True
    )
    sentences: In[tuple[str, ...]] = option("Vectors of the sentences, for models that rank clips.", (), metavar="FILE")
    fps: float | None = option(
        "Rows per second of features that state no rate.", limits=(0, None), is_open=True, metavar="F"
    )
    mix: In[tuple[str, ...]] = option(
        "A source of the mixture; the clean one first. [default: the recipe's]", (), metavar="NAME[:SPLIT]"
    )
    simulated: bool = option("Use simulated films with known truth, which are written to DIR/films.", False)
    noise: float = option("Strength of the noise of simulated films; 0 for none.", 1.0, limits=(0, 10), metavar="F")
    seeds: int = number("Number of training seeds, from 0.", 3, 1, 100)
    measures: str | None = option(
        "Measures on the test splits; the first is compared. [default: R@1, R@5, R@10 at 0.5, mIoU; R@K of clips]",
        metavar="'A; B'",
    )
    force: bool = option("Allow films of a test split in a source. Every result then states it.", False)
    threads: int | None = number(
        "Number of threads of each process. [default: the cores, divided]", None, 1, 1024, rare=True
    )
    results: Out[Path | None] = option("File to which the figures are added, as CSV.", metavar="FILE.csv")


@binder.command("mixtures")
def command(request: MixturesRequest, learning: Learning, processes: Workers, page: PageOutput, output: Output) -> None:
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

    # Mistakes in the options are reported before files are read.
    loaded = with_sources(read_recipe(request.recipe, learning.changes), read_mix(request.mix))
    names = loaded.family.task.mixture_measures(request.measures)
    click.get_current_context().with_resource(lock_folder(request.out))
    OwnPath(request.out).refuse_links()
    with status_line(show=output.progress) as on_status:
        if request.simulated:
            grid = _grid_on_films(
                loaded, request.grid_name, request.out, request.seeds, request.noise, learning, on_status
            )
        else:
            given = RunSources(
                learning.source,
                learning.features,
                tests=learning.tests,
                force=request.force,
                sentences=request.sentences,
                fps=request.fps,
            )
            grid = _grid_on_sources(loaded, request.grid_name, request.out, request.seeds, given)
        study = MixtureStudy(grid, names)
        n_finished, n_missing = study.start()
    if n_finished and not output.quiet:
        say(f"{n_finished} of {n_finished + n_missing} runs are finished already", err=True)
    threads = request.threads or threads_of_workers(processes.engine, processes.workers)
    with trial_lines(
        n_missing, "runs", lambda outcome: f"{outcome.trial.method}, seed {outcome.trial.seed}", names[0], output
    ) as line:
        for outcome in study.train(workers=processes.workers, engine=processes.engine, threads=threads):
            line(outcome)
            if request.results is not None:
                keep(request.results, outcome.rows)
    result = study.result()
    deliver(reports.report(result), lambda: reports.document(result), output, page)
    if result.failed:
        raise click.exceptions.Exit(EXIT_WITHOUT_FIGURES)


def _grid_on_films(
    loaded: Recipe,
    grid_name: str,
    out: Path,
    seeds: int,
    noise: float,
    learning: Learning,
    on_status: Callable[[str], None],
) -> MixtureGrid:
    """Write simulated films, and return the rows on them."""
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
    return _with_equal_steps(MixtureGrid(recipe, rows, tuple(range(seeds)), out, films_as_sources))


def _grid_on_sources(loaded: Recipe, grid_name: str, out: Path, seeds: int, sources: RunSources) -> MixtureGrid:
    """Return the rows on the sources of a recipe."""
    from truemoment.learning.training.mixture_grid import MixtureGrid, read_grid

    if not loaded.data:
        raise UsageError("which sources? give --mix NAME for each, or a block data: in the recipe, or --simulated")
    return _with_equal_steps(MixtureGrid(loaded, read_grid(grid_name, loaded.data), tuple(range(seeds)), out, sources))


def _with_equal_steps(grid: MixtureGrid) -> MixtureGrid:
    return grid.with_equal_steps() if grid.recipe.steps == "equal" else grid
