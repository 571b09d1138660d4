"""truemoment train: train a model by a recipe, choose its epoch on a validation split, predict the test splits."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from truemoment.base.errors import UsageError
from truemoment.base.request import Out, OutFolder, Request, argument, option, seed
from truemoment.cli import binder
from truemoment.cli.delivery import deliver, suggest
from truemoment.cli.outputs import files_of_run, refuse_outputs, say, source_file
from truemoment.cli.parts import Learning, ModelThreads, Output

if TYPE_CHECKING:
    from truemoment.learning.training.checkpoints import Epoch
    from truemoment.learning.training.progress import Track
    from truemoment.learning.training.recipes import Optimisation


@dataclass(frozen=True, kw_only=True)
class TrainRequest(Request):
    """The recipe, and how it is trained."""

    recipe: str = argument(metavar="RECIPE", complete="recipes")
    sentences: tuple[str, ...] = option(
        "Vectors of the sentences, for models that rank clips: FILE.h5, FILE.npz or encoder:NAME.",
        (),
        metavar="FILE",
        rare=True,
    )
    fps: float | None = option(
        "Rows per second of features that state no rate.", limits=(0, None), is_open=True, metavar="F"
    )
    mix: tuple[str, ...] = option(
        "Train on a mixture: a dataset or FILE.jsonl and its share, e.g. mad=0.32,by=films.",
        (),
        metavar="NAME[:SPLIT]=SHARE",
        rare=True,
    )
    train_split: str = option("Split to train on.", "train", metavar="NAME", rare=True)
    select_split: str | None = option(
        "Split that chooses the epoch. [default: the recipe's; 'held out' if the dataset has none]",
        metavar="NAME",
        rare=True,
    )
    force: bool = option(
        "Allow a test split to choose the epoch, or its films in a mixture. Every result then says so.",
        False,
        rare=True,
    )
    on_missing_video: Literal["refuse", "skip"] = option(
        "Whether videos without features are refused or skipped.", "refuse", rare=True
    )
    measures: str | None = option(
        "Measures on the test splits. [default: R@1, dR@1 at 0.5 and 0.7, mIoU, AxIoU]", metavar="'A; B'"
    )
    seed: int = seed("weights, order and all draws")
    out: OutFolder[Path | None] = option(
        "Output folder. An existing run in it is resumed. [default: runs/MODEL-DATASET-HASH-SEED]",
        name="-o --out",
        metavar="DIR",
    )
    results: Out[Path | None] = option("Add the figures to a file.", metavar="FILE.csv", rare=True)


@binder.command("train")
def command(request: TrainRequest, learning: Learning, _threads: ModelThreads, output: Output) -> None:
    """Train a model by RECIPE, the name of a recipe or FILE.yaml.

    Recipes: tan2d, blind-tan, tcn-dcm, mdd, ctrl, acrn, ablr, scdm, drn, vlg-net, tsp-prl and wssl, which are small,
    each also as -full (drn-full); and tan2d-windows, vlg-net-mad and vlg-net-mad-full for videos that last hours.
    mean-pool and frame-sequence rank clips by text; "truemoment retrieve --model RUN" uses the run.

    The run keeps the epoch that is best on the validation split; that of wssl keeps the last one. The same command
    resumes an interrupted run.

    \b
    truemoment train tan2d --dataset charades-cd --features perception:0.3 -o runs/tan2d
    truemoment train blind-tan --dataset charades-sta -o runs/blind
    truemoment predict run runs/tan2d --dataset charades-cd --split test-ood -o preds.jsonl
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --model runs/tan2d
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.learning.training import report as reports
    from truemoment.learning.training.hardware import processes
    from truemoment.learning.training.mixtures import read_mix, with_sources
    from truemoment.learning.training.performing import document, perform
    from truemoment.learning.training.recipes import read_recipe
    from truemoment.learning.training.results import keep
    from truemoment.learning.training.run import Run, RunSources

    # Mistakes in the options are reported before files are read.
    loaded = with_sources(read_recipe(request.recipe, learning.changes), read_mix(request.mix))
    if request.measures is not None:
        loaded.family.task.parse_measures(request.measures)
    name = learning.dataset or (learning.annotations or Path("own")).stem
    out = request.out or Path("runs") / f"{loaded.model}-{name}-{loaded.hash[:6]}-{request.seed}"
    read = [
        *learning.files(),
        *map(source_file, request.sentences),
        *(Path(source.annotations or "") for source in loaded.data or ()),
    ]
    if request.recipe.lower().endswith((".yaml", ".yml")):
        read.append(Path(request.recipe))
    _refuse_outputs([*files_of_run(out), *read], [request.results, output.json_path])
    sources = RunSources(
        learning.source,
        learning.features,
        request.train_split,
        request.select_split,
        learning.tests,
        force=request.force,
        skip_missing=request.on_missing_video == "skip",
        sentences=request.sentences,
        fps=request.fps,
    )
    first = processes().is_main_process
    output = output if first else dataclasses.replace(output, quiet=True)  # one of the processes speaks for all

    def warn(line: str) -> None:
        if first:
            say(line, err=True)

    run = Run.resolve(loaded, sources, request.seed, warn=warn)
    with _epoch_lines(loaded.train, output) as (track, on_epoch):
        if not output.quiet:
            for line in reports.opening(run, str(out)):
                say(line, err=True)
        result = perform(run, out, measures=request.measures, track=track, on_epoch=on_epoch)
    if not first:
        return
    if request.results is not None:
        keep(request.results, result.tests)
    reports.save_curves(result)
    deliver(reports.report(result), lambda: document(result), output)
    if words := reports.audit_words(result, learning.source.words()):
        suggest("does it use the videos?", words, output)


def _refuse_outputs(inputs: list[Path | None], outputs: list[Path | None]) -> None:
    """Refuse outputs that would overwrite what is read, and folders."""
    refuse_outputs(inputs, outputs)
    for path in outputs:
        if path is not None and path.is_dir():
            raise UsageError(f"{path}: is a folder, expected the name of a file to write")


@contextmanager
def _epoch_lines(optimisation: Optimisation, output: Output) -> Iterator[tuple[Track, Any]]:
    """Show steps in a progress bar, and write a line for each epoch."""
    from tqdm import tqdm

    def track(items: Any, what: str) -> Any:  # noqa: ANN401 - any iterable
        return tqdm(items, desc=what, leave=False) if output.progress else items

    def on_epoch(epoch: Epoch) -> None:
        if not output.quiet:
            from truemoment.learning.training.report import epoch_line

            click.echo(epoch_line(epoch, optimisation), err=True)

    yield track, on_epoch
