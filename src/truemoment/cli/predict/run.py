"""truemoment predict run: predict with a run of truemoment train."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from truemoment.base.request import In, InRun, argument, number, option, seed
from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log
from truemoment.cli.outputs import say
from truemoment.cli.parts import ModelThreads, Output
from truemoment.cli.predict.parts import PredictionFile
from truemoment.studies.request import Data


@dataclass(frozen=True, kw_only=True)
class PredictRun(PredictionFile, Data):
    """A trained run, and the queries that it predicts."""

    run: InRun[Path] = argument(metavar="RUN")
    features: In[str | None] = option("Features in place of those of the training.", metavar="SOURCE")
    change: str | None = option("Change the videos: shuffled, reversed, frozen or other-video.", metavar="WAY")
    chunk_s: float | None = option(
        "Cut the videos into chunks of S seconds; times count from the start of a chunk.",
        name="--chunks",
        metavar="S",
        rare=True,
    )
    first_look: int | None = number(
        "Number of windows of a film in which a query is searched: those with the frames most like it; 0 for all. "
        "[default: as the recipe]",
        None,
        0,
        metavar="K",
        rare=True,
    )
    sentences: In[Path | None] = option("Sentence vectors for --first-look, .h5 or .npz.", metavar="FILE", rare=True)
    seed: int = seed("the changes of --change")
    engine: Literal["local", "ray"] = option(
        "Where parts of films are predicted: this machine, or a Ray cluster (environment variable RAY_ADDRESS).",
        "local",
        rare=True,
    )
    workers: int | None = number(
        "Number of processes for a run on films. [default: all cores]", None, 1, 256, rare=True
    )


@binder.command("run")
def command(request: PredictRun, _threads: ModelThreads, output: Output) -> None:
    """Predict with RUN, a folder made by truemoment train.

    \b
    truemoment predict run runs/tan2d --dataset charades-cd --split test-ood -o preds.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.learning.training import report_prediction as reports
    from truemoment.learning.training.film_parts import parts_folder
    from truemoment.learning.training.prediction import predict_with_run
    from truemoment.learning.training.progress import unseen
    from truemoment.learning.training.run_options import RunOptions

    def track(items: Any, what: str) -> Any:  # noqa: ANN401 - a progress bar
        from tqdm import tqdm

        return tqdm(items, desc=what, leave=False)

    source = request.source
    options = RunOptions(
        request.run,
        source.data_dir,
        request.features,
        request.change,
        request.seed,
        sentences=request.sentences,
        first_look=request.first_look,
    )
    try:
        prediction = predict_with_run(
            options,
            source,
            request.out,
            chunk_s=request.chunk_s,
            limit=request.limit,
            engine=request.engine,
            workers=request.workers,
            track=track if output.progress else unseen,
        )
    except KeyboardInterrupt:
        if parts_folder(request.out).is_dir():
            click.echo("truemoment: finished parts are saved; the same command resumes from there", err=True)
        raise
    deliver_log(reports.report_of_run(prediction), lambda: reports.document_of_run(prediction), output)
    for note in prediction.notes if not output.quiet else ():
        say(f"note: {note}", err=True)
