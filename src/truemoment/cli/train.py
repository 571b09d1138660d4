"""truemoment train: train a model by a recipe, choose its epoch on a validation split, predict the test splits."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truemoment.base.errors import UsageError
from truemoment.base.request import named_files, several
from truemoment.cli import binder
from truemoment.cli.delivery import deliver, suggest
from truemoment.cli.expected import left
from truemoment.cli.outputs import files_of_run, refuse_outputs, say
from truemoment.cli.parts import ModelThreads, Output
from truemoment.learning.training.request import TrainRequest
from truemoment.report.words import about
from truemoment.studies.request import path_of

if TYPE_CHECKING:
    from truemoment.learning.training.checkpoints import Epoch
    from truemoment.learning.training.progress import Track
    from truemoment.learning.training.recipes import Optimisation
    from truemoment.learning.training.run import Run


@binder.command("train")
def command(request: TrainRequest, _threads: ModelThreads, output: Output) -> None:
    """Train a model by RECIPE, the name of a recipe or FILE.yaml.

    Recipes: tan2d, blind-tan, tcn-dcm, mdd, ctrl, acrn, ablr, scdm, drn, vlg-net, tsp-prl, wssl, moment-detr,
    qd-detr and flash-vtg, which are small, each also as -full (drn-full); tan2d-windows, vlg-net-mad and
    vlg-net-mad-full for videos that last hours; and moment-detr-charades-full and qd-detr-charades-full.
    mean-pool and frame-sequence rank clips by text; "truemoment retrieve --model RUN" uses the run.

    The run keeps the epoch that is best on the validation split; that of wssl keeps the last one. The same command
    resumes an interrupted run.

    \b
    truemoment train tan2d --dataset charades-cd --features perception:0.3 -o runs/tan2d
    truemoment train blind-tan --dataset charades-sta -o runs/blind
    truemoment predict run runs/tan2d --dataset charades-cd --split test-ood -o preds.jsonl
    truemoment audit preds.jsonl --dataset charades-cd --split test-ood --model runs/tan2d
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.cli.api.runs import train_by
    from truemoment.learning.training import report as reports
    from truemoment.learning.training.hardware import processes

    recipe = request.resolved_recipe()
    out = request.folder(recipe)
    read = [
        *request.files(),
        *(path for text in several(request.sentences) for path in named_files(text)),
        *(Path(source.annotations or "") for source in recipe.data or ()),
    ]
    if request.recipe.lower().endswith((".yaml", ".yml")):
        read.append(Path(request.recipe))
    results = path_of(request.results)
    refuse_outputs([*files_of_run(out), *read], [results, output.json_path])
    for path in (results, output.json_path):
        if path is not None and path.is_dir():
            raise UsageError(f"{path}: is a folder, expected the name of a file to write")
    first = processes().is_main_process
    output = output if first else dataclasses.replace(output, quiet=True)  # one of the processes speaks for all

    def warn(line: str) -> None:
        if first:
            say(line, err=True)

    def on_start(run: Run) -> None:
        for line in () if output.quiet else reports.opening(run, str(out)):
            say(line, err=True)

    with _epoch_lines(recipe.train, output) as (track, on_epoch):
        trained = train_by(request, recipe, warn=warn, on_start=on_start, track=track, on_epoch=on_epoch)
    if not first:
        return
    deliver(trained.report(), trained.document, output)
    if words := reports.audit_words(trained.result, request.source.words()):
        suggest("does it use the videos?", words, output)


@contextmanager
def _epoch_lines(optimisation: Optimisation, output: Output) -> Iterator[tuple[Track, Any]]:
    """Show steps in a progress bar, and write a line for each epoch; after the first, how long the others take."""
    from tqdm import tqdm

    has_begun = False

    def track(items: Any, what: str) -> Any:  # noqa: ANN401 - any iterable
        return tqdm(items, desc=what, leave=False) if output.progress else items

    def on_epoch(epoch: Epoch) -> None:
        nonlocal has_begun
        if not output.quiet:
            from truemoment.learning.training.report import epoch_line

            click.echo(epoch_line(epoch, optimisation), err=True)
            rest_s = None if has_begun else left(1, epoch.seconds, optimisation.most_epochs - epoch.epoch)
            has_begun = True
            if rest_s is not None:
                say(f"this takes {about(rest_s)} more, less where it stops early", err=True)

    yield track, on_epoch
